#include "recording/stream/target.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace specklescope {

namespace {

constexpr std::string_view kRaw = "raw:", kY4m = "y4m:";

int descriptor_of(std::string_view path) {
    if (path == "-" || path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder))
            continue;
        path.remove_prefix(folder.size());
        int number = -1;
        const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
        return error == std::errc() && end == path.data() + path.size() ? number : -1;
    }
    return -1;
}

/// A pipe or a device. One whose name has the ending of a file is left to those who refuse it.
bool takes_a_stream(const std::string& path, const std::string& ending) {
    struct stat found {};
    return (ending.empty() || ending == ".raw" || ending == ".y4m") && ::stat(path.c_str(), &found) == 0 &&
           (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
}

} // namespace

std::optional<StreamTarget> stream_target(const std::string& text) {
    StreamTarget target;
    target.text = target.path = text;
    const bool raw = text.starts_with(kRaw), y4m = text.starts_with(kY4m);
    if (raw || y4m)
        target.path = text.substr((raw ? kRaw : kY4m).size());
    const std::string ending = std::filesystem::path(target.path).extension().string();
    target.descriptor = descriptor_of(target.path);
    if (!raw && !y4m && target.descriptor < 0 && !takes_a_stream(target.path, ending))
        return std::nullopt;
    if (y4m || (!raw && ending == ".y4m"))
        target.kind = StreamTarget::Kind::y4m;
    return target;
}

} // namespace specklescope
