// Cine files of Phantom cameras. Described by Vision Research's "The Cine File Format", the MultimediaWiki
// (wiki.multimedia.cx/index.php/Phantom_Cine) and the readers pims/cine.py (soft-matter) and pycine
// (ottomatic-io).
#include "base/error.hpp"
#include "files/film_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

// Offsets of the file's header ("CI"), of the bitmap header and of the setup block.
constexpr std::uint64_t kCompression = 4, kVersion = 6, kImageCount = 20, kBitmapAt = 24, kSetupAt = 28,
                        kOffsetsAt = 32;
constexpr std::uint64_t kWidth = 4, kHeight = 8, kBits = 14, kPacking = 16;
constexpr std::uint64_t kMark = 140, kLength = 142, kRate = 768, kMosaic = 808, kRealBits = 896,
                        kShutterNs = 1568, kBlackLevel = 5732;

/// A time of 64 bits in ns: seconds, and fractions of 2^-32 s.
std::int64_t time64_ns(std::uint64_t time) {
    const auto seconds = static_cast<std::int64_t>(time >> 32U);
    const double fraction = static_cast<double>(time & 0xffffffffU) / 4294967296.0;
    return std::min<std::int64_t>(seconds * 1'000'000'000 + std::llround(fraction * 1e9), kTooLate);
}

/// 12-bit values of the 10-bit codes of packed frames: the curve of Rec. 709 between 63 and 4060, which
/// agrees with the table of the public readers within 1. Codes above the curve's end are saturated.
std::vector<std::uint16_t> packed_curve() {
    constexpr int kCodes = 1024, kEnd = 1014;
    constexpr double kBlack = 62.5, kWhite = 1013.5, kLow = 63, kHigh = 4060;
    std::vector<std::uint16_t> curve(kCodes, 4095);
    for (int code = 0; code <= kEnd; ++code) {
        const double value = (code - kBlack) / (kWhite - kBlack);
        const double light = value < 0.081 ? value / 4.5 : std::pow((value + 0.099) / 1.099, 1 / 0.45);
        curve[static_cast<std::size_t>(code)] =
            static_cast<std::uint16_t>(std::lround(std::clamp(kLow + (kHigh - kLow) * light, 0.0, 4095.0)));
    }
    return curve;
}

/// Sets type, bits, curve and the order of rows.
void take_cine_pixels(FilmLayout& film, const FilmBytes& file, std::uint64_t bitmap, unsigned real_bits) {
    const auto bits = file.number<std::uint16_t>(bitmap + kBits);
    const auto packing = file.number<std::uint32_t>(bitmap + kPacking);
    constexpr StoredPixels kPacked10{PixelType::u16, 1, 4095, StoredPixels::Layout::packed, 10, Packing::msb};
    constexpr StoredPixels kPacked12{PixelType::u16, 1, 4095, StoredPixels::Layout::packed, 12, Packing::msb};
    if (packing == 256) {
        film.pixels = kPacked10;
        film.curve = packed_curve();
        film.full_scale = {.value = 4095, .by = "its packed 10 bits, which become 12"};
    } else if (packing == 1024) {
        film.pixels = kPacked12;
        film.full_scale = {.value = 4095, .by = "its packed 12 bits"};
    } else if (packing == 0 && (bits == 8 || bits == 16)) {
        film.pixels = bits == 8 ? stored::kGray8 : stored::kGray16;
        film.upwards = file.number<std::int32_t>(bitmap + kHeight) > 0;
        if (bits == 16 && real_bits > 8 && real_bits < 16)
            film.full_scale = {.value = static_cast<double>((1U << real_bits) - 1), .by = "its RealBPP"};
    } else {
        file.refuse(film.kind, "its frames have " + std::to_string(bits) + " bits at byte " +
                                   std::to_string(bitmap + kBits) + " and packing " +
                                   std::to_string(packing) + " at byte " + std::to_string(bitmap + kPacking) +
                                   "; allowed: grey of 8 and 16 bits, packed 10 (256) and 12 bits (1024)");
    }
}

/// Times and exposures in the blocks between the setup and the list of frames: u32 bytes, u16 type, u16
/// reserved.
void take_cine_blocks(FilmLayout& film, const std::shared_ptr<const FilmBytes>& file, std::uint64_t begin,
                      std::uint64_t end) {
    constexpr std::uint64_t kHead = 8;
    constexpr unsigned kTimes = 1002, kExposures = 1003;
    for (std::uint64_t at = begin; at + kHead <= std::min(end, file->size());) {
        const std::uint64_t bytes = file->number<std::uint32_t>(at);
        const unsigned type = file->number<std::uint16_t>(at + 4);
        if (bytes < kHead || bytes > end - at)
            return;
        const std::uint64_t first = at + kHead;
        if (type == kTimes && bytes >= kHead + film.frames * sizeof(std::uint64_t))
            film.time_ns = [file, first](std::uint64_t frame) {
                return time64_ns(file->number<std::uint64_t>(first + frame * sizeof(std::uint64_t)));
            };
        if (type == kExposures && bytes >= kHead + film.frames * sizeof(std::uint32_t))
            film.exposure_ms = [file, first](std::uint64_t frame) {
                const auto fraction = file->number<std::uint32_t>(first + frame * sizeof(std::uint32_t));
                return std::round(fraction / 4294967296.0 * 1e9) / 1e6; // in whole ns
            };
        at += bytes;
    }
}

} // namespace

