#include "config/cli.hpp"
#include "base/long_work.hpp"
#include "config/atomic_file.hpp"
#include "config/cli_words.hpp"
#include "config/complete.hpp"
#include "config/in_turn.hpp"
#include "config/last_window.hpp"
#include "config/options.hpp"
#include "config/outputs.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "config/toml.hpp"
#include "config/version.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

namespace specklescope {

namespace {

/// --help wins over everything else on the line, right or wrong.
std::optional<std::string> help_asked(const std::vector<std::string>& words) {
    if (!words.empty() && words[0] == "help")
        return words.size() > 1 && words[1] != "--help" ? help_on(words[1]) : help();
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].starts_with("--help="))
            return help_on(words[i].substr(7));
        if (words[i] == "--help" || words[i] == "-h")
            return i + 1 < words.size() && !words[i + 1].starts_with('-') ? help_on(words[i + 1]) : help();
    }
    return std::nullopt;
}

std::string command_names() {
    std::vector<std::string> names;
    for (const CliCommand& command : cli_commands())
        names.push_back(command.name);
    return join(names);
}

void read_plain(const std::vector<std::string>& plain, Settings& settings) {
    if (plain.empty())
        return;
    static const std::map<std::string, Command> kCommands = {
        {"view", Command::view},     {"run", Command::run},
        {"list", Command::list},     {"bench", Command::bench},
        {"check", Command::check},   {"pulse", Command::pulse},
        {"trials", Command::trials}, {"calibrate", Command::calibrate}};
    const auto command = kCommands.find(plain[0]);
    if (command == kCommands.end() && plain.size() > 1)
        throw UsageError("There is no command '" + SourceArgument(plain[0]).shown() +
                         "'; allowed: " + command_names() + ", or one SOURCE.");
    std::size_t next = 0;
    if (command != kCommands.end()) {
        settings.command = command->second;
        ++next;
    }
    if (settings.command == Command::bench) {
        settings.bench.files.assign(plain.begin() + static_cast<std::ptrdiff_t>(next), plain.end());
        return;
    }
    if (settings.command == Command::run && plain.size() > next) {
        settings.sources = sources_in_turn({plain.begin() + static_cast<std::ptrdiff_t>(next), plain.end()});
        settings.source = settings.sources.front();
        return;
    }
    if (plain.size() > next + 1)
        throw UsageError("'" + SourceArgument(plain[next + 1]).shown() + "' is one argument too many. " +
                         SourceArgument(plain[0]).shown() +
                         " takes one argument (quotes keep spaces together).");
    const std::string word = next < plain.size() ? plain[next] : "";
    if (settings.command == Command::check) {
        if (word.empty())
            throw UsageError("check needs a SOURCE, for example: specklescope check recording.tiff.");
        settings.check.source = word;
        return;
    }
    if (settings.command == Command::calibrate) {
        if (word.empty())
            throw UsageError(
                "calibrate needs a name for the profile, for example: specklescope calibrate lab "
                "--lit dim.tiff --lit bright.tiff --dark dark.tiff.");
        settings.calibrate.name = word;
        return;
    }
    if (settings.command == Command::pulse || settings.command == Command::trials) {
        if (word.empty())
            throw UsageError(plain[0] + " needs a table of traces, for example: specklescope " + plain[0] +
                             " traces.csv.");
        (settings.command == Command::pulse ? settings.pulse.file : settings.trials.file) = word;
        return;
    }
    if (settings.command != Command::list) {
        if (!word.empty())
            settings.source = word;
        return;
    }
    const auto& words = list_words();
    if (std::find(words.begin(), words.end(), word) == words.end())
        throw UsageError((word.empty() ? std::string("list needs a word")
                                       : "There is no list of '" + one_line(word) + "'") +
                         "; allowed: " + join(words) + ".");
    settings.list_what = word;
}

/// Errors of the program's own parameters, and of --view, speak of the option that was typed.
template <class F> void as_options(F&& read) {
    try {
        read();
    } catch (const UsageError& error) {
        const std::string what = error.what();
        const std::string owner = program_table().owner() + ": ";
        std::string own = what.starts_with(owner) ? "--" + what.substr(owner.size()) : what;
        if (what.starts_with(owner)) // the key as the option that it is
            std::replace(own.begin(), std::find(own.begin(), own.end(), ' '), '_', '-');
        throw UsageError(own);
    }
}

