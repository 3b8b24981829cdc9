// Arrays of numbers that hold a film: which axis is time, height, width and colour, once for NPY, NPZ, HDF5
// and MATLAB files.
#pragma once

#include "files/film_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// A type of numbers in a file.
struct NumberKind {
    std::string_view name; ///< of NumPy: "u1", "f8"
    std::size_t bytes;
    float (*value)(const std::byte* from, bool swapped);

    PixelType pixels() const; ///< that the numbers become
};
/// nullptr: there is no such kind.
const NumberKind* number_kind(std::string_view name);
/// "f2, f4, …".
std::string number_kinds();

struct FilmAxes {
    std::vector<std::uint64_t> sides; ///< the slowest axis first
    std::string letters{};            ///< of each: t, h, w, c
    std::string assumed{};            ///< the letters, if none were asked for

    std::uint64_t side(char axis) const; ///< 1: there is no such axis
    std::uint64_t step(char axis) const; ///< numbers from one index to the next; 0: there is no such axis
    std::string text() const;            ///< "6×24×40"
};
/// An array of a file.
struct NamedArray {
    std::string name;
    std::vector<std::uint64_t> sides{}; ///< the slowest axis first; empty: not known before it is opened

    std::string text() const; ///< "/a/raw (6×24×40)"
};
/// Index of the array `asked` for, of the only one, or of the only one of three axes. Throws RunError if
/// there are no arrays, and UsageError with their names if the choice is not clear.
std::size_t choose_array(const std::vector<NamedArray>& arrays, std::string_view asked,
                         const std::string& file);

/// Axes as `asked`, otherwise as `usual`; empty: there is no usual order. Throws UsageError if the letters do
/// not fit, and if none are asked for and the sides suggest that time is last. `array`: for errors.
FilmAxes film_axes(std::vector<std::uint64_t> sides, const std::string& asked, const std::string& usual,
                   const std::string& array);

/// A film of an array. `frame_at`: the first number of a frame, whose other numbers lie by the steps of
/// `axes`; valid until the next call.
FilmLayout film_of_array(std::string kind, const FilmAxes& axes, const NumberKind& number, bool swapped,
                         std::function<const std::byte*(std::uint64_t frame)> frame_at);

} // namespace specklescope
