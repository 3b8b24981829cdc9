// What a child does with the library that was forked from a process that has used it.
#pragma once

#include "tests/library/client.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

namespace client {

/// The child's exit status; −1: a signal ended it, −2: it hung. It runs `body`, and exits as a program does
/// or, where `at_once`, without what a program has told to be done then.
inline int in_child(bool at_once, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int status = body();
#ifdef __SANITIZE_ADDRESS__ // its search for leaks waits for threads that are not here
        at_once = true;
#endif
        if (at_once)
            ::_exit(status);
        std::exit(status); // NOLINT(concurrency-mt-unsafe): the only thread here
    }
    int status = 0;
    for (int i = 0; i < 6000; ++i) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -2;
}

inline bool refused(specklescope_status status, const char* sentence) {
    return status == SPECKLESCOPE_BAD_HANDLE && std::string(specklescope_last_error()) == sentence;
}

} // namespace client
