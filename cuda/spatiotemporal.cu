// Spatio-temporal speckle contrast on the device, in three passes: the newest frame enters the running sums
// of every pixel; these are summed down the columns, a thread walking down each; and along the rows, by
// prefix sums of a block.
#include "cuda/temporal_state.cuh"
#include "stages/spatiotemporal.hpp"

#include <algorithm>

namespace specklescope {

namespace cuda {
namespace {

constexpr int kRowThreads = 256;
constexpr int kWalkRows = 32; ///< results that one thread walks down
/// Above the sum of a column, ΣI < 31·500·2¹⁶ < 2³⁰, and of a block's columns: how many hold a saturated
/// sample.
constexpr int kFlagBit = 48;

struct BoxArgs {
    TemporalHistory history;
    Border border;
    int radius;
    int margin;        ///< radius; 0 with crop
    int width, height; ///< of the image
    int out_width, out_height;
    double* sums[2]; ///< of columns, out_height rows of width: ΣI and ΣI² (as integers), or S and M
    std::uint8_t* saturated; ///< f32: a column's flag
    std::byte* output;
    std::size_t output_pitch;
    ContrastForm form;
    double c;
    PixelCounts* counts;

    SPECKLESCOPE_BOTH std::size_t at(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    }
};

template <class T, class State> __global__ void __launch_bounds__(kTileThreads)
    take_kernel(const __grid_constant__ TemporalHistory args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    Samples<T> newest{};
    take_in<T, State>(args, place, newest);
    advance_ages(args.saturation, place, newest, args.step.take, args.step.first);
}

/// One pixel of the tiles.
struct Pixel {
    int tile, lane, j;

