// Columns of a tile: those read from the image, and the border columns on either side.
#pragma once

#include "stages/speckle/simd/speckle_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace specklescope {

/// Buffers are indexed from the first image column, so that it is aligned; border columns on the left have
/// negative indices.
struct TileColumns {
    static constexpr int kLead = 32; ///< space for the left border and one zero before it
    static_assert(kLead > SpeckleParams::kMaxRadius);
    static constexpr int kSlack = 128; ///< whole vectors may be read and written past the last column

    int first = 0; ///< image column of index 0
    int real = 0;  ///< columns read from the image
    int left = 0;  ///< border columns on the left
    int right = 0; ///< border columns on the right

    explicit TileColumns(const SpeckleTile& tile) {
        const int radius = tile.params.radius;
        const int shift = tile.params.border == Border::crop ? radius : 0;
        const int begin = tile.x0 + shift - radius;
        const int end = tile.x1 + shift + radius;
        first = std::max(0, begin);
        real = std::min(tile.input.shape.width, end) - first;
        left = first - begin;
        right = end - first - real;
    }

    /// Buffer index of the column that border column `index` repeats; −1: zeros.
    int source(int index, const SpeckleTile& tile) const {
        const int column = border_index(first + index, tile.input.shape.width, tile.params.border);
        return column < 0 ? -1 : column - first;
    }

    /// Calls f(index) for every border column.
    template <class F> void for_border(F&& f) const {
        for (int i = -left; i < 0; ++i)
            f(i);
        for (int i = real; i < real + right; ++i)
            f(i);
    }

    static std::size_t buffer_columns(int radius, int width) {
        return static_cast<std::size_t>(kLead + width + 2 * radius + kSlack) / 16 * 16;
    }
};

/// Groups of columns that form a window: of 9, 3 and 1, at most five, so that the cost of a window hardly
/// depends on its radius.
struct WindowGroups {
    static constexpr int kLevels = 3;
    static constexpr int kGroup[kLevels] = {1, 3, 9}; ///< columns in a group of each level
    static constexpr std::size_t kMostTerms = 5;

    /// Number of groups in a window, from level `top` down.
    static constexpr std::size_t groups_in(int window, int top) {
        int groups = 0;
        for (int level = top; level >= 0; window %= kGroup[level--])
            groups += window / kGroup[level];
        return static_cast<std::size_t>(groups);
    }
    /// Lowest level whose groups form a window within the maximum number of terms.
    static constexpr int top_level(int window) {
        int top = 0;
        while (groups_in(window, top) > kMostTerms)
            ++top;
        return top;
    }
    /// Loops are instantiated for three terms and for the maximum.
    static constexpr bool three_or_most() {
        for (int radius = 1; radius <= SpeckleParams::kMaxRadius; ++radius) {
            const int window = 2 * radius + 1;
            const int top = top_level(window);
            if (top >= kLevels || (groups_in(window, top) != 3 && groups_in(window, top) != kMostTerms))
                return false;
        }
        return true;
    }
};
static_assert(WindowGroups::three_or_most());

/// Allocates aligned arrays from a block of scratch memory.
class ScratchCutter {
public:
    explicit ScratchCutter(std::byte* memory) : next_(memory) {}
    template <class T> T* take(std::size_t count) {
        T* array = reinterpret_cast<T*>(next_);
        next_ += aligned(count * sizeof(T));
        return array;
    }
    /// The same, `offset` bytes into a page. A load waits for an earlier pending store whose address has the
    /// same lower 12 bits, so that arrays of one loop use different parts of a page.
    template <class T> T* take_in_page(std::size_t offset, std::size_t count) {
        next_ += (kPage - reinterpret_cast<std::uintptr_t>(next_) % kPage) % kPage + offset;
        return take<T>(count);
    }
    static std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
    static std::size_t in_page(std::size_t bytes) { return 2 * kPage + aligned(bytes); }

private:
    static constexpr std::size_t kPage = 4096;
    std::byte* next_;
};

inline std::size_t integer_scratch_bytes(std::size_t columns, std::size_t input_width) {
    return 3 * ScratchCutter::in_page(columns * 4) + 3 * ScratchCutter::in_page(columns * 8) +
           2 * ScratchCutter::aligned(input_width * 2) + 2 * ScratchCutter::aligned(columns * 8);
}

inline std::size_t real_scratch_bytes(int radius, std::size_t columns, std::size_t input_width) {
    const std::size_t rows = 2 * static_cast<std::size_t>(radius) + 1;
    const std::size_t segments = columns + 4 * (rows + 16); // of RealSums, which overlap
    return 2 * (rows + 2 + WindowGroups::kLevels) * ScratchCutter::aligned(columns * 8) +
           ScratchCutter::aligned(input_width * 4) +
           (ContrastFinish::kMost + 1) * ScratchCutter::aligned(columns * 4) +
           (rows + 2) * ScratchCutter::aligned(segments * 4) + 2 * ScratchCutter::aligned(segments * 8);
}

/// Adds the NaN and ±∞ of a row to `counts`.
inline void count_non_finite(std::span<const float> row, PixelCounts& counts) {
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    std::uint32_t undefined = 0;
    std::uint32_t infinite = 0;
    for (const float value : row) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
        undefined += magnitude > kInfinity;
        infinite += magnitude == kInfinity;
    }
    counts.undefined += undefined;
    counts.infinite += infinite;
}

} // namespace specklescope
