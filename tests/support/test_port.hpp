// A real FramePort over a FrameRing, which stores a source's frames, for tests of sources.
#pragma once

#include "pipeline/source.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::test {

/// A delivered frame, copied from its slot.
struct Delivered {
    FrameInfo info;
    Shape shape;
    std::vector<std::byte> pixels; ///< rows without padding
    std::string why_copied;        ///< the source's reason; empty: none given
    bool lent = false;             ///< written into its slot by others

    template <class T> const T* data() const { return reinterpret_cast<const T*>(pixels.data()); }
};

/// Makes a new ring when the shape changes, like the pipeline. Accepts every frame.
class TestPort final : public FramePort {
public:
    explicit TestPort(bool keep_pixels = true) : keep_pixels_(keep_pixels) {}

    Frame acquire(const Shape& shape) override {
        if (refuse)
            return {};
        if (!ring_ || ring_->shape() != shape)
            ring_ = std::make_shared<FrameRing>(shape, slots, host_memory());
        return ring_->try_acquire();
    }
    std::shared_ptr<FrameRing> ring(const Shape& shape, int more) override {
        if (!lends)
            return nullptr;
        if (!ring_ || ring_->shape() != shape || ring_->slots() < slots + more)
            ring_ = std::make_shared<FrameRing>(shape, slots + more, host_memory());
        return ring_;
    }
    void copied(std::string_view why) override { why_copied = why; }
    void submit(Frame frame) override {
        frame.info().sequence = next_sequence++;
        frame.info().arrival = SteadyClock::now();
        Delivered delivered{frame.info(), frame.shape(), {}, std::exchange(why_copied, {}), frame.lent()};
        if (keep_pixels_) {
            delivered.pixels.resize(frame.shape().bytes());
            copy_pixels(frame.host(), HostView(delivered.pixels.data(), frame.shape()));
        }
        frames.push_back(std::move(delivered));
    }
    void lost(std::uint64_t count, std::string_view why) override {
        lost_because[std::string(why)] += count;
        lost_frames += count;
        next_sequence += count;
    }
    void settling(std::uint64_t frames) override { settled += frames; }
    void discontinuity() override { discontinuities.push_back(next_sequence); }
    bool stopping() const override { return false; }

    std::vector<Delivered> frames;
    std::vector<std::uint64_t>
        discontinuities; ///< sequence numbers of frames that do not follow the previous one
    std::uint64_t lost_frames = 0;
    std::map<std::string, std::uint64_t> lost_because;
    std::uint64_t settled = 0;
    std::uint64_t next_sequence = 0;
    bool refuse = false; ///< like a full ring of a live source
    bool lends = true;   ///< lends the ring
    int slots = 3;       ///< of the ring

private:
    bool keep_pixels_;
    std::shared_ptr<FrameRing> ring_;
    std::string why_copied;
};

/// Reads until the end, until the port holds `most` frames, or until nothing arrived for `patience` (false).
inline bool read_frames(Source& source, TestPort& port, std::size_t most = static_cast<std::size_t>(-1),
                        std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    auto last = SteadyClock::now();
    while (port.frames.size() < most) {
        switch (source.next(port)) {
        case Source::Status::end:
            return true;
        case Source::Status::frame:
            last = SteadyClock::now();
            break;
        case Source::Status::idle:
            if (SteadyClock::now() - last > patience)
                return false;
            break;
        }
    }
    return true;
}

} // namespace specklescope::test
