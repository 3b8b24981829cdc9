// Which files a program may write over: its own, of the same kind.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

struct ReplaceableKind {
    std::string_view what;                ///< "statistics"
    std::string_view option;              ///< "--stats"
    bool (*holds)(std::string_view text); ///< of the first 4 MiB, whether it is such a file
};

/// Throws RunError where something else than nothing, an empty file or one of this kind has that name.
void refuse_other_kind(const std::string& path, const ReplaceableKind& kind);

} // namespace specklescope
