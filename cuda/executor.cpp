// The chain on the device: an upload, a compute and a download stream joined by events, with several frames
// in flight. Frames stay in order because each stream keeps its own order.
#include "pipeline/executor.hpp"
#include "base/log.hpp"
#include "cuda/callers.hpp"
#include "cuda/convert.hpp"
#include "cuda/counts.hpp"
#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "cuda/flight.hpp"
#include "cuda/result_pool.hpp"
#include "pipeline/plan.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace specklescope {

namespace {

using namespace cuda;

/// Eight had the same rate and twice the latency: docs/performance.md, Frames through the executor.
constexpr int kFramesInFlight = 4;
using DevicePlan = Plan<Space::device>;

/// Timing events delay copies by 1.35 µs each (docs/performance.md, Frames through the executor); at high
/// frame rates only some frames are timed.
constexpr std::chrono::milliseconds kTimedEvery(10);

class CudaExecutor final : public CallersExecutor {
public:
    CudaExecutor(int device, bool guest, bool results_leave)
        : CallersExecutor(device, guest),
          device_counts_(sizeof(PixelCounts) * kFramesInFlight * kCounts, device_memory_),
          host_counts_(sizeof(PixelCounts) * kFramesInFlight * kHostCounts, page_locked_) {
        check(cudaMemset(device_counts_.as<void>(), 0, sizeof(PixelCounts) * kFramesInFlight * kCounts),
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
        if (plan_) {
            if (differs_in_free_only(*chain_, *chain))
                plan_->set_params(*chain);
            else
                replace_plan(*chain, plan_->input);
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        const ScopedDevice scope(device_, guest_);
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
        replace_plan(*chain_, input);
        if (in_flight_ == 0)
            warm_up(want_host);
    }

    void submit(Frame frame, bool want_host, bool again) override {
        // A frame that fails here is missing in every window: the next frame does not follow it.
        if (!again)
            gap_ = !basis_.change(frame.info(), *chain_).empty() || frame.info().discontinuity || gap_;
        if (!again && plan_ && plan_->input != frame.shape())
            gap_ = true;
        const ScopedDevice scope(device_, guest_);
        if (!plan_ || plan_->input != frame.shape())
            replace_plan(*chain_, frame.shape());
        if (want_host)
            plan_->make_downloads();
        Flight& flight = flights_[(first_ + in_flight_) % flights_.size()];
        flight.describe(std::move(frame), chain_, version_, plan_->to_grey);
        const auto now = SteadyClock::now();
        flight.timed = now - timed_ >= kTimedEvery;
        if (flight.timed)
            timed_ = now;
        try {
            take_slots(flight, want_host);
        } catch (...) { // nothing was started
            flight.clear();
            throw;
        }
        if (std::exchange(gap_, false))
            plan_->reset();
        try {
            upload(flight);
            compute(flight, again);
            download(flight);
            callers_.release(flight.done);
        } catch (...) { // release nothing that a stream still uses
            finish_quietly();
            log_failure(cudaMemset(flight.device_counts, 0, sizeof(PixelCounts) * kCounts), "cudaMemset");
            log_failure(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
            flight.clear();
            throw;
        }
        ++in_flight_;
    }

    std::optional<Result> collect(bool wait) override {
        if (in_flight_ == 0)
            return std::nullopt;
        const ScopedDevice scope(device_, guest_);
        Flight& flight = flights_[first_];
        if (!wait && !flight.done.done())
            return std::nullopt;
        flight.done.synchronize();
        flight.result.ready = SteadyClock::now();
        flight.read_timings();
        flight.read_counts();
        if (flight.regions)
            read_regions(flight);
        if (!flight.also.empty())
            flight.result.also = std::make_shared<const std::vector<NamedImage>>(std::move(flight.also));
        Result result = std::move(flight.result);
        flight.clear();
        first_ = (first_ + 1) % flights_.size();
        --in_flight_;
        return result;
    }

    int in_flight() const override { return static_cast<int>(in_flight_); }
    int capacity() const override { return kFramesInFlight; }

    bool wait_slot(std::chrono::milliseconds timeout) override {
        const auto end = SteadyClock::now() + timeout;
        const auto wait_for = [end](Frame& spare, const std::shared_ptr<FrameRing>& ring) {
            if (ring && !spare)
                spare = ring->acquire(std::max(
                    std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now())));
            return !ring || spare;
        };
        return !plan_ ||
               ((result_pool_ ? result_pool_->wait(plan_->output, timeout)
                              : wait_for(spare_result_, plan_->results ? plan_->results : plan_->uploads)) &&
                wait_for(spare_download_, plan_->downloads) && plan_->wait_also(end));
    }

private:
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
            flight.clear();
            if (flight.device_counts) // counts of the dark frame
                (void)cudaMemset(flight.device_counts, 0, kCounts * sizeof(PixelCounts));
        }
        (void)cudaStreamSynchronize(nullptr); // the streams here do not wait for it
        in_flight_ = first_ = 0;
    }

