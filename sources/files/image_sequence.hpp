// Files of an image source: one file, a folder, or a numbered sequence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// True if the file name (not the folder) contains one %d, %4d or %04d.
bool is_number_pattern(std::string_view path);
/// True if a file with this name can be part of the sequence `pattern`.
bool may_be_in_sequence(std::string_view pattern, const std::string& name);

/// Files of `path`, in order. A folder: every image in it, with numbers in names compared by value (img2
/// before img10). A pattern: from the lowest existing number to the first missing one; logs a warning if
/// there are more after the gap. Throws RunError if there are none.
std::vector<std::string> list_images(const std::string& path);

/// img2 < img10 < img10b.
bool natural_less(std::string_view a, std::string_view b);

} // namespace specklescope
