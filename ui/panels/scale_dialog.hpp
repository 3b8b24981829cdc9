// Dialog for the size of a pixel, in µm or from the length of the selected line.
#pragma once

#include "session/session.hpp"

#include <string>

namespace specklescope {

struct ScaleDialog {
    bool ask = false; ///< open the dialog in this frame
    /// Draws the dialog while it is open. `confirm`, `dismiss`: Enter and Escape in this frame.
    void draw(Session& session, bool confirm, bool dismiss);

private:
    bool apply(Session& session);
    std::string um_, length_; ///< typed
    std::string error_;
    std::string line_; ///< name of the line region; empty: none is selected
    double line_px_ = 0;
    bool refused_ = false; ///< the input was refused in this frame: the field gets the focus again
};

/// Line of the panel: the current size, and the button.
void draw_scale_line(Session& session, const Chain& chain, ScaleDialog& dialog);

} // namespace specklescope
