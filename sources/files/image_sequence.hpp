// Which files make up an image source: one file, a folder, or a numbered sequence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// True if the file name (not the folder) holds one %d, %4d or %04d.
bool is_number_pattern(std::string_view path);
/// Whether a file of this name, beside others, can be one of the sequence `pattern`, which is one.
bool may_be_in_sequence(std::string_view pattern, const std::string& name);

/// The files behind `path`, in order. A folder: every image in it, names compared with their numbers by value
/// (img2 before img10). A pattern: from the lowest number there is up to the first that is missing; a warning
/// is logged if more come after the gap. Throws RunError where there is nothing.
std::vector<std::string> list_images(const std::string& path);

/// img2 < img10 < img10b.
bool natural_less(std::string_view a, std::string_view b);

} // namespace specklescope
