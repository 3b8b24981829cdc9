// The reference of the program as chapters, made by one walk over its declarations. Help, manual and man
// page are writers of these chapters.
#pragma once

#include "config/presets/preset_file.hpp"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace specklescope {

struct CliOption;
struct Preset;

/// One thing that can be typed: a command, an option, a key, a format.
struct Entry {
    std::string name;       ///< "--rate", "radius", ".tiff"
    std::string argument{}; ///< "FILE"
    std::string standard{}; ///< its default
    std::string allowed{};  ///< "a whole number, 1…15 px"
    std::string doc{};
    std::string example{}; ///< "--rate 60"
};

/// Texts may mark typed words with backquotes. An empty line separates paragraphs.
struct Chapter {
    std::string title;
    std::string text{};
    /// Headings of the members of an Entry; its name and argument share the first. Empty: not used.
    std::array<std::string, 4> columns{"key", "default", "allowed", "meaning"};
    std::vector<Entry> entries{};
    std::string code{};        ///< lines to copy, after the entries
    const char* language = ""; ///< of the code
    std::vector<Chapter> parts{};
    const char* kind = ""; ///< "stage", "source", "preset": a topic of help
    std::string topic{};   ///< its name there
};

Chapter commands_chapter();
/// A part for each group of options.
Chapter options_chapter(const std::function<bool(const CliOption&)>& wanted);
Entry option_entry(const CliOption& option);
Chapter examples_chapter();
Chapter view_chapter();
Chapter keys_chapter();
Chapter sources_chapter();
Chapter stages_chapter();
Chapter presets_chapter(const std::vector<Preset>& presets);
/// Everything, with the presets that are compiled in.
std::vector<Chapter> reference();

} // namespace specklescope
