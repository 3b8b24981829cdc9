// Multi-exposure fit on the host: rows in parallel, the pixels of a row in vectors.
#include "stages/mesi/mesi.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/history.hpp"
#include "stages/maker.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>

namespace specklescope {

namespace {

const ChoiceNames& map_names() {
    static const ChoiceNames names = {{"rho", "Dynamic part ρ"},  {"beta", "Coherence β"},
                                      {"noise", "Noise ν"},       {"residual", "Residual"},
                                      {"error", "Error of 1/τc"}, {"iterations", "Iterations"},
                                      {"used", "Exposures used"}};
    return names;
}

const ParamTable& declarations() {
    static const ParamTable table =
        Declare<MesiParams>("stage mesi")
            .choice("fit", &MesiParams::fit,
                    {{"flow", "1/τc, ρ"}, {"noise", "1/τc, ρ, noise ν"}, {"beta", "1/τc, ρ, β"}},
                    {.label = "Fitted",
                     .cost = Cost::rebuild,
                     .doc =
                         "Fitted parameters. flow: 1/τc and dynamic part ρ; noise: also the noise floor ν; "
                         "beta: also the coherence factor β"})
            .text("exposures", &MesiParams::exposures,
                  {.label = "Exposure cycle",
                   .unit = "ms",
                   .cost = Cost::rebuild,
                   .doc =
                       "Exposures of the cycle, ascending, such as 0.5+1+2+4+8; frames with others are left "
                       "out. Empty: those of the first cycle"})
            .integer("cycles", &MesiParams::cycles,
                     {.label = "Mean of cycles",
                      .min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Cycles averaged: inverse weight of the newest K² of each exposure"})
            .real("beta", &MesiParams::beta,
                  {.label = "Coherence β",
                   .min = 0.01,
                   .max = 1,
                   .visible = [](const MesiParams& p) { return !frees_beta(p.fit); },
                   .doc = "Coherence factor β: K² of a static scatterer, from a calibration"})
            .real("noise", &MesiParams::noise,
                  {.label = "Noise ν",
                   .min = -0.1,
                   .max = 1,
                   .visible = [](const MesiParams& p) { return !frees_noise(p.fit); },
                   .doc = "Noise floor ν, added to K² at every exposure"})
            .integer("iterations", &MesiParams::iterations,
                     {.label = "Most iterations",
                      .min = 2,
                      .max = 100,
                      .logarithmic = true,
                      .doc = "Limit of iterations. A pixel that needs more gives no number"})
            .choice("output", &MesiParams::output,
                    {{"index", "Flow index 1/τc"}, {"tau", "Correlation time τc"}},
                    {.doc = "Output: index 1/τc in 1/s, or tau τc in s"})
            .choice("input", &MesiParams::input, contrast_input_names(), {.doc = kContrastInputDoc})
            .several("also", &MesiParams::also, map_names(),
                     {.label = "More images",
                      .cost = Cost::rebuild,
                      .doc = "Further images from the same pass, joined by '+'. residual: root mean square "
                             "of K² minus fit; error: half of the "
                             "68 % interval of 1/τc in 1/s; used: samples in the fit"})
            .table();
    return table;
}

/// Neither proportional to K² nor to its inverse.
Quantity mesi_quantity(const Params& given, const Quantity&) {
    const auto& params = given.as<MesiParams>();
    Quantity quantity =
        params.output == MesiParams::Output::tau
            ? Quantity{"correlation time, multi-exposure fit", "τc", "s", Measure::other}
            : Quantity{"inverse correlation time, multi-exposure fit", "1/τc", "1/s", Measure::other};
    if (!frees_beta(params.fit) && params.beta < 1)
        quantity.name += ", β = " + to_string(ParamValue(params.beta));
    return quantity;
}

std::vector<NamedOutput> mesi_also(const Params& given, const Quantity&) {
    static const std::array<Quantity, kMesiMaps> quantities = {
        {{"dynamic part of the light", "ρ", "1", Measure::other},
         {"coherence factor", "β", "1", Measure::other},
         {"noise floor of K²", "ν", "1", Measure::other},
         {"root mean square of K² − fit", "ΔK²", "1", Measure::other},
         {"error of 1/τc, 68 %", "Δ(1/τc)", "1/s", Measure::other},
         {"iterations of the fit", "n", "1", Measure::other},
         {"exposures used", "m", "1", Measure::other}}};
    std::vector<NamedOutput> outputs;
    for (std::size_t i = 0; i < quantities.size(); ++i)
        if ((given.as<MesiParams>().also >> i & 1U) != 0)
            outputs.push_back({map_names()[i].key, quantities[i]});
    return outputs;
}

Params settle_mesi(const Params& params, const Quantity& input) {
    Params settled = params;
    ContrastInput& own = settled.as<MesiParams>().input;
    own = settled_input("stage mesi", own, input);
    return settled;
}

class MesiHost final : public HostStage {
public:
    explicit MesiHost(const Params& params) : params_(params.as<MesiParams>()), set_(params_) {}

    Shape prepare(const Shape& input) override {
        constexpr std::size_t kAlignment = 16; // samples
        pitch_ = (static_cast<std::size_t>(input.width) + kAlignment - 1) / kAlignment * kAlignment;
        plane_ = pitch_ * static_cast<std::size_t>(input.height);
        const HistoryBytes bytes{.frame = plane_ * sizeof(float), .other = 0, .parameter = "exposures"};
        planes_.reset();
        check_history("stage mesi", "this computer", set_.planes(), bytes, available_host_memory());
        const std::size_t samples = plane_ * static_cast<std::size_t>(set_.planes());
        planes_ = hwy::AllocateAligned<float>(samples);
        if (!planes_)
            throw UsageError("stage mesi: no room for " + std::to_string(samples * sizeof(float)) +
                             " bytes of K². Use fewer exposures or smaller images.");
        std::fill_n(planes_.get(), samples, 0.0F);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        bands_ = band_count(input.height, static_cast<int>(slots_.size()), 4);
        set_.reset();
        kept_.clear();
        return mesi_shape(params_, input);
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        std::vector<HostView> images = {output};
        images.insert(images.end(), context.also.begin(), context.also.end());
        if (context.info.unfinished && kept_.size() == images.size()) { // a fit of the same sums
            (void)set_.next(context.info, context.again);
            for (std::size_t i = 0; i < images.size(); ++i)
                copy_pixels(ConstHostView(kept_[i].data(), output.shape), images[i]);
        } else {
            fit(input, output, context);
            sums_ = sums_ || context.info.unfinished || context.info.summed > 1;
            kept_.resize(sums_ ? images.size() : 0);
            for (std::size_t i = 0; i < kept_.size(); ++i) {
                kept_[i].resize(output.shape.bytes());
                copy_pixels(images[i], HostView(kept_[i].data(), output.shape));
            }
        }
        add_counts(slots_, context.counts);
    }

    void set_params(const Params& params) override {
        params_ = params.as<MesiParams>();
        set_.set_params(params_);
        kept_.clear();
    }
    void reset() override {
        set_.reset();
        kept_.clear();
    }
    Warmup warmup() const override { return set_.warmup(); }
    std::string note() const override { return set_.note(); }
    bool note_changes() const override { return set_.may_restart(); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    void fit(ConstHostView input, HostView output, const RunContext<Space::host>& context) {
        MesiRow same;
        same.store = set_.next(context.info, context.again);
        same.plane = plane_;
        same.width = input.shape.width;
        same.fits = set_.complete();
        same.free = params_.fit;
        same.tau = params_.output == MesiParams::Output::tau;
        std::fill(slots_.begin(), slots_.end(), SlotCounts{});
        for_bands(input.shape.height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; ++y) {
                MesiRow row = same;
                row.input = input.as<float>().row(y);
                row.planes = planes_.get() + pitch_ * static_cast<std::size_t>(y);
                row.output = output.as<float>().row(y);
                std::size_t next = 0;
                for (std::size_t map = 0; map < row.also.size(); ++map)
                    if ((params_.also >> map & 1U) != 0)
                        row.also[map] = context.also[next++].as<float>().row(y);
                run_mesi_row(row, set_.task(), slots_[static_cast<std::size_t>(slot)].counts);
            }
        });
    }

    MesiParams params_;
    MesiSet set_;
    std::size_t pitch_ = 0, plane_ = 0; ///< samples
    hwy::AlignedFreeUniquePtr<float[]> planes_;
    std::vector<SlotCounts> slots_; ///< of the last fit
    bool sums_ = false;             ///< frames are sums (stage sum), which take several frames to change
    std::vector<std::vector<std::byte>> kept_; ///< output and further images of the last fit of sums
    int bands_ = 1;
};

} // namespace

Shape mesi_shape(const MesiParams& params, const Shape& input) {
    check_settled("stage mesi", params.input);
    return input;
}

StageType mesi_stage() {
    return {.name = "mesi",
            .doc = "Flow and static part by a fit to several exposures (Parthasarathy 2008)",
            .title = "Multi-exposure fit",
            .group = StageGroup::contrast,
            .table = &declarations(),
            .types = {PixelType::f32},
            .channels = {1},
            .quantity = mesi_quantity,
            .make_host = host_maker<MesiHost>,
            .make_device = device_maker<make_mesi_device>,
            .also = mesi_also,
            .stateful = true,
            .history =
                [](const Params& params) {
                    const auto& values = params.as<MesiParams>();
                    const auto listed = 1 + std::count_if(values.exposures.begin(), values.exposures.end(),
                                                          [](char c) { return c == '+' || c == ','; });
                    return (values.exposures.empty() ? kMesiExposures : static_cast<int>(listed)) *
                               values.cycles -
                           1;
                },
            .exposures = Exposures::takes_several,
            .science = "Multi-exposure",
            .settle = settle_mesi};
}

} // namespace specklescope
