// The device side of stage clahe: memory and number of blocks per kernel.
#include "cuda/device.hpp"
#include "cuda/equalize/clahe_kernels.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace specklescope {

namespace {

using namespace cuda;

class ClaheDevice final : public DeviceStage {
public:
    explicit ClaheDevice(const Params& params) : params_(params.as<ClaheParams>()) {
        int device = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device),
              "cudaDeviceGetAttribute");
    }
    void set_params(const Params& params) override { params_ = params.as<ClaheParams>(); }

    Shape prepare(const Shape& input) override {
        tiling_ = clahe_tiling(params_, input);
        const auto tiles = static_cast<std::size_t>(tiling_.tiles);
        const std::size_t bins = tiles * tiles * static_cast<std::size_t>(params_.bins);
        counts_ = Buffer(bins * sizeof(std::uint32_t), device_memory());
        mappings_ = Buffer(bins * pixel_bytes(input.type), device_memory());
        range_ = Buffer(2 * sizeof(std::uint32_t), device_memory());
        const std::vector<int> columns = clahe_cells(input.width, tiling_.width, tiling_.tiles);
        const std::vector<int> rows = clahe_cells(input.height, tiling_.height, tiling_.tiles);
        const std::size_t bytes = columns.size() * sizeof(int);
        cells_ = Buffer(2 * bytes, device_memory());
        check(cudaMemcpy(cells_.as<int>(), columns.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemcpy(cells_.as<int>() + columns.size(), rows.data(), bytes, cudaMemcpyHostToDevice),
              "cudaMemcpy");
        check(cudaMemset(counts_.as<void>(), 0, bins * sizeof(std::uint32_t)), "cudaMemset");
        done_ = Buffer(tiles * tiles * sizeof(std::uint32_t), device_memory());
        check(cudaMemset(done_.as<void>(), 0, tiles * tiles * sizeof(std::uint32_t)), "cudaMemset");
        check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
        dispatch(input.type, [&](auto zero) {
            allow_table<decltype(zero), 1>();
            allow_table<decltype(zero), 3>();
        });
        return input;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        dispatch(input.shape.type, [&](auto zero) {
            using T = decltype(zero);
            if (input.shape.channels == 1)
                launch<T, 1>(input, output, context);
            else
                launch<T, 3>(input, output, context);
        });
    }

private:
    template <class T> std::size_t table_bytes() const {
        return static_cast<std::size_t>(table_entries<T>(params_.bins)) * sizeof(Corners<T>);
    }
    /// More than 48 KiB of shared memory must be requested.
    template <class T, int kChannels> static void allow_table() {
        check(cudaFuncSetAttribute(
                  apply_kernel<T, kChannels>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                  static_cast<int>(table_entries<T>(ClaheParams::kMaxBins) * sizeof(Corners<T>))),
              "cudaFuncSetAttribute");
    }

    /// Number of parts that fill the device, for `pieces` pieces of this size; a thread has at least one
    /// chunk.
    template <class T> unsigned parts(int pieces, int width, int height) const {
        const std::int64_t chunks = std::int64_t{height} * ((width + kChunkPixels<T> - 1) / kChunkPixels<T>);
        const std::int64_t most = std::clamp<std::int64_t>(chunks / kClaheThreads, 1, height);
        return static_cast<unsigned>(std::clamp<std::int64_t>(8 * processors_ / pieces, 1, most));
    }

    ClaheArgs arguments(const ConstDeviceView& input, const DeviceView& output, const FrameInfo& info) const {
        ClaheArgs args{};
        args.input = input.data;
        args.output = output.data;
        args.input_pitch = input.pitch;
        args.output_pitch = output.pitch;
        args.width = input.shape.width;
        args.height = input.shape.height;
        args.tiling = tiling_;
        args.bins = params_.bins;
        int bins = params_.bins;
        if (input.shape.type != PixelType::f32) {
            args.levels =
                clahe_integer_levels(clahe_full_scale(input.shape.type, info), params_.bins, tiling_.area());
            bins = args.levels.bins;
        }
        args.limit = clahe_clip_limit(params_.clip, tiling_.area(), bins);
        args.range = range_.as<std::uint32_t>();
        args.counts = counts_.as<std::uint32_t>();
        args.done = done_.as<std::uint32_t>();
        args.mappings = mappings_.as<std::byte>();
        args.columns = cells_.as<int>();
        args.rows = cells_.as<int>() + tiling_.tiles + 2;
        return args;
    }

    template <class T, int kChannels> void launch(const ConstDeviceView& input, const DeviceView& output,
                                                  const RunContext<Space::device>& context) {
        const auto stream = static_cast<cudaStream_t>(context.stream);
        ClaheArgs args = arguments(input, output, context.info);
        if constexpr (sizeof(T) == 4) {
            check(cudaMemsetAsync(range_.as<void>(), 0xff, 2 * sizeof(std::uint32_t), stream),
                  "cudaMemsetAsync");
            range_kernel<kChannels><<<parts<T>(1, args.width, args.height), kClaheThreads, 0, stream>>>(
                args, range_.as<std::uint32_t>());
            check_launch("the range kernel of stage clahe");
        }
        const auto tiles = static_cast<unsigned>(tiling_.tiles);
        const dim3 counting(parts<T>(tiling_.tiles * tiling_.tiles, tiling_.width, tiling_.height),
                            tiles * tiles);
        // Eight blocks fit into a multiprocessor of a server GPU; 16 copies, which two lanes share, are
        // enough.
        constexpr unsigned kMostCounters = 17 * 1024 / sizeof(std::uint32_t);
        const auto entries = static_cast<unsigned>(histogram_entries<T>(params_.bins));
        args.copies = static_cast<int>(std::bit_floor(std::clamp(kMostCounters / entries, 1U, 16U)));
        const std::size_t histogram =
            std::size_t{entries} * static_cast<unsigned>(args.copies) * sizeof(std::uint32_t);
        count_kernel<T, kChannels><<<counting, kClaheThreads, histogram, stream>>>(args);
        check_launch("the histogram kernel of stage clahe");
        const unsigned across = tiles + 1;
        const dim3 applying(parts<T>(static_cast<int>(across * across), tiling_.width, tiling_.height),
                            across * across);
        apply_kernel<T, kChannels><<<applying, kClaheThreads, table_bytes<T>(), stream>>>(args);
        check_launch("the blending kernel of stage clahe");
    }

    ClaheParams params_;
    ClaheTiling tiling_;
    int processors_ = 1;
    Buffer counts_, done_, mappings_, range_, cells_;
};

} // namespace

std::unique_ptr<DeviceStage> make_clahe_device(const Params& params) {
    return std::make_unique<ClaheDevice>(params);
}

} // namespace specklescope
