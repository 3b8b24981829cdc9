// ImageJ's regions (.roi) and the archives that its ROI Manager writes (.zip).
#include "analysis/regions_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "files/whole_file.hpp"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace specklescope {

namespace {

enum Type : int { polygon = 0, rectangle = 1, oval = 2, line = 3, freehand = 7, traced = 8 };
constexpr const char* kTypes[] = {"polygon",       "rectangle", "oval",      "straight line",
                                  "freehand line", "polyline",  "no region", "freehand",
                                  "traced",        "angle",     "points"};

/// Byte offsets of the fields.
enum Field : std::size_t {
    version_field = 4,
    type_field = 6,
    top_field = 8,
    left_field = 10,
    bottom_field = 12,
    right_field = 14,
    count_field = 16,
    ends_field = 18, ///< four reals: the ends of a line
    size_field = 18, ///< the count, if it is too large for its own field
    stroke_field = 34,
    composite_field = 36,
    colour_field = 40,
    subtype_field = 48,
    options_field = 50,
    arc_field = 54,
    second_field = 60,
    header_end = 64
};
enum Second : std::size_t { name_field = 16, length_field = 20, second_end = 24 };
constexpr int kSpline = 1, kFine = 128; ///< options: a spline through the corners; sub-pixel coordinates
constexpr int kFirstFine = 222;         ///< version
constexpr int kText = 1, kImage = 4;
/// For pixel centres on an outline ImageJ includes those on its right and, on horizontal parts, those below
/// (PolygonFiller). Shifting by the smallest step gives the same pixels.
constexpr double kStep = 1.0 / 1024;

class Roi {
public:
    Roi(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
        static constexpr char kMagic[] = {'I', 'o', 'u', 't'};
        for (std::size_t i = 0; i < 4; ++i)
            if (i >= bytes.size() || bytes[i] != static_cast<std::byte>(kMagic[i]))
                fail(i, "it is not a region of ImageJ, which begins with Iout");
        if (bytes.size() < header_end)
            fail(bytes.size(), "the file ends within its header of 64 bytes");
    }

    Region read(const std::string& fallback) const {
        Region region;
        // File names are bytes, not always UTF-8; replacing invalid bytes makes them longer.
        region.name = name().value_or(utf8_prefix(one_line(fallback), kMaxRegionName));
        const int type = u8(type_field);
        if (integer(composite_field) > 0)
            fail(composite_field, "it is put together of several outlines; allowed: one, as rectangle, oval, "
                                  "polygon, freehand, traced or straight line");
        const int subtype = u16(subtype_field);
        if (subtype == kText || subtype == kImage)
            fail(subtype_field, "it is a text or an image, not an outline");
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
            fail(bytes_.size(), "the file is shorter than it states");
        return std::to_integer<int>(bytes_[at]);
    }
    int u16(std::size_t at) const { return u8(at) << 8 | u8(at + 1); }
    /// A coordinate as read by ImageJ: below −5000 it is one beyond 32767.
    int place(std::size_t at) const {
        const int whole = static_cast<std::int16_t>(u16(at));
        return whole < -5000 ? whole + 65536 : whole;
    }
    std::uint32_t bits(std::size_t at) const {
        return static_cast<std::uint32_t>(u16(at)) << 16 | static_cast<std::uint32_t>(u16(at + 2));
    }
    std::int64_t integer(std::size_t at) const { return static_cast<std::int32_t>(bits(at)); }
    double real(std::size_t at) const { return std::bit_cast<float>(bits(at)); }
    bool option(int bit) const { return (u16(options_field) & bit) != 0; }

    /// ImageJ measures whole pixels, even with sub-pixel coordinates.
    void read_box(int type, Region& region) const {
        if (u16(arc_field) != 0 && type == rectangle)
            fail(arc_field, "its corners are round; allowed: a rectangle with sharp ones");
        const double left = place(left_field), top = place(top_field), right = place(right_field),
                     bottom = place(bottom_field);
        if (!(left < right && top < bottom))
            fail(left_field, "it is empty or turned over");
        region.shape = type == rectangle ? RegionShape::rectangle : RegionShape::ellipse;
        region.points = type == rectangle
                            ? std::vector<RegionPoint>{{left, top}, {right - 1, bottom - 1}}
                            : std::vector<RegionPoint>{{left - 0.5, top - 0.5}, {right - 0.5, bottom - 0.5}};
    }

    /// The ends of a line are pixel centres in ImageJ too. With a stroke colour the width only affects
    /// drawing.
    void read_line(Region& region) const {
        if (u16(stroke_field) > 1 && bits(colour_field) == 0)
            fail(stroke_field, "its line is " + std::to_string(u16(stroke_field)) +
                                   " pixels wide; allowed: 1; for a wider one draw a polygon");
        region.shape = RegionShape::line;
        region.points = {{real(ends_field), real(ends_field + 4)},
                         {real(ends_field + 8), real(ends_field + 12)}};
    }

