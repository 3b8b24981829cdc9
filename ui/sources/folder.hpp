// Folder listing for the source dialog, and completion of a typed path.
#pragma once

#include "base/source_argument.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

struct FolderEntry {
    std::string name;
    bool folder = false;
    std::uint64_t bytes = 0; ///< size of a file
    bool headerless = false; ///< is_headerless()
};
struct Folder {
    std::string path;                 ///< as passed to read_folder()
    std::string part;                 ///< as passed to read_folder(): filter for names
    std::string error;                ///< reason why the folder cannot be listed; empty: no error
    std::vector<FolderEntry> entries; ///< folders first, both sorted by name; without hidden entries
    bool cut = false;                 ///< the folder has more than kMostEntries entries
};
inline constexpr std::size_t kMostEntries = 5000;

/// Lists a folder; may wait for a disk or a network. Contains folders and files with the extension of a
/// source (with `all`: all files) whose names contain `part`.
Folder read_folder(const std::string& path, bool all, const std::string& part = "");
/// True if the listing is complete for names that contain `part`, or cannot be improved.
bool answers(const Folder& folder, const std::string& part);

/// "~/data/sc" → "/home/me/data" and "sc"; the folder is empty if the text is not a path.
struct TypedPath {
    std::string folder, name;
};
TypedPath typed_path(const std::string& text);
/// Source argument for a file path. Throws UsageError for a name with the syntax of an environment variable.
SourceArgument file_source(const std::string& path);
/// Text extended by the common prefix of all matching entries; a folder gets a final '/'.
std::string completed(const std::string& text, const Folder& folder);

} // namespace specklescope
