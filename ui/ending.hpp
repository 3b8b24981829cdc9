// The end of a window's run.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/window_files.hpp"

namespace specklescope {

/// What a run leaves behind, whichever way it ends: the window is closed, something throws, or the display
/// goes away, when its library calls exit() and nothing returns from anywhere. One at a time.
class Ending {
public:
    Ending(Session& session, WindowFiles& window_files);
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending();
    /// Finishes what is kept of the window, writes the statistics and closes the session. False where one of
    /// them, or a recording, could not be kept. Idempotent.
    bool finish() noexcept;

private:
    bool keep(bool at_last) const noexcept;
    static void without_display();
    static Ending* at_exit; ///< the one that lives
    Session& session_;
    WindowFiles& window_files_;
    bool done_ = false;
    bool well_ = true;
};

} // namespace specklescope
