// Files of regions: our own JSON, and those of ImageJ.
#pragma once

#include "analysis/region.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

inline constexpr std::size_t kMaxRegionsFile = std::size_t{64} << 20; ///< bytes

/// By the ending: .roi and .zip as ImageJ writes them, anything else as JSON. All or nothing: throws RunError
/// if the file cannot be read, UsageError in one sentence with the file and the line or byte where it is
/// wrong.
std::vector<Region> load_regions(const std::string& path);

/// {"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]}; "colour" and "locked" may
/// follow. `name` stands for the file in errors.
std::vector<Region> read_regions_json(std::string_view text, const std::string& name);
/// The same regions from it are equal.
std::string to_json(const std::vector<Region>& regions);

/// One region of ImageJ (rectangle, oval, polygon, freehand, traced, straight line) with the pixels that
/// ImageJ measures. It has corners of pixels at whole numbers, which come to lie half a pixel further up and
/// left here; corners of polygons 1/1024 px less, for centres that lie on the outline (where corners are no
/// whole numbers, a centre nearer to it than 1/512 px may fall to the other side). `name` is the file's,
/// `fallback` the region's if it has none.
Region read_imagej_roi(std::span<const std::byte> bytes, const std::string& name,
                       const std::string& fallback);
/// The entries *.roi of an archive, in its order; a name that comes again gets a number.
std::vector<Region> read_imagej_zip(std::span<const std::byte> bytes, const std::string& name);

} // namespace specklescope
