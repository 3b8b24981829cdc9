// Gaussian blur on the host: the method is chosen once the shape is known.
#include "stages/gaussian/gaussian_host.hpp"

namespace specklescope {

namespace {

class GaussianHost final : public HostStage {
public:
    explicit GaussianHost(const GaussianParams& params) : params_(params) {}

    /// Every parameter is of Cost::rebuild.
    void set_params(const Params&) override {}

    Shape prepare(const Shape& input) override {
        const GaussianParams::Method method = gaussian_method(params_, input, Space::host);
        method_ = make(method);
        const Shape output = method_->prepare(input);
        note_ = gaussian_note(params_, method);
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        method_->run(input, output, context);
    }

    std::string note() const override {
        const std::string more = method_ ? method_->note() : std::string();
        return more.empty() ? note_ : note_ + ", " + more;
    }

private:
    std::unique_ptr<HostStage> make(GaussianParams::Method method) const {
        if (method == GaussianParams::Method::fft)
            return make_gaussian_fft_host(params_);
        if (method == GaussianParams::Method::recursive)
            return make_gaussian_recursive_host(params_);
        return make_gaussian_direct_host(params_);
    }

    GaussianParams params_;
    std::unique_ptr<HostStage> method_;
    std::string note_;
};

} // namespace

std::unique_ptr<HostStage> make_gaussian_host(const Params& params) {
    return std::make_unique<GaussianHost>(params.as<GaussianParams>());
}

} // namespace specklescope
