// Words of the command line, declared once: the parser, the help, the suggestions and the manual read this
// table.
#pragma once

#include "pipeline/param.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct CliOption {
    std::string name;     ///< without the dashes
    std::string argument; ///< "FILE"; empty: a flag
    std::string doc;
    std::string group;
    const ParamDecl* decl = nullptr; ///< of program_table(), for the options that come from there
};
/// "record-frames" of record_frames.
std::string option_name(const ParamDecl& decl);
/// Options in the order of the help, group by group.
const std::vector<CliOption>& cli_options();
const CliOption* find_option(std::string_view name);
/// Commands that accept the option; empty: view and run.
const std::vector<std::string_view>& only_for(std::string_view option);
/// True if the option applies to a command ("view", "run", …).
bool concerns(const CliOption& option, std::string_view command);
/// Example of the option after a command; empty: none.
const char* option_example(std::string_view option);

struct CliCommand {
    std::string name, syntax, doc;
};
const std::vector<CliCommand>& cli_commands();
const std::vector<std::string>& list_words(); ///< sources, stages, presets, devices

struct CliExample {
    std::string line, doc;
};
/// First commands to try, as they are typed.
const std::vector<CliExample>& cli_examples();

std::string help();
/// Help on a stage, kind of source, preset, command, option or key of the view; if several have this name,
/// on each. Throws UsageError with the nearest topic, or all.
std::string help_on(const std::string& topic);
std::vector<std::string> help_topics(); ///< without options and keys of the view
std::string list_text(const std::string& what);

} // namespace specklescope
