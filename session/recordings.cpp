#include "session/recordings.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "config/in_turn.hpp"
#include "config/numbers.hpp"
#include "recording/report/report.hpp"
#include "session/freshness.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace specklescope {

namespace {

bool is_over(const Recording& recording) {
    const SinkStatus status = recording.sink->status();
    return status.closed || !status.complete.empty() || !status.error.empty();
}

std::uint64_t kept_bytes(const RecordLimits& limits) {
    return static_cast<std::uint64_t>(limits.pre_trigger_mib) << 20;
}

std::shared_ptr<PreTrigger> kept_frames(const RecordLimits& limits) {
    return std::make_shared<PreTrigger>(limits.pre_trigger_s, kept_bytes(limits));
}

bool is_raw(const Output& output) { return output.kind->frames == RecordWhat::raw; }

} // namespace

std::string saved_text(const SinkStatus& status) {
    if (status.written == 0)
        return "Nothing was saved.";
    std::string text = "Saved " + count_text(status.written) + (status.written == 1 ? " frame" : " frames");
    if (!std::isnan(status.seconds))
        text += " (" + age_text(status.seconds) + ")";
    text += " to ";
    for (const SinkFile& file : status.before)
        text += file.path + ", ";
    return text + status.path + ".";
}

Message end_of_recording(const SinkStatus& status) {
    if (!status.error.empty())
        return {Message::Level::error, (status.error.starts_with("Recording") ? "" : "Recording stopped: ") +
                                           status.error + " " + saved_text(status)};
    if (status.path.empty())
        return {Message::Level::warning, "Nothing was recorded: no frame came in that time."};
    std::string text =
        "Recorded " + count_text(status.written) + (status.written == 1 ? " frame to " : " frames to ");
    for (const SinkFile& file : status.before)
        text += file.path + ", ";
    text += status.path;
    if (!status.complete.empty())
        text += ", complete with " + status.complete;
    if (status.dropped > 0)
        text += "; " + count_text(status.dropped) + (status.dropped == 1 ? " was dropped" : " were dropped");
    return {status.dropped > 0 ? Message::Level::warning : Message::Level::info, text + "."};
}

Note end_note(const SinkStatus& status, bool logs_itself) {
    Message message = end_of_recording(status);
    Note done = note(message.level, std::move(message.text));
    done.failed_recording = !status.error.empty();
    done.logged = done.failed_recording || (logs_itself && !status.path.empty());
    return done;
}

const std::vector<std::string>& Recordings::endings(RecordWhat what) {
    static const std::vector<std::string> all =
        record_endings([](const RecordFormat& f) { return f.stream; });
    static const std::vector<std::string> videos =
        record_endings([](const RecordFormat& f) { return f.stream && f.colors; });
    static const std::vector<std::string> exact = record_endings([](const RecordFormat& f) {
        return f.stream && f.holds({1, 1, 1, PixelType::u8});
    }); // raw frames
    return what == RecordWhat::processed ? all : what == RecordWhat::screen ? videos : exact;
}

void Recordings::add(Pipeline& pipeline, const Settings& settings) {
    all_.clear(); // of a pipeline that could not be started
    ends_.clear();
    Settings now = settings;
    const RecordLimits& limits = settings.program.as<ProgramSettings>().recording;
    if (!state_.interactive && limits.pre_trigger_s > 0) {
        held_back_ = settings;
        std::erase_if(held_back_.outputs, [](const Output& output) { return !is_raw(output); });
        std::erase_if(now.outputs, is_raw);
        before_ = kept_frames(limits);
        pipeline.add_sink(before_);
        run_log().info("Keeping the last {} s of raw frames, up to {} MiB; kill -USR1 {} begins the "
                       "recording, and ends it again.",
                       to_string(limits.pre_trigger_s), limits.pre_trigger_mib, ::getpid());
    }
    given_ = add_outputs(pipeline, {.settings = now, .look = look_});
    for (const Recording& recording : given_)
        began(recording);
}

void Recordings::began(Recording recording) {
    drop_ended(*recording.kind, recording.of);
    all_.push_back(std::move(recording));
    ends_.push_back(End::none);
}

