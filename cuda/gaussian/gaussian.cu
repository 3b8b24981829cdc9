// The device side of stage gaussian: choice of kernels and memory.
#include "cuda/defined_filter.hpp"
#include "cuda/device.hpp"
#include "cuda/gaussian/gaussian_launch.hpp"

#include <optional>

namespace specklescope {

namespace {

using namespace cuda;
using Method = GaussianParams::Method;

Buffer uploaded_inverses(const std::vector<double>& norms) {
    std::vector<float> inverses;
    for (const double norm : norms)
        inverses.push_back(static_cast<float>(1 / norm));
    return uploaded(inverses);
}

WalkKernel walk_kernel_of(const Shape& input, int radius) {
    const WalkKernels& kernels = input.type == PixelType::u8    ? walk_kernels_u8(input.channels)
                                 : input.type == PixelType::u16 ? walk_kernels_u16(input.channels)
                                                                : walk_kernels_f32(input.channels);
    return kernels[static_cast<std::size_t>(radius - 1)];
}

/// All methods except fft.
class GaussianDevice final : public DeviceStage {
public:
    GaussianDevice(const GaussianParams& params, Method method) : params_(params), method_(method) {}

    Shape prepare(const Shape& input) override {
        const Shape output = gaussian_shape(params_, input);
        memory_ = device_memory();
        images_ = {};
        images_.width = input.width;
        images_.height = input.height;
        images_.out_width = output.width;
        images_.out_height = output.height;
        images_.offset = params_.border == Border::crop ? gaussian_radius(params_) : 0;
        images_.border = params_.border;
        kernel_ = {};
        if (method_ == Method::recursive)
            prepare_recursive(input);
        else
            prepare_taps(input);
        if (!kernel_.kernel && !columns_)
            filter_.prepare(input, output, gaussian_norm(params_, method_));
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const StageRun<Space::device> frame{input, output, context};
        if (run_together({&frame, 1}))
            return;
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        if (columns_) {
            missing_.counts = context.counts;
            ++missing_.frame;
            launch_recursive({images_of(input, output), missing_, states_.as<float>()}, input.shape,
                             *columns_, *rows_, {stream, overlaps_});
            return;
        }
        filter_.run(input, output, context.counts, stream,
                    [&](ConstDeviceView from, DeviceView to, const FilterGuard* guard) {
                        BlurImages images = images_of(from, to);
                        images.guard = guard;
                        launch_passes(
                            {images, taps_.as<float>(), between_.as<float>(), between_pitch_, radius_},
                            from.shape.type, from.shape.channels, stream);
                    });
    }

