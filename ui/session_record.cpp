// The session's recordings and snapshots: begun on the main thread, finished beside it.
#include "base/error.hpp"
#include "base/sentence.hpp"
#include "config/in_turn.hpp"
#include "recording/traces.hpp"
#include "ui/canvas/numbers.hpp"
#include "ui/session.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope {

namespace {

std::string finished_text(const SinkStatus& status) {
    std::string text = "Recorded " + count_text(status.written) + " frames to ";
    for (const SinkFile& file : status.before)
        text += file.path + ", ";
    text += status.path;
    if (!status.complete.empty())
        text += ", complete with " + status.complete;
    if (status.dropped)
        text += "; " + count_text(status.dropped) + " were dropped";
    return text + ".";
}

/// The recorder has written it to the log.
Note logged(Message::Level level, std::string text) {
    Note done = note(level, std::move(text));
    done.logged = true;
    return done;
}

} // namespace

void Session::poll_recordings() {
    for (std::size_t i = 0; i < recordings_.size();) {
        const SinkStatus status = recordings_[i].sink->status();
        if (status.error.empty() && !status.closed && status.complete.empty()) {
            ++i;
            continue;
        }
        finish(recordings_[i]);
        recordings_.erase(recordings_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

const Recording* Session::recording_of(std::optional<RecordWhat> what) const {
    const auto at = std::find_if(recordings_.begin(), recordings_.end(),
                                 [&](const Recording& r) { return r.what == what; });
    return at == recordings_.end() ? nullptr : &*at;
}

const Recording* Session::recording(RecordWhat what) const { return recording_of(what); }
const Recording* Session::recorded_traces() const { return recording_of(std::nullopt); }

std::string Session::new_path(const char* what, const std::string& ending) {
    const RecordLimits& limits = settings_.program.as<ProgramSettings>().recording;
    const NamePlaces places{stem_of(settings_.source), ++named_, local_now(), limits.subject, what};
    return (std::filesystem::path(folder.empty() ? "." : folder) / (fill_name(limits.name, places) + ending))
        .lexically_normal()
        .string();
}

/// True if one ran, and has been ended.
bool Session::ended(std::optional<RecordWhat> what) {
    const Recording* running = recording_of(what);
    if (!running)
        return false;
    finish(*running);
    recordings_.erase(recordings_.begin() + (running - recordings_.data()));
    return true;
}

void Session::begin_recording(std::optional<RecordWhat> what,
                              const std::function<std::shared_ptr<Sink>()>& make) {
    if (!pipeline_)
        return;
    if (!pipeline_->started())
        return say(Message::Level::warning, opening()
                                                ? "Nothing can be recorded before the source is open."
                                                : "Nothing runs that could be recorded; open a source.");
    try {
        auto sink = make();
        pipeline_->add_sink(sink);
        recordings_.push_back({std::move(sink), what, SteadyClock::now()});
    } catch (const std::exception& error) {
        say(Message::Level::error, sentence_of(error));
    }
}

void Session::toggle_record(RecordWhat what) {
    if (ended(what))
        return;
    begin_recording(what, [&] {
        const bool raw = what == RecordWhat::raw;
        RecordOptions options;
        options.what = what;
        options.mapping = view().mapping;
        options.limits = settings_.program.as<ProgramSettings>().recording;
        check_limits(options.limits, "Recording");
        options.path = new_path(to_string(what),
                                endings()[static_cast<std::size_t>(raw ? raw_format : processed_format)]);
        return make_recorder(options);
    });
}

void Session::toggle_traces() {
    if (ended(std::nullopt))
        return;
    if (!traces_wanted())
        return say(Message::Level::warning,
                   "There are no regions whose traces could be recorded; draw one first.");
    begin_recording(std::nullopt, [this] { return make_new_traces(new_path("traces", ".csv")); });
}

void Session::finish(const Recording& recording) {
    work_.push_back(std::async(std::launch::async, [this, pipeline = pipeline_, sink = recording.sink,
                                                    pixels = recording.what.has_value(), notify = notify_] {
        pipeline->remove_sink(sink);
        sink->close();
        const SinkStatus status = sink->status();
        notify();
        if (!status.error.empty()) {
            recording_failed_ = true; // close() waits for this work
            return logged(Message::Level::error, status.error);
        }
        if (status.path.empty())
            return note(Message::Level::warning, "Nothing was recorded: no frame came in that time.");
        Note done =
            note(status.dropped ? Message::Level::warning : Message::Level::info, finished_text(status));
        done.logged = pixels; // by the recorder
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
