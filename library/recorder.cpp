// Records frames of the caller with the program's recorders.
#include "recording/recorder.hpp"

#include "analysis/events.hpp"
#include "base/parallel.hpp"
#include "config/atomic_file.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "files/recorded.hpp"
#include "library/convert.hpp"
#include "library/handles.hpp"
#include "library/settings.hpp"
#include "pipeline/executor.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>

using namespace specklescope;
using namespace specklescope::library;

namespace {

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

Quantity quantity_of(const specklescope_recording& told) {
    if (!told.quantity)
        return {};
    Quantity made{told.quantity, text_or(told.symbol, ""), text_or(told.unit, "1"), Measure::other};
    if (told.measure) {
        made.measure = measure_named(told.measure);
        if (to_string(made.measure) != told.measure)
            throw UsageError("The measure '" + std::string(told.measure) +
                             "' is not known; allowed: intensity, contrast, contrast2, time, flow, other.");
    }
    return made;
}

/// Returns the value if it is in the range or 0, otherwise throws.
double checked(double value, double least, double most, const char* what) {
    if (value != 0 && !(value >= least && value <= most))
        throw UsageError(fmt::format(
            "The recording's {} = {:g} is not possible; allowed: {:g} to {:g}, or 0 if it is unknown.", what,
            value, least, most));
    return value;
}

constexpr double kMinUmPerPx = 1e-9; ///< smaller than an atomic nucleus

class RecorderObject final : public Object {
public:
    static constexpr Kind kKind{"recorder", "specklescope_recorder_create"};

    RecorderObject(const char* path, const specklescope_recording& told)
        : what_(static_cast<RecordWhat>(told.what)), live_(told.live != 0), executor_(make_host_executor(0)) {
        if (told.what < SPECKLESCOPE_RESULTS || told.what > SPECKLESCOPE_MASK)
            throw UsageError("What is to be recorded is " + std::to_string(told.what) +
                             "; allowed: 0 (results), 1 (raw frames), 2 (mask of saturated samples).");
        RecordOptions options;
        options.path = path;
        options.what = what_;
        options.mapping = mapping_from_text(told.view);
        // Set only the nominal rate: options.rate would fix the frame period of a video regardless of the
        // frame times.
        stream_.source.rate = checked(told.rate, kMinRate, kMaxRate, "rate");
        sink_ = make_recorder(options);
        check_writable(options.path);
        stream_.source_text = stream_.source.name = one_line(text_or(told.source, "libspecklescope"));
        stream_.source.quantity = quantity_of(told);
        stream_.source.live = live_;
        stream_.um_per_source_px = stream_.source.um_per_px =
            checked(told.um_per_px, kMinUmPerPx, kMaxUmPerPx, "um_per_px");
        stream_.backend = "none";
        Chain chain; // without stages: counts pixels and names the quantity
        chain.set_input(stream_.source.quantity);
        executor_->set_chain(std::make_shared<const Chain>(std::move(chain)), 0);
    }
    ~RecorderObject() override { sink_->close(); }
    void end() noexcept override {
        closed_ = true;
        sink_->close();
    }

    void push(ConstHostView pixels, FrameInfo info, bool timed) {
        if (closed_)
            throw UsageError("The recorder is closed; make another one for more frames.");
        if (const SinkStatus status = sink_->status(); !status.error.empty())
            throw RunError(status.error);
        info.arrival = SteadyClock::now();
        if (!timed)
            info.capture_ns = time_of_untimed(info);
        else if (info.capture_ns >= kTooLate || info.capture_ns <= -kTooLate)
            throw UsageError(
                "The frame's time_ns = " + std::to_string(info.capture_ns) +
                " is not possible; allowed: within 146 years of 0; subtract when the clock began.");
        if (frames_ > 0 && info.capture_ns < last_ns_)
            throw UsageError("The frame's time_ns = " + std::to_string(info.capture_ns) +
                             " is before the last one's, " + std::to_string(last_ns_) +
                             "; give frames in their order.");
        info.sequence = frames_;
        if (info.full_scale == 0)
            info.full_scale = type_full_scale(pixels.shape.type);
        begin(pixels.shape, info);
        Frame frame = room_->acquire(std::chrono::seconds(10));
        if (!frame)
            throw NoSlot();
        copy_pixels(pixels, frame.host());
        frame.info() = info;
        const ThreadLimit alone(
            1); // limits this thread only: an executor's own limit would apply to the whole process
        executor_->submit(frame, true);
        Result result = executor_->collect(true).value();
        result.image = frame;
        tell(info);
        sink_->push(result, !live_);
        if (frames_ == 0)
            first_ns_ = info.capture_ns;
        last_ns_ = info.capture_ns;
        ++frames_;
    }

    std::uint64_t mark(const char* label) {
        if (closed_)
            throw UsageError("The recorder is closed; make another one for more frames.");
        const std::uint64_t number = events_.mark({}, text_or(label, "")).mark.number;
        return number;
    }

