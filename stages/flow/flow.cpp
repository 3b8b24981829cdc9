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
    case FlowParams::Output::error:
        return ContrastOutput::error;
    case FlowParams::Output::index:
        break;
    }
    return ContrastOutput::sfi;
}

ChoiceNames flow_outputs() {
    return {{"index", "Flow index"},
            {"tau", "Correlation time τc"},
            {"bfi", "Flow index 1/K²"},
            {"error", "Standard error of the index"}};
}

/// True if the output or a named output satisfies `is`.
template <class F> bool any_output(const FlowParams& params, F&& is) {
    const std::vector<FlowParams::Output> named = named_flows(params);
    return is(params.output) || std::any_of(named.begin(), named.end(), is);
}
bool uses_model(const FlowParams& params) {
    return any_output(params, [](FlowParams::Output one) { return one != FlowParams::Output::bfi; });
}

/// True for the models of a field, which interferes with static light.
bool is_of_field(FlowModel model) { return model != FlowModel::simplified && model != FlowModel::velocity; }

/// True for a model of a field in use.
bool has_static_part(const FlowParams& params) { return uses_model(params) && is_of_field(params.model); }

const ParamTable& declarations() {
    static const ParamTable table =
        Declare<FlowParams>("stage flow")
            .choice("input", &FlowParams::input, contrast_input_names(), {.doc = kContrastInputDoc})
            .choice("output", &FlowParams::output, flow_outputs(),
                    {.doc = "Output: index 1/τc in 1/s and tau τc in s by the model, bfi 1/K², or error, the "
                            "relative standard error of the index"})
            .several("also", &FlowParams::also, flow_outputs(),
                     {.label = "More images",
                      .cost = Cost::rebuild,
                      .doc = "Further images from the same pass, joined by '+'"})
            .choice("model", &FlowParams::model,
                    {{"simplified", "Long exposures, 1/(2TK²)"},
                     {"lorentzian", "Lorentzian, n = 1"},
                     {"gaussian", "Gaussian, n = 2"},
                     {"sqrt", "Square root, n = ½"},
                     {"velocity", "Velocity (Fercher, Briers)"}},
                    {.cost = Cost::rebuild,
                     .visible = uses_model,
                     .doc = "Model of K² against T/τc. simplified: β/(2TK²), the limit of long exposures; "
                            "lorentzian, gaussian, sqrt: field correlation exp(−(t/τc)ⁿ) with n = 1, 2, ½"})
            .real("beta", &FlowParams::beta,
                  {.label = "Coherence β",
                   .min = 0.01,
                   .max = 1,
                   .visible = uses_model,
                   .doc = "Coherence factor β: K² of a static scatterer. K² of β and more gives no number "
                          "with a model other than simplified"})
            .choice("static_from", &FlowParams::fixed_from, {{"number", "Number"}, {"file", "Map in a file"}},
                    {.label = "Static light from",
                     .cost = Cost::rebuild,
                     .visible = has_static_part,
                     .doc = "Static light: one number for all pixels, or a map from static_file"})
            .real("static", &FlowParams::fixed_part,
                  {.label = "Static light",
                   .min = 0,
                   .max = 0.95,
                   .cost = Cost::rebuild,
                   .visible = [](const FlowParams& p) { return has_static_part(p) && !has_static_map(p); },
                   .doc = "Part of the light from static scatterers, 1 − ρ. K² up to β(1 − ρ)² gives no "
                          "number"})
            .path("static_file", &FlowParams::fixed_file,
                  {.label = "Static map",
                   .cost = Cost::rebuild,
                   .visible = [](const FlowParams& p) { return has_static_part(p) && has_static_map(p); },
                   .doc =
                       "Map of 1 − ρ from 0 to 1, as stage static gives it; a recording of ρ is converted. "
                       "TIFF, EXR or NPY of the size of this stage's images; the last page, or page N with "
                       "FILE?page=N"})
            .real("exposure", &FlowParams::exposure_ms,
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .visible =
                       [](const FlowParams& p) {
                           return any_output(p, [](FlowParams::Output one) {
                               return needs_exposure(contrast_output(one));
                           });
                       },
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
Quantity quantity_of(const FlowParams& params, FlowParams::Output output) {
    Quantity quantity = contrast_quantity(contrast_output(output));
    if (output == FlowParams::Output::bfi)
        return quantity;
    if (output == FlowParams::Output::error) {
        quantity.name = "relative standard error of 1/τc";
        quantity.symbol = "σ(1/τc)·τc";
        if (params.model != FlowModel::simplified)
            quantity.name += ", " + model_name(params);
    } else if (params.model != FlowModel::simplified) // proportional neither to K² nor to its inverse
        quantity =
            output == FlowParams::Output::tau
                ? Quantity{"correlation time, " + model_name(params), "τc", "s", Measure::other}
                : Quantity{"inverse correlation time, " + model_name(params), "1/τc", "1/s", Measure::other};
    if (params.beta < 1)
        quantity.name += ", β = " + to_string(ParamValue(params.beta));
    if (has_static_part(params) && has_static_map(params))
        quantity.name += ", static light by a map";
    else if (has_static_part(params) && params.fixed_part > 0)
        quantity.name += ", " + to_string(ParamValue(params.fixed_part)) + " static";
    return quantity;
}

Quantity flow_quantity(const Params& given, const Quantity&) {
    const auto& params = given.as<FlowParams>();
    return quantity_of(params, params.output);
}

std::vector<NamedOutput> flow_also(const Params& given, const Quantity&) {
    const auto& params = given.as<FlowParams>();
    const ChoiceNames names = flow_outputs();
    std::vector<NamedOutput> also;
    for (const FlowParams::Output output : named_flows(params))
        also.push_back({names[static_cast<std::size_t>(output)].key, quantity_of(params, output)});
    return also;
}

/// Replaces input = auto with contrast or contrast2, and stores the number of speckles.
Params settle_flow(const Params& params, const Quantity& input) {
    Params settled = params;
    auto& values = settled.as<FlowParams>();
    values.speckles = input.speckles;
    values.input = settled_input("stage flow", values.input, input);
    return settled;
}

class FlowHost final : public HostStage {
public:
    explicit FlowHost(const Params& params) : params_(params.as<FlowParams>()) {}

    Shape prepare(const Shape& input) override {
        width_ = static_cast<std::size_t>(input.width);
        map_ = read_static_map(params_, input, width_);
        table_ = flow_table(params_);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        return flow_shape(params_, input);
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const float* const table = table_.empty() ? nullptr : table_.data();
        const std::vector<FlowParams::Output> named = named_flows(params_);
        std::fill(slots_.begin(), slots_.end(), SlotCounts{});
        run_rows(input, flow_scale(params_, params_.output, context.info, table), output);
        add_counts(slots_, context.counts);
        for (std::size_t i = 0; i < context.also.size(); ++i)
            run_rows(input, flow_scale(params_, named[i], context.info, table), context.also[i]);
    }

    void set_params(const Params& params) override { params_ = params.as<FlowParams>(); }
    std::string note() const override { return map_.note; }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    void run_rows(const ConstHostView& input, const FlowScale& scale, const HostView& output) {
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; ++y) {
                const std::size_t at = static_cast<std::size_t>(y) * width_;
                const float* const fixed = map_.plane.empty() ? nullptr : map_.plane.data() + at;
                run_flow_row(input.as<float>().row(y), input.shape.width, scale, fixed,
                             output.as<float>().row(y), slots_[static_cast<std::size_t>(slot)].counts);
            }
        });
    }

    FlowParams params_;
    StaticMap map_;
    std::size_t width_ = 0;
    std::vector<float> table_;
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

