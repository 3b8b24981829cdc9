// Standard input and standard error, where whoever started the program closed them.
#pragma once

namespace specklescope {

/// Those that are closed become /dev/null: the next file to be opened would take their number, and get the
/// words. Standard output stays closed, so that a stream into it is refused. Before anything else opens a
/// file; throws RunError.
void hold_standard_streams();

} // namespace specklescope
