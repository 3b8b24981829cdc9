#include "analysis/regions_file.hpp"

#include "base/error.hpp"
#include "base/lower_ending.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace specklescope {

std::vector<Region> load_regions(const std::string& path) {
    const std::string text = whole_text(path, kMaxRegionsFile, "file of regions");
    const std::string ending = lower_ending(path);
    const auto bytes = std::as_bytes(std::span(text));
    if (ending == ".roi")
        return {read_imagej_roi(bytes, path, std::filesystem::path(path).stem().string())};
    if (ending == ".zip")
        return read_imagej_zip(bytes, path);
    return read_regions_json(text, path);
}

} // namespace specklescope
