// A scripted source: the input of a test, frame by frame.
#pragma once

#include "base/error.hpp"
#include "pipeline/source.hpp"

#include "tests/support/eventually.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace specklescope::test {

inline constexpr Shape kSmall{24, 17, 1, PixelType::u16};

/// Known value of every pixel of every frame: varies in x and y, different in each frame.
inline std::uint32_t pixel(std::uint64_t index, int x, int y, int channel = 0) {
    std::uint64_t h = index * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(x) * 0xBF58476D1CE4E5B9U +
                      static_cast<std::uint64_t>(y) * 0x94D049BB133111EBU +
                      static_cast<std::uint64_t>(channel);
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    return 1 + static_cast<std::uint32_t>(h % 250);
}

inline void paint(HostView view, std::uint64_t index) {
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto pixels = view.as<T>();
        for (int y = 0; y < pixels.height; ++y)
            for (int x = 0; x < pixels.width; ++x)
                for (int c = 0; c < pixels.channels; ++c)
                    pixels.row(y)[x * pixels.channels + c] = static_cast<T>(pixel(index, x, y, c));
    });
}

/// True if the image equals paint() for this index in every pixel.
inline bool shows(ConstHostView view, std::uint64_t index) {
    return dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto pixels = view.as<T>();
        for (int y = 0; y < pixels.height; ++y)
            for (int x = 0; x < pixels.width; ++x)
                for (int c = 0; c < pixels.channels; ++c)
                    if (pixels.row(y)[x * pixels.channels + c] != static_cast<T>(pixel(index, x, y, c)))
                        return false;
        return true;
    });
}

/// Calls the script for every next(). Members changed by a test while the pipeline runs are atomic.
class ScriptedSource : public Source {
public:
    using Script = std::function<Status(ScriptedSource&, FramePort&)>;

    ScriptedSource(SourceInfo info, Script script) : info_(std::move(info)), script_(std::move(script)) {}

    SourceInfo open() override {
        ++opened;
        if (on_open)
            on_open(*this);
        return info_;
    }
    Status next(FramePort& port) override { return script_(*this, port); }
    void close() override { ++closed; }

    /// Offers frame number `index` (pixels by paint). False if the port had no slot for it.
    bool offer(FramePort& port, const Shape& shape) {
        const std::uint64_t index = offered++;
        Frame frame = port.acquire(shape);
        if (!frame)
            return false;
        paint(frame.host(), index);
        frame.info().capture_ns = static_cast<std::int64_t>(index) * 1'000'000;
        frame.info().full_scale = type_full_scale(shape.type);
        port.submit(std::move(frame));
        return true;
    }

    std::function<void(ScriptedSource&)> on_open; ///< may throw
    std::atomic<std::uint64_t> offered{0};
    std::atomic<int> opened{0}, closed{0};

private:
    SourceInfo info_;
    Script script_;
};

inline SourceInfo file_info(const Shape& shape = kSmall, std::uint64_t frames = 0) {
    return {.name = "scripted file",
            .shape = shape,
            .full_scale = type_full_scale(shape.type),
            .frames = frames,
            .live = false};
}
inline SourceInfo camera_info(const Shape& shape = kSmall) {
    return {
        .name = "scripted camera", .shape = shape, .full_scale = type_full_scale(shape.type), .live = true};
}

/// Result of next() when there is no frame.
inline Source::Status nothing() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Source::Status::idle;
}

/// A file of `count` frames, capture_ns = index milliseconds.
inline std::unique_ptr<ScriptedSource> file_of(std::uint64_t count, const Shape& shape = kSmall) {
    auto source = std::make_unique<ScriptedSource>(file_info(shape, count),
                                                   [count, shape](ScriptedSource& self, FramePort& port) {
                                                       if (self.offered == count)
                                                           return Source::Status::end;
                                                       self.offer(port, shape);
                                                       return Source::Status::frame;
                                                   });
    source->on_open = [](ScriptedSource& self) { self.offered = 0; };
    return source;
}

/// A camera that sends `count` frames as fast as possible and then stays silent.
inline std::unique_ptr<ScriptedSource> camera_of(std::uint64_t count, const Shape& shape = kSmall) {
    return std::make_unique<ScriptedSource>(camera_info(shape),
                                            [count, shape](ScriptedSource& self, FramePort& port) {
                                                if (self.offered >= count)
                                                    return nothing();
                                                self.offer(port, shape);
                                                return Source::Status::frame;
                                            });
}

} // namespace specklescope::test
