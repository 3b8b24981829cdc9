#include "config/reference.hpp"

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
    const std::string text = to_string(decl.get(table.defaults()));
    return text.empty() ? "\"\"" : text;
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
        .text = "The ending of the name chooses the format. If the name is taken, the file gets a number. "
                "`--record-mask` takes the formats of `--record-raw`. `--record-screen` takes those that "
                "hold 8-bit RGB: `.mkv`, `.mp4`, `.png`, `.tiff` and `.raw`.\n\n"
                "A FIFO, `-`, `/dev/stdout` or `/dev/fd/N` is a stream. It gets the frames as they come, "
                "with a prefix (`raw:-`, `y4m:-`) or without: then `y4m:` if the name ends in `.y4m`, "
                "otherwise `raw:`. A stream holds one kind of frames and is not split.",
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
            .text = "`--config FILE.toml` can say everything that the command line can say; `--save-config "
                    "FILE` writes one. An unknown key or a wrong type is reported with its line. `preset = "
                    "\"NAME\"` starts from a preset. Keys left out of a `[[stage]]` keep their defaults. "
                    "This file holds all defaults:",
            .code = to_toml(defaults),
            .language = "toml"};
}

} // namespace

Entry option_entry(const CliOption& option) {
    Entry entry{"--" + option.name, option.argument, "", "", option.doc};
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
        .text = "The command line wins over a file given by `--config`, and that file over `--preset`. If an "
                "option is given twice, the last one counts, unless its text says that it may be "
                "repeated.\n\n"
                "`--config from:RECORDING` reads the settings from a recording of results: its chain, "
                "channel, regions and view, and the exposure for a source that reports none. The SOURCE "
                "still comes from the command line.",
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
            .text = "`--view key=value`, or `[view]` in a settings file.",
            .entries = key_entries(view_table())};
}

Chapter keys_chapter() {
    Chapter chapter{
        .title = "Keys of the window",
        .text = "`[keys]` in a settings file, or in `~/.config/specklescope/keys.toml`, which every window "
                "reads, gives an action another key (`pause = \"K\"`), several (`pause = [\"K\", "
                "\"Space\"]`) or none (`pause = \"\"`). A key is a character as it is typed, or one of " +
                join(key_names()) +
                ", with `Ctrl+`, `Alt+` or `Shift+` before it. A key for drawing goes before one for the "
                "selected region, and that before one that works anywhere.",
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
                    .text = "Options follow a SOURCE as `?key=value&key=value`. " +
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
                    .text = "`--stage NAME:key=value,key=value`; repeat it for a chain, in order. `--stage "
                            "none` shows the raw picture and computes nothing."};
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
    Chapter chapter{.title = "Presets",
                    .text = "`--preset NAME`. A file `NAME.toml` in `~/.config/specklescope/presets` wins "
                            "over an installed one (`../share/specklescope/presets` from the folder of the "
                            "program), and that over the one compiled in."};
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
         .entries = {{.name = "~/.config/specklescope/presets/NAME.toml", .doc = "a preset of your own"},
                     {.name = "~/.config/specklescope/keys.toml", .doc = "your keys of the window"},
                     {.name = "~/.config/specklescope/last.toml", .doc = "what the window showed last"},
                     {.name = "~/.cache/specklescope/fftw-*.wisdom",
                      .doc = "plans of Fourier transforms measured with --plans measure; may be deleted"},
                     {.name = "XDG_CONFIG_HOME", .doc = "replaces ~/.config in the names above"},
                     {.name = "XDG_CACHE_HOME", .doc = "replaces ~/.cache there"},
                     {.name = "DISPLAY, WAYLAND_DISPLAY", .doc = "where the window opens; run needs neither"},
                     {.name = "0", .doc = "exit status: everything succeeded"},
                     {.name = "1", .doc = "exit status: an error while running"},
                     {.name = "2", .doc = "exit status: the request was wrong"}}}};
}

} // namespace specklescope
