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

/// Where the 5×5 convolution reads pixels and weights from.
enum class Memory {
    global,   ///< both from global memory
    constant, ///< pixels from global, weights from constant memory
    shared    ///< pixels from tiles of 16×16 and their frame in shared memory, weights from constant memory
};
/// The weights (25, row by row, on either side) that constant and shared take from now on. Waits.
void seed_constant_weights(const float* weights);
/// 5×5 convolution, one thread a pixel, u8 (rounded to nearest) or f32, interleaved, 1 or 3 channels.
/// `padded` is the image with a frame of 2 pixels of zeros: (width + 4) × (height + 4) pixels. `weights` as
/// above, on the device; only Memory::global reads them.
void seed_convolve(Memory memory, const std::uint8_t* padded, const float* weights, std::uint8_t* output,
                   int channels, Size size, cudaStream_t stream);
void seed_convolve(Memory memory, const float* padded, const float* weights, float* output, int channels,
                   Size size, cudaStream_t stream);

/// Recursive Gaussian of Young & van Vliet 1995 in float64, f32 grey: one thread a row, transpose, one thread
/// a row, transpose. Starts both passes from the value at hand, as if the line went on with it: right for the
/// forward pass, wrong near the end for the backward one. `scratch`: 2·width·height.
void seed_recursive(const float* input, double* scratch, float* output, double sigma, Size size,
                    cudaStream_t stream);

/// Speckle over 5×5 pixels with replicated borders, separably through shared memory: a tile of 16×16 pixels
/// and its frame, Σ and Σ² along its rows, then down its columns; K = s/⟨I⟩ and SFI = 1/(2·T·K²) are both
/// written. In int: N·ΣI² passes 2³¹ at I > 1853.
void seed_speckle(const std::uint8_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream);
void seed_speckle(const std::uint16_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream);

/// HSV equalisation of interleaved RGB, max-abs scaling, whole pictures in float between five kernels; the
/// histogram is counted by atomics in shared memory, a histogram a block. bins 2…1024. `planes`:
/// 3·width·height; `histogram`: 2·bins.
void seed_equalize(const std::uint8_t* rgb, std::uint8_t* result, float* planes, int* histogram, int bins,
                   Size size, cudaStream_t stream);

} // namespace specklescope::seeds
