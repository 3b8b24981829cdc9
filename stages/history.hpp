// Ring of the last n frames of a stage, and its memory limit. Shared by host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace specklescope {

/// Position of one run in the ring.
struct HistoryStep {
    bool take = false;      ///< add the frame; false: it was added already (RunContext::again)
    bool first = false;     ///< the ring was empty: memory contents are undefined
    bool leaves = false;    ///< `slot` contains the frame that leaves
    int slot = 0;           ///< of the newest frame
    int held = 0;           ///< frames in the ring, including this one
    std::uint64_t tick = 0; ///< frames added before this one since the last reset
};

/// A ring of `frames` slots, filled in rotation.
class History {
public:
    explicit History(int frames) : frames_(frames) {}

    /// Call once per run.
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

/// Memory of a ring.
struct HistoryBytes {
    std::size_t frame = 0; ///< per frame
    std::size_t other = 0; ///< besides frames: sums
    /// name of the parameter with the number, for messages; ends in s
    std::string_view parameter = "frames";
};
/// Throws UsageError with the bytes needed and the number that fits, if `frames` need more than `room` bytes.
/// `stage` and `place` for the message: "stage temporal", "the GPU".
void check_history(std::string_view stage, std::string_view place, int frames, const HistoryBytes& bytes,
                   std::size_t room);
/// Bytes that this process can still allocate without swapping; the largest number if unknown.
std::size_t available_host_memory();
/// For Stage::note(): "25 frames, 72 MB"; uses the parameter's name.
std::string history_note(int frames, const HistoryBytes& bytes);

} // namespace specklescope
