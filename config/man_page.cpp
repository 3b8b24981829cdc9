#include "config/man_page.hpp"

#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"
#include "sources/source_text.hpp"

namespace specklescope {

namespace {

/// Text as groff prints it: nothing in it is a request, a hyphen-minus stays one that can be typed.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += std::string("\\&") + c;
        else
            out += c;
    }
    return out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string section(std::string_view name) { return ".SH " + std::string(name) + "\n"; }
std::string heading(std::string_view name) { return ".SS \"" + plain(name) + "\"\n"; }

std::string sentence(std::string text) {
    if (!text.empty() && text.back() != '.')
        text += '.';
    std::string out;
    for (const std::string& line : wrap(text, kHelpWidth))
        out += plain(line) + "\n";
    return out;
}

/// `term` is printed as it is, with its escapes.
std::string item(const std::string& term, const std::string& text) {
    return ".TP\n" + term + "\n" + sentence(text);
}

std::string verbatim(std::string_view text) { return ".PP\n.nf\n.RS 2\n" + plain(text) + ".RE\n.fi\n"; }

std::string keys(const ParamTable& table) {
    std::string out;
    for (const ParamDecl& decl : table.decls()) {
        const std::string value = to_string(decl.get(table.defaults()));
        out += item(bold(decl.name) + (value.empty() ? "" : "=" + plain(value)),
                    decl.doc + "; " + allowed_text(decl));
    }
    return out;
}

std::string synopsis() {
    std::string out = section("SYNOPSIS");
    for (const CliCommand& command : cli_commands()) {
        const std::size_t space = command.syntax.find(' ');
        out += bold(command.syntax.substr(0, space)) + " " + plain(command.syntax.substr(space + 1)) +
               " [\\fIOPTION\\fR ...]\n.br\n";
    }
    return out;
}

std::string commands() {
    std::string out;
    for (const CliCommand& command : cli_commands())
        out += item(bold(command.name), command.doc);
    return out;
}

std::string options() {
    std::string out = section("OPTIONS"), group;
    for (const CliOption& option : cli_options()) {
        if (option.group != group) {
            group = option.group;
            out += heading(group);
        }
        out += item(bold("--" + option.name) +
                        (option.argument.empty() ? "" : " \\fI" + plain(option.argument) + "\\fR"),
                    option.doc);
    }
    return out + "A later word wins over a file given by " + bold("--config") + ", and that file over " +
           bold("--preset") + ".\n";
}

std::string sources() {
    std::string out = section("SOURCES") + "Options follow a SOURCE as " + bold("?key=value&key=value") +
                      ". " + sentence(std::string(kOptionsBegin));
    for (const SourceType& source : source_types())
        out += heading(source.syntax) + sentence(std::string(source.doc)) + keys(*source.table);
    return out;
}

std::string stages() {
    std::string out = section("STAGES") + bold("--stage NAME:key=value,key=value") +
                      ", repeated for a chain; " + bold("--stage none") + " for the raw picture.\n";
    for (const StageType& stage : stage_types())
        out += heading(stage.name) + sentence(std::string(stage.doc)) + keys(*stage.table);
    return out;
}

std::string formats() {
    std::string out =
        section("RECORD FORMATS") + "The ending of the name decides. A taken name gets a number.\n";
    for (const RecordFormat& format : record_formats())
        out += item(bold(format.ending),
                    "raw frames: " + std::string(format.raw) + "; results: " + std::string(format.processed));
    out += "A FIFO, " + bold("-") + ", /dev/stdout or /dev/fd/N gets the frames as they come:\n";
    for (const RecordFormat& format : stream_formats())
        out += item(bold(format.ending),
                    "raw frames: " + std::string(format.raw) + "; results: " + std::string(format.processed));
    return out;
}

std::string files() {
    std::string out = section("PRESETS");
    for (const Preset& preset : compiled_presets())
        out += item(bold(preset.name), preset.doc);
    out += section("FILES") +
           item("\\fI~/.config/specklescope/presets/NAME.toml\\fR",
                "a preset of your own; wins over an installed one of this name") +
           item("\\fI../share/specklescope/presets/NAME.toml\\fR, from the folder of the program",
                "an installed preset; wins over one that is compiled in") +
           item("\\fI~/.config/specklescope/last.toml\\fR", "what the window showed last") +
           item("\\fI~/.cache/specklescope/fftw-*.wisdom\\fR",
                "plans of Fourier transforms measured with --plans measure; may be deleted");
    out +=
        section("ENVIRONMENT") + item(bold("XDG_CONFIG_HOME"), "stands for ~/.config in the names above") +
        item(bold("XDG_CACHE_HOME"), "stands for ~/.cache there") +
        item(bold("DISPLAY") + ", " + bold("WAYLAND_DISPLAY"), "where the window opens; run needs neither");
    return out;
}

std::string ending() {
    std::string out = section("EXIT STATUS") + item(bold("0"), "all went well") +
                      item(bold("1"), "something went wrong while running") +
                      item(bold("2"), "the request was wrong");
    out += section("EXAMPLES");
    for (const CliExample& example : cli_examples())
        out += ".PP\n" + plain(example.doc + ":") + "\n" + verbatim(example.line + "\n");
    return out;
}

} // namespace

std::string man_page() {
    return ".\\\" Written by specklescope --manual man from the program's own declarations.\n"
           ".TH SPECKLESCOPE 1 \"\" \"Specklescope " SPECKLESCOPE_VERSION "\" \"User Commands\"\n"
           ".nh\n.ad l\n" +
           section("NAME") + "specklescope \\- " SPECKLESCOPE_DESCRIPTION "\n" + synopsis() +
           section("DESCRIPTION") +
           sentence("Specklescope turns the speckle of a laser-lit scene into a live map of blood flow, and "
                    "filters live pictures on the way, from a camera, a video or a simulated scene, on the "
                    "GPU where there is one and on the CPU where there is none") +
           commands() + options() + section("VIEW SETTINGS") + bold("--view key=value") + "\n" +
           keys(view_table()) + sources() + stages() + formats() + files() + ending();
}

} // namespace specklescope
