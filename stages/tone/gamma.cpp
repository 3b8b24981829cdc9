// Power law on the host: a look-up table for integers, one pow per sample for f32; bands of rows in parallel.
#include "stages/tone/gamma.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"

#include <algorithm>

namespace specklescope {

namespace {

const ParamTable& gamma_table() {
    static const ParamTable table =
        Declare<GammaParams>("stage gamma")
            .real("gamma", &GammaParams::gamma,
                  {.min = GammaParams::kMin,
                   .max = GammaParams::kMax,
                   .logarithmic = true,
                   .doc = "Exponent of v/full scale: below 1 brightens, above 1 darkens"})
            .table();
    return table;
}

bool gamma_passes(const Params& params) { return params.as<GammaParams>().gamma == 1; }

/// A power of an intensity is no longer a measurement.
Quantity gamma_quantity(const Params& params, const Quantity& input) {
    const std::string mark = "^γ";
    if (gamma_passes(params) || input.symbol.ends_with(mark))
        return input;
    return {"gamma-corrected " + input.name, input.symbol + mark, "a.u.", Measure::other};
}

class GammaHost final : public HostStage {
public:
    explicit GammaHost(const Params& params) : params_(params.as<GammaParams>()) {}

    Shape prepare(const Shape& input) override {
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        levels_full_scale_ = 0;
        return input;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const PixelType type = input.shape.type;
        const GammaCurve curve = gamma_curve(params_, context.info);
        if (type != PixelType::f32)
            make_levels(type, gamma_full_scale(type, context.info));
        std::fill(slots_.begin(), slots_.end(), SlotCounts{});
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            PixelCounts& counts = slots_[static_cast<std::size_t>(slot)].counts;
            dispatch(type, [&](auto zero) {
                using T = decltype(zero);
                for (int y = rows.begin; y < rows.end; ++y)
                    map_row(input.as<T>().row(y), output.as<T>().row(y), input.shape, curve, counts);
            });
        });
        add_counts(slots_, context.counts);
    }

    Counted counted() const override { return {.undefined = true}; }

    void set_params(const Params& params) override {
        params_ = params.as<GammaParams>();
        levels_full_scale_ = 0;
    }

private:
    template <class T> void map_row(const T* in, T* out, const Shape& shape, const GammaCurve& curve,
                                    PixelCounts& counts) const {
        const int samples = shape.width * shape.channels;
        if constexpr (std::is_integral_v<T>) {
            for (int x = 0; x < samples; ++x)
                out[x] = static_cast<T>(levels_[in[x]]);
        } else {
            std::transform(in, in + samples, out, curve);
            count_undefined(out, shape.width, shape.channels, counts);
        }
    }

    void make_levels(PixelType type, double full_scale) {
        if (levels_full_scale_ == full_scale)
            return;
        levels_ = gamma_levels(params_, type, full_scale);
        levels_full_scale_ = full_scale;
    }

    GammaParams params_;
    std::vector<std::uint16_t> levels_;
    double levels_full_scale_ = 0; ///< of the values in levels_; 0: invalid
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

double gamma_full_scale(PixelType type, const FrameInfo& info) {
    if (info.full_scale > 0)
        return info.full_scale;
    return type == PixelType::f32 ? 1 : type_full_scale(type);
}

std::vector<std::uint16_t> gamma_levels(const GammaParams& params, PixelType type, double full_scale) {
    const double most = type_full_scale(type);
    std::vector<std::uint16_t> levels;
    levels.reserve(static_cast<std::size_t>(most) + 1);
    for (int v = 0; v <= static_cast<int>(most); ++v)
        levels.push_back(static_cast<std::uint16_t>(
            std::nearbyint(std::min(most, full_scale * std::pow(v / full_scale, params.gamma)))));
    return levels;
}

GammaCurve gamma_curve(const GammaParams& params, const FrameInfo& info) {
    const double full = gamma_full_scale(PixelType::f32, info);
    return {static_cast<float>(full), static_cast<float>(1 / full), static_cast<float>(params.gamma)};
}

StageType gamma_stage() {
    return {.name = "gamma",
            .doc = "Power law of intensity; full scale stays unchanged",
            .title = "Gamma",
            .group = StageGroup::brightness,
            .table = &gamma_table(),
            .tolerance = 5e-6,
            .quantity = gamma_quantity,
            .make_host = host_maker<GammaHost>,
            .make_device = device_maker<make_gamma_device>,
            .passes = gamma_passes};
}

} // namespace specklescope
