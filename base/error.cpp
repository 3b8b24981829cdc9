#include "base/error.hpp"

#include "base/system.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

namespace specklescope {

std::string sentence_of(const std::exception& error) {
    if (dynamic_cast<const Error*>(&error))
        return error.what();
    if (dynamic_cast<const std::bad_alloc*>(&error))
        return "The memory is used up; close other programs, or use smaller images, fewer slots (--slots) or "
               "shorter histories.";
    if (const auto* system = dynamic_cast<const std::system_error*>(&error);
        system && system->code() == std::errc::resource_unavailable_try_again)
        return "The system gives no more threads; close other programs, or raise the limit (ulimit -u).";
    return "Something failed that should not (" + std::string(error.what()) +
           "); please report it with the command line and what was done.";
}

namespace {

bool has_thread() {
    try {
        std::thread([] {}).join();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

bool has_files() {
    std::array<int, 8> some{}; // as many as a decoder and its libraries open
    bool all = true;
    for (int& fd : some) {
        fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        all = all && (fd >= 0 || !is_of_open_files(errno));
    }
    for (const int fd : some)
        if (fd >= 0)
            ::close(fd);
    return all;
}

bool has_memory() {
    constexpr std::size_t kSome = std::size_t{64} << 20; // as much as a decoder and its threads take
    void* some = ::mmap(nullptr, kSome, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return some != MAP_FAILED && ::munmap(some, kSome) == 0;
}

} // namespace

std::string what_lacks() {
    if (!has_files())
        return "no more files may be open";
    if (!has_memory())
        return "the memory that the process may use is used up";
    return has_thread() ? "" : "the system gives no more threads";
}

std::string did_not_start() {
    const std::string lacks = what_lacks();
    return "is installed but did not start" + (lacks.empty() ? "" : ": " + lacks) +
           "; close other programs, or raise the limits of open files, processes and memory (ulimit -n, -u, "
           "-v).";
}

} // namespace specklescope