/// Refuses options that the command never reads, since they are mistakes.
void check_belongs(const Words& words, Command command) {
    const auto refuse = [&](const std::string& name, const std::string& why) {
        if (words.has(name))
            throw UsageError("--" + name + why + ". Leave it out.");
    };
    if (command == Command::view || command == Command::run) {
        for (const char* name : {"filter", "peers"})
            refuse(name, " belongs to specklescope bench");
        for (const char* name : {"around", "before", "after", "csv"})
            refuse(name, " belongs to specklescope trials");
        for (const char* name : {"lit", "dark", "static", "camera"})
            refuse(name, " belongs to specklescope calibrate");
        if (command == Command::run)
            for (const char* name : {"offscreen", "monitor", "screenshot", "window-movie"})
                refuse(name, " belongs to specklescope view, and run has no window");
        return refuse("json", " belongs to specklescope bench, check and pulse");
    }
    const std::string name = command == Command::pulse       ? "pulse"
                             : command == Command::check     ? "check"
                             : command == Command::trials    ? "trials"
                             : command == Command::calibrate ? "calibrate"
                             : command == Command::bench     ? "bench"
                                                             : "list";
    const std::string does = command == Command::pulse || command == Command::trials
                                 ? ", which reads a table of traces"
                             : command == Command::bench ? ", which measures what --filter names"
                                                         : "";
    for (const CliOption& option : cli_options())
        if (!concerns(option, name))
            refuse(option.name, " has no effect on " + name + does);
}

void read_stages(const std::vector<std::string>& texts, Settings& settings) {
    Chain chain;
    for (const std::string& text : texts) {
        if (text != "none")
            chain.add(text);
        else if (texts.size() > 1)
            throw UsageError("--stage none cannot be combined with other stages. Leave them out.");
    }
    replace_chain(settings, std::move(chain), "--stage");
}

void read_view(const std::string& pair, Settings& settings) {
    const std::size_t equal = pair.find('=');
    if (equal == std::string::npos)
        throw UsageError("--view: '" + one_line(pair) + "' is not of the form key=value.");
    settings.view.set_text(pair.substr(0, equal), pair.substr(equal + 1));
}

bool names(const std::vector<std::string>& pairs, std::string_view key) {
    return std::any_of(pairs.begin(), pairs.end(),
                       [&](const std::string& pair) { return pair.substr(0, pair.find('=')) == key; });
}

/// Giving an end of the range fixes the range.
void read_views(const std::vector<std::string>& pairs, Settings& settings) {
    for (const std::string& pair : pairs)
        read_view(pair, settings);
    if ((names(pairs, "low") || names(pairs, "high")) && !names(pairs, "automatic"))
        settings.view.set("automatic", false);
}

void read_output(const OutputKind& kind, std::vector<std::string> targets, Settings& settings) {
    if (!kind.part_of)
        return set_output(settings, kind, std::move(targets));
    const OutputKind& whole = output_kind(kind.part_of);
    std::vector<std::string> all = outputs_of(settings, whole);
    for (const std::string& target : targets) {
        kind.check(target);
        all.push_back(target);
    }
    set_output(settings, whole, std::move(all));
}

void read_options(const Words& words, Settings& settings) {
    for (const auto& [name, values] : words.values)
        if (const CliOption* option = find_option(name); option && option->decl)
            as_options([&, option = option, &values = values] {
                settings.program.set_text(option->decl->name, values.back());
            });
    if (words.has("verbose") && words.has("quiet"))
        throw UsageError("--verbose and --quiet cannot be combined. Use one of them.");
    if (words.has("verbose"))
        settings.program.set("log", std::string("verbose"));
    if (words.has("quiet"))
        settings.program.set("log", std::string("quiet"));
    if (words.has("stage"))
        read_stages(words.values.at("stage"), settings);
    if (words.has("view"))
        read_views(words.values.at("view"), settings);
    if (words.has("monitor"))
        settings.view.set("monitor", true);
    if (words.has("colormap"))
        settings.view.set_text("colormap", words.last("colormap"));
    for (const OutputKind& kind : output_kinds())
        if (words.has(kind.option()))
            read_output(kind, words.values.at(kind.option()), settings);
    if (words.has("regions"))
        settings.regions_path = words.last("regions");
    settings.bench.filter = words.last("filter");
    (settings.command == Command::pulse   ? settings.pulse.json
     : settings.command == Command::check ? settings.check.json
                                          : settings.bench.json) = words.last("json");
    if (words.has("lit"))
        settings.calibrate.lit.assign(words.values.at("lit").begin(), words.values.at("lit").end());
    settings.calibrate.dark = words.last("dark");
    settings.calibrate.still = words.last("static");
    settings.calibrate.camera = words.last("camera");
    settings.trials.around = words.last("around");
    settings.trials.csv = words.last("csv");
    for (const char* name : {"before", "after"})
        if (words.has(name))
            settings.view.set_text(std::string("trials_") + name, words.last(name));
    settings.bench.peers = words.has("peers");
}

/// True if the command line gives an end of the range.
bool gives_range(const Words& words) {
    return words.has("config") || words.has("preset") ||
           (words.has("view") &&
            (names(words.values.at("view"), "automatic") || names(words.values.at("view"), "low") ||
             names(words.values.at("view"), "high")));
}

/// Decides the window's chain for another source than the last one, and the colours of images.
void decide_chain(const Words& words, const Settings& last, Settings& settings) {
    auto& view = settings.view.as<ViewSettings>();
    if (settings.command != Command::view)
        return;
    decide_chain_again(settings, same_source(last.source, settings.source));
    const bool named = words.has("config") || words.has("preset") || words.has("colormap") ||
                       (words.has("view") && names(words.values.at("view"), "colormap"));
    if (named && settings.view.given("colormap") && !settings.view.given("image_colormap"))
        colour_images(settings, view.mapping.colormap);
}

