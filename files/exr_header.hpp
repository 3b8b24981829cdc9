// The header of an OpenEXR file, looked through before its library is let at it.
#pragma once

#include <string>

namespace specklescope {

/// The library makes room for what an attribute claims before it reads that, and goes on behind what it has
/// read: none may claim more than the file holds, nor another size than its type has. Throws RunError;
/// whatever else is wrong is the library's to say.
void check_exr_header(const std::string& path);

} // namespace specklescope
