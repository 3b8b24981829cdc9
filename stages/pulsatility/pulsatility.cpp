// Pulsatility on the host; rows in parallel. The cost per frame does not depend on the length of a beat.
#include "stages/pulsatility/pulsatility.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"

#include <algorithm>

namespace specklescope {

namespace {

const ParamTable& pulsatility_table() {
    static const ParamTable table = Declare<PulsatilityParams>("stage pulsatility")
                                        .integer("frames", &PulsatilityParams::frames,
                                                 {.label = "Frames a beat",
                                                  .min = 2,
                                                  .max = PulsatilityParams::kMaxFrames,
                                                  .logarithmic = true,
                                                  .cost = Cost::rebuild,
                                                  .doc = "Frames per heart beat: the camera's rate divided "
                                                         "by the heart rate (see specklescope pulse)"})
                                        .integer("beats", &PulsatilityParams::beats,
                                                 {.min = 1,
                                                  .max = PulsatilityParams::kMaxBeats,
                                                  .cost = Cost::rebuild,
                                                  .doc = "Number of beats that the result averages"})
                                        .table();
    return table;
}

Quantity pulsatility_quantity(const Params&, const Quantity& input) {
    return {"pulsatility index (max − min)/mean of " + input.symbol, "PI", "1", Measure::other};
}

/// State of one row.
struct BeatRow {
    float *low, *high;
    double* sum;
    std::uint16_t* count;
    float* shown;
    float* ring;       ///< of the first beat
    std::size_t plane; ///< samples between two beats

    BeatSamples beat(int x) const { return {low[x], high[x], sum[x], count[x]}; }
};

template <class T> void take_row(const BeatRow& row, const T* samples, int width, bool begins) {
    for (int x = 0; x < width; ++x) {
        BeatSamples beat = begins ? BeatSamples{} : row.beat(x);
        beat.take(static_cast<float>(samples[x]));
        row.low[x] = beat.low;
        row.high[x] = beat.high;
        row.sum[x] = beat.sum;
        row.count[x] = beat.count;
    }
}

void end_row(const BeatRow& row, int width, const BeatStep& step) {
    float* const slot = row.ring + static_cast<std::size_t>(step.slot) * row.plane;
    for (int x = 0; x < width; ++x) {
        slot[x] = row.beat(x).index();
        row.shown[x] = mean_of_beats(
            step.held, [&](int k) { return row.ring[static_cast<std::size_t>(k) * row.plane + x]; });
    }
}

class PulsatilityHost final : public HostStage {
public:
    explicit PulsatilityHost(const Params& params)
        : params_(params.as<PulsatilityParams>()), history_(params_.frames * params_.beats) {}

    Shape prepare(const Shape& input) override {
        width_ = input.width;
        const std::size_t samples = input.pixels();
        const auto beats = static_cast<std::size_t>(params_.beats);
        bytes_ = pulsatility_bytes(samples);
        for (std::vector<float>* plane : {&low_, &high_, &shown_, &ring_})
            *plane = {};
        sum_ = {};
        count_ = {};
        check_history("stage pulsatility", "this computer", params_.beats, bytes_, available_host_memory());
        for (std::vector<float>* plane : {&low_, &high_, &shown_})
            plane->resize(samples);
        ring_.resize(samples * beats);
        sum_.resize(samples);
        count_.resize(samples);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 16);
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const BeatStep step = beat_step(history_.next(context.again), params_);
        for (SlotCounts& slot : slots_)
            slot.counts = {};
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; ++y) {
                const BeatRow row = row_of(y);
                if (step.take)
                    dispatch(input.shape.type, [&](auto zero) {
                        take_row(row, input.as<decltype(zero)>().row(y), width_, step.begins);
                    });
                if (step.ends)
                    end_row(row, width_, step);
                float* const results = output.as<float>().row(y);
                if (step.held > 0)
                    std::copy_n(row.shown, width_, results);
                else
                    for (int x = 0; x < width_; ++x)
                        results[x] = row.beat(x).index();
                count_undefined(results, width_, 1, slots_[static_cast<std::size_t>(slot)].counts);
            }
        });
        add_counts(slots_, context.counts);
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(params_.beats, bytes_); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    BeatRow row_of(int y) {
        const std::size_t first = static_cast<std::size_t>(width_) * static_cast<std::size_t>(y);
        return {low_.data() + first,   high_.data() + first, sum_.data() + first, count_.data() + first,
                shown_.data() + first, ring_.data() + first, low_.size()};
    }

    PulsatilityParams params_;
    History history_;
    HistoryBytes bytes_;
    int width_ = 0;
    std::vector<float> low_, high_, shown_, ring_;
    std::vector<double> sum_;
    std::vector<std::uint16_t> count_;
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

BeatStep beat_step(const HistoryStep& step, const PulsatilityParams& params) {
    const auto frames = static_cast<std::uint64_t>(params.frames),
               beats = static_cast<std::uint64_t>(params.beats);
    const std::uint64_t in_beat = step.tick % frames, whole = (step.tick + 1) / frames;
    return {.take = step.take,
            .begins = step.take && in_beat == 0,
            .ends = step.take && in_beat + 1 == frames,
            .slot = static_cast<int>(step.tick / frames % beats),
            .held = static_cast<int>(std::min(whole, beats))};
}

HistoryBytes pulsatility_bytes(std::size_t samples) {
    return {.frame = samples * sizeof(float),
            .other = samples * (3 * sizeof(float) + sizeof(double) + sizeof(std::uint16_t)),
            .parameter = "beats"};
}

StageType pulsatility_stage() {
    return {.name = "pulsatility",
            .doc = "Change of every pixel with each heart beat, (max − min)/mean over the last beats",
            .title = "Pulsatility",
            .group = StageGroup::contrast,
            .table = &pulsatility_table(),
            .channels = {1},
            .tolerance = 1e-6,
            .quantity = pulsatility_quantity,
            .make_host = host_maker<PulsatilityHost>,
            .make_device = device_maker<make_pulsatility_device>,
            .stateful = true,
            .history = [](const Params& params) {
                const auto& pulsatility = params.as<PulsatilityParams>();
                return pulsatility.frames * pulsatility.beats - 1;
            }};
}

} // namespace specklescope
