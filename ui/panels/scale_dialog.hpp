// The field in which the size of a pixel is given: as µm a side, or as the length of the selected line.
#pragma once

#include "session/session.hpp"

#include <string>

namespace specklescope {

struct ScaleDialog {
    bool ask = false; ///< in this frame
    /// While it is asked for. `confirm`, `dismiss`: Enter and Escape in this frame.
    void draw(Session& session, bool confirm, bool dismiss);

private:
    bool apply(Session& session);
    std::string um_, length_; ///< typed
    std::string error_;
    std::string line_; ///< the name of the line; empty: none is selected
    double line_px_ = 0;
    bool refused_ = false; ///< just now: the field gets the keys again
};

/// The line of the panel: what is known, and the button.
void draw_scale_line(Session& session, const Chain& chain, ScaleDialog& dialog);

} // namespace specklescope
