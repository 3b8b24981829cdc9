// The session's recordings and snapshots: begun on the main thread, finished beside it.
#include "base/error.hpp"
#include "config/in_turn.hpp"
#include "ui/session.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope {

const std::vector<std::string>& Session::endings(RecordWhat what) {
    static const std::vector<std::string> all =
        record_endings([](const RecordFormat& f) { return f.stream; });
    static const std::vector<std::string> films =
        record_endings([](const RecordFormat& f) { return f.stream && f.colors; });
    static const std::vector<std::string> exact = record_endings([](const RecordFormat& f) {
        return f.stream && f.holds({1, 1, 1, PixelType::u8});
    }); // raw frames
    return what == RecordWhat::processed ? all : what == RecordWhat::screen ? films : exact;
}

void Session::poll_recordings() {
    for (std::size_t i = 0; i < recordings_.size();) {
        const SinkStatus status = recordings_[i].sink->status();
        if (status.error.empty() && !status.closed && status.complete.empty()) {
            ++i;
            continue;
        }
        finish(recordings_[i]);
        ended.keep(recordings_[i]);
        recordings_.erase(recordings_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

/// Keeps raw frames of the source that runs as the settings say now.
void Session::poll_pre_trigger() {
    const RecordLimits& limits = settings_.program.as<ProgramSettings>().recording;
    const auto bytes = static_cast<std::uint64_t>(limits.pre_trigger_mib) << 20;
    if (before_ && (before_of_ != pipeline_ || limits.pre_trigger_s == 0)) {
        if (before_of_ == pipeline_)
            pipeline_->remove_sink(before_); // a recording that has its frames holds it
        before_.reset();
        before_of_.reset();
    }
    if (limits.pre_trigger_s == 0)
        before_refused_ = 0;
    if (before_)
        return before_->set(limits.pre_trigger_s, bytes);
    if (!pipeline_ || !pipeline_->started() || limits.pre_trigger_s == 0 ||
        limits.pre_trigger_s == before_refused_)
        return;
    try {
        auto before = std::make_shared<PreTrigger>(limits.pre_trigger_s, bytes);
        pipeline_->add_sink(before);
        before_ = std::move(before);
        before_of_ = pipeline_;
        before_refused_ = 0;
    } catch (const std::exception& error) {
        before_refused_ = limits.pre_trigger_s;
        say(Message::Level::error, sentence_of(error));
    }
}

const Recording* Session::recording(const OutputKind& kind) const {
    const auto at = std::find_if(recordings_.begin(), recordings_.end(),
                                 [&](const Recording& one) { return one.kind == &kind; });
    return at == recordings_.end() ? nullptr : &*at;
}

std::string Session::new_path(const std::string& what, const std::string& ending) {
    const RecordLimits& limits = settings_.program.as<ProgramSettings>().recording;
    const NamePlaces places{stem_of(settings_.source), ++named_, local_now(), limits.subject, what};
    return (std::filesystem::path(folder.empty() ? "." : folder) / (fill_name(limits.name, places) + ending))
        .lexically_normal()
        .string();
}

std::shared_ptr<Sink> Session::end_recording(const OutputKind& kind) {
    const Recording* running = recording(kind);
    if (!running)
        return nullptr;
    std::shared_ptr<Sink> sink = running->sink;
    finish(*running);
    recordings_.erase(recordings_.begin() + (running - recordings_.data()));
    return sink;
}

void Session::record_to(const OutputKind& kind, const std::string& path) {
    if (!pipeline_ || !pipeline_->started())
        throw RunError("Nothing runs that could be recorded; open a source.");
    auto sink =
        kind.make({&kind, path}, {.settings = settings_, .look = look_, .before = before_, .later = true});
    pipeline_->add_sink(sink);
    (void)ended.take(kind);
    recordings_.push_back({&kind, std::move(sink), path});
}

void Session::toggle(const OutputKind& kind, const std::string& ending) {
    if (end_recording(kind))
        return;
    if (kind.needs != OutputKind::Needs::nothing && !traces_wanted())
        return say(Message::Level::warning, kNoRegions);
    if (!pipeline_)
        return;
    if (!pipeline_->started())
        return say(Message::Level::warning, opening()
                                                ? "Nothing can be recorded before the source is open."
                                                : "Nothing runs that could be recorded; open a source.");
    try {
        record_to(kind, new_path(kind.what(), ending));
    } catch (const std::exception& error) {
        say(Message::Level::error, sentence_of(error));
    }
}

void Session::toggle_record(RecordWhat what) {
    const int format = what == RecordWhat::raw      ? raw_format
                       : what == RecordWhat::screen ? screen_format
                                                    : processed_format;
    toggle(output_kind(what), endings(what)[static_cast<std::size_t>(format)]);
}

void Session::toggle_traces() { toggle(output_kind("traces"), ".csv"); }

void Session::finish(const Recording& recording) {
    work_.push_back(
        std::async(std::launch::async, [this, pipeline = pipeline_, sink = recording.sink,
                                        pixels = recording.kind->frames.has_value(), notify = notify_] {
            pipeline->remove_sink(sink);
            sink->close();
            const SinkStatus status = sink->status();
            notify();
            if (!status.error.empty())
                recording_failed_ = true; // close() waits for this work
            Message end = end_of_recording(status);
            Note done = note(end.level, std::move(end.text));
            done.failed_recording = !status.error.empty();
            done.logged = !status.error.empty() || (pixels && !status.path.empty()); // by the recorder
            return done;
        }));
}

void Session::snapshot(Result result) {
    if (!pipeline_)
        return;
    RecordOptions options;
    try {
        options.path = new_path("snapshot", ".png");
    } catch (const UsageError& error) {
        return say(Message::Level::error, sentence_of(error));
    }
    options.mapping = view().mapping;
    options.mapping.automatic = false; // exactly the range on the screen
    work_.push_back(std::async(std::launch::async, [options, held = std::move(result),
                                                    stream = pipeline_->stream(), notify = notify_] {
        Note done;
        try {
            done = note(Message::Level::info,
                        "Snapshot saved as " + write_snapshot(held, options, stream) + ".");
        } catch (const std::exception& error) {
            done = note(Message::Level::error, sentence_of(error));
        }
        notify();
        return done;
    }));
}

} // namespace specklescope
