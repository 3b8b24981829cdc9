// Arguments and launch of the speckle kernel. Inside cuda/ only.
#pragma once

#include "cuda/frames.hpp"
#include "pipeline/stage.hpp"
#include "stages/speckle/speckle.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

using SpeckleForm = ContrastForm;

inline constexpr int kSpeckleThreads = 128;
inline constexpr int kColumns = 4; ///< per lane: 4 results are one 16-byte store

/// Lanes on each side of a warp whose windows extend beyond it, and which only provide values.
constexpr int halo_lanes(int radius) { return (radius + kColumns - 1) / kColumns; }
inline constexpr int kMaxHaloLanes = halo_lanes(SpeckleParams::kMaxRadius);
/// Prefetch distance in rows (= step size). Integers: two instead of three took 3 % longer at radius 7
/// (docs/performance.md, Speckle contrast); f32 has no registers for more, an estimate.
template <class T> inline constexpr int kRowsAhead = sizeof(T) == 4 ? 2 : 3;
/// Result columns of one warp.
constexpr int strip_columns(int radius) { return kColumns * (32 - 2 * halo_lanes(radius)); }

struct SpeckleArgs {
    FrameAddresses frames;
    int input_pitch, output_pitch;
    int width, height;         ///< of the input
    int out_width, out_height; ///< smaller with crop
    int x_offset, y_offset;    ///< image coordinates of the first result: the radius with crop, else 0
    int strips_across, strips_down, strip_rows;
    Border border; ///< replicate where windows are complete (crop)
    SpeckleForm form;
    float coefficient;
    float full_scale; ///< an integer for integer samples; none: NaN, or above all samples

#ifdef __CUDACC__
    __device__ float* row(int y) const {
        return reinterpret_cast<float*>(frames.output() + static_cast<std::int64_t>(y) * output_pitch);
    }
#endif
};

/// For several images or corrections; form and coefficient are not used, nor is the address of the first
/// image.
struct SpeckleFinishArgs : SpeckleArgs {
    ContrastFinish finish;

#ifdef __CUDACC__
    using SpeckleArgs::row;
    __device__ float* row(int image, int y) const { return image == 0 ? row(y) : finish.row(image, y); }
#endif
};

struct SpeckleKernel {
    void (*direct)(SpeckleArgs);
    void (*finish)(SpeckleFinishArgs);
};
/// By radius − 1.
using SpeckleKernels = std::array<SpeckleKernel, SpeckleParams::kMaxRadius>;
// One file per pixel type, since they compile slowly.
const SpeckleKernels& speckle_kernels_u8();
const SpeckleKernels& speckle_kernels_u16();
const SpeckleKernels& speckle_kernels_f32();

/// Writes the results within radius of an edge, and replaces the undefined and infinite pixels of the first
/// image in `counts` (device memory).
void run_speckle_omit(ConstDeviceView input, int radius, const ContrastFinish& finish, PixelCounts* counts,
                      cudaStream_t stream);

} // namespace specklescope::cuda
