// Crop, flip, rotate90 and downsample on the device: rows in vectors of 16 bytes.
#include "cuda/chunks.cuh"
#include "cuda/device.hpp"
#include "cuda/geometry/geometry_turn.cuh"
#include "stages/geometry/geometry.hpp"
#include "stages/geometry/simd/geometry_rows.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using namespace cuda;

// 32 vectors of 8 rows.
constexpr unsigned kBlockX = 32;
constexpr unsigned kBlockY = 8;
constexpr unsigned kMostBlocksDown = 65535;

dim3 blocks_for(int across, int rows) {
    const auto x = (static_cast<unsigned>(across) + kBlockX - 1) / kBlockX;
    const auto y = (static_cast<unsigned>(rows) + kBlockY - 1) / kBlockY;
    return {x, std::min(y, kMostBlocksDown)};
}

__device__ int thread_x() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ int thread_y() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ int rows_at_once() { return static_cast<int>(gridDim.y * blockDim.y); }

struct RowsArgs {
    const std::byte* input;
    std::byte* output;
    std::size_t input_pitch, output_pitch;
    int input_bytes, output_bytes; ///< of a row
    int width, height;             ///< of the output
    int first_row, step;           ///< input row of output row y: first_row + step·y

    __device__ const std::byte* from(int y) const {
        return input + static_cast<std::size_t>(first_row + step * y) * input_pitch;
    }
    __device__ std::byte* to(int y) const { return output + static_cast<std::size_t>(y) * output_pitch; }
};

RowsArgs rows_of(const ConstDeviceView& input, const DeviceView& output) {
    return {input.data,
            output.data,
            input.pitch,
            output.pitch,
            static_cast<int>(input.shape.row_bytes()),
            static_cast<int>(output.shape.row_bytes()),
            output.shape.width,
            output.shape.height,
            0,
            1};
}

/// Copies rows from byte `left` on.
__global__ void copy_kernel(RowsArgs args, int left) {
    const int offset = 16 * thread_x();
    if (offset >= args.output_bytes)
        return;
    for (int y = thread_y(); y < args.height; y += rows_at_once()) {
        Chunk<std::uint8_t, 1> chunk;
        chunk.load_anywhere(args.from(y), left + offset, args.input_bytes);
        chunk.store(args.to(y), offset, args.output_bytes);
    }
}

template <class T, int kChannels> __global__ void reverse_kernel(RowsArgs args) {
    constexpr int pixels = kChunkPixels<T>;
    const int first = pixels * thread_x();
    if (first >= args.width)
        return;
    constexpr int pixel_size = kChannels * static_cast<int>(sizeof(T));
    for (int y = thread_y(); y < args.height; y += rows_at_once()) {
        Chunk<T, kChannels> in;
        in.load_anywhere(args.from(y), (args.width - first - pixels) * pixel_size, args.input_bytes);
        Chunk<T, kChannels> out;
#pragma unroll
        for (int i = 0; i < pixels * kChannels; ++i)
            out.set(i, in.get((pixels - 1 - i / kChannels) * kChannels + i % kChannels));
        out.store(args.to(y), first * pixel_size, args.output_bytes);
    }
}

template <class Sum, class T> __device__ T rounded_mean(Sum sum, int count) {
    if constexpr (sizeof(T) == 4)
        return static_cast<float>(sum / count);
    else
        return static_cast<T>(mean_even(sum, count));
}
/// The same for kFactor² samples; exact without a conversion to f32.
template <int kFactor, class T, class Sum> __device__ T rounded_mean(Sum sum) {
    constexpr int shift = kFactor;
    static_assert(1 << shift == kFactor * kFactor);
    if constexpr (sizeof(T) == 4)
        return static_cast<float>(sum / (kFactor * kFactor));
    else
        return static_cast<T>((sum + (1U << (shift - 1)) - 1 + (sum >> shift & 1U)) >> shift);
}
/// The mean of the block of output sample (i, y) over its finite samples, if `result` (the mean of all) is
/// not finite.
template <class T, int kChannels>
__device__ T over_numbers(T result, const RowsArgs& args, int factor, int i, int y) {
    if constexpr (sizeof(T) == 4)
        if (!is_sample(result))
            return mean_of_numbers(factor, [&](int line, int column) {
                return reinterpret_cast<const float*>(args.from(
                    factor * y + line))[(i / kChannels * factor + column) * kChannels + i % kChannels];
            });
    return result;
}
template <class T> using SumOf = std::conditional_t<sizeof(T) == 4, double, std::uint32_t>;

