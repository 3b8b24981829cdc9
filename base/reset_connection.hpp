// Ends a connection that somebody else's code reads.
#pragma once

namespace specklescope {

/// Of TCP: both ends hear at once that it is over, whatever waits to be read, while shutdown() lets the other
/// end wait for room as long as nobody reads. The descriptor stays its owner's.
void reset_connection(int descriptor);

} // namespace specklescope
