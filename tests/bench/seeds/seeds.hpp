// Methods of earlier systems as they are described, a few lines each: reference results and the "before" of
// the benchmark tables, not part of the product. All pointers but those named otherwise are to device memory,
// rows without gaps between them; work is put on the stream, nothing is allocated.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace specklescope::seeds {

struct Size {
    int width, height; ///< pixels of the result
};

/// 5×5 convolution, one thread a pixel, f32 weights (25, row by row), u8 interleaved RGB (rounded to nearest)
/// or f32 grey. `padded` is the image with a frame of 2 pixels of zeros: (width + 4) × (height + 4) pixels.
/// Everything read from global memory:
void seed_convolve_global(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                          cudaStream_t stream);
void seed_convolve_global(const float* padded, const float* weights, float* output, Size size,
                          cudaStream_t stream);
/// The weights in constant memory; `weights` may be on either side and are copied on the stream:
void seed_convolve_constant(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                            cudaStream_t stream);
void seed_convolve_constant(const float* padded, const float* weights, float* output, Size size,
                            cudaStream_t stream);
/// A tile of 16×16 pixels and its frame in shared memory:
void seed_convolve_shared(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                          cudaStream_t stream);
void seed_convolve_shared(const float* padded, const float* weights, float* output, Size size,
                          cudaStream_t stream);

/// Recursive Gaussian of Young & van Vliet 1995 in float64, f32 grey: one thread a row, transpose, one thread
/// a row, transpose. Starts both passes from the value at hand, as if the line went on with it: right for the
/// forward pass, wrong near the end for the backward one. `scratch`: 2·width·height.
void seed_recursive(const float* input, double* scratch, float* output, double sigma, Size size,
                    cudaStream_t stream);

/// Speckle over 5×5 pixels with replicated borders in two kernels: ΣI and ΣI² of every window written out as
/// int, then K = s/⟨I⟩ (exposure_s = 0) or SFI = 1/(2·T·K²) from them. N·ΣI² passes 2³¹ at I > 1853.
/// `sums`: 2·width·height.
void seed_speckle(const std::uint8_t* input, int* sums, float* output, float exposure_s, Size size,
                  cudaStream_t stream);
void seed_speckle(const std::uint16_t* input, int* sums, float* output, float exposure_s, Size size,
                  cudaStream_t stream);

} // namespace specklescope::seeds
