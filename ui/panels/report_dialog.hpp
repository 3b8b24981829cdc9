// The form of a report: subject, fields of view.report_form and remarks.
#pragma once

#include "recording/report/report.hpp"
#include "session/session.hpp"

#include <string>

namespace specklescope {

struct ReportDialog {
    bool ask = false; ///< open the dialog in this frame
    /// Draws the dialog while it is open. `confirm`, `dismiss`: Enter and Escape in this frame. Returns true
    /// once the user has confirmed; the session's settings then hold the form.
    bool draw(Session& session, bool confirm, bool dismiss);

private:
    std::string subject_, remarks_;
    ReportForm form_;
};

} // namespace specklescope
