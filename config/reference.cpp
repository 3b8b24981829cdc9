#include "config/reference.hpp"
#include "config/presets/preset_file.hpp"
#include "config/toml.hpp"

#include "config/keys/bindings.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"

#include <algorithm>

namespace specklescope {

namespace {

std::string default_text(const ParamTable& table, const ParamDecl& decl) {
    return to_string(decl.get(table.defaults()));
}

std::string range_text(const ParamDecl& decl) {
    const std::string allowed = allowed_text(decl), prefix = "allowed: ";
    return allowed.starts_with(prefix) ? allowed.substr(prefix.size()) : allowed;
}

std::vector<Entry> key_entries(const ParamTable& table) {
    std::vector<Entry> entries;
    for (const ParamDecl& decl : table.decls())
        entries.push_back({decl.name, "", default_text(table, decl), range_text(decl), decl.doc});
    return entries;
}

/// TOML without the comments at its beginning, which hold the doc.
std::string body_of(std::string_view toml) {
    while (toml.starts_with('#'))
        toml.remove_prefix(std::min(toml.find('\n'), toml.size() - 1) + 1);
    return std::string(toml);
}

Chapter formats_chapter() {
    Chapter chapter{
        .title = "Record formats",
        .text =
            "The ending of the name chooses the format. A name that exists gets a number. Names may contain "
            "`{stem}` (of the source), `{count}` (of several sources), `{date}`, `{time}`, `{subject}` "
            "and `{what}` (processed, raw, mask, …). `--record-mask` has the formats of "
            "`--record-raw`; `--record-screen` has `.mkv`, `.mp4`, `.png`, `.tiff` and `.raw`.\n\n"
            "A FIFO, `-`, `/dev/stdout` or `/dev/fd/N` is a stream of frames with the prefix `raw:` or "
            "`y4m:` (`raw:-`, `y4m:-`). The default is `y4m:` if the name ends in `.y4m`, otherwise "
            "`raw:`. A stream has one kind of frames and is not split.",
        .columns = {"ending or prefix", "", "`--record-raw`", "`--record`"}};
    for (const auto& formats : {record_formats(), stream_formats()})
        for (const RecordFormat& format : formats)
            chapter.entries.push_back(
                {std::string(format.ending), "", "", std::string(format.raw), std::string(format.processed)});
    return chapter;
}

Chapter settings_file_chapter() {
    Settings defaults;
    defaults.chain.add(stage_types().front().name);
    return {.title = "Settings file",
            .text =
                "`--config FILE.toml` sets everything that the command line can set; `--save-config FILE` "
                "writes such a file. An unknown key or a wrong type is reported with its line. `preset = "
                "\"NAME\"` starts from a preset. Missing keys have their defaults. This file has all "
                "defaults:",
            .code = to_toml(defaults),
            .language = "toml"};
}

} // namespace

Entry option_entry(const CliOption& option) {
    Entry entry{"--" + option.name, option.argument, "", "", option.doc, option_example(option.name)};
    std::string commands;
    for (const std::string_view command : only_for(option.name))
        commands += (commands.empty() ? "" : ", ") + std::string(command);
    if (!commands.empty())
        entry.doc += " (only " + commands + ")";
    if (option.decl && option.decl->kind != ParamKind::boolean) {
        entry.standard = default_text(program_table(), *option.decl);
        if (option.decl->kind != ParamKind::choice) // its argument lists them
            entry.allowed = range_text(*option.decl);
    }
    return entry;
}

Chapter commands_chapter() {
    Chapter chapter{
        .title = "Command line",
        .text =
            "The command line wins over `--config`, and `--config` over `--preset`. If an option is given "
            "twice, the last one counts, unless its text says that it may be repeated.\n\n"
            "`--config from:RECORDING` reads chain, channel, regions, view and exposure from a "
            "recording. The SOURCE comes from the command line.",
        .columns = {"command", "", "", "what it does"}};
    for (const CliCommand& command : cli_commands())
        chapter.entries.push_back({.name = command.syntax, .doc = command.doc});
    return chapter;
}

Chapter options_chapter(const std::function<bool(const CliOption&)>& wanted) {
    Chapter chapter{.title = "Options"};
    for (const CliOption& option : cli_options()) {
        if (!wanted(option))
            continue;
        if (chapter.parts.empty() || chapter.parts.back().title != option.group)
            chapter.parts.push_back(
                {.title = option.group, .columns = {"option", "default", "allowed", "meaning"}});
        chapter.parts.back().entries.push_back(option_entry(option));
    }
    return chapter;
}

Chapter examples_chapter() {
    Chapter chapter{.title = "Examples", .language = "sh"};
    for (const CliExample& example : cli_examples())
        chapter.code += "# " + example.doc + "\n" + example.line + "\n";
    return chapter;
}

Chapter view_chapter() {
    return {.title = "View settings",
            .text =
                "`--view key=value`, or `[view]` in a settings file. Example: `--view layout=split --view "
                "split=0.3`.",
            .entries = key_entries(view_table())};
}

Chapter keys_chapter() {
    Chapter chapter{
        .title = "Keys of the window",
        .text =
            "Set keys in `[keys]` of a settings file, or in `~/.config/specklescope/keys.toml`, which every "
            "window reads: one key (`pause = \"K\"`), several (`pause = [\"K\", \"Space\"]`) or none "
            "(`pause = \"\"`). A key is a character as it is typed, or one of " +
            join(key_names()) +
            ", with `Ctrl+`, `Alt+` or `Shift+` before it. Keys for drawing come first, then those for the "
            "selected region, then all others.",
        .columns = {"action", "keys", "", "what it does"}};
    const KeyBindings bindings;
    for (const ActionInfo& row : actions()) {
        if (chapter.parts.empty() || chapter.parts.back().title != row.group)
            chapter.parts.push_back({.title = std::string(row.group), .columns = chapter.columns});
        std::vector<std::string> keys;
        for (const KeyChord& chord : bindings.keys(row.action))
            keys.push_back(to_string(chord));
        chapter.parts.back().entries.push_back(
            {std::string(row.name), "", join(keys, " "), "", std::string(row.words)});
    }
    return chapter;
}

Chapter sources_chapter() {
    Chapter chapter{.title = "Sources",
                    .text = "Options follow a SOURCE as `?key=value&key=value`, for example "
                            "`'raw:cells.raw?width=640&height=480&format=gray16le'`. " +
                            std::string(kOptionsBegin) + "."};
    for (const SourceType& source : source_types())
        chapter.parts.push_back({.title = std::string(source.syntax),
                                 .text = std::string(source.doc) + ".",
                                 .entries = key_entries(*source.table),
                                 .kind = "source",
                                 .topic = std::string(source.kind)});
    return chapter;
}

Chapter stages_chapter() {
    Chapter chapter{.title = "Stages",
                    .text =
                        "`--stage NAME:key=value,key=value` adds a stage; repeat it for a chain, in order. "
                        "Example: `--stage background:black=64 --stage speckle:radius=2,output=contrast`. "
                        "`--stage none` shows the raw image and computes nothing."};
    for (const StageType& stage : stage_types()) {
        std::vector<std::string> types;
        types.reserve(stage.types.size());
        for (const PixelType type : stage.types)
            types.emplace_back(to_string(type));
        chapter.parts.push_back(
            {.title = std::string(stage.name),
             .text = std::string(stage.doc) + ".\n\nReads " + join(types) +
                     (stage.make_device ? "; runs on CPU and GPU." : "; runs on the CPU."),
             .entries = key_entries(*stage.table),
             .kind = "stage",
             .topic = std::string(stage.name)});
    }
    return chapter;
}

Chapter presets_chapter(const std::vector<Preset>& presets) {
    Chapter chapter{
        .title = "Presets",
        .text = "`--preset NAME`. A file `NAME.toml` in `~/.config/specklescope/presets` wins over an "
                "installed one (`../share/specklescope/presets` from the program's folder), and that "
                "over the built-in one."};
    for (const Preset& preset : presets)
        chapter.parts.push_back({.title = preset.name,
                                 .text = preset.doc + (preset.file.empty() ? "" : "\n\nFrom " + preset.file),
                                 .code = body_of(preset.toml),
                                 .language = "toml",
                                 .kind = "preset",
                                 .topic = preset.name});
    return chapter;
}

std::vector<Chapter> reference() {
    return {
        commands_chapter(),
        options_chapter([](const CliOption&) { return true; }),
        examples_chapter(),
        view_chapter(),
        sources_chapter(),
        stages_chapter(),
        formats_chapter(),
        keys_chapter(),
        settings_file_chapter(),
        presets_chapter(compiled_presets()),
        {.title = "Files, environment and exit status",
         .columns = {"name", "", "", "meaning"},
         .entries = {{.name = "~/.config/specklescope/presets/NAME.toml", .doc = "Preset of your own"},
                     {.name = "~/.config/specklescope/keys.toml", .doc = "Your keys of the window"},
                     {.name = "~/.config/specklescope/last.toml", .doc = "Settings of the last window"},
                     {.name = "~/.cache/specklescope/fftw-*.wisdom",
                      .doc = "Fourier transform plans of --plans measure; may be deleted"},
                     {.name = "XDG_CONFIG_HOME", .doc = "Replaces ~/.config above"},
                     {.name = "XDG_CACHE_HOME", .doc = "Replaces ~/.cache above"},
                     {.name = "DISPLAY, WAYLAND_DISPLAY", .doc = "Display for the window; run needs neither"},
                     {.name = "0", .doc = "Exit status: success"},
                     {.name = "1", .doc = "Exit status: an error while running"},
                     {.name = "2", .doc = "Exit status: invalid options, settings or request"}}}};
}

} // namespace specklescope
