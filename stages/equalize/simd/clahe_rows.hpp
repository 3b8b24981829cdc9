// Inner loops of stage clahe on the host, in the best instruction set of the processor. Used only by
// stages/equalize/clahe.cpp.
#pragma once

#include "pipeline/image.hpp"
#include "stages/equalize/clahe.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace specklescope {

/// low > high: no finite value.
struct ClaheRange {
    float low = std::numeric_limits<float>::infinity();
    float high = -std::numeric_limits<float>::infinity();
};

/// Pixels [x0, x1) × [y0, y1).
struct ClaheArea {
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
};

/// Scratch memory of one slot: rows of V, of bins and of mapped bins, and a table of mappings.
std::size_t clahe_scratch_bytes(const Shape& input, int bins);

/// Smallest and largest finite V of rows [begin, end) of an f32 image.
ClaheRange clahe_range(ConstHostView image, int begin, int end);

/// Mapping of a tile, `levels.bins` entries of the image's type. The tile may extend beyond the image to the
/// right and below.
void clahe_map_tile(ConstHostView image, const ClaheArea& tile, const ClaheLevels& levels, int limit,
                    std::byte* mapping, std::byte* scratch);

struct ClaheCell {
    ConstHostView input;
    HostView output;
    ClaheArea area;
    const std::byte* mappings[4] = {}; ///< of the tiles above left, above right, below left, below right
    const float* right = nullptr;      ///< weight of the right tiles, by image column
    const float* below = nullptr;      ///< weight of the lower tiles, by row
};
void clahe_map_cell(const ClaheCell& cell, const ClaheLevels& levels, std::byte* scratch);

// Layout of a slot's scratch memory of stage clahe. Used only by stages/equalize/simd/clahe_rows.cpp.

/// u8 bins are looked up by value: every value has an entry.
inline int clahe_table_entries(PixelType type, int bins) { return type == PixelType::u8 ? 256 : bins + 1; }

/// Mappings of the four corners interleaved: 4, 2 or 1 of them per word, in 1, 2 or 4 tables.
struct ClaheScratch {
    std::byte* values; ///< V of a row, and its output
    std::byte* results;
    std::uint32_t* bins;      ///< of a row
    std::uint32_t* words[4];  ///< of a row, from each table
    std::uint32_t* tables[4]; ///< by bin; also histograms

    ClaheScratch(std::byte* memory, const Shape& shape, int most_bins) {
        const std::size_t width = row_words(shape);
        const std::size_t entries = table_words(shape, most_bins);
        auto* next = reinterpret_cast<std::uint32_t*>(memory);
        const auto take = [&](std::size_t words_wanted) {
            std::uint32_t* taken = next;
            next += words_wanted;
            return taken;
        };
        values = reinterpret_cast<std::byte*>(take(width));
        results = reinterpret_cast<std::byte*>(take(width));
        bins = take(width);
        for (std::uint32_t*& row : words)
            row = take(width);
        for (std::uint32_t*& table : tables)
            table = take(entries);
    }
    static std::size_t row_words(const Shape& shape) {
        return (static_cast<std::size_t>(shape.width) + 31) / 16 * 16;
    }
    static std::size_t table_words(const Shape& shape, int bins) {
        return (static_cast<std::size_t>(clahe_table_entries(shape.type, bins)) + 31) / 16 * 16;
    }
    static std::size_t bytes(const Shape& shape, int bins) {
        return 4 * (7 * row_words(shape) + 4 * table_words(shape, bins));
    }
};

} // namespace specklescope
