// Sums of consecutive frames on the host.
#include "stages/sum/sum.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/history.hpp"
#include "stages/maker.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace specklescope {

namespace {

const ParamTable& declarations() {
    static const ParamTable table =
        Declare<SumParams>("stage sum")
            .text("frames", &SumParams::frames,
                  {.label = "Frames per sum",
                   .cost = Cost::rebuild,
                   .doc = "Frames per sum, or a cycle of numbers such as 1+2+4+8. 1: the frames as they are"})
            .table();
    return table;
}

/// Without errors: a wrong text is refused by settle.
std::vector<int> sums_of(const Params& params) {
    try {
        return frames_per_sum(params.as<SumParams>());
    } catch (const UsageError&) {
        return {1};
    }
}

int frames_of_cycle(const std::vector<int>& sums) { return std::accumulate(sums.begin(), sums.end(), 0); }

bool sum_passes(const Params& params) {
    const std::vector<int> sums = sums_of(params);
    return frames_of_cycle(sums) == static_cast<int>(sums.size());
}

Quantity sum_quantity(const Params& params, const Quantity& input) {
    return sum_passes(params) ? input
                              : Quantity{"summed " + input.name, kSumSymbol, input.unit, Measure::intensity};
}

Params settle_sum(const Params& params, const Quantity& input) {
    (void)frames_per_sum(params.as<SumParams>());
    if (!sum_passes(params) && (input.measure != Measure::intensity || input.symbol == kSumSymbol))
        throw UsageError(
            "stage sum: frames of light are added to longer exposures, and the stages before it give " +
            input.symbol + " (" + input.name + "). Put it before them.");
    return params;
}

class SumHost final : public HostStage {
public:
    explicit SumHost(const Params& params) : schedule_(params.as<SumParams>()) {}

    Shape prepare(const Shape& input) override {
        stride_ = static_cast<std::size_t>(input.width);
        type_ = input.type;
        schedule_.reset();
        if (schedule_.passes())
            return input;
        const std::size_t samples = stride_ * static_cast<std::size_t>(input.height);
        check_history("stage sum", "this computer", 2,
                      {.frame = samples * sizeof(float), .other = 0, .parameter = "images"},
                      available_host_memory());
        sums_.assign(samples, 0);
        complete_.assign(samples, 0);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        if (schedule_.passes())
            return copy_pixels(input, output);
        const SumStep step = schedule_.next(context.info, context.again, type_);
        std::fill(slots_.begin(), slots_.end(), SlotCounts{});
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            dispatch(type_, [&](auto zero) {
                for (int y = rows.begin; y < rows.end; ++y) {
                    float* const to = output.as<float>().row(y);
                    PixelCounts& counts = slots_[static_cast<std::size_t>(slot)].counts;
                    run_row(input.as<decltype(zero)>().row(y), y, to, step, counts);
                    count_undefined(to, input.shape.width, 1, counts);
                }
            });
        });
        add_counts(slots_, context.counts);
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { schedule_.reset(); }
    Warmup warmup() const override { return schedule_.warmup(); }
    std::string note() const override { return schedule_.note(); }
    bool note_changes() const override { return true; }
    Counted counted() const override {
        return {.undefined = !schedule_.passes(),
                .saturated = !schedule_.passes() && type_ != PixelType::f32};
    }
    void describe(FrameInfo& info) const override {
        if (!schedule_.passes())
            schedule_.describe(info);
    }

private:
    template <class T>
    void run_row(const T* samples, int y, float* output, const SumStep& step, PixelCounts& counts) {
        float* const sums = sums_.data() + stride_ * static_cast<std::size_t>(y);
        float* const complete = complete_.data() + stride_ * static_cast<std::size_t>(y);
        if (step.take)
            for (std::size_t x = 0; x < stride_; ++x)
                sums[x] = sum_with(sums[x], static_cast<float>(samples[x]), step);
        if (step.ends)
            std::copy_n(sums, stride_, complete);
        if (!step.shows) {
            std::fill_n(output, stride_, std::numeric_limits<float>::quiet_NaN());
            return;
        }
        std::uint64_t saturated = 0;
        for (std::size_t x = 0; x < stride_; ++x) {
            output[x] = sum_value(complete[x], step);
            saturated += is_saturated(complete[x], step) ? 1 : 0;
        }
        counts.saturated += saturated;
    }

    SumSchedule schedule_;
    std::size_t stride_ = 0; ///< samples of a row
    PixelType type_ = PixelType::u8;
    std::vector<float> sums_, complete_; ///< the present sum, the last complete one
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

StageType sum_stage() {
    return {.name = "sum",
            .doc = "Longer exposures by adding consecutive frames of a camera without dead time",
            .title = "Sum of frames",
            .group = StageGroup::averaging,
            .table = &declarations(),
            .channels = {1},
            .quantity = sum_quantity,
            .make_host = host_maker<SumHost>,
            .make_device = device_maker<make_sum_device>,
            .stateful = true,
            .history = [](const Params& params) { return frames_of_cycle(sums_of(params)) - 1; },
            .frames_per_result =
                [](const Params& params) {
                    const std::vector<int> sums = sums_of(params);
                    const auto count = static_cast<int>(sums.size());
                    return (frames_of_cycle(sums) + count - 1) / count;
                },
            .makes_several_exposures =
                [](const Params& params) {
                    const std::vector<int> sums = sums_of(params);
                    return std::any_of(sums.begin(), sums.end(), [&](int n) { return n != sums[0]; });
                },
            .passes = sum_passes,
            .science = "Summed frames",
            .settle = settle_sum};
}

} // namespace specklescope
