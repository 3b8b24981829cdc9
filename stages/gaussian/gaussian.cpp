// Gaussian blur on the host; the method is chosen when the shape is known.
#include "stages/gaussian/gaussian.hpp"

#include "stages/defined_filter.hpp"
#include "stages/maker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace specklescope {

namespace {

using Method = GaussianParams::Method;

bool is_binomial(Method method) { return method == Method::binomial3 || method == Method::binomial5; }

bool has_sigma(const GaussianParams& params) { return !is_binomial(params.method); }

bool has_radius(const GaussianParams& params) {
    return !is_binomial(params.method) &&
           (params.method != Method::recursive || params.border == Border::crop);
}

/// True if the recursive filter is clearly faster than the taps; otherwise the exact result is preferred.
/// Host: measured at 3840×2160, one thread; equal at sigma 2.4 (u8), 3.7 (u16), 4.2 (f32), for one or three
/// channels.
bool recursive_pays_on_host(double sigma, const Shape& input) {
    return sigma >= (input.type == PixelType::u8 ? 3 : input.type == PixelType::u16 ? 4 : 5);
}

/// Device, measured on an H200 in µs for M million samples, any type: taps up to radius 8 need one pass and
/// are always faster; above, two passes take 8.5 + (10.5 + 0.2·radius)·M, the recursive filter 22 + 5.3·M.
bool recursive_pays_on_device(int radius, const Shape& input) {
    const double samples = static_cast<double>(input.pixels()) * input.channels * 1e-6;
    return radius > 8 && samples * (5.2 + 0.2 * radius) > 13.5;
}

const ParamTable& gaussian_table() {
    static const ParamTable table =
        Declare<GaussianParams>("stage gaussian")
            .real("sigma", &GaussianParams::sigma,
                  {.unit = "px",
                   .min = 0.3,
                   .max = 200,
                   .logarithmic = true,
                   .cost = Cost::rebuild,
                   .visible = has_sigma,
                   .doc = "Standard deviation of the Gaussian"})
            .choice("method", &GaussianParams::method,
                    {"auto",
                     "direct",
                     "recursive",
                     {"fft", "Fourier transform"},
                     {"binomial3", "Binomial 3×3"},
                     {"binomial5", "Binomial 5×5"}},
                    {.cost = Cost::rebuild,
                     .doc = "Method. direct, fft: exact. recursive: approximate, cost independent of sigma. "
                            "binomial3, binomial5: small fixed kernels. auto: direct or recursive, whichever "
                            "is faster"})
            .integer("radius", &GaussianParams::radius,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxGaussianRadius,
                      .cost = Cost::rebuild,
                      .visible = has_radius,
                      .doc = "Radius at which the Gaussian is cut off. 0: 4 sigma"})
            .choice("border", &GaussianParams::border,
                    {{"replicate", "Repeat the edge"},
                     "reflect",
                     {"wrap", "Opposite edge"},
                     {"zero", "Zeros"},
                     {"omit", "Only existing pixels"},
                     {"crop", "Smaller image"}},
                    {.cost = Cost::rebuild,
                     .doc = "Values outside the image. omit: use only existing pixels. crop: smaller image "
                            "of whole windows"})
            .table();
    return table;
}

} // namespace

int gaussian_radius(const GaussianParams& params) {
    if (is_binomial(params.method))
        return params.method == Method::binomial3 ? 1 : 2;
    return params.radius > 0 ? params.radius : static_cast<int>(std::floor(4 * params.sigma + 0.5));
}

std::vector<double> gaussian_taps(const GaussianParams& params) {
    if (params.method == Method::binomial3)
        return {0.25, 0.5, 0.25};
    if (params.method == Method::binomial5)
        return {0.0625, 0.25, 0.375, 0.25, 0.0625};
    const int radius = gaussian_radius(params);
    std::vector<double> taps;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i) {
        taps.push_back(std::exp(-0.5 * i * i / (params.sigma * params.sigma)));
        sum += taps.back();
    }
    for (double& tap : taps)
        tap /= sum;
    return taps;
}

Shape gaussian_shape(const GaussianParams& params, const Shape& input) {
    if (params.border != Border::crop)
        return input;
    const int radius = gaussian_radius(params);
    const int side = std::min(input.width, input.height);
    if (2 * radius + 1 > side)
        throw UsageError("stage gaussian: border = crop leaves nothing of an image of " +
                         std::to_string(input.width) + "×" + std::to_string(input.height) +
                         " pixels with a radius of " + std::to_string(radius) + " px; allowed: up to " +
                         std::to_string((side - 1) / 2) + " px, take a smaller sigma or radius.");
    Shape output = input;
    output.width -= 2 * radius;
    output.height -= 2 * radius;
    return output;
}

GaussianParams::Method gaussian_method(const GaussianParams& params, const Shape& input, Space space) {
    if (params.method != Method::automatic)
        return params.method;
    if (params.radius != 0) // the recursive filter cannot truncate the Gaussian
        return Method::direct;
    const bool pays = space == Space::host ? recursive_pays_on_host(params.sigma, input)
                                           : recursive_pays_on_device(gaussian_radius(params), input);
    return pays ? Method::recursive : Method::direct;
}

FilterNorm gaussian_norm(const GaussianParams& params, GaussianParams::Method method) {
    FilterNorm norm;
    norm.zeros_outside = params.border == Border::zero;
    norm.least = method == Method::recursive || method == Method::fft ? kLeastWeight : 0;
    return norm;
}

std::string gaussian_note(const GaussianParams& params, GaussianParams::Method method) {
    const std::string name = gaussian_table().at("method").choices[static_cast<std::size_t>(method)];
    return params.method == Method::automatic ? name + " (auto)" : name;
}

std::vector<double> gaussian_tap_norms(const std::vector<double>& taps, int size) {
    const int radius = static_cast<int>(taps.size()) / 2;
    std::vector<double> norms;
    for (int x = 0; x < size; ++x) {
        const int first = std::max(0, radius - x);
        const int last = std::min(2 * radius, radius + size - 1 - x);
        norms.push_back(std::accumulate(taps.begin() + first, taps.begin() + last + 1, 0.0));
    }
    return norms;
}

namespace {

class GaussianHost final : public HostStage {
public:
    explicit GaussianHost(const Params& params) : params_(params.as<GaussianParams>()) {}

    /// All parameters are Cost::rebuild.
    void set_params(const Params&) override {}

    Shape prepare(const Shape& input) override {
        const GaussianParams::Method method = gaussian_method(params_, input, Space::host);
        method_ = make(method);
        const Shape output = method_->prepare(input);
        filter_.prepare(input, output, gaussian_norm(params_, method));
        note_ = gaussian_note(params_, method);
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        filter_.run(input, output, context.counts,
                    [&](ConstHostView from, HostView to) { method_->run(from, to, context); });
    }
    Counted counted() const override { return {.undefined = true}; }

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
    DefinedFilter filter_;
    std::string note_;
};

} // namespace

StageType gaussian_stage() {
    return {.name = "gaussian",
            .doc = "Gaussian blur: direct, recursive (Young, van Vliet 1995), by FFT, or small binomial",
            .title = "Gaussian blur",
            .group = StageGroup::averaging,
            .table = &gaussian_table(),
            .tolerance = 1e-5,
            .make_host = host_maker<GaussianHost>,
            .make_device = device_maker<make_gaussian_device>,
            .mixes = [](const Params&) { return true; }};
}

} // namespace specklescope