/// A later end of this kind and image is the one to report. Without a user, all stay for the summary.
void Recordings::drop_ended(const OutputKind& kind, const std::string& of) {
    for (std::size_t i = all_.size(); i-- > 0;) {
        if (all_[i].kind != &kind || all_[i].of != of || ends_[i] == End::none)
            continue;
        ends_[i] = End::reported;
        if (state_.interactive) {
            all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
            ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

void Recordings::trigger() {
    bool running = false;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].kind->frames == RecordWhat::raw && ends_[i] == End::none) {
            running = true;
            finish(i, End::reported);
        }
    if (running || !state_.running())
        return;
    try {
        const PreTrigger::Fill kept = before_->fill();
        for (Recording& recording :
             add_outputs(*state_.pipeline, {.settings = held_back_, .before = before_}))
            began(std::move(recording));
        triggered_ = true;
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%.1f", kept.seconds);
        state_.notices.say(Message::Level::info,
                           "Recording begins, with the " + std::to_string(kept.frames) +
                               " frames of the last " + seconds + " s" +
                               (kept.limited ? ", which is all that --pre-trigger-mib holds." : "."));
    } catch (const std::exception& error) {
        state_.notices.say(Message::Level::error, sentence_of(error));
    }
}

const Recording* Recordings::running(const OutputKind& kind, const Of& of) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].kind == &kind && all_[i].of == of.value_or(all_[i].of) && ends_[i] == End::none)
            return &all_[i];
    return nullptr;
}

std::vector<Recording> Recordings::running() const {
    std::vector<Recording> found;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (ends_[i] == End::none)
            found.push_back(all_[i]);
    return found;
}

void Recordings::mark(const EventMark& event) const {
    for (const Recording& recording : running())
        recording.sink->mark(event);
}

void Recordings::begin(const OutputKind& kind, const std::string& path, const std::string& of) {
    if (!state_.running())
        throw RunError("Nothing runs that could be recorded; open a source.");
    Settings now = state_.settings;
    now.chain = *state_.pipeline->chain();
    auto sink =
        make_sink({&kind, path, of}, {.settings = now, .look = look_, .before = before_, .later = true});
    state_.pipeline->add_sink(sink);
    began({&kind, std::move(sink), path, of});
}

void Recordings::toggle(const OutputKind& kind) {
    if (end(kind))
        return;
    if (kind.needs != OutputKind::Needs::nothing && state_.regions.regions().empty())
        return state_.notices.say(Message::Level::warning, kNoRegions);
    const int format = kind.frames == RecordWhat::raw         ? raw_format
                       : kind.frames == RecordWhat::screen    ? screen_format
                       : kind.frames == RecordWhat::processed ? processed_format
                                                              : 0;
    try {
        const std::string ending =
            kind.frames ? endings(*kind.frames).at(static_cast<std::size_t>(format)) : kind.ending;
        begin(kind, new_path(kind.what(), ending), kind.named ? state_.pipeline->chain()->displayed() : "");
    } catch (const std::exception& error) {
        state_.notices.say(Message::Level::error, sentence_of(error));
    }
}

std::shared_ptr<Sink> Recordings::end(const OutputKind& kind, const Of& of) {
    const Recording* recording = running(kind, of);
    if (!recording)
        return nullptr;
    std::shared_ptr<Sink> sink = recording->sink;
    const std::string image = recording->of;
    finish(static_cast<std::size_t>(recording - all_.data()), End::reported);
    drop_ended(kind, image);
    return sink;
}

std::shared_ptr<Sink> Recordings::ended(const OutputKind& kind, const Of& of) {
    for (std::size_t i = all_.size(); i-- > 0;)
        if (all_[i].kind == &kind && all_[i].of == of.value_or(all_[i].of) && ends_[i] == End::by_itself) {
            std::shared_ptr<Sink> sink = all_[i].sink;
            const std::string image = all_[i].of;
            drop_ended(kind, image);
            return sink;
        }
    return nullptr;
}

void Recordings::end_all() {
    for (std::size_t i = 0; state_.pipeline && i < all_.size(); ++i)
        if (ends_[i] == End::none)
            finish(i, End::by_itself);
}

void Recordings::finish(std::size_t place, End end) {
    ends_[place] = end;
    // The recorder logs its own end; with a user, tables are logged here.
    const bool logs_itself = all_[place].kind->frames.has_value() || !state_.interactive;
    state_.notices.run([pipeline = state_.pipeline, sink = all_[place].sink, logs_itself] {
        pipeline->remove_sink(sink);
        sink->close();
        return end_note(sink->status(), logs_itself);
    });
}

void Recordings::poll() {
    // Without a user, the outputs of the settings stay to the end and count the frames that they lose.
    const auto stays = [&](const Recording& recording) {
        return !state_.interactive && std::any_of(given_.begin(), given_.end(), [&](const Recording& one) {
            return one.sink == recording.sink;
        });
    };
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (ends_[i] == End::none && is_over(all_[i]) && !stays(all_[i]))
            finish(i, End::by_itself);
    keep_before();
}

