// End of a run with a window.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/window_files.hpp"

namespace specklescope {

/// Finishes the files of a run, however the run ends: the window is closed, an exception is thrown, or the
/// display is lost and its library calls exit() without unwinding. Only one instance at a time.
class Ending {
public:
    Ending(Session& session, WindowFiles& window_files);
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending();
    /// Finishes the files of the window, writes the statistics and closes the session. False if any of them,
    /// or a recording, could not be written. Idempotent.
    bool finish() noexcept;

private:
    bool keep(bool at_last) const noexcept;
    static void without_display();
    static Ending* at_exit; ///< the only instance
    Session& session_;
    WindowFiles& window_files_;
    bool done_ = false;
    bool well_ = true;
};

} // namespace specklescope
