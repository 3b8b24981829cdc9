// Arrays of MATLAB's files of version 5 to 7 (.mat), by matio: read whole, since compressed ones have no
// places to seek to, and at most 2 GiB by their format.
#include "base/error.hpp"
#include "files/film_file.hpp"
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

/// The name of the array to read; throws where it is not clear.
std::string chosen_name(mat_t* mat, const std::string& asked, const std::string& path) {
    std::string_view name = asked;
    name.remove_prefix(name.starts_with('/') ? 1 : 0);
    std::vector<std::string> films, stacks;
    while (const MatArray array{Mat_VarReadNextInfo(mat)}) {
        if (!is_mat_film(*array))
            continue;
        films.emplace_back(array->name);
        if (array->rank == 3)
            stacks.emplace_back(array->name);
    }
    if (films.empty())
        throw RunError("'" + path + "' holds no array of two or three axes of real numbers.");
    if (!name.empty() && std::find(films.begin(), films.end(), name) != films.end())
        return std::string(name);
    if (name.empty() && stacks.size() == 1)
        return stacks.front();
    if (name.empty() && films.size() == 1)
        return films.front();
    std::string listed;
    for (const std::string& film : films)
        listed += (listed.empty() ? "" : ", ") + film;
    throw UsageError("'" + path + "' holds " +
                     (name.empty() ? "several arrays" : "no array " + std::string(name)) + ": " + listed +
                     ". Choose one with ?path=" + films.front() + ".");
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

template <class T> void to_floats(const std::byte* from, std::size_t first, std::span<std::byte> to) {
    for (std::size_t i = 0; i * sizeof(float) < to.size(); ++i) {
        T number{};
        std::memcpy(&number, from + (first + i) * sizeof(T), sizeof(T));
        const auto value = static_cast<float>(number);
        std::memcpy(to.data() + i * sizeof(float), &value, sizeof(float));
    }
}

/// Copies the numbers from `first` on, in the type of the frame.
void copy_numbers(matio_classes type, const std::byte* from, std::size_t first, std::span<std::byte> to) {
    switch (type) {
    case MAT_C_DOUBLE:
        return to_floats<double>(from, first, to);
    case MAT_C_INT8:
        return to_floats<std::int8_t>(from, first, to);
    case MAT_C_INT16:
        return to_floats<std::int16_t>(from, first, to);
    case MAT_C_INT32:
        return to_floats<std::int32_t>(from, first, to);
    case MAT_C_UINT32:
        return to_floats<std::uint32_t>(from, first, to);
    case MAT_C_INT64:
        return to_floats<std::int64_t>(from, first, to);
    case MAT_C_UINT64:
        return to_floats<std::uint64_t>(from, first, to);
    default: // as stored: MAT_C_UINT8, MAT_C_UINT16, MAT_C_SINGLE
        std::memcpy(to.data(), from + first * Mat_SizeOfClass(type), to.size());
    }
}

} // namespace

std::unique_ptr<ImageReader> open_mat5(const std::string& path, const StackChoice& choice) {
    if (!choice.axes.empty())
        throw UsageError(
            "axes applies only to HDF5 files, and '" + path +
            "' is a MATLAB file of version 5, whose axes are height × width × time. Leave it out.");
    const auto bytes = std::make_shared<const FilmBytes>(path);
    check_elements(*bytes);
    const std::unique_ptr<mat_t, CloseMat> mat(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!mat)
        throw RunError("'" + path + "' is not a readable MATLAB file: it is damaged or cut short.");
    const std::string name = chosen_name(mat.get(), choice.path, path);
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
    FilmLayout film{.kind = "MATLAB", .width = array->dims[1], .height = array->dims[0], .frames = 1};
    if (array->rank == 3)
        film.frames = array->dims[2];
    film.by_columns = true;
    film.pixels = array->class_type == MAT_C_UINT8    ? stored::kGray8
                  : array->class_type == MAT_C_UINT16 ? stored::kGray16
                                                      : stored::kGray32f;
    if (film.pixels.type == PixelType::f32 && array->class_type != MAT_C_SINGLE)
        film.remarks.emplace_back("holds numbers that become 32-bit float");
    film.fetch = [numbers, type = array->class_type,
                  count = film.width * film.height](std::uint64_t frame, std::span<std::byte> to) {
        copy_numbers(type, numbers->data(), static_cast<std::size_t>(frame * count), to);
    };
    return open_film(bytes, std::move(film));
}

#else

std::unique_ptr<ImageReader> open_mat5(const std::string& path, const StackChoice&) {
    throw RunError("'" + path +
                   "' is a MATLAB file of version 5, and this build was made without matio. Install "
                   "libmatio-dev and build again, or save it with -v7.3.");
}

#endif

} // namespace specklescope