/// Keeps raw frames of the present pipeline according to the settings.
void Recordings::keep_before() {
    const RecordLimits& limits = state_.program().recording;
    if (!state_.interactive)
        return; // add() did it
    if (before_ && (before_of_ != state_.pipeline || limits.pre_trigger_s == 0)) {
        if (before_of_ == state_.pipeline)
            state_.pipeline->remove_sink(before_); // a recording that uses its frames holds it
        drop_kept();
    }
    if (limits.pre_trigger_s == 0)
        before_refused_ = 0;
    if (before_)
        return before_->set(limits.pre_trigger_s, kept_bytes(limits));
    if (!state_.running() || limits.pre_trigger_s == 0 || limits.pre_trigger_s == before_refused_)
        return;
    try {
        auto before = kept_frames(limits);
        state_.pipeline->add_sink(before);
        before_ = std::move(before);
        before_of_ = state_.pipeline;
        before_refused_ = 0;
    } catch (const std::exception& error) {
        before_refused_ = limits.pre_trigger_s;
        state_.notices.say(Message::Level::error, sentence_of(error));
    }
}

void Recordings::drop_kept() {
    before_.reset();
    before_of_.reset();
}

bool Recordings::complete() const {
    std::vector<SinkStatus> of_frames;
    for (const Recording& recording : given_)
        if (recording.kind->frames)
            of_frames.push_back(recording.sink->status());
    const auto is_complete = [](const SinkStatus& status) { return !status.complete.empty(); };
    return std::any_of(of_frames.begin(), of_frames.end(), is_complete) &&
           std::all_of(of_frames.begin(), of_frames.end(), [&](const SinkStatus& status) {
               return is_complete(status) || !status.error.empty();
           });
}

bool Recordings::over() const {
    return !given_.empty() && std::all_of(given_.begin(), given_.end(), [](const Recording& recording) {
        const SinkStatus status = recording.sink->status();
        return !status.complete.empty() || !status.error.empty();
    });
}

bool Recordings::drained() const {
    return std::all_of(given_.begin(), given_.end(), [](const Recording& recording) {
        return !recording.kind->frames || recording.sink->status().queued == 0;
    });
}

/// Throws UsageError for a name with an unknown place.
std::string Recordings::new_path(const std::string& what, const std::string& ending) {
    const RecordLimits& limits = state_.program().recording;
    const NamePlaces places{stem_of(state_.settings.source), ++named_, local_now(), limits.subject, what};
    return (std::filesystem::path(folder.empty() ? "." : folder) / (fill_name(limits.name, places) + ending))
        .lexically_normal()
        .string();
}

void Recordings::save(const std::string& what, const std::string& ending,
                      std::function<std::string(const std::string& path)> write) {
    std::string path;
    try {
        path = new_path(what, ending);
    } catch (const UsageError& error) {
        return state_.notices.say(Message::Level::error, sentence_of(error));
    }
    state_.notices.run([path, write = std::move(write)] {
        try {
            return note(Message::Level::info, write(path));
        } catch (const std::exception& error) {
            return note(Message::Level::error, sentence_of(error));
        }
    });
}

void Recordings::snapshot(Result result) {
    if (!state_.pipeline)
        return;
    RecordOptions options;
    options.mapping = mapping_for(state_.settings, result.quantity);
    options.mapping.automatic = false; // exactly the range on the screen
    save("snapshot", ".png",
         [options, held = std::move(result), stream = state_.pipeline->stream()](const std::string& path) {
             RecordOptions to = options;
             to.path = path;
             return "Snapshot saved as " + write_snapshot(held, to, stream) + ".";
         });
}

void Recordings::report(Result result, TraceHistory& traces, const Baseline& baseline,
                        const EventLog& events) {
    if (!state_.pipeline)
        return;
    const RecordLimits& limits = state_.program().recording;
    Report report;
    report.stream = state_.pipeline->stream();
    report.mapping = mapping_for(state_.settings, result.quantity);
    report.mapping.automatic = false; // exactly the range on the screen
    report.subject = limits.subject;
    report.note = limits.note;
    report.form = parse_form(state_.view().report_form);
    report.result = std::move(result);
    report.traces = traces_for_report(traces, baseline, made_with(report.result));
    report.events = events.events();
    std::erase_if(report.events, [axis = traces.overview().axis](const TimedEvent& event) {
        return event.axis != axis; // of a film that was open before
    });
    const StatsSnapshot stats = state_.pipeline->stats();
    report.frames = std::to_string(stats.frames.processed) + " processed, " +
                    std::to_string(stats.drops.total()) + " dropped";
    save("report", ".pdf", [held = std::move(report)](const std::string& path) {
        const ReportFiles files = write_report(path, held);
        return "Report saved as " + files.pdf + ", with " + files.png + " and " + files.csv + ".";
    });
}

} // namespace specklescope
