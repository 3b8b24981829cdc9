// What is kept of the window itself: a movie of each frame that is drawn, a picture of the last one.
#pragma once

#include "pipeline/sink.hpp"
#include "ui/canvas/surface.hpp"

#include <optional>

namespace specklescope {

/// One run's. On the thread that draws.
class WindowFiles {
public:
    /// As the settings ask: nothing, one or both. Throws UsageError or RunError where the movie cannot begin.
    explicit WindowFiles(const Settings& settings);
    WindowFiles(const WindowFiles&) = delete;
    WindowFiles& operator=(const WindowFiles&) = delete;

    bool wants_last() const { return !screenshot_.empty(); }
    /// The frame that is drawn next is the last one.
    void expect_last() { last_comes_ = wants_last(); }
    /// A whole frame in the framebuffer that OpenGL reads from. Never waits for the encoder: what it has no
    /// time for is dropped.
    void drawn(SurfaceSize size);
    /// Writes the picture, finishes the movie and says what became of it. False where one of them is not
    /// whole. Idempotent.
    bool finish() noexcept;

private:
    Frame read(SurfaceSize size);
    bool finish_movie();
    bool write_screenshot() const;

    std::string screenshot_;
    std::shared_ptr<Sink> movie_; ///< null: none
    StreamInfo stream_;
    std::optional<FrameRing> ring_;
    std::vector<std::byte> rows_; ///< from below, as OpenGL has them
    std::optional<SteadyClock::time_point> first_;
    std::uint64_t frames_ = 0; ///< that the movie was offered
    bool began_ = false;       ///< there was a window
    bool last_comes_ = false;
    Result last_;
    bool done_ = false, well_ = true;
};

} // namespace specklescope
