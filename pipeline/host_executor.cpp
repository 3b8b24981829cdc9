// The chain on the host: stages run in order on the processing thread, each multithreaded (oneTBB).
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/executor.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/regions/region_sums.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace specklescope {

namespace {

double ms_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

/// Exposure in chunk data may vary by steps of the camera's clock; relative differences below this are
/// ignored.
constexpr double kSameExposure = 1e-3;

bool same(double a, double b, double part = 0) {
    return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b)
                                          : std::abs(a - b) <= part * std::max(a, b);
}

using HostPlan = Plan<Space::host>;

class HostExecutor final : public Executor {
public:
    explicit HostExecutor(int threads) : limit_(threads) {}

    std::string backend() const override { return "cpu"; }
    std::string device_name() const override {
        std::int64_t best = 0; // the best targets have the lowest bits
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
            best = best == 0 ? target : std::min(best, target);
        return std::string(hwy::TargetName(best)) + ", " + std::to_string(limit_.threads()) +
               (limit_.threads() == 1 ? " thread" : " threads");
    }
    std::shared_ptr<SlotMemory> slot_memory() const override { return host_memory(); }

    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        if (input_) { // the newest frame's shape; the plan is older if the chain could not run on it
            if (plan_ && plan_->input == *input_ && differs_in_free_only(*chain_, *chain))
                plan_->set_params(*chain);
            else
                replace_plan(*chain, *input_);
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        const RegionsInEffect next{std::move(regions), version};
        regions_.set(plan_ ? next.on(plan_->output, nullptr) : nullptr);
        in_effect_ = next;
        version_ = version;
    }

    std::optional<Shape> output() const override {
        return plan_ ? std::optional(plan_->output) : std::nullopt;
    }

    void prepare(const Shape& input, bool) override {
        input_ = input;
        if (!plan_ || plan_->input != input)
            replace_plan(*chain_, input);
    }

    void lend_result(const Frame& into) override { next_slot_ = into; }
    void forget_caller() noexcept override { next_slot_.reset(); }

    void submit(Frame frame, bool, bool again) override {
        // A frame that fails here is missing in every window: the next frame does not follow it.
        if (!again)
            gap_ = !basis_.change(frame.info(), *chain_).empty() || frame.info().discontinuity || gap_;
        if (!again && plan_ && plan_->input != frame.shape())
            gap_ = true;
        prepare(frame.shape(), true);
        // slots before any other change
        Frame slot = plan_->steps.empty() ? Frame() : take_slot();
        std::vector<NamedImage> also = plan_->take_also(false);
        if (std::exchange(gap_, false))
            plan_->reset();
        Result result;
        result.info = frame.info();
        result.info.version = version_;
        result.chain = chain_;
        result.quantity = chain_->quantity();
        result.exposure = exposure_used(*chain_, result.info);
        result.to_grey = plan_->to_grey;
        count_raw(frame.host(), result);
        if (plan_->steps.empty()) {
            result.image = frame;
            count_result(frame.host(), result);
            measure_regions(frame.host(), frame.host(), frame.info(), result);
        } else {
            result.image = run(frame, std::move(slot), also, result, again);
        }
        if (!also.empty())
            result.also = std::make_shared<const std::vector<NamedImage>>(std::move(also));
        result.warmup = plan_->warmup();
        plan_->refresh_notes();
        result.notes = plan_->notes;
        result.raw = std::move(frame);
        result.ready = SteadyClock::now();
        done_.push_back(std::move(result));
    }

    std::optional<Result> collect(bool) override {
        if (done_.empty())
            return std::nullopt;
        Result result = std::move(done_.front());
        done_.pop_front();
        return result;
    }
    int in_flight() const override { return static_cast<int>(done_.size()); }
    int capacity() const override { return 1; }

    bool wait_slot(std::chrono::milliseconds timeout) override {
        const auto end = SteadyClock::now() + timeout;
        if (!plan_ || !plan_->results)
            return true;
        if (!next_slot_)
            next_slot_ = plan_->results->acquire(timeout);
        return next_slot_ && plan_->wait_also(end);
    }

private:
    /// Keeps the old plan and its results if the new plan cannot be made.
    void replace_plan(const Chain& chain, const Shape& input) {
        auto next = std::make_unique<HostPlan>(
            chain, input, PlanMemory{.stages = host_memory(), .downloads = nullptr}, plan_.get());
        if (agree_ && plan_ && plan_->input == input)
            agree_(next->output);
        const auto placed = in_effect_.on(next->output, regions_.placed());
        next->take_over(chain, plan_.get());
        plan_ = std::move(next);
        regions_.set(placed);
    }

    Frame take_slot() {
        Frame slot = std::exchange(next_slot_, Frame());
        if (!slot || slot.shape() != plan_->output)
            slot = plan_->results->acquire(std::chrono::seconds(10));
        if (!slot)
            throw NoSlot();
        return slot;
    }

    Frame run(const Frame& frame, Frame slot, std::vector<NamedImage>& also, Result& result, bool again) {
        ConstHostView image = frame.host();
        FrameInfo info = result.info;
        CountSources sources;
        bool complete = !info.recorded_in_warmup; // every window so far is complete
        std::size_t named = 0;
        std::vector<HostView> views;
        for (int i = 0; i < static_cast<int>(plan_->steps.size()); ++i) {
            HostPlan::Step& step = plan_->steps[static_cast<std::size_t>(i)];
            auto begin = SteadyClock::now();
            if (step.conversion) {
                convert(image, step.conversion.host(), plan_->channel);
                describe_conversion(image.shape.type, info);
                image = step.conversion.host();
                const auto end = SteadyClock::now();
                result.timings.add("convert", ms_between(begin, end));
                begin = end;
            }
            if (step.skipped)
                continue;
            const HostView output = step.between ? step.between.host() : slot.host();
            PixelCounts counts;
            step.begin(complete);
            views.clear();
            const std::size_t first = named;
            for (; named < also.size() && plan_->also[named].step == static_cast<std::size_t>(i); ++named)
                views.push_back(also[named].image.host());
            step.stage->run(
                image, output,
                {.info = info, .counts = counts, .again = again || info.left_out(), .also = views});
            complete = complete && step.stage->warmup().done();
            sources.after(i, step.stage->counted(), image.shape.type, info, output.shape);
            if (sources.saturated == i)
                result.counts.saturated = counts.saturated;
            result.counts.undefined = counts.undefined;
            result.counts.infinite = counts.infinite;
            step.stage->describe(info);
            image = output;
            result.timings.add(step.link.type->name, ms_between(begin, SteadyClock::now()), i);
            result.counts.windows = sources.windows;
            for (std::size_t k = first; k < named; ++k)
                finish_named(frame.host(), also[k], plan_->warmup(static_cast<std::size_t>(i) + 1), result,
                             info);
        }
        if (sources.undefined < 0)
            count_result(image, result);
        measure_regions(frame.host(), image, info, result);
        result.describe(*chain_, info);
        slot.info() = result.info;
        return slot;
    }

    /// `info`: after the stage that made the image.
    void finish_named(ConstHostView raw, NamedImage& named, const Warmup& warmup, Result& result,
                      const FrameInfo& info) {
        const auto begin = SteadyClock::now();
        const ConstHostView image = named.image.host();
        named.image.info() = result.info;
        named.counts = result.counts;
        named.counts.undefined = named.counts.infinite = 0;
        count_undefined(image, named.counts);
        named.warmup = warmup;
        named.regions = regions_of(raw, image, named.quantity, *named.chain, result.info, info);
        result.timings.add("also", ms_between(begin, SteadyClock::now()));
    }

    static void count_raw(ConstHostView raw, Result& result) {
        const std::optional<double> threshold = saturation_threshold(raw.shape.type, result.info);
        if (!threshold)
            return;
        const auto begin = SteadyClock::now();
        result.counts.raw_saturated = count_saturated(raw, *threshold);
        result.counts.raw_samples = raw.shape.samples();
        result.timings.add("saturation", ms_between(begin, SteadyClock::now()));
    }

    /// For chains whose last stage does not count.
    static void count_result(ConstHostView image, Result& result) {
        result.counts.undefined = result.counts.infinite = 0;
        if (image.shape.type != PixelType::f32)
            return;
        const auto begin = SteadyClock::now();
        count_undefined(image, result.counts);
        result.timings.add("undefined", ms_between(begin, SteadyClock::now()));
    }

    /// `info`: of the final image.
    void measure_regions(ConstHostView raw, ConstHostView image, const FrameInfo& info, Result& result) {
        const auto begin = SteadyClock::now();
        result.regions = regions_of(raw, image, result.quantity, *chain_, result.info, info);
        if (result.regions)
            result.timings.add("regions", ms_between(begin, SteadyClock::now()));
    }

    /// Null without regions, and for an image of another size than the last one.
    std::shared_ptr<const RegionValues> regions_of(ConstHostView raw, ConstHostView image,
                                                   const Quantity& quantity, const Chain& chain,
                                                   const FrameInfo& raw_info, const FrameInfo& info) {
        const auto& placed = regions_.placed();
        if (!placed || placed->width != image.shape.width || placed->height != image.shape.height)
            return nullptr;
        return regions_.measure(
            {.image = image,
             .raw = raw,
             .channel = plan_->channel,
             .mean = region_mean(quantity.measure),
             .saturation = saturation_look(chain, raw.shape, raw_info, image.shape, info)});
    }

    ProcessThreadLimit limit_;
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::uint64_t version_ = 0;
    std::optional<Shape> input_;
    std::unique_ptr<HostPlan> plan_;
    RegionsInEffect in_effect_;
    HostRegions regions_; ///< placed on the plan's output
    FrameBasis basis_;
    bool gap_ = false; ///< since the last processed frame
    Frame next_slot_;
    std::deque<Result> done_;
};

} // namespace

std::string_view FrameBasis::change(const FrameInfo& info, const Chain& chain) {
    const FrameInfo& before = first_ ? *first_ : info;
    const bool other_exposure = !same(before.exposure_ms, info.exposure_ms, kSameExposure);
    const std::string_view what = other_exposure && !chain.takes_several_exposures() ? "exposure"
                                  : !same(before.gain, info.gain)                    ? "gain"
                                  : !same(before.full_scale, info.full_scale)        ? "full scale"
                                  : before.light != info.light                       ? "kind of light"
                                                                                     : "";
    if (!first_ || !what.empty())
        first_ = info;
    return what;
}

std::unique_ptr<Executor> make_host_executor(int threads) { return std::make_unique<HostExecutor>(threads); }

} // namespace specklescope