    __device__ Pixel(const Tiles& tiles, int x, int row)
        : tile(row * tiles.across + x / kTileSamples), lane(x % kTileSamples / kLaneSamples),
          j(x % kLaneSamples) {}
    /// 8 bytes `index` of the pixel, which has `words` words of state; two pixels share a word.
    template <class V> __device__ V wide(const uint4* state, int words, int index) const {
        const uint4* const word =
            state + (static_cast<std::size_t>(tile) * words + 2 * index + j / 2) * 32 + lane;
        return reinterpret_cast<const V*>(word)[j % 2];
    }
    /// 4 bytes in word `index`.
    template <class V> __device__ V narrow(const uint4* state, int words, int index) const {
        const uint4* const word = state + (static_cast<std::size_t>(tile) * words + index) * 32 + lane;
        return reinterpret_cast<const V*>(word)[j];
    }
};

__device__ inline IntegerSums sums_at(const BoxArgs& args, const Pixel& pixel, PackedState) {
    return unpacked(pixel.wide<std::uint64_t>(args.history.state, PackedState::kWords, 0));
}
__device__ inline IntegerSums sums_at(const BoxArgs& args, const Pixel& pixel, WideState) {
    return {pixel.wide<std::uint64_t>(args.history.state, WideState::kWords, 0),
            pixel.narrow<std::uint32_t>(args.history.state, WideState::kWords, 2)};
}
__device__ inline RealGroup sums_at(const BoxArgs& args, const Pixel& pixel, RealState) {
    const double n = args.history.step.held;
    const auto s = pixel.wide<double>(args.history.state, RealState::kWords, 0);
    const auto q = pixel.wide<double>(args.history.state, RealState::kWords, 1);
    const double reference = pixel.narrow<float>(args.history.state, RealState::kWords, 4);
    return {n * reference + s, q - s * s / n};
}

__device__ inline bool saturated_at(const BoxArgs& args, const Pixel& pixel) {
    const AgesOnDevice& saturation = args.history.saturation;
    return saturation.of_tiles[pixel.tile] != 0 &&
           saturation.ages[static_cast<std::size_t>(pixel.tile) * kTileSamples + pixel.lane * kLaneSamples +
                           pixel.j] != 0;
}

/// Rows of the image from `first` for a walk that begins at result row `first`; f(y, row): row −1 is zeros.
struct Walk {
    int x, first, end; ///< result rows
    __device__ explicit Walk(const BoxArgs& args)
        : x(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)),
          first(static_cast<int>(blockIdx.y) * kWalkRows), end(min(first + kWalkRows, args.out_height)) {}
};

template <class State> __global__ void __launch_bounds__(kRowThreads)
    integer_columns_kernel(const __grid_constant__ BoxArgs args) {
    const Walk walk(args);
    if (walk.x >= args.width)
        return;
    std::uint64_t s = 0;
    std::uint64_t q = 0;
    const auto move = [&](int y, std::uint64_t sign) {
        const int row = border_index(y, args.height, args.border);
        if (row < 0)
            return;
        const Pixel pixel(args.history.tiles, walk.x, row);
        const IntegerSums sums = sums_at(args, pixel, State{});
        // What the border repeats lies in the same window: counting it too changes no flag.
        const std::uint64_t flag = saturated_at(args, pixel) ? std::uint64_t{1} << kFlagBit : 0;
        s += sign * (sums.s + flag);
        q += sign * sums.q;
    };
    const int window = 2 * args.radius + 1;
    for (int k = 0; k < window - 1; ++k)
        move(walk.first - args.margin + k, 1);
    for (int y = walk.first; y < walk.end; ++y) {
        move(y - args.margin + window - 1, 1);
        const std::uint64_t count = s >> kFlagBit;
        const std::uint64_t sum = s & ((std::uint64_t{1} << kFlagBit) - 1);
        const std::uint64_t flagged = sum | (count != 0 ? std::uint64_t{1} << kFlagBit : 0);
        reinterpret_cast<std::uint64_t*>(args.sums[0])[args.at(walk.x, y)] = flagged;
        reinterpret_cast<std::uint64_t*>(args.sums[1])[args.at(walk.x, y)] = q;
        move(y - args.margin, ~std::uint64_t{0});
    }
}

__global__ void __launch_bounds__(kRowThreads) real_columns_kernel(const __grid_constant__ BoxArgs args) {
    const Walk walk(args);
    if (walk.x >= args.width)
        return;
    const double n = args.history.step.held;
    for (int y = walk.first; y < walk.end; ++y) {
        RealGroup groups{0, 0};
        bool saturated = false;
        for (int k = 0; k <= 2 * args.radius; ++k) {
            const int row = border_index(y - args.margin + k, args.height, args.border);
            const Pixel pixel(args.history.tiles, walk.x, max(row, 0));
            const RealGroup one = row < 0 ? RealGroup{0, 0} : sums_at(args, pixel, RealState{});
            groups = k == 0 ? one : merged(groups, k, one, n);
            saturated |= row >= 0 && saturated_at(args, pixel);
        }
        args.sums[0][args.at(walk.x, y)] = groups.sum;
        args.sums[1][args.at(walk.x, y)] = groups.deviation;
        args.saturated[args.at(walk.x, y)] = saturated ? 1 : 0;
    }
}

/// Column of the image for this thread; each block gives kRowThreads − 2·radius results.
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

__device__ inline void write_result(const BoxArgs& args, const Segment& segment, float value,
                                    bool saturated) {
    if (segment.has_result)
        reinterpret_cast<float*>(args.output +
                                 static_cast<std::size_t>(segment.y) * args.output_pitch)[segment.x] = value;
    count_in_warp(args.counts->undefined, segment.has_result && isnan(value) ? 1U : 0U);
    count_in_warp(args.counts->infinite, segment.has_result && isinf(value) ? 1U : 0U);
    count_in_warp(args.counts->saturated, segment.has_result && saturated ? 1U : 0U);
}

__global__ void __launch_bounds__(kRowThreads) integer_rows_kernel(const __grid_constant__ BoxArgs args) {
    __shared__ std::uint64_t prefix[2][kRowThreads + 1]; // [i + 1]: sum up to column i of the block
    __shared__ std::uint64_t of_warps[2][kRowThreads / 32];
    const Segment segment(args);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const bool inside = segment.column >= 0 && segment.y < args.out_height;
    std::uint64_t sums[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        sums[i] =
            inside ? reinterpret_cast<const std::uint64_t*>(args.sums[i])[args.at(segment.column, segment.y)]
                   : 0;
        for (int step = 1; step < 32; step *= 2) {
            const std::uint64_t before = __shfl_up_sync(kWholeWarp, sums[i], step);
            sums[i] += lane >= step ? before : 0;
        }
        if (lane == 31)
            of_warps[i][thread / 32] = sums[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        for (int warp = 0; warp < thread / 32; ++warp)
            sums[i] += of_warps[i][warp];
        prefix[i][thread + 1] = sums[i];
        if (thread == 0)
            prefix[i][0] = 0;
    }
    __syncthreads();
    const int window = 2 * args.radius + 1;
    const int last = min(thread + window, kRowThreads);
    const std::uint64_t flagged = prefix[0][last] - prefix[0][thread];
    const std::uint64_t q = prefix[1][last] - prefix[1][thread];
    const std::uint64_t s = flagged & ((std::uint64_t{1} << kFlagBit) - 1);
    const auto n = static_cast<std::uint32_t>(window * window * args.history.step.held);
    const WindowMoments moments = window_moments(s, q, n, 1.0F / static_cast<float>(n));
    write_result(args, segment, contrast_value(args.form, static_cast<float>(args.c), moments.s, moments.d),
                 flagged >> kFlagBit != 0);
}

__global__ void __launch_bounds__(kRowThreads) real_rows_kernel(const __grid_constant__ BoxArgs args) {
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
        all = merged(all, k, columns[thread + k], n);
        saturated |= flags[thread + k];
    }
    const double d = n * window * (all.deviation < 0 ? 0.0 : all.deviation);
    const double value = contrast_value(args.form, args.c, all.sum, d);
    write_result(args, segment, static_cast<float>(all.sum == 0 ? all.sum / all.sum : value), saturated);
}

struct BoxKernels {
    void (*take)(TemporalHistory);
    void (*columns)(BoxArgs);
    void (*rows)(BoxArgs);
};

BoxKernels kernels_of(PixelType type, int frames) {
    return dispatch_state(type, frames, [](auto sample, auto state) -> BoxKernels {
        using T = decltype(sample);
        using State = decltype(state);
        if constexpr (std::is_same_v<T, float>)
            return {take_kernel<T, State>, real_columns_kernel, real_rows_kernel};
        else
            return {take_kernel<T, State>, integer_columns_kernel<State>, integer_rows_kernel};
    });
}

class SpatiotemporalDevice final : public DeviceStage {
public:
    explicit SpatiotemporalDevice(const Params& params)
        : params_(params.as<SpatiotemporalParams>()), history_(params_.frames) {}