FilmLayout cine_layout(const std::shared_ptr<const FilmBytes>& file, const StackChoice&) {
    FilmLayout film{.kind = "Cine"};
    const auto compression = file->number<std::uint16_t>(kCompression);
    const auto version = file->number<std::uint16_t>(kVersion);
    if (version != 1)
        file->refuse(film.kind, "its version at byte 6 is " + std::to_string(version) + "; allowed: 1");
    if (compression != 0 && compression != 2)
        file->refuse(film.kind, "its compression at byte 4 is " + std::to_string(compression) +
                                    "; allowed: 0 (grey), 2 (uninterpolated)");
    const std::uint64_t bitmap = file->number<std::uint32_t>(kBitmapAt);
    const std::uint64_t setup = file->number<std::uint32_t>(kSetupAt);
    const std::uint64_t offsets = file->number<std::uint32_t>(kOffsetsAt);
    film.frames = file->number<std::uint32_t>(kImageCount);
    const std::int64_t width = file->number<std::int32_t>(bitmap + kWidth);
    const std::int64_t height = file->number<std::int32_t>(bitmap + kHeight);
    film.width = static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0));
    film.height = static_cast<std::uint64_t>(std::abs(height));
    if (file->text(setup + kMark, 2) != "ST")
        file->refuse(film.kind, "its setup at byte " + std::to_string(setup) + " has no mark");
    const std::uint64_t length = file->number<std::uint16_t>(setup + kLength);
    const auto setting = [&](std::uint64_t at) {
        return length >= at + 4 ? file->number<std::uint32_t>(setup + at) : 0;
    };
    take_cine_pixels(film, *file, bitmap, setting(kRealBits));
    take_cine_blocks(film, file, setup + length, offsets);
    if (!film.time_ns)
        film.time_ns = steady_times(setting(kRate));
    if (const std::uint32_t ns = setting(kShutterNs); ns > 0)
        film.facts.exposure_ms = ns / 1e6;
    if (const std::uint32_t mosaic = setting(kMosaic) & 0xffU; mosaic != 0)
        film.remarks.push_back("has a colour mosaic (CFA " + std::to_string(mosaic) +
                               "); choose it with ?bayer=");
    constexpr std::uint32_t kPackedBlack = 64; // of the curve
    const std::uint32_t black = film.curve.empty() ? setting(kBlackLevel) : kPackedBlack;
    if (black > 0 && black < (1U << 16U))
        film.remarks.push_back("has a black level of " + std::to_string(black) +
                               ", which stays in its values; subtract it with black in the stage speckle");
    film.place = [file, offsets](std::uint64_t frame) {
        const auto at = file->number<std::uint64_t>(offsets + frame * sizeof(std::uint64_t));
        if (at > file->size())
            return at;
        return at + file->number<std::uint32_t>(at); // the annotation before the pixels states its own length
    };
    return film;
}

} // namespace specklescope
