// The chain on the host. Stages run in order on the processing thread, each multithreaded (oneTBB). Small
// frames run in groups, each frame whole on one core, while the processing thread takes and delivers others.
#include "base/background_threads.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/executor.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/regions/region_sums.hpp"
#include "pipeline/results_of_chain.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>

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
        run_all();
        if (input_) { // the newest frame's shape; the plan is older if the chain could not run on it
            if (plan_ && plan_->input == *input_ && differs_in_free_only(*results_.chain(), *chain))
                set_params(*chain);
            else
                replace_plan(*chain, *input_);
        }
        results_ = ResultsOfChain(std::move(chain));
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        run_all();
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
        run_all();
        replace_plan(chain(), input);
    }

    void lend_result(const Frame& into) override { next_slot_ = into; }
    void forget_caller() noexcept override { next_slot_.reset(); }

    void submit(Frame frame, bool, bool again) override {
        // A frame that fails here is missing in every window: the next frame does not follow it.
        if (!again)
            gap_ = !basis_.change(frame.info(), chain()).empty() || frame.info().discontinuity || gap_;
        if (!again && plan_ && plan_->input != frame.shape())
            gap_ = true;
        const bool waits = !again && !gap_ && may_wait() && plan_->input == frame.shape() &&
                           !frame.info().recorded_in_warmup;
        if (!waits)
            run_all();
        prepare(frame.shape(), true);
        Work work;
        // Allocate before any other change: a frame without memory is refused.
        if (waits && parts_.empty())
            make_parts();
        work.slot = plan_->steps.empty() ? Frame() : take_slot();
        work.also = plan_->take_also(false);
        if (std::exchange(gap_, false))
            plan_->reset();
        if (frame.info().recorded_in_warmup)
            plan_->unsettle();
        work.again = again;
        work.frame = std::move(frame);
        Result& result = work.result;
        results_.describe(result, work.frame.info(), version_);
        result.to_grey = plan_->to_grey;
        result.timings.reserve(plan_->steps.size() + 3);
        work.info = result.info;
        work.image = work.frame.host();
        work.complete = !result.info.recorded_in_warmup;
        if (waits) {
            waiting_.reserve(kGroup);
            waiting_.push_back(std::move(work));
            if (waiting_.size() >= kGroup)
                start();
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
            start();
        while (done_.empty() && !groups_.empty() && (wait || groups_.front()->ended))
            end_group();
        if (done_.empty())
            return std::nullopt;
        Done done = std::move(done_.front());
        done_.pop_front();
        if (!done.failure.empty())
            throw LostFrame(done.failure);
        return std::move(done.result);
    }
    int in_flight() const override { return static_cast<int>(done_.size() + waiting_.size()) + started_; }
    int capacity() const override { return may_wait() ? most_in_flight() : 1; }

    bool wait_slot(std::chrono::milliseconds timeout) override {
        const auto end = SteadyClock::now() + timeout;
        if (!plan_ || !plan_->results)
            return true;
        if (!next_slot_)
            next_slot_ = plan_->results->acquire(timeout);
        return next_slot_ && plan_->wait_also(end);
    }

private:
    const Chain& chain() const { return *results_.chain(); }

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
        between_.clear();
        parts_.clear();
        regions_.set(placed);
    }

    /// An edit of free parameters.
    void set_params(const Chain& chain) {
        plan_->set_params(chain);
        for (Lane& lane : lanes_)
            for (std::size_t i = 0; i < lane.size(); ++i)
                if (lane[i].stage)
                    lane[i].stage->set_params(plan_->steps[i].link.params);
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
        Frame between;       ///< memory of `image` in a group
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
    /// For a thread that works on a group: a copy of a stage without a window, and its converted input. Empty
    /// members: the plan's are used.
    struct Place {
        std::unique_ptr<HostStage> stage;
        Frame conversion;
    };
    using Lane = std::vector<Place>; ///< per step of the plan
    struct Group;
    /// Steps [begin, end) of the plan: for several frames at a time, or for a group at once, after the
    /// previous group.
    struct Part {
        std::size_t begin = 0, end = 0;
        bool in_order = false;                       ///< with begin = end: HostStage::count_in_order()
        std::uint64_t turn = 0;                      ///< number of the next group
        std::vector<std::shared_ptr<Group>> early{}; ///< wait for their turn
    };
    /// Small frames on their way through the parts. Any thread takes the next task of a group.
    struct Group {
        Group(std::uint64_t order, std::vector<Work> given)
            : number(order), works(std::move(given)), frames(works.size()), next(frames) {}
        const std::uint64_t number;
        std::vector<Work> works;
        const std::size_t frames;
        /// Part in the upper half, frame in the lower; `frames` and above: none. A task in order has the last
        /// frame's number.
        std::atomic<std::uint64_t> next;
        std::atomic<std::size_t> left{0}; ///< tasks of the part that have not ended
        std::atomic<bool> ended{false};
    };
    using SharedGroup = std::shared_ptr<Group>; ///< also held by the threads that were called for it
    static constexpr unsigned kPartBits = 32;
    static constexpr std::size_t kGroup = 8; ///< frames

    /// Small frames wait, to be processed several at a time, unless their results need the order of single
    /// frames: notes and warm-up change with each.
    bool may_wait() const {
        return plan_ && plan_->input.pixels() <= kWholePixels && plan_->output.pixels() <= kWholePixels &&
               plan_->notes_settled() && plan_->also.empty();
    }

    /// Constant while the executor exists, unlike parallel_threads(): between_ has as many images.
    int most_in_flight() const { return std::clamp(2 * limit_.threads() + static_cast<int>(kGroup), 16, 48); }

    /// Before the first frame that waits.
    void make_parts() {
        const std::vector<HostPlan::Step>& steps = plan_->steps;
        between_.clear(); // left by an attempt that ran out of memory
        for (const HostPlan::Step& step : steps)
            between_.push_back(step.between
                                   ? std::make_unique<FrameRing>(step.output, most_in_flight(), host_memory())
                                   : nullptr);
        const auto add = [&](std::size_t begin, std::size_t end, bool in_order) {
            parts_.push_back({.begin = begin, .end = end, .in_order = in_order, .turn = groups_made_});
        };
        const auto alone = [&](std::size_t i) { return steps[i].link.type->stateful && !steps[i].skipped; };
        if (steps.empty() || alone(0))
            add(0, 0, false); // counts only
        for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
            end = begin + 1;
            if (alone(begin)) {
                add(begin, end, true);
                continue;
            }
            while (end < steps.size() && !alone(end) && steps[end].counted_over <= 1)
                ++end;
            if (steps[begin].counted_over > 1 && !steps[begin].skipped)
                add(begin, begin, true);
            add(begin, end, false);
        }
        if (!steps.empty() && alone(steps.size() - 1) && !steps.back().stage->counted().undefined)
            add(steps.size(), steps.size(), false);
    }

    Lane take_lane() {
        {
            const std::scoped_lock lock(mutex_);
            if (!lanes_.empty()) {
                Lane lane = std::move(lanes_.back());
                lanes_.pop_back();
                return lane;
            }
        }
        Lane lane;
        for (const HostPlan::Step& step : plan_->steps) {
            Place& place = lane.emplace_back();
            if (step.conversion)
                place.conversion = FrameRing(step.converted, 1, host_memory()).try_acquire();
            if (step.link.type->stateful || step.skipped)
                continue;
            place.stage = step.link.type->make_host(step.link.params);
            place.stage->prepare(step.converted);
            place.stage->count_over(step.counted_over > 1 ? 0 : 1);
        }
        return lane;
    }

    /// Starts work on the waiting frames.
    void start() {
        if (waiting_.empty())
            return;
        const auto group = std::make_shared<Group>(groups_made_++, std::exchange(waiting_, {}));
        started_ += static_cast<int>(group->frames);
        groups_.push_back(group);
        begin_part(group, 0);
        if (group->frames > 1 || groups_.size() > 1)
            call_thread(group);
    }

    void call_thread(const SharedGroup& group) {
        if (parallel_threads() > 1)
            threads_.start([this, group] { work_on(group); });
    }

    /// Offers the tasks of the part, if it is the group's turn.
    void begin_part(const SharedGroup& group, std::size_t part) {
        if (part == parts_.size()) {
            group->ended = true;
            group->ended.notify_one();
            return;
        }
        if (parts_[part].in_order) {
            const std::scoped_lock lock(mutex_);
            if (parts_[part].turn != group->number) {
                parts_[part].early.push_back(group);
                return;
            }
        }
        offer(*group, part);
    }
    void offer(Group& group, std::size_t part) {
        const bool in_order = parts_[part].in_order;
        group.left = in_order ? 1 : group.frames;
        group.next = std::uint64_t{part} << kPartBits | (in_order ? group.frames - 1 : 0);
    }

    /// Continues with the next part; the next group may have its turn.
    void end_part(const SharedGroup& group, std::size_t index) {
        Part& part = parts_[index];
        SharedGroup next;
        if (part.in_order) {
            const std::scoped_lock lock(mutex_);
            ++part.turn;
            const auto found =
                std::find_if(part.early.begin(), part.early.end(),
                             [&](const SharedGroup& early) { return early->number == part.turn; });
            if (found != part.early.end()) {
                next = std::move(*found);
                part.early.erase(found);
            }
        }
        if (next) {
            offer(*next, index);
            call_thread(next);
        }
        begin_part(group, index + 1);
    }

    /// Does tasks of the group that no other thread has taken, at most `most`. Returns their number.
    int work_on(const SharedGroup& group, int most = std::numeric_limits<int>::max()) {
        int done = 0;
        auto called = std::numeric_limits<std::size_t>::max(); // part for which another thread was called
        for (; done < most; ++done) {
            const std::uint64_t next = group->next++;
            const std::size_t frame = next & ((std::uint64_t{1} << kPartBits) - 1);
            if (frame >= group->frames)
                break;
            const std::size_t part = next >> kPartBits;
            if (frame + 1 < group->frames && std::exchange(called, part) != part)
                call_thread(group);
            if (parts_[part].in_order)
                run_in_order(parts_[part], group->works);
            else
                guarded(group->works[frame], [&](Work& work) { run_frame(parts_[part], work); });
            if (--group->left == 0) // after the last one, the plan may change
                end_part(group, part);
        }
        return done;
    }

    void run_frame(const Part& part, Work& work) {
        const ThreadLimit whole(1);
        if (part.begin == 0)
            count_raw(work);
        if (part.begin < part.end) {
            Lane lane = take_lane();
            for (std::size_t i = part.begin; i < part.end; ++i)
                run_step(i, work, lane[i], true);
            const std::scoped_lock lock(mutex_);
            lanes_.push_back(std::move(lane));
        }
        if (part.end == plan_->steps.size())
            count_result(work);
    }

    void run_in_order(const Part& part, std::vector<Work>& works) {
        try {
            if (part.begin == part.end)
                return count_in_order(part.begin, works);
            if (run_together(part.begin, works))
                return;
        } catch (const std::exception& error) {
            for (Work& work : works)
                work.failure = sentence_of(error);
        }
        for (Work& work : works)
            guarded(work, [&](Work&) { run_step(part.begin, work, {}, true); });
    }

    /// Waits for the oldest group; this thread takes part.
    void end_group() {
        const SharedGroup group = groups_.front();
        if (!group->ended)
            threads_.run([&] {
                while (!group->ended)
                    if (std::none_of(groups_.begin(), groups_.end(), [&](const SharedGroup& one) {
                            return !group->ended && work_on(one, 1) > 0;
                        }))
                        group->ended.wait(false);
            });
        groups_.pop_front();
        started_ -= static_cast<int>(group->frames);
        for (Work& work : std::exchange(group->works, {})) {
            guarded(work, [&](Work&) { finish(work); });
            if (!work.failure.empty()) {
                gap_ = true;
                done_.push_back({{}, work.failure});
            }
        }
    }

    void run_all() {
        start();
        while (!groups_.empty())
            end_group();
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
        if (step.conversion ||
            std::any_of(works.begin(), works.end(), [](const Work& work) { return !work.failure.empty(); }))
            return false;
        const auto begin = SteadyClock::now();
        std::vector<PixelCounts> counts(works.size());
        std::vector<Frame> outputs;
        Runs frames;
        for (std::size_t k = 0; k < works.size(); ++k) {
            Work& work = works[k];
            step.begin(work.complete);
            outputs.push_back(output_of(i, work, true));
            frames.push_back(
                {work.image,
                 outputs[k].host(),
                 {.info = work.info, .counts = counts[k], .again = work.info.left_out(), .also = {}}});
        }
        if (!step.stage->run_together(frames))
            return false;
        const double ms = ms_between(begin, SteadyClock::now()) / static_cast<double>(works.size());
        for (std::size_t k = 0; k < works.size(); ++k)
            after_step(i, *step.stage, works[k], outputs[k], counts[k], ms);
        return true;
    }

    /// Memory for the output of step i.
    Frame output_of(std::size_t i, const Work& work, bool in_group) const {
        const Frame& between = plan_->steps[i].between;
        return !between ? work.slot : in_group ? between_[i]->try_acquire() : between;
    }

    /// `place`: of a lane; empty: the plan's.
    void run_step(std::size_t i, Work& work, const Place& place = {}, bool in_group = false) {
        HostPlan::Step& step = plan_->steps[i];
        HostStage& stage = place.stage ? *place.stage : *step.stage;
        Result& result = work.result;
        auto begin = SteadyClock::now();
        if (step.conversion) {
            const HostView converted = (place.conversion ? place.conversion : step.conversion).host();
            convert(work.image, converted, plan_->channel);
            describe_conversion(work.image.shape.type, work.info);
            work.image = converted;
            const auto end = SteadyClock::now();
            result.timings.push_back({"convert", ms_between(begin, end)});
            begin = end;
        }
        if (step.skipped)
            return;
        const Frame output = output_of(i, work, in_group);
        PixelCounts counts{.saturated = std::exchange(work.aged, 0)};
        if (!place.stage)
            step.begin(work.complete);
        std::vector<HostView> views;
        const std::size_t first = work.named;
        for (; work.named < work.also.size() && plan_->also[work.named].step == i; ++work.named)
            views.push_back(work.also[work.named].image.host());
        stage.run(work.image, output.host(),
                  {.info = work.info,
                   .counts = counts,
                   .again = work.again || work.info.left_out(),
                   .also = views});
        after_step(i, stage, work, output, counts, ms_between(begin, SteadyClock::now()));
        for (std::size_t k = first; k < work.named; ++k)
            finish_named(work.frame.host(), work.also[k], plan_->warmup(i + 1), result, work.info);
    }

    /// Takes a stage's counts, its description of the image and its time.
    void after_step(std::size_t i, const HostStage& stage, Work& work, const Frame& output,
                    const PixelCounts& counts, double ms) {
        Result& result = work.result;
        work.complete = work.complete && stage.warmup().done();
        const int place = static_cast<int>(i);
        work.sources.after(place, stage.counted(), work.image.shape.type, work.info, output.shape());
        if (work.sources.saturated == place)
            result.counts.saturated = counts.saturated;
        result.counts.undefined = counts.undefined;
        result.counts.infinite = counts.infinite;
        stage.describe(work.info);
        work.image = output.host();
        work.between = output;
        result.timings.push_back({plan_->steps[i].link.type->name, ms, place});
        result.counts.windows = work.sources.windows;
    }

    void finish(Work& work) {
        Result& result = work.result;
        measure_regions(work.frame.host(), work.image, work.info, result);
        if (!plan_->steps.empty()) {
            result.describe(chain(), work.info);
            work.slot.info() = result.info;
        }
        result.image = plan_->steps.empty() ? work.frame : std::move(work.slot);
        if (!work.also.empty())
            result.also = std::make_shared<const std::vector<NamedImage>>(std::move(work.also));
        if (!plan_->notes_settled()) { // otherwise complete, and other threads run stages for later groups
            result.warmup = plan_->warmup();
            plan_->refresh_notes();
        }
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
        result.regions = regions_of(raw, image, result.quantity, chain(), result.info, info);
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
    ResultsOfChain results_{std::make_shared<Chain>()};
    std::uint64_t version_ = 0;
    std::optional<Shape> input_;
    std::unique_ptr<HostPlan> plan_;
    RegionsInEffect in_effect_;
    HostRegions regions_; ///< placed on the plan's output
    FrameBasis basis_;
    bool gap_ = false; ///< since the last processed frame
    Frame next_slot_;
    std::vector<Work> waiting_;
    std::deque<SharedGroup> groups_; ///< in progress
    std::uint64_t groups_made_ = 0;
    int started_ = 0; ///< frames in groups_
    std::deque<Done> done_;
    // Made for the plan with the first frame that waits:
    std::vector<Part> parts_;
    std::vector<std::unique_ptr<FrameRing>> between_; ///< per step: its images; null: it has none
    std::mutex mutex_;                                ///< of lanes_ and the turns of parts_
    std::vector<Lane> lanes_;                         ///< not in use
    BackgroundThreads threads_{limit_.threads()};
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
