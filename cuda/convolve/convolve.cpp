// The device side of stage convolve.
#include "cuda/convolve/convolution.hpp"
#include "cuda/defined_filter.hpp"

namespace specklescope {

namespace {

using namespace cuda;

class ConvolveDevice final : public DeviceStage {
public:
    explicit ConvolveDevice(const Params& params) : params_(params.as<ConvolveParams>()) {}

    Shape prepare(const Shape& input) override {
        convolution_.reset(); // free its memory first
        ConvolutionTask task;
        task.image = input;
        task.border = params_.border;
        const Stream stream;
        FilterNorm norm;
        if (params_.kernel == ConvolveParams::Kernel::file) {
            const ConvolveKernel kernel = make_kernel(params_, input);
            task.kernel_width = kernel.width;
            task.kernel_height = kernel.height;
            task.kernels = kernel.channels;
            convolution_ = make_convolution(task, params_.memory);
            make_weight_spectra(kernel, *convolution_, stream.get());
            norm = filter_norm(kernel, params_.border);
        } else {
            const KernelFormula formula = kernel_formula(params_, input);
            task.kernel_width = formula.width;
            task.kernel_height = formula.height;
            convolution_ = make_convolution(task, params_.memory);
            const double sum = make_formula_spectrum(formula, params_.normalize, *convolution_, stream.get());
            norm = formula_norm(sum, params_.border);
        }
        filter_.prepare(input, input, norm);
        return input;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const auto stream = static_cast<cudaStream_t>(context.stream);
        filter_.run(input, output, context.counts, stream,
                    [&](ConstDeviceView from, DeviceView to, const FilterGuard* guard) {
                        convolution_->run(from, to, stream, guard);
                    });
    }

    Counted counted() const override { return {.undefined = true}; }
    void set_params(const Params& params) override { params_ = params.as<ConvolveParams>(); }
    std::string note() const override { return convolution_->note(); }

private:
    ConvolveParams params_;
    std::unique_ptr<Convolution> convolution_;
    DefinedFilter filter_;
};

} // namespace

std::unique_ptr<DeviceStage> make_convolve_device(const Params& params) {
    return std::make_unique<ConvolveDevice>(params);
}

} // namespace specklescope
