#include "ui/interrupt.hpp"

#include <atomic>
#include <unistd.h>

namespace specklescope {

namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free); // so that a signal handler may touch it

extern "C" void on_interrupt(int) {
    if (interrupts.fetch_add(1) > 0)
        _exit(130); // the second time: at once
}

} // namespace

InterruptGuard::InterruptGuard() {
    interrupts = 0;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
}

bool InterruptGuard::interrupted() { return interrupts.load() > 0; }

} // namespace specklescope
