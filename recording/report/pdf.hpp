// Draws a report. The one place that knows Cairo and Pango, where they are there.
#pragma once

#include "recording/report/report.hpp"

#include <string>

namespace specklescope {

bool can_draw_pdf(); ///< this build has what it takes

/// A PDF file, A4. Text is set as it stands, no markup in it is read. Throws RunError.
std::string draw_pdf(const Report& report);

} // namespace specklescope
