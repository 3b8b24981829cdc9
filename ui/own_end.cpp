#include "ui/own_end.hpp"

#include <algorithm>

namespace specklescope {

bool is_over(const std::shared_ptr<Sink>& recording) {
    const SinkStatus status = recording->status();
    return !status.complete.empty() || !status.error.empty();
}

bool all_recorded(std::span<const std::shared_ptr<Sink>> recordings) {
    return std::all_of(recordings.begin(), recordings.end(), is_over) &&
           std::any_of(recordings.begin(), recordings.end(), [](const std::shared_ptr<Sink>& recording) {
               return !recording->status().complete.empty();
           });
}

OwnEnd::OwnEnd(const Session& session) : session_(session) {
    for (const Recording& recording : session.recordings())
        if (recording.what)
            recordings_.push_back(recording.sink);
}

bool OwnEnd::has_come() const {
    const Pipeline* pipeline = session_.pipeline();
    return pipeline && !session_.opening() && (pipeline->finished() || all_recorded(recordings_));
}

bool OwnEnd::failed() const {
    const Pipeline* pipeline = session_.pipeline();
    return !pipeline || pipeline->status().state == RunState::failed || pipeline->stats().drops.failed > 0;
}

} // namespace specklescope
