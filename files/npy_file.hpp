// NumPy's .npy files: one array.
#pragma once

#include "files/input_file.hpp"

#include <cstddef>
#include <limits>
#include <span>
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

/// An array whose sides are known before room is made for its numbers.
class NpyFile {
public:
    /// Reads its header. Version 1 to 3; any integer, float or bool of either byte order, C or Fortran order,
    /// 1 to 4 axes. Throws RunError in one sentence for anything else, and where the file is shorter than its
    /// header says.
    explicit NpyFile(const std::string& path);

    const std::vector<std::size_t>& shape() const { return shape_; } ///< none of 0
    std::size_t count() const { return count_; }                     ///< of numbers

    /// Throws RunError if it holds more than these.
    void check_count(std::size_t most) const;

    /// Some numbers, rounded to float32, in the file's order, and where each lies in C order.
    struct Piece {
        std::span<const float> values;
        std::span<const std::size_t> places;
    };
    /// The next ones, until the next call; none at the end. Long work that can be stopped.
    Piece next();
    /// All that next() has not given, at their places. Throws RunError before room is made where there is not
    /// memory enough.
    std::vector<float> rest();

private:
    void step();

    std::string path_;
    InputFile file_;
    std::vector<std::size_t> shape_;
    std::size_t count_ = 0, done_ = 0;
    bool fortran_ = false, swap_ = false;
    std::size_t bytes_ = 0; ///< of a number
    float (*number_)(const std::byte*, bool swap) = nullptr;
    std::vector<std::size_t> strides_, at_; ///< of C order; of the next number in Fortran order
    std::vector<std::byte> read_;
    std::vector<float> values_;
    std::vector<std::size_t> places_;
};

/// All of it. Throws RunError as NpyFile does; where it holds more than `most` numbers, or more than there is
/// memory for, before room is made for any.
NpyArray read_npy(const std::string& path, std::size_t most = std::numeric_limits<std::size_t>::max());

} // namespace specklescope
