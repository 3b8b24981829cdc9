// Temporal speckle contrast and flow on the host; rows in parallel, each pixel from its running sums.
#include "stages/temporal/temporal.hpp"

#include "pipeline/counts.hpp"
#include "stages/frame_rows.hpp"
#include "stages/maker.hpp"
#include "stages/streamed.hpp"
#include "stages/temporal/temporal_sums.hpp"
#include "stages/temporal/temporal_window.hpp"

namespace specklescope {

namespace {

const ParamTable& temporal_table() {
    static const ParamTable table =
        Declare<TemporalParams>("stage temporal")
            .integer("frames", &TemporalParams::frames,
                     {.min = 2,
                      .max = TemporalParams::kMaxFrames,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of frames in the window of each pixel"})
            .real("exposure", &TemporalParams::exposure_ms,
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .visible = [](const TemporalParams& p) { return needs_exposure(p.output, p.extras); },
                   .doc = kExposureDoc})
            .choice("output", &TemporalParams::output, contrast_output_names(), {.doc = kContrastOutputDoc})
            .part(&TemporalParams::extras, contrast_extras_table(false))
            .table();
    return table;
}

Quantity temporal_quantity(const Params& params, const Quantity&) {
    const auto& values = params.as<TemporalParams>();
    return contrast_quantity(values.output, values.extras);
}

std::vector<NamedOutput> temporal_also(const Params& params, const Quantity&) {
    return contrast_also(params.as<TemporalParams>().extras);
}

class TemporalHost final : public ContrastOverTime<HostStage, TemporalParams> {
public:
    using ContrastOverTime::ContrastOverTime;

    Shape prepare(const Shape& input) override {
        window_.prepare("stage temporal", input, history_.frames());
        ages_.prepare(input, history_.frames());
        rows_.prepare(input.height);
        sums_.resize(static_cast<std::size_t>(rows_.slots()));
        for (SumRows& sums : sums_)
            sums.prepare(input.width);
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const FrameRows::Run frame{input, output, context};
        run_together({&frame, 1});
    }

    bool run_together(std::span<const FrameRows::Run> frames) override {
        made_.clear();
        for (const FrameRows::Run& frame : frames) {
            const FrameInfo& info = frame.context.info;
            const PixelType type = frame.input.shape.type;
            const HistoryStep step = history_.next(frame.context.again);
            made_.push_back({.step = step,
                             .scale = contrast_scale(params_.output, step.held, params_.exposure_ms, info),
                             .finish = contrast_finish<Space::host>(params_, step.held,
                                                                    WindowCorrelation().over(step.held), type,
                                                                    info, frame.output, frame.context.also),
                             .threshold = saturation_threshold(type, info)});
        }
        ages_.set_window(counted_frames_);
        rows_.run(frames, [&](std::size_t frame, int y, int slot, PixelCounts& counts) {
            const Made& made = made_[frame];
            TemporalRow row = window_.row(y, made.step);
            row.streamed = streams(frames[frame].output);
            if (made.step.take) {
                const std::byte* const newest = frames[frame].input.row(y);
                take_temporal_row(row, newest);
                ages_.advance(y, newest, made.threshold);
            }
            if (made.finish.count > 0)
                write_temporal_row(row, made.finish, sums_[static_cast<std::size_t>(slot)], counts);
            else
                write_temporal_row(row, made.scale, frames[frame].output.as<float>().row(y), counts);
            counts.saturated += ages_.count(y);
        });
        return true;
    }

    void reset() override {
        ContrastOverTime::reset();
        ages_.reset();
    }
    std::string note() const override { return history_note(history_.frames(), window_.bytes()); }

private:
    TemporalWindow window_;
    SaturatedAges ages_;
    /// One frame of a run.
    struct Made {
        HistoryStep step;
        ContrastScale scale;
        ContrastFinish finish;
        std::optional<double> threshold; ///< of saturation
    };

    FrameRows rows_;
    std::vector<SumRows> sums_; ///< per slot of rows_
    std::vector<Made> made_;
};

} // namespace

StageType temporal_stage() {
    return {.name = "temporal",
            .doc = "Contrast and flow of each pixel over its last frames (Duncan and Kirkpatrick 2008)",
            .title = "Temporal contrast",
            .group = StageGroup::contrast,
            .table = &temporal_table(),
            .channels = {1},
            .tolerance = 1e-6,
            .quantity = temporal_quantity,
            .make_host = host_maker<TemporalHost>,
            .make_device = device_maker<make_temporal_device>,
            .also = temporal_also,
            .stateful = true,
            .history = [](const Params& params) { return params.as<TemporalParams>().frames - 1; },
            .speckles = [](const Params& params) { return params.as<TemporalParams>().frames - 1.0; }};
}

} // namespace specklescope
