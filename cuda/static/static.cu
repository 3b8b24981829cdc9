// Static scattering on the device: one thread per pixel reads its window of both frames.
#include "cuda/counts.hpp"
#include "cuda/device.hpp"
#include "stages/contrast.hpp"
#include "stages/static/static.hpp"

namespace specklescope {

namespace cuda {
namespace {

struct StaticArgs {
    const std::byte* before; ///< rows as long as the frame's
    const std::byte* now;
    float* means;
    std::byte* output;
    std::size_t before_pitch, now_pitch, output_pitch;
    int width, height, radius;
    bool take, pair;
    float weight, beta;
    StaticParams::Output result;
};

template <class T> __device__ const T* row_of(const std::byte* image, std::size_t pitch, int y) {
    return reinterpret_cast<const T*>(image + static_cast<std::size_t>(y) * pitch);
}

template <class T> __global__ void static_kernel(const __grid_constant__ StaticArgs args) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= args.width || y >= args.height)
        return;
    float& mean = args.means[static_cast<std::size_t>(y) * static_cast<std::size_t>(args.width) +
                             static_cast<std::size_t>(x)];
    if (args.take && !args.pair)
        mean = NAN;
    if (args.take && args.pair) {
        const int left = max(x - args.radius, 0);
        const int right = min(x + args.radius, args.width - 1);
        const int top = max(y - args.radius, 0);
        const int bottom = min(y + args.radius, args.height - 1);
        PairSums<T> sums;
        for (int j = top; j <= bottom; ++j) {
            const T* const a = row_of<T>(args.before, args.before_pitch, j);
            const T* const b = row_of<T>(args.now, args.now_pitch, j);
            for (int i = left; i <= right; ++i)
                sums.add(a[i], b[i]);
        }
        mean = faded(mean, sums.correlation((right - left + 1) * (bottom - top + 1)), args.weight);
    }
    reinterpret_cast<float*>(args.output + static_cast<std::size_t>(y) * args.output_pitch)[x] =
        static_result(mean, args.beta, args.result);
}

class StaticDevice final : public StaticStage<DeviceStage> {
public:
    using StaticStage::StaticStage;

    Shape prepare(const Shape& input) override {
        before_ = Buffer(input.bytes(), device_memory());
        means_ = Buffer(input.pixels() * sizeof(float), device_memory());
        reset();
        return contrast_window_shape("stage static", params_.radius, false, input);
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const auto stream = static_cast<cudaStream_t>(context.stream);
        const bool taken = take(context.again);
        const std::size_t row = input.shape.row_bytes();
        const StaticArgs args{.before = before_.as<std::byte>(),
                              .now = input.data,
                              .means = means_.as<float>(),
                              .output = output.data,
                              .before_pitch = row,
                              .now_pitch = input.pitch,
                              .output_pitch = output.pitch,
                              .width = input.shape.width,
                              .height = input.shape.height,
                              .radius = params_.radius,
                              .take = taken,
                              .pair = has_pair(),
                              .weight = has_pair() ? weight() : 0,
                              .beta = static_cast<float>(params_.beta),
                              .result = params_.output};
        const dim3 threads(32, 8);
        const dim3 blocks((static_cast<unsigned>(args.width) + threads.x - 1) / threads.x,
                          (static_cast<unsigned>(args.height) + threads.y - 1) / threads.y);
        dispatch(input.shape.type,
                 [&](auto zero) { static_kernel<decltype(zero)><<<blocks, threads, 0, stream>>>(args); });
        check_launch("the kernel of stage static");
        count_undefined(output, context.counts, stream);
        if (taken)
            check(cudaMemcpy2DAsync(before_.as<void>(), row, input.data, input.pitch, row,
                                    static_cast<std::size_t>(input.shape.height), cudaMemcpyDeviceToDevice,
                                    stream),
                  "cudaMemcpy2DAsync");
    }

private:
    Buffer before_, means_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_static_device(const Params& params) {
    return std::make_unique<cuda::StaticDevice>(params);
}

} // namespace specklescope
