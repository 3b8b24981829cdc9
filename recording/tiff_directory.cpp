#include "recording/tiff_directory.hpp"

#include <bit>
#include <cstddef>

namespace specklescope {

static_assert(std::endian::native == std::endian::little,
              "TIFF is written in the machine's order, marked II");

namespace {

void append(std::string& bytes, std::uint64_t value, std::uint64_t size) {
    bytes.append(reinterpret_cast<const char*>(&value), size);
}

std::uint64_t size_of(TiffField type) {
    switch (type) {
    case TiffField::u16:
        return 2;
    case TiffField::u32:
        return 4;
    case TiffField::ascii:
        return 1;
    default:
        return 8;
    }
}

} // namespace

std::string tiff_header(TiffKind kind, std::uint64_t first) {
    std::string bytes =
        kind == TiffKind::big ? std::string("II\x2b\0\x08\0\0\0", 8) : std::string("II\x2a\0", 4);
    append(bytes, first, tiff_offset_bytes(kind));
    bytes.resize(kTiffHeaderBytes);
    return bytes;
}

std::string tiff_directory(TiffKind kind, std::uint64_t at, std::span<const TiffEntry> entries,
                           std::uint64_t next) {
    const bool big = kind == TiffKind::big;
    const std::uint64_t word = tiff_offset_bytes(kind);
    const std::uint64_t values_at = at + tiff_next_at(kind, entries.size()) + word;
    std::string bytes, values;
    append(bytes, entries.size(), big ? 8 : 2);
    for (const TiffEntry& entry : entries) {
        const TiffField type = !big && entry.type == TiffField::u64 ? TiffField::u32 : entry.type;
        const std::uint64_t size = size_of(type) * entry.count;
        append(bytes, entry.tag, 2);
        append(bytes, static_cast<std::uint64_t>(type), 2);
        append(bytes, entry.count, word);
        if (type == TiffField::ascii || size <= word) {
            append(bytes, entry.value, word);
        } else {
            append(bytes, values_at + values.size(), word);
            append(values, entry.value, size);
        }
    }
    append(bytes, next, word);
    return bytes + values;
}

} // namespace specklescope
