// Inner loops of the host's convolution around the transforms, for every instruction set.
#pragma once

#include "base/parallel.hpp"
#include "pipeline/image.hpp"

#include <cstddef>

namespace specklescope {

/// Channel `channel` of pixels [first, first + count) of a row, as float.
void load_samples(ConstHostView image, int y, int channel, Band pixels, float* to);

/// For each of `positions`: to[p] ← channel `channel` of pixel columns[p]; 0 if that is −1.
void pick_samples(ConstHostView image, int y, int channel, Band positions, const int* columns, float* to);

/// The inverse, rounded to nearest, ties to even, and clamped for integers, where NaN becomes 0. `gains` may
/// be null: factors of the samples besides `gain`.
struct SampleGains {
    const float* across = nullptr;
    float down = 1;
};
void store_samples(const float* from, HostView image, int y, int channel, Band pixels, SampleGains gains);

/// a[i] ← a[i]·b[i] over `count` complex numbers, real and imaginary parts interleaved; `count` is a multiple
/// of 16, both arrays are aligned to 64 bytes.
void multiply_complex(float* a, const float* b, std::size_t count);

} // namespace specklescope
