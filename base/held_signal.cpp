#include "base/held_signal.hpp"

#include <cerrno>
#include <ctime>

namespace specklescope {

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

} // namespace specklescope
