// Several sources one after another: which they are, and how each one's files are named.
#pragma once

#include "config/settings.hpp"

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Sources named by the words, in order. A file name that contains * or [ and does not exist is a pattern
/// for all matching files, sorted; options after its last '?' apply to each: 'session/*.tif?rate=60'. Throws
/// UsageError for a pattern without matches.
std::vector<SourceArgument> sources_in_turn(const std::vector<std::string>& words);

/// Throws UsageError if a source has no end after which a loop could begin again.
void check_loop(const Settings& settings);

/// Values of {stem}, {count}, {date}, {time}, {subject} and {what} in the names of output files.
struct NamePlaces {
    std::string stem; ///< of the source's file, without folder and ending; of others the kind, "synthetic"
    std::size_t count = 1; ///< number of the source in the run, from 1; written as 001
    std::tm begin{};       ///< of the run, local: 2026-11-22 and 14-05-09
    std::string subject{}; ///< from --subject; empty: "subject"
    std::string
        what{}; ///< "processed", "raw", "mask", "snapshot", "stats", "traces", "kymograph", "widths", …
};
/// Present local time.
std::tm local_now();
/// Contains no '/', and only printable characters of the source's text.
std::string stem_of(const SourceArgument& source);
/// {{ and }} are braces. Throws UsageError for any other place, naming those that there are.
std::string fill_name(std::string_view name, const NamePlaces& places);

/// Settings for each source, with the names of their files filled in. Throws UsageError if two sources would
/// write the same file.
std::vector<Settings> each_in_turn(const Settings& settings);

} // namespace specklescope
