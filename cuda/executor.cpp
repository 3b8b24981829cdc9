// The chain on the device: an upload, a compute and a download stream joined by events, with several frames
// in flight. Frames stay in order because each stream keeps its own order. Small frames that are queued start
// together: a call of CUDA takes longer than such a frame.
#include "pipeline/executor.hpp"
#include "base/log.hpp"
#include "cuda/callers.hpp"
#include "cuda/convert.hpp"
#include "cuda/counts.hpp"
#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "cuda/flight.hpp"
#include "cuda/launch_graph.hpp"
#include "cuda/result_pool.hpp"
#include "pipeline/plan.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <span>

namespace specklescope {

namespace {

using namespace cuda;

/// Eight had the same rate and twice the latency: docs/performance.md, Frames through the executor.
constexpr int kFramesInFlight = 4;
/// Small frames in flight, at most kMostTogether of them started together.
constexpr int kSmallInFlight = kFramesInFlight * kMostTogether;
using DevicePlan = Plan<Space::device>;
/// Frames that are started together, in order.
using Flights = std::span<Flight* const>;

/// Timing events delay copies by 1.35 µs each (docs/performance.md, Frames through the executor); at high
/// frame rates only some frames are timed.
constexpr std::chrono::milliseconds kTimedEvery(10);

/// Copies between host and device, started together: each call of CUDA takes about 2 µs.
class Copies {
public:
    Copies(cudaMemcpyKind kind, const Stream& stream) : kind_(kind), stream_(stream) {}

    /// `ours` as in copy_rows(). `follows`: both images begin at the ends of those added last.
    template <Space To, Space From, class Byte> void add(const BasicImageView<To, std::byte>& to,
                                                         const BasicImageView<From, Byte>& from,
                                                         bool ours = true, bool follows = false) {
        const std::size_t bytes = from.pitch * static_cast<std::size_t>(from.shape.height);
        if (to.pitch != from.pitch || from.pitch != from.shape.row_bytes() || count_ == kMostTogether)
            return copy_rows(to, from, kind_, stream_, ours);
        if (follows && count_ > 0) {
            bytes_[count_ - 1] += bytes;
            return;
        }
        to_[count_] = to.data;
        from_[count_] = from.data;
        bytes_[count_++] = bytes;
    }

    void start() {
#if CUDART_VERSION >= 13000
        if (count_ > 1) {
            cudaMemcpyAttributes attributes{};
            attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
            std::size_t first = 0;
            check(cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), count_, &attributes, &first,
                                       1, stream_.get()),
                  "cudaMemcpyBatchAsync");
            return;
        }
#endif
        for (std::size_t i = 0; i < count_; ++i)
            check(cudaMemcpyAsync(to_[i], from_[i], bytes_[i], kind_, stream_.get()), "cudaMemcpyAsync");
    }

private:
    cudaMemcpyKind kind_;
    const Stream& stream_;
    std::array<void*, kMostTogether> to_{};
    std::array<const void*, kMostTogether> from_{};
    std::array<std::size_t, kMostTogether> bytes_{};
    std::size_t count_ = 0;
};

class CudaExecutor final : public CallersExecutor {
public:
    CudaExecutor(int device, bool guest, bool results_leave)
        : CallersExecutor(device, guest),
          device_counts_(sizeof(PixelCounts) * kSmallInFlight * kCounts, device_memory_),
          host_counts_(sizeof(PixelCounts) * kSmallInFlight * kHostCounts, page_locked_) {
        check(cudaMemset(device_counts_.as<void>(), 0, sizeof(PixelCounts) * kSmallInFlight * kCounts),
              "cudaMemset");
        // the streams here do not wait for it
        check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
        if (results_leave)
            result_pool_.emplace(device);
        for (std::size_t i = 0; i < flights_.size(); ++i) {
            flights_[i].index = static_cast<int>(i);
            flights_[i].host_counts = host_counts_.as<PixelCounts>() + i * kHostCounts;
            flights_[i].device_counts = device_counts_.as<PixelCounts>() + i * kCounts;
        }
    }
    CudaExecutor(const CudaExecutor&) = delete;
    CudaExecutor& operator=(const CudaExecutor&) = delete;
    ~CudaExecutor() override { finish_quietly(); }