Shape flow_shape(const FlowParams& params, const Shape& input) {
    check_settled("stage flow", params.input);
    if (params.speckles == 0 &&
        any_output(params, [](FlowParams::Output one) { return one == FlowParams::Output::error; }))
        throw UsageError(
            "stage flow: error needs the window of a contrast stage, and no such stage is before "
            "it. Leave error out.");
    return input;
}

bool has_static_map(const FlowParams& params) {
    return is_of_field(params.model) && params.fixed_from == FlowParams::StaticFrom::file;
}

std::vector<FlowParams::Output> named_flows(const FlowParams& params) {
    std::vector<FlowParams::Output> named;
    for (unsigned i = 0; params.also >> i != 0; ++i)
        if ((params.also >> i & 1U) != 0)
            named.push_back(static_cast<FlowParams::Output>(i));
    return named;
}

FlowScale flow_scale(const FlowParams& params, FlowParams::Output output, const FrameInfo& info,
                     const float* table) {
    const double exposure_s = exposure_seconds(params.exposure_ms, info);
    FlowScale scale{
        .squares = params.input == ContrastInput::contrast, .table = table, .model = params.model};
    scale.divides = output != FlowParams::Output::tau;
    if (output == FlowParams::Output::bfi) {
        scale.table = nullptr;
        return scale;
    }
    if (output == FlowParams::Output::error)
        scale.speckles = static_cast<float>(params.speckles);
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
            .also = flow_also,
            .settle = settle_flow};
}

} // namespace specklescope
