#include "ui/interrupt.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace specklescope {

namespace {

std::atomic<int> interrupts{0};
std::atomic<std::int64_t> first_ns{0}; ///< when the first came
std::atomic<int> first_number{0};
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free); // so that a signal handler may touch them

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now); // a signal handler may
    return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// One wish arrives twice where a process and then its group are told, as timeout does: nobody presses a key
/// again this soon.
constexpr std::int64_t kOneWish = 300'000'000;

extern "C" void on_interrupt(int number) {
    int none = 0;
    if (interrupts.compare_exchange_strong(none, 1)) {
        first_ns = now_ns();
        first_number = number;
    } else if (number != first_number || now_ns() - first_ns > kOneWish) {
        _exit(130); // the second time: at once
    }
}

/// A terminal that closes sends its signal more than once, and every line into a pipe that nobody reads one
/// more: none of them is the user's wish for an end at once.
extern "C" void on_hangup(int) {
    int none = 0;
    interrupts.compare_exchange_strong(none, 1);
}

} // namespace

InterruptGuard::InterruptGuard() {
    interrupts = 0;
    first_ns = 0;
    first_number = 0;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
    action.sa_handler = on_hangup;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPIPE, &action, &old_pipe_);
    sigaction(SIGHUP, &action, &old_hup_);
    if (old_hup_.sa_handler == SIG_IGN) // nohup: goes on without its terminal
        sigaction(SIGHUP, &old_hup_, nullptr);
}

InterruptGuard::~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
    sigaction(SIGHUP, &old_hup_, nullptr);
    if (interrupted()) // what could not be printed must not end the program when it is tried again at exit
        old_pipe_.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &old_pipe_, nullptr);
}

bool InterruptGuard::interrupted() { return interrupts.load() > 0; }

} // namespace specklescope
