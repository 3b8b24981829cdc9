// Directories of TIFF 6.0 and of BigTIFF, little-endian. Used by the writers of stacks and of kymographs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace specklescope {

/// Classic TIFF has 32-bit offsets: up to 4 GB, and every program opens it. ImageJ opens no BigTIFF.
enum class TiffKind : std::uint8_t { classic, big };

inline constexpr std::uint64_t kClassicTiffBytes = 0xffffffff; ///< the most that a classic TIFF may have
inline constexpr std::uint64_t kTiffHeaderBytes = 16; ///< of either kind; classic TIFF leaves 8 unused

enum class TiffField : std::uint16_t { ascii = 2, u16 = 3, u32 = 4, rational = 5, u64 = 16 };

/// Up to 8 bytes of values in the machine's order; `value` of a text is its offset. Classic TIFF writes u64
/// as u32.
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
/// The directory that begins at `at` of the file, followed by the values that have no room in it. Its length
/// depends on the tags, types and counts only.
std::string tiff_directory(TiffKind kind, std::uint64_t at, std::span<const TiffEntry> entries,
                           std::uint64_t next);

} // namespace specklescope
