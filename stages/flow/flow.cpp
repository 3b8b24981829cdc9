// Conversion from contrast to flow on the host; rows in parallel.
#include "stages/flow/flow.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"

#include <algorithm>

namespace specklescope {

namespace {

ContrastOutput contrast_output(FlowParams::Output output) {
    switch (output) {
    case FlowParams::Output::tau:
        return ContrastOutput::tau;
    case FlowParams::Output::bfi:
        return ContrastOutput::bfi;
    case FlowParams::Output::index:
        break;
    }
    return ContrastOutput::sfi;
}

/// True for a model of a field in use.
bool has_static_part(const FlowParams& params) {
    return params.output != FlowParams::Output::bfi && params.model != FlowModel::simplified &&
           params.model != FlowModel::velocity;
}

const ParamTable& declarations() {
    static const ParamTable table =
        Declare<FlowParams>("stage flow")
            .choice("input", &FlowParams::input, contrast_input_names(), {.doc = kContrastInputDoc})
            .choice("output", &FlowParams::output,
                    {{"index", "Flow index"}, {"tau", "Correlation time τc"}, {"bfi", "Flow index 1/K²"}},
                    {.doc = "Output: index 1/τc in 1/s and tau τc in s by the model, or bfi 1/K²"})
            .choice("model", &FlowParams::model,
                    {{"simplified", "Long exposures, 1/(2TK²)"},
                     {"lorentzian", "Lorentzian, n = 1"},
                     {"gaussian", "Gaussian, n = 2"},
                     {"sqrt", "Square root, n = ½"},
                     {"velocity", "Velocity (Fercher, Briers)"}},
                    {.cost = Cost::rebuild,
                     .visible = [](const FlowParams& p) { return p.output != FlowParams::Output::bfi; },
                     .doc = "Model of K² against T/τc. simplified: β/(2TK²), the limit of long exposures; "
                            "lorentzian, gaussian, sqrt: field correlation exp(−(t/τc)ⁿ) with n = 1, 2, ½"})
            .real("beta", &FlowParams::beta,
                  {.label = "Coherence β",
                   .min = 0.01,
                   .max = 1,
                   .visible = [](const FlowParams& p) { return p.output != FlowParams::Output::bfi; },
                   .doc = "Coherence factor β: K² of a static scatterer. K² of β and more gives no number "
                          "with a model other than simplified"})
            .real("static", &FlowParams::fixed_part,
                  {.label = "Static light",
                   .min = 0,
                   .max = 0.95,
                   .cost = Cost::rebuild,
                   .visible = [](const FlowParams& p) { return has_static_part(p); },
                   .doc = "Part of the light from static scatterers, 1 − ρ. K² up to β(1 − ρ)² gives no "
                          "number"})
            .real("exposure", &FlowParams::exposure_ms,
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .visible = [](const FlowParams& p) { return needs_exposure(contrast_output(p.output)); },
                   .doc = kExposureDoc})
            .table();
    return table;
}

std::string model_name(const FlowParams& params) {
    switch (params.model) {
    case FlowModel::lorentzian:
        return "Lorentzian model";
    case FlowModel::gaussian:
        return "Gaussian model";
    case FlowModel::sqrt:
        return "model n = ½";
    case FlowModel::velocity:
        return "velocity model";
    case FlowModel::simplified:
        break;
    }
    return "";
}

/// The name has the model, β and the static part: maps that differ in them are not comparable.
Quantity flow_quantity(const Params& given, const Quantity&) {
    const auto& params = given.as<FlowParams>();
    Quantity quantity = contrast_quantity(contrast_output(params.output));
    if (params.output == FlowParams::Output::bfi)
        return quantity;
    if (params.model != FlowModel::simplified) // proportional neither to K² nor to its inverse
        quantity =
            params.output == FlowParams::Output::tau
                ? Quantity{"correlation time, " + model_name(params), "τc", "s", Measure::other}
                : Quantity{"inverse correlation time, " + model_name(params), "1/τc", "1/s", Measure::other};
    if (params.beta < 1)
        quantity.name += ", β = " + to_string(ParamValue(params.beta));
    if (has_static_part(params) && params.fixed_part > 0)
        quantity.name += ", " + to_string(ParamValue(params.fixed_part)) + " static";
    return quantity;
}

/// Replaces input = auto with contrast or contrast2.
Params settle_flow(const Params& params, const Quantity& input) {
    Params settled = params;
    ContrastInput& own = settled.as<FlowParams>().input;
    own = settled_input("stage flow", own, input);
    return settled;
}

class FlowHost final : public HostStage {
public:
    explicit FlowHost(const Params& params) : params_(params.as<FlowParams>()) {}

    Shape prepare(const Shape& input) override {
        table_ = flow_table(params_);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        return flow_shape(params_, input);
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const FlowScale scale = flow_scale(params_, context.info, table_.empty() ? nullptr : table_.data());
        std::fill(slots_.begin(), slots_.end(), SlotCounts{});
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; ++y)
                run_flow_row(input.as<float>().row(y), input.shape.width, scale, output.as<float>().row(y),
                             slots_[static_cast<std::size_t>(slot)].counts);
        });
        add_counts(slots_, context.counts);
    }

    void set_params(const Params& params) override { params_ = params.as<FlowParams>(); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    FlowParams params_;
    std::vector<float> table_;
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

Shape flow_shape(const FlowParams& params, const Shape& input) {
    check_settled("stage flow", params.input);
    return input;
}

FlowScale flow_scale(const FlowParams& params, const FrameInfo& info, const float* table) {
    const double exposure_s = exposure_seconds(params.exposure_ms, info);
    FlowScale scale{
        .squares = params.input == ContrastInput::contrast, .table = table, .model = params.model};
    scale.divides = params.output != FlowParams::Output::tau;
    if (params.output == FlowParams::Output::bfi) {
        scale.table = nullptr;
        return scale;
    }
    if (!table) {
        const double c = 2 * exposure_s / params.beta;
        scale.c = static_cast<float>(scale.divides ? 1 / c : c);
        return scale;
    }
    scale.divides = !scale.divides; // x grows with 1/K²
    scale.c = static_cast<float>(scale.divides ? exposure_s : 1 / exposure_s);
    scale.per_beta = static_cast<float>(1 / params.beta);
    if (has_static_part(params)) {
        const double floor = params.fixed_part * params.fixed_part;
        scale.floor = static_cast<float>(floor);
        scale.gain = static_cast<float>(1 / (1 - floor));
    }
    return scale;
}

StageType flow_stage() {
    return {.name = "flow",
            .doc = "Flow index, correlation time or 1/K² from contrast, averaged or not",
            .title = "Flow index",
            .group = StageGroup::contrast,
            .table = &declarations(),
            .types = {PixelType::f32},
            .channels = {1},
            .quantity = flow_quantity,
            .make_host = host_maker<FlowHost>,
            .make_device = device_maker<make_flow_device>,
            .settle = settle_flow};
}

} // namespace specklescope
