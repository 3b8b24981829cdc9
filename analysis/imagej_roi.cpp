// ImageJ's regions: big-endian, 64 bytes of header, coordinates, a second header with the name. Layout as
// ImageJ's RoiDecoder documents it.
#include "analysis/regions_file.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

enum Type : int { polygon = 0, rectangle = 1, oval = 2, line = 3, freehand = 7, traced = 8 };
constexpr const char* kTypes[] = {"polygon",       "rectangle", "oval",      "straight line",
                                  "freehand line", "polyline",  "no region", "freehand",
                                  "traced",        "angle",     "points"};

/// Where the fields lie.
enum Field : std::size_t {
    version_field = 4,
    type_field = 6,
    top_field = 8,
    left_field = 10,
    bottom_field = 12,
    right_field = 14,
    count_field = 16,
    ends_field = 18, ///< four reals: of a line its ends; of fine rectangles x, y, width, height
    size_field = 18, ///< the count where it is too large for its own field
    composite_field = 36,
    colour_field = 40,
    subtype_field = 48,
    options_field = 50,
    arc_field = 54,
    second_field = 60,
    header_end = 64
};
enum Second : std::size_t { name_field = 16, length_field = 20, second_end = 24 };
constexpr int kFine = 128; ///< of the options: coordinates are reals
constexpr int kFirstFine = 222, kFirstFineRectangle = 223;
constexpr int kText = 1, kImage = 4;

class Roi {
public:
    Roi(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
        static constexpr char kMagic[] = {'I', 'o', 'u', 't'};
        for (std::size_t i = 0; i < 4; ++i)
            if (i >= bytes.size() || bytes[i] != static_cast<std::byte>(kMagic[i]))
                fail(i, "it is no region of ImageJ, which begins with Iout");
        if (bytes.size() < header_end)
            fail(bytes.size(), "the file ends within its header of 64 bytes");
    }

    Region read(const std::string& fallback) const {
        Region region;
        region.name = name().value_or(fallback);
        const int type = u8(type_field);
        if (integer(composite_field) > 0)
            fail(composite_field, "it is put together of several outlines; allowed: one, as rectangle, oval, "
                                  "polygon, freehand, traced or straight line");
        const int subtype = s16(subtype_field);
        if (subtype == kText || subtype == kImage)
            fail(subtype_field, "it is a text or a picture, and no outline");
        if (type == rectangle || type == oval)
            read_box(type, region);
        else if (type == line)
            read_line(region);
        else if (type == polygon || type == freehand || type == traced)
            read_corners(type, region);
        else
            fail(type_field, std::string("its type is ") +
                                 (type < static_cast<int>(std::size(kTypes)) ? kTypes[type]
                                                                             : std::to_string(type).c_str()) +
                                 "; allowed: rectangle, oval, polygon, freehand, traced, straight line");
        read_colour(region);
        try {
            check_region(region);
        } catch (const UsageError& error) {
            throw UsageError(name_ + ": " + error.what());
        }
        return region;
    }

private:
    [[noreturn]] void fail(std::size_t byte, const std::string& what) const {
        throw UsageError(name_ + ", byte " + std::to_string(byte) + ": " + what + ".");
    }
    int u8(std::size_t at) const {
        if (at >= bytes_.size())
            fail(bytes_.size(), "the file ends before what it announces");
        return std::to_integer<int>(bytes_[at]);
    }
    int u16(std::size_t at) const { return u8(at) << 8 | u8(at + 1); }
    int s16(std::size_t at) const { return static_cast<std::int16_t>(u16(at)); }
    std::uint32_t bits(std::size_t at) const {
        return static_cast<std::uint32_t>(u16(at)) << 16 | static_cast<std::uint32_t>(u16(at + 2));
    }
    std::int64_t integer(std::size_t at) const { return static_cast<std::int32_t>(bits(at)); }
    double real(std::size_t at) const { return std::bit_cast<float>(bits(at)); }
    bool fine(int since) const { return (u16(options_field) & kFine) != 0 && u16(version_field) >= since; }

    void read_box(int type, Region& region) const {
        if (s16(arc_field) != 0 && type == rectangle)
            fail(arc_field, "its corners are round; allowed: a rectangle with sharp ones");
        double left = s16(left_field), top = s16(top_field), right = s16(right_field),
               bottom = s16(bottom_field);
        if (fine(kFirstFineRectangle)) {
            left = real(ends_field);
            top = real(ends_field + 4);
            right = left + real(ends_field + 8);
            bottom = top + real(ends_field + 12);
        }
        region.shape = type == rectangle ? RegionShape::rectangle : RegionShape::ellipse;
        if (!(left < right && top < bottom))
            fail(left_field, "it is empty or turned over");
        const bool whole = type == rectangle && !fine(kFirstFineRectangle);
        region.points = {{left - (whole ? 0 : 0.5), top - (whole ? 0 : 0.5)},
                         {right - (whole ? 1 : 0.5), bottom - (whole ? 1 : 0.5)}};
    }