    std::string backend() const override { return "cuda"; }
    std::shared_ptr<SlotMemory> slot_memory() const override {
        return guest_ ? callers_memory() : page_locked_;
    }

    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        const ScopedDevice scope(device_, guest_);
        start_waiting();
        if (plan_) {
            if (differs_in_free_only(*results_.chain(), *chain))
                plan_->set_params(*chain);
            else
                replace_plan(*chain, plan_->input);
            edited_ = true;
        }
        results_ = ResultsOfChain(std::move(chain));
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        const ScopedDevice scope(device_, guest_);
        start_waiting();
        const RegionsInEffect next{std::move(regions), version};
        regions_ = plan_ ? on_device(next.on(plan_->output, nullptr), plan_->also.size()) : nullptr;
        in_effect_ = next;
        version_ = version;
    }

    std::optional<Shape> output() const override {
        return plan_ ? std::optional(plan_->output) : std::nullopt;
    }

    void prepare(const Shape& input, bool want_host) override {
        const ScopedDevice scope(device_, guest_);
        if (plan_ && plan_->input == input)
            return;
        start_waiting();
        replace_plan(chain(), input);
        if (in_flight_ == 0)
            warm_up(want_host);
    }

    void submit(Frame frame, bool want_host, bool again) override {
        // A frame that fails here is missing in every window: the next frame does not follow it.
        if (!again)
            gap_ = !basis_.change(frame.info(), chain()).empty() || frame.info().discontinuity || gap_;
        if (!again && plan_ && plan_->input != frame.shape())
            gap_ = true;
        const bool waits = !again && !gap_ && may_wait(frame);
        const bool starts = waiting_ + 1 >= (waits ? kMostTogether : 1);
        std::optional<ScopedDevice> scope; // for calls of CUDA
        if (starts || (want_host && !plan_->downloads && !plan_->steps.empty()))
            scope.emplace(device_, guest_);
        if (!waits)
            start_waiting();
        if (!plan_ || plan_->input != frame.shape())
            replace_plan(chain(), frame.shape());
        if (want_host)
            plan_->make_downloads();
        Flight& flight = flight_at(in_flight_);
        flight.describe(std::move(frame), results_, version_, plan_->to_grey);
        try {
            take_slots(flight, want_host);
        } catch (...) { // nothing was started
            flight.clear();
            throw;
        }
        if (std::exchange(gap_, false))
            plan_->reset();
        if (flight.result.info.recorded_in_warmup)
            plan_->unsettle();
        ++in_flight_;
        ++waiting_;
        if (starts)
            start_waiting(again);
    }

    std::optional<Result> collect(bool wait) override {
        if (in_flight_ == 0)
            return std::nullopt;
        Flight& flight = flights_[first_];
        const bool finished = flight.last && flight.last->finished;
        // while frames are added to the waiting ones, checking each would cost as much as the frame
        if (!wait && !finished && (!flight.last || waiting_ > 0))
            return std::nullopt;
        std::optional<ScopedDevice> scope; // for calls of CUDA
        if (wait || !finished || flight.last->times)
            scope.emplace(device_, guest_);
        if (wait)
            start_waiting();
        if (!flight.last->finished) {
            if (!wait && !flight.last->done.done())
                return std::nullopt;
            flight.last->done.synchronize();
            flight.last->finished = true;
        }
        flight.result.ready = SteadyClock::now();
        flight.read_timings();
        flight.read_counts();
        if (flight.regions)
            read_regions(flight);
        if (!flight.also.empty())
            flight.result.also = std::make_shared<const std::vector<NamedImage>>(std::move(flight.also));
        Result result = std::move(flight.result);
        clear(flight);
        first_ = (first_ + 1) % flights_.size();
        --in_flight_;
        return result;
    }

    int in_flight() const override { return static_cast<int>(in_flight_); }
    int capacity() const override { return capacity_; }

    bool wait_slot(std::chrono::milliseconds timeout) override {
        using std::chrono::milliseconds;
        const bool waits = timeout.count() > 0;
        const auto end = waits ? SteadyClock::now() + timeout : SteadyClock::time_point{};
        const auto left = [&] {
            return waits ? std::max(milliseconds(0),
                                    std::chrono::duration_cast<milliseconds>(end - SteadyClock::now()))
                         : milliseconds(0);
        };
        const auto wait_for = [&](Frame& spare, const std::shared_ptr<FrameRing>& ring) {
            if (ring && !spare)
                spare = ring->acquire(left());
            return !ring || spare;
        };
        return !plan_ ||
               ((result_pool_ ? result_pool_->wait(plan_->output, timeout)
                              : wait_for(spare_result_, plan_->results ? plan_->results : plan_->uploads)) &&
                wait_for(spare_download_, plan_->downloads) && plan_->wait_also(end));
    }

