// Launch of the one-pass kernels of stage gaussian.
#include "cuda/device.hpp"
#include "cuda/gaussian/gaussian_launch.hpp"

#include <algorithm>
#include <cstdint>

namespace specklescope::cuda {

void place_strips(WalkArgs& args, const WalkKernel& kernel, int channels, int radius, int frames) {
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
    // Long strips have less overhead at their start, short ones distribute better. Among the lengths with 1,
    // 2, 3 … blocks per multiprocessor, chooses the one with the fewest rows for the busiest. The extra
    // blocks account for the time in which few warps cannot fill a multiprocessor (measured: RGB and grey, u8
    // and f32, 640×480 to 1392×1040, radius 2).
    constexpr int kExtra = 5;
    constexpr int kPerBlock = kWalkThreads / 32;
    std::int64_t least = 0;
    for (int each = 1; each <= std::max(1, blocks); ++each) {
        const int down = std::max(1, each * processors * kPerBlock / (args.strips_across * frames));
        const int rows = (images.out_height + down - 1) / down;
        const int strips = (images.out_height + rows - 1) / rows;
        const int placed = (strips * args.strips_across + kPerBlock - 1) / kPerBlock * frames;
        const int busiest = (placed + processors - 1) / processors;
        const std::int64_t cost = std::int64_t{rows + 2 * radius} * (busiest + kExtra);
        if (each > 1 && cost >= least)
            continue;
        least = cost;
        args.strip_rows = rows;
        args.strips_down = strips;
    }
}

void launch_walk(const WalkArgs& args, const WalkKernel& kernel, const Sequence& sequence) {
    constexpr int per_block = kWalkThreads / 32;
    const int warps = args.strips_across * args.strips_down;
    const dim3 blocks(static_cast<unsigned>((warps + per_block - 1) / per_block), 1,
                      static_cast<unsigned>(args.frames.count));
    // The previous work may be a kernel: of the frame before or of another stage.
    sequence.next("the one-pass kernel of stage gaussian", {blocks, kWalkThreads}, kernel.kernel, args);
}

} // namespace specklescope::cuda
