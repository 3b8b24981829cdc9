// NumPy's .npy files: one array.
#pragma once

#include "files/film_array.hpp"
#include "files/input_file.hpp"
#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

/// Rows of float32, in C order for any order of the file.
struct NpyArray {
    std::vector<std::size_t> shape; ///< without zeros
    std::vector<float> values;
};

/// True if the file starts like a .npy file. Throws RunError if it cannot be opened.
bool is_npy(const std::string& path);

/// An array whose shape is known before memory is allocated for it.
class NpyFile {
public:
    /// Reads the header. Version 1 to 3; any integer, float or bool of either byte order, C or Fortran order,
    /// 1 to 4 axes. Throws RunError for anything else, for more than `most` bytes, and if the file is shorter
    /// than its header states.
    explicit NpyFile(const std::string& path, std::uint64_t most = kMaxImageBytes);
    /// The same from an open stream of `size` bytes; 0: unknown. `path` is for errors.
    NpyFile(const std::string& path, InputFile file, std::uint64_t size, std::uint64_t most);

    const std::vector<std::size_t>& shape() const { return shape_; } ///< without zeros
    std::size_t count() const { return count_; }                     ///< number of values

    bool fortran() const { return fortran_; }
    // For reading in any order.
    std::FILE* file() const { return file_.get(); }
    std::uint64_t offset() const { return offset_; } ///< of the first number in the file
    const NumberKind& kind() const { return *kind_; }
    bool swapped() const { return swap_; }

    /// Throws RunError if it contains more than `most` numbers.
    void check_count(std::size_t most) const;

    /// Some numbers, rounded to float32, in the file's order, with their positions in C order.
    struct Piece {
        std::span<const float> values;
        std::span<const std::size_t> places;
    };
    /// The next numbers, valid until the next call; none at the end. Can be cancelled.
    Piece next();
    /// All remaining numbers, in C order. Throws RunError before the allocation if memory is insufficient.
    std::vector<float> rest();

private:
    void step();

    std::string path_;
    InputFile file_;
    std::vector<std::size_t> shape_;
    const NumberKind* kind_ = nullptr;
    std::uint64_t offset_ = 0;
    std::size_t count_ = 0, done_ = 0;
    bool fortran_ = false, swap_ = false;
    std::vector<std::size_t> strides_, at_; ///< for C order; of the next number in Fortran order
    std::vector<std::byte> read_;
    std::vector<float> values_;
    std::vector<std::size_t> places_;
};

/// Reads everything. Throws RunError like NpyFile, and before any allocation if it contains more than `most`
/// numbers or does not fit into memory.
NpyArray read_npy(const std::string& path, std::size_t most = std::numeric_limits<std::size_t>::max());

} // namespace specklescope
