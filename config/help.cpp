#include "have_cuda.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/version.h>
#include <toml++/toml.h>

#include <thread>

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

namespace specklescope {

namespace {

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
    std::string out = "SOURCE is one of these; options follow as ?key=value&key=value.\n\n";
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
        out += row(preset.name, preset.doc, 12);
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

std::string number(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

} // namespace

std::string help() {
    std::string out = "Specklescope: live speckle contrast and flow from cameras and files.\n\n";
    for (const CliCommand& command : cli_commands())
        out += row(command.syntax, command.doc, 52);
    std::string group;
    for (const CliOption& option : cli_options()) {
        if (option.group != group) {
            group = option.group;
            out += "\n" + group + "\n";
        }
        out +=
            row("--" + option.name + (option.argument.empty() ? "" : " " + option.argument), option.doc, 30);
    }
    out += "\nKeys of --view\n" + param_rows(view_table());
    return out +
           "\nStages, sources and their keys: specklescope list stages, list sources; --help NAME for one.\n";
}

std::string help_on(const std::string& name) {
    std::vector<std::string> names;
    for (const StageType& stage : stage_types()) {
        if (stage.name == name)
            return "stage " + stage_text(stage);
        names.emplace_back(stage.name);
    }
    for (const SourceType& source : source_types()) {
        if (source.kind == name)
            return "source " + source_text(source);
        names.emplace_back(source.kind);
    }
    const bool command = name == "view" || name == "run" || name == "list";
    if (command)
        return help();
    throw UsageError("There is no help on '" + one_line(name) + "'; allowed: " + join(names) + ".");
}

std::string list_text(const std::string& what) {
    if (what == "sources")
        return sources_text();
    if (what == "stages")
        return stages_text();
    return what == "presets" ? presets_text() : devices_text();
}

std::string version_text() {
#if defined(__clang__)
    const std::string compiler = "clang " __clang_version__;
#else
    const std::string compiler = "g++ " __VERSION__;
#endif
#ifdef SPECKLESCOPE_HAVE_CUDA
    const std::string cuda = "yes";
#else
    const std::string cuda = "no";
#endif
#ifdef NDEBUG
    const std::string checks = "optimised";
#else
    const std::string checks = "with assertions";
#endif
    const std::vector<std::string> libraries = {
        "GStreamer " SPECKLESCOPE_GSTREAMER_VERSION,
        "Aravis " SPECKLESCOPE_ARAVIS_VERSION,
        "libtiff " SPECKLESCOPE_TIFF_VERSION,
        "Highway " SPECKLESCOPE_HIGHWAY_VERSION,
        "oneTBB " SPECKLESCOPE_TBB_VERSION,
        "Dear ImGui " SPECKLESCOPE_IMGUI_VERSION,
        "CLI11 " CLI11_VERSION,
        "spdlog " + number(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH),
        "toml++ " + number(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH),
        "nlohmann-json " +
            number(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)};
    std::string out = "specklescope " SPECKLESCOPE_VERSION "\n";
    out += row("CUDA backend", cuda, 14) + row("compiler", compiler + ", " + checks, 14);
    return out + row("built with", join(libraries), 14);
}

} // namespace specklescope
