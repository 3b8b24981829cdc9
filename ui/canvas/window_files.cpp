#include "ui/canvas/window_files.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "recording/recorder.hpp"
#include "ui/canvas/gl.hpp"

#include <spdlog/spdlog.h>

#include <cstring>

namespace specklescope {

namespace {

/// The recorder holds at most two and copies further ones, so one is always free.
constexpr int kSlots = 4;

} // namespace

WindowFiles::WindowFiles(const Settings& settings) : screenshot_(output_of(settings, "screenshot")) {
    stream_.source.name = "window";
    stream_.source.live = true;
    stream_.source.rate = 60; // upper limit
    stream_.source_text = settings.source.empty() ? "synthetic" : settings.source.shown();
    RecordOptions options{.path = output_of(settings, "window_movie"), .what = RecordWhat::screen};
    if (options.path.empty())
        return;
    // The frame limits apply only to recordings of the source.
    options.limits.keep_free = settings.program.as<ProgramSettings>().recording.keep_free;
    movie_ = make_recorder(options);
    movie_->open(stream_);
}

Frame WindowFiles::read(SurfaceSize size) {
    const Shape shape{size.width, size.height, 3, PixelType::u8};
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, kSlots, host_memory());
    Frame frame = ring_->try_acquire();
    if (!frame)
        throw RunError("There is not enough memory for an image of the window.");
    rows_.resize(shape.bytes());
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, rows_.data());
    const std::size_t bytes = shape.row_bytes();
    for (int y = 0; y < size.height; ++y)
        std::memcpy(frame.host().row(y), rows_.data() + static_cast<std::size_t>(size.height - 1 - y) * bytes,
                    bytes);
    return frame;
}

void WindowFiles::drawn(SurfaceSize size) {
    began_ = true;
    if (done_ || size.width <= 0 || size.height <= 0 || (!movie_ && !last_comes_)) // the window is iconified
        return;
    const auto now = SteadyClock::now();
    if (!first_)
        first_ = now;
    Result result;
    result.image = read(size);
    result.info.sequence = frames_;
    result.info.capture_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - *first_).count();
    result.info.arrival = now;
    if (movie_) {
        movie_->push(result, false);
        ++frames_;
    }
    if (last_comes_)
        last_ = std::move(result);
}

bool WindowFiles::finish_movie() {
    movie_->close();
    const SinkStatus status = movie_->status();
    spdlog::log(status.dropped > 0 ? spdlog::level::warn : spdlog::level::info,
                "Window movie: {} frames drawn, {} recorded, {} dropped.", frames_, status.written,
                status.dropped);
    return status.error.empty() && status.written > 0;
}

bool WindowFiles::write_screenshot() const {
    if (!last_.image) {
        spdlog::error("There is no image of the window to save as '{}'.", one_line(screenshot_));
        return false;
    }
    const std::string path =
        write_snapshot(last_, {.path = screenshot_, .what = RecordWhat::screen}, stream_);
    spdlog::info("Screenshot saved as {}.", one_line(path));
    return true;
}

bool WindowFiles::finish() noexcept {
    if (std::exchange(done_, true) || !began_)
        return well_;
    const auto guarded = [this](auto&& work) {
        try {
            well_ = work() && well_;
        } catch (const std::exception& error) {
            well_ = false;
            spdlog::error("{}", sentence_of(error));
        }
    };
    if (movie_)
        guarded([this] { return finish_movie(); });
    if (wants_last())
        guarded([this] { return write_screenshot(); });
    return well_;
}

} // namespace specklescope
