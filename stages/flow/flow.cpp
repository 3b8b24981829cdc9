// Conversion from contrast to flow on the host; rows in parallel.
#include "stages/flow/flow.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using Input = FlowParams::Input;

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

const ParamTable& flow_table() {
    static const ParamTable table =
        Declare<FlowParams>("stage flow")
            .choice("input", &FlowParams::input,
                    {{"auto", "As the stage before"}, {"contrast", "Contrast K"}, {"contrast2", "K²"}},
                    {.doc = "Quantity of the input: K or K². auto: as the contrast stage before"})
            .choice(
                "output", &FlowParams::output,
                {{"index", "Flow index (SFI)"}, {"tau", "Correlation time τc"}, {"bfi", "Flow index 1/K²"}},
                {.doc = "Output: index 1/(2TK²) in 1/s, tau 2TK² in s, or bfi 1/K²"})
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

Quantity flow_quantity(const Params& params, const Quantity&) {
    return contrast_quantity(contrast_output(params.as<FlowParams>().output));
}

[[noreturn]] void refuse_input(const std::string& given) {
    throw UsageError("stage flow: input = auto needs K or K² from the stages before, which give " + given +
                     "; set output = contrast2 in a contrast stage before it, or input = contrast or "
                     "contrast2 if the source has it.");
}

/// Replaces input = auto with contrast or contrast2.
Params settle_flow(const Params& params, const Quantity& input) {
    if (params.as<FlowParams>().input != Input::automatic)
        return params;
    if (input.measure != Measure::contrast && input.measure != Measure::contrast2)
        refuse_input(input.symbol + " (" + input.name + ")");
    Params settled = params;
    settled.as<FlowParams>().input = input.measure == Measure::contrast ? Input::contrast : Input::contrast2;
    return settled;
}

class FlowHost final : public HostStage {
public:
    explicit FlowHost(const Params& params) : params_(params.as<FlowParams>()) {}

    Shape prepare(const Shape& input) override {
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        return flow_shape(params_, input);
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const FlowScale scale = flow_scale(params_, context.info);
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
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

Shape flow_shape(const FlowParams& params, const Shape& input) {
    if (params.input == Input::automatic)
        refuse_input("nothing");
    return input;
}

FlowScale flow_scale(const FlowParams& params, const FrameInfo& info) {
    const double twice_s = 2 * exposure_seconds(params.exposure_ms, info);
    FlowScale scale{.squares = params.input == Input::contrast, .divides = true, .c = 1};
    if (params.output == FlowParams::Output::index)
        scale.c = static_cast<float>(1 / twice_s);
    if (params.output == FlowParams::Output::tau) {
        scale.c = static_cast<float>(twice_s);
        scale.divides = false;
    }
    return scale;
}

StageType flow_stage() {
    return {.name = "flow",
            .doc = "Flow index, correlation time or 1/K² from contrast, averaged or not",
            .title = "Flow index",
            .group = StageGroup::contrast,
            .table = &flow_table(),
            .types = {PixelType::f32},
            .channels = {1},
            .quantity = flow_quantity,
            .make_host = host_maker<FlowHost>,
            .make_device = device_maker<make_flow_device>,
            .settle = settle_flow};
}

} // namespace specklescope
