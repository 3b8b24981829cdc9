#include "ui/own_end.hpp"

#include <algorithm>

namespace specklescope {

bool is_over(const std::shared_ptr<Sink>& recording) {
    const SinkStatus status = recording->status();
    return !status.complete.empty() || !status.error.empty();
}

bool all_over(std::span<const std::shared_ptr<Sink>> recordings) {
    return !recordings.empty() &&
           std::ranges::all_of(recordings, [](const auto& recording) { return is_over(recording); });
}

bool all_recorded(std::span<const std::shared_ptr<Sink>> recordings) {
    return all_over(recordings) &&
           std::any_of(recordings.begin(), recordings.end(), [](const std::shared_ptr<Sink>& recording) {
               return !recording->status().complete.empty();
           });
}

OwnEnd::OwnEnd(const Session& session) : session_(session) {
    for (const Recording& recording : session.recordings()) {
        all_.push_back(recording.sink);
        if (recording.what)
            recordings_.push_back(recording.sink);
    }
}

bool OwnEnd::has_come() const {
    const Pipeline* pipeline = session_.pipeline();
    const Session::Listeners others = session_.listeners();
    const bool alone = !others.publisher && others.outlets.empty();
    return pipeline && !session_.opening() &&
           (pipeline->finished() || all_recorded(recordings_) || (alone && all_over(all_)));
}

bool OwnEnd::failed() const {
    const Pipeline* pipeline = session_.pipeline();
    return !pipeline || pipeline->status().state == RunState::failed || pipeline->stats().drops.failed > 0;
}

} // namespace specklescope
