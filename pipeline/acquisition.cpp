// The acquisition thread: source → ring slot → queue.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "pipeline/threads/absence.hpp"
#include "pipeline/threads/ring_port.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace specklescope {

namespace {

using std::chrono::milliseconds;

/// Number of slots that covers a stall of a fast camera: a recorder's disk or the window's first image can
/// take this long. Small frames of a file are read while up to 64 others are on a GPU.
int usual_slots(const SourceInfo& source, const Shape& shape) {
    constexpr double kHiccup = 0.08; // s
    constexpr int kOfSmallFile = 128;
    if (!source.live && shape.bytes() <= kWholePixels)
        return kOfSmallFile;
    constexpr std::size_t kBudget = std::size_t{512} << 20;
    const double rate = source.live ? std::min(source.rate, 1e4) : 0;
    const auto wanted = static_cast<std::size_t>(rate * kHiccup);
    const std::size_t fit = kBudget / std::max<std::size_t>(shape.bytes(), 1);
    return std::max(default_slots(shape), static_cast<int>(std::min(wanted, fit)));
}

void apply_source_edits(Flow& flow) {
    SourceEdit edit;
    while (flow.source_edits.try_dequeue(edit)) {
        try {
            flow.source->set(edit.name, edit.value);
        } catch (const std::exception& error) {
            flow.log(Message::Level::error, sentence_of(error));
        }
        const std::scoped_lock lock(flow.mutex);
        if (flow.source_edits.size_approx() == 0) // otherwise it has the newer values already
            flow.source_params = flow.source->params();
    }
}

constexpr milliseconds kFirstPause(500);
constexpr milliseconds kLongestPause(10000);

/// Reopens a dead live source. The pause before each try is twice as long as the last. False when stopped.
bool reopen(Flow& flow, const std::string& reason, milliseconds& pause) {
    std::string why = reason;
    flow.source->close();
    while (!flow.stop) {
        char seconds[16];
        std::snprintf(seconds, sizeof seconds, "%.1f", std::chrono::duration<double>(pause).count());
        flow.set_state(RunState::reconnecting, why + " Next try in " + seconds + " s.");
        flow.log(Message::Level::warning, why + " Next try in " + seconds + " s.");
        flow.sleep(std::exchange(pause, std::min(pause * 2, kLongestPause)));
        if (flow.stop)
            return false;
        try {
            const SourceInfo info = flow.source->open();
            flow.stats.reopened.fetch_add(1, std::memory_order_relaxed);
            {
                const std::scoped_lock lock(flow.mutex);
                flow.set_source(info);
                flow.source_params = flow.source->params();
            }
            flow.set_state(RunState::running, "");
            flow.log(Message::Level::info, "The source is back: " + info.name + ".");
            return true;
        } catch (const Error& error) {
            why = error.what();
            flow.source->close();
        }
    }
    return false;
}

void report_missed(Flow& flow, const Absence::Missed& missed) {
    flow.stats.away_ns.fetch_add(static_cast<std::uint64_t>(missed.away.count()), std::memory_order_relaxed);
    flow.stats.missed_away.fetch_add(missed.frames, std::memory_order_relaxed);
    char text[160];
    std::snprintf(
        text, sizeof text, "The source was away for %.1f s: about %llu frames were missed (estimate).",
        std::chrono::duration<double>(missed.away).count(), static_cast<unsigned long long>(missed.frames));
    flow.log(Message::Level::warning, text);
}

class Acquisition {
public:
    explicit Acquisition(Flow& flow) : flow_(flow), port_(flow), silence_(flow.options.silence_s) {}

    /// Runs until the source ends or `stop` is set.
    void run() {
        at_end_ = false;
        last_activity_ = SteadyClock::now();
        while (!flow_.stop) {
            apply_source_edits(flow_);
            update_recording();
            if (run_pending_seek())
                last_activity_ = SteadyClock::now();
            std::string dead;
            try {
                const Source::Status status = flow_.source->next(port_);
                const auto now = SteadyClock::now();
                if (status == Source::Status::frame)
                    frame_arrived(now);
                if (status == Source::Status::end && !continue_after_end())
                    return;
                if (flow_.live && now - last_activity_ > silence_ && !flow_.patient)
                    dead = "The source " + flow_.status.source.name + " is silent.";
            } catch (const Cancelled&) { // cancelled by the user
                return;
            } catch (const Error& error) {
                if (port_.seek_target() && !flow_.live) { // the run continues: only this frame is missing
                    flow_.log(Message::Level::error, error.what());
                    flow_.seek_failed(flow_.playback.epoch, error.what());
                    return reach_end();
                }
                if (!flow_.live)
                    throw;
                dead = error.what();
            }
            if (flow_.options.frames > 0 && port_.delivered() >= flow_.options.frames)
                return;
            if (!dead.empty()) {
                absence_.begins(flow_.source_rate());
                if (!reopen(flow_, dead, pause_))
                    return;
                port_.discontinuity();
                last_activity_ = SteadyClock::now();
            }
        }
    }

    /// After the end of the source: waits for a seek or the next round of a loop. False at stop, and if the
    /// source cannot seek.
    bool resume() {
        while (true) {
            {
                std::unique_lock lock(flow_.mutex);
                if (!flow_.status.source.seekable)
                    return false;
                flow_.wake.wait(lock, [&] {
                    return flow_.stop || flow_.playback.seek_waits || (at_end_ && flow_.playback.loop) ||
                           flow_.source_edits.size_approx() > 0;
                });
            }
            if (flow_.stop || flow_.computes_no_more)
                return false;
            apply_source_edits(flow_);
            const bool asked = flow_.playback.seek_waits;
            try {
                if (asked ? run_pending_seek() : at_end_ && start_next_round())
                    return true;
            } catch (const std::exception& error) { // no exception may leave a thread
                flow_.log(Message::Level::error, sentence_of(error));
                const std::scoped_lock lock(flow_.mutex);
                if (!asked)
                    flow_.playback.set_loop(std::nullopt); // it would fail again and again
            }
        }
    }

private:
    void update_recording() {
        if (const bool now = flow_.sinks.record; now != std::exchange(records_, now))
            flow_.source->recording(now);
    }

