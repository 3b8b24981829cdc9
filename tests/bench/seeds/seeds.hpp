// Methods of earlier systems, a few lines each: reference results and the "before" of the benchmark tables,
// not part of the product. Pointers are to device memory unless stated, rows have no padding; work is put on
// the stream, nothing is allocated.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace specklescope::seeds {

struct Size {
    int width, height; ///< pixels of the result
};

/// Memory for pixels and weights in the 5×5 convolution.
enum class Memory {
    global,   ///< both from global memory
    constant, ///< pixels from global, weights from constant memory
    shared ///< pixels from tiles of 16×16 with their border in shared memory, weights from constant memory
};
/// Sets the weights (25, row by row, in host or device memory) for constant and shared. Waits.
void seed_constant_weights(const float* weights);
/// 5×5 convolution, one thread per pixel, u8 (rounded to nearest) or f32, interleaved, 1 or 3 channels.
/// `padded` is the image with a border of 2 zero pixels: (width + 4) × (height + 4) pixels. `weights` as
/// above, on the device; used only by Memory::global.
void seed_convolve(Memory memory, const std::uint8_t* padded, const float* weights, std::uint8_t* output,
                   int channels, Size size, cudaStream_t stream);
void seed_convolve(Memory memory, const float* padded, const float* weights, float* output, int channels,
                   Size size, cudaStream_t stream);

/// Recursive Gaussian of Young & van Vliet 1995 in float64, f32 grey: one thread per row, transpose, one
/// thread per row, transpose. Starts both passes from the current value, as if it continued: right for the
/// forward pass, wrong near the end for the backward one. `scratch`: 2·width·height.
void seed_recursive(const float* input, double* scratch, float* output, double sigma, Size size,
                    cudaStream_t stream);

/// Speckle over 5×5 pixels with replicated borders, separable, through shared memory: a tile of 16×16 pixels
/// and its border, Σ and Σ² along its rows, then along its columns; writes both K = s/⟨I⟩ and SFI =
/// 1/(2·T·K²). In int: N·ΣI² exceeds 2³¹ at I > 1853.
void seed_speckle(const std::uint8_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream);
void seed_speckle(const std::uint16_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream);

/// HSV equalisation of interleaved RGB, max-abs scaling, with float images between five kernels; the
/// histogram is counted by atomics in shared memory, one per block. bins 2…1024. `planes`: 3·width·height;
/// `histogram`: 2·bins.
void seed_equalize(const std::uint8_t* rgb, std::uint8_t* result, float* planes, int* histogram, int bins,
                   Size size, cudaStream_t stream);

} // namespace specklescope::seeds
