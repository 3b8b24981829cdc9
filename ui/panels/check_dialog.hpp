// Dialog that checks the open source for faults of its frames and lists the findings.
#pragma once

#include "session/session.hpp"
#include "ui/sources/later.hpp"

#include <optional>
#include <string>

namespace specklescope {

class CheckDialog {
public:
    bool ask = false; ///< open the dialog in this frame
    /// Draws the dialog while it is open; closing it cancels the check. `confirm`, `dismiss`: Enter and
    /// Escape in this frame.
    void draw(Session& session, bool confirm, bool dismiss);

private:
    struct Checked {
        CheckReport report;
        std::string error; ///< why there is no report; empty: there is one
    };
    void begin(const Session& session);
    void buttons(Session& session);

    Later<Checked> check_;
    std::string source_;               ///< its name
    float height_ = 1;                 ///< of the table, as drawn last
    bool arrived_ = false;             ///< the result, not drawn yet
    std::optional<std::size_t> notes_; ///< number of the session's when Save was pressed
};

} // namespace specklescope
