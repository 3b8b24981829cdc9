// Arrays of MATLAB's files of version 5 to 7 (.mat), by matio: read whole, since compressed ones have no
// places to seek to, and at most 2 GiB by their format.
#include "base/error.hpp"
#include "files/film_array.hpp"
#include "have_matio.hpp"

#ifdef SPECKLESCOPE_HAVE_MATIO
#include "base/memory_budget.hpp"

#include <matio.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_MATIO

namespace {

struct CloseMat {
    void operator()(mat_t* file) const { (void)Mat_Close(file); }
    void operator()(matvar_t* array) const { Mat_VarFree(array); }
};
using MatArray = std::unique_ptr<matvar_t, CloseMat>;

/// Bytes of its numbers; 0: none, or too many to count.
std::uint64_t bytes_of(const matvar_t& array) {
    std::uint64_t bytes = Mat_SizeOfClass(array.class_type);
    for (int axis = 0; axis < array.rank; ++axis)
        if (__builtin_mul_overflow(bytes, std::uint64_t{array.dims[axis]}, &bytes))
            return 0;
    return bytes;
}

bool is_mat_film(const matvar_t& array) {
    return array.name && (array.rank == 2 || array.rank == 3) && array.isComplex == 0 &&
           array.class_type >= MAT_C_DOUBLE && array.class_type <= MAT_C_UINT64 && bytes_of(array) > 0 &&
           std::max(array.dims[0], array.dims[1]) > 1;
}

/// matio takes missing bytes for zeros: the elements of the file must end within it.
void check_elements(const FilmBytes& file) {
    constexpr std::uint64_t kHeader = 128, kOrder = 126, kTag = 8;
    const bool swapped = file.text(kOrder, 2) == "MI";
    for (std::uint64_t at = kHeader; at < file.size();) {
        auto bytes = file.number<std::uint32_t>(at + 4);
        if (swapped)
            bytes = __builtin_bswap32(bytes);
        at += kTag + bytes;
        if (at > file.size())
            throw RunError("'" + file.path() + "' is damaged or cut short: it has " +
                           std::to_string(file.size()) + " bytes and needs " + std::to_string(at) + ".");
    }
}

/// Axes of MATLAB, whose first runs fastest, the slowest first.
NamedArray named(const matvar_t& array) {
    return {array.name,
            {std::make_reverse_iterator(array.dims + array.rank), std::make_reverse_iterator(array.dims)}};
}

/// Reads all numbers into zeros, which stay where the file has fewer than it states.
bool read_numbers(mat_t* mat, matvar_t& array, std::vector<std::byte>& to) {
    std::array<int, 3> start{}, stride{1, 1, 1}, edge{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(array.rank); ++axis) {
        if (array.dims[axis] > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            return false;
        edge[axis] = static_cast<int>(array.dims[axis]);
    }
    to.resize(bytes_of(array));
    return Mat_VarReadData(mat, &array, to.data(), start.data(), stride.data(), edge.data()) == 0;
}

const NumberKind& kind_of(const matvar_t& array) {
    constexpr std::array<std::string_view, 10> kNames = {"f8", "f4", "i1", "u1", "i2",
                                                         "u2", "i4", "u4", "i8", "u8"};
    static_assert(MAT_C_UINT64 - MAT_C_DOUBLE == kNames.size() - 1 && MAT_C_UINT8 - MAT_C_DOUBLE == 3);
    return *number_kind(kNames[static_cast<std::size_t>(array.class_type - MAT_C_DOUBLE)]);
}

} // namespace

std::unique_ptr<ImageReader> open_mat5(const std::string& path, const StackChoice& choice) {
    const auto bytes = std::make_shared<const FilmBytes>(path);
    check_elements(*bytes);
    const std::unique_ptr<mat_t, CloseMat> mat(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!mat)
        throw RunError("'" + path + "' is not a readable MATLAB file: it is damaged or cut short.");
    std::vector<NamedArray> films;
    while (const MatArray array{Mat_VarReadNextInfo(mat.get())})
        if (is_mat_film(*array))
            films.push_back(named(*array));
    const std::string name = films[choose_array(films, choice.path, path)].name;
    (void)Mat_Rewind(mat.get());
    const MatArray array(Mat_VarReadInfo(mat.get(), name.c_str()));
    const auto numbers = std::make_shared<std::vector<std::byte>>();
    if (array)
        check_memory(bytes_of(*array), "The array " + name + " of '" + path + "'", "save it with -v7.3");
    // zlib makes at most 1032 bytes of one, and MATLAB stores a double in at least one.
    constexpr std::uint64_t kMostFromByte = std::uint64_t{1032} * 8;
    if (!array || bytes_of(*array) / kMostFromByte > bytes->size() ||
        !read_numbers(mat.get(), *array, *numbers))
        throw RunError("'" + path + "' is damaged or cut short in its array " + name + ".");
    const FilmAxes axes = film_axes(named(*array).sides, choice.axes, array->rank == 3 ? "twh" : "wh",
                                    "the array " + name + " of '" + path + "'");
    const NumberKind& kind = kind_of(*array);
    return open_film(bytes, film_of_array("MATLAB", axes, kind, false,
                                          [numbers, step = axes.step('t') * kind.bytes](std::uint64_t frame) {
                                              return numbers->data() + frame * step;
                                          }));
}

#else

std::unique_ptr<ImageReader> open_mat5(const std::string& path, const StackChoice&) {
    throw RunError("'" + path +
                   "' is a MATLAB file of version 5, and this build was made without matio. Install "
                   "libmatio-dev and build again, or save it with -v7.3.");
}

#endif

} // namespace specklescope
