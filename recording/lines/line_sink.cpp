#include "recording/lines/line_sink.hpp"

#include <utility>

namespace specklescope {

namespace {

std::size_t numbers(const LineFrame& frame) {
    std::size_t count = 16; // the frame itself
    for (const MeasuredLine& line : frame.lines)
        count += line.averages.size() + 4;
    return count;
}

} // namespace

LineSink::LineSink(std::string path, int band, const std::string& shown)
    : BatchSink({.most = std::size_t{1} << 22, .many = std::size_t{1} << 17}), // numbers: 32 MB at most
      path_(std::move(path)), shown_(shown.empty() ? path_ : shown), band_(band) {}

void LineSink::open(const StreamInfo& stream) {
    close();
    SinkStatus status;
    status.path = shown_;
    status.bytes = begin(stream);
    placed_.reset();
    profiles_.clear();
    start(std::move(status));
}

LineFrame LineSink::measured(const Result& result) {
    LineFrame frame{.info = result.info,
                    .chain = result.chain,
                    .quantity = result.quantity,
                    .exposure = result.exposure,
                    .placed = nullptr,
                    .lines = {}};
    if (!result.regions || !result.image)
        return frame;
    frame.mean = result.regions->mean;
    frame.placed = result.regions->placed;
    if (placed_ != frame.placed) {
        placed_ = frame.placed;
        profiles_.clear();
        for (std::size_t i = 0; i < placed_->regions.size(); ++i)
            if (const auto& line = placed_->regions[i].line)
                profiles_.emplace_back(i, LineProfile(*line, band_));
    }
    const ProfileInput input{result.image.host(), result.chain ? result.chain->channel() : GreyChannel::luma,
                             frame.mean};
    frame.lines.reserve(profiles_.size());
    for (const auto& [region, profile] : profiles_) {
        MeasuredLine& line = frame.lines.emplace_back();
        line.region = region;
        line.spacing = profile.spacing();
        profile.measure(input, line.averages);
    }
    return frame;
}

void LineSink::push(const Result& result, bool may_wait) {
    if (result.repeated || !has_room(may_wait))
        return;
    LineFrame frame = measured(result);
    const std::size_t size = numbers(frame);
    add(std::move(frame), size);
}

} // namespace specklescope
