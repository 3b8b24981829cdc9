#include "config/outputs.hpp"
#include "config/start.hpp"

#include "analysis/regions_file.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/mean_map.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "config/truth.hpp"
#include "files/whole_file.hpp"
#include "net/address.hpp"
#include "net/outlet.hpp"
#include "pipeline/named_sink.hpp"
#include "recording/lines/lines.hpp"
#include "recording/record_file.hpp"
#include "recording/recorder.hpp"
#include "recording/report/report.hpp"
#include "recording/stream/pipe_end.hpp"
#include "recording/traces.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace specklescope {

namespace {

using Needs = OutputKind::Needs;

/// Colours of a relative change, as the window draws them.
Mapping change_mapping(const ViewSettings& view) {
    Mapping mapping = view.mapping;
    mapping.colormap = ColorMap::rdbu;
    mapping.automatic = false;
    mapping.low = -view.change_range;
    mapping.high = view.change_range;
    return mapping;
}

/// Named outputs that any stage may give, in alphabetical order.
std::set<std::string, std::less<>> output_names() {
    std::set<std::string, std::less<>> names;
    for (const StageType& type : stage_types())
        if (const ParamDecl* decl = type.also ? type.table->find("also") : nullptr)
            names.insert(decl->choices.begin(), decl->choices.end());
    return names;
}

/// True for NAME=FILE with a word for NAME, unless it is the name of a file or of a file in a folder.
bool is_assignment(const std::string& text, std::string_view name) {
    const std::filesystem::path path(text);
    std::error_code none;
    return !name.empty() &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; }) &&
           !std::filesystem::exists(path, none) &&
           !(path.has_parent_path() && std::filesystem::exists(path.parent_path(), none));
}

std::shared_ptr<Sink> recorder(const Output& output, const OutputContext& context) {
    const auto& program = context.settings.program.as<ProgramSettings>();
    const auto& view = context.settings.view.as<ViewSettings>();
    RecordOptions options;
    options.path = output.target;
    options.what = output.kind->frames.value();
    if (!context.later) {
        options.baseline = context.settings.baseline;
        options.change =
            program.baseline.change && options.what == RecordWhat::processed && !is_report(output.target);
    }
    options.mapping =
        options.change ? change_mapping(view)
                       : mapping_for(context.settings, quantity_of_output(output.of, context.settings.chain));
    options.limits = program.recording;
    options.marks = program.marks;
    options.form = view.report_form;
    options.look = context.look;
    check_limits(options.limits, "Recording");
    if (options.what == RecordWhat::screen)
        check_marks(options.marks, "Recording");
    if (options.what == RecordWhat::raw)
        options.before = context.before;
    if (const auto target = stream_target(output.target)) {
        options.pipe = std::make_shared<PipeEnd>(*target);
        options.pipe->open(context.later ? PipeEnd::Reader::is_there : PipeEnd::Reader::may_come);
    }
    return make_recorder(options);
}

std::shared_ptr<Sink> traces(const Output& output, const OutputContext& context) {
    return context.later ? make_new_traces(output.target)
                         : make_traces(output.target, context.settings.baseline);
}

std::shared_ptr<Sink> kymograph(const Output& output, const OutputContext& context) {
    return make_kymograph(output.target, context.settings.program.as<ProgramSettings>().band);
}

std::shared_ptr<Sink> widths(const Output& output, const OutputContext& context) {
    return make_widths(output.target, context.settings.program.as<ProgramSettings>().band);
}

std::shared_ptr<Sink> truth(const Output& output, const OutputContext& context) {
    return make_truth(output.target, context.settings);
}

std::shared_ptr<Sink> mean_map(const Output& output, const OutputContext& context) {
    return make_mean_map(output.target, context.settings, (*context.means)[output.of]);
}

std::vector<std::string> files_of_truth(const std::string& path, const Settings& /*settings*/) {
    return truth_files(path);
}

std::vector<std::string> recorded_files(const std::string& path, const Settings&) {
    return files_of_recording(path);
}