    void read_corners(int type, Region& region) const {
        if (option(kSpline))
            fail(options_field, "its outline is a fitted spline; store it as a polygon (Interpolate)");
        region.shape = type == polygon ? RegionShape::polygon : RegionShape::freehand;
        std::int64_t count = u16(count_field);
        if (count == 0)
            count = integer(size_field);
        if (count < 3 || count > static_cast<std::int64_t>(kMaxRegionPoints))
            fail(count_field, "it has " + std::to_string(count) + " corners; allowed: 3…" +
                                  std::to_string(kMaxRegionPoints));
        const auto corners = static_cast<std::size_t>(count);
        const bool reals = option(kFine) && u16(version_field) >= kFirstFine;
        const std::size_t begin = header_end + (reals ? 4 * corners : 0), step = reals ? 4 : 2;
        if (begin + 2 * step * corners > bytes_.size())
            fail(bytes_.size(), "the file ends before the last of its " + std::to_string(count) + " corners");
        const double left = place(left_field), top = place(top_field);
        for (std::size_t i = 0; i < corners; ++i) {
            const std::size_t at = begin + step * i, beside = at + step * corners;
            const double x = reals ? real(at) : left + std::max(place(at), 0); // offsets from the corner
            const double y = reals ? real(beside) : top + std::max(place(beside), 0);
            const bool level = y - 0.5 == std::floor(y - 0.5); // it may pass through pixel centres
            region.points.push_back({x - 0.5 + kStep, y - 0.5 + (level ? kStep : 0)});
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

    /// UTF-16 after the second header; nothing if there is none.
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

// The archives that ImageJ's ROI Manager writes: an entry NAME.roi for each region.

namespace {

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

/// Maximum size of one region: its corners and its name.
constexpr zip_uint64_t kMostBytes = std::uint64_t{2} << 20;
/// Maximum unpacked size of all regions together.
constexpr zip_uint64_t kMostTogether = kMaxRegionsFile;

Archive opened(std::span<const std::byte> bytes, const std::string& name) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
    if (!archive) {
        const std::string why = zip_error_strerror(&error);
        if (source)
            zip_source_free(source);
        zip_error_fini(&error);
        throw UsageError(name + " is not a readable archive (" + why + "); name one that ImageJ wrote.");
    }
    zip_error_fini(&error);
    return archive;
}

std::vector<std::byte> entry_bytes(zip_t* archive, zip_uint64_t index, const std::string& called) {
    zip_stat_t about;
    zip_stat_init(&about);
    if (zip_stat_index(archive, index, 0, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0)
        throw UsageError(called + " cannot be read: " + zip_strerror(archive) + ".");
    if (about.size > kMostBytes)
        throw UsageError(called + " claims " + std::to_string(about.size) +
                         " bytes; allowed for a region: up to " + std::to_string(kMostBytes) + ".");
    if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about.encryption_method != ZIP_EM_NONE)
        throw UsageError(called + " is encrypted; store the regions without a password.");
    std::vector<std::byte> bytes(about.size);
    const Entry file(zip_fopen_index(archive, index, 0));
    if (!file || zip_fread(file.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
        throw UsageError(called + " cannot be unpacked; store the regions again.");
    return bytes;
}

/// True for names that end in ".roi" in any case, except the metadata files of macOS.
bool is_region(std::string file) {
    if (file.starts_with("__MACOSX/"))
        return false;
    std::transform(file.begin(), file.end(), file.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return file.ends_with(".roi");
}

/// "name", else "name-1", "name-2", …
std::string free_name(const std::string& name, const std::set<std::string>& taken) {
    std::string free = name;
    for (int number = 1; taken.contains(free); ++number)
        free = name + "-" + std::to_string(number);
    return free;
}

} // namespace

std::vector<Region> read_imagej_zip(std::span<const std::byte> bytes, const std::string& name) {
    const Archive archive = opened(bytes, name);
    std::vector<Region> regions;
    std::set<std::string> taken;
    zip_uint64_t together = 0;
    const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t i = 0; i < entries; ++i) {
        const auto index = static_cast<zip_uint64_t>(i);
        const char* const entry = zip_get_name(archive.get(), index, ZIP_FL_ENC_GUESS);
        const std::string file = entry ? entry : "";
        if (!is_region(file))
            continue;
        if (regions.size() == kMaxRegions)
            throw UsageError(name + " holds more than " + std::to_string(kMaxRegions) +
                             " regions; take some of them out.");
        const std::string called = name + ", entry " + file;
        const std::string stem = file.substr(file.rfind('/') + 1, std::string::npos);
        const std::vector<std::byte> roi = entry_bytes(archive.get(), index, called);
        together += roi.size();
        if (together > kMostTogether)
            throw UsageError(name + " unpacks to more than " + std::to_string(kMostTogether >> 20) +
                             " MiB; no set of regions does.");
        Region region = read_imagej_roi(roi, called, stem.substr(0, stem.size() - 4));
        region.name = free_name(region.name, taken);
        taken.insert(region.name);
        regions.push_back(std::move(region));
    }
    if (regions.empty())
        throw UsageError(name + " holds no region: no entry ends in .roi.");
    check_regions(regions);
    return regions;
}

} // namespace specklescope