    void close() {
        closed_ = true;
        sink_->close();
        if (const SinkStatus status = sink_->status(); !status.error.empty())
            throw RunError(status.error);
    }

    /// Texts are valid until the next call.
    specklescope_recorder_info info() {
        const std::scoped_lock lock(told_);
        status_ = sink_->status();
        specklescope_recorder_info made{};
        made.path = status_.path.c_str();
        made.error = status_.error.c_str();
        made.written = status_.written;
        made.dropped = status_.dropped;
        made.queued = status_.queued;
        made.bytes = status_.bytes;
        made.files = status_.before.size() + (status_.path.empty() ? 0 : 1);
        made.closed = closed_ ? 1 : 0;
        return made;
    }

private:
    /// Current time. With a rate and without live frames: one period after the previous frame.
    std::int64_t time_of_untimed(const FrameInfo& info) const {
        if (frames_ == 0 || live_ || stream_.source.rate == 0)
            return std::chrono::duration_cast<std::chrono::nanoseconds>(info.arrival.time_since_epoch())
                .count();
        const double elapsed = static_cast<double>(frames_) * 1e9 / stream_.source.rate;
        constexpr std::int64_t kMost = kTooLate / 2; // the sum of two such times is still valid
        return std::min(first_ns_, kMost) + std::llround(std::min(elapsed, static_cast<double>(kMost)));
    }
    /// Call before the first frame of a shape.
    void begin(const Shape& shape, const FrameInfo& info) {
        if (!room_ || room_->shape() != shape)
            room_.emplace(shape, default_slots(shape), host_memory());
        if (std::exchange(open_, true))
            return;
        stream_.source.shape = shape;
        stream_.source.full_scale = info.full_scale;
        stream_.slots = room_->slots();
        try {
            sink_->open(stream_);
        } catch (...) {
            open_ = false;
            throw;
        }
    }
    /// Events marked since the last frame belong to this frame.
    void tell(const FrameInfo& info) {
        const std::vector<TimedEvent>& events = events_.events();
        for (; told_events_ < events.size(); ++told_events_) {
            EventMark event = events[told_events_].mark;
            event.sequence = info.sequence;
            event.capture_ns = info.capture_ns;
            sink_->mark(event);
        }
    }

    RecordWhat what_;
    bool live_;
    std::unique_ptr<Executor> executor_;
    StreamInfo stream_;
    std::shared_ptr<Sink> sink_;
    std::optional<FrameRing> room_;
    EventLog events_;
    std::size_t told_events_ = 0;
    std::uint64_t frames_ = 0;
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    bool open_ = false;
    std::atomic<bool> closed_{false};
    std::mutex told_;
    SinkStatus status_; ///< guarded by told_
};

} // namespace

extern "C" {

specklescope_status specklescope_recorder_create(const char* path, const specklescope_recording* recording,
                                                 specklescope_recorder** recorder) {
    return guarded([&] {
        need(path, "The file's name");
        need(recorder, "The place for the recorder");
        keep_quiet();
        const specklescope_recording told = read_struct(recording, "The recording", true);
        *recorder = static_cast<specklescope_recorder*>(
            keep(std::make_shared<RecorderObject>(path, told), RecorderObject::kKind));
        end_at_exit();
    });
}

specklescope_status specklescope_recorder_push(specklescope_recorder* recorder,
                                               const specklescope_image* image,
                                               const specklescope_facts* facts) {
    return guarded([&] {
        const Using<RecorderObject> use(recorder);
        const HostView pixels = view_of(read_struct(image, "The frame"), "The frame");
        const specklescope_facts known = read_struct(facts, "What is known of the frame", true);
        use->push(pixels, info_of(known), facts && known.untimed == 0);
    });
}

specklescope_status specklescope_recorder_mark(specklescope_recorder* recorder, const char* label,
                                               uint64_t* number) {
    return guarded([&] {
        const std::uint64_t made = Using<RecorderObject>(recorder)->mark(label);
        if (number)
            *number = made;
    });
}

specklescope_status specklescope_recorder_status(specklescope_recorder* recorder,
                                                 specklescope_recorder_info* info) {
    return guarded(
        [&] { write_struct(info, find_as<RecorderObject>(recorder)->info(), "The recorder's info"); });
}

specklescope_status specklescope_recorder_close(specklescope_recorder* recorder) {
    return guarded([&] { Using<RecorderObject>(recorder)->close(); });
}

specklescope_status specklescope_recorder_free(specklescope_recorder* recorder) {
    return guarded([&] {
        if (recorder)
            take_out_as<RecorderObject>(recorder);
    });
}

specklescope_status specklescope_recording_text(const char* path, char* text, size_t size, size_t* needed) {
    return guarded([&] {
        need(path, "The file's name");
        keep_quiet();
        write_text(recording_text(path), text, size, needed);
    });
}

} // extern "C"
