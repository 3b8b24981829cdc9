// Gaussian blur by transforms: the taps of direct in one step. The cost depends on the image and hardly on
// sigma.
#include "stages/convolve/host_convolution.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/history.hpp"

#include <optional>

namespace specklescope {

namespace {

class GaussianFftHost final : public HostStage {
public:
    explicit GaussianFftHost(const GaussianParams& params) : params_(params) {
        params_.method = GaussianParams::Method::fft; // automatic is decided
    }

    Shape prepare(const Shape& input) override {
        const Shape output = gaussian_shape(params_, input);
        const std::vector<double> taps = gaussian_taps(params_);
        const int side = static_cast<int>(taps.size());
        ConvolveKernel kernel{side, side, 1, {}};
        kernel.weights.reserve(taps.size() * taps.size());
        for (const double down : taps)
            for (const double across : taps)
                kernel.weights.push_back(static_cast<float>(down * across));
        convolution_.reset();
        convolution_.emplace(input, kernel, params_.border,
                             convolution_budget(0, available_host_memory(), input, "this machine"));
        if (params_.border == Border::omit)
            convolution_->set_gains(inverse(gaussian_tap_norms(taps, input.width)),
                                    inverse(gaussian_tap_norms(taps, input.height)));
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        convolution_->run(input, output);
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    std::string note() const override { return convolution_ ? convolution_->note() : std::string(); }

private:
    static std::vector<float> inverse(const std::vector<double>& norms) {
        std::vector<float> gains;
        gains.reserve(norms.size());
        for (const double norm : norms)
            gains.push_back(static_cast<float>(1 / norm));
        return gains;
    }

    GaussianParams params_;
    std::optional<HostConvolution> convolution_;
};

} // namespace

std::unique_ptr<HostStage> make_gaussian_fft_host(const GaussianParams& params) {
    return std::make_unique<GaussianFftHost>(params);
}

} // namespace specklescope
