// Writers of the reference: help for a terminal, Markdown (docs/manual.md), and a man page for groff.
#include "config/cli.hpp"
#include "config/options.hpp"
#include "config/presets/preset_file.hpp"
#include "config/reference.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "have_cuda.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

namespace specklescope {

namespace {

constexpr std::string_view kKeys = "keys"; ///< topic: keys of the window
constexpr std::size_t kLeft = 30;          ///< columns of a name in help

std::vector<std::string> split(std::string_view text, std::string_view separator) {
    std::vector<std::string> parts;
    for (std::size_t end = 0; end != std::string_view::npos && !text.empty();) {
        end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
    }
    return parts;
}

std::string name_of(const Entry& entry) {
    return entry.name + (entry.argument.empty() ? "" : " " + entry.argument);
}

/// Name and default of an entry in a list without columns: "radius=3", "pause  Space".
std::string term_of(const Chapter& chapter, const Entry& entry) {
    if (chapter.columns[1].empty() || entry.name.starts_with("--") || entry.standard.empty())
        return name_of(entry);
    return name_of(entry) + (chapter.columns[0] == "key" ? "=" : "  ") + entry.standard;
}

/// The rest of it in one text.
std::string text_of(const Chapter& chapter, const Entry& entry) {
    const auto& head = chapter.columns;
    std::string text = (head[3].starts_with('`') ? head[3] + ": " : "") + entry.doc;
    const auto add = [&](const char* title, const std::string& more) {
        if (!more.empty())
            text += std::string(". ") + title + ": " + more;
    };
    add(head[2] == "allowed" ? "Allowed" : head[2].c_str(), entry.allowed);
    add("Default", entry.name.starts_with("--") ? entry.standard : "");
    add("Example", entry.example);
    std::erase(text, '`');
    return text;
}

// Formats for a terminal.

enum class Detail : std::uint8_t { brief, full };

std::string paragraphs(std::string text, std::size_t indent) {
    std::erase(text, '`');
    std::string out;
    for (const std::string& paragraph : split(text, "\n\n"))
        for (const std::string& line : wrap(one_line(paragraph), kHelpWidth - indent))
            out += std::string(indent, ' ') + line + "\n";
    return out;
}

std::string to_help(const Chapter& chapter, Detail detail = Detail::full) {
    std::string out = (*chapter.kind ? std::string(chapter.kind) + " " : "") + chapter.title + "\n" +
                      paragraphs(chapter.text, 2);
    for (const Entry& entry : chapter.entries)
        out += row(term_of(chapter, entry), detail == Detail::brief ? entry.doc : text_of(chapter, entry),
                   kLeft);
    for (const std::string& line : split(chapter.code, "\n"))
        out += line.empty() ? "\n" : "  " + line + "\n";
    for (const Chapter& part : chapter.parts)
        out += "\n" + to_help(part, detail);
    return out;
}

/// The parts of a chapter without its title.
std::string parts_to_help(const Chapter& chapter) {
    std::string out;
    for (const Chapter& part : chapter.parts)
        out += "\n" + to_help(part, Detail::brief);
    return out;
}

// Markdown.

/// Links to headings as GitHub makes them: a heading that occurs again gets a number.
class Anchors {
public:
    std::string link(const Chapter& chapter) {
        std::string anchor;
        for (const char c : chapter.title)
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
                anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            else if (c == ' ')
                anchor += '-';
        const int before = seen_[anchor]++;
        const std::string name = chapter.topic.empty() ? chapter.title : "`" + chapter.topic + "`";
        return "[" + name + "](#" + anchor + (before > 0 ? "-" + std::to_string(before) : "") + ")";
    }

private:
    std::map<std::string, int> seen_;
};

/// A bar would end the cell of a table.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string typed(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string to_markdown(const Chapter& chapter, int level = 2) {
    std::string title = *chapter.kind ? "`" + chapter.title + "`" : chapter.title;
    std::string out = "\n" + std::string(static_cast<std::size_t>(level), '#') + " " + title + "\n";
    for (const std::string& paragraph : split(chapter.text, "\n\n")) {
        out += '\n';
        for (const std::string& line : wrap(paragraph, kHelpWidth))
            out += line + "\n";
    }
    const bool examples = std::any_of(chapter.entries.begin(), chapter.entries.end(),
                                      [](const Entry& entry) { return !entry.example.empty(); });
    if (!chapter.entries.empty()) {
        std::string head = "\n|", line = "|";
        const auto add = [&](const std::string& column) {
            if (column.empty())
                return;
            head += " " + column + " |";
            line += "---|";
        };
        for (const std::string& column : chapter.columns)
            add(column);
        add(examples ? "example" : "");
        out += head + "\n" + line + "\n";
    }
    for (const Entry& entry : chapter.entries) {
        out += "| " + typed(name_of(entry)) + " |";
        if (!chapter.columns[1].empty())
            out += " " + typed(entry.standard) + " |";
        if (!chapter.columns[2].empty())
            out += " " + cell(entry.allowed) + " |";
        out += " " + cell(entry.doc) + " |" + (examples ? " " + typed(entry.example) + " |" : "") + "\n";
    }
    if (!chapter.code.empty())
        out += "\n```" + std::string(chapter.language) + "\n" + chapter.code + "```\n";
    for (const Chapter& part : chapter.parts)
        out += to_markdown(part, level + 1);
    return out;
}

// Formats for groff.

/// Text as groff prints it: no request in it takes effect, and a hyphen-minus can be copied.
std::string plain(std::string_view text) {
    std::string out;
    bool bold = false;
    for (const char c : text) {
        if (c == '`') {
            bold = !bold;
            out += bold ? "\\fB" : "\\fR";
        } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += std::string("\\&") + c;
        else
            out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return out;
}

std::string wrapped_for_man(std::string_view text) {
    return plain(join(wrap(text, kHelpWidth), "\n") + "\n");
}

std::string to_man(const Chapter& chapter, bool part = false) {
    std::string title = chapter.title;
    if (!part)
        std::transform(title.begin(), title.end(), title.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::string out = (part ? ".SS \"" : ".SH \"") + plain(title) + "\"\n";
    for (const std::string& paragraph : split(chapter.text, "\n\n"))
        out += ".PP\n" + wrapped_for_man(paragraph);
    for (const Entry& entry : chapter.entries) {
        const std::string term = term_of(chapter, entry);
        out += ".TP\n\\fB" + plain(entry.name) + "\\fR" + plain(term.substr(entry.name.size())) + "\n" +
               wrapped_for_man(text_of(chapter, entry) + ".");
    }
    if (!chapter.code.empty())
        out += ".PP\n.nf\n.RS 2\n" + plain(chapter.code) + ".RE\n.fi\n";
    for (const Chapter& each : chapter.parts)
        out += to_man(each, true);
    return out;
}

std::string man_page() {
    std::string out =
        ".\\\" Written by specklescope --manual man from the program's own declarations.\n"
        ".TH SPECKLESCOPE 1 \"\" \"Specklescope " SPECKLESCOPE_VERSION "\" \"User Commands\"\n.nh\n.ad l\n"
        ".SH NAME\nspecklescope \\- " SPECKLESCOPE_DESCRIPTION "\n.SH SYNOPSIS\n"
        "\\fBspecklescope\\fR [\\fICOMMAND\\fR] [\\fISOURCE\\fR] [\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n" +
        wrapped_for_man("Specklescope turns the speckle of a laser-lit scene into a live map of blood flow. "
                        "It also filters live images. Frames come from a camera, a video or a simulated "
                        "scene; they are processed on the GPU if there is one, otherwise on the CPU.");
    for (const Chapter& chapter : reference())
        out += to_man(chapter);
    return out;
}

// Topics, and lists of current devices.

std::string command_help(const CliCommand& command) {
    return to_help({.title = command.syntax, .text = command.doc}) +
           parts_to_help(
               options_chapter([&](const CliOption& option) { return concerns(option, command.name); })) +
           (command.name == "view" ? "\n" + to_help(view_chapter()) : "");
}

std::string cameras_text() {
    std::string out;
    for (const SourceType& source : source_types())
        if (source.discover)
            for (const auto& [argument, description] : source.discover())
                out += row(argument, description, kLeft);
    return "\nCameras found now:\n" + (out.empty() ? "  none\n" : out);
}

std::string presets_text() {
    std::string out;
    for (const Preset& preset : presets())
        out += row(preset.name, preset.doc + (preset.yours() ? " (yours: " + preset.file + ")" : ""), kLeft);
    return out;
}

std::string devices_text() {
    std::string out = row("cpu", make_host_executor(0)->device_name(), kLeft);
#ifdef SPECKLESCOPE_HAVE_CUDA
    std::string reason;
    const auto gpus = list_gpus(&reason);
    for (const auto& gpu : gpus)
        out += row("cuda", to_string(gpu), kLeft);
    if (gpus.empty())
        out += row("cuda", "none: " + reason, kLeft);
#else
    out += row("cuda", "none: this build has no CUDA backend", kLeft);
#endif
    return out;
}

/// Stages, sources and presets.
std::vector<Chapter> topic_chapters() {
    std::vector<Chapter> topics;
    for (Chapter& chapter :
         std::vector<Chapter>{stages_chapter(), sources_chapter(), presets_chapter(presets())})
        std::move(chapter.parts.begin(), chapter.parts.end(), std::back_inserter(topics));
    return topics;
}

} // namespace

std::string help() {
    Chapter commands = commands_chapter();
    commands.title = "Specklescope: live speckle contrast and flow from cameras and files.\n";
    commands.text.clear();
    return to_help(commands) + parts_to_help(options_chapter([](const CliOption&) { return true; })) +
           "\nIf an option is given twice, the last one counts, unless its text says that it may be "
           "repeated.\n\n" +
           to_help(view_chapter()) +
           "\nspecklescope list stages, list sources and list presets show these with their keys.\n"
           "specklescope help TOPIC explains one of them, a command or an option.\n\n" +
           to_help(examples_chapter());
}

std::vector<std::string> help_topics() {
    std::vector<std::string> names;
    for (const CliCommand& command : cli_commands())
        names.push_back(command.name);
    for (const Chapter& chapter : topic_chapters())
        names.push_back(chapter.topic);
    for (const SourceType& source : source_types())
        if (!source.alias.empty())
            names.emplace_back(source.alias);
    names.emplace_back(kKeys);
    return names;
}

std::string help_on(const std::string& topic) {
    const std::string name = topic.substr(std::min(topic.find_first_not_of('-'), topic.size()));
    std::vector<std::string> found; // a name may be a preset and a source
    for (const CliCommand& command : cli_commands())
        if (command.name == name)
            found.push_back(command_help(command));
    const SourceType* const source = source_type(name);
    for (const Chapter& chapter : topic_chapters())
        if (chapter.topic == name || (source && source->alias == name && chapter.topic == source->kind))
            found.push_back(to_help(chapter));
    if (const CliOption* option = find_option(name))
        found.push_back(
            row(name_of(option_entry(*option)), text_of({.title = ""}, option_entry(*option)), kLeft));
    const Chapter view = view_chapter();
    for (const Entry& entry : view.entries)
        if (entry.name == name)
            found.push_back(row("--view " + term_of(view, entry), text_of(view, entry), kLeft));
    if (name == kKeys)
        found.push_back(to_help(keys_chapter()));
    const auto& lists = list_words();
    if (std::find(lists.begin(), lists.end(), name) != lists.end())
        found.push_back(list_text(name));
    if (!found.empty())
        return join(found, "\n");
    const std::string near = suggestion(name, help_topics());
    throw UsageError("There is no help on '" + one_line(topic) + "'" +
                     (near.empty() ? "; allowed: " + join(help_topics()) + ", or an option." : near));
}

std::string list_text(const std::string& what) {
    if (what == "sources")
        return to_help(sources_chapter()) + cameras_text();
    if (what == "stages")
        return to_help(stages_chapter());
    return what == "presets" ? presets_text() : devices_text();
}

std::string manual(const std::string& format) {
    if (format == "man")
        return man_page();
    if (!format.empty() && format != "markdown")
        throw UsageError("There is no manual in the format '" + one_line(format) +
                         "'; allowed: markdown, man.");
    std::string out =
        "# Specklescope: the manual\n\nEvery option, source, stage and key. `specklescope --manual` "
        "writes this page; the [guide](guide.md) explains tasks.\n\n";
    Anchors anchors;
    for (const Chapter& chapter : reference()) {
        std::string parts;
        const std::string line = "- " + anchors.link(chapter);
        for (const Chapter& part : chapter.parts)
            parts += (parts.empty() ? ": " : ", ") + anchors.link(part);
        out += line + parts + "\n";
    }
    for (const Chapter& chapter : reference())
        out += to_markdown(chapter);
    return out;
}

} // namespace specklescope
