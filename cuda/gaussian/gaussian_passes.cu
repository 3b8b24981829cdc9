// Gaussian with a window of any size: along the rows into f32, then along the columns. Every thread computes
// several neighbouring results, so that a sample is read once for all of them.
#include "cuda/device.hpp"
#include "cuda/gaussian/gaussian_samples.cuh"

#include <algorithm>

namespace specklescope::cuda {

namespace {

// Initial choices; alternatives were not measured.
constexpr int kThreads = 96; ///< a multiple of the channels
constexpr int kRun = 8;      ///< results per thread along a row; samples and taps per step
constexpr int kRows = 16;    ///< results per thread along a column
constexpr int kLead = kRows; ///< zeros before the first tap

/// Number of steps of kRun samples that cover the windows of `results` neighbours.
SPECKLESCOPE_BOTH constexpr int pass_steps(int radius, int results) {
    return (2 * radius + results + kRun - 1) / kRun;
}
/// Samples in shared memory, with one of padding after every kRun, to avoid bank conflicts.
SPECKLESCOPE_BOTH constexpr int padded(int samples) { return samples / kRun * (kRun + 1) + samples % kRun; }
SPECKLESCOPE_BOTH constexpr int tile_pixels(int channels) { return kThreads / channels * kRun; }
/// For one channel: the tile and its windows, rounded up to whole steps.
SPECKLESCOPE_BOTH constexpr int line_samples(int radius, int channels) {
    return tile_pixels(channels) + pass_steps(radius, kRun) * kRun;
}

/// Adds a step of kRun samples to N results; taps[i] is the tap i − kLead from the step's first sample.
template <int N>
__device__ inline void add_step(float (&sums)[N], const float (&samples)[kRun], const float4* taps) {
    float near[kRun + N];
#pragma unroll
    for (int i = 0; i < (kRun + N) / 4; ++i) {
        const float4 four = taps[(kLead - N) / 4 + i];
        near[4 * i] = four.x;
        near[4 * i + 1] = four.y;
        near[4 * i + 2] = four.z;
        near[4 * i + 3] = four.w;
    }
#pragma unroll
    for (int u = 0; u < kRun; ++u)
#pragma unroll
        for (int k = 0; k < N; ++k)
            sums[k] = fmaf(near[N + u - k], samples[u], sums[k]);
}

template <class T, int C> __global__ void __launch_bounds__(kThreads)
    rows_pass_kernel(const __grid_constant__ PassArgs args, int taps_size) {
    extern __shared__ float4 shared[];
    if (skipped(args.images.guard))
        return;
    auto* const taps = reinterpret_cast<float*>(shared);
    float* const line = taps + taps_size;
    const int line_size = padded(line_samples(args.radius, C));
    const int y = static_cast<int>(blockIdx.x); // up to 65536: more than a grid has in y
    const int begin = static_cast<int>(blockIdx.y) * tile_pixels(C);
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < taps_size; i += kThreads)
        taps[i] = args.taps[i];
    const T* const row = input_row<T>(args.images, y);
    const int first = (begin + args.images.offset - args.radius) * C;
    for (int i = thread; i < line_samples(args.radius, C) * C; i += kThreads) {
        const int found = border_sample(first + i, args.images.width, C, args.images.border);
        line[(i % C) * line_size + padded(i / C)] = found < 0 ? 0.0F : static_cast<float>(row[found]);
    }
    __syncthreads();

    const int group = thread / C;
    const float* samples = line + (thread % C) * line_size + group * (kRun + 1);
    float sums[kRun] = {};
    for (int step = 0; step < pass_steps(args.radius, kRun); ++step) {
        float run[kRun];
#pragma unroll
        for (int u = 0; u < kRun; ++u)
            run[u] = samples[step * (kRun + 1) + u];
        add_step(sums, run, shared + step * (kRun / 4));
    }
    float* const out = args.between + static_cast<std::int64_t>(y) * args.between_pitch;
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
        const int x = begin + group * kRun + k;
        if (x < args.images.out_width)
            out[x * C + thread % C] = sums[k];
    }
}

template <class T, int C> __global__ void __launch_bounds__(kThreads)
    columns_pass_kernel(const __grid_constant__ PassArgs args, int taps_size) {
    extern __shared__ float4 shared[];
    if (skipped(args.images.guard))
        return;
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < taps_size; i += kThreads)
        reinterpret_cast<float*>(shared)[i] = args.taps[i];
    __syncthreads();
    const BlurImages& images = args.images;
    const int x = static_cast<int>(blockIdx.x) * kThreads + thread;
    if (x >= images.out_width * C)
        return;
    const int first = static_cast<int>(blockIdx.y) * kRows;
    const int top = first + images.offset - args.radius;
    float sums[kRows] = {};
    for (int step = 0; step < pass_steps(args.radius, kRows); ++step) {
        float run[kRun];
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            const int y = border_index(top + step * kRun + u, images.height, images.border);
            run[u] = y < 0 ? 0.0F : args.between[static_cast<std::int64_t>(y) * args.between_pitch + x];
        }
        add_step(sums, run, shared + step * (kRun / 4));
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
        const int y = first + k;
        if (y >= images.out_height)
            return;
        const float weight = images.inverse_x ? images.inverse_x[x / C] * images.inverse_y[y] : 1.0F;
        output_row<T>(images, y)[x] = to_sample<T>(sums[k] * weight);
    }
}

template <class T, int C> void launch(const PassArgs& args, cudaStream_t stream) {
    const BlurImages& images = args.images;
    const int taps_size = static_cast<int>(pass_taps_size(args.radius));
    const auto taps_bytes = static_cast<std::size_t>(taps_size) * sizeof(float);
    const auto line_bytes =
        static_cast<std::size_t>(padded(line_samples(args.radius, C)) * C) * sizeof(float);
    const dim3 tiles(static_cast<unsigned>(images.height),
                     static_cast<unsigned>((images.out_width + tile_pixels(C) - 1) / tile_pixels(C)));
    rows_pass_kernel<T, C><<<tiles, kThreads, taps_bytes + line_bytes, stream>>>(args, taps_size);
    check_launch("the row pass of stage gaussian");
    const dim3 columns(static_cast<unsigned>((images.out_width * C + kThreads - 1) / kThreads),
                       static_cast<unsigned>((images.out_height + kRows - 1) / kRows));
    columns_pass_kernel<T, C><<<columns, kThreads, taps_bytes, stream>>>(args, taps_size);
    check_launch("the column pass of stage gaussian");
}

} // namespace

std::size_t pass_taps_size(int radius) {
    return static_cast<std::size_t>(kLead + pass_steps(radius, kRows) * kRun + kRun);
}

void lay_pass_taps(const double* taps, int radius, float* laid) {
    std::fill_n(laid, pass_taps_size(radius), 0.0F);
    for (int i = 0; i <= 2 * radius; ++i)
        laid[kLead + i] = static_cast<float>(taps[i]);
}

void launch_passes(const PassArgs& args, PixelType type, int channels, cudaStream_t stream) {
    dispatch(type, [&](auto zero) {
        using T = decltype(zero);
        if (channels == 1)
            launch<T, 1>(args, stream);
        else
            launch<T, 3>(args, stream);
    });
}

} // namespace specklescope::cuda
