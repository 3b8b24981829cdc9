#include "files/tiff_layout.hpp"

#include "base/error.hpp"
#include "files/stored_pixels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

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
    // Entries have 16 bits, but some programs write 8.
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

namespace {

bool unsigned_integer(const TiffLayout& l) {
    return l.format == SAMPLEFORMAT_UINT || l.format == SAMPLEFORMAT_VOID;
}

float half_to_float(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const auto mantissa = static_cast<float>(bits & 1023);
    const float size = exponent == 31  ? (mantissa > 0 ? std::numeric_limits<float>::quiet_NaN()
                                                       : std::numeric_limits<float>::infinity())
                       : exponent == 0 ? std::ldexp(mantissa, -24)
                                       : std::ldexp(mantissa + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/// 7 bits of exponent and 16 of mantissa, as written by Photoshop.
float float24(std::uint32_t bits) {
    const auto exponent = static_cast<int>((bits >> 16) & 127U);
    const auto mantissa = static_cast<float>(bits & 0xffffU);
    const float size = exponent == 127 ? (mantissa > 0 ? std::numeric_limits<float>::quiet_NaN()
                                                       : std::numeric_limits<float>::infinity())
                       : exponent == 0 ? std::ldexp(mantissa, -62 - 16)
                                       : std::ldexp(mantissa + 65536, exponent - 63 - 16);
    return (bits & 0x800000U) != 0 ? -size : size;
}

/// Exact, or recorded as a loss.
template <class T> float tiff_float(T value, TiffLoss& loss) {
    const auto made = static_cast<float>(value);
    if constexpr (sizeof(T) < 4)
        return made;
    if constexpr (std::is_floating_point_v<T>) {
        const bool changed = static_cast<T>(made) != value && value == value;
        loss.rounded = loss.rounded || changed;
        loss.outside = loss.outside || (changed && (std::isinf(made) || made == 0));
    } else { // 2^63 and 2^64 as floats exceed T
        const auto exact = static_cast<long double>(value);
        loss.rounded = loss.rounded || static_cast<long double>(made) != exact;
    }
    return made;
}

template <class T>
void convert_tiff(const std::byte* from, std::size_t count, std::byte* to, TiffLoss& loss) {
    for (std::size_t i = 0; i < count; ++i) {
        T value{};
        std::memcpy(&value, from + i * sizeof(T), sizeof(T));
        const float made = tiff_float(value, loss);
        std::memcpy(to + i * sizeof(float), &made, sizeof(float));
    }
}

/// 1 bit becomes 0 or 255, as in all other formats, unless it is the index of a colour.
void unpack_tiff_row(const TiffLayout& l, const std::byte* from, std::size_t count, std::byte* to) {
    const int bits = l.bits;
    const std::span<const std::byte> row(from, packed_bytes(Packing::msb, bits, count));
    if (bits > 8)
        return unpack_samples(Packing::msb, bits, row, 0, count, reinterpret_cast<std::uint16_t*>(to));
    std::array<std::uint16_t, 256> some{};
    for (std::size_t first = 0; first < count; first += some.size()) {
        const std::size_t part = std::min(some.size(), count - first);
        unpack_samples(Packing::msb, bits, row, first, part, some.data());
        for (std::size_t i = 0; i < part; ++i)
            to[first + i] = static_cast<std::byte>(bits == 1 && !l.palette() ? some[i] * 255 : some[i]);
    }
}

/// Three bytes in this machine's byte order: libtiff has swapped them if needed.
std::uint32_t triple(const std::byte* from) {
    std::uint32_t value = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&value) + (std::endian::native == std::endian::little ? 0 : 1),
                from, 3);
    return value;
}

template <class F> void convert_triples(const std::byte* from, std::size_t count, std::byte* to, F&& value) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto made = static_cast<float>(value(triple(from + 3 * i)));
        std::memcpy(to + i * sizeof(float), &made, sizeof(float));
    }
}

} // namespace

PixelType tiff_pixel_type(const TiffLayout& l) {
    if (!unsigned_integer(l) || l.bits > 16 || l.offset != 0)
        return PixelType::f32;
    return l.bits <= 8 ? PixelType::u8 : PixelType::u16;
}

bool tiff_converts(const TiffLayout& l) {
    return unsigned_integer(l) ? (l.bits != 8 && l.bits != 16) || l.offset != 0
                               : l.format != SAMPLEFORMAT_IEEEFP || l.bits != 32;
}

double tiff_largest(const TiffLayout& l) {
    if (l.format == SAMPLEFORMAT_IEEEFP)
        return 0;
    return l.bits == 1 ? 255 : std::exp2(l.bits - (unsigned_integer(l) ? 0 : 1)) - 1 + l.offset;
}

std::vector<std::string> TiffLoss::remarks(const TiffLayout& l) const {
    const std::string samples = "has " + std::to_string(l.bits) + "-bit " +
                                (l.format == SAMPLEFORMAT_IEEEFP ? "float"
                                 : unsigned_integer(l)           ? "unsigned"
                                                                 : "signed") +
                                " samples ";
    std::vector<std::string> remarks;
    if (rounded)
        remarks.push_back(samples + "that are rounded to the 24 bits of 32-bit float");
    if (outside)
        remarks.push_back(samples + "beyond the range of 32-bit float, which become infinite or 0");
    return remarks;
}

void invert_tiff_row(const TiffLayout& l, std::byte* row, std::size_t count) {
    dispatch(tiff_pixel_type(l), [&](auto zero) {
        using T = decltype(zero);
        auto* samples = reinterpret_cast<T*>(row);
        const auto largest = static_cast<T>(tiff_largest(l));
        for (std::size_t i = 0; i < count; ++i)
            samples[i] = static_cast<T>(largest - samples[i]);
    });
}

void convert_tiff_row(const TiffLayout& l, const std::byte* from, std::size_t count, std::byte* to,
                      TiffLoss& loss) {
    const bool is_float = l.format == SAMPLEFORMAT_IEEEFP;
    const bool is_signed = l.format == SAMPLEFORMAT_INT;
    if (l.offset != 0) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint16_t value = 0;
            if (l.bits == 16)
                std::memcpy(&value, from + i * sizeof(value), sizeof(value));
            else
                value = std::to_integer<std::uint16_t>(from[i]);
            const auto made = static_cast<float>(value + l.offset);
            std::memcpy(to + i * sizeof(float), &made, sizeof(float));
        }
        return;
    }
    if (l.bits < 16 && !is_signed)
        return unpack_tiff_row(l, from, count, to);
    switch (l.bits) {
    case 8:
        return convert_tiff<std::int8_t>(from, count, to, loss);
    case 16:
        if (!is_float)
            return convert_tiff<std::int16_t>(from, count, to, loss);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
            const float made = half_to_float(bits);
            std::memcpy(to + i * sizeof(float), &made, sizeof(float));
        }
        return;
    case 24:
        if (is_float)
            return convert_triples(from, count, to, float24);
        return convert_triples(from, count, to, [&](std::uint32_t v) {
            return static_cast<std::int32_t>(v) - (is_signed && v >= 0x800000U ? 0x1000000 : 0);
        });
    case 32:
        return is_signed ? convert_tiff<std::int32_t>(from, count, to, loss)
                         : convert_tiff<std::uint32_t>(from, count, to, loss);
    default:
        return is_float    ? convert_tiff<double>(from, count, to, loss)
               : is_signed ? convert_tiff<std::int64_t>(from, count, to, loss)
                           : convert_tiff<std::uint64_t>(from, count, to, loss);
    }
}

} // namespace specklescope
