#include "files/tiff_layout.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace specklescope {

void check_tiff_kind(const TiffLayout& l, const std::string& where) {
    const bool is_unsigned = l.format == SAMPLEFORMAT_UINT || l.format == SAMPLEFORMAT_VOID;
    const bool whole = l.bits == 8 || l.bits == 16 || l.bits == 24 || l.bits == 32 || l.bits == 64;
    const bool kind = (is_unsigned && l.bits >= 1 && (l.bits <= 16 || whole)) ||
                      (l.format == SAMPLEFORMAT_INT && whole) ||
                      (l.format == SAMPLEFORMAT_IEEEFP && whole && l.bits != 8);
    static constexpr std::array kFormats = {"unsigned", "signed",         "float",
                                            "untyped",  "complex signed", "complex float"};
    if (!kind)
        throw RunError(where + " has " + std::to_string(l.bits) + "-bit " +
                       (l.format >= 1 && l.format <= kFormats.size() ? kFormats[l.format - 1U] : "unknown") +
                       " samples; allowed: 1 to 16-bit unsigned, 8, 16, 24, 32 and 64-bit integers, 16, 24, "
                       "32 and 64-bit float.");
    const bool grey = l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_MINISWHITE;
    const bool rgb = l.photometric == PHOTOMETRIC_RGB;
    const bool palette = l.palette() && is_unsigned && l.bits <= 8 && l.samples == 1;
    const bool ycbcr = l.ycbcr() && l.compression == COMPRESSION_JPEG && l.samples == 3 && l.bits == 8;
    if (!((grey && l.samples <= 3) || (rgb && (l.samples == 3 || l.samples == 4)) || palette || ycbcr))
        throw RunError(where + " has " + std::to_string(l.samples) + " samples a pixel of photometric kind " +
                       std::to_string(l.photometric) +
                       "; allowed: grey, RGB, palette of up to 8 bits, YCbCr within JPEG.");
    if (TIFFIsCODECConfigured(l.compression) == 0)
        throw RunError(where + " is compressed by scheme " + std::to_string(l.compression) +
                       ", which this libtiff does not know. Save it uncompressed, LZW or deflate.");
}

std::vector<std::byte> tiff_palette(TIFF* tiff, const TiffLayout& layout) {
    std::array<const std::uint16_t*, 3> colors{};
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]) == 0)
        return {};
    const std::size_t count = std::size_t{1} << layout.bits;
    // Entries have 16 bits; some programs write 8 all the same.
    const bool wide = std::any_of(colors.begin(), colors.end(), [&](const std::uint16_t* of) {
        return std::any_of(of, of + count, [](std::uint16_t entry) { return entry > 255; });
    });
    std::vector<std::byte> palette;
    for (std::size_t i = 0; i < count; ++i)
        for (const std::uint16_t* of : colors)
            palette.push_back(static_cast<std::byte>(wide ? of[i] >> 8 : of[i]));
    return palette;
}

bool is_colour_scale(const std::vector<std::byte>& palette) {
    constexpr int kMost = 16 * 256; // jet and fire: about 1000; a palette of a photograph: 20 000 and more
    int way = 0;
    for (std::size_t i = 3; i < palette.size(); ++i)
        way += std::abs(std::to_integer<int>(palette[i]) - std::to_integer<int>(palette[i - 3]));
    return way <= kMost;
}

} // namespace specklescope