    /// Keeps the old plan if the new one cannot be made.
    void replace_plan(const Chain& chain, const Shape& input) {
        auto next = std::make_unique<DevicePlan>(chain, input,
                                                 PlanMemory{.stages = device_memory_,
                                                            .downloads = page_locked_,
                                                            .in_flight = kFramesInFlight,
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
        spare_result_.reset();
        spare_download_.reset();
        timed_ = {}; // the first frame of a plan is always timed
    }

    /// Returns the current regions if they have this placement. Flights keep the regions they were submitted
    /// with.
    std::shared_ptr<DeviceRegions> on_device(const std::shared_ptr<const PlacedRegions>& placed,
                                             std::size_t also) const {
        if (!placed)
            return nullptr;
        const int images = kFramesInFlight * (1 + static_cast<int>(also));
        return regions_ && regions_->placed() == placed && regions_->results() == images
                   ? regions_
                   : std::make_shared<DeviceRegions>(placed, images);
    }

    /// Place of a frame's image in the results of its regions: 0 the last one, then the named outputs.
    static int place_of(const Flight& flight, std::size_t image) {
        return static_cast<int>(image) * kFramesInFlight + flight.index;
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

    void upload(Flight& flight) {
        const Frame& raw = flight.result.raw;
        const DeviceView to = flight.uploaded.device();
        callers_.hold(upload_);
        flight.time(flight.upload_begin, upload_);
        if (raw.space() == Space::host)
            copy_rows(to, raw.host(), cudaMemcpyHostToDevice, upload_);
        else if (to.data != raw.device().data)
            copy_rows(to, raw.device(), cudaMemcpyDeviceToDevice, upload_);
        flight.time(flight.upload_end, upload_);
    }

    void compute(Flight& flight, bool again) {
        flight.step_count = 0;
        Result& result = flight.result;
        flight.uploaded_all.record(upload_);
        flight.uploaded_all.hold(compute_);
        flight.time(flight.marks[0], compute_);
        ConstDeviceView image = flight.uploaded.device();
        FrameInfo info = result.info;
        CountPlaces places;
        if (const auto threshold = saturation_threshold(image.shape.type, info)) {
            places.raw = kRawCounts;
            result.counts.raw_samples = image.shape.samples();
            count_saturated(image, *threshold, flight.device_counts + kRawCounts, compute_.get());
            flight.mark(compute_, "saturation");
        }
        CountSources sources;
        bool complete = !info.recorded_in_warmup; // every window so far is complete
        std::size_t named = 0;
        std::vector<DeviceView> views;
        for (int i = 0; i < static_cast<int>(plan_->steps.size()); ++i) {
            DevicePlan::Step& step = plan_->steps[static_cast<std::size_t>(i)];
            if (step.conversion) {
                convert(image, step.conversion.device(), plan_->channel, compute_.get());
                describe_conversion(image.shape.type, info);
                image = step.conversion.device();
                flight.mark(compute_, "convert");
            }
            if (step.skipped)
                continue;
            const DeviceView output = step.between ? step.between.device() : result.device_image.device();
            step.begin(complete);
            views.clear();
            const std::size_t first = named;
            for (; named < flight.also.size() && plan_->also[named].step == static_cast<std::size_t>(i);
                 ++named)
                views.push_back(flight.also[named].device_image.device());
            step.stage->run(image, output,
                            {.info = info,
                             .counts = flight.device_counts + i,
                             .stream = compute_.get(),
                             .again = again || info.left_out(),
                             .also = views});
            complete = complete && step.stage->warmup().done();
            sources.after(i, step.stage->counted(), image.shape.type, info, output.shape);
            step.stage->describe(info);
            image = output;
            flight.mark(compute_, step.link.type->name, i);
            for (std::size_t k = first; k < named; ++k)
                finish_named(flight, k, sources, info);
        }
        if (named > 0)
            flight.mark(compute_, "also");
        result.describe(*chain_, info);
        places.saturated = sources.saturated;
        places.undefined = sources.undefined;
        result.counts.windows = sources.windows;
        if (sources.undefined < 0 && image.shape.type == PixelType::f32) {
            places.undefined = kFinalCounts;
            count_undefined(image, flight.device_counts + kFinalCounts, compute_.get());
            flight.mark(compute_, "undefined");
        }
        measure_regions(flight, image, info);
        publish_counts(flight.device_counts, kCounts, places, flight.host_counts, compute_.get());
        result.warmup = plan_->warmup();
        plan_->refresh_notes();
        result.notes = plan_->notes;
    }

    /// Counts and regions of a named output; `info`: after the stage that made it.
    void finish_named(Flight& flight, std::size_t index, const CountSources& sources, const FrameInfo& info) {
        NamedImage& named = flight.also[index];
        const ConstDeviceView image = named.device_image.device();
        const int place = kAlsoCounts + static_cast<int>(index);
        count_undefined(image, flight.device_counts + place, compute_.get());
        publish_counts(flight.device_counts, 0,
                       {.raw = -1, .saturated = sources.saturated, .undefined = place},
                       flight.host_counts + 1 + index, compute_.get());
        named.counts.windows = sources.windows;
        named.warmup = plan_->warmup(plan_->also[index].step + 1);
        if (!regions_ || !has_regions(*regions_, image.shape))
            return;
        const ConstDeviceView raw = flight.uploaded.device();
        const SaturationLook look =
            saturation_look(*named.chain, raw.shape, flight.result.info, image.shape, info);
        flight.also_looked[index] = look.in;
        regions_->measure({.image = image,
                           .raw = raw,
                           .channel = plan_->channel,
                           .mean = region_mean(named.quantity.measure),
                           .saturation = look},
                          place_of(flight, index + 1), compute_.get());
    }

    /// `info`: of the final image.
    void measure_regions(Flight& flight, ConstDeviceView image, const FrameInfo& info) const {
        flight.regions = regions_;
        if (!regions_)
            return;
        const ConstDeviceView raw = flight.uploaded.device();
        const SaturationLook look =
            saturation_look(*chain_, raw.shape, flight.result.info, image.shape, info);
        flight.looked = look.in;
        regions_->measure({.image = image,
                           .raw = raw,
                           .channel = plan_->channel,
                           .mean = region_mean(flight.result.quantity.measure),
                           .saturation = look},
                          place_of(flight, 0), compute_.get());
        flight.mark(compute_, "regions");
    }

    void download(Flight& flight) {
        const ConstDeviceView from = flight.result.device_image.device();
        if (flight.lent && flight.lent.device().data != from.data)
            copy_rows(flight.lent.device(), from, cudaMemcpyDeviceToDevice, compute_);
        if (!flight.downloads) {
            flight.done.record(compute_);
            return;
        }
        flight.computed.record(compute_);
        flight.computed.hold(download_);
        flight.time(flight.download_begin, download_);
        copy_rows(flight.result.image.host(), from, cudaMemcpyDeviceToHost, download_, !lent_on_host_);
        for (const NamedImage& named : flight.also)
            if (named.image)
                copy_rows(named.image.host(), named.device_image.device(), cudaMemcpyDeviceToHost, download_);
        flight.time(flight.download_end, download_);
        flight.done.record(download_);
    }

    void finish_quietly() noexcept {
        for (const Stream* stream : {&upload_, &compute_, &download_})
            log_failure(cudaStreamSynchronize(stream->get()), "cudaStreamSynchronize");
    }

    std::shared_ptr<SlotMemory> device_memory_ = device_memory();
    std::shared_ptr<SlotMemory> page_locked_ = page_locked_memory();
    Buffer device_counts_, host_counts_;
    Stream upload_, compute_, download_;
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::uint64_t version_ = 0;
    std::unique_ptr<DevicePlan> plan_;
    RegionsInEffect in_effect_;
    std::shared_ptr<DeviceRegions> regions_; ///< placed on the plan's output; null: none
    FrameBasis basis_;
    bool gap_ = false;                      ///< since the last processed frame
    SteadyClock::time_point timed_{};       ///< submission of the last timed frame
    Frame spare_result_, spare_download_;   ///< found by wait_slot() for the next submit
    std::optional<ResultPool> result_pool_; ///< memory of results that callers keep; none: results use slots
    std::array<Flight, kFramesInFlight> flights_;
    std::size_t first_ = 0, in_flight_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_cuda_executor(int device, bool guest, bool results_leave) {
    const DeviceRestorer before(guest);
    return std::make_unique<CudaExecutor>(device, guest, results_leave);
}

} // namespace specklescope
