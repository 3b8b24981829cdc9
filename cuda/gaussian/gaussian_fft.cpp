// Method fft of stage gaussian on the device: the taps' spectrum is a product of two real lines.
#include "cuda/convolve/convolution.hpp"
#include "cuda/defined_filter.hpp"
#include "stages/gaussian/gaussian.hpp"

namespace specklescope {

namespace {

using namespace cuda;

class GaussianFftDevice final : public DeviceStage {
public:
    explicit GaussianFftDevice(const GaussianParams& params) : params_(params) {}

    Shape prepare(const Shape& input) override {
        convolution_.reset(); // free its memory first
        const Shape output = gaussian_shape(params_, input);
        const std::vector<double> taps = gaussian_taps(params_);
        ConvolutionTask task;
        task.image = input;
        task.kernel_width = task.kernel_height = static_cast<int>(taps.size());
        task.border = params_.border;
        task.kernels = 0;
        convolution_ = make_convolution(task, 0);
        convolution_->set_separable(taps);
        if (params_.border == Border::omit)
            convolution_->set_divisors(gaussian_tap_norms(taps, input.width),
                                       gaussian_tap_norms(taps, input.height));
        filter_.prepare(input, output, gaussian_norm(params_, GaussianParams::Method::fft));
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const auto stream = static_cast<cudaStream_t>(context.stream);
        filter_.run(input, output, context.counts, stream,
                    [&](ConstDeviceView from, DeviceView to, const FilterGuard* guard) {
                        convolution_->run(from, to, stream, guard);
                    });
    }

    void set_params(const Params& params) override { params_ = params.as<GaussianParams>(); }
    std::string note() const override {
        return gaussian_note(params_, GaussianParams::Method::fft) + ", " + convolution_->note();
    }

private:
    GaussianParams params_;
    std::unique_ptr<Convolution> convolution_;
    DefinedFilter filter_;
};

} // namespace

std::unique_ptr<DeviceStage> make_gaussian_fft_device(const GaussianParams& params) {
    return std::make_unique<GaussianFftDevice>(params);
}

} // namespace specklescope
