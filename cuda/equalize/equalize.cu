// The device side of stage equalize: choice of kernels, number of blocks and counters.
#include "cuda/device.hpp"
#include "cuda/equalize/equalize_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace specklescope {

namespace {

using namespace cuda;

/// Counters in shared memory: as many copies of the bins as fit, or several passes over them.
struct Counters {
    std::uint32_t span, copies, passes;
    std::size_t bytes() const { return std::size_t{span} * copies * sizeof(std::uint32_t); }
};

Counters counters_for(std::uint32_t bins, std::uint32_t most) {
    if (bins > kFewCounters) {
        const std::uint32_t passes = (bins + most - 1) / most;
        return {(bins + passes - 1) / passes, 1, passes};
    }
    const std::uint32_t room = std::min(most, bins > 256 ? 2 * kFewCounters : kFewCounters);
    return {bins, std::bit_floor(std::min(32U, room / bins)), 1};
}

class EqualizeDevice final : public DeviceStage {
public:
    explicit EqualizeDevice(const Params& params) : params_(params.as<EqualizeParams>()) {
        int device = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device),
              "cudaDeviceGetAttribute");
        check(cudaDeviceGetAttribute(&shared_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "cudaDeviceGetAttribute");
    }

    void set_params(const Params& params) override { params_ = params.as<EqualizeParams>(); }

    std::string note() const override { return equalize_note(bins_, type_); }

    Shape prepare(const Shape& input) override {
        const Shape output = equalize_shape(input);
        bins_ = params_.bins;
        kernels_ = equalize_kernels(input.type, input.channels);
        type_ = input.type;
        constexpr int kStatic = 1024; // more than the count kernel's own shared memory
        most_counters_ = static_cast<std::uint32_t>(shared_bytes_ - kStatic) / sizeof(std::uint32_t);
        check(cudaFuncSetAttribute(kernels_.count, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes_ - kStatic),
              "cudaFuncSetAttribute");
        if (kernels_.range)
            range_blocks_ = blocks_of(kernels_.range, 0);
        map_blocks_ = blocks_of(kernels_.map, 0);
        choose_counters(input.type == PixelType::f32 ? static_cast<std::uint32_t>(bins_)
                                                     : level_bins(bins_, input.type, 0).bins);
        allocate(input);
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        if (misaligned(input.data, input.pitch) || misaligned(output.data, output.pitch))
            throw DeviceError("stage equalize: rows of device images must start on 16 bytes.");
        EqualizeArgs args{};
        args.input = input.data;
        args.output = output.data;
        args.input_pitch = input.pitch;
        args.output_pitch = output.pitch;
        args.width = input.shape.width;
        args.height = input.shape.height;
        args.bins = static_cast<std::uint32_t>(bins_);
        if (input.shape.type != PixelType::f32) {
            args.levels = level_bins(bins_, input.shape.type, context.info.full_scale);
            args.bins = args.levels.bins;
        }
        if (args.bins != counted_bins_) // the camera's full scale has changed
            choose_counters(args.bins);
        args.weight = equalize_weight(params_.strength);
        args.scaling = params_.scaling;
        args.span = counters_.span;
        args.copies = counters_.copies;
        args.counts = counts_.as<std::uint32_t>();
        args.cumulative = cumulative_.as<std::uint32_t>();
        args.state = state_.as<EqualizeState>();
        args.table = table_.as<void>();
        launch(args, static_cast<cudaStream_t>(context.stream));
    }

private:
    static bool misaligned(const std::byte* data, std::size_t pitch) {
        return (reinterpret_cast<std::uintptr_t>(data) | pitch) % 16 != 0;
    }

    /// Blocks that the device runs at the same time.
    int blocks_of(void (*kernel)(EqualizeArgs), std::size_t shared_bytes) const {
        int blocks = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kEqualizeThreads, shared_bytes),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        return std::max(1, blocks) * processors_;
    }

    void choose_counters(std::uint32_t bins) {
        // Bytes are counted by level and combined to bins afterwards.
        counters_ = type_ == PixelType::u8 ? Counters{256, 32, 1} : counters_for(bins, most_counters_);
        counted_bins_ = bins;
        count_blocks_ =
            std::max(1, blocks_of(kernels_.count, counters_.bytes()) / static_cast<int>(counters_.passes));
    }

    void allocate(const Shape& input) {
        const std::shared_ptr<SlotMemory> memory = device_memory();
        const std::size_t counts =
            (static_cast<std::size_t>(bins_) + kScanBins - 1) / kScanBins * kScanBins * sizeof(std::uint32_t);
        const std::size_t levels = input.type == PixelType::u8 ? 257 : 65536; // 257: see EqualizeArgs::table
        const std::size_t entries = input.type == PixelType::f32 ? static_cast<std::size_t>(bins_) : levels;
        counts_ = Buffer(counts, memory);
        cumulative_ = Buffer(counts, memory);
        table_ = Buffer(entries * sizeof(std::uint32_t), memory);
        state_ = Buffer(sizeof(EqualizeState), memory);
        check(cudaMemset(counts_.as<void>(), 0, counts), "cudaMemset");
        const EqualizeState state{0xFFFFFFFFU, 0, 0, 0, {}};
        check(cudaMemcpy(state_.as<void>(), &state, sizeof state, cudaMemcpyHostToDevice), "cudaMemcpy");
        // The frames' stream does not wait for the default stream.
        check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    }

    void launch(const EqualizeArgs& args, cudaStream_t stream) const {
        const int group = 32 * (16 / static_cast<int>(pixel_bytes(type_))); // pixels of a warp
        const int groups = (args.width + group - 1) / group;
        const auto blocks = [&](int most) { // at most as many as warps with work
            const std::int64_t warps = static_cast<std::int64_t>(groups) * args.height;
            constexpr int kWarps = kEqualizeThreads / 32;
            return static_cast<unsigned>(std::min<std::int64_t>(most, (warps + kWarps - 1) / kWarps));
        };
        if (kernels_.range) {
            kernels_.range<<<blocks(range_blocks_), kEqualizeThreads, 0, stream>>>(args);
            check_launch("the range kernel of stage equalize");
        }
        kernels_.count<<<dim3(blocks(count_blocks_), counters_.passes), kEqualizeThreads, counters_.bytes(),
                         stream>>>(args);
        check_launch("the counting kernel of stage equalize");
        kernels_.map<<<blocks(map_blocks_), kEqualizeThreads, 0, stream>>>(args);
        check_launch("the mapping kernel of stage equalize");
    }

    EqualizeParams params_;
    int processors_ = 0;
    int shared_bytes_ = 0;
    int bins_ = 2; ///< as prepared
    PixelType type_ = PixelType::u8;
    EqualizeKernels kernels_{};
    std::uint32_t most_counters_ = 0;
    std::uint32_t counted_bins_ = 0; ///< bins that counters_ is for
    Counters counters_{};
    int range_blocks_ = 1, count_blocks_ = 1, map_blocks_ = 1;
    Buffer counts_, cumulative_, table_, state_;
};

} // namespace

std::unique_ptr<DeviceStage> make_equalize_device(const Params& params) {
    return std::make_unique<EqualizeDevice>(params);
}

} // namespace specklescope
