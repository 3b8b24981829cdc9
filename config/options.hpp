// The words of the command line, declared once: the parser, the help, the suggestions and the manual read
// this table.
#pragma once

#include "pipeline/param.hpp"

#include <string>
#include <vector>

namespace specklescope {

struct CliOption {
    std::string name;     ///< without the dashes
    std::string argument; ///< "FILE"; empty: a flag
    std::string doc;
    std::string group;
    const ParamDecl* decl = nullptr; ///< of program_table(), for the options that come from there
};
/// In the order in which help shows them, group by group.
const std::vector<CliOption>& cli_options();
const CliOption* find_option(std::string_view name);

struct CliCommand {
    std::string name, syntax, doc;
};
const std::vector<CliCommand>& cli_commands();
const std::vector<std::string>& list_words(); ///< sources, stages, presets, devices

std::string help();
/// Of one stage or one kind of source, from its declarations; throws UsageError listing both.
std::string help_on(const std::string& name);
std::string list_text(const std::string& what);
std::string version_text();

} // namespace specklescope
