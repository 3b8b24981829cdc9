// Rows of integers, in the best instruction set of the processor. Used only by stages/equalize/equalize.cpp.
#pragma once

#include "base/parallel.hpp"
#include "pipeline/image.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace specklescope {

/// Pixels per block: intermediate results stay in the L1 cache, while the next block is prefetched. Measured:
/// docs/performance.md, Constants.
inline constexpr std::size_t kRowBlock = 256;

/// v[3·x] = V of HSV of pixel x; the bytes between are undefined. `v` has 3·pixels bytes.
void spread_v(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v);

/// V'/V for every V; for V = 0 kBlackFactor·V'.
using ByteFactors = std::array<float, 256>;
inline constexpr float kBlackFactor = 1048576;

/// `levels`: V' for every V.
inline ByteFactors byte_factors(const std::array<std::uint8_t, 256>& levels) {
    ByteFactors result{};
    for (std::size_t v = 0; v < 256; ++v)
        result[v] = static_cast<float>(levels[v]) * (v == 0 ? kBlackFactor : 1.0F / static_cast<float>(v));
    return result;
}

/// Every channel times V'/V (V = 0: V'), to nearest, ties to even. The results must fit u8. `rgb` and `out`
/// must not overlap.
void scale_row(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors, std::uint8_t* out);

/// The same for u16; `levels`: V' of V = 0…full, V above full as V = full.
void scale_row(const std::uint16_t* rgb, std::size_t pixels, const std::uint16_t* levels, std::uint32_t full,
               std::uint16_t* out);

using ByteLevels = std::array<std::uint8_t, 256>;

/// Maps `rows` of `in` to `out` by levels[sample]. One channel.
void map_rows(const View<const std::uint8_t>& in, const ByteLevels& levels, const View<std::uint8_t>& out,
              Band rows);

} // namespace specklescope
