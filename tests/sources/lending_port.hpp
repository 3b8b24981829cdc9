// A port over one ring with few slots: checks that every frame is in the ring's memory, and can hold all.
#pragma once

#include "pipeline/source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::test {

/// Host memory that records its blocks.
class KnownMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* block = host_memory()->allocate(bytes);
        const std::scoped_lock lock(mutex_);
        blocks_[static_cast<std::byte*>(block)] = bytes;
        return block;
    }
    void release(void* memory) noexcept override {
        const std::scoped_lock lock(mutex_);
        blocks_.erase(static_cast<std::byte*>(memory));
        host_memory()->release(memory);
    }
    Space space() const override { return Space::host; }

    bool holds(const std::byte* data, std::size_t bytes) const {
        const std::scoped_lock lock(mutex_);
        const auto after = blocks_.upper_bound(const_cast<std::byte*>(data));
        if (after == blocks_.begin())
            return false;
        const auto& [start, size] = *std::prev(after);
        return data >= start && data + bytes <= start + size;
    }
    std::size_t blocks() const {
        const std::scoped_lock lock(mutex_);
        return blocks_.size();
    }

private:
    mutable std::mutex mutex_;
    std::map<std::byte*, std::size_t> blocks_;
};

/// Like the pipeline's port for a file: waits for a free slot.
class LendingPort final : public FramePort {
public:
    explicit LendingPort(int needed = 6) : needed_(needed) {}

    Frame acquire(const Shape& shape) override {
        provide(shape, 0);
        return ring_->acquire(std::chrono::milliseconds(keep_all ? 0 : 5000));
    }
    std::shared_ptr<FrameRing> ring(const Shape& shape, int more) override {
        provide(shape, more);
        return ring_;
    }
    void copied(std::string_view why) override {
        ++copies;
        reasons[std::string(why)]++;
    }
    void submit(Frame frame) override {
        frame.info().sequence = frames++;
        lent += frame.lent() ? 1 : 0;
        const HostView view = frame.host();
        EXPECT_TRUE(memory->holds(view.data, view.pitch * static_cast<std::size_t>(view.shape.height)));
        EXPECT_EQ(view.pitch, slot_pitch(view.shape, Space::host));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data) % 64, 0u);
        if (on_frame)
            on_frame(frame);
        newest = frame;
        if (keep_all)
            held.push_back(std::move(frame));
    }
    void lost(std::uint64_t, std::string_view) override {}
    void discontinuity() override { ++discontinuities; }
    bool stopping() const override { return false; }

    void forget_ring() { ring_.reset(); }

    const std::shared_ptr<KnownMemory> memory = std::make_shared<KnownMemory>();
    std::function<void(const Frame&)> on_frame;
    std::vector<Frame> held;
    Frame newest; ///< held until the next, like a viewer
    std::map<std::string, std::uint64_t> reasons;
    std::uint64_t frames = 0, lent = 0, copies = 0;
    int discontinuities = 0;
    bool keep_all = false;

private:
    void provide(const Shape& shape, int more) {
        if (ring_ && ring_->shape() == shape && more <= spare_)
            return;
        ring_ = std::make_shared<FrameRing>(shape, needed_ + more, memory);
        spare_ = more;
    }

    int needed_;
    int spare_ = 0;
    std::shared_ptr<FrameRing> ring_;
};

/// read_frames() for this port.
inline bool read_all(Source& source, LendingPort& port, std::uint64_t most = ~std::uint64_t{0},
                     std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    auto last = SteadyClock::now();
    while (port.frames < most) {
        const std::uint64_t before = port.frames;
        if (source.next(port) == Source::Status::end)
            return true;
        if (port.frames != before)
            last = SteadyClock::now();
        else if (SteadyClock::now() - last > patience)
            return false;
    }
    return true;
}

/// Compares with rows without padding.
inline bool same_pixels(const HostView& view, const void* rows) {
    const auto* from = static_cast<const std::byte*>(rows);
    for (int y = 0; y < view.shape.height; ++y)
        if (std::memcmp(view.row(y), from + view.shape.row_bytes() * static_cast<std::size_t>(y),
                        view.shape.row_bytes()) != 0)
            return false;
    return true;
}

} // namespace specklescope::test
