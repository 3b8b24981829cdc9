#include "recording/free_name.hpp"

#include "base/error.hpp"
#include "files/whole_file.hpp"
#include "recording/record_file.hpp"
#include "recording/stream/target.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

bool is_free(const std::string& path) {
    std::error_code ignored;
    return !fs::exists(fs::symlink_status(path, ignored)); // a link that leads nowhere is something too
}

} // namespace

std::vector<std::string> files_of_recording(const std::string& path) {
    std::vector<std::string> files = {path};
    const RecordFormat* format = find_record_format(path);
    if (format && !format->beside.empty())
        files.push_back(path + std::string(format->beside));
    if (format)
        for (const char* ending : format->same_stem)
            files.push_back(fs::path(path).replace_extension(ending).string());
    return files;
}

std::string free_recording_name(const std::string& wanted, const std::vector<std::string>& promised) {
    if (stream_target(wanted))
        return wanted;
    constexpr int kMost = 100000;
    const RecordFormat* format = find_record_format(wanted);
    const std::size_t beside = format ? format->beside.size() : 0;
    for (int number = 0; number < kMost; ++number) {
        std::string path = numbered(wanted, number, beside);
        const std::vector<std::string> files = files_of_recording(path);
        if (std::find(promised.begin(), promised.end(), path) == promised.end() &&
            std::all_of(files.begin(), files.end(), is_free))
            return path;
    }
    throw RunError("All names from " + wanted + " on are taken. Choose another name.");
}

} // namespace specklescope