    Shape prepare(const Shape& input) override {
        const Shape output = spatiotemporal_shape(params_, input);
        const std::size_t plane =
            static_cast<std::size_t>(input.width) * static_cast<std::size_t>(output.height);
        const std::size_t flags = input.type == PixelType::f32 ? plane : 1;
        memory_.prepare("stage spatiotemporal", input, history_.frames(), 2 * sizeof(double) * plane + flags);
        for (Buffer& sums : sums_)
            sums = Buffer(plane * sizeof(double), device_memory());
        flags_ = Buffer(flags, device_memory());
        kernels_ = kernels_of(input.type, history_.frames());
        history_.reset();
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale = spatiotemporal_scale(params_, step.held, context.info);
        const bool crop = params_.border == SpeckleParams::Border::crop;
        const BoxArgs args{.history = memory_.view(input, step, context.info),
                           .border = window_border(params_.border),
                           .radius = params_.radius,
                           .margin = crop ? 0 : params_.radius,
                           .width = input.shape.width,
                           .height = input.shape.height,
                           .out_width = output.shape.width,
                           .out_height = output.shape.height,
                           .sums = {sums_[0].as<double>(), sums_[1].as<double>()},
                           .saturated = flags_.as<std::uint8_t>(),
                           .output = output.data,
                           .output_pitch = output.pitch,
                           .form = scale.form,
                           .c = scale.c,
                           .counts = context.counts};
        if (step.take)
            kernels_.take<<<memory_.tiles().blocks(), kTileThreads, 0, stream>>>(args.history);
        const auto blocks = [](int count, int per_block) {
            return static_cast<unsigned>((count + per_block - 1) / per_block);
        };
        kernels_.columns<<<dim3(blocks(args.width, kRowThreads), blocks(args.out_height, kWalkRows)),
                           kRowThreads, 0, stream>>>(args);
        const unsigned rows = static_cast<unsigned>(args.out_height);
        const dim3 segments(blocks(args.out_width, kRowThreads - 2 * args.radius), std::min(rows, 32768U),
                            blocks(args.out_height, 32768)); // a grid has up to 65535 rows
        kernels_.rows<<<segments, kRowThreads, 0, stream>>>(args);
        check_launch("the kernels of stage spatiotemporal");
    }

    void set_params(const Params& params) override {
        const auto& values = params.as<SpatiotemporalParams>();
        params_.exposure_ms = values.exposure_ms;
        params_.output = values.output;
    }
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(history_.frames(), memory_.bytes()); }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    SpatiotemporalParams params_;
    History history_;
    TemporalMemory memory_;
    Buffer sums_[2], flags_;
    BoxKernels kernels_{};
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_spatiotemporal_device(const Params& params) {
    return std::make_unique<cuda::SpatiotemporalDevice>(params);
}

} // namespace specklescope
