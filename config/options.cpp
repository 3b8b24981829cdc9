#include "config/options.hpp"

#include "config/settings.hpp"

#include <algorithm>

namespace specklescope {

namespace {

const char* const kInput = "Input";
const char* const kProcess = "Processing";
const char* const kOutput = "Output";
const char* const kView = "Display";
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
    std::string doc = decl.doc;
    if (!decl.unit.empty())
        doc += " (" + decl.unit + ")";
    return {option_name(decl), argument_of(decl), std::move(doc), group, &decl};
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
         "a stage of the chain; again for the next one, in order; none: the raw picture; default: speckle. "
         "Replaces the whole chain of a preset or a settings file",
         kProcess},
        from_program("backend", kProcess),
        from_program("threads", kProcess),
        from_program("gpus", kProcess),
        from_program("plans", kProcess),
        from_program("slots", kProcess),
        {"regions", "FILE",
         "measure over regions: .json as the window writes it, or ImageJ's .roi or .zip (docs/guide.md, "
         "Regions)",
         kProcess},
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
         "bench: only rows with TEXT in their name (a stage, a size, published, stream, regions, gpus, "
         "feeds, pipeline, doors, traces, startup)",
         kBench},
        {"json", "FILE", "bench and pulse: write everything measured as JSON", kBench},
        {"around", "LABEL", "trials: the label of the events", kBench},
        {"before", "S", view_table().at("trials_before").doc + " (s)", kBench},
        {"after", "S", view_table().at("trials_after").doc + " (s)", kBench},
        {"csv", "FILE", "trials: write the means with their standard errors as a table", kBench},
        {"peers", "", "bench: measure other libraries beside ours, where they are found", kBench},
        {"view", "key=value",
         "a setting of the view; again for another one; keys below; low or high alone also fixes the range",
         kView},
        from_program("offscreen", kView),
        {"colormap", "NAME", "the same as --view colormap=NAME, and wins over it", kView},
        {"preset", "NAME", "start from a preset; specklescope list presets names them", kRest},
        {"config", "FILE",
         "read settings from a TOML file, or with from:FILE those that made a recording; the command line "
         "wins over it",
         kRest},
        {"save-config", "FILE", "write all settings to a TOML file for --config, and end", kRest},
        {"trust", "",
         "a settings file may name files to write, gst: texts and ${env:…}; gst: texts may hold any element "
         "of GStreamer, also those that write files, listen or load code",
         kRest},
        {"no-remember", "", "view: neither read nor write what the window remembers between runs", kRest},
        from_program("log", kRest),
        {"verbose", "", "the same as --log verbose", kRest},
        {"quiet", "", "the same as --log quiet", kRest},
        {"version", "", "version, build and libraries", kRest},
        {"help", "[TOPIC]", "this text, or all about a stage, a source, a preset, a command or an option",
         kRest},
        {"manual", "[markdown|man]", "the whole manual, as Markdown or as a man page", kRest},
        {"control-schema", "", "the requests of --control as JSON Schema", kRest},
        {"completion", "bash|zsh|fish",
         "a script with which this shell completes the words of a command line", kRest},
        {"complete", "WORD…", "first on the line: what the last of these words may become; the shells ask it",
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

bool concerns(const CliOption& option, std::string_view command) {
    const std::string_view group = option.group;
    const auto only = [&](std::string_view name) { return option.doc.starts_with(std::string(name) + ": "); };
    const auto one_of = [&](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), option.name) != names.end();
    };
    if (command == "view" || command == "run")
        return group != kBench && !only(command == "view" ? "run" : "view");
    if (one_of({"log", "verbose", "quiet"}))
        return true;
    if (command == "bench")
        return (group == kBench && !only("trials")) || one_of({"backend", "threads"});
    return (command == "pulse" && option.name == "json") || (command == "trials" && only("trials"));
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
         "open the window; without a SOURCE it shows your last one, at the first start a simulated scene"},
        {"run", "specklescope run SOURCE…",
         "process a source to its end without a window, or several sources and 'PATTERNS' one after "
         "another; Ctrl-C stops and completes the files"},
        {"list", "specklescope list sources|stages|presets|devices",
         "list what is available; sources include the cameras found now"},
        {"bench", "specklescope bench [FILE…]",
         "measure this machine: each stage, the stream, the whole program, and its start; with FILE…: "
         "print reports that --json wrote"},
        {"pulse", "specklescope pulse FILE.csv",
         "heart rate and pulsatility of each region in a table that --traces wrote"},
        {"trials", "specklescope trials FILE.csv --around LABEL",
         "mean trace of each region around the events of a label, with its standard error"},
        {"help", "specklescope help [TOPIC]", "the same as --help"},
    };
    return commands;
}

const std::vector<std::string>& list_words() {
    static const std::vector<std::string> words = {"sources", "stages", "presets", "devices"};
    return words;
}

} // namespace specklescope
