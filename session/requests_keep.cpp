// Requests for recordings, images, events, regions and baselines.
#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/text.hpp"
#include "net/publisher.hpp"
#include "recording/recorder.hpp"
#include "recording/stream/pipe_end.hpp"
#include "session/answers.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope::requests {

namespace {

/// The output that a request names, which read_request() has checked.
const OutputKind& named_kind(const Json& arguments) {
    return *std::find_if(output_kinds().begin(), output_kinds().end(),
                         [&](const OutputKind& kind) { return arguments["what"] == kind.request; });
}

/// Finds an event by its number. Throws UsageError.
EventMark event_of(const Call& call, const Json& wanted) {
    const auto number = wanted.get<std::uint64_t>();
    const std::vector<TimedEvent>& all = call.session.events().events();
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const TimedEvent& event) { return event.mark.number == number; });
    if (at == all.end())
        throw UsageError("There is no event " + std::to_string(number) + "; events lists them.");
    return at->mark;
}

Out json_of_event(const EventMark& event) {
    Out out;
    add_event(out, event); // as it is published
    return out;
}

/// Outputs that requests can record.
std::vector<std::string> record_names() {
    std::vector<std::string> names;
    for (const OutputKind& kind : output_kinds())
        if (*kind.request != '\0')
            names.emplace_back(kind.request);
    return names;
}

Answer record(const Call& call) {
    const OutputKind& kind = named_kind(call.arguments);
    const std::string name = kind.request, ending = kind.ending;
    const std::string wanted =
        path_in_folder(call.session.settings(), call.arguments["file"].get<std::string>());
    const std::string output = call.arguments.value("output", "");
    if (!output.empty() && !kind.named)
        throw UsageError("'" + name + "' has no further images; leave 'output' out.");
    if (call.session.recordings.running(kind, output))
        throw UsageError("'" + name + "'" + (output.empty() ? "" : " of '" + one_line(output) + "'") +
                         " is recorded already; send 'stop' first.");
    const std::vector<Recording> running = call.session.recordings.running();
    if (kind.needs != OutputKind::Needs::nothing && call.session.regions.regions().empty())
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
    call.session.recordings.begin(kind, path, output);
    return answered({{"file", path}});
}

/// The image whose recording is to end: the requested one; without, the last image or the only one recorded.
Recordings::Of image_to_stop(const Call& call, const OutputKind& kind) {
    if (call.arguments.contains("output"))
        return call.arguments["output"].get<std::string>();
    std::vector<std::string> images;
    for (const Recording& one : call.session.recordings.running())
        if (one.kind == &kind)
            images.push_back(one.of);
    if (std::find(images.begin(), images.end(), "") != images.end())
        return "";
    if (images.size() > 1)
        throw UsageError("Several recordings of " + std::string(kind.request) +
                         " run; name the image with 'output': " + join(images) + ".");
    return std::nullopt;
}

Answer stop_recording(const Call& call) {
    const OutputKind& kind = named_kind(call.arguments);
    if (!call.progress.sink) {
        const Recordings::Of of = image_to_stop(call, kind);
        call.progress.sink = call.session.recordings.end(kind, of);
        if (!call.progress.sink)
            call.progress.sink = call.session.recordings.ended(kind, of);
    }
    if (!call.progress.sink)
        throw UsageError("No recording of " + std::string(kind.request) + " runs. Send record first.");
    const SinkStatus status = call.progress.sink->status();
    constexpr std::chrono::seconds kLongest(30); // limit for a disk
    if (!status.closed && SteadyClock::now() - call.progress.begun < kLongest)
        return std::nullopt;
    if (!status.error.empty())
        throw RunError(status.error);
    Out files = Out::array();
    for (const SinkFile& file : status.before)
        files.push_back(file.path);
    if (!status.path.empty())
        files.push_back(status.path);
    return answered({{"files", std::move(files)},
                     {"written", status.written},
                     {"dropped", status.dropped},
                     {"complete", status.closed}});
}

