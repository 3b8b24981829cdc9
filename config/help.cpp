#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "have_cuda.hpp"
#include "sources/registry.hpp"
#include "sources/source_text.hpp"

#include <algorithm>
#include <functional>

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

namespace specklescope {

namespace {

constexpr std::string_view kKeys = "keys"; ///< of the window

std::string default_text(const ParamTable& table, const ParamDecl& decl) {
    const std::string text = to_string(decl.get(table.defaults()));
    return text.empty() ? "\"\"" : text;
}

std::string param_rows(const ParamTable& table) {
    std::string out;
    for (const ParamDecl& decl : table.decls())
        out += row(decl.name + "=" + default_text(table, decl), decl.doc + "; " + allowed_text(decl), 28);
    return out.empty() ? "  (no keys)\n" : out;
}

std::string stage_text(const StageType& stage) {
    std::string out = std::string(stage.name) + ": " + std::string(stage.doc) + "\n";
    std::string types;
    for (const PixelType type : stage.types)
        types += (types.empty() ? "" : ", ") + std::string(to_string(type));
    out += "  reads " + types + (stage.make_device ? "; runs on CPU and GPU\n" : "; runs on the CPU\n");
    return out + param_rows(*stage.table);
}

std::string source_text(const SourceType& source) {
    std::string out = std::string(source.syntax) + "\n";
    for (const std::string& line : wrap(source.doc, kHelpWidth - 2))
        out += "  " + line + "\n";
    return source.table->decls().empty() ? out : out + param_rows(*source.table);
}

std::string sources_text() {
    std::string out;
    for (const std::string& line : wrap("SOURCE is one of these; options follow as ?key=value&key=value. " +
                                            std::string(kOptionsBegin) + ".",
                                        kHelpWidth))
        out += line + "\n";
    out += '\n';
    for (const SourceType& source : source_types())
        out += source_text(source) + "\n";
    out += "Cameras found now:\n";
    bool any = false;
    for (const SourceType& source : source_types()) {
        if (!source.discover)
            continue;
        for (const auto& [argument, description] : source.discover()) {
            out += row(argument, description, 32);
            any = true;
        }
    }
    return any ? out : out + "  none\n";
}

std::string stages_text() {
    std::string out = "--stage NAME:key=value,key=value; repeat it for a chain, in order.\n\n";
    for (const StageType& stage : stage_types())
        out += stage_text(stage) + "\n";
    return out + "none: the raw picture, nothing computed\n";
}

std::string presets_text() {
    std::string out;
    for (const Preset& preset : presets())
        out += row(preset.name, preset.doc + (preset.yours() ? " (yours: " + preset.file + ")" : ""), 12);
    return out;
}

std::string devices_text() {
    std::string out = row("cpu", make_host_executor(0)->device_name(), 8);
#ifdef SPECKLESCOPE_HAVE_CUDA
    std::string reason;
    const auto gpus = list_gpus(&reason);
    for (const auto& gpu : gpus)
        out += row("cuda", to_string(gpu), 8);
    if (gpus.empty())
        out += row("cuda", "none: " + reason, 8);
#else
    out += row("cuda", "none: this build has no CUDA backend", 8);
#endif
    return out;
}

std::string option_rows(const std::function<bool(const CliOption&)>& wanted) {
    std::string out, group;
    for (const CliOption& option : cli_options()) {
        if (!wanted(option))
            continue;
        if (option.group != group) {
            group = option.group;
            out += "\n" + group + "\n";
        }
        out +=
            row("--" + option.name + (option.argument.empty() ? "" : " " + option.argument), option.doc, 30);
    }
    return out;
}

} // namespace

std::string help() {
    std::string out = "Specklescope: live speckle contrast and flow from cameras and files.\n\n";
    for (const CliCommand& command : cli_commands())
        out += row(command.syntax, command.doc, 52);
    out += option_rows([](const CliOption&) { return true; });
    out += "\nOf an option given twice the last one counts, unless it may be given again.\n";
    out += "\nKeys of --view\n" + param_rows(view_table());
    out +=
        "\nStages, sources, presets and their keys: specklescope list stages, list sources, list presets;\n"
        "specklescope help TOPIC tells all about one of them, or about a command or an option.\n\nExamples\n";
    for (const CliExample& example : cli_examples())
        out += "  # " + example.doc + "\n  " + example.line + "\n";
    return out;
}

namespace {

std::string command_text(const CliCommand& command) {
    std::string out = command.syntax + "\n";
    for (const std::string& line : wrap(command.doc, kHelpWidth - 2))
        out += "  " + line + "\n";
    out += option_rows([&](const CliOption& option) { return concerns(option, command.name); });
    return command.name == "view" ? out + "\nKeys of --view\n" + param_rows(view_table()) : out;
}

std::string option_text(const CliOption& option) {
    std::string out =
        row("--" + option.name + (option.argument.empty() ? "" : " " + option.argument), option.doc, 30);
    if (option.decl)
        out += row(
            "", allowed_text(*option.decl) + "; default " + default_text(program_table(), *option.decl), 30);
    return out;
}

std::string preset_text(const Preset& preset) {
    std::string out = "preset " + preset.name + ", " +
                      (preset.file.empty() ? std::string("compiled in") : "from " + preset.file) + "\n";
    for (const std::string& line : wrap(preset.doc, kHelpWidth - 2))
        out += "  " + line + "\n";
    std::string_view toml = preset.toml;
    while (toml.starts_with('#'))
        toml.remove_prefix(std::min(toml.find('\n'), toml.size() - 1) + 1);
    return out + "\n" + std::string(toml);
}

} // namespace

std::vector<std::string> help_topics() {
    std::vector<std::string> names;
    for (const CliCommand& command : cli_commands())
        names.push_back(command.name);
    for (const StageType& stage : stage_types())
        names.emplace_back(stage.name);
    for (const SourceType& source : source_types())
        names.emplace_back(source.kind);
    for (const Preset& preset : presets())
        names.push_back(preset.name);
    names.emplace_back(kKeys);
    return names;
}

std::string help_on(const std::string& topic) {
    const std::string name = topic.substr(std::min(topic.find_first_not_of('-'), topic.size()));
    std::vector<std::string> found; // one name may be a preset and a source
    for (const CliCommand& command : cli_commands())
        if (command.name == name)
            found.push_back(command_text(command));
    for (const StageType& stage : stage_types())
        if (stage.name == name)
            found.push_back("stage " + stage_text(stage));
    for (const SourceType& source : source_types())
        if (source.kind == name)
            found.push_back("source " + source_text(source));
    for (const Preset& preset : presets())
        if (preset.name == name)
            found.push_back(preset_text(preset));
    if (const CliOption* option = find_option(name))
        found.push_back(option_text(*option));
    if (const ParamDecl* decl = view_table().find(name))
        found.push_back(row("--view " + name + "=" + default_text(view_table(), *decl),
                            decl->doc + "; " + allowed_text(*decl), 38));
    if (name == kKeys)
        found.push_back(keys_help());
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
        return sources_text();
    if (what == "stages")
        return stages_text();
    return what == "presets" ? presets_text() : devices_text();
}

} // namespace specklescope
