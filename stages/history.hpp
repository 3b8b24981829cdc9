// The last n frames of a stage with history: which slot of its ring comes next, and what memory allows.
// Shared by host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace specklescope {

/// Where one run of a stage stands in its history.
struct HistoryStep {
    bool take = false;      ///< the frame enters; false: it has already (RunContext::again)
    bool first = false;     ///< nothing was held before: what the memory says means nothing
    bool leaves = false;    ///< `slot` holds the frame that leaves
    int slot = 0;           ///< of the newest frame
    int held = 0;           ///< frames held, this one among them
    std::uint64_t tick = 0; ///< frames taken in before this one since the last reset
};

/// A ring of `frames` slots, filled in turn.
class History {
public:
    explicit History(int frames) : frames_(frames) {}

    /// Asked once a run.
    HistoryStep next(bool again) {
        const bool take = !again || taken_ == 0;
        taken_ += take ? 1 : 0;
        const std::uint64_t tick = taken_ - 1;
        return {.take = take,
                .first = take && tick == 0,
                .leaves = take && tick >= size(),
                .slot = static_cast<int>(tick % size()),
                .held = held(),
                .tick = tick};
    }
    void reset() { taken_ = 0; }
    int frames() const { return frames_; }
    int held() const { return static_cast<int>(taken_ < size() ? taken_ : size()); }
    Warmup warmup() const { return {{}, held(), frames_}; }

private:
    std::uint64_t size() const { return static_cast<std::uint64_t>(frames_); }

    int frames_;
    std::uint64_t taken_ = 0;
};

/// What a history of so many frames takes.
struct HistoryBytes {
    std::size_t frame = 0;                 ///< for each frame held
    std::size_t other = 0;                 ///< besides: sums
    std::string_view parameter = "frames"; ///< that says how many, for people; ends in s
};
/// Throws UsageError naming the bytes and how many would fit, if `frames` need more than `room` bytes.
/// `stage` and `place` for the sentence: "stage temporal", "the GPU".
void check_history(std::string_view stage, std::string_view place, int frames, const HistoryBytes& bytes,
                   std::size_t room);
/// Bytes of memory that this process may still take without swapping; the largest number where the system
/// does not say.
std::size_t available_host_memory();
/// For Stage::note(): "25 frames, 72 MB"; the word is that of the parameter.
std::string history_note(int frames, const HistoryBytes& bytes);

} // namespace specklescope