    bool run_together(DeviceRuns frames) override {
        if (!kernel_.kernel)
            return false; // the other methods have memory for one frame
        const auto& [input, output, context] = frames[0];
        WalkArgs& args = frames.size() > 1 ? walk_together_ : walk_;
        args.images = images_of(input, output);
        args.frames = FrameAddresses("gaussian", frames);
        launch_walk(args, kernel_, {static_cast<cudaStream_t>(context.stream), overlaps_});
        return true;
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    std::string note() const override { return gaussian_note(params_, method_); }

private:
    BlurImages images_of(ConstDeviceView input, DeviceView output) const {
        BlurImages images = images_;
        images.input = input.data;
        images.output = output.data;
        images.input_pitch = static_cast<int>(input.pitch); // at most 65536 pixels
        images.output_pitch = static_cast<int>(output.pitch);
        return images;
    }

    void prepare_recursive(const Shape& input) {
        const RecursiveGaussian filter = recursive_gaussian(params_.sigma);
        columns_ = make_line_filter(filter, input.height, params_.border);
        rows_ = make_line_filter(filter, input.width, params_.border);
        const RecursivePlan plan = plan_recursive(input, columns_->border);
        states_ = Buffer(plan.memory * sizeof(float), memory_);
        overlaps_ = plan.overlaps;
        missing_ = {.norm = gaussian_norm(params_, method_)};
        if (input.type == PixelType::f32) {
            guard_ = Buffer(sizeof(RecursiveGuard), memory_);
            check(cudaMemset(guard_.as<void>(), 0, sizeof(RecursiveGuard)), "cudaMemset");
            missing_.guard = guard_.as<RecursiveGuard>();
        }
        if (params_.border == Border::omit)
            make_inverses(gaussian_recursive_norms(filter, input.width),
                          gaussian_recursive_norms(filter, input.height));
    }

    void prepare_taps(const Shape& input) {
        const std::vector<double> taps = gaussian_taps(params_);
        radius_ = static_cast<int>(taps.size()) / 2;
        if (params_.border == Border::omit)
            make_inverses(gaussian_tap_norms(taps, input.width), gaussian_tap_norms(taps, input.height));
        if (radius_ > kMaxWalkRadius) {
            std::vector<float> laid(pass_taps_size(radius_));
            lay_pass_taps(taps.data(), radius_, laid.data());
            taps_ = uploaded(laid);
            make_between(images_.out_width * input.channels, input.height);
            return;
        }
        const bool binomial = method_ == Method::binomial3 || method_ == Method::binomial5;
        kernel_ = binomial && input.type == PixelType::u8 && params_.border != Border::omit
                      ? binomial_kernel(radius_, input.channels)
                      : walk_kernel_of(input, radius_);
        overlaps_ = can_overlap(kernel_.kernel);
        walk_ = {};
        walk_.images = images_;
        for (int i = 0; i <= radius_; ++i)
            walk_.taps[i] = static_cast<float>(taps[static_cast<std::size_t>(radius_ + i)]);
        walk_.norm = gaussian_norm(params_, method_);
        walk_together_ = walk_;
        place_strips(walk_, kernel_, input.channels, radius_, 1);
        place_strips(walk_together_, kernel_, input.channels, radius_, kMostTogether);
    }

    void make_between(int samples, int rows) {
        between_pitch_ = (samples + 63) / 64 * 64;
        between_ =
            Buffer(static_cast<std::size_t>(between_pitch_) * static_cast<std::size_t>(rows) * sizeof(float),
                   memory_);
    }

    void make_inverses(const std::vector<double>& x, const std::vector<double>& y) {
        inverse_x_ = uploaded_inverses(x);
        inverse_y_ = uploaded_inverses(y);
        images_.inverse_x = inverse_x_.as<float>();
        images_.inverse_y = inverse_y_.as<float>();
    }

    GaussianParams params_;
    Method method_;
    std::shared_ptr<SlotMemory> memory_;
    BlurImages images_{}; ///< without the images given to run()
    Buffer inverse_x_, inverse_y_;
    // Taps, small windows:
    WalkKernel kernel_;
    WalkArgs walk_{}, walk_together_{}; ///< for one frame and for several
    bool overlaps_ = false;             ///< see Sequence; also recursive
    // Taps, large windows:
    int radius_ = 0;
    Buffer taps_, between_;
    int between_pitch_ = 0;
    // Recursive:
    std::optional<LineFilter> columns_, rows_;
    Buffer states_, guard_;
    RecursiveMissing missing_;
    DefinedFilter filter_;
};

/// Chooses by the input's shape and forwards all calls.
class GaussianChoice final : public DeviceStage {
public:
    explicit GaussianChoice(const Params& params) : params_(params.as<GaussianParams>()) {}

    Shape prepare(const Shape& input) override {
        const Method method = gaussian_method(params_, input, Space::device);
        if (method == Method::fft)
            stage_ = make_gaussian_fft_device(params_);
        else
            stage_ = std::make_unique<GaussianDevice>(params_, method);
        return stage_->prepare(input);
    }
    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        stage_->run(input, output, context);
    }
    bool run_together(DeviceRuns frames) override { return stage_->run_together(frames); }
    void set_params(const Params&) override {} // all are Cost::rebuild
    Counted counted() const override { return {.undefined = true}; }
    std::string note() const override { return stage_ ? stage_->note() : std::string(); }

private:
    GaussianParams params_;
    std::unique_ptr<DeviceStage> stage_;
};

} // namespace

std::unique_ptr<DeviceStage> make_gaussian_device(const Params& params) {
    return std::make_unique<GaussianChoice>(params);
}

} // namespace specklescope