/// Blocks that fill a chunk: each thread sums the columns of one, then the columns of each block.
template <class T, int kChannels, int kFactor> __global__ void mean_chunk_kernel(RowsArgs args) {
    constexpr int pixels = kChunkPixels<T> / kFactor; // of the output
    const int first = pixels * thread_x();
    if (first >= args.width)
        return;
    for (int y = thread_y(); y < args.height; y += rows_at_once()) {
        SumOf<T> sums[kChunkPixels<T> * kChannels] = {};
#pragma unroll
        for (int line = 0; line < kFactor; ++line) {
            Chunk<T, kChannels> in;
            in.load(args.from(kFactor * y + line), 16 * kChannels * thread_x(), args.input_bytes);
#pragma unroll
            for (int i = 0; i < kChunkPixels<T> * kChannels; ++i)
                sums[i] += static_cast<SumOf<T>>(in.get(i));
        }
        [[maybe_unused]] Chunk<T, kChannels> out; // a kFactor-th of it is used
        [[maybe_unused]] T* const row = reinterpret_cast<T*>(args.to(y)) + first * kChannels;
#pragma unroll
        for (int i = 0; i < pixels * kChannels; ++i) {
            const int begin = i / kChannels * kFactor * kChannels + i % kChannels;
            SumOf<T> sum = sums[begin];
#pragma unroll
            for (int k = 1; k < kFactor; ++k)
                sum += sums[begin + k * kChannels];
            const T mean = rounded_mean<kFactor, T>(sum);
            if constexpr (sizeof(T) < 4)
                out.set(i, mean);
            else if (first + i / kChannels < args.width)
                row[i] = over_numbers<T, kChannels>(mean, args, kFactor, first * kChannels + i, y);
        }
        if constexpr (sizeof(T) < 4)
            out.template store_part<kFactor>(args.to(y), first * kChannels * static_cast<int>(sizeof(T)),
                                             args.output_bytes);
    }
}

/// Any factor: one sample per thread; caches combine the reads of neighbours.
template <class T, int kChannels> __global__ void mean_kernel(RowsArgs args, int factor) {
    const int i = thread_x();
    if (i >= args.width * kChannels)
        return;
    const int begin = i / kChannels * factor * kChannels + i % kChannels;
    for (int y = thread_y(); y < args.height; y += rows_at_once()) {
        SumOf<T> sum = 0;
        for (int k = 0; k < factor; ++k) {
            SumOf<T> column = 0;
            for (int line = 0; line < factor; ++line)
                column += static_cast<SumOf<T>>(
                    reinterpret_cast<const T*>(args.from(factor * y + line))[begin + k * kChannels]);
            sum += column;
        }
        reinterpret_cast<T*>(args.to(y))[i] =
            over_numbers<T, kChannels>(rounded_mean<SumOf<T>, T>(sum, factor * factor), args, factor, i, y);
    }
}

template <class T, int kChannels> __global__ void nearest_kernel(RowsArgs args, int factor) {
    const int i = thread_x();
    if (i >= args.width * kChannels)
        return;
    const int from = i / kChannels * factor * kChannels + i % kChannels;
    for (int y = thread_y(); y < args.height; y += rows_at_once())
        reinterpret_cast<T*>(args.to(y))[i] = reinterpret_cast<const T*>(args.from(factor * y))[from];
}

/// Calls f(zero of the pixel type, std::integral_constant of the channels).
template <class F> void by_kind(const Shape& shape, F&& f) {
    dispatch(shape.type, [&](auto zero) {
        if (shape.channels == 1)
            f(zero, std::integral_constant<int, 1>());
        else
            f(zero, std::integral_constant<int, 3>());
    });
}

cudaStream_t stream_of(const RunContext<Space::device>& context) {
    return static_cast<cudaStream_t>(context.stream);
}

void copy(const RowsArgs& args, int left, cudaStream_t stream) {
    const dim3 blocks = blocks_for((args.output_bytes + 15) / 16, args.height);
    copy_kernel<<<blocks, dim3(kBlockX, kBlockY), 0, stream>>>(args, left);
    check_launch("the copying kernel of stages crop and flip");
}

