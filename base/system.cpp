#include "base/system.hpp"

#include "base/error.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <system_error>

namespace specklescope {

void hold_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
            continue;
        const int nowhere = ::open("/dev/null", O_RDWR); // children inherit it
        if (nowhere == stream)
            continue;
        const bool held = nowhere >= 0 && ::dup2(nowhere, stream) == stream;
        const int error = errno;
        if (nowhere >= 0)
            ::close(nowhere);
        if (!held)
            throw RunError("/dev/null cannot stand for a standard stream that is closed: " +
                           std::generic_category().message(error) + ".");
    }
}

void allow_many_files() noexcept {
    constexpr rlim_t kEnough = 65536; // some systems allow 10⁹, and programs loop over all of them
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t wanted = std::min(kEnough, limit.rlim_max);
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_of_open_files(int error) { return error == EMFILE || error == ENFILE; }

HeldSignal::HeldSignal(int signal) {
    sigemptyset(&held_);
    sigaddset(&held_, signal);
    sigset_t pending;
    sigpending(&pending);
    foreign_ = sigismember(&pending, signal) == 1;
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignal::~HeldSignal() {
    const int error = errno;
    const timespec at_once{};
    if (!foreign_) // the signal raised by this thread, if any
        while (sigtimedwait(&held_, nullptr, &at_once) == -1 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
}

void HeldSignal::hold_here(int signal) noexcept {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

std::string home_expanded(std::string_view path) {
    const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe): never set by this process
    if (!home || !*home || !(path == "~" || path.starts_with("~/")))
        return std::string(path);
    return home + std::string(path.substr(1));
}

bool is_loopback(const std::string& host) {
    constexpr unsigned kOwn = 127;
    in_addr address{};
    if (::inet_pton(AF_INET, host.c_str(), &address) == 1)
        return ntohl(address.s_addr) >> 24U == kOwn;
    return host == "localhost" || host == "[::1]";
}

} // namespace specklescope
