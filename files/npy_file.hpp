// NumPy's .npy files: one array.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

/// Rows of float32, in C order whatever the file's order is.
struct NpyArray {
    std::vector<std::size_t> shape; ///< none of 0
    std::vector<float> values;
};

/// True if the file begins as a .npy file does. Throws RunError if it cannot be opened.
bool is_npy(const std::string& path);

/// Version 1 to 3; any integer, float or bool of either byte order, rounded to float32, C or Fortran order, 1
/// to 4 axes. Throws RunError in one sentence for anything else, and where the file is shorter than its
/// header says; where it holds more than `most` numbers, or more than there is memory for, before any is
/// read.
NpyArray read_npy(const std::string& path, std::size_t most = std::numeric_limits<std::size_t>::max());

} // namespace specklescope