/// A TIFF and a table for each line region. Reading the regions for the run reports their errors.
std::vector<std::string> kymograph_files(const std::string& path, const Settings& settings) {
    std::vector<Region> regions;
    try {
        if (settings.regions)
            regions = *settings.regions;
        else if (!settings.regions_path.empty())
            regions = load_regions(settings.regions_path);
    } catch (const Error&) { // NOLINT(bugprone-empty-catch): as above
    }
    std::vector<std::string> files;
    for (const Region& region : regions) {
        const std::string file = kymograph_path(path, region.name);
        if (region.shape != RegionShape::line || std::find(files.begin(), files.end(), file) != files.end())
            continue; // two names that make the same file name: the second gets a number
        files.push_back(file);
        files.push_back(file + ".csv");
    }
    return files;
}

void check_picture(const std::string& path) {
    check_snapshot(path);
    check_writable(path);
}

void check_screenshot(const std::string& path) {
    if (lower_ending(path) != ".png")
        throw UsageError("The screenshot " + path + " must end in .png.");
    check_writable(path);
}

void check_window_movie(const std::string& path) {
    const auto is_video = [](const RecordFormat& row) { return row.stream && row.colors; };
    const RecordFormat* format = find_record_format(path);
    if (!format || is_stream(path) || !is_video(*format))
        throw UsageError("The window movie " + path + " must end in " + record_endings_text(is_video) + ".");
    format->check(RecordWhat::screen);
    check_writable(path);
}

template <const ListenSyntax& Syntax> void check_address(const std::string& address) {
    (void)parse_listen_address(address, Syntax); // NOLINT(readability-redundant-parentheses): there are none
}

void check_serve(const std::string& address) { check_outlets(address, "", program_table().owner()); }
void check_output(const std::string& sink) { check_outlets("", sink, program_table().owner()); }

std::unique_ptr<OutletEnd> serve(const std::string& address, const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    ask_for_secrets(address);
    return make_rtsp_end(address, program.serve_mbit_s, program.serve_chroma);
}

OutputKind recording(const char* name, RecordWhat what, const char* request, const char* doc,
                     std::vector<const char*> options = {}) {
    return {.name = name,
            .doc = doc,
            .options = std::move(options),
            .list = true,
            .named = what == RecordWhat::processed,
            .frames = what,
            .request = request,
            .files = recorded_files,
            .make = recorder};
}

OutputKind address(const char* name, const char* argument, const char* does,
                   void (*check)(const std::string&), const char* doc, std::vector<const char*> options = {},
                   decltype(OutputKind::show) show = nullptr) {
    return {.name = name,
            .argument = argument,
            .doc = doc,
            .options = std::move(options),
            .does = does,
            .in_program = true,
            .file = false,
            .check = check,
            .show = show};
}

} // namespace

