// Limits of one recording: its length, thinning, and file sizes. Declared once for the command line, TOML,
// the window and the manual.
#pragma once

#include "pipeline/param.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace specklescope {

struct FrameInfo;
struct SourceInfo;

/// Times are capture times, not wall-clock times: a video that is read faster than it was taken gives the
/// same files.
struct RecordLimits {
    static constexpr int kMaxFrames = 1'000'000'000;
    static constexpr double kMaxSeconds = 1e8; ///< three years
    static constexpr int kMaxMib = 1 << 30;
    static constexpr double kMaxPreTrigger = 3600; ///< s

    int frames = 0;                ///< number of frames, including dropped ones; 0: no limit
    double seconds = 0;            ///< time from the first frame to the end; 0: no limit
    int mib = 0;                   ///< size of all files; 0: no limit
    int every = 1;                 ///< records every n-th frame
    double every_s = 0;            ///< records one frame in this time; 0: every frame
    int split_mib = 0;             ///< size of one file; 0: no limit
    double split_s = 0;            ///< time in one file; 0: no limit
    double keep_free = 1;          ///< per cent of the disk to keep free
    double pre_trigger_s = 0;      ///< time before the button, for raw frames
    int pre_trigger_mib = 1024;    ///< limit of the memory for them
    std::string subject{}, note{}; ///< written into the files
    /// Name of recordings and snapshots started from the window, without folder and extension.
    std::string name = "{what}_{date}_{time}";
    bool operator==(const RecordLimits&) const = default;

    bool thins() const { return every > 1 || every_s > 0; }
    /// Frame rate after thinning `rate`; 0 stays 0.
    double thinned(double rate) const;
};
/// Keys record_frames, record_seconds, record_mib, record_every, record_every_s, split_mib, split_s,
/// keep_free, pre_trigger, pre_trigger_mib, subject, note, record_name.
const ParamTable& record_limits_table();
/// Refuses two ways of thinning at once. Throws UsageError, which begins with `owner`.
void check_limits(const RecordLimits& limits, const std::string& owner);

/// A limit in seconds requires frames with times. Throws UsageError.
void check_timed(const RecordLimits& limits, const SourceInfo& source);

/// Selects the frames of a stream to record; a pure function of their numbers and capture times.
class FrameGate {
public:
    enum class Verdict : std::uint8_t {
        take,
        leave, ///< between two recorded frames
        end    ///< the recording has its full length; also for every later frame
    };
    explicit FrameGate(const RecordLimits& limits) : limits_(limits) {}
    Verdict judge(const FrameInfo& info);
    /// True after the last frame of a length in frames, otherwise from the first frame after the end.
    bool ended() const { return ended_; }
    /// Why it ended: "100 frames", "2.5 s"; empty before the end.
    std::string reason() const;

private:
    bool due(const FrameInfo& info) const;

    RecordLimits limits_;
    std::uint64_t first_ = 0, next_ = 0; ///< sequence numbers
    std::int64_t next_ns_ = 0;
    int taken_ = 0;
    std::optional<std::int64_t> began_ns_; ///< of the first frame taken
    bool ended_ = false;
};

} // namespace specklescope
