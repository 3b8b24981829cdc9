#include "config/options.hpp"

#include "config/settings.hpp"

#include <algorithm>
#include <map>

namespace specklescope {

namespace {

const char* const kInput = "Input";
const char* const kProcess = "Processing";
const char* const kOutput = "Output";
const char* const kDisplay = "Display";
const char* const kBench = "Benchmark and tables";
const char* const kRest = "Settings and help";

std::string argument_of(const ParamDecl& decl) {
    if (decl.kind == ParamKind::boolean)
        return "";
    if (decl.kind == ParamKind::path)
        return "FILE";
    if (decl.kind != ParamKind::choice)
        return decl.kind == ParamKind::integer ? "N"
               : decl.kind == ParamKind::text  ? "TEXT"
               : decl.kind == ParamKind::path  ? "FILE"
                                               : "X";
    std::string text;
    for (const std::string& choice : decl.choices) {
        if (!text.empty())
            text += '|';
        text += choice;
    }
    return text;
}

CliOption from_program(const char* name, const char* group) {
    const ParamDecl& decl = program_table().at(name);
    return {option_name(decl), argument_of(decl), decl.doc, group, &decl};
}

} // namespace

std::string option_name(const ParamDecl& decl) {
    std::string name = decl.name;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

namespace {

std::vector<CliOption> make_options() {
    std::vector<CliOption> options = {
        from_program("rate", kInput),
        from_program("loop", kInput),
        from_program("transfer", kInput),
        from_program("from", kInput),
        from_program("from_s", kInput),
        from_program("frames", kInput),
        from_program("silence", kInput),
        from_program("channel", kInput),
        {"stage", "NAME[:key=value,…]",
         "Add a stage to the chain; repeat in order. none: the raw image. Default: speckle. Replaces the "
         "chain of a preset or settings file",
         kProcess},
        from_program("camera_profile", kProcess),
        from_program("show", kProcess),
        from_program("backend", kProcess),
        from_program("threads", kProcess),
        from_program("gpus", kProcess),
        from_program("plans", kProcess),
        from_program("slots", kProcess),
        {"regions", "FILE", "Measure regions from FILE (.json, or ImageJ's .roi, .zip)", kProcess},
        from_program("medians", kProcess),
        from_program("um_per_px", kProcess),
        from_program("baseline", kProcess),
        from_program("baseline_seconds", kProcess),
    };
    for (const OutputKind& kind : output_kinds()) {
        options.push_back({kind.option(), kind.argument, kind.doc, kOutput});
        for (const char* key : kind.options)
            options.push_back(from_program(key, kOutput));
    }
    const std::vector<CliOption> others = {
        {"filter", "TEXT",
         "Measure only rows with TEXT in their name: a stage, a size, published, stream, regions, gpus, "
         "feeds, pipeline, doors, traces, startup, window, screen",
         kBench},
        {"json", "FILE", "Write all measurements as JSON", kBench},
        {"around", "LABEL", "Label of the events", kBench},
        {"before", "S", "Seconds of a trace before each event; their mean is F₀", kBench},
        {"after", "S", "Seconds of a trace after each event", kBench},
        {"csv", "FILE", "Write means and standard errors as a table", kBench},
        {"peers", "", "Also measure other libraries that are installed", kBench},
        {"lit", "SOURCE", "Recording of an evenly lit surface; give two or more levels of light", kBench},
        {"dark", "SOURCE", "Recording without light", kBench},
        {"static", "SOURCE", "Recording of a scatterer that does not move, for β and the speckle size",
         kBench},
        {"camera", "NAME", "Name of the camera, as the window's title shows it; of a live source its own",
         kBench},
        {"view", "key=value",
         "Set a key of the view (listed under View settings); may be repeated. low or high also fixes the "
         "range",
         kDisplay},
        from_program("offscreen", kDisplay),
        {"monitor", "", "Open in monitor mode; same as --view monitor=true", kDisplay},
        {"colormap", "NAME", "Set the colour map; wins over --view colormap=NAME", kDisplay},
        {"preset", "NAME", "Start from a preset (see specklescope list presets)", kRest},
        {"config", "FILE",
         "Read settings from a TOML file, or with from:FILE from a recording. The command line wins", kRest},
        {"save-config", "FILE", "Write all settings to a TOML file for --config, and exit", kRest},
        {"trust", "",
         "Allow settings files to name files to write, gst: texts and ${env:…}, and gst: texts to use every "
         "GStreamer element",
         kRest},
        {"no-remember", "", "Neither read nor write remembered window settings", kRest},
        from_program("log", kRest),
        {"verbose", "", "Same as --log verbose", kRest},
        {"quiet", "", "Same as --log quiet", kRest},
        {"version", "", "Print version, build and libraries", kRest},
        {"help", "[TOPIC]", "Print this help, or help on a stage, source, preset, command or option", kRest},
        {"manual", "[markdown|man]", "Print the manual, as Markdown or as a man page", kRest},
        {"control-schema", "", "Print the requests of --control as JSON Schema", kRest},
        {"completion", "bash|zsh|fish", "Print the completion script for a shell", kRest},
        {"complete", "WORD…", "Print completions of the last word (used by the shells; must come first)",
         kRest},
    };
    options.insert(options.end(), others.begin(), others.end());
    return options;
}

} // namespace

const std::vector<CliOption>& cli_options() {
    static const std::vector<CliOption> options = make_options();
    return options;
}

const CliOption* find_option(std::string_view name) {
    const auto& all = cli_options();
    const auto it = std::find_if(all.begin(), all.end(), [&](const CliOption& o) { return o.name == name; });
    return it == all.end() ? nullptr : &*it;
}

const std::vector<std::string_view>& only_for(std::string_view option) {
    static const std::map<std::string_view, std::vector<std::string_view>> commands = {
        {"record-name", {"view"}}, {"burn-events", {"view"}},
        {"screenshot", {"view"}},  {"window-movie", {"view"}},
        {"offscreen", {"view"}},   {"monitor", {"view"}},
        {"no-remember", {"view"}}, {"filter", {"bench"}},
        {"peers", {"bench"}},      {"json", {"bench", "check", "pulse"}},
        {"around", {"trials"}},    {"before", {"trials"}},
        {"lit", {"calibrate"}},    {"dark", {"calibrate"}},
        {"static", {"calibrate"}}, {"camera", {"calibrate"}},
        {"after", {"trials"}},     {"csv", {"trials"}}};
    static const std::vector<std::string_view> any;
    const auto found = commands.find(option);
    return found == commands.end() ? any : found->second;
}

bool concerns(const CliOption& option, std::string_view command) {
    const auto one_of = [](const std::vector<std::string_view>& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const std::vector<std::string_view>& only = only_for(option.name);
    if (!only.empty())
        return one_of(only, command);
    return command == "view" || command == "run" || one_of({"log", "verbose", "quiet"}, option.name) ||
           (command == "bench" && one_of({"backend", "threads"}, option.name));
}

const char* option_example(std::string_view option) {
    static const std::map<std::string_view, const char*> examples = {
        {"rate", "--rate 60"},
        {"loop", "--loop"},
        {"transfer", "--transfer gamma:2.2"},
        {"from", "--from 100 --frames 50"},
        {"from-s", "--from-s 4.5"},
        {"frames", "--frames 100"},
        {"silence", "--silence 30"},
        {"channel", "--channel red"},
        {"stage", "--stage background:black=64 --stage speckle:radius=2"},
        {"camera-profile", "--camera-profile lab"},
        {"show", "--stage speckle:also=contrast --show contrast"},
        {"backend", "--backend cpu"},
        {"threads", "--threads 4"},
        {"gpus", "--gpus 0,2"},
        {"plans", "--plans measure"},
        {"slots", "--slots 32"},
        {"regions", "--regions vessels.json"},
        {"medians", "--medians"},
        {"um-per-px", "--um-per-px 2.5"},
        {"baseline", "--baseline rest.tiff"},
        {"baseline-seconds", "--baseline-seconds 20"},
        {"record", "--record 'flow_{date}.tiff'"},
        {"record-frames", "--record-frames 1000"},
        {"record-seconds", "--record-seconds 60"},
        {"record-mib", "--record-mib 4096"},
        {"record-every", "--record-every 10"},
        {"record-every-s", "--record-every-s 0.5"},
        {"split-mib", "--split-mib 4096"},
        {"split-s", "--split-s 600"},
        {"keep-free", "--keep-free 5"},
        {"subject", "--subject 'mouse 7'"},
        {"note", "--note 'left hemisphere'"},
        {"record-name", "--record-name '{subject}_{what}_{time}'"},
        {"change", "--baseline rest.tiff --change"},
        {"record-raw", "--record-raw raw.tiff"},
        {"pre-trigger", "--pre-trigger 3"},
        {"pre-trigger-mib", "--pre-trigger-mib 2048"},
        {"record-mask", "--record-mask saturated.tiff"},
        {"record-screen", "--record-screen flow.mp4"},
        {"burn-bar", "--burn-bar"},
        {"burn-time", "--burn-time"},
        {"burn-scale", "--burn-scale --um-per-px 2.5"},
        {"burn-regions", "--burn-regions"},
        {"burn-events", "--burn-events"},
        {"screen-zoom", "--screen-zoom 4"},
        {"report", "--report '{stem}.pdf'"},
        {"traces", "--traces flow.csv"},
        {"kymograph", "--kymograph flow.tiff"},
        {"widths", "--widths widths.csv"},
        {"band", "--band 15"},
        {"mean", "--mean mean.tiff"},
        {"truth", "--truth truth.csv"},
        {"snapshot", "--snapshot last.png"},
        {"stats", "--stats stats.json"},
        {"screenshot", "--screenshot window.png"},
        {"window-movie", "--window-movie session.mkv"},
        {"publish", "--publish zmq://127.0.0.1:5556"},
        {"serve", "--serve rtsp://127.0.0.1:8554/flow"},
        {"serve-mbit-s", "--serve-mbit-s 60"},
        {"serve-chroma", "--serve-chroma 4:4:4"},
        {"output", "--output v4l2:/dev/video7"},
        {"control", "--control zmq://127.0.0.1:5557"},
        {"control-folder", "--control-folder out"},
        {"curve-key", "--curve-key keys/server.key_secret"},
        {"curve-clients", "--curve-clients keys/clients"},
        {"metrics", "--metrics 127.0.0.1:9464"},
        {"filter", "--filter speckle:radius=3"},
        {"json", "--json report.json"},
        {"lit", "--lit dim.tiff --lit bright.tiff"},
        {"dark", "--dark dark.tiff"},
        {"static", "--static plate.tiff"},
        {"camera", "--camera Basler-21834500"},
        {"around", "--around stimulus"},
        {"before", "--before 2"},
        {"after", "--after 10"},
        {"csv", "--csv mean.csv"},
        {"peers", "--peers"},
        {"view", "--view colormap=inferno --view high=300"},
        {"offscreen", "--offscreen"},
        {"monitor", "--monitor"},
        {"colormap", "--colormap viridis"},
        {"preset", "--preset flow"},
        {"config", "--config from:flow.tiff"},
        {"save-config", "--save-config mine.toml"},
        {"trust", "--config mine.toml --trust"},
        {"no-remember", "--no-remember"},
        {"log", "--log quiet"},
        {"verbose", "--verbose"},
        {"quiet", "--quiet"},
        {"version", "--version"},
        {"help", "--help speckle"},
        {"manual", "--manual man"},
        {"control-schema", "--control-schema"},
        {"completion", "--completion bash"},
        {"complete", "--complete specklescope run --loop"},
    };
    const auto found = examples.find(option);
    return found == examples.end() ? "" : found->second;
}

const std::vector<CliExample>& cli_examples() {
    static const std::vector<CliExample> examples = {
        {"specklescope synthetic:vessels", "Show a simulated scene; ? lists the keys"},
        {"specklescope recording.tiff --preset flow --loop", "Show the flow of a recording in a loop"},
        {"specklescope run film.mkv --stage speckle:radius=3 --record flow.tiff --stats flow.json",
         "Compute without a window; write the result of every frame to a file"},
        {"specklescope run raw.tiff --stage background:black=64 --stage temporal --record slow.tiff",
         "Subtract the dark level, then compute contrast over time"},
        {"specklescope run raw.tiff --regions vessels.json --traces vessels.csv",
         "Write a table of the flow in each region and frame"},
        {"specklescope check raw.tiff", "Check a recording for faults before you use it"},
        {"specklescope pulse vessels.csv", "Find heart rate and pulsatility in this table"},
        {"specklescope trials vessels.csv --around stimulus --before 2 --after 10 --csv mean.csv",
         "Average the traces around each event with this label"},
        {"specklescope aravis --record-raw raw.tiff --frames 1000",
         "Record the raw frames of a GigE or USB3 Vision camera"},
    };
    return examples;
}

const std::vector<CliCommand>& cli_commands() {
    static const std::vector<CliCommand> commands = {
        {"view", "specklescope [view] [SOURCE]",
         "Open the window with SOURCE, your last source, or at the first start a simulated scene"},
        {"run", "specklescope run SOURCE…",
         "Process sources or 'PATTERNS' to their end, without a window; Ctrl-C stops and finishes the files"},
        {"batch", "specklescope batch RECORDINGS… --out DIR",
         "Run the recordings of a study, and repeat only what changed (Python; batch --help lists its "
         "options)"},
        {"convert", "specklescope convert INPUT OUTPUT",
         "Convert a recording to OME-Zarr (.zarr) or NWB (.nwb), or OME-Zarr or DICOM to .raw (Python; "
         "convert --help lists its options)"},
        {"list", "specklescope list sources|stages|presets|devices",
         "List what is available; sources include connected cameras"},
        {"bench", "specklescope bench [FILE…]", "Measure this machine, or print reports written by --json"},
        {"check", "specklescope check SOURCE",
         "Find what makes the contrast of a recording wrong: saturation, motion, lost frames and more"},
        {"pulse", "specklescope pulse FILE.csv",
         "Print heart rate and pulsatility of each region in a table of --traces"},
        {"trials", "specklescope trials FILE.csv --around LABEL",
         "Average the trace of each region around the events of a label"},
        {"calibrate", "specklescope calibrate NAME --lit A --lit B --dark C --static D",
         "Measure gain, noise, β and speckle size of a camera from recordings, and keep them as a profile"},
        {"help", "specklescope help [TOPIC]", "Same as --help"},
    };
    return commands;
}

const std::vector<std::string>& list_words() {
    static const std::vector<std::string> words = {"sources", "stages", "presets", "devices"};
    return words;
}

} // namespace specklescope
