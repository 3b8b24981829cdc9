// Running mean over time on the host; rows in parallel.
#include "stages/average/average.hpp"

#include "pipeline/counts.hpp"
#include "stages/frame_rows.hpp"
#include "stages/maker.hpp"

#include <hwy/aligned_allocator.h>

namespace specklescope {

namespace {

const ParamTable& average_table() {
    static const ParamTable table =
        Declare<AverageParams>("stage average")
            .integer("frames", &AverageParams::frames,
                     {.min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of averaged frames (window), or the inverse weight of the newest frame "
                             "(exponential)"})
            .choice("kind", &AverageParams::kind, {"window", "exponential"},
                    {.cost = Cost::rebuild,
                     .doc = "Weights of the mean. window: equal for the last frames. exponential: fading, "
                            "without storing frames"})
            .table();
    return table;
}

} // namespace

HistoryBytes average_bytes(const AverageParams& params, PixelType type, std::size_t samples) {
    const bool real = type == PixelType::f32;
    if (params.kind == AverageParams::Kind::exponential)
        return {.frame = 0,
                .other = samples * (real ? 2 * sizeof(double) + sizeof(std::uint32_t) : sizeof(double))};
    const std::size_t sum = real ? sizeof(LongSum) + sizeof(OddSamples) : sizeof(std::uint32_t);
    return {.frame = samples * pixel_bytes(type), .other = samples * sum};
}

double exponential_weights(int frames, std::uint64_t held) {
    return held == 0 ? 0 : -std::expm1(static_cast<double>(held) * std::log1p(-1.0 / frames)) * frames;
}

double exponential_weight(int frames, std::uint64_t before) {
    return 1 / exponential_weights(frames, before + 1);
}

namespace {

/// Number of earlier frames that a mean depends on. The rest of a fading mean, e⁻¹⁶, is below the precision
/// of f32.
int average_history(const AverageParams& params) {
    constexpr int kFaded = 16;
    return params.kind == AverageParams::Kind::exponential ? kFaded * params.frames : params.frames - 1;
}

class AverageHost final : public HostStage {
public:
    explicit AverageHost(const Params& params)
        : params_(params.as<AverageParams>()), history_(params_.frames) {}

    Shape prepare(const Shape& input) override {
        constexpr std::size_t kAlignment = 64; // samples: rows of every plane start on 64 bytes
        input_ = input;
        const auto samples = static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.channels);
        pitch_ = (samples + kAlignment - 1) / kAlignment * kAlignment;
        bytes_ = average_bytes(params_, input.type, pitch_ * static_cast<std::size_t>(input.height));
        ring_.reset();
        sums_.reset();
        check_history("stage average", "this computer", params_.frames, bytes_, available_host_memory());
        const std::size_t ring = bytes_.frame * static_cast<std::size_t>(params_.frames);
        if (ring > 0)
            ring_ = hwy::AllocateAligned<std::byte>(ring);
        sums_ = hwy::AllocateAligned<std::byte>(bytes_.other);
        if (!sums_ || (ring > 0 && !ring_))
            throw UsageError("stage average: no room for " + std::to_string(ring + bytes_.other) +
                             " bytes of frames; use fewer frames or kind = exponential.");
        irregular_.assign(static_cast<std::size_t>(input.height), 0);
        rows_.prepare(input.height);
        history_.reset();
        return {input.width, input.height, input.channels, PixelType::f32};
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const FrameRows::Run frame{input, output, context};
        run_together({&frame, 1});
    }

    bool run_together(std::span<const FrameRows::Run> frames) override {
        steps_.clear();
        for (const FrameRows::Run& frame : frames)
            steps_.push_back(history_.next(frame.context.again));
        rows_.run(frames, [&](std::size_t frame, int y, int, PixelCounts& counts) {
            float* const results = frames[frame].output.as<float>().row(y);
            const AverageRow row = row_of(y, steps_[frame]);
            run_average_row(row, frames[frame].input.row(y), results);
            if (row.type == PixelType::f32 && *row.irregular) // a mean of finite samples is finite
                count_undefined(results, input_.width, input_.channels, counts);
        });
        return true;
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(params_.frames, bytes_); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override {
        if (!(info.full_scale > 0)) // f32 has no full scale
            info.full_scale = type_full_scale(input_.type);
    }

private:
    AverageRow row_of(int y, const HistoryStep& step) {
        const std::size_t plane = pitch_ * static_cast<std::size_t>(input_.height);
        const std::size_t first = pitch_ * static_cast<std::size_t>(y);
        AverageRow row;
        row.type = input_.type;
        row.samples = input_.width * input_.channels;
        row.y = y;
        row.frames = params_.frames;
        row.step = step;
        auto* const doubles = reinterpret_cast<double*>(sums_.get());
        const bool real = input_.type == PixelType::f32;
        std::uint32_t* const after =
            real ? reinterpret_cast<std::uint32_t*>(doubles + 2 * plane) + first : nullptr;
        row.irregular = irregular_.data() + y;
        if (params_.kind == AverageParams::Kind::exponential) {
            row.mean = doubles + first;
            row.weights = real ? doubles + plane + first : nullptr;
            row.infinite = after;
            return row;
        }
        row.ring = ring_.get() + first * pixel_bytes(input_.type);
        row.slot_bytes = bytes_.frame;
        if (real) {
            row.high = doubles + first;
            row.low = doubles + plane + first;
            row.odd = after;
        } else {
            row.sums = reinterpret_cast<std::uint32_t*>(sums_.get()) + first;
        }
        return row;
    }

    AverageParams params_;
    History history_;
    HistoryBytes bytes_;
    Shape input_;
    std::size_t pitch_ = 0; ///< samples of a row, in ring and sums
    hwy::AlignedFreeUniquePtr<std::byte[]> ring_, sums_;
    std::vector<std::uint8_t> irregular_; ///< per row: AverageRow::irregular
    FrameRows rows_;
    std::vector<HistoryStep> steps_; ///< of the frames of a run
};

} // namespace

StageType average_stage() {
    return {.name = "average",
            .doc = "Running mean over the last frames, against noise",
            .title = "Running mean",
            .group = StageGroup::averaging,
            .table = &average_table(),
            .tolerance = 1e-6,
            .make_host = host_maker<AverageHost>,
            .make_device = device_maker<make_average_device>,
            .stateful = true,
            .history = [](const Params& params) { return average_history(params.as<AverageParams>()); },
            .averages = [](const Params& params) { return params.as<AverageParams>().frames; },
            .science = "Averages",
            .mixes = [](const Params& params) { return params.as<AverageParams>().frames > 1; }};
}

} // namespace specklescope
