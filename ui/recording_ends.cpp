#include "ui/recording_ends.hpp"

#include "ui/canvas/numbers.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

Message end_of_recording(const SinkStatus& status) {
    if (!status.error.empty())
        return {Message::Level::error, status.error};
    if (status.path.empty())
        return {Message::Level::warning, "Nothing was recorded: no frame came in that time."};
    std::string text =
        "Recorded " + count_text(status.written) + (status.written == 1 ? " frame to " : " frames to ");
    for (const SinkFile& file : status.before)
        text += file.path + ", ";
    text += status.path;
    if (!status.complete.empty())
        text += ", complete with " + status.complete;
    if (status.dropped > 0)
        text += "; " + count_text(status.dropped) + (status.dropped == 1 ? " was dropped" : " were dropped");
    return {status.dropped > 0 ? Message::Level::warning : Message::Level::info, text + "."};
}

void EndedRecordings::keep(const Recording& recording) {
    (void)take(*recording.kind);
    ended_.push_back(recording);
}

std::shared_ptr<Sink> EndedRecordings::take(const OutputKind& kind) {
    const auto at =
        std::find_if(ended_.begin(), ended_.end(), [&](const Recording& one) { return one.kind == &kind; });
    if (at == ended_.end())
        return nullptr;
    std::shared_ptr<Sink> sink = std::move(at->sink);
    ended_.erase(at);
    return sink;
}

} // namespace specklescope
