#include "cuda/gaussian/gaussian_walk.cuh"

namespace specklescope::cuda {

const WalkKernels& walk_kernels_f32(int channels) {
    static const WalkKernels grey = walk_kernels<float, 1>();
    static const WalkKernels color = walk_kernels<float, 3>();
    return channels == 1 ? grey : color;
}

} // namespace specklescope::cuda