void flip(const ConstDeviceView& input, const DeviceView& output, FlipParams::Direction direction,
          cudaStream_t stream) {
    RowsArgs args = rows_of(input, output);
    if (direction != FlipParams::Direction::horizontal) {
        args.first_row = args.height - 1;
        args.step = -1;
    }
    if (direction == FlipParams::Direction::vertical) {
        copy(args, 0, stream);
        return;
    }
    by_kind(input.shape, [&](auto zero, auto count) {
        using T = decltype(zero);
        constexpr int channels = decltype(count)::value;
        const int chunks = (args.width + kChunkPixels<T> - 1) / kChunkPixels<T>;
        reverse_kernel<T, channels>
            <<<blocks_for(chunks, args.height), dim3(kBlockX, kBlockY), 0, stream>>>(args);
    });
    check_launch("the kernel of stage flip");
}

template <class T, int kChannels, int kFactor> void mean_chunks(const RowsArgs& args, cudaStream_t stream) {
    constexpr int pixels = kChunkPixels<T> / kFactor;
    const int chunks = (args.width + pixels - 1) / pixels;
    mean_chunk_kernel<T, kChannels, kFactor>
        <<<blocks_for(chunks, args.height), dim3(kBlockX, kBlockY), 0, stream>>>(args);
}

class CropDevice final : public DeviceStage {
public:
    explicit CropDevice(const Params& params) : params_(params.as<CropParams>()) {}
    Shape prepare(const Shape& input) override { return crop_shape(params_, input); }
    void set_params(const Params& params) override { params_ = params.as<CropParams>(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        RowsArgs args = rows_of(input, output);
        args.first_row = params_.y;
        const Shape left{params_.x, 1, input.shape.channels, input.shape.type};
        copy(args, static_cast<int>(left.row_bytes()), stream_of(context));
    }

private:
    CropParams params_;
};

class FlipDevice final : public DeviceStage {
public:
    explicit FlipDevice(const Params& params) : params_(params.as<FlipParams>()) {}
    Shape prepare(const Shape& input) override { return input; }
    void set_params(const Params& params) override { params_ = params.as<FlipParams>(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        flip(input, output, params_.direction, stream_of(context));
    }

private:
    FlipParams params_;
};

class RotateDevice final : public DeviceStage {
public:
    explicit RotateDevice(const Params& params) : params_(params.as<RotateParams>()) {}
    Shape prepare(const Shape& input) override { return rotate_shape(params_, input); }
    void set_params(const Params& params) override { params_ = params.as<RotateParams>(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        if (params_.turns == 2) {
            flip(input, output, FlipParams::Direction::both, stream_of(context));
            return;
        }
        const TurnArgs args{input.data,        output.data,        input.pitch,       output.pitch,
                            input.shape.width, input.shape.height, params_.turns == 1};
        by_kind(input.shape, [&](auto zero, auto count) {
            turn<decltype(zero), decltype(count)::value>(args, stream_of(context));
        });
        check_launch("the kernel of stage rotate90");
    }

private:
    RotateParams params_;
};

class DownsampleDevice final : public DeviceStage {
public:
    explicit DownsampleDevice(const Params& params) : params_(params.as<DownsampleParams>()) {}
    Shape prepare(const Shape& input) override { return downsample_shape(params_, input); }
    void set_params(const Params& params) override { params_ = params.as<DownsampleParams>(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const RowsArgs args = rows_of(input, output);
        const bool mean = params_.method == DownsampleParams::Method::mean;
        const cudaStream_t stream = stream_of(context);
        by_kind(input.shape, [&](auto zero, auto count) {
            using T = decltype(zero);
            constexpr int channels = decltype(count)::value;
            const dim3 blocks = blocks_for(args.width * channels, args.height);
            if (mean && params_.factor == 2)
                mean_chunks<T, channels, 2>(args, stream);
            else if (mean && params_.factor == 4)
                mean_chunks<T, channels, 4>(args, stream);
            else if (mean)
                mean_kernel<T, channels><<<blocks, dim3(kBlockX, kBlockY), 0, stream>>>(args, params_.factor);
            else
                nearest_kernel<T, channels>
                    <<<blocks, dim3(kBlockX, kBlockY), 0, stream>>>(args, params_.factor);
        });
        check_launch("the kernel of stage downsample");
    }

private:
    DownsampleParams params_;
};

} // namespace

std::unique_ptr<DeviceStage> make_crop_device(const Params& params) {
    return std::make_unique<CropDevice>(params);
}
std::unique_ptr<DeviceStage> make_flip_device(const Params& params) {
    return std::make_unique<FlipDevice>(params);
}
std::unique_ptr<DeviceStage> make_rotate_device(const Params& params) {
    return std::make_unique<RotateDevice>(params);
}
std::unique_ptr<DeviceStage> make_downsample_device(const Params& params) {
    return std::make_unique<DownsampleDevice>(params);
}

} // namespace specklescope
