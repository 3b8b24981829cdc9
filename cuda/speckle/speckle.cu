// The device side of stage speckle: choice of kernel, number of strips, coefficients.
#include "cuda/sequence.hpp"
#include "cuda/speckle/speckle_ages.hpp"
#include "cuda/speckle/speckle_launch.hpp"
#include "pipeline/counts.hpp"
#include "stages/speckle/speckle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace specklescope {

namespace {

using namespace cuda;

SpeckleKernel kernel_of(PixelType type, int radius) {
    const SpeckleKernels& kernels = type == PixelType::u8    ? speckle_kernels_u8()
                                    : type == PixelType::u16 ? speckle_kernels_u16()
                                                             : speckle_kernels_f32();
    return kernels.at(static_cast<std::size_t>(radius - 1));
}

class SpeckleDevice final : public DeviceStage {
public:
    explicit SpeckleDevice(const Params& params) : params_(params.as<SpeckleParams>()) {
        int device = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device),
              "cudaDeviceGetAttribute");
    }

    Shape prepare(const Shape& input) override {
        const Shape output = speckle_shape(params_, input);
        const SpeckleKernel kernel = kernel_of(input.type, params_.radius);
        int blocks = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.direct, kSpeckleThreads, 0),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        // About two strips for every resident warp, within a useful length, and long enough that the 2·radius
        // rows at their start do not dominate (lengths measured on an H200).
        const int columns = strip_columns(params_.radius);
        strips_across_ = (input.width + columns - 1) / columns;
        const int warps = 2 * std::max(1, blocks) * processors_ * (kSpeckleThreads / 32);
        const int strips_down = std::max(1, warps / strips_across_);
        const int rows = (output.height + strips_down - 1) / strips_down;
        const int longest = input.type == PixelType::f32 ? 24 + params_.radius : 12 + params_.radius * 5 / 4;
        const int step = input.type == PixelType::f32 ? kRowsAhead<float> : kRowsAhead<std::uint16_t>;
        const int shortest = params_.radius < 8 ? 3 : 6;
        strip_rows_ = (std::clamp(rows, shortest, longest) + step - 1) / step * step;
        cudaFuncAttributes code{};
        check(cudaFuncGetAttributes(&code, kernel.direct), "cudaFuncGetAttributes");
        overlaps_ = code.ptxVersion >= 90;
        kernel_ = kernel;
        input_ = input;
        correlation_ = window_correlation(params_.radius, params_.extras.speckle_size);
        return output;
    }

    void count_over(int frames) override { ages_ = frames > 1 ? SpeckleAges(input_, frames) : SpeckleAges(); }
    void reset() override { ages_.reset(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const ContrastScale scale = speckle_scale(params_, context.info);
        SpeckleFinishArgs args{};
        ContrastFinish& finish = args.finish;
        finish = speckle_finish<Space::device>(params_, correlation_, input.shape.type, context.info, output,
                                               context.also);
        args.input = input.data;
        args.input_pitch = static_cast<int>(input.pitch); // at most 65536 pixels
        args.output = output.data;
        args.output_pitch = static_cast<int>(output.pitch);
        args.width = input.shape.width;
        args.height = input.shape.height;
        args.out_width = output.shape.width;
        args.out_height = output.shape.height;
        args.x_offset = args.y_offset = params_.border == Border::crop ? params_.radius : 0;
        args.strips_across = strips_across_;
        args.strips_down = (args.out_height + strip_rows_ - 1) / strip_rows_;
        args.strip_rows = strip_rows_;
        args.border =
            params_.border == Border::crop ? Border::replicate : speckle_inner_border(params_.border);
        args.form = scale.form;
        args.coefficient = static_cast<float>(scale.c);
        constexpr float kAboveIntegers = 65536; // NaN is not an integer
        const std::optional<double> threshold = saturation_threshold(input.shape.type, context.info);
        args.full_scale = threshold && !ages_.counts()         ? static_cast<float>(*threshold)
                          : input.shape.type == PixelType::f32 ? NAN
                                                               : kAboveIntegers;
        args.counts = context.counts;
        if (misaligned(input.data, input.pitch) || misaligned(output.data, output.pitch) ||
            std::any_of(context.also.begin(), context.also.end(),
                        [](const DeviceView& image) { return misaligned(image.data, image.pitch); }))
            throw DeviceError("stage speckle: rows of device images must start on 16 bytes.");

        constexpr int per_block = kSpeckleThreads / 32;
        // The previous work may be a kernel: of the frame before or of another stage.
        const dim3 blocks(static_cast<unsigned>(strips_across_),
                          static_cast<unsigned>((args.strips_down + per_block - 1) / per_block));
        const Sequence sequence{static_cast<cudaStream_t>(context.stream), overlaps_};
        constexpr const char* name = "the kernel of stage speckle";
        if (finish.count > 0)
            sequence.next(name, {blocks, kSpeckleThreads}, kernel_.finish, args);
        else
            sequence.next(name, {blocks, kSpeckleThreads}, kernel_.direct,
                          static_cast<const SpeckleArgs&>(args));
        if (ages_.counts())
            ages_.run(input, output.shape, {.radius = params_.radius, .offset = args.x_offset}, context);
        if (params_.border == Border::omit) {
            if (finish.count == 0) {
                finish.samples = 2;
                finish.add(params_.output, params_.exposure_ms, context.info, output.data, output.pitch);
            }
            run_speckle_omit(input, params_.radius, finish, context.counts,
                             static_cast<cudaStream_t>(context.stream));
        }
    }

    void set_params(const Params& params) override { params_ = params.as<SpeckleParams>(); }
    Counted counted() const override { return {.undefined = true, .saturated = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    static bool misaligned(const std::byte* data, std::size_t pitch) {
        return (reinterpret_cast<std::uintptr_t>(data) | pitch) % 16 != 0;
    }

    SpeckleParams params_;
    int processors_ = 0;
    int strips_across_ = 1;
    int strip_rows_ = 1;
    SpeckleKernel kernel_{};
    WindowCorrelation correlation_;
    Shape input_;
    SpeckleAges ages_;
    bool overlaps_ = false; ///< see Sequence
};

} // namespace

std::unique_ptr<DeviceStage> make_speckle_device(const Params& params) {
    return std::make_unique<SpeckleDevice>(params);
}

} // namespace specklescope
