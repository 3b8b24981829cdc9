#include "analysis/regions_file.hpp"

#include "base/error.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace specklescope {

namespace {

/// Throws RunError, also for what is larger than any file of regions.
std::string whole_text(const std::string& path) {
    const InputFile file = open_input(path);
    std::string text;
    char part[1 << 16];
    while (const std::size_t count = std::fread(part, 1, sizeof part, file.get())) {
        text.append(part, count);
        if (text.size() > kMaxRegionsFile)
            throw RunError("'" + path + "' is larger than " + std::to_string(kMaxRegionsFile >> 20) +
                           " MiB, and no file of regions.");
    }
    if (std::ferror(file.get()) != 0)
        throw RunError("'" + path + "' cannot be read to its end.");
    return text;
}

} // namespace

std::vector<Region> load_regions(const std::string& path) {
    const std::string text = whole_text(path);
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto bytes = std::as_bytes(std::span(text));
    if (ending == ".roi")
        return {read_imagej_roi(bytes, path, std::filesystem::path(path).stem().string())};
    if (ending == ".zip")
        return read_imagej_zip(bytes, path);
    return read_regions_json(text, path);
}

} // namespace specklescope
