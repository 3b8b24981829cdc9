#include "stages/history.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

namespace specklescope {

namespace {

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

/// The number that a file begins with; nothing for "max" or no file.
std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t value = 0;
    return file >> value ? std::optional(value) : std::nullopt;
}

/// What the control group leaves: a container may have less than the machine.
std::size_t room_in_group() {
    const auto room = [](const char* limit, const char* used) {
        const std::optional<std::size_t> most = number_in(limit);
        const std::optional<std::size_t> now = number_in(used);
        return most && now ? *most - std::min(*most, *now) : kUnknown;
    };
    return std::min(
        room("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        room("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"));
}

std::size_t room_in_machine() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    for (std::size_t kilobytes = 0; file >> key >> kilobytes;) {
        if (key == "MemAvailable:")
            return kilobytes * 1024;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return kUnknown;
}

/// "1.4 GB", "72 MB".
std::string bytes_text(std::size_t bytes) {
    const bool large = bytes >= 1'000'000'000;
    char text[32];
    (void)std::snprintf(text, sizeof text, large ? "%.1f GB" : "%.0f MB",
                        static_cast<double>(bytes) / (large ? 1e9 : 1e6));
    return text;
}

} // namespace

std::size_t available_host_memory() { return std::min(room_in_machine(), room_in_group()); }

std::string history_note(int frames, const HistoryBytes& bytes) {
    return std::to_string(frames) + (frames == 1 ? " frame, " : " frames, ") +
           bytes_text(bytes.other + bytes.frame * static_cast<std::size_t>(frames));
}

void check_history(std::string_view stage, std::string_view place, int frames, const HistoryBytes& bytes,
                   std::size_t room) {
    const std::size_t needed = bytes.other + bytes.frame * static_cast<std::size_t>(frames);
    if (needed <= room)
        return;
    const std::size_t most = bytes.frame > 0 && bytes.other < room ? (room - bytes.other) / bytes.frame : 0;
    std::string text = std::string(stage) + ": frames = " + std::to_string(frames) + " of this size take " +
                       std::to_string(needed) + " bytes (" + bytes_text(needed) + "), " + std::string(place) +
                       " has " + bytes_text(room) + " left; ";
    text += most >= 2 ? "at most frames = " + std::to_string(most) + " fit."
                      : std::string("use smaller images, for example by stage downsample.");
    throw UsageError(text);
}

} // namespace specklescope
