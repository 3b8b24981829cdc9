// Rows of 8-bit colour in the best instruction set that the processor has. Used by stages/equalize.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace specklescope {

/// V of HSV of `pixels` RGB pixels.
void row_of_v(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v);

/// Every channel times factors[V] = V'/V (V = 0: V'), to nearest, ties to even. `factors` has 256 entries;
/// the results must fit u8.
void scale_row(const std::uint8_t* rgb, std::size_t pixels, const float* factors, std::uint8_t* out);

} // namespace specklescope
