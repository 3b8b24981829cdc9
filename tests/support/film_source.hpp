// A seekable file of painted frames: the input for tests of videos.
#pragma once

#include "tests/support/scripted_source.hpp"

namespace specklescope::test {

/// Frame i is paint(i), capture_ns = i milliseconds, position i. Members changed by a test while the pipeline
/// runs are atomic.
class FilmSource : public Source {
public:
    explicit FilmSource(std::uint64_t count, const Shape& shape = kSmall) : frames(count), shape_(shape) {}

    SourceInfo open() override {
        next_ = 0;
        SourceInfo info = file_info(shape_, frames);
        info.seekable = true;
        info.length = length();
        return info;
    }
    Status next(FramePort& port) override {
        if (next_ >= breaks_at)
            throw RunError("The film is torn at frame " + std::to_string(breaks_at) + ".");
        if (next_ >= frames) {
            tells_length = true;
            return Status::end;
        }
        if (next_ >= held_back)
            return nothing();
        if (next_ == lost_before)
            port.lost(std::exchange(told_lost_, true) ? 0 : kLost, "");
        Frame frame = port.acquire(shape_);
        if (!frame)
            return Status::idle;
        told_lost_ = false;
        paint(frame.host(), next_);
        frame.info().capture_ns = static_cast<std::int64_t>(next_) * 1'000'000;
        frame.info().full_scale = type_full_scale(shape_.type);
        frame.info().position = next_++;
        port.submit(std::move(frame));
        return Status::frame;
    }
    void close() override {}
    void set(std::string_view name, const ParamValue&) override {
        throw UsageError("The film source has no " + std::string(name) + ".");
    }
    std::uint64_t length() override { return tells_length ? frames.load() : 0; }
    void seek(std::uint64_t frame, std::uint64_t /*at_once*/) override {
        ++seeks;
        if (is_odd)
            throw std::runtime_error("The film is odd.");
        if (frame >= frames && tells_length)
            refuse_frame("film", frame, frames);
        told_lost_ = false;
        next_ = frame;
    }

    std::atomic<std::uint64_t> frames;
    std::atomic<std::uint64_t> held_back{~std::uint64_t{0}}; ///< frames from here on do not arrive yet
    std::atomic<std::uint64_t> breaks_at{~std::uint64_t{0}};
    std::atomic<bool> tells_length{true}; ///< false: only after its end was reached
    std::atomic<int> seeks{0};
    std::atomic<bool> is_odd{false}; ///< a seek throws an exception that is no Error
    std::atomic<std::uint64_t> lost_before{~std::uint64_t{0}};
    static constexpr std::uint64_t kLost = 5; ///< frames before that one

private:
    Shape shape_;
    std::uint64_t next_ = 0;
    bool told_lost_ = false;
};

} // namespace specklescope::test
