// How the one-pass kernels of stage gaussian are started.
#include "cuda/device.hpp"
#include "cuda/gaussian_launch.hpp"

#include <algorithm>

namespace specklescope::cuda {

void place_strips(WalkArgs& args, const WalkKernel& kernel, int channels) {
    const BlurImages& images = args.images;
    args.strips_across = (images.width * channels + kernel.strip_samples - 1) / kernel.strip_samples;
    int device = 0;
    int processors = 0;
    int blocks = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.kernel, kWalkThreads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const int warps = std::max(1, blocks) * processors * (kWalkThreads / 32);
    const int down = std::max(1, warps / args.strips_across);
    // None so short that its run-up is most of it, none so long that the last ones are waited for.
    args.strip_rows = std::clamp((images.out_height + down - 1) / down, 8, 64);
    args.strips_down = (images.out_height + args.strip_rows - 1) / args.strip_rows;
}

void launch_walk(const WalkArgs& args, const WalkKernel& kernel, cudaStream_t stream) {
    constexpr int per_block = kWalkThreads / 32;
    const int warps = args.strips_across * args.strips_down;
    kernel.kernel<<<static_cast<unsigned>((warps + per_block - 1) / per_block), kWalkThreads, 0, stream>>>(
        args);
    check_launch("the one-pass kernel of stage gaussian");
}

} // namespace specklescope::cuda
