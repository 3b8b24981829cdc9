// Dark frames and flat fields from files.
#pragma once

#include "pipeline/image.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace specklescope {

/// The mean of a file's pages: planes of `stride` samples a row.
struct CalibrationFile {
    std::vector<float> plane; ///< empty: none was read
    int pages = 0;            ///< that went into it
};

/// Reads `name`: a PNG, JPEG or TIFF file, or an NPY file of one image or a stack of them; followed by
/// "?page=N" for one page alone, the first being 1. Throws UsageError beginning with `what` ("stage
/// background: dark_file") if the file cannot be read, has no such page, or if a page that is taken does not
/// have the input's size and channels.
CalibrationFile read_calibration(const std::string& what, const std::string& name, const Shape& input,
                                 std::size_t stride);

} // namespace specklescope
