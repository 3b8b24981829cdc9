// The acquisition thread: source → ring slot → queue.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/sentence.hpp"
#include "pipeline/absence.hpp"
#include "pipeline/flow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

namespace specklescope {

namespace {

using std::chrono::milliseconds;

/// A fast camera needs more than others: a recorder's disk, or the window's first picture, may take this
/// long.
int usual_slots(const SourceInfo& source, const Shape& shape) {
    constexpr double kHiccup = 0.08; // s
    constexpr std::size_t kBudget = std::size_t{512} << 20;
    const double rate = source.live ? std::min(source.rate, 1e4) : 0;
    const auto wanted = static_cast<std::size_t>(rate * kHiccup);
    const std::size_t fit = kBudget / std::max<std::size_t>(shape.bytes(), 1);
    return std::max(default_slots(shape), static_cast<int>(std::min(wanted, fit)));
}

/// Lends ring slots to the source; counts what it must refuse.
class RingPort final : public FramePort {
public:
    explicit RingPort(Flow& flow) : flow_(flow) {
        const std::scoped_lock lock(flow.mutex);
        ring_ = flow.ring;
        spare_ = ring_ ? flow.status.source.lends : 0;
    }

    Frame acquire(const Shape& shape) override {
        check_shape(shape, "The frame from the source");
        const bool live = flow_.live();
        const bool room = provide(shape, 0);
        Frame frame = room ? ring_->try_acquire() : Frame();
        if (!frame && live) {
            if (!stopping()) {
                flow_.stats.no_slot.fetch_add(1, std::memory_order_relaxed);
                flow_.stats.acquisition.tick();
                ++sequence_;
            }
            return {};
        }
        while (room && !frame && !stopping())
            frame = ring_->acquire(milliseconds(50));
        return frame;
    }

    std::shared_ptr<FrameRing> ring(const Shape& shape, int more) override {
        check_shape(shape, "The frame from the source");
        return provide(shape, more) ? ring_ : nullptr;
    }

    void copied(std::string_view why) override { flow_.stats.copied(why); }

    void submit(Frame frame) override {
        if (frame.lent())
            flow_.stats.in_place.fetch_add(1, std::memory_order_relaxed);
        frame.info().sequence = sequence_++;
        frame.info().arrival = SteadyClock::now();
        frame.info().discontinuity = std::exchange(discontinuity_, false);
        if (ExposureOrigin& origin = frame.info().exposure_origin;
            origin == ExposureOrigin::unknown && std::isfinite(frame.info().exposure_ms))
            origin = flow_.live() ? ExposureOrigin::camera : ExposureOrigin::file;
        flow_.stats.acquisition.tick(frame.info().arrival);
        if (!flow_.frames.try_enqueue(std::move(frame))) { // leaves the frame alone when there is no room
            flow_.stats.queue_grown.fetch_add(1, std::memory_order_relaxed);
            if (!flow_.frames.enqueue(std::move(frame))) { // NOLINT(bugprone-use-after-move)
                flow_.stats.no_slot.fetch_add(1, std::memory_order_relaxed);
                throw std::bad_alloc();
            }
        }
        const int depth = static_cast<int>(flow_.frames.size_approx());
        if (depth > flow_.stats.queue_peak.load(std::memory_order_relaxed))
            flow_.stats.queue_peak.store(depth, std::memory_order_relaxed);
        ++delivered_;
    }

    void lost(std::uint64_t frames) override {
        flow_.stats.lost_by_source.fetch_add(frames, std::memory_order_relaxed);
        sequence_ += frames;
    }

    void discontinuity() override { discontinuity_ = true; }
    bool stopping() const override { return flow_.stop.load(); }
    std::uint64_t delivered() const { return delivered_; }

private:
    /// Makes ring_ one of this shape that can spare `more` slots; false if there is no room for it now.
    bool provide(const Shape& shape, int more) {
        if (ring_ && ring_->shape() == shape && more <= spare_)
            return true;
        if (ring_ && !room_for_another_ring(flow_.live()))
            return false;
        renew(shape, more);
        return true;
    }

    /// A new size brings a new ring of free slots. What is queued keeps the old ones, so that a source whose
    /// size keeps changing would never run out: a file waits until the queue is empty, a live source drops
    /// when it is as long as the ring.
    bool room_for_another_ring(bool live) {
        if (live)
            return flow_.frames.size_approx() < static_cast<std::size_t>(ring_->slots());
        while (flow_.frames.size_approx() > 0 && !stopping())
            flow_.sleep(milliseconds(1));
        return !stopping();
    }

    void renew(const Shape& shape, int more) {
        ring_.reset(); // frames in flight keep the old memory until they are home
        ring_ = make_ring(flow_, shape, more);
        spare_ = more;
    }

