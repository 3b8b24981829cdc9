// Replaces standard input and standard error if the program was started with them closed.
#pragma once

namespace specklescope {

/// Opens /dev/null for closed streams; otherwise the next opened file would get their number and their
/// output. Standard output stays closed, so that streaming to it is refused. Call it before any file is
/// opened; throws RunError.
void hold_standard_streams();

} // namespace specklescope