    void frame_arrived(SteadyClock::time_point now) {
        if (const auto missed = absence_.frame(now))
            report_missed(flow_, *missed);
        last_activity_ = now;
        pause_ = kFirstPause;
        const std::optional<std::uint64_t> position = port_.position();
        if (const std::uint64_t length = flow_.status.source.length; length > 0 && position >= length)
            update_length(); // the file has grown
        const std::optional<LoopRange> loop = position ? flow_.looped() : std::nullopt;
        if (loop && beyond(*loop, *position + 1, port_.played_from()))
            start_next_round();
    }

    bool continue_after_end() {
        if (const auto target = port_.seek_target()) {
            const std::string why =
                flow_.status.source.name + " has no frame " + std::to_string(*target) + ": it ends before.";
            flow_.log(Message::Level::error, why);
            flow_.seek_failed(flow_.playback.epoch, why);
        } else if (start_next_round()) {
            update_length(); // the length is known at the end
            return true;
        }
        reach_end();
        return false;
    }

    void reach_end() {
        update_length();
        at_end_ = true;
    }

    /// Starts the next round of the loop; false if there is none.
    bool start_next_round() {
        const std::optional<LoopRange> loop = flow_.looped();
        if (!loop || flow_.stop || !flow_.status.source.seekable)
            return false;
        try {
            flow_.source->seek(loop->first, 0);
            port_.begin_round(loop->first);
            const std::scoped_lock lock(flow_.mutex);
            clear_end();
            return true;
        } catch (const Cancelled&) { // cancelled by the user
            return false;
        } catch (const UsageError& error) { // the marks belong to another file, or the file is shorter now
            flow_.log(Message::Level::error, error.what());
            const std::scoped_lock lock(flow_.mutex);
            flow_.playback.set_loop(std::nullopt);
            return false;
        }
    }

    /// Runs a pending seek; true if it changed the next frame. seek_waits stays set until then, so that no
    /// thread takes the file for ended.
    bool run_pending_seek() {
        if (!flow_.playback.seek_waits)
            return false;
        std::optional<SeekRequest> asked;
        {
            const std::scoped_lock lock(flow_.mutex);
            asked = std::exchange(flow_.playback.seek, std::nullopt);
        }
        if (!asked)
            return false;
        /// Frames that fill the stages' windows.
        const std::uint64_t before =
            asked->warm ? std::min(asked->frame, flow_.edits.newest()->chain->history()) : 0;
        bool there = false;
        try {
            there = seek(*asked, before);
        } catch (const std::exception& error) {
            flow_.seek_failed(asked->number, sentence_of(error));
            settle_seek(false);
            throw;
        }
        settle_seek(there);
        return there;
    }

    bool seek(const SeekRequest& asked, std::uint64_t before) {
        const std::uint64_t frame = asked.frame;
        try {
            if (before > 0 && frame >= flow_.status.source.length) // check that the frame exists
                flow_.source->seek(frame, 0);
            flow_.source->seek(frame - before, before);
        } catch (const Cancelled&) { // cancelled by the user
            return false;
        } catch (const UsageError& error) {
            flow_.log(Message::Level::error, error.what());
            flow_.seek_failed(asked.number, error.what());
            update_length(); // the seek may have extended the known length
            return false;
        }
        port_.begin_seek(frame, asked.number, asked.refresh);
        update_length();
        return true;
    }

    void settle_seek(bool there) {
        const std::scoped_lock lock(flow_.mutex);
        flow_.playback.settle(there);
        if (there)
            clear_end();
    }

    /// Requires the mutex. Clears the end that was reached.
    void clear_end() {
        if (!flow_.source_done)
            return;
        flow_.source_done = flow_.finished = false;
        flow_.status.state = RunState::running;
        flow_.status.message.clear();
    }

    void update_length() {
        const std::uint64_t now = flow_.source->length();
        const std::scoped_lock lock(flow_.mutex);
        flow_.status.source.length = now;
    }

    Flow& flow_;
    RingPort port_;
    Absence absence_;
    const std::chrono::duration<double> silence_;
    SteadyClock::time_point last_activity_{};
    milliseconds pause_ = kFirstPause; // grows until frames arrive again
    bool records_ = false;
    bool at_end_ = false; ///< end of the file, not an error or a missing seek target
};

} // namespace

std::shared_ptr<FrameRing> make_ring(Flow& flow, const Shape& shape, int more) {
    std::shared_ptr<SlotMemory> memory;
    int slots = std::max(flow.options.slots, kMinSlots);
    {
        const std::scoped_lock lock(flow.mutex);
        memory = flow.slot_memory;
        flow.ring.reset(); // free it first: memory may not hold both
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
    Acquisition acquisition(flow);
    do {
        try {
            acquisition.run();
        } catch (const std::exception& error) {
            flow.set_state(RunState::failed, sentence_of(error));
            flow.log(Message::Level::error, sentence_of(error));
        }
        const std::scoped_lock lock(flow.mutex);
        flow.source_done = true;
    } while (acquisition.resume());
}

} // namespace specklescope
