// Two films side by side. A second pipeline shows the frame at the time of the session's displayed frame. It
// is paused and goes where the session's film is, so that pause, speed, loop and seek need no link of their
// own.
#pragma once

#include "session/state.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace specklescope {

/// All calls are for the main thread.
class Comparison {
public:
    explicit Comparison(SessionState& state) : state_(state) {}
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    /// Why nothing can be compared with the session's source; empty: it can.
    std::string why_not() const;
    /// Opens another recording in the background. It follows the session's stages and regions. An error
    /// becomes a message.
    void open_recording(const SourceArgument& source);
    /// Opens the session's film again in the background. It keeps the stages of this moment, while the
    /// session's are edited.
    void keep_settings();
    /// Stops the second pipeline in the background and forgets it.
    void close();

    bool active() const { return side_ != nullptr; } ///< open, or being opened
    Pipeline* pipeline() const;                      ///< of the second film; null: not open
    double um_per_px(const Chain& of) const;         ///< as Session::um_per_px()
    std::string title() const;                       ///< of the second film: "after.tiff"
    std::string own_title() const; ///< of the session's: "before.tiff", "now: speckle radius 2 → 5"

    /// Finishes opening; takes over stages and regions. True if there is news.
    bool poll();
    /// The newest result of the second film, once.
    std::optional<Result> take();
    /// Sends the second film to the frame at the time of this frame, which the session shows. Call regularly.
    void follow(const FrameInfo& shown);

private:
    struct Side;
    void begin(const SourceArgument* other);
    void opened();
    void take_edits();
    std::uint64_t frame_for(const FrameInfo& shown);

    SessionState& state_;
    std::shared_ptr<Side> side_; ///< shared with the thread that opens or stops it; null: not comparing
};

} // namespace specklescope
