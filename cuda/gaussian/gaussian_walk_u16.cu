#include "cuda/gaussian/gaussian_walk.cuh"

namespace specklescope::cuda {

const WalkKernels& walk_kernels_u16(int channels) {
    static const WalkKernels grey = walk_kernels<std::uint16_t, 1>();
    static const WalkKernels color = walk_kernels<std::uint16_t, 3>();
    return channels == 1 ? grey : color;
}

} // namespace specklescope::cuda