const std::vector<OutputKind>& output_kinds() {
    static const std::vector<OutputKind> kinds = {
        recording(
            "record", RecordWhat::processed, "results",
            "Record results to FILE (.tiff, .raw, .h5: numbers; .mkv, .mp4, .png: colours; .hdr, .exr: the "
            "last result), or to a pipe (-, raw:-, y4m:-). May be repeated",
            {"record_frames", "record_seconds", "record_mib", "record_every", "record_every_s", "split_mib",
             "split_s", "keep_free", "subject", "note", "record_name", "change"}),
        recording("record_raw", RecordWhat::raw, "raw",
                  "Record raw frames, bit-exact, to FILE (.tiff, .raw, .h5, .mkv). May be repeated",
                  {"pre_trigger", "pre_trigger_mib"}),
        recording(
            "record_mask", RecordWhat::mask, "mask",
            "Record where raw frames are saturated (255, otherwise 0) to FILE (.tiff, .raw, .h5, .mkv)"),
        recording("record_screen", RecordWhat::screen, "screen",
                  "Record the displayed image, as set by --view, to FILE (.mkv, .mp4; .tiff: lossless; .png: "
                  "the last). May be repeated",
                  {"burn_bar", "burn_time", "burn_scale", "burn_regions", "burn_events", "screen_zoom"}),
        {.name = "report",
         .argument = "FILE.pdf",
         .doc = "Write a report at the end: image, regions, traces, settings and methods as .pdf, with a "
                ".png and a .csv",
         .list = true,
         .part_of = "record",
         .check = check_report},
        {.name = "traces",
         .doc = "Write the values of each region and frame as .csv. Needs --regions",
         .named = true,
         .needs = Needs::regions,
         .request = "traces",
         .ending = ".csv",
         .check = check_traces_file,
         .make = traces},
        {.name = "mean",
         .doc = "Write the mean of all results without warm-up as .png, .tiff, .hdr or .exr at the end. May "
                "be repeated",
         .list = true,
         .named = true,
         .check = check_picture,
         .files = recorded_files,
         .make = mean_map},
        {.name = "kymograph",
         .doc = "Write the profile of each line region, one row per frame; FILE flow.tiff and a line named "
                "artery give flow-artery.tiff. Needs --regions",
         .named = true,
         .needs = Needs::lines,
         .most_lines = kMostKymographs,
         .check = check_kymograph,
         .files = kymograph_files,
         .make = kymograph},
        {.name = "widths",
         .doc = "Write the vessel width at each line region and frame as .csv. Needs --regions",
         .options = {"band"},
         .named = true,
         .needs = Needs::lines,
         .check = check_widths,
         .make = widths},
        {.name = "truth",
         .doc = "Write the truth of a simulated source: exposure, shift and pulse of each frame as .csv, and "
                "maps of "
                "τc, ρ and β as .npy next to it",
         .check = check_truth,
         .files = files_of_truth,
         .make = truth},
        {.name = "snapshot",
         .doc = "Write the last result as .png, .tiff, .hdr or .exr at the end",
         .check = check_picture,
         .files = recorded_files},
        {.name = "stats",
         .doc = "Write all statistics as JSON at the end, also after Ctrl-C",
         .check = check_statistics_file},
        {.name = "screenshot",
         .doc = "Write the window as .png at the end",
         .in_program = true,
         .check = check_screenshot},
        {.name = "window_movie",
         .doc = "Record each drawing of the window as .mkv or .mp4",
         .in_program = true,
         .check = check_window_movie},
        address("publish", "ADDRESS", "sends results to any client of", check_address<kPublishSyntax>,
                "Send measurements and events as JSON over ZeroMQ, for example at zmq://127.0.0.1:5556"),
        address("serve", "ADDRESS", "sends images to any client of", check_serve,
                "Serve the displayed image as H.264 over RTSP, for example at rtsp://127.0.0.1:8554/flow, "
                "with a password at rtsp://USER:${env:NAME}@…",
                {"serve_mbit_s", "serve_chroma"}, serve),
        address("output", "SINK", "sends images to any reader of", check_output,
                "Send the displayed image to a virtual camera, such as v4l2:/dev/video7, or to a GStreamer "
                "sink, such as gst:autovideosink",
                {}, [](const std::string& sink, const Settings&) { return make_gst_end(sink); }),
        address("control", "ADDRESS", "executes requests of any client of", check_address<kControlSyntax>,
                "Accept JSON requests from scripts over ZeroMQ, for example at zmq://127.0.0.1:5557 or "
                "ipc://PATH",
                {"control_folder", "curve_key", "curve_clients"}),
        address("metrics", "ADDRESS", "sends statistics to any client of", check_address<kMetricsSyntax>,
                "Serve rates, drops and latency for Prometheus over HTTP, for example at 127.0.0.1:9464"),
    };
    return kinds;
}

