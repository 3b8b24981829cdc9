#include "ui/own_end.hpp"

#include <algorithm>

namespace specklescope {

OwnEnd::OwnEnd(const Session& session) : session_(session) {
    for (const Recording& recording : session.recordings())
        if (recording.what)
            recordings_.push_back(recording.sink);
}

bool OwnEnd::all_recorded() const {
    const auto recorded = [](const std::shared_ptr<Sink>& sink) {
        const SinkStatus status = sink->status();
        return !status.complete.empty() || !status.error.empty();
    };
    return std::all_of(recordings_.begin(), recordings_.end(), recorded) &&
           std::any_of(recordings_.begin(), recordings_.end(),
                       [](const std::shared_ptr<Sink>& sink) { return !sink->status().complete.empty(); });
}

bool OwnEnd::has_come() const {
    const Pipeline* pipeline = session_.pipeline();
    return pipeline && !session_.opening() && (pipeline->finished() || all_recorded());
}

bool OwnEnd::failed() const {
    const Pipeline* pipeline = session_.pipeline();
    return !pipeline || pipeline->status().state == RunState::failed || pipeline->stats().drops.failed > 0;
}

} // namespace specklescope
