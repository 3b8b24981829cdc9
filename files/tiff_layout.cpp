#include "files/tiff_layout.hpp"

#include "base/error.hpp"

#include <array>

namespace specklescope {

void check_tiff_kind(const TiffLayout& l, const std::string& where) {
    const bool integer = l.format == SAMPLEFORMAT_UINT || l.format == SAMPLEFORMAT_VOID;
    const bool kind = (integer && (l.bits == 8 || l.bits == 16)) ||
                      (l.format == SAMPLEFORMAT_IEEEFP && l.bits == 32) ||
                      (integer && l.bits == 1 && l.samples == 1);
    static constexpr std::array kFormats = {"unsigned", "signed",         "float",
                                            "untyped",  "complex signed", "complex float"};
    if (!kind)
        throw RunError(where + " has " + std::to_string(l.bits) + "-bit " +
                       (l.format >= 1 && l.format <= kFormats.size() ? kFormats[l.format - 1U] : "unknown") +
                       " samples; allowed: 8 and 16-bit unsigned, 32-bit float.");
    const bool grey = l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_MINISWHITE;
    const bool rgb = l.photometric == PHOTOMETRIC_RGB;
    const bool palette = l.palette() && l.bits == 8 && l.samples == 1;
    const bool ycbcr = l.ycbcr() && l.compression == COMPRESSION_JPEG && l.samples == 3 && l.bits == 8;
    if (!((grey && l.samples <= 3) || (rgb && (l.samples == 3 || l.samples == 4)) || palette || ycbcr))
        throw RunError(where + " has " + std::to_string(l.samples) + " samples a pixel of photometric kind " +
                       std::to_string(l.photometric) +
                       "; allowed: grey, RGB, 8-bit palette, YCbCr within JPEG.");
    if (TIFFIsCODECConfigured(l.compression) == 0)
        throw RunError(where + " is compressed by scheme " + std::to_string(l.compression) +
                       ", which this libtiff does not know; save it uncompressed, LZW or deflate.");
}

} // namespace specklescope
