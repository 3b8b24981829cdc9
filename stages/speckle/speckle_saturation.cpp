// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/speckle/simd/speckle_tile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/speckle/speckle_saturation.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kBits = 64;

template <class T> std::uint64_t saturated_bits(const T* samples, T limit) {
    const hn::ScalableTag<T> d;
    const auto threshold = hn::Set(d, limit);
    std::uint64_t bits = 0;
    for (int i = 0; i < kBits; i += static_cast<int>(hn::Lanes(d))) {
        const auto v = hn::LoadU(d, samples + i);
        std::array<std::uint8_t, kBits / 8> bytes{};
        if constexpr (std::is_same_v<T, float>) // NaN is not saturated
            hn::StoreMaskBits(d, hn::Ge(v, threshold), bytes.data());
        else
            hn::StoreMaskBits(d, hn::Eq(hn::Max(v, threshold), v), bytes.data());
        bits |= std::bit_cast<std::uint64_t>(bytes) << i;
    }
    return bits;
}

/// bits[i] = OR of bits[i] … bits[i + window − 1]: two overlapping runs of the largest power of two.
void widen(std::span<std::uint64_t> bits, unsigned window) {
    const auto or_shifted = [bits](unsigned by) {
        for (std::size_t i = 0; i + 1 < bits.size(); ++i)
            bits[i] |= bits[i] >> by | bits[i + 1] << (kBits - by);
        bits.back() |= bits.back() >> by;
    };
    const unsigned run = std::bit_floor(window);
    for (unsigned by = 1; by < run; by *= 2)
        or_shifted(by);
    if (window > run)
        or_shifted(window - run);
}

template <class T> void mark_row(const T* row, int width, T limit, const SaturationBits& bits) {
    std::fill(bits.words.begin(), bits.words.end(), std::uint64_t{0});
    for (int x = 0; x < width; x += kBits) {
        std::uint64_t word = 0;
        if (x + kBits <= width) {
            word = saturated_bits(row + x, limit);
        } else {
            for (int i = x; i < width; ++i)
                word |= std::uint64_t{row[i] >= limit} << (i - x);
        }
        const auto at = static_cast<std::size_t>(x / kBits);
        bits.words[at] |= word << bits.before;
        if (bits.before > 0)
            bits.words[at + 1] |= word >> (kBits - bits.before);
    }
    widen(bits.words, bits.window);
}

void MarkRow(const ConstHostView& image, int y, double threshold, const SaturationBits& bits) {
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        mark_row(image.as<T>().row(y), image.shape.width, static_cast<T>(threshold), bits);
    });
}

std::uint64_t CountFirst(std::span<const std::uint64_t> words, std::size_t bits) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < bits / kBits; ++i)
        count += static_cast<unsigned>(std::popcount(words[i]));
    if (const std::size_t rest = bits % kBits; rest > 0)
        count += static_cast<unsigned>(std::popcount(words[bits / kBits] << (kBits - rest)));
    return count;
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(MarkRow);
HWY_EXPORT(CountFirst);

SaturatedWindows::SaturatedWindows(const Shape& input, int radius)
    : window_(static_cast<std::size_t>(2 * radius + 1)),
      words_((static_cast<std::size_t>(input.width) + window_) / 64 + 2), rows_(window_ * words_),
      any_(words_) {}

std::uint64_t SaturatedWindows::count(const SpeckleTile& tile, double threshold,
                                      std::span<const std::uint8_t> marked) {
    const int radius = tile.params.radius;
    const bool crop = tile.params.border == Border::crop;
    const InputRows rows = tile.rows;
    const auto is_marked = [&](int row) { return marked[static_cast<std::size_t>(row - rows.begin)] != 0; };
    const auto outputs = static_cast<std::size_t>(tile.output.shape.width);
    std::uint64_t count = 0;
    std::uint64_t in_row = 0; // unchanged until a marked row enters or leaves
    int next = rows.begin;
    for (int y = tile.y0; y < tile.y1; ++y) {
        const int centre = y + (crop ? radius : 0);
        const int begin = std::max(rows.begin, centre - radius);
        const int end = std::min(rows.end, centre + radius + 1);
        bool changed = begin > rows.begin && is_marked(begin - 1);
        for (; next < end; ++next)
            if (is_marked(next)) {
                const auto window = static_cast<unsigned>(window_);
                const auto before = static_cast<unsigned>(crop ? 0 : radius);
                HWY_DYNAMIC_DISPATCH(MarkRow)
                (tile.input, next, threshold, {row_bits(next), window, before});
                changed = true;
            }
        if (changed) {
            std::fill(any_.begin(), any_.end(), std::uint64_t{0});
            for (int row = begin; row < end; ++row)
                if (const auto bits = row_bits(row); is_marked(row))
                    std::transform(bits.begin(), bits.end(), any_.begin(), any_.begin(), std::bit_or<>());
            in_row = HWY_DYNAMIC_DISPATCH(CountFirst)(any_, outputs);
        }
        count += in_row;
    }
    return count;
}

} // namespace specklescope
#endif
