#include "cuda/speckle/speckle_kernel.cuh"

#include <utility>

namespace specklescope::cuda {

const SpeckleKernels& speckle_kernels_u16() {
    static const SpeckleKernels kernels = []<int... I>(std::integer_sequence<int, I...>) {
        return SpeckleKernels{SpeckleKernel{speckle_kernel<std::uint16_t, I + 1, SpeckleArgs>,
                                            speckle_kernel<std::uint16_t, I + 1, SpeckleFinishArgs>}...};
    }
    (std::make_integer_sequence<int, SpeckleParams::kMaxRadius>());
    return kernels;
}

} // namespace specklescope::cuda
