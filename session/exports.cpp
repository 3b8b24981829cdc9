#include "session/exports.hpp"

#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "files/whole_file.hpp"
#include "recording/traces.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace specklescope {

namespace {

/// The settings for recorders of the whole film: without the lengths of recordings by hand.
Settings for_whole_film(const Settings& settings) {
    Settings whole = settings;
    const Params initial(program_table());
    for (const ParamDecl& decl : record_limits_table().decls())
        if (!is_text(decl.kind) && decl.name != "keep_free")
            whole.program.set(decl.name, initial.get(decl.name));
    whole.program.set("change", false);
    return whole;
}

} // namespace

std::vector<TraceValues> frames_between(TraceHistory& history, std::int64_t from_ns, std::int64_t to_ns,
                                        int most) {
    std::set<std::int64_t> times;
    for (const std::vector<TraceColumn>& curve : history.curves(from_ns, to_ns + 1, most))
        for (const TraceColumn& column : curve)
            if (column.time_ns >= from_ns && column.time_ns <= to_ns)
                times.insert(column.time_ns);
    std::vector<TraceValues> frames;
    frames.reserve(times.size());
    for (const std::int64_t time : times)
        if (std::optional<TraceValues> values = history.values_at(time);
            values && (frames.empty() || values->moment.time_ns > frames.back().moment.time_ns))
            frames.push_back(std::move(*values));
    return frames;
}

namespace {

std::string write_history(const std::string& path, TraceHistory& history,
                          const std::vector<TimedEvent>& marks, const StreamInfo& stream) {
    constexpr int kMost = 1 << 24;
    const TraceOverview about = history.overview();
    std::vector<TraceValues> frames = frames_between(history, about.first_ns, about.last_ns, kMost);
    std::erase_if(frames, [](const TraceValues& frame) { return !frame.exact; });
    const std::string name =
        write_together(path, {".csv"}, {traces_table(stream, about, frames, marks)}, "table").front();
    return "Saved the traces of the last " + count_text(frames.size()) + " frames as " + name + ".";
}

/// F₀ as the window shows it.
FindBaseline baseline_of_regions(const TraceMeans& means, const TraceOverview& about) {
    std::map<std::string, TraceMean> by_name;
    for (const TraceRegion& region : about.regions)
        for (const TraceMean& mean : means.regions)
            if (mean.id == region.id)
                by_name[region.name] = mean;
    return
        [by_name, with = means.with, taken = baseline_text(means)](const Result& result, std::string& text) {
            text = taken;
            std::vector<double> f0;
            const MadeWith now = made_with(result);
            if (const std::string why = changed_since_baseline(with ? &*with : nullptr, &now); !why.empty()) {
                text += "; not used: " + why;
                return f0;
            }
            const PlacedRegions& placed = *result.regions->placed;
            for (const PlacedRegion& region : placed.regions) {
                const auto at = by_name.find(region.name);
                const bool same = at != by_name.end() && at->second.outline == outline_of(placed, region);
                f0.push_back(same ? at->second.mean : NAN);
            }
            return f0;
        };
}

} // namespace

std::string Exports::why_no_traces() const {
    if (!parts_.state.running())
        return "No source is open.";
    if (parts_.state.regions.regions().empty())
        return "There are no regions to trace. Draw one first.";
    return parts_.film.running() ? parts_.film.why_not() : "";
}

std::string Exports::why_no_film(Film what) const {
    if (std::string why = parts_.film.why_not(); !why.empty())
        return why;
    if (what == Film::change && !parts_.baseline.image())
        return with_key("There is no baseline of the image. Take one first", parts_.state.settings.keys,
                        Action::baseline_picture) +
               ".";
    return "";
}

void Exports::save_traces(const EventLog& events) {
    if (!is_film())
        return save_history(events);
    try {
        const std::string path = parts_.recordings.new_path("traces", ".csv");
        process({.sink = make_new_traces(
                     path, parts_.of_regions.taken()
                               ? baseline_of_regions(*parts_.of_regions.taken(), parts_.traces->overview())
                               : baseline_over(parts_.baseline.image())),
                 .logs_itself = false},
                path);
    } catch (const std::exception& error) {
        parts_.state.notices.say(Message::Level::error, sentence_of(error));
    }
}

void Exports::save_film(Film what) {
    Settings settings = for_whole_film(parts_.state.settings);
    ScreenLook look = *parts_.look->get();
    if (what == Film::change) {
        look.layout = ScreenLayout::processed;
        look.baseline = parts_.baseline.image();
        look.change_range = parts_.state.view().change_range;
    }
    settings.program.set("burn_bar", can_draw_marks());
    const bool results = what == Film::results;
    const OutputKind& kind = output_kind(results ? RecordWhat::processed : RecordWhat::screen);
    try {
        const std::string path = parts_.recordings.new_path(results                ? "results"
                                                            : what == Film::change ? "change"
                                                                                   : kind.what(),
                                                            results ? ".tiff" : ".mkv");
        process({.sink = kind.make({&kind, path}, {.settings = settings,
                                                   .look = std::make_shared<LiveLook>(std::move(look)),
                                                   .later = true}),
                 .logs_itself = true},
                path);
    } catch (const std::exception& error) {
        parts_.state.notices.say(Message::Level::error, sentence_of(error));
    }
}

/// Throws as WholeFilm::start() does.
void Exports::process(const Export& made, const std::string& path) {
    parts_.film.start(
        {.sinks = {made.sink}, .over = [this, made](WholeFilm::Outcome outcome, const std::string& text) {
             report(made, outcome, text);
         }});
    parts_.state.notices.say(Message::Level::info, "Processing the whole film into " + path + ".");
}

namespace {

/// Renames a part of a film to "results.incomplete.tiff", so that it is not taken for the whole. A table
/// without a row is removed.
void mark_incomplete(SinkStatus& status) {
    if (status.path.empty())
        return;
    namespace fs = std::filesystem;
    const fs::path whole(status.path);
    const std::string wanted =
        (whole.parent_path() / (whole.stem().string() + ".incomplete" + whole.extension().string())).string();
    std::error_code error;
    if (status.written == 0) {
        fs::remove(whole, error);
        return;
    }
    std::string name = wanted;
    for (int number = 1; fs::exists(name, error) && number < kMaxNumber; ++number)
        name = numbered(wanted, number);
    fs::rename(whole, name, error);
    if (!error)
        status.path = name;
}

} // namespace

void Exports::report(const Export& made, WholeFilm::Outcome outcome, const std::string& text) {
    SinkStatus status = made.sink->status();
    Notices& notices = parts_.state.notices;
    if (outcome != WholeFilm::Outcome::done)
        mark_incomplete(status);
    if (outcome == WholeFilm::Outcome::done || !status.error.empty())
        return notices.take(end_note(status, made.logs_itself));
    notices.say(outcome == WholeFilm::Outcome::cancelled ? Message::Level::warning : Message::Level::error,
                text + " " + saved_text(status));
}

/// Writes the history of a live source in the background, since it may hold millions of frames.
void Exports::save_history(const EventLog& events) {
    parts_.recordings.save("traces", ".csv",
                           [history = parts_.traces, marks = events.events(),
                            stream = parts_.state.pipeline->stream()](const std::string& path) {
                               return write_history(path, *history, marks, stream);
                           });
}

void Exports::save_plot(TracePlot plot) {
    parts_.recordings.save("plot", ".pdf", [held = std::move(plot)](const std::string& path) {
        const PlotFiles files = write_plot(path, held);
        return "Plot saved as " + files.pdf + ", with " + files.png + " and " + files.svg + ".";
    });
}

} // namespace specklescope