constexpr std::string_view kFrom = "from:"; // a recording, whatever its extension

/// The settings file of the command line, or the contents of a pipe in its place: read once. Other parts do
/// not report the wait, since the run has not begun.
std::optional<std::string> config_on(const Words& words) {
    if (!words.has("config") || words.last("config").starts_with(kFrom)) // a recording is no text
        return std::nullopt;
    constexpr std::chrono::seconds kPatience(1);
    const auto begin = std::chrono::steady_clock::now();
    bool said = false;
    const WatchWork watch([&](std::string_view what, double) {
        if (!said && std::chrono::steady_clock::now() - begin > kPatience) {
            std::fprintf(stderr, "specklescope: --config is %s; Ctrl-C ends it.\n", one_line(what).c_str());
            said = true;
        }
        return true;
    });
    return config_text(words.last("config"));
}

ParseOutcome say(std::string text) {
    ParseOutcome outcome;
    outcome.exit = true;
    outcome.text = std::move(text);
    return outcome;
}

/// Remarks on options without an object; in a window it may be drawn later.
void remark_unused(const Words& words, Settings& settings) {
    if (settings.command == Command::run &&
        (!output_of(settings, "screenshot").empty() || !output_of(settings, "window_movie").empty()))
        settings.remarks.emplace_back(
            "screenshot and window_movie of the settings file have no effect on run, which has no window.");
    if (settings.command != Command::run || !settings.regions_path.empty() || !settings.regions_from.empty())
        return;
    for (const char* option : {"medians", "band"})
        if (words.has(option))
            settings.remarks.push_back("--" + std::string(option) +
                                       " has no effect without regions. Add --regions FILE.");
}

} // namespace

ParseOutcome parse_command_line(int argc, const char* const* argv) {
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments[0] == "--complete")
        return say(to_lines(complete({arguments.begin() + 1, arguments.end()})));
    if (const auto text = help_asked(arguments))
        return say(*text);
    check_words(arguments);
    const Words words = take_apart(arguments);
    if (words.has("complete"))
        throw UsageError("--complete must be the first argument.");
    if (words.has("version"))
        return say(version_text());
    if (words.has("manual"))
        return say(manual(words.last("manual")));
    if (words.has("completion"))
        return say(completion_script(words.last("completion")));

    ParseOutcome outcome;
    Settings& settings = outcome.settings;
    if (words.has("control-schema")) {
        settings.command = Command::control_schema;
        return outcome;
    }
    settings.chain = default_chain();
    settings.chain_default = true;
    settings.remember = !words.has("no-remember");
    settings.trusted = words.has("trust");
    const std::optional<std::string> config = config_on(words);
    {
        Settings asked; // is this `view`, and of what? Needed before the window's memory is read
        asked.trusted = settings.trusted;
        if (config) // a recording names no command
            read_toml(*config, words.last("config"), asked);
        read_plain(words.plain, asked);
        if (asked.command == Command::view)
            load_keys(keys_path(), settings.keys, settings.remarks);
        if (words.has("offscreen"))
            as_options([&] { asked.program.set_text("offscreen", words.last("offscreen")); });
        settings.remember = settings.remember && asked.command == Command::view &&
                            !asked.program.as<ProgramSettings>().offscreen; // the same for every user
        if (settings.remember && !words.has("config") && !words.has("save-config"))
            load_remembered(settings, words.has("preset"));
        if (asked.command == Command::view)
            take_from_source(asked.source, settings);
    }
    if (words.has("preset"))
        load_preset(words.last("preset"), settings);
    if (config)
        read_toml(*config, words.last("config"), settings);
    else if (words.has("config"))
        load_recorded(words.last("config").substr(kFrom.size()), settings);
    const Settings before = settings;
    read_plain(words.plain, settings);
    check_belongs(words, settings.command);
    read_options(words, settings);
    as_options([&] { check(settings); });
    remark_unused(words, settings);
    if (words.has("loop") && settings.program.as<ProgramSettings>().loop)
        check_loop(settings);
    if (!(settings.source == before.source))
        settings.source_remembered = false;
    decide_chain(words, before, settings);
    free_range_of_another_picture(before, gives_range(words), settings);
    leave_regions_of_another_picture(before, settings);
    if (!words.has("config") && !words.has("um-per-px"))
        leave_scale_of_another_picture(before, settings);
    if (words.has("save-config")) {
        if (settings.sources.size() > 1)
            throw UsageError("--save-config saves one SOURCE, but there are " +
                             std::to_string(settings.sources.size()) + ". Name one of them.");
        save_config(words.last("save-config"), settings);
        return say(saved_text(words.last("save-config"), settings));
    }
    if (settings.command == Command::list)
        return say(list_text(settings.list_what));
    if (settings.command == Command::bench)
        check_outputs(settings.bench);
    if (settings.command == Command::run && settings.source.empty())
        throw UsageError("run needs a SOURCE, for example: specklescope run synthetic --frames 100.");
    return outcome;
}

} // namespace specklescope
