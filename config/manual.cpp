#include "config/man_page.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"
#include "sources/source_text.hpp"

namespace specklescope {

namespace {

/// A bar would end the cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|')
            out += '\\';
        out += c;
    }
    return out;
}

std::string range_text(const ParamDecl& decl) {
    const std::string allowed = allowed_text(decl);
    const std::string_view prefix = "allowed: ";
    return allowed.starts_with(prefix) ? allowed.substr(prefix.size()) : allowed;
}

std::string param_table(const ParamTable& table) {
    if (table.decls().empty())
        return "It takes no keys.\n";
    std::string out = "| key | default | allowed | meaning |\n|---|---|---|---|\n";
    for (const ParamDecl& decl : table.decls()) {
        const std::string value = to_string(decl.get(table.defaults()));
        out += "| `" + decl.name + "` | " + (value.empty() ? value : '`' + value + '`') + " | ";
        out += cell(range_text(decl)) + " | " + cell(decl.doc) + " |\n";
    }
    return out;
}

std::string command_line() {
    std::string out = "## Command line\n\n| command | what it does |\n|---|---|\n";
    for (const CliCommand& command : cli_commands())
        out += "| `" + cell(command.syntax) + "` | " + command.doc + " |\n";
    std::string group;
    for (const CliOption& option : cli_options()) {
        if (option.group != group) {
            group = option.group;
            out += "\n### " + group + "\n\n| option | meaning |\n|---|---|\n";
        }
        const std::string argument = cell(option.argument.empty() ? "" : " " + option.argument);
        out += "| `--" + option.name + argument + "` | " + cell(option.doc) + " |\n";
    }
    out += "\n### Examples\n\n```sh\n";
    for (const CliExample& example : cli_examples())
        out += "# " + example.doc + "\n" + example.line + "\n";
    out += "```\n";
    return out +
           "\nA later word wins over a file given by `--config`, and that file over `--preset`; of an option "
           "given twice the last one counts, unless it may be given again.\n"
           "`--config from:RECORDING` reads the settings from a recording of results: its chain, the "
           "channel, "
           "the regions, what a picture showed,\nand the exposure for a source that reports none; the SOURCE "
           "is that of the line.\n"
           "Exit status: 0 well, 1 something went wrong while running, 2 the request was wrong.\n";
}

std::string sources() {
    std::string out = "\n## Sources\n\nOptions follow a SOURCE as `?key=value&key=value`. " +
                      std::string(kOptionsBegin) + ".\n";
    for (const SourceType& source : source_types())
        out += "\n### `" + std::string(source.syntax) + "`\n\n" + std::string(source.doc) + ".\n\n" +
               param_table(*source.table);
    return out;
}

std::string stages() {
    std::string out =
        "\n## Stages\n\n`--stage NAME:key=value,key=value`, repeated for a chain; `--stage none` for the raw "
        "picture.\n";
    for (const StageType& stage : stage_types())
        out += "\n### `" + std::string(stage.name) + "`\n\n" + std::string(stage.doc) + ".\n\n" +
               param_table(*stage.table);
    return out;
}

std::string formats() {
    std::string out = "\n## Record formats\n\nThe ending of the name decides. A taken name gets a number. "
                      "`--record-mask` takes what `--record-raw` takes, and `--record-screen` what keeps "
                      "8-bit RGB: `.mkv`, `.mp4`, `.png`,\n"
                      "`.tiff` and `.raw`.\n\n"
                      "| ending | `--record-raw` | `--record` |\n|---|---|---|\n";
    for (const RecordFormat& format : record_formats())
        out += "| `" + std::string(format.ending) + "` | " + cell(format.raw) + " | " +
               cell(format.processed) + " |\n";
    out += "\nA FIFO, `-`, `/dev/stdout` or `/dev/fd/N` is a stream, which gets the frames as they come. "
           "With a prefix "
           "(`raw:-`, `y4m:-`) or without:\n`y4m:` where a name ends in `.y4m`, otherwise `raw:`. A stream "
           "has one "
           "kind of frames from beginning to end, and is not split.\n\n"
           "| prefix | `--record-raw` | `--record` |\n|---|---|---|\n";
    for (const RecordFormat& format : stream_formats())
        out += "| `" + std::string(format.ending) + "` | " + cell(format.raw) + " | " +
               cell(format.processed) + " |\n";
    return out;
}

std::string settings_file() {
    std::string out = "\n## View settings\n\n`--view key=value`, or `[view]` in a settings file.\n\n" +
                      param_table(view_table());
    out += keys_manual();
    out += "\n## Settings file\n\n`--config FILE.toml` says everything that the command line can say; "
           "`--save-config FILE` "
           "writes one.\nAn unknown key or a wrong type is refused with its line. This is the file of all "
           "defaults:\n\n"
           "```toml\n";
    Settings defaults;
    defaults.chain.add(stage_types().front().name);
    out += to_toml(defaults) + "```\n";
    out += "\n`preset = \"NAME\"` starts from a preset. In a `[[stage]]`, keys that are left out keep their "
           "defaults.\n";
    out +=
        "\n## Presets\n\n`--preset NAME`. A file `NAME.toml` in `~/.config/specklescope/presets` wins over "
        "one that was installed\n(`share/specklescope/presets`, beside the folder of the program), and that "
        "over the one compiled in, which\nis told here.\n";
    for (const Preset& preset : compiled_presets())
        out += "\n### `" + preset.name + "`\n\n```toml\n" + preset.toml + "```\n";
    return out;
}

} // namespace

std::string manual(const std::string& format) {
    if (format == "man")
        return man_page();
    if (!format.empty() && format != "markdown")
        throw UsageError("There is no manual as '" + one_line(format) + "'; allowed: markdown, man.");
    return "# Specklescope: the manual\n\nWritten by `specklescope --manual` from the program's own "
           "declarations.\n\n" +
           command_line() + sources() + stages() + formats() + settings_file();
}

} // namespace specklescope
