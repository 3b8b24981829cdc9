// A folder as the dialog for sources shows it, and how a typed path is completed.
#pragma once

#include "base/source_argument.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

struct FolderEntry {
    std::string name;
    bool folder = false;
    std::uint64_t bytes = 0; ///< of a file
};
struct Folder {
    std::string path;                 ///< as it was asked for
    std::string part;                 ///< likewise: only names that hold it
    std::string error;                ///< why nothing can be listed; empty: all is well
    std::vector<FolderEntry> entries; ///< folders first, both by name; hidden ones are left out
    bool cut = false;                 ///< there are more than kMostEntries
};
inline constexpr std::size_t kMostEntries = 5000;

/// May wait for a disk or a network. Only folders and what a source could be by its ending, unless `all`; of
/// them those whose names hold `part`.
Folder read_folder(const std::string& path, bool all, const std::string& part = "");
/// The folder says everything about names that hold `part`, or as much as it can.
bool answers(const Folder& folder, const std::string& part);

/// "~/data/sc" → "/home/me/data" and "sc"; the folder is empty where the text is no path.
struct TypedPath {
    std::string folder, name;
};
TypedPath typed_path(const std::string& text);
/// A file as a source, by its path. Throws UsageError for a name that would stand for what the environment
/// holds.
SourceArgument file_source(const std::string& path);
/// The text with as much more as all entries whose names begin like it have in common; a folder gets its '/'.
std::string completed(const std::string& text, const Folder& folder);

} // namespace specklescope
