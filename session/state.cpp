#include "session/state.hpp"

#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace specklescope {

Note note(Message::Level level, std::string text) {
    return {level, std::move(text), SteadyClock::now(), false};
}

void Notices::say(Message::Level level, std::string text) {
    run_log().log(level == Message::Level::info      ? spdlog::level::info
                  : level == Message::Level::warning ? spdlog::level::warn
                                                     : spdlog::level::err,
                  "{}", text);
    add(note(level, std::move(text)));
}

void Notices::take(Note done) {
    if (done.failed_recording) {
        done.alarm = true;
        failed_recordings.push_back(done.text);
    }
    if (done.logged)
        add(std::move(done));
    else if (!done.text.empty())
        say(done.level, std::move(done.text));
}

void Notices::add(Note note) {
    constexpr std::size_t kMost = 60;
    ++count_;
    list_.push_back(std::move(note));
    if (list_.size() > kMost)
        list_.pop_front();
}

void Notices::run(std::function<Note()> work) {
    work_.push_back(std::async(std::launch::async, [this, work = std::move(work)] {
        Note done = work();
        if (done.failed_recording)
            recording_failed_ = true; // finish() waits for this work
        wake_();
        return done;
    }));
}

void Notices::poll() {
    for (std::size_t i = 0; i < work_.size();) {
        if (work_[i].wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            ++i;
            continue;
        }
        Note done = work_[i].get();
        work_.erase(work_.begin() + static_cast<std::ptrdiff_t>(i));
        take(std::move(done));
    }
}

void Notices::finish() {
    for (auto& work : std::exchange(work_, {}))
        if (const Note done = work.get(); !done.text.empty() && !done.logged)
            run_log().info("{}", done.text);
}

} // namespace specklescope
