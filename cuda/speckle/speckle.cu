// The device side of stage speckle: choice of kernel, number of strips, coefficients.
#include "cuda/sequence.hpp"
#include "cuda/speckle/speckle_ages.hpp"
#include "cuda/speckle/speckle_launch.hpp"
#include "pipeline/counts.hpp"
#include "stages/speckle/speckle.hpp"

#include <algorithm>
#include <cmath>
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
        const int columns = strip_columns(params_.radius);
        strips_across_ = (input.width + columns - 1) / columns;
        warps_ = 2 * std::max(1, blocks) * processors_ * (kSpeckleThreads / 32);
        overlaps_ = can_overlap(kernel.direct);
        kernel_ = kernel;
        input_ = input;
        correlation_ = window_correlation(params_.radius, params_.extras.speckle_size);
        return output;
    }

    void count_over(int frames) override { ages_ = frames > 1 ? SpeckleAges(input_, frames) : SpeckleAges(); }
    void reset() override { ages_.reset(); }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const StageRun<Space::device> frame{input, output, context};
        run_together({&frame, 1});
    }

    bool run_together(DeviceRuns frames) override {
        const auto& [input, output, context] = frames[0];
        const ContrastScale scale = speckle_scale(params_, context.info);
        SpeckleFinishArgs args{};
        ContrastFinish& finish = args.finish;
        finish = speckle_finish<Space::device>(params_, correlation_, input.shape.type, context.info, output,
                                               context.also);
        args.frames = FrameAddresses("speckle", frames);
        args.input_pitch = static_cast<int>(input.pitch); // at most 65536 pixels
        args.output_pitch = static_cast<int>(output.pitch);
        args.width = input.shape.width;
        args.height = input.shape.height;
        args.out_width = output.shape.width;
        args.out_height = output.shape.height;
        args.x_offset = args.y_offset = params_.border == Border::crop ? params_.radius : 0;
        args.strips_across = strips_across_;
        args.strip_rows = strip_rows(output.shape.height, args.frames.count);
        args.strips_down = (args.out_height + args.strip_rows - 1) / args.strip_rows;
        args.border =
            params_.border == Border::crop ? Border::replicate : speckle_inner_border(params_.border);
        args.form = scale.form;
        args.coefficient = static_cast<float>(scale.c);
        constexpr float kAboveIntegers = 65536; // NaN is not an integer
        const std::optional<double> threshold = saturation_threshold(input.shape.type, context.info);
        args.full_scale = threshold && !ages_.counts()         ? static_cast<float>(*threshold)
                          : input.shape.type == PixelType::f32 ? NAN
                                                               : kAboveIntegers;

        constexpr int per_block = kSpeckleThreads / 32;
        // The previous work may be a kernel: of the frame before or of another stage.
        const dim3 blocks(static_cast<unsigned>(strips_across_),
                          static_cast<unsigned>((args.strips_down + per_block - 1) / per_block),
                          static_cast<unsigned>(frames.size()));
        const Sequence sequence{static_cast<cudaStream_t>(context.stream), overlaps_};
        constexpr const char* name = "the kernel of stage speckle";
        if (finish.count > 0)
            sequence.next(name, {blocks, kSpeckleThreads}, kernel_.finish, args);
        else
            sequence.next(name, {blocks, kSpeckleThreads}, kernel_.direct,
                          static_cast<const SpeckleArgs&>(args));
        if (ages_.counts())
            ages_.run(frames, args.frames, {.radius = params_.radius, .offset = args.x_offset});
        if (params_.border == Border::omit)
            run_omit(frames, finish);
        return true;
    }

    void set_params(const Params& params) override { params_ = params.as<SpeckleParams>(); }
    Counted counted() const override { return {.undefined = true, .saturated = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    /// About two strips for every resident warp, within a useful length, and long enough that the 2·radius
    /// rows at their start do not dominate (lengths measured on an H200). The sums of f32 depend on the
    /// strips, which are therefore those of a single frame.
    int strip_rows(int height, int frames) const {
        const bool real = input_.type == PixelType::f32;
        const int strips_down = std::max(1, warps_ / (strips_across_ * (real ? 1 : frames)));
        const int rows = (height + strips_down - 1) / strips_down;
        const int longest = real ? 24 + params_.radius : 12 + params_.radius * 5 / 4;
        const int step = real ? kRowsAhead<float> : kRowsAhead<std::uint16_t>;
        const int shortest = params_.radius < 8 ? 3 : 6;
        return (std::clamp(rows, shortest, longest) + step - 1) / step * step;
    }

    void run_omit(DeviceRuns frames, ContrastFinish& finish) const {
        const auto& [input, output, context] = frames[0];
        if (finish.count == 0) {
            finish.samples = 2;
            finish.add(params_.output, params_.exposure_ms, context.info, output.data, output.pitch);
        }
        for (const StageRun<Space::device>& frame : frames) {
            finish.images[0].data = frame.output.data;
            run_speckle_omit(frame.input, params_.radius, finish, frame.context.counts,
                             static_cast<cudaStream_t>(context.stream));
        }
    }

    SpeckleParams params_;
    int processors_ = 0;
    int strips_across_ = 1;
    int warps_ = 1; ///< two for each that the GPU holds
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