std::string OutputKind::option() const {
    std::string text = name;
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

std::string OutputKind::what() const { return frames ? to_string(*frames) : option(); }

const OutputKind& output_kind(std::string_view name) {
    for (const OutputKind& kind : output_kinds())
        if (kind.name == name)
            return kind;
    throw std::out_of_range("no output " + std::string(name));
}

const OutputKind& output_kind(RecordWhat what) {
    return *std::find_if(output_kinds().begin(), output_kinds().end(),
                         [&](const OutputKind& kind) { return kind.frames == what; });
}

Output parse_output(const OutputKind& kind, std::string text) {
    const std::size_t end = text.find('=');
    if (end == std::string::npos)
        return {&kind, std::move(text)};
    const std::string name = text.substr(0, end);
    const auto names = output_names();
    if (!names.contains(name)) {
        if (kind.named && is_assignment(text, name))
            throw UsageError("--" + kind.option() + ": There is no image '" + name +
                             "'; allowed: " + join({names.begin(), names.end()}) +
                             ". For a file of this name give ./" + one_line(text) + ".");
        return {&kind, std::move(text)};
    }
    if (!kind.named)
        throw UsageError(
            "--" + kind.option() + " " + one_line(text) +
            " names an image of the chain, and this output cannot hold one. Give the file alone.");
    return {&kind, text.substr(end + 1), name};
}

Quantity quantity_of_output(const std::string& name, const Chain& chain) {
    if (name.empty())
        return chain.quantity();
    std::string names;
    for (const ChainOutput& one : chain.also()) {
        if (one.output.name == name)
            return one.output.quantity;
        names += (names.empty() ? "" : ", ") + one.output.name;
    }
    const std::string shown = one_line(name);
    throw UsageError("The chain gives no image '" + shown + "'; it " +
                     (names.empty() ? "has no further images. Add also=" + shown + " to a stage that has it."
                                    : "gives " + names + "."));
}

std::shared_ptr<Sink> make_sink(const Output& output, const OutputContext& context) {
    (void)quantity_of_output(output.of, context.settings.chain);
    std::shared_ptr<Sink> sink = output.kind->make(output, context);
    return output.of.empty() ? sink : make_named_sink(output.of, std::move(sink));
}

void set_output(Settings& settings, const OutputKind& kind, std::vector<std::string> targets) {
    std::vector<Output> given;
    for (std::string& target : targets) {
        if (!kind.list && (target.empty() || !kind.named))
            given.clear();
        if (kind.list || !target.empty())
            given.push_back(parse_output(kind, std::move(target)));
    }
    for (std::size_t i = 0; i < given.size() && !kind.list; ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (given[i].of == given[j].of)
                throw UsageError("--" + kind.option() + " has two files for " +
                                 (given[i].of.empty() ? "the last image" : "'" + given[i].of + "'") + ", " +
                                 one_line(given[j].target) + " and " + one_line(given[i].target) +
                                 ". Give one.");
    std::erase_if(settings.outputs, [&](const Output& output) { return output.kind == &kind; });
    settings.outputs.insert(settings.outputs.end(), given.begin(), given.end());
    std::stable_sort(settings.outputs.begin(), settings.outputs.end(),
                     [](const Output& a, const Output& b) { return a.kind < b.kind; }); // as in the table
}

std::vector<std::string> outputs_of(const Settings& settings, const OutputKind& kind) {
    std::vector<std::string> targets;
    for (const Output& output : settings.outputs)
        if (output.kind == &kind)
            targets.push_back(output.text());
    return targets;
}

std::string output_of(const Settings& settings, std::string_view name) {
    const std::vector<std::string> targets = outputs_of(settings, output_kind(name));
    return targets.empty() ? "" : targets.back();
}

std::vector<Recording> add_outputs(Pipeline& pipeline, OutputContext context) {
    if (!context.look)
        context.look = std::make_shared<const LiveLook>(look_of(context.settings));
    std::vector<Recording> made;
    for (const Output& output : context.settings.outputs) {
        if (!output.kind->make)
            continue;
        made.push_back({output.kind, make_sink(output, context), output.target, output.of});
        if (output.kind->frames && !is_stream(output.target))
            check_writable(output.target); // before the first frame, not with it
    }
    std::size_t added = 0;
    try {
        for (; added < made.size(); ++added)
            pipeline.add_sink(made[added].sink);
    } catch (...) {
        while (added > 0)
            pipeline.remove_sink(made[--added].sink);
        throw;
    }
    return made;
}

bool is_stream(const std::string& target) { return stream_target(target).has_value(); }

void prepare_streams(const Settings& settings) {
    std::map<std::pair<dev_t, ino_t>, std::string> owners; ///< by device and inode
    bool standard_output = false;
    for (const Output& output : settings.outputs) {
        const auto target = output.kind->frames ? stream_target(output.target) : std::nullopt;
        if (!target)
            continue;
        standard_output = standard_output || target->descriptor == STDOUT_FILENO;
        struct stat found {};
        const int status = target->descriptor >= 0 ? ::fstat(target->descriptor, &found)
                                                   : ::stat(target->path.c_str(), &found);
        if (status != 0 || S_ISCHR(found.st_mode))
            continue; // opening it reports the error; a device takes several
        const auto [owner, first] = owners.try_emplace({found.st_dev, found.st_ino}, output.target);
        if (!first)
            throw UsageError("'" + owner->second + "' and '" + output.target +
                             "' are the same stream. Name another one for the second.");
    }
    if (standard_output)
        keep_output_for_streams();
}

void check_output_files(const Settings& settings) {
    for (const Output& output : settings.outputs)
        if (output.kind->file && output.kind->check)
            output.kind->check(output.target);
}

} // namespace specklescope
