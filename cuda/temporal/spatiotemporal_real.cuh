// Spatiotemporal contrast of f32 in two passes, by merging groups without subtraction: along the columns, one
// thread per column, then along the rows. For .cu files only.
#pragma once

#include "cuda/temporal/spatiotemporal_box.cuh"

namespace specklescope::cuda {

inline constexpr int kRowThreads = 256; ///< an estimate

/// Image rows for a thread that starts at result row `first`; f(y, row): row −1 is zeros.
struct Walk {
    int x, first, end; ///< result rows
    __device__ explicit Walk(const BoxArgs& args)
        : x(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)),
          first(static_cast<int>(blockIdx.y) * kWalkRows), end(min(first + kWalkRows, args.out_height)) {}
};

__global__ void __launch_bounds__(kRowThreads) real_columns_kernel(const __grid_constant__ BoxArgs args) {
    const Walk walk(args);
    if (walk.x >= args.width)
        return;
    for (int y = walk.first; y < walk.end; ++y) {
        RealGroup groups{0, 0};
        bool saturated = false;
        for (int k = 0; k <= 2 * args.radius; ++k) {
            const int row = border_index(y - args.margin + k, args.height, args.border);
            const Pixel pixel(args.history.tiles, walk.x, max(row, 0));
            const RealGroup one = row < 0 ? RealGroup{0, 0} : sums_at(args, pixel, RealState{});
            groups = k == 0 ? one : merged(groups, k, one, args.merge.columns[k]);
            saturated |= row >= 0 && saturated_at(args, pixel);
        }
        args.sums[0][args.at(walk.x, y)] = groups.sum;
        args.sums[1][args.at(walk.x, y)] = groups.deviation;
        args.saturated[args.at(walk.x, y)] = saturated ? 1 : 0;
    }
}

/// Image column of this thread; each block has kRowThreads − 2·radius results.
struct Segment {
    int x, y;   ///< of the result that begins with this thread's column
    int column; ///< −1: zeros
    bool has_result;
    __device__ explicit Segment(const BoxArgs& args) {
        const int results = kRowThreads - 2 * args.radius;
        x = static_cast<int>(blockIdx.x) * results + static_cast<int>(threadIdx.x);
        y = static_cast<int>(blockIdx.y) + static_cast<int>(blockIdx.z) * 32768;
        column = border_index(x - args.margin, args.width, args.border);
        has_result = static_cast<int>(threadIdx.x) < results && x < args.out_width && y < args.out_height;
    }
};

/// The results from S and D of N = n samples.
template <bool kFinish> __device__ inline void write_result(const BoxArgs& args, const Segment& segment,
                                                            double n, WindowSums sums, bool saturated) {
    float value = NAN; // of the first image
    if constexpr (kFinish) {
        if (args.finish.corrects)
            sums = corrected(args.finish, n, sums);
        for (int i = 0; segment.has_result && i < args.finish.count; ++i) {
            const ContrastFinish::Image& image = args.finish.images[i];
            const float one = finished(args.finish, image.form, image.c, n, sums);
            args.finish.row(i, segment.y)[segment.x] = one;
            value = i == 0 ? one : value;
        }
    } else {
        if (sums.s > 0 || isnan(sums.s))
            value = static_cast<float>(contrast_value(args.form, args.c, sums.s, sums.d));
        if (segment.has_result)
            reinterpret_cast<float*>(args.output + static_cast<std::size_t>(segment.y) *
                                                       args.output_pitch)[segment.x] = value;
    }
    ThreadCounts mine;
    if (segment.has_result) {
        mine.add(value);
        mine.saturated = saturated ? 1 : 0;
    }
    count_in_block(*args.counts, mine);
}

template <bool kFinish> __global__ void __launch_bounds__(kRowThreads)
    real_rows_kernel(const __grid_constant__ BoxArgs args) {
    __shared__ RealGroup columns[kRowThreads];
    __shared__ bool flags[kRowThreads];
    const Segment segment(args);
    const int thread = static_cast<int>(threadIdx.x);
    const bool inside = segment.column >= 0 && segment.y < args.out_height;
    const std::size_t at = inside ? args.at(segment.column, segment.y) : 0;
    columns[thread] = inside ? RealGroup{args.sums[0][at], args.sums[1][at]} : RealGroup{0, 0};
    flags[thread] = inside && args.saturated[at] != 0;
    __syncthreads();
    const int window = 2 * args.radius + 1;
    const double n = static_cast<double>(window) * args.history.step.held;
    RealGroup all = columns[thread];
    bool saturated = flags[thread];
    for (int k = 1; k < window && thread + k < kRowThreads; ++k) {
        all = merged(all, k, columns[thread + k], args.merge.rows[k]);
        saturated |= flags[thread + k];
    }
    const double d = n * window * (all.deviation < 0 ? 0.0 : all.deviation);
    write_result<kFinish>(args, segment, n * window, {all.sum, d}, saturated);
}

} // namespace specklescope::cuda
