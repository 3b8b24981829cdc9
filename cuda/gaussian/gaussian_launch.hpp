// Arguments of the kernels of stage gaussian. Inside cuda/ only.
#pragma once

#include "cuda/defined_filter.hpp"
#include "cuda/frames.hpp"
#include "cuda/gaussian/gaussian_blocks.hpp"
#include "cuda/sequence.hpp"
#include "pipeline/image.hpp"
#include "stages/border.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

/// Rows of interleaved samples: pixel x, channel c is sample x·channels + c.
struct BlurImages {
    const std::byte* input;
    std::byte* output;
    int input_pitch, output_pitch; ///< bytes; at most 65536 pixels per row
    int width, height;             ///< pixels of the input
    int out_width, out_height;     ///< smaller with crop
    int offset; ///< image coordinate of the first result on both axes: the radius with crop
    Border border;
    const float* inverse_x; ///< omit: factors of a result by column and by row; null otherwise
    const float* inverse_y;
    const FilterGuard* guard; ///< of the kernels in two passes; null: they always run
};

// --- one pass from pixels to result: small windows (gaussian_walk.cuh) ---

inline constexpr int kMaxWalkRadius = 8; ///< up to this radius `auto` always uses taps: gaussian.cpp
inline constexpr int kWalkThreads = 128; ///< an estimate

struct WalkArgs {
    BlurImages images; ///< addresses are in `frames`
    FrameAddresses frames;
    int strips_across, strips_down, strip_rows;
    float taps[kMaxWalkRadius + 1]; ///< by distance
    FilterNorm norm;                ///< of f32, whose undefined samples the kernels leave out themselves
};

struct WalkKernel {
    void (*kernel)(WalkArgs) = nullptr;
    int strip_samples = 0; ///< results of a warp per row
};

/// By radius − 1.
using WalkKernels = std::array<WalkKernel, kMaxWalkRadius>;
// One file per pixel type, since they compile slowly.
const WalkKernels& walk_kernels_u8(int channels);
const WalkKernels& walk_kernels_u16(int channels);
const WalkKernels& walk_kernels_f32(int channels);
/// [1 2 1] and [1 4 6 4 1] for u8 in integers; not for border = omit.
WalkKernel binomial_kernel(int radius, int channels);

/// Computes the strips of `args`, whose images must be set, for the current GPU and a launch with `frames`
/// frames. Results do not depend on it.
void place_strips(WalkArgs& args, const WalkKernel& kernel, int channels, int radius, int frames);
void launch_walk(const WalkArgs& args, const WalkKernel& kernel, const Sequence& sequence);

// --- two passes, for windows of any size (gaussian_passes.cu) ---

/// Number of floats of the taps in the passes' layout.
std::size_t pass_taps_size(int radius);
/// Stores the 2·radius + 1 taps in the passes' layout.
void lay_pass_taps(const double* taps, int radius, float* laid);

struct PassArgs {
    BlurImages images;
    const float* taps; ///< in the passes' layout, in device memory
    float* between;    ///< out_width × height samples after the pass along rows
    int between_pitch; ///< floats
    int radius;
};
void launch_passes(const PassArgs& args, PixelType type, int channels, cudaStream_t stream);

struct RecursivePlan {
    std::size_t memory = 0; ///< floats: contributions of all blocks, and both ends of the rows
    bool overlaps = false;  ///< see Sequence
};

/// In device memory.
struct RecursiveGuard {
    float offset;        ///< common_offset() of the frame
    std::uint32_t frame; ///< number of the last frame with missing samples: undefined or infinite
};

/// Missing samples of f32. The kernels replace them by zeros; if there are any, they filter the mask as well
/// and divide the results by its weights.
struct RecursiveMissing {
    FilterNorm norm;
    RecursiveGuard* guard = nullptr; ///< null: integers
    std::uint32_t frame = 0;         ///< number of this frame
    PixelCounts* counts = nullptr;   ///< of the results
};

struct RecursiveArgs {
    BlurImages images;
    RecursiveMissing missing;
    float* memory; ///< size from RecursivePlan
};

/// For the current GPU; `border` as in LineFilter.
RecursivePlan plan_recursive(const Shape& input, Border border);
/// Columns, then rows; `columns` and `rows` are for the input's height and width.
void launch_recursive(const RecursiveArgs& args, const Shape& input, const LineFilter& columns,
                      const LineFilter& rows, const Sequence& sequence);

} // namespace specklescope::cuda
