#include "recording/pretrigger/pre_trigger.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/memory_budget.hpp"
#include "pipeline/source.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {
/// Bytes of a frame in a ring, its rows aligned.
std::uint64_t slot_bytes(const Shape& shape) {
    return slot_pitch(shape, Space::host) * static_cast<std::uint64_t>(std::max(1, shape.height));
}
} // namespace

void PreTrigger::open(const StreamInfo& stream) {
    const std::lock_guard lock(mutex_);
    const SourceInfo& source = stream.source;
    need_seconds(source, "pre_trigger");
    if (source.shape.width > 0 && source.rate > 0) {
        const double wanted =
            static_cast<double>(slot_bytes(source.shape)) * std::ceil(source.rate * seconds_);
        check_memory(std::min(most_, static_cast<std::uint64_t>(std::min(wanted, 1e18))),
                     "Keeping the frames before a recording", "use fewer seconds or MiB");
    }
    clear();
}

void PreTrigger::close() noexcept {
    const std::lock_guard lock(mutex_);
    clear();
}

void PreTrigger::set(double seconds, std::uint64_t most_bytes) {
    const std::lock_guard lock(mutex_);
    if (seconds == seconds_ && most_bytes == most_)
        return;
    limited_ = false;
    smaller_ = smaller_ || seconds < seconds_ || most_bytes < most_;
    seconds_ = seconds;
    most_ = most_bytes;
}

/// Requires the mutex.
void PreTrigger::clear() {
    frames_.clear();
    limited_ = false;
}

/// Requires the mutex. Frames captured before this time are too old, once this frame is stored.
std::int64_t PreTrigger::oldest_for(const FrameInfo& newest) const {
    return newest.capture_ns - static_cast<std::int64_t>(std::llround(seconds_ * 1e9));
}

/// Requires the mutex.
void PreTrigger::forget_older_than(std::int64_t capture_ns) {
    while (!frames_.empty() && frames_.front().info.capture_ns < capture_ns)
        frames_.pop_front();
}

Frame PreTrigger::free_slot() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::size_t at = (block_ + i) % blocks_.size();
        if (Frame slot = blocks_[at].try_acquire()) {
            block_ = at;
            return slot;
        }
    }
    return {};
}

/// Allocates another block if possible.
bool PreTrigger::grow(const Shape& shape) {
    const std::uint64_t each = slot_bytes(shape);
    std::uint64_t most = 0;
    {
        const std::lock_guard lock(mutex_);
        most = most_;
    }
    const std::uint64_t slots =
        std::min(std::max<std::uint64_t>(1, kBlockBytes / each), most > taken_ ? (most - taken_) / each : 0);
    if (slots == 0)
        return false;
    try {
        blocks_.emplace_back(shape, static_cast<int>(slots), host_memory());
    } catch (const RunError& error) {
        run_log().debug("{}", error.what()); // continue with the existing blocks
        return false;
    }
    block_ = blocks_.size() - 1;
    taken_ += slots * each;
    return true;
}

/// A slot of this shape, otherwise the slot of the oldest frame; empty without memory.
Frame PreTrigger::room(const Shape& shape) {
    if (shape != shape_) {
        blocks_.clear(); // memory in use is freed with its last handle
        block_ = 0;
        taken_ = 0;
        shape_ = shape;
    }
    Frame slot = free_slot();
    if (!slot && grow(shape))
        slot = free_slot();
    return slot;
}

void PreTrigger::push(const Result& result, bool) {
    if (result.repeated || !result.raw)
        return;
    const FrameInfo& info = result.info;
    {
        const std::lock_guard lock(mutex_);
        if (lent_ > 0)
            return;
        if (std::exchange(smaller_, false)) {
            clear();
            shape_ = {}; // and free the blocks
        }
        if (info.discontinuity || (!frames_.empty() && frames_.front().pixels.shape() != result.raw.shape()))
            clear();
        const std::size_t before = frames_.size();
        forget_older_than(oldest_for(info));
        if (frames_.size() < before)
            limited_ = false; // the time limit is reached
    }
    Frame slot = room(result.raw.shape());
    while (!slot) {
        {
            const std::lock_guard lock(mutex_);
            if (frames_.empty())
                return;
            frames_.pop_front();
            limited_ = true;
        }
        slot = free_slot();
    }
    RecordedFrame kept = recorded_frame(result, RecordWhat::raw);
    copy_pixels(result.raw.host(), slot.host());
    slot.info() = info;
    kept.pixels = std::move(slot);
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(kept));
}

std::deque<RecordedFrame> PreTrigger::take(const FrameInfo& before) {
    const std::lock_guard lock(mutex_);
    ++lent_;
    if (before.discontinuity) // the stored frames do not lead to it
        clear();
    while (!frames_.empty() && frames_.back().info.sequence >= before.sequence)
        frames_.pop_back();
    forget_older_than(oldest_for(before));
    limited_ = false;
    return std::exchange(frames_, {});
}

bool PreTrigger::copy(Frame& pixels) {
    Frame slot = room(pixels.shape());
    if (!slot)
        return false;
    copy_pixels(pixels.host(), slot.host());
    pixels = std::move(slot);
    return true;
}

void PreTrigger::resume() {
    const std::lock_guard lock(mutex_);
    --lent_;
}

PreTrigger::Fill PreTrigger::fill() const {
    const std::lock_guard lock(mutex_);
    Fill fill;
    fill.limited = limited_;
    fill.lent = lent_ > 0;
    fill.frames = frames_.size();
    if (frames_.empty())
        return fill;
    fill.bytes = fill.frames * slot_bytes(frames_.front().pixels.shape());
    fill.seconds =
        static_cast<double>(frames_.back().info.capture_ns - frames_.front().info.capture_ns) * 1e-9;
    return fill;
}

} // namespace specklescope
