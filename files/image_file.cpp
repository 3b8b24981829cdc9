#include "files/image_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace specklescope {

void ImageReader::goes_on() const { work_goes_on("reading '" + path_ + "'"); }

void ImageReader::read_rows(HostView to) {
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
    std::array<unsigned char, 8> head{};
    std::size_t got = 0;
    {
        const InputFile file = open_input(path);
        got = std::fread(head.data(), 1, head.size(), file.get());
    }
    const auto begins = [&](const char* magic, std::size_t bytes) {
        return got >= bytes && std::memcmp(head.data(), magic, bytes) == 0;
    };
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
    throw RunError("'" + path + (got == 0 ? "' is empty" : "' is not an image") +
                   "; allowed: PNG, JPEG and TIFF, Radiance and OpenEXR files.");
}

} // namespace specklescope
