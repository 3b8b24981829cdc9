#include "ui/own_end.hpp"

#include <algorithm>

namespace specklescope {

bool is_over(const Recording& recording) {
    const SinkStatus status = recording.sink->status();
    return !status.complete.empty() || !status.error.empty();
}

std::vector<Recording> of_frames(const std::vector<Recording>& recordings) {
    std::vector<Recording> found;
    std::ranges::copy_if(recordings, std::back_inserter(found),
                         [](const Recording& recording) { return recording.kind->frames.has_value(); });
    return found;
}

bool all_over(std::span<const Recording> recordings) {
    return !recordings.empty() &&
           std::ranges::all_of(recordings, [](const auto& recording) { return is_over(recording); });
}

bool all_recorded(std::span<const Recording> recordings) {
    return all_over(recordings) && std::ranges::any_of(recordings, [](const Recording& recording) {
               return !recording.sink->status().complete.empty();
           });
}

OwnEnd::OwnEnd(const Session& session)
    : session_(session), recordings_(of_frames(session.recordings())), all_(session.recordings()) {}

bool OwnEnd::has_come() const {
    const Pipeline* pipeline = session_.pipeline();
    return pipeline && !session_.opening() &&
           (pipeline->finished() || all_recorded(recordings_) ||
            (!session_.doors.send_results() && all_over(all_)));
}

bool OwnEnd::failed() const {
    const Pipeline* pipeline = session_.pipeline();
    return !pipeline || pipeline->status().state == RunState::failed || pipeline->stats().drops.failed > 0;
}

} // namespace specklescope
