#include "recording/free_name.hpp"

#include "base/error.hpp"
#include "base/lower_ending.hpp"
#include "files/whole_file.hpp"
#include "recording/stream/target.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

bool is_free(const std::string& path) {
    std::error_code ignored;
    return !fs::exists(fs::symlink_status(path, ignored)); // a link that leads nowhere is something too
}

constexpr std::string_view kLines = ".jsonl";

} // namespace

std::vector<std::string> files_of_recording(const std::string& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".raw")
        return {path, path + std::string(kLines)};
    if (ending == ".pdf")
        return {path, fs::path(path).replace_extension(".png").string(),
                fs::path(path).replace_extension(".csv").string()};
    return {path};
}

std::string free_recording_name(const std::string& wanted, const std::vector<std::string>& promised) {
    if (stream_target(wanted))
        return wanted;
    constexpr int kMost = 100000;
    const std::size_t beside = lower_ending(wanted) == ".raw" ? kLines.size() : 0;
    for (int number = 0; number < kMost; ++number) {
        std::string path = numbered(wanted, number, beside);
        const std::vector<std::string> files = files_of_recording(path);
        if (std::find(promised.begin(), promised.end(), path) == promised.end() &&
            std::all_of(files.begin(), files.end(), is_free))
            return path;
    }
    throw RunError("All names from " + wanted + " on are taken; choose another name.");
}

} // namespace specklescope
