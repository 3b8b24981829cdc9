// Stage convolve on the host.
#include "stages/convolve/convolve.hpp"

#include "stages/convolve/host_convolution.hpp"

#include <optional>

namespace specklescope {

namespace {

class ConvolveHost final : public HostStage {
public:
    explicit ConvolveHost(const Params& params) : params_(params.as<ConvolveParams>()) {}

    Shape prepare(const Shape& input) override {
        convolution_.reset(); // its memory goes before the next is asked for
        convolution_.emplace(input, make_kernel(params_, input), convolve_border(params_.border),
                             convolve_budget(params_));
        return convolution_->output();
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        convolution_->run(input, output);
    }

    void set_params(const Params&) override {} // all of Cost::rebuild
    std::string note() const override { return convolution_ ? convolution_->note() : std::string(); }

private:
    ConvolveParams params_;
    std::optional<HostConvolution> convolution_;
};

} // namespace

std::unique_ptr<HostStage> make_convolve_host(const Params& params) {
    return std::make_unique<ConvolveHost>(params);
}

} // namespace specklescope
