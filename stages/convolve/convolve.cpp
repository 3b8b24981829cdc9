// Stage convolve on the host.
#include "stages/convolve/convolve.hpp"

#include "stages/convolve/host_convolution.hpp"
#include "stages/defined_filter.hpp"
#include "stages/history.hpp"
#include "stages/maker.hpp"

#include <optional>

namespace specklescope {

namespace {

using Kernel = ConvolveParams::Kernel;
template <Kernel K> bool is(const ConvolveParams& params) { return params.kernel == K; }

void declare_kernels(Declare<ConvolveParams>& table) {
    table
        .choice(
            "kernel", &ConvolveParams::kernel, {"gaussian", "disk", "line", "glare", "file"},
            {.cost = Cost::rebuild,
             .doc =
                 "Kernel: Gaussian, disk of a defocused lens, line of a motion, glare of the eye, or a file"})
        .real("sigma", &ConvolveParams::sigma,
              {.unit = "px",
               .min = 0.3,
               .max = 1000,
               .logarithmic = true,
               .cost = Cost::rebuild,
               .visible = is<Kernel::gaussian>,
               .doc = "Standard deviation of the Gaussian, which is cut off at 4 sigma"})
        .real("radius", &ConvolveParams::radius,
              {.unit = "px",
               .min = 0.5,
               .max = 1000,
               .logarithmic = true,
               .cost = Cost::rebuild,
               .visible = is<Kernel::disk>,
               .doc = "Radius of the disk; fractions are allowed"})
        .real("length", &ConvolveParams::length,
              {.unit = "px",
               .min = 1,
               .max = 2000,
               .logarithmic = true,
               .cost = Cost::rebuild,
               .visible = is<Kernel::line>,
               .doc = "Length of the motion"})
        .real("angle", &ConvolveParams::angle,
              {.unit = "°",
               .min = -180,
               .max = 180,
               .cost = Cost::rebuild,
               .visible = is<Kernel::line>,
               .doc = "Direction of the motion, counterclockwise from the x axis"})
        .real("age", &ConvolveParams::age,
              {.unit = "years",
               .min = 1,
               .max = 100,
               .cost = Cost::rebuild,
               .visible = is<Kernel::glare>,
               .doc = "Age of the eye (CIE 146:2002)"})
        .real("cataract", &ConvolveParams::cataract,
              {.unit = "log(s)",
               .min = 0,
               .max = 1,
               .cost = Cost::rebuild,
               .visible = is<Kernel::glare>,
               .doc = "Additional scatter of a clouded lens, as the logarithm of the straylight parameter: 0 "
                      "clear, 0.3 twice, 1 ten times"})
        .real("pigment", &ConvolveParams::pigment,
              {.min = 0,
               .max = 1.2,
               .cost = Cost::rebuild,
               .visible = is<Kernel::glare>,
               .doc = "Pigmentation of the iris: 0 very dark, 0.5 brown, 1 light, 1.2 very light blue"})
        .real("degrees", &ConvolveParams::degrees,
              {.label = "Pixel angle",
               .unit = "°/px",
               .min = 0.0001,
               .max = 2,
               .logarithmic = true,
               .cost = Cost::rebuild,
               .visible = is<Kernel::glare>,
               .doc = "Visual angle of a pixel: the field of view divided by the image width"})
        .path("file", &ConvolveParams::file,
              {.label = "Kernel file",
               .cost = Cost::rebuild,
               .visible = is<Kernel::file>,
               .doc = "Kernel file: PNG or TIFF with 1 or 3 channels, or NPY. The centre is pixel side/2, "
                      "counted from 0"});
}

const ParamTable& convolve_table() {
    static const ParamTable table = [] {
        Declare<ConvolveParams> declare("stage convolve");
        declare_kernels(declare);
        return declare
            .integer("size", &ConvolveParams::size,
                     {.label = "Kernel size",
                      .unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .visible = [](const ConvolveParams& p) { return p.kernel != Kernel::file; },
                      .doc = "Longest side of the kernel. 0: as needed; for glare twice the image"})
            .boolean(
                "per_channel", &ConvolveParams::per_channel,
                {.cost = Cost::rebuild,
                 .visible = is<Kernel::file>,
                 .doc =
                     "Convolve each channel with its own channel of a colour kernel. Off: with their mean"})
            .boolean("normalize", &ConvolveParams::normalize,
                     {.label = "Normalise",
                      .cost = Cost::rebuild,
                      .doc = "Scale the kernel to sum 1, which keeps the brightness"})
            .choice(
                "border", &ConvolveParams::border,
                {{"replicate", "Repeat the edge"}, "reflect", {"wrap", "Opposite edge"}, {"zero", "Zeros"}},
                {.cost = Cost::rebuild, .doc = "Values outside the image"})
            .integer("memory", &ConvolveParams::memory,
                     {.label = "Memory limit",
                      .unit = "MB",
                      .min = 0,
                      .max = 1 << 20,
                      .cost = Cost::rebuild,
                      .doc = "Memory limit for transforms. Larger images are processed in tiles, which may "
                             "differ by rounding. 0: the free memory, less a reserve"})
            .table();
    }();
    return table;
}

} // namespace

namespace {

class ConvolveHost final : public HostStage {
public:
    explicit ConvolveHost(const Params& params, std::size_t (*free)() = available_host_memory)
        : params_(params.as<ConvolveParams>()), free_(free) {}

    Shape prepare(const Shape& input) override {
        convolution_.reset(); // free its memory before the next allocation
        const ConvolveKernel kernel = make_kernel(params_, input);
        convolution_.emplace(input, kernel, params_.border,
                             convolution_budget(params_.memory, free_(), input, "this machine"));
        filter_.prepare(input, convolution_->output(), filter_norm(kernel, params_.border));
        return convolution_->output();
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        filter_.run(input, output, context.counts,
                    [&](ConstHostView from, HostView to) { convolution_->run(from, to); });
    }
    Counted counted() const override { return {.undefined = true}; }

    void set_params(const Params&) override {} // all are Cost::rebuild
    std::string note() const override { return convolution_ ? convolution_->note() : std::string(); }

private:
    ConvolveParams params_;
    std::size_t (*free_)();
    std::optional<HostConvolution> convolution_;
    DefinedFilter filter_;
};

} // namespace

std::unique_ptr<HostStage> make_convolve_host(const Params& params, std::size_t (*free)()) {
    return std::make_unique<ConvolveHost>(params, free);
}

StageType convolve_stage() {
    return {
        .name = "convolve",
        .doc = "Convolution with a large kernel by FFT: blur, defocus, motion, glare, a file",
        .title = "Convolution",
        .group = StageGroup::averaging,
        .table = &convolve_table(),
        .tolerance = 1e-5,
        .make_host = host_maker<ConvolveHost>,
        .make_device = device_maker<make_convolve_device>,
        .science = "Convolution",
        .mixes = [](const Params&) { return true; },
        .scatters = [](const Params& params) { return params.as<ConvolveParams>().kernel == Kernel::glare; }};
}

} // namespace specklescope