private:
    const Chain& chain() const { return *results_.chain(); }

    Flight& flight_at(std::size_t place) { return flights_[(first_ + place) % flights_.size()]; }

    void clear(Flight& flight) {
        if (flight.times)
            spare_times_.push_back(std::move(flight.times));
        flight.clear();
    }

    /// Small frames wait for others, unless their results need the order of single frames: notes and warm-up
    /// change with each.
    bool may_wait(const Frame& frame) const {
        return plan_ && capacity_ == kSmallInFlight && plan_->input == frame.shape() &&
               frame.space() == Space::host && !frame.info().recorded_in_warmup && plan_->notes_settled() &&
               !lent_ && !lent_on_host_ && !callers_.any();
    }

    /// As the host does: small frames without conversions and named outputs.
    static bool small(const DevicePlan& plan) {
        return plan.input.pixels() <= kWholePixels && plan.output.pixels() <= kWholePixels &&
               plan.also.empty() &&
               std::none_of(plan.steps.begin(), plan.steps.end(),
                            [](const DevicePlan::Step& step) { return static_cast<bool>(step.conversion); });
    }

    /// Starts the frames that wait. After an error they are no longer in flight.
    void start_waiting(bool again = false) {
        const std::size_t count = std::exchange(waiting_, 0);
        if (count == 0)
            return;
        std::array<Flight*, kMostTogether> places{};
        for (std::size_t k = 0; k < count; ++k)
            places[k] = &flight_at(in_flight_ - count + k);
        const Flights flights(places.data(), count);
        Flight& last = *flights.back();
        const auto now = SteadyClock::now();
        if (now - timed_ >= kTimedEvery) {
            timed_ = now;
            if (spare_times_.empty())
                spare_times_.push_back(std::make_unique<FlightTimes>());
            last.times = std::move(spare_times_.back());
            spare_times_.pop_back();
            last.times->step_count = 0;
        }
        last.together = static_cast<int>(count);
        try {
            upload(flights);
            last.uploaded_all.hold(compute_);
            if (count == kMostTogether && !edited_ && !last.times)
                graph_.run(compute_, [&] { compute(flights, again); });
            else
                compute(flights, again);
            edited_ = chain().takes_several_exposures();
            download(flights);
            callers_.release(last.done);
        } catch (const std::exception& error) { // release nothing that a stream still uses
            finish_quietly();
            in_flight_ -= count;
            for (Flight* flight : flights) {
                log_failure(cudaMemset(flight->device_counts, 0, sizeof(PixelCounts) * kCounts),
                            "cudaMemset");
                clear(*flight);
            }
            log_failure(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
            if (count > 1) // the caller does not know which frames are lost
                throw DeviceError(sentence_of(error));
            throw;
        }
        for (Flight* flight : flights)
            flight->last = &last;
    }

    /// Runs a dark frame through the chain: loads kernels and allocates memory before the first frame. If the
    /// device fails here, it fails again at the first frame, where the run can continue on the host.
    void warm_up(bool want_host) {
        try {
            run_dark_frame(want_host);
        } catch (const RunError& error) {
            run_log().debug("Warming up: {}", error.what());
        }
        plan_->reset();
        timed_ = {};
    }

    void run_dark_frame(bool want_host) {
        FrameRing ring(plan_->input, 1, page_locked_);
        Frame dark = ring.try_acquire();
        const HostView pixels = dark.host();
        std::memset(pixels.data, 0, pixels.pitch * static_cast<std::size_t>(pixels.shape.height));
        try {
            submit(std::move(dark), want_host, true);
            collect(true);
        } catch (...) {
            forget_flights(); // they hold the dark frame, whose ring is destroyed here
            throw;
        }
    }

    /// After a failure: waits for running work, ignoring errors, and clears all flights.
    void forget_flights() noexcept {
        (void)cudaDeviceSynchronize();
        for (Flight& flight : flights_) {
            clear(flight);
            if (flight.device_counts) // counts of the dark frame
                (void)cudaMemset(flight.device_counts, 0, kCounts * sizeof(PixelCounts));
        }
        (void)cudaStreamSynchronize(nullptr); // the streams here do not wait for it
        in_flight_ = first_ = waiting_ = 0;
    }

    /// Keeps the old plan if the new one cannot be made.
    void replace_plan(const Chain& chain, const Shape& input) {
        const bool batches = !guest_ && !result_pool_;
        auto next = std::make_unique<DevicePlan>(
            chain, input,
            PlanMemory{.stages = device_memory_,
                       .downloads = page_locked_,
                       .in_flight =
                           batches && input.pixels() <= kWholePixels ? kSmallInFlight : kFramesInFlight,
                       .results = !result_pool_},
            plan_.get());
        if (agree_ && plan_ && plan_->input == input)
            agree_(next->output);
        std::shared_ptr<DeviceRegions> regions =
            on_device(in_effect_.on(next->output,
                                    regions_ ? regions_->placed() : std::shared_ptr<const PlacedRegions>()),
                      next->also.size());
        compute_.synchronize(); // memory of replaced stages and images is freed with the old plan
        next->take_over(chain, plan_.get());
        plan_ = std::move(next);
        regions_ = std::move(regions);
        between_.clear();
        edited_ = true;
        capacity_ = batches && small(*plan_) ? kSmallInFlight : kFramesInFlight;
        if (capacity_ == kSmallInFlight)
            make_between();
        spare_result_.reset();
        spare_download_.reset();
        timed_ = {}; // the first frame of a plan is always timed
    }

    /// Images between stages for all frames but the first of those that are started together.
    void make_between() {
        for (const DevicePlan::Step& step : plan_->steps) {
            std::vector<Frame>& images = between_.emplace_back();
            if (!step.between)
                continue;
            FrameRing ring(step.output, kMostTogether - 1, device_memory_);
            while (Frame image = ring.try_acquire())
                images.push_back(std::move(image));
        }
    }

    /// Returns the current regions if they have this placement. Flights keep the regions they were submitted
    /// with.
    std::shared_ptr<DeviceRegions> on_device(const std::shared_ptr<const PlacedRegions>& placed,
                                             std::size_t also) const {
        if (!placed)
            return nullptr;
        const int images = kSmallInFlight * (1 + static_cast<int>(also));
        return regions_ && regions_->placed() == placed && regions_->results() == images
                   ? regions_
                   : std::make_shared<DeviceRegions>(placed, images);
    }

    /// Place of a frame's image in the results of its regions: 0 the last one, then the named outputs.
    static int place_of(const Flight& flight, std::size_t image) {
        return static_cast<int>(image) * kSmallInFlight + flight.index;
    }

    static void read_regions(Flight& flight) {
        const auto values = [&](std::size_t image, const Quantity& quantity, SaturationLook::In looked) {
            return flight.regions->values(place_of(flight, image), region_mean(quantity.measure), looked);
        };
        flight.result.regions = values(0, flight.result.quantity, flight.looked);
        for (std::size_t k = 0; k < flight.also.size(); ++k)
            if (has_regions(*flight.regions, flight.also[k].device_image.shape()))
                flight.also[k].regions = values(k + 1, flight.also[k].quantity, flight.also_looked[k]);
    }
    static bool has_regions(const DeviceRegions& regions, const Shape& image) {
        return regions.placed()->width == image.width && regions.placed()->height == image.height;
    }

    void take_slots(Flight& flight, bool want_host) {
        const bool empty = plan_->steps.empty();
        const Frame& raw = flight.result.raw;
        const bool on_device = raw.space() == Space::device;
        // Without stages the upload is the result; otherwise an upload slot is always free: in_flight() <
        // capacity().
        flight.uploaded = on_device && fits_kernels(raw.device()) ? raw
                          : empty                                 ? take_result(flight.result, plan_->uploads)
                                                                  : plan_->uploads->try_acquire();
        flight.lent = lent_ && lent_.shape() == plan_->output ? lent_ : Frame();
        flight.result.device_image = empty ? flight.uploaded
                                     : flight.lent && fits_kernels(flight.lent.device())
                                         ? flight.lent
                                         : take_result(flight.result, plan_->results);
        flight.downloads = want_host && (!empty || on_device);
        if (flight.downloads)
            flight.result.image = lent_on_host_ && lent_on_host_.shape() == plan_->output ? lent_on_host_
                                  : empty ? FrameRing(plan_->output, 1, page_locked_).try_acquire()
                                          : take(spare_download_, *plan_->downloads);
        else if (want_host)
            flight.result.image = raw; // nothing computed: the host has these pixels already
        flight.also = plan_->take_also(flight.downloads);
        flight.also_looked.assign(flight.also.size(), SaturationLook::In::nowhere);
        for (NamedImage& named : flight.also) {
            named.device_image.info() = flight.result.info;
            if (named.image)
                named.image.info() = flight.result.info;
        }
        flight.result.device_image.info() = flight.result.info;
        if (flight.downloads)
            flight.result.image.info() = flight.result.info;
    }

    Frame take_result(Result& result, const std::shared_ptr<FrameRing>& ring) {
        return result_pool_ ? result_pool_->take(plan_->output, result.memory) : take(spare_result_, *ring);
    }

    static Frame take(Frame& spare, FrameRing& ring) {
        Frame slot = spare && spare.shape() == ring.shape() ? std::exchange(spare, Frame())
                                                            : ring.acquire(std::chrono::seconds(10));
        if (slot)
            return slot;
        throw NoSlot();
    }

    void upload(Flights flights) {
        callers_.hold(upload_);
        const Flight& last = *flights.back();
        if (last.times)
            last.times->upload_begin.record(upload_);
        Copies copies(cudaMemcpyHostToDevice, upload_);
        for (std::size_t k = 0; k < flights.size(); ++k) {
            const Flight *const flight = flights[k], *const before = k > 0 ? flights[k - 1] : nullptr;
            const Frame& raw = flight->result.raw;
            const DeviceView to = flight->uploaded.device();
            if (raw.space() == Space::host)
                copies.add(to, raw.host(), true,
                           before && raw.follows(before->result.raw) &&
                               flight->uploaded.follows(before->uploaded));
            else if (to.data != raw.device().data)
                copy_rows(to, raw.device(), cudaMemcpyDeviceToDevice, upload_);
        }
        copies.start();
        if (last.times)
            last.times->upload_end.record(upload_);
        last.uploaded_all.record(upload_);
    }

    /// A frame on its way through the plan.
    struct Work {
        Flight* flight;
        ConstDeviceView image; ///< of the last stage
        FrameInfo info;        ///< as described by the stages so far
        CountSources sources{};
        bool complete = false; ///< every window so far is complete
        std::size_t named = 0; ///< named outputs made so far
    };
    using Works = std::vector<Work>;

    void compute(Flights flights, bool again) {
        const Flight& last = *flights.back();
        const auto mark = [&](std::string_view name, int stage = -1) {
            if (last.times)
                last.times->mark(compute_, name, stage);
        };
        if (last.times)
            last.times->marks[0].record(compute_);
        works_.clear();
        for (Flight* flight : flights) {
            const FrameInfo& info = flight->result.info;
            works_.push_back({.flight = flight,
                              .image = flight->uploaded.device(),
                              .info = info,
                              .complete = !info.recorded_in_warmup});
        }
        CountPlaces places;
        if (count_raw(works_)) {
            places.raw = kRawCounts;
            mark("saturation");
        }
        for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
            DevicePlan::Step& step = plan_->steps[i];
            if (step.conversion) {
                for (Work& work : works_)
                    convert_input(step, work);
                mark("convert");
            }
            if (step.skipped)
                continue;
            run_step(i, works_, again);
            mark(step.link.type->name, static_cast<int>(i));
            for (Work& work : works_)
                finish_named(i, work);
        }
        if (!plan_->also.empty())
            mark("also");
        const CountSources& sources = works_[0].sources; // equal for all
        places.saturated = sources.saturated;
        places.undefined = sources.undefined;
        if (sources.undefined < 0 && works_[0].image.shape.type == PixelType::f32) {
            places.undefined = kFinalCounts;
            for (const Work& work : works_)
                count_undefined(work.image, work.flight->device_counts + kFinalCounts, compute_.get());
            mark("undefined");
        }
        measure_regions(works_);
        if (regions_)
            mark("regions");
        CountsOfFrames counts;
        for (const Work& work : works_)
            counts.push_back(work.flight->device_counts, work.flight->host_counts);
        publish_counts(counts, kCounts, places, compute_.get());
        const Warmup warmup = plan_->warmup();
        plan_->refresh_notes();
        for (Work& work : works_) {
            Result& result = work.flight->result;
            result.describe(chain(), work.info);
            result.counts.windows = work.sources.windows;
            result.warmup = warmup;
            result.notes = plan_->notes;
        }
    }

    /// False: the samples have no full scale.
    bool count_raw(Works& works) const {
        const Shape& shape = works[0].image.shape;
        const std::optional<double> threshold = saturation_threshold(shape.type, works[0].info);
        if (!threshold)
            return false;
        ImagesOfFrames images;
        for (Work& work : works) {
            work.flight->result.counts.raw_samples = shape.samples();
            images.push_back(work.image.data, work.flight->device_counts + kRawCounts);
        }
        count_saturated(works[0].image, images, *threshold, compute_.get());
        return true;
    }

    void convert_input(const DevicePlan::Step& step, Work& work) const {
        const DeviceView converted = step.conversion.device();
        convert(work.image, converted, plan_->channel, compute_.get());
        describe_conversion(work.image.shape.type, work.info);
        work.image = converted;
    }

    DeviceView output_of(std::size_t i, const Work& work, std::size_t place) const {
        const Frame& between = plan_->steps[i].between;
        return !between     ? work.flight->result.device_image.device()
               : place == 0 ? between.device()
                            : between_[i][place - 1].device();
    }

    /// True if all frames have the numbers that kernels use: exposure, full scale and sums.
    static bool alike(const Works& works) {
        const FrameInfo& first = works[0].info;
        return std::all_of(works.begin(), works.end(), [&](const Work& work) {
            const FrameInfo& info = work.info;
            return (info.exposure_ms == first.exposure_ms ||
                    (std::isnan(info.exposure_ms) && std::isnan(first.exposure_ms))) &&
                   info.full_scale == first.full_scale && info.summed == first.summed &&
                   info.summed_integers == first.summed_integers;
        });
    }

    void run_step(std::size_t i, Works& works, bool again) {
        DevicePlan::Step& step = plan_->steps[i];
        runs_.clear();
        std::vector<DeviceView> views;
        for (std::size_t k = 0; k < works.size(); ++k) {
            const Work& work = works[k];
            for (std::size_t named = work.named;
                 named < work.flight->also.size() && plan_->also[named].step == i; ++named)
                views.push_back(work.flight->also[named].device_image.device());
            runs_.push_back({work.image,
                             output_of(i, work, k),
                             {.info = work.info,
                              .counts = work.flight->device_counts + i,
                              .stream = compute_.get(),
                              .again = again || work.info.left_out(),
                              .also = views}});
        }
        if (works.size() > 1)
            step.begin(works[0].complete);
        const bool together = works.size() > 1 && alike(works) && step.stage->run_together(runs_);
        for (std::size_t k = 0; k < works.size(); ++k) {
            Work& work = works[k];
            const StageRun<Space::device>& run = runs_[k];
            if (!together) {
                step.begin(work.complete);
                step.stage->run(run.input, run.output, run.context);
            }
            work.complete = work.complete && step.stage->warmup().done();
            work.sources.after(static_cast<int>(i), step.stage->counted(), work.image.shape.type, work.info,
                               run.output.shape);
            step.stage->describe(work.info);
            work.image = run.output;
        }
    }

    /// Counts and regions of the named outputs of a step.
    void finish_named(std::size_t step, Work& work) const {
        while (work.named < work.flight->also.size() && plan_->also[work.named].step == step)
            finish_named(*work.flight, work.named++, work.sources, work.info);
    }

    /// `info`: after the stage that made it.
    void finish_named(Flight& flight, std::size_t index, const CountSources& sources,
                      const FrameInfo& info) const {
        NamedImage& named = flight.also[index];
        const ConstDeviceView image = named.device_image.device();
        const int place = kAlsoCounts + static_cast<int>(index);
        count_undefined(image, flight.device_counts + place, compute_.get());
        CountsOfFrames counts;
        counts.push_back(flight.device_counts, flight.host_counts + 1 + index);
        publish_counts(counts, 0, {.raw = -1, .saturated = sources.saturated, .undefined = place},
                       compute_.get());
        named.counts.windows = sources.windows;
        named.warmup = plan_->warmup(plan_->also[index].step + 1);
        if (!regions_ || !has_regions(*regions_, image.shape))
            return;
        const ConstDeviceView raw = flight.uploaded.device();
        const SaturationLook look =
            saturation_look(*named.chain, raw.shape, flight.result.info, image.shape, info);
        flight.also_looked[index] = look.in;
        const DeviceRegionInput input{.image = image,
                                      .raw = raw,
                                      .channel = plan_->channel,
                                      .mean = region_mean(named.quantity.measure),
                                      .saturation = look,
                                      .place = place_of(flight, index + 1)};
        regions_->measure({&input, 1}, compute_.get());
    }

    void measure_regions(const Works& works) const {
        std::vector<DeviceRegionInput> inputs;
        for (const Work& work : works) {
            Flight& flight = *work.flight;
            flight.regions = regions_;
            if (!regions_)
                continue;
            const ConstDeviceView raw = flight.uploaded.device();
            const SaturationLook look =
                saturation_look(chain(), raw.shape, flight.result.info, work.image.shape, work.info);
            flight.looked = look.in;
            inputs.push_back({.image = work.image,
                              .raw = raw,
                              .channel = plan_->channel,
                              .mean = region_mean(flight.result.quantity.measure),
                              .saturation = look,
                              .place = place_of(flight, 0)});
        }
        if (regions_)
            regions_->measure(inputs, compute_.get());
    }

    void download(Flights flights) {
        const Flight& last = *flights.back();
        bool any = false;
        for (const Flight* flight : flights) {
            const ConstDeviceView from = flight->result.device_image.device();
            if (flight->lent && flight->lent.device().data != from.data)
                copy_rows(flight->lent.device(), from, cudaMemcpyDeviceToDevice, compute_);
            any = any || flight->downloads;
        }
        if (!any) {
            last.done.record(compute_);
            return;
        }
        last.computed.record(compute_);
        last.computed.hold(download_);
        if (last.times)
            last.times->download_begin.record(download_);
        Copies copies(cudaMemcpyDeviceToHost, download_);
        for (std::size_t k = 0; k < flights.size(); ++k) {
            const Flight *const flight = flights[k], *const before = k > 0 ? flights[k - 1] : nullptr;
            if (!flight->downloads)
                continue;
            const Result& result = flight->result;
            copies.add(result.image.host(), result.device_image.device(), !lent_on_host_,
                       before && before->downloads && result.image.follows(before->result.image) &&
                           result.device_image.follows(before->result.device_image));
            for (const NamedImage& named : flight->also)
                if (named.image)
                    copies.add(named.image.host(), named.device_image.device());
        }
        copies.start();
        if (last.times)
            last.times->download_end.record(download_);
        last.done.record(download_);
    }

    void finish_quietly() noexcept {
        for (const Stream* stream : {&upload_, &compute_, &download_})
            log_failure(cudaStreamSynchronize(stream->get()), "cudaStreamSynchronize");
    }

    std::shared_ptr<SlotMemory> device_memory_ = device_memory();
    std::shared_ptr<SlotMemory> page_locked_ = page_locked_memory();
    Buffer device_counts_, host_counts_;
    Stream upload_, compute_, download_;
    ResultsOfChain results_{std::make_shared<Chain>()};
    std::uint64_t version_ = 0;
    std::unique_ptr<DevicePlan> plan_;
    RegionsInEffect in_effect_;
    std::shared_ptr<DeviceRegions> regions_; ///< placed on the plan's output; null: none
    FrameBasis basis_;
    bool gap_ = false;                      ///< since the last processed frame
    SteadyClock::time_point timed_{};       ///< submission of the last timed frame
    Frame spare_result_, spare_download_;   ///< found by wait_slot() for the next submit
    std::optional<ResultPool> result_pool_; ///< memory of results that callers keep; none: results use slots
    std::array<Flight, kSmallInFlight> flights_;
    std::size_t first_ = 0, in_flight_ = 0;
    std::size_t waiting_ = 0; ///< newest of those in flight, not started
    LaunchGraph graph_;       ///< of the kernels of kMostTogether frames
    bool edited_ = true;      ///< stages may upload tables at their next run, and wait for them
    std::vector<std::unique_ptr<FlightTimes>> spare_times_;
    std::vector<std::vector<Frame>> between_;    ///< per step: make_between()
    std::atomic<int> capacity_{kFramesInFlight}; ///< read by other threads: RoundRobinExecutor
    Works works_;                                ///< kept for their memory, like runs_
    std::vector<StageRun<Space::device>> runs_;
};

} // namespace

std::unique_ptr<Executor> make_cuda_executor(int device, bool guest, bool results_leave) {
    const DeviceRestorer before(guest);
    return std::make_unique<CudaExecutor>(device, guest, results_leave);
}

} // namespace specklescope
