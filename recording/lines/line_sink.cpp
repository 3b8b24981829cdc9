#include "recording/lines/line_sink.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/sentence.hpp"

#include <spdlog/spdlog.h>

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

void LineSink::open(const StreamInfo& stream) {
    close();
    const std::uint64_t bytes = begin(stream);
    const std::scoped_lock lock(mutex_);
    status_ = {};
    status_.path = shown_;
    status_.bytes = bytes;
    placed_.reset();
    profiles_.clear();
    closing_ = failed_ = false;
    queue_.clear();
    waiting_ = 0;
    thread_ = std::thread([this] { run(); });
    running_ = true;
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
    if (result.repeated)
        return;
    const auto full = [&] { return waiting_ >= kMostWaiting; };
    const auto stopped = [&] { return closing_ || !status_.error.empty(); };
    {
        std::unique_lock lock(mutex_);
        if (!running_)
            return;
        if (may_wait)
            room_.wait(lock, [&] { return !full() || stopped(); });
        if (full() || stopped()) {
            ++status_.dropped;
            return;
        }
    }
    LineFrame frame = measured(result); // nobody else pushes: the room is still there
    {
        const std::scoped_lock lock(mutex_);
        waiting_ += numbers(frame);
        queue_.push_back(std::move(frame));
        ++status_.queued;
    }
    work_.notify_one();
}

void LineSink::close() noexcept {
    const std::scoped_lock turn(close_mutex_);
    {
        const std::scoped_lock lock(mutex_);
        if (!running_)
            return;
        closing_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    thread_.join();
    const std::scoped_lock lock(mutex_);
    running_ = false;
    status_.closed = true;
}

SinkStatus LineSink::status() const {
    const std::scoped_lock lock(mutex_);
    return status_;
}

std::uint64_t LineSink::dropped() const {
    const std::scoped_lock lock(mutex_);
    return status_.dropped;
}

void LineSink::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return closing_ || !queue_.empty(); });
        // Those that come meanwhile go with the first.
        work_.wait_for(lock, kPause, [&] { return closing_ || waiting_ >= kMany; });
        const bool last = closing_;
        const std::vector<LineFrame> frames = std::exchange(queue_, {});
        waiting_ = 0;
        lock.unlock();
        room_.notify_all();
        write_all(frames, last);
        lock.lock();
        if (last && queue_.empty())
            return;
    }
}

/// Errors stop this sink, loudly; nothing leaves the thread.
void LineSink::write_all(const std::vector<LineFrame>& frames, bool last) {
    std::string error;
    std::uint64_t bytes = 0;
    const auto guarded = [&](auto&& work) {
        try {
            work();
        } catch (const std::exception& thrown) {
            if (error.empty() && !failed_)
                error = sentence_of(thrown);
        }
    };
    if (!failed_)
        guarded([&] { bytes = write(frames); });
    const bool well = !failed_ && error.empty();
    if (last)
        guarded([&] { finish(well); });
    const std::scoped_lock lock(mutex_);
    status_.queued -= frames.size();
    if (!well) {
        status_.dropped += frames.size();
    } else {
        status_.written += frames.size();
        status_.bytes += bytes;
    }
    if (error.empty())
        return;
    run_log().error("{}", error);
    status_.error = error;
    failed_ = true;
    room_.notify_all();
}

} // namespace specklescope
