// The form of a report: subject, fields of view.report_form and remarks.
#pragma once

#include "recording/report/report.hpp"
#include "session/session.hpp"

#include <string>

namespace specklescope {

struct ReportDialog {
    bool ask = false; ///< open the dialog in this frame
    struct Keys {     ///< pressed in this frame
        bool enter = false, ctrl_enter = false, escape = false;
    };
    /// Draws the dialog while it is open. Returns true once the user has confirmed; the session's settings
    /// then hold the form. Enter moves to the next field and confirms in the last one.
    bool draw(Session& session, Keys keys);

private:
    std::string subject_, remarks_;
    ReportForm form_;
};

} // namespace specklescope
