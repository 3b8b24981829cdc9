// The report as a format of recordings: it follows the run, and is written when the recording ends.
#include "base/error.hpp"
#include "recording/record_file.hpp"
#include "recording/report/report.hpp"

#include <filesystem>

namespace specklescope {

namespace {

/// What a result is without its pixels.
Result bare_result(const RecordedFrame& frame) {
    Result result;
    result.info = frame.info;
    result.chain = frame.chain;
    result.quantity = frame.quantity;
    result.exposure = frame.exposure;
    result.counts = frame.counts;
    result.regions = frame.values;
    result.warmup = frame.warmup;
    result.to_grey = !frame.channel.empty();
    return result;
}

Report report_of(const RecordedFrame& frame, const RecordOptions& options, const StreamInfo& stream) {
    Report report{.result = bare_result(frame), .stream = stream, .subject = {}, .note = {}};
    report.result.image = frame.pixels;
    report.result.raw = frame.raw;
    report.mapping = options.mapping;
    report.subject = options.limits.subject;
    report.note = options.limits.note;
    return report;
}

Frame copied(const Frame& frame) {
    if (!frame)
        return {};
    FrameRing room(frame.shape(), 1, host_memory());
    Frame copy = room.try_acquire();
    copy.info() = frame.info();
    copy_pixels(frame.host(), copy.host());
    return copy;
}

void renew(Frame& own, const Frame& frame) {
    if (own && frame && own.shape() == frame.shape())
        copy_pixels(frame.host(), own.host());
    else
        own = copied(frame);
}

class ReportWriter final : public FileWriter {
public:
    ReportWriter(RecordOptions options, const StreamInfo& stream)
        : options_(std::move(options)), stream_(stream), path_(options_.path) {
        check_report(options_.path);
        history_.open(stream);
    }
    void write(const RecordedFrame& frame) override {
        Frame pixels = std::move(last_.pixels), raw = std::move(last_.raw); // the recorder's frames go home
        renew(pixels, frame.pixels);
        renew(raw, frame.raw);
        last_ = frame;
        last_.pixels = std::move(pixels);
        last_.raw = std::move(raw);
        history_.push(bare_result(frame));
        ++frames_;
        for (const EventMark& event : frame.events)
            take(event);
    }
    void update(const FileTotals&) override {}
    void finish(const FileTotals& totals) override {
        if (frames_ == 0)
            return;
        Report report = report_of(last_, options_, stream_);
        Baseline baseline;
        if (options_.baseline && last_.values)
            baseline.take(history_, *options_.baseline, last_.values->placed);
        const MadeWith with = made_with(last_);
        report.traces = traces_for_report(history_, baseline, with);
        if (options_.baseline && report.traces)
            report.traces->no_baseline =
                options_.baseline->misfit(last_.pixels.shape(), last_.quantity, &with);
        report.events = events_;
        report.frames = std::to_string(frames_) + " followed, " + std::to_string(totals.dropped) +
                        " dropped, " + std::to_string(totals.lost_before) + " lost before";
        path_ = write_report(options_.path, report).pdf;
        std::error_code ignored;
        bytes_ = std::filesystem::file_size(path_, ignored);
    }
    std::uint64_t written() const override { return bytes_ > 0 ? 1 : 0; }
    std::uint64_t bytes() const override { return bytes_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return true; } // there is none before the end
    bool named() const override { return written() > 0; }

private:
    void take(const EventMark& event) {
        std::erase_if(events_, [&](const TimedEvent& known) { return known.mark.number == event.number; });
        const std::optional<TraceMoment> newest = history_.overview().newest;
        const std::int64_t shift = newest ? newest->time_ns - newest->capture_ns : 0;
        if (!event.removed)
            events_.push_back({event, event.capture_ns + shift});
    }
    RecordOptions options_;
    StreamInfo stream_;
    std::string path_;
    TraceHistory history_;
    std::vector<TimedEvent> events_;
    RecordedFrame last_;
    std::uint64_t frames_ = 0, bytes_ = 0;
};

} // namespace

std::unique_ptr<FileWriter> make_report_writer(const RecordedFrame&, const RecordOptions& options,
                                               const StreamInfo& stream) {
    return std::make_unique<ReportWriter>(options, stream);
}

std::string write_report_picture(const RecordedFrame& frame, const FileTotals&, const RecordOptions& options,
                                 const StreamInfo& stream) {
    return write_report(options.path, report_of(frame, options, stream)).pdf;
}

void check_report_of(RecordWhat what) {
    if (what != RecordWhat::processed)
        throw UsageError("A report is of results, not of raw frames: name it with --report or --record.");
    check_report("report.pdf");
}

} // namespace specklescope
