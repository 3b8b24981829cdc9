#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

namespace specklescope {

/// ".tiff" of "a/Flow.TIFF", in lower case; "" without an ending.
inline std::string lower_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return ending;
}

} // namespace specklescope
