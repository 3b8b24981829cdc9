// Requests about what is kept: recordings, pictures, events, regions and what they are compared with.
#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/control/answers.hpp"
#include "config/text.hpp"
#include "net/publisher.hpp"
#include "recording/recorder.hpp"
#include "recording/stream/pipe_end.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope::control {

namespace {

/// The output that a request names, which read_request() has checked.
const OutputKind& named_kind(const Json& a) {
    return *std::find_if(output_kinds().begin(), output_kinds().end(),
                         [&](const OutputKind& kind) { return a["what"] == kind.request; });
}

/// By its number. Throws UsageError.
EventMark event_of(ControlHost& host, const Json& wanted) {
    const auto number = wanted.get<std::uint64_t>();
    const std::vector<TimedEvent>& all = host.events().events();
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const TimedEvent& event) { return event.mark.number == number; });
    if (at == all.end())
        throw UsageError("There is no event " + std::to_string(number) + "; ask for events, which has them.");
    return at->mark;
}

Out json_of_event(const EventMark& event) {
    Out out;
    add_event(out, event); // as it is published
    return out;
}

} // namespace

std::vector<std::string> record_names() {
    std::vector<std::string> names;
    for (const OutputKind& kind : output_kinds())
        if (*kind.request != '\0')
            names.emplace_back(kind.request);
    return names;
}

const std::string& folder_for_requests(const Settings& settings) {
    const std::string& folder = settings.program.as<ProgramSettings>().control_folder;
    if (folder.empty())
        throw UsageError("Requests may not read or write files; start the program with --control-folder "
                         "FOLDER, where they may.");
    return folder;
}

std::string path_in_folder(const Settings& settings, const std::string& name) {
    const std::string& folder = folder_for_requests(settings);
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos || one_line(name) != name)
        throw UsageError(
            "A request names a file in the folder of --control-folder, without '/' and without a "
            "dot in front, as flow.tiff; '" +
            one_line(name.substr(0, 60)) + "' is none.");
    return (std::filesystem::path(folder) / name).string();
}

Answer record(ControlHost& host, const Json& a, ControlProgress&) {
    const OutputKind& kind = named_kind(a);
    const std::string name = kind.request, ending = kind.ending;
    const std::string wanted = path_in_folder(host.settings(), a["file"].get<std::string>());
    const std::vector<Recording> running = host.recordings();
    if (std::any_of(running.begin(), running.end(), [&](const Recording& one) { return one.kind == &kind; }))
        throw UsageError("'" + name + "' is recorded already; send 'stop' first.");
    if (kind.needs != OutputKind::Needs::nothing && host.regions().empty())
        throw UsageError("There are no regions to record " + name + " of; send 'set_regions' first.");
    if (!wanted.ends_with(ending))
        throw UsageError("Files of '" + name + "' must end in " + ending + ".");
    if (!stream_target(wanted))
        check_writable(wanted);
    std::vector<std::string> promised;
    promised.reserve(running.size());
    for (const Recording& recording : running)
        promised.push_back(recording.path);
    const std::string path = free_recording_name(wanted, promised);
    host.begin_recording(kind, path);
    return told({{"file", path}});
}

Answer stop_recording(ControlHost& host, const Json& a, ControlProgress& progress) {
    const OutputKind& kind = named_kind(a);
    if (!progress.sink)
        progress.sink = host.end_recording(kind);
    if (!progress.sink)
        throw UsageError("No recording of " + std::string(kind.request) + " runs; ask for record first.");
    const SinkStatus status = progress.sink->status();
    constexpr std::chrono::seconds kLongest(30); // behind that the disk is waited for elsewhere
    if (!status.closed && SteadyClock::now() - progress.begun < kLongest)
        return std::nullopt;
    if (!status.error.empty())
        throw RunError(status.error);
    Out files = Out::array();
    for (const SinkFile& file : status.before)
        files.push_back(file.path);
    if (!status.path.empty())
        files.push_back(status.path);
    return told({{"files", std::move(files)},
                 {"written", status.written},
                 {"dropped", status.dropped},
                 {"complete", status.closed}});
}

Answer snapshot(ControlHost& host, const Json& a, ControlProgress& progress) {
    if (!progress.file.valid()) {
        RecordOptions options;
        options.path = path_in_folder(host.settings(), a["file"].get<std::string>());
        check_snapshot(options.path);
        options.mapping = host.settings().view.as<ViewSettings>().mapping;
        const std::optional<Result> newest = host.newest(true);
        if (!newest)
            throw RunError("There is no result yet that could be kept; ask again when there is.");
        progress.file =
            std::async(std::launch::async, [options, result = *newest, stream = host.pipeline().stream()] {
                return write_snapshot(result, options, stream);
            });
    }
    if (progress.file.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return std::nullopt;
    return told({{"file", progress.file.get()}});
}

Answer mark(ControlHost& host, const Json& a, ControlProgress&) {
    (void)host.pipeline();
    return told(json_of_event(host.mark(a.value("label", ""))));
}

Answer events(ControlHost& host, const Json&, ControlProgress&) {
    Out all = Out::array();
    for (const TimedEvent& event : host.events().events())
        all.push_back(json_of_event(event.mark));
    return told({{"events", std::move(all)}});
}

Answer relabel(ControlHost& host, const Json& a, ControlProgress&) {
    const std::uint64_t number = event_of(host, a["event"]).number;
    const auto label = a["label"].get<std::string>();
    if (label.find_first_not_of(" \t\r\n") == std::string::npos)
        throw UsageError("An event without a label would not be told from others; give it one, or ask for "
                         "unmark.");
    host.relabel(number, label);
    return told(json_of_event(event_of(host, number)));
}

Answer unmark(ControlHost& host, const Json& a, ControlProgress&) {
    EventMark event = event_of(host, a["event"]);
    host.unmark(event.number);
    event.removed = true;
    return told(json_of_event(event));
}

Answer regions(ControlHost& host, const Json&, ControlProgress&) {
    return told(Out::parse(to_json(host.regions())));
}

Answer set_regions(ControlHost& host, const Json& a, ControlProgress&) {
    (void)host.pipeline();
    std::vector<Region> wanted = read_regions_json(Json{{"regions", a["regions"]}}.dump(), "The request");
    check_regions(wanted);
    host.set_regions(std::move(wanted));
    return told({{"count", a["regions"].size()}});
}

Answer baseline(ControlHost& host, const Json& a, ControlProgress&) {
    Params view = host.settings().view;
    if (a.contains("seconds"))
        view.set("baseline_s", a["seconds"].get<double>());
    if (!host.baseline().take(host.traces(), view.as<ViewSettings>().baseline_s))
        throw RunError("No region has a value that a baseline could be taken of; set regions, and let frames "
                       "come.");
    const TraceMeans& means = *host.baseline().taken();
    Out all = Out::object();
    const TraceOverview overview = host.traces().overview();
    for (const TraceRegion& region : overview.regions)
        if (const std::optional<double> mean = host.baseline().of(region, overview))
            all[region.name] = *mean;
    return told({{"regions", std::move(all)},
                 {"frames", means.frames},
                 {"first", means.from.sequence},
                 {"last", means.to.sequence}});
}

} // namespace specklescope::control
