#include "files/image_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/film_file.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace specklescope {

void ImageReader::goes_on() const { work_goes_on("reading '" + path_ + "'"); }

void ImageReader::read_rows(HostView to) { orientation_ == 1 ? read_bands(to) : turn_rows(to); }

Coding ImageReader::recorded_coding() const {
    return {.transfer = {},
            .light = recorded_.now().light.value_or(Light::counts),
            .by = "its recording",
            .why = {},
            .recorded = true};
}

Shape ImageReader::begin_oriented(const Shape& stored, unsigned orientation, bool stated) {
    stored_ = stored;
    orientation_ = orientation >= 1 && orientation <= 8 ? orientation : 1;
    turned_.clear();
    upright_row_ = 0;
    if (orientation_ == 1)
        return stored;
    if (stated)
        remarks_.push_back("is turned upright, as its orientation " + std::to_string(orientation_) +
                           " states");
    Shape upright = stored;
    if (orientation_ >= 5)
        std::swap(upright.width, upright.height);
    return upright;
}

namespace {

/// Copies `count` pixels of Bytes bytes that are `right` bytes apart; a constant size is a single move.
template <std::size_t Bytes>
void gather(const std::byte* from, std::ptrdiff_t right, int count, std::byte* to) {
    for (int x = 0; x < count; ++x, from += right, to += Bytes)
        std::memcpy(to, from, Bytes);
}

using Gather = void (*)(const std::byte*, std::ptrdiff_t, int, std::byte*);
Gather gather_of(std::size_t bytes) {
    switch (bytes) {
    case 1:
        return gather<1>;
    case 2:
        return gather<2>;
    case 3:
        return gather<3>;
    case 4:
        return gather<4>;
    case 6:
        return gather<6>;
    default: // three floats
        return gather<12>;
    }
}

} // namespace

/// Pixel (x, y) of the upright image is `first + x * right + y * down` of the stored one, in pixels.
void ImageReader::turn_rows(HostView to) {
    if (turned_.empty()) {
        check_shape(stored_, "'" + path_ + "'");
        check_memory(stored_.bytes(), "'" + path_ + "', turned,", "store it upright");
        turned_.resize(stored_.bytes());
        read_bands(HostView(turned_.data(), stored_));
    }
    const std::ptrdiff_t width = stored_.width, height = stored_.height;
    const bool transposed = orientation_ >= 5;
    const bool from_right = orientation_ == 2 || orientation_ == 3 || orientation_ == 7 || orientation_ == 8;
    const bool from_bottom = orientation_ == 3 || orientation_ == 4 || orientation_ == 6 || orientation_ == 7;
    const std::ptrdiff_t along = from_right ? -1 : 1, across = from_bottom ? -width : width;
    const std::ptrdiff_t right = transposed ? across : along, down = transposed ? along : across;
    const std::ptrdiff_t first = (from_right ? width - 1 : 0) + (from_bottom ? (height - 1) * width : 0);
    const std::size_t bytes = stored_.row_bytes() / static_cast<std::size_t>(stored_.width);
    const auto pixel = static_cast<std::ptrdiff_t>(bytes);
    const Gather gather = gather_of(bytes);
    for (int y = 0; y < to.shape.height; ++y, ++upright_row_)
        gather(turned_.data() + (first + upright_row_ * down) * pixel, right * pixel, to.shape.width,
               to.row(y));
}

void ImageReader::read_bands(HostView to) {
    const auto rows = static_cast<int>(
        std::clamp<std::size_t>(kBytesAtOnce / to.shape.row_bytes(), 1, static_cast<std::size_t>(kMaxSide)));
    for (int first = 0; first < to.shape.height; first += rows) {
        goes_on();
        Shape band = to.shape;
        band.height = std::min(rows, to.shape.height - first);
        take_rows(HostView(to.row(first), band, to.pitch));
    }
}

std::unique_ptr<ImageReader> open_image(const std::string& path, const StackChoice& choice) {
    std::array<unsigned char, 64> head{};
    std::size_t got = 0;
    {
        const InputFile file = open_input(path);
        got = std::fread(head.data(), 1, head.size(), file.get());
    }
    const auto begins = [&](const char* magic, std::size_t bytes) {
        return got >= bytes && std::memcmp(head.data(), magic, bytes) == 0;
    };
    if (begins("\x89HDF\r\n\x1a\n", 8) || begins("MATLAB 7.3", 10))
        return open_hdf5(path, choice);
    if (begins("MATLAB 5.0", 10))
        return open_mat5(path, choice);
    if (begins("PK\x03\x04", 4))
        return open_npz(path, choice);
    if (begins("\x93NUMPY", 6) && choice.path.empty())
        return open_npy(path, choice);
    if (!choice.path.empty() || !choice.axes.empty())
        throw UsageError("'" + path + "' has no arrays to choose from. Leave path and axes out.");
    if (begins("\x89PNG\r\n\x1a\n", 8))
        return open_png(path);
    if (begins("\xff\xd8\xff", 3))
        return open_jpeg(path);
    if (begins("II*\0", 4) || begins("MM\0*", 4) || begins("II+\0", 4) || begins("MM\0+", 4))
        return open_tiff(path, choice);
    if (begins("#?RADIAN", 8) || begins("#?RGBE", 6))
        return open_hdr(path);
    if (begins("\x76\x2f\x31\x01", 4))
        return open_exr(path);
    if (const FilmFormat* const format =
            film_format(path, std::string_view(reinterpret_cast<const char*>(head.data()), got)))
        return open_film(path, *format, choice);
    const char* const other = begins("GIF8", 4)   ? "GIF"
                              : begins("BM", 2)   ? "BMP"
                              : begins("RIFF", 4) ? "WebP"
                                                  : nullptr;
    if (other)
        throw RunError("'" + path + "' is a " + other + " file, which is not read. Save it as TIFF or PNG.");
    throw RunError("'" + path + (got == 0 ? "' is empty" : "' is not an image") +
                   "; allowed: PNG, JPEG, TIFF, Radiance, OpenEXR, NPY, NPZ and HDF5 files, and films: " +
                   film_names() + ".");
}

} // namespace specklescope