    Flow& flow_;
    std::shared_ptr<FrameRing> ring_;
    int spare_ = 0; ///< slots of ring_ beyond what the pipeline needs
    std::uint64_t sequence_ = 0;
    std::uint64_t delivered_ = 0;
    bool discontinuity_ = true;
};

void apply_source_edits(Flow& flow) {
    SourceEdit edit;
    while (flow.source_edits.try_dequeue(edit)) {
        try {
            flow.source->set(edit.name, edit.value);
        } catch (const Error& error) {
            flow.say(Message::Level::error, error.what());
        }
        const std::scoped_lock lock(flow.mutex);
        flow.source_params = flow.source->params();
    }
}

constexpr milliseconds kFirstPause(500);
constexpr milliseconds kLongestPause(10000);

/// Closes and opens a dead live source, pausing before each try, twice as long as before the last. False when
/// stopped.
bool reopen(Flow& flow, const std::string& reason, milliseconds& pause) {
    std::string why = reason;
    flow.source->close();
    while (!flow.stop) {
        char seconds[16];
        std::snprintf(seconds, sizeof seconds, "%.1f", std::chrono::duration<double>(pause).count());
        flow.set_state(RunState::reconnecting, why + " Next try in " + seconds + " s.");
        flow.say(Message::Level::warning, why + " Next try in " + seconds + " s.");
        flow.sleep(std::exchange(pause, std::min(pause * 2, kLongestPause)));
        if (flow.stop)
            return false;
        try {
            const SourceInfo info = flow.source->open();
            flow.stats.reopened.fetch_add(1, std::memory_order_relaxed);
            {
                const std::scoped_lock lock(flow.mutex);
                flow.status.source = info;
                flow.source_params = flow.source->params();
            }
            flow.set_state(RunState::running, "");
            flow.say(Message::Level::info, "The source is back: " + info.name + ".");
            return true;
        } catch (const Error& error) {
            why = error.what();
            flow.source->close();
        }
    }
    return false;
}

void tell_missed(Flow& flow, const Absence::Missed& missed) {
    flow.stats.away_ns.fetch_add(static_cast<std::uint64_t>(missed.away.count()), std::memory_order_relaxed);
    flow.stats.missed_away.fetch_add(missed.frames, std::memory_order_relaxed);
    char text[160];
    std::snprintf(
        text, sizeof text, "The source was away for %.1f s: about %llu frames were missed (estimate).",
        std::chrono::duration<double>(missed.away).count(), static_cast<unsigned long long>(missed.frames));
    flow.say(Message::Level::warning, text);
}

void run(Flow& flow) {
    RingPort port(flow);
    Absence absence;
    auto last_sign = SteadyClock::now();
    milliseconds pause = kFirstPause; // grows until frames come again
    const std::chrono::duration<double> silence(flow.options.silence_s);
    while (!flow.stop) {
        apply_source_edits(flow);
        std::string dead;
        try {
            const Source::Status status = flow.source->next(port);
            const auto now = SteadyClock::now();
            if (status == Source::Status::frame) {
                if (const auto missed = absence.frame(now))
                    tell_missed(flow, *missed);
                last_sign = now;
                pause = kFirstPause;
            }
            if (status == Source::Status::end)
                return;
            if (flow.live() && now - last_sign > silence) {
                dead = "The source " + flow.status.source.name + " is silent.";
            }
        } catch (const Cancelled&) { // the end was wanted
            return;
        } catch (const Error& error) {
            if (!flow.live())
                throw;
            dead = error.what();
        }
        if (flow.options.frames > 0 && port.delivered() >= flow.options.frames)
            return;
        if (!dead.empty()) {
            absence.begins(flow.source_rate());
            if (!reopen(flow, dead, pause))
                return;
            port.discontinuity();
            last_sign = SteadyClock::now();
        }
    }
}

} // namespace

std::shared_ptr<FrameRing> make_ring(Flow& flow, const Shape& shape, int more) {
    std::shared_ptr<SlotMemory> memory;
    int slots = std::max(flow.options.slots, kMinSlots);
    {
        const std::scoped_lock lock(flow.mutex);
        memory = flow.slot_memory;
        flow.ring.reset(); // before the new one: there may not be room for both
        if (flow.options.slots <= 0)
            slots = usual_slots(flow.status.source, shape);
    }
    auto ring = std::make_shared<FrameRing>(shape, slots + more, memory);
    flow.slots = ring->slots();
    const std::scoped_lock lock(flow.mutex);
    flow.ring = ring;
    flow.status.source.shape = shape;
    return ring;
}

void acquire_frames(Flow& flow) {
    const WatchWork watch([&flow](std::string_view, double) { return !flow.stop; });
    try {
        run(flow);
    } catch (const std::exception& error) {
        flow.set_state(RunState::failed, sentence_of(error));
        flow.say(Message::Level::error, sentence_of(error));
    }
    flow.source_done = true;
}

} // namespace specklescope
