#include "cli/interrupt.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace specklescope {

namespace {

std::atomic<int> interrupts{0};
std::atomic<std::int64_t> first_ns{0}; ///< when the first came
std::atomic<int> first_number{0};
std::atomic<bool> closed_pipe{false};
std::atomic<int> triggers{0}; ///< not yet taken
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free); // so that a signal handler may touch them

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now); // a signal handler may
    return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// timeout(1) sends the signal to the process and to its group, so it arrives twice; no user presses a key
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

/// A terminal that closes sends its signal more than once: none of them is the user's wish for an end at
/// once.
extern "C" void on_hangup(int) {
    int none = 0;
    interrupts.compare_exchange_strong(none, 1);
}

extern "C" void on_closed_pipe(int) { closed_pipe = true; }

extern "C" void on_trigger(int) { ++triggers; }

} // namespace

InterruptGuard::InterruptGuard() {
    interrupts = 0;
    first_ns = 0;
    first_number = 0;
    closed_pipe = false;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        const bool hangup = kSignals[i] == SIGHUP, pipe = kSignals[i] == SIGPIPE;
        struct sigaction action {};
        action.sa_handler = hangup ? on_hangup : pipe ? on_closed_pipe : on_interrupt;
        action.sa_flags = hangup || pipe ? SA_RESTART : 0;
        sigemptyset(&action.sa_mask);
        sigaction(kSignals[i], &action, &old_[i]);
        if ((hangup || pipe) && old_[i].sa_handler == SIG_IGN) // nohup, a service: it runs without them
            sigaction(kSignals[i], &old_[i], nullptr);
    }
}

InterruptGuard::~InterruptGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        // A failed print must not end the program when it is repeated at exit.
        if (kSignals[i] == SIGPIPE && (interrupted() || reader_gone()))
            old_[i].sa_handler = SIG_IGN;
        sigaction(kSignals[i], &old_[i], nullptr);
    }
}

bool InterruptGuard::interrupted() { return interrupts.load() > 0; }

bool InterruptGuard::reader_gone() { return closed_pipe.load(); }

TriggerSignal::TriggerSignal() {
    triggers = 0;
    struct sigaction action {};
    action.sa_handler = on_trigger;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &old_);
}

TriggerSignal::~TriggerSignal() { sigaction(SIGUSR1, &old_, nullptr); }

int TriggerSignal::take() { return triggers.exchange(0); }

} // namespace specklescope
