// Files recorded from the window itself: a movie of the drawn frames, and an image of the last frame.
#pragma once

#include "pipeline/sink.hpp"
#include "ui/canvas/surface.hpp"

#include <optional>

namespace specklescope {

/// Files of one run. Requires the drawing thread.
class WindowFiles {
public:
    /// Begins the files that the settings request: none, one or both. Throws UsageError or RunError if the
    /// movie cannot begin.
    explicit WindowFiles(const Settings& settings);
    WindowFiles(const WindowFiles&) = delete;
    WindowFiles& operator=(const WindowFiles&) = delete;

    bool wants_last() const { return !screenshot_.empty(); }
    /// Announces that the next frame is the last.
    void expect_last() { last_comes_ = wants_last(); }
    /// Takes the complete frame from OpenGL's read framebuffer. Never waits for the encoder: drops frames
    /// that it has no time for.
    void drawn(SurfaceSize size);
    /// Writes the image, finishes the movie and logs the result. False if a file is incomplete. Idempotent.
    bool finish() noexcept;

private:
    Frame read(SurfaceSize size);
    bool finish_movie();
    bool write_screenshot() const;

    std::string screenshot_;
    std::shared_ptr<Sink> movie_; ///< null: none
    StreamInfo stream_;
    std::optional<FrameRing> ring_;
    std::vector<std::byte> rows_; ///< from the bottom up, in OpenGL's order
    std::optional<SteadyClock::time_point> first_;
    std::uint64_t frames_ = 0; ///< frames offered to the movie
    bool began_ = false;       ///< a window was open
    bool last_comes_ = false;
    Result last_;
    bool done_ = false, well_ = true;
};

} // namespace specklescope
