#include "stages/history.hpp"

#include "base/memory_budget.hpp"

#include <cstdio>

namespace specklescope {

namespace {

/// "1.4 GB", "72 MB".
std::string bytes_text(std::size_t bytes) {
    const bool large = bytes >= 1'000'000'000;
    char text[32];
    (void)std::snprintf(text, sizeof text, large ? "%.1f GB" : "%.0f MB",
                        static_cast<double>(bytes) / (large ? 1e9 : 1e6));
    return text;
}

} // namespace

std::size_t available_host_memory() { return available_memory(); }

std::string history_note(int frames, const HistoryBytes& bytes) {
    const std::string_view word = bytes.parameter.substr(0, bytes.parameter.size() - (frames == 1 ? 1 : 0));
    return std::to_string(frames) + " " + std::string(word) + ", " +
           bytes_text(bytes.other + bytes.frame * static_cast<std::size_t>(frames));
}

void check_history(std::string_view stage, std::string_view place, int frames, const HistoryBytes& bytes,
                   std::size_t room) {
    const std::size_t needed = bytes.other + bytes.frame * static_cast<std::size_t>(frames);
    if (needed <= room)
        return;
    const std::size_t most = bytes.frame > 0 && bytes.other < room ? (room - bytes.other) / bytes.frame : 0;
    const std::string setting = std::string(bytes.parameter) + " = ";
    std::string text = std::string(stage) + ": " + setting + std::to_string(frames) + " of this size take " +
                       std::to_string(needed) + " bytes (" + bytes_text(needed) + "), " + std::string(place) +
                       " has " + bytes_text(room) + " left; ";
    text += most >= 2 ? "at most " + setting + std::to_string(most) + " fit."
                      : std::string("use smaller images, for example by stage downsample.");
    throw UsageError(text);
}

} // namespace specklescope