    /// The ends of a line are centres of pixels with ImageJ too.
    void read_line(Region& region) const {
        region.shape = RegionShape::line;
        region.points = {{real(ends_field), real(ends_field + 4)},
                         {real(ends_field + 8), real(ends_field + 12)}};
    }

    void read_corners(int type, Region& region) const {
        region.shape = type == polygon ? RegionShape::polygon : RegionShape::freehand;
        std::int64_t count = u16(count_field);
        if (count == 0)
            count = integer(size_field);
        if (count < 3 || count > static_cast<std::int64_t>(kMaxRegionPoints))
            fail(count_field, "it has " + std::to_string(count) + " corners; allowed: 3…" +
                                  std::to_string(kMaxRegionPoints));
        const auto corners = static_cast<std::size_t>(count);
        const bool reals = fine(kFirstFine);
        const std::size_t begin = header_end + (reals ? 4 * corners : 0), step = reals ? 4 : 2;
        if (begin + 2 * step * corners > bytes_.size())
            fail(bytes_.size(), "the file ends before the last of its " + std::to_string(count) + " corners");
        for (std::size_t i = 0; i < corners; ++i) {
            const std::size_t x = begin + step * i, y = x + step * corners;
            region.points.push_back(
                reals ? RegionPoint{real(x) - 0.5, real(y) - 0.5}
                      : RegionPoint{s16(left_field) + u16(x) - 0.5, // offsets from the corner
                                    s16(top_field) + u16(y) - 0.5});
        }
    }

    void read_colour(Region& region) const {
        const std::uint32_t argb = bits(colour_field);
        if (argb == 0)
            return;
        static constexpr char kHex[] = "0123456789abcdef";
        region.colour = "#";
        for (int shift = 20; shift >= 0; shift -= 4)
            region.colour += kHex[argb >> shift & 15U];
    }

    /// UTF-16 behind the second header; nothing where there is none.
    std::optional<std::string> name() const {
        const std::int64_t second = integer(second_field);
        if (second <= 0)
            return std::nullopt;
        const auto at = static_cast<std::size_t>(second);
        if (at + second_end > bytes_.size())
            fail(second_field, "its second header lies beyond the end of the file");
        const std::int64_t from = integer(at + name_field), length = integer(at + length_field);
        if (from <= 0 || length <= 0)
            return std::nullopt;
        if (length > static_cast<std::int64_t>(kMaxRegionName))
            fail(at + length_field, "its name is " + std::to_string(length) +
                                        " characters long; allowed: up to " + std::to_string(kMaxRegionName));
        std::string name;
        for (std::int64_t i = 0; i < length; ++i) {
            const auto unit = static_cast<std::size_t>(from + 2 * i);
            std::uint32_t code = static_cast<std::uint32_t>(u16(unit));
            const bool pair =
                code >= 0xD800 && code < 0xDC00 && i + 1 < length && (u16(unit + 2) & 0xFC00) == 0xDC00;
            if (pair) {
                code =
                    0x10000 + ((code - 0xD800) << 10 | (static_cast<std::uint32_t>(u16(unit + 2)) & 0x3FF));
                ++i;
            } else if (code >= 0xD800 && code < 0xE000) {
                code = 0xFFFD;
            }
            append_utf8(name, code);
        }
        return name;
    }

    static void append_utf8(std::string& text, std::uint32_t code) {
        const auto more = [&](int shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
        if (code < 0x80) {
            text += static_cast<char>(code);
        } else if (code < 0x800) {
            text += static_cast<char>(0xC0U | code >> 6);
            more(0);
        } else if (code < 0x10000) {
            text += static_cast<char>(0xE0U | code >> 12);
            more(6);
            more(0);
        } else {
            text += static_cast<char>(0xF0U | code >> 18);
            more(12);
            more(6);
            more(0);
        }
    }

    std::span<const std::byte> bytes_;
    const std::string& name_;
};

} // namespace

Region read_imagej_roi(std::span<const std::byte> bytes, const std::string& name,
                       const std::string& fallback) {
    return Roi(bytes, name).read(fallback);
}

} // namespace specklescope
