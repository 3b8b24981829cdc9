// Dark frames and flat fields from files.
#pragma once

#include "pipeline/image.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace specklescope {

/// Mean of the pages of a file: rows of `stride` samples.
struct CalibrationFile {
    std::vector<float> plane; ///< empty if no file was read
    int pages = 0;            ///< number of averaged pages
};

/// Reads `name`: a PNG, JPEG or TIFF file, or an NPY file with one image or a stack; with "?page=N" only page
/// N, counted from 1. Throws a UsageError that starts with `what` ("stage background: dark_file") if the file
/// is not readable, has no such page, or a page does not have the input's size and channels.
CalibrationFile read_calibration(const std::string& what, const std::string& name, const Shape& input,
                                 std::size_t stride);

} // namespace specklescope
