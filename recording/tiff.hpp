// TIFF headers and directories, and the description of a stack's axes for other programs: ImageJ's text and
// resolution, or OME-XML (2016-06, https://www.openmicroscopy.org/Schemas/OME/2016-06) if the name ends in
// .ome.tiff.
#pragma once

#include "pipeline/stage.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace specklescope {

/// Classic TIFF has 32-bit offsets: up to 4 GB, and all programs can open it. ImageJ cannot open BigTIFF.
enum class TiffKind : std::uint8_t { classic, big };

inline constexpr std::uint64_t kClassicTiffBytes = 0xffffffff; ///< largest size of a classic TIFF
inline constexpr std::uint64_t kTiffHeaderBytes = 16; ///< of either kind; classic TIFF leaves 8 unused

enum class TiffField : std::uint16_t { ascii = 2, u16 = 3, u32 = 4, rational = 5, u64 = 16 };

/// Up to 8 bytes of values in the machine's byte order; `value` of a text is its offset. Classic TIFF writes
/// u64 as u32.
struct TiffEntry {
    std::uint16_t tag;
    TiffField type;
    std::uint64_t count;
    std::uint64_t value;
};

/// kTiffHeaderBytes, with the offset of the first directory; 0: none yet.
std::string tiff_header(TiffKind kind, std::uint64_t first);
/// Position of the offset of the first directory in the header, and of the next one in a directory.
constexpr std::uint64_t tiff_first_at(TiffKind kind) { return kind == TiffKind::big ? 8 : 4; }
constexpr std::uint64_t tiff_next_at(TiffKind kind, std::uint64_t entries) {
    return kind == TiffKind::big ? 8 + 20 * entries : 2 + 12 * entries;
}
constexpr std::uint64_t tiff_offset_bytes(TiffKind kind) { return kind == TiffKind::big ? 8 : 4; }
/// Position in a directory of the count of an entry, which its value follows.
constexpr std::uint64_t tiff_count_at(TiffKind kind, std::uint64_t entry) {
    return kind == TiffKind::big ? 8 + 20 * entry + 4 : 2 + 12 * entry + 4;
}
/// The directory at position `at`, followed by values that do not fit in it. Its length depends only on tags,
/// types and counts.
std::string tiff_directory(TiffKind kind, std::uint64_t at, std::span<const TiffEntry> entries,
                           std::uint64_t next);

/// A positive number as a TIFF ratio of two 32-bit numbers, numerator in the lower half. Nearest ratio by
/// its continued fraction, exact for ratios of small numbers; 1/1 for other values.
std::uint64_t tiff_ratio(double value);

/// "flow.ome.tiff", in any case.
bool is_ome_name(const std::string& path);

struct StackAxes {
    Shape shape;
    Quantity quantity;
    double um_per_px = 0;     ///< 0: unknown
    std::uint64_t frames = 0; ///< 0: not known yet
    double interval_s = 0;    ///< between frames; 0: unknown
    bool timed = true;        ///< the frames have times, or a rate: an interval is written
    // For OME-XML only:
    std::string date{};   ///< of the first frame: "2026-11-22T23:04:05Z"; empty: unknown
    std::string camera{}; ///< model and serial; empty: unknown
    int bits = 0;         ///< used bits of a sample; 0: not stated
    std::string planes{}; ///< elements made by ome_plane()
};
/// Element of a frame with its time from the first frame and its exposure; NaN: unknown. Empty if both are.
std::string ome_plane(std::uint64_t frame, double seconds, double exposure_s);
inline constexpr std::uint64_t kOmePlaneChars = 128; ///< an element is shorter
/// Text around the JSON of a description. Its length does not depend on the number of frames and the
/// interval, so that it can be replaced in place.
struct Wrapping {
    std::string before, after;
};
/// In the format of ImageJ, which tifffile and Bio-Formats can read.
Wrapping imagej_text(const StackAxes& axes);
/// AcquisitionDate, PhysicalSizeX/Y in µm, SignificantBits, TimeIncrement, one channel named by its quantity,
/// its camera as a Detector, and the planes; the JSON is a comment.
Wrapping ome_text(const StackAxes& axes);
/// Escapes the JSON for the comment, as an equivalent object.
std::string ome_safe(std::string json);

} // namespace specklescope
