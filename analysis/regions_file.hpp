// Region files: our own JSON, and those of ImageJ.
#pragma once

#include "analysis/region.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

inline constexpr std::size_t kMaxRegionsFile = std::size_t{64} << 20; ///< bytes

/// By extension: .roi and .zip are ImageJ's, anything else is JSON. Loads all regions or none: throws
/// RunError if the file cannot be read, UsageError with the file and the line or byte of the error.
std::vector<Region> load_regions(const std::string& path);

/// {"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]}; "colour" and "locked" are
/// optional. `name`: the file's name in errors.
std::vector<Region> read_regions_json(std::string_view text, const std::string& name);
/// The inverse: reading it returns equal regions.
std::string to_json(const std::vector<Region>& regions);

/// One ImageJ region (rectangle, oval, polygon, freehand, traced, straight line) with the pixels that ImageJ
/// measures. Its pixel corners are integers and are shifted by half a pixel up and left here; corners of
/// polygons by 1/1024 px more, for centres on the outline (with non-integer corners, a centre within 1/512 px
/// of it may be on the other side). `name` is the file's, `fallback` the region's if it has none.
Region read_imagej_roi(std::span<const std::byte> bytes, const std::string& name,
                       const std::string& fallback);
/// The *.roi entries of an archive, in order; duplicate names get a number.
std::vector<Region> read_imagej_zip(std::span<const std::byte> bytes, const std::string& name);

} // namespace specklescope