Answer snapshot(const Call& call) {
    if (!call.progress.file.valid()) {
        RecordOptions options;
        options.path = path_in_folder(call.session.settings(), call.arguments["file"].get<std::string>());
        check_snapshot(options.path);
        const std::optional<Result> newest = newest_image(call, true);
        if (!newest && !call.arguments.contains("output"))
            throw RunError("There is no result yet. Try again later.");
        if (!newest) {
            call.progress.check_time();
            return std::nullopt;
        }
        options.mapping = mapping_for(call.session.settings(), newest->quantity);
        call.progress.file =
            std::async(std::launch::async, [options, result = *newest, stream = call.pipeline().stream()] {
                return write_snapshot(result, options, stream);
            });
    }
    if (call.progress.file.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return std::nullopt;
    return answered({{"file", call.progress.file.get()}});
}

Answer mark(const Call& call) {
    (void)call.pipeline();
    return answered(json_of_event(call.session.add_event(call.arguments.value("label", ""))));
}

Answer events(const Call& call) {
    Out all = Out::array();
    for (const TimedEvent& event : call.session.events().events())
        all.push_back(json_of_event(event.mark));
    return answered({{"events", std::move(all)}});
}

Answer relabel(const Call& call) {
    const std::uint64_t number = event_of(call, call.arguments["event"]).number;
    const auto label = call.arguments["label"].get<std::string>();
    if (label.find_first_not_of(" \t\r\n") == std::string::npos)
        throw UsageError("An event needs a label. Give it one, or send unmark.");
    call.session.rename_event(number, label);
    return answered(json_of_event(event_of(call, number)));
}

Answer unmark(const Call& call) {
    EventMark event = event_of(call, call.arguments["event"]);
    call.session.remove_event(event.number);
    event.removed = true;
    return answered(json_of_event(event));
}

Answer regions(const Call& call) { return answered(Out::parse(to_json(call.session.regions.regions()))); }

Answer set_regions(const Call& call) {
    (void)call.pipeline();
    std::vector<Region> wanted =
        read_regions_json(Json{{"regions", call.arguments["regions"]}}.dump(), "The request");
    check_regions(wanted);
    if (const std::optional<Result> newest = call.front.newest(false))
        call.session.regions.set_picture(newest->shape().width, newest->shape().height);
    call.session.regions.replace(std::move(wanted));
    call.session.apply_regions();
    return answered({{"count", call.arguments["regions"].size()}});
}

Answer baseline(const Call& call) {
    Params view = call.session.settings().view;
    if (call.arguments.contains("seconds"))
        view.set("baseline_s", call.arguments["seconds"].get<double>());
    if (!call.session.baseline.take(call.session.traces(), view.as<ViewSettings>().baseline_s,
                                    call.session.intervals))
        throw RunError("No region has a value that a baseline could be taken of; set regions, and let frames "
                       "come.");
    const TraceMeans& means = *call.session.baseline.taken();
    Out all = Out::object();
    const TraceOverview overview = call.session.traces().overview();
    for (const TraceRegion& region : overview.regions)
        if (const std::optional<double> mean = call.session.baseline.of(region, overview))
            all[region.name] = *mean;
    return answered({{"regions", std::move(all)},
                     {"frames", means.frames},
                     {"first", means.from.sequence},
                     {"last", means.to.sequence}});
}

} // namespace

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

std::vector<Request> keeping_rows() {
    using Type = ArgumentType;
    const RequestArgument file{"file", Type::text, true,
                               "name in the folder of --control-folder; its ending is the format"};
    const RequestArgument event{"event", Type::whole, true, "number, from mark or events"};
    const RequestArgument what{"what", Type::choice, true, "output to record", record_names()};
    const RequestArgument output{"output", Type::text, false,
                                 "further image of the chain; without: the last one"};
    return {
        {"record", "begin a recording; one of each image at a time", {what, file, output}, record},
        {"stop",
         "end a recording; answered when its file is complete",
         {what,
          {"output", Type::text, false,
           "further image whose recording ends; without: the last one, or the only one recorded"}},
         stop_recording},
        {"snapshot", "write the newest result as an image", {file, shown_image()}, snapshot},
        {"mark",
         "mark an event at the newest frame",
         {{"label", Type::text, false, "name of the event; without: a number"}},
         mark},
        {"events", "list the events", {}, events},
        {"relabel", "rename an event", {event, {"label", Type::text, true, "its new name"}}, relabel},
        {"unmark", "remove an event", {event}, unmark},
        {"regions", "read the regions, as a file of regions has them", {}, regions},
        {"set_regions",
         "replace the regions",
         {{"regions", Type::regions, true, "each with name, shape and points; an empty list: none"}},
         set_regions},
        {"baseline",
         "take F₀ of each region: its mean over the last seconds",
         {{"seconds", Type::number, false, "how long; without: baseline_s of the view"}},
         baseline},
    };
}

} // namespace specklescope::requests
