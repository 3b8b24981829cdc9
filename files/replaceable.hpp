// Files that the program may overwrite: its own of the same kind.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

struct ReplaceableKind {
    std::string_view what;                ///< "statistics"
    std::string_view option;              ///< "--stats"
    bool (*holds)(std::string_view text); ///< given the first 4 MiB: true if it is such a file
};

/// Throws RunError unless the path is free, an empty file or one of this kind.
void refuse_other_kind(const std::string& path, const ReplaceableKind& kind);

} // namespace specklescope
