#pragma once

namespace specklescope {

/// `specklescope batch`: replaces this process by Python's specklescope.batch, with this program for the
/// recordings. Throws RunError without Python.
[[noreturn]] void run_batch(char** words);

} // namespace specklescope
