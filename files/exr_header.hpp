// Checks the header of an OpenEXR file before the library reads it.
#pragma once

#include <string>

namespace specklescope {

/// The library allocates the claimed size of an attribute before it reads the attribute. No attribute may
/// claim more than the file contains, or another size than its type has. Throws RunError; all other errors
/// are left to the library.
void check_exr_header(const std::string& path);

} // namespace specklescope
