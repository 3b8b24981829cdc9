// The chain on the host. Stages run in order on the processing thread, each multithreaded (oneTBB). Small
// frames that are queued run together, each whole on one core.
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
        run_waiting();
        if (input_) { // the newest frame's shape; the plan is older if the chain could not run on it
            if (plan_ && plan_->input == *input_ && differs_in_free_only(*chain_, *chain))
                set_params(*chain);
            else
                replace_plan(*chain, *input_);
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        run_waiting();
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
        if (plan_ && plan_->input == input)
            return;
        run_waiting();
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
        const bool waits = !again && !gap_ && may_wait() && plan_->input == frame.shape() &&
                           !frame.info().recorded_in_warmup;
        if (!waits)
            run_waiting();
        prepare(frame.shape(), true);
        Work work;
        // slots before any other change
        work.slot = plan_->steps.empty() ? Frame() : take_slot();
        work.also = plan_->take_also(false);
        if (std::exchange(gap_, false))
            plan_->reset();
        work.again = again;
        work.frame = std::move(frame);
        Result& result = work.result;
        result.info = work.frame.info();
        result.info.version = version_;
        result.chain = chain_;
        result.quantity = chain_->quantity();
        result.exposure = exposure_used(*chain_, result.info);
        result.to_grey = plan_->to_grey;
        work.info = result.info;
        work.image = work.frame.host();
        work.complete = !result.info.recorded_in_warmup;
        if (waits) {
            waiting_.push_back(std::move(work));
            return;
        }
        count_raw(work);
        for (std::size_t i = 0; i < plan_->steps.size(); ++i)
            run_step(i, work);
        count_result(work);
        finish(work);
    }

    std::optional<Result> collect(bool wait) override {
        if (done_.empty() && wait)
            run_waiting();
        if (done_.empty())
            return std::nullopt;
        const Done done = std::move(done_.front());
        done_.pop_front();
        if (!done.failure.empty())
            throw LostFrame(done.failure);
        return done.result;
    }
    int in_flight() const override { return static_cast<int>(done_.size() + waiting_.size()); }
    int capacity() const override { return may_wait() ? std::clamp(2 * parallel_threads(), 8, 32) : 1; }

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
        lanes_.clear();
        stored_.clear();
        regions_.set(placed);
    }

    /// An edit of free parameters.
    void set_params(const Chain& chain) {
        plan_->set_params(chain);
        for (Lane& lane : lanes_)
            for (std::size_t i = 0; i < lane.places.size(); ++i)
                if (lane.places[i].stage)
                    lane.places[i].stage->set_params(plan_->steps[i].link.params);
    }

    Frame take_slot() {
        Frame slot = std::exchange(next_slot_, Frame());
        if (!slot || slot.shape() != plan_->output)
            slot = plan_->results->acquire(std::chrono::seconds(10));
        if (!slot)
            throw NoSlot();
        return slot;
    }

    /// A frame on its way through the plan.
    struct Work {
        Frame frame, slot;
        std::vector<NamedImage> also;
        std::size_t named = 0; ///< of `also`, made so far
        Result result;
        FrameInfo info;      ///< as described by the stages so far
        ConstHostView image; ///< of the last stage
        CountSources sources;
        std::uint64_t aged = 0; ///< of HostStage::count_in_order(), for the next step
        bool complete = true;   ///< every window so far is complete
        bool again = false;
        std::string failure; ///< empty: none
    };
    struct Done {
        Result result;
        std::string failure;
    };
    /// Copies of the stages without a window, and images between stages. An empty place uses the plan's.
    struct Lane {
        struct Place {
            std::unique_ptr<HostStage> stage;
            Frame conversion, between;
        };
        std::vector<Place> places; ///< of the plan's steps
    };

    /// Small frames wait, to be processed several at a time, unless their results need the order of single
    /// frames: notes and warm-up change with each.
    bool may_wait() const {
        return plan_ && plan_->input.pixels() <= kWholePixels && plan_->output.pixels() <= kWholePixels &&
               plan_->notes_settled() && plan_->also.empty();
    }

    /// One lane per thread for images inside a group of stages, and one per frame for those between groups.
    void make_lanes(std::size_t threads, std::size_t frames) {
        const ThreadLimit whole(1);
        for (std::vector<Lane>* const lanes : {&lanes_, &stored_})
            while (lanes->size() < (lanes == &lanes_ ? threads : frames)) {
                Lane lane;
                for (const HostPlan::Step& step : plan_->steps) {
                    Lane::Place& place = lane.places.emplace_back();
                    if (step.between)
                        place.between = FrameRing(step.output, 1, host_memory()).try_acquire();
                    if (lanes == &stored_ || step.link.type->stateful || step.skipped)
                        continue;
                    place.stage = step.link.type->make_host(step.link.params);
                    place.stage->prepare(step.converted);
                    place.stage->count_over(step.counted_over > 1 ? 0 : 1);
                    if (step.conversion)
                        place.conversion = FrameRing(step.converted, 1, host_memory()).try_acquire();
                }
                lanes->push_back(std::move(lane));
            }
    }

    /// Processes the waiting frames: stages without a window for several at a time, the others in order.
    void run_waiting() {
        std::vector<Work> works = std::exchange(waiting_, {});
        if (works.empty())
            return;
        const int count = static_cast<int>(works.size()), threads = parallel_threads();
        const auto for_all = [&](auto&& f) {
            try {
                f();
            } catch (const std::exception& error) {
                for (Work& work : works)
                    work.failure = sentence_of(error);
            }
        };
        for_all([&] { make_lanes(static_cast<std::size_t>(std::min(count, threads)), works.size()); });
        const auto together = [&](auto&& f) {
            run_bands(count, threads, [&](int index, int slot) {
                const ThreadLimit whole(1);
                guarded(works[static_cast<std::size_t>(index)], [&](Work& work) {
                    f(work, static_cast<std::size_t>(index), static_cast<std::size_t>(slot));
                });
            });
        };
        const std::vector<HostPlan::Step>& steps = plan_->steps;
        if (steps.empty() || steps[0].link.type->stateful)
            together([&](Work& work, std::size_t, std::size_t) { count_raw(work); });
        for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
            end = begin + 1;
            if (steps[begin].link.type->stateful) {
                bool done = false;
                for_all([&] { done = run_together(begin, works); });
                for (std::size_t k = 0; !done && k < works.size(); ++k)
                    guarded(works[k], [&](Work& work) { run_step(begin, work, nullptr, &stored_[k]); });
                continue;
            }
            while (end < steps.size() && !steps[end].link.type->stateful && steps[end].counted_over <= 1)
                ++end;
            if (steps[begin].counted_over > 1)
                for_all([&] { count_in_order(begin, works); });
            together([&](Work& work, std::size_t index, std::size_t slot) {
                if (begin == 0)
                    count_raw(work);
                for (std::size_t i = begin; i < end; ++i)
                    run_step(i, work, &lanes_[slot], i + 1 < end ? &lanes_[slot] : &stored_[index]);
                if (end == steps.size())
                    count_result(work);
            });
        }
        if (steps.empty() || steps.back().link.type->stateful)
            together([&](Work& work, std::size_t, std::size_t) { count_result(work); });
        for (Work& work : works) {
            guarded(work, [&](Work&) { finish(work); });
            if (!work.failure.empty()) {
                gap_ = true;
                done_.push_back({{}, work.failure});
            }
        }
    }

    template <class F> static void guarded(Work& work, F&& f) {
        if (!work.failure.empty())
            return;
        try {
            f(work);
        } catch (const std::exception& error) {
            work.failure = sentence_of(error);
        }
    }

    using Runs = std::vector<StageRun<Space::host>>;

    /// Before the stages of the lanes run.
    void count_in_order(std::size_t i, std::vector<Work>& works) {
        HostPlan::Step& step = plan_->steps[i];
        if (step.skipped)
            return;
        std::vector<PixelCounts> counts(works.size());
        Runs frames;
        for (std::size_t k = 0; k < works.size(); ++k) {
            Work& work = works[k];
            if (!work.failure.empty())
                continue;
            step.begin(work.complete);
            const auto add = [&](ConstHostView image, const FrameInfo& info) {
                frames.push_back(
                    {image, {}, {.info = info, .counts = counts[k], .again = info.left_out(), .also = {}}});
            };
            if (!step.conversion) {
                add(work.image, work.info);
                continue;
            }
            FrameInfo info = work.info; // converted images have the memory of one
            convert(work.image, step.conversion.host(), plan_->channel);
            describe_conversion(work.image.shape.type, info);
            add(step.conversion.host(), info);
            step.stage->count_in_order(std::exchange(frames, {}));
        }
        if (!frames.empty())
            step.stage->count_in_order(frames);
        for (std::size_t k = 0; k < works.size(); ++k)
            works[k].aged = counts[k].saturated;
    }

    /// A stage with a window runs on all frames at once, if it can. False: nothing was done.
    bool run_together(std::size_t i, std::vector<Work>& works) {
        HostPlan::Step& step = plan_->steps[i];
        if (step.skipped || step.conversion ||
            std::any_of(works.begin(), works.end(), [](const Work& work) { return !work.failure.empty(); }))
            return false;
        const auto begin = SteadyClock::now();
        std::vector<PixelCounts> counts(works.size());
        Runs frames;
        for (std::size_t k = 0; k < works.size(); ++k) {
            Work& work = works[k];
            step.begin(work.complete);
            frames.push_back(
                {work.image,
                 step.between ? stored_[k].places[i].between.host() : work.slot.host(),
                 {.info = work.info, .counts = counts[k], .again = work.info.left_out(), .also = {}}});
        }
        if (!step.stage->run_together(frames))
            return false;
        const double ms = ms_between(begin, SteadyClock::now()) / static_cast<double>(works.size());
        for (std::size_t k = 0; k < works.size(); ++k)
            after_step(i, *step.stage, works[k], frames[k].output, counts[k], ms);
        return true;
    }

    /// `lane`: has the stage and its input; `into`: the output. Null: the plan's.
    void run_step(std::size_t i, Work& work, const Lane* lane = nullptr, const Lane* into = nullptr) {
        HostPlan::Step& step = plan_->steps[i];
        HostStage& stage = lane && lane->places[i].stage ? *lane->places[i].stage : *step.stage;
        Result& result = work.result;
        auto begin = SteadyClock::now();
        if (step.conversion) {
            const HostView converted =
                (lane && lane->places[i].conversion ? lane->places[i].conversion : step.conversion).host();
            convert(work.image, converted, plan_->channel);
            describe_conversion(work.image.shape.type, work.info);
            work.image = converted;
            const auto end = SteadyClock::now();
            result.timings.push_back({"convert", ms_between(begin, end)});
            begin = end;
        }
        if (step.skipped)
            return;
        const HostView output =
            step.between ? (into ? into->places[i].between : step.between).host() : work.slot.host();
        PixelCounts counts{.saturated = std::exchange(work.aged, 0)};
        if (!lane)
            step.begin(work.complete);
        std::vector<HostView> views;
        const std::size_t first = work.named;
        for (; work.named < work.also.size() && plan_->also[work.named].step == i; ++work.named)
            views.push_back(work.also[work.named].image.host());
        stage.run(work.image, output,
                  {.info = work.info,
                   .counts = counts,
                   .again = work.again || work.info.left_out(),
                   .also = views});
        after_step(i, stage, work, output, counts, ms_between(begin, SteadyClock::now()));
        for (std::size_t k = first; k < work.named; ++k)
            finish_named(work.frame.host(), work.also[k], plan_->warmup(i + 1), result, work.info);
    }

    /// Takes a stage's counts, its description of the image and its time.
    void after_step(std::size_t i, const HostStage& stage, Work& work, const HostView& output,
                    const PixelCounts& counts, double ms) {
        Result& result = work.result;
        work.complete = work.complete && stage.warmup().done();
        const int place = static_cast<int>(i);
        work.sources.after(place, stage.counted(), work.image.shape.type, work.info, output.shape);
        if (work.sources.saturated == place)
            result.counts.saturated = counts.saturated;
        result.counts.undefined = counts.undefined;
        result.counts.infinite = counts.infinite;
        stage.describe(work.info);
        work.image = output;
        result.timings.push_back({plan_->steps[i].link.type->name, ms, place});
        result.counts.windows = work.sources.windows;
    }

    void finish(Work& work) {
        Result& result = work.result;
        measure_regions(work.frame.host(), work.image, work.info, result);
        if (!plan_->steps.empty()) {
            result.describe(*chain_, work.info);
            work.slot.info() = result.info;
        }
        result.image = plan_->steps.empty() ? work.frame : std::move(work.slot);
        if (!work.also.empty())
            result.also = std::make_shared<const std::vector<NamedImage>>(std::move(work.also));
        result.warmup = plan_->warmup();
        plan_->refresh_notes();
        result.notes = plan_->notes;
        result.raw = std::move(work.frame);
        result.ready = SteadyClock::now();
        done_.push_back({std::move(result), {}});
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
        result.timings.push_back({"also", ms_between(begin, SteadyClock::now())});
    }

    static void count_raw(Work& work) {
        const ConstHostView raw = work.frame.host();
        const std::optional<double> threshold = saturation_threshold(raw.shape.type, work.result.info);
        if (!threshold)
            return;
        const auto begin = SteadyClock::now();
        work.result.counts.raw_saturated = count_saturated(raw, *threshold);
        work.result.counts.raw_samples = raw.shape.samples();
        work.result.timings.push_back({"saturation", ms_between(begin, SteadyClock::now())});
    }

    /// For chains whose last stage does not count.
    static void count_result(Work& work) {
        if (work.sources.undefined >= 0)
            return;
        Result& result = work.result;
        result.counts.undefined = result.counts.infinite = 0;
        if (work.image.shape.type != PixelType::f32)
            return;
        const auto begin = SteadyClock::now();
        count_undefined(work.image, result.counts);
        result.timings.push_back({"undefined", ms_between(begin, SteadyClock::now())});
    }

    /// `info`: of the final image.
    void measure_regions(ConstHostView raw, ConstHostView image, const FrameInfo& info, Result& result) {
        const auto begin = SteadyClock::now();
        result.regions = regions_of(raw, image, result.quantity, *chain_, result.info, info);
        if (result.regions)
            result.timings.push_back({"regions", ms_between(begin, SteadyClock::now())});
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
    std::vector<Work> waiting_;
    std::vector<Lane> lanes_, stored_; ///< per thread, per frame; made with the first waiting frames
    std::deque<Done> done_;
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
