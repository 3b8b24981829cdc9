// Messages when the system gives no more memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// A sanitizer ends a process without memory. g++ defines these names, clang has __has_feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#elif defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define SPECKLESCOPE_MEMORY_CAN_BE_REFUSED
#endif
#else
#define SPECKLESCOPE_MEMORY_CAN_BE_REFUSED
#endif

namespace specklescope::test {

/// Message of the exception thrown by `work`, in a child whose address space is limited: 64 KiB are left. ""
/// without one.
template <class F> std::string said_without_memory(F&& work) {
    int ends[2];
    if (pipe(ends) != 0)
        throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        constexpr std::size_t kReserve = std::size_t{64} << 10;
        std::string said;
        said.reserve(4096);
        void* volatile reserve = std::malloc(kReserve); // before the limit, which may refuse it
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t now = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const rlimit limit{now, now};
        setrlimit(RLIMIT_AS, &limit);
        for (void* volatile taken = reserve; taken;) // uses up freed memory
            taken = std::malloc(kReserve / 4);
        std::free(reserve); // for small allocations
        try {
            work();
        } catch (const std::exception& error) {
            said = error.what();
        }
        (void)!write(ends[1], said.data(), said.size());
        _exit(0);
    }
    close(ends[1]);
    std::string said(4096, '\0');
    const ssize_t got = read(ends[0], said.data(), said.size());
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "it did not end by itself";
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return said;
}

} // namespace specklescope::test
