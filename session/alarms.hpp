// Alarms: states that need the user's attention until they are acknowledged or over. alarms() is a pure
// function of AlarmFacts; the window draws its list.
#pragma once

#include "pipeline/frame.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

class Pipeline;
class Recordings;
struct Freshness;

/// Kinds, in display order.
enum class AlarmKind : std::uint8_t {
    recording_stopped,
    source_lost,
    disk_low,
    frames_dropped,
    saturated,
    exposure_assumed
};
const char* to_string(AlarmKind kind); ///< "recording_stopped"
/// Data are being lost, as opposed to doubtful.
constexpr bool is_severe(AlarmKind kind) { return kind <= AlarmKind::source_lost; }

struct Alarm {
    AlarmKind kind{};
    std::string reason; ///< a sentence
    SteadyClock::time_point since, seen;
    bool acknowledged = false;
};

/// True for contrast and quantities computed from it, for which saturated pixels give wrong values.
inline bool suffers_from_saturation(const Quantity& quantity) {
    return quantity.measure != Measure::intensity && quantity.measure != Measure::other;
}

/// Facts about the session at one moment.
struct AlarmFacts {
    SteadyClock::time_point now;
    std::deque<std::string> recordings_stopped{}; ///< reasons that are not acknowledged
    std::string source_lost{};                    ///< reason; empty: frames come
    double disk_left_s = -1;                      ///< of the disk that fills first; negative: unknown
    std::uint64_t dropped = 0;                    ///< frames in the last minute
    double saturated = 0, saturation_limit = 1;   ///< parts of the raw frame
    std::string assumed{};                        ///< the assumption; empty: none
};
inline constexpr double kDiskLow_s = 300;

/// Present alarms. An alarm that was in `before` keeps its time and stays acknowledged. Saturation that
/// flickers lasts two seconds longer. Sorted by kind.
std::vector<Alarm> alarms(const AlarmFacts& facts, const std::vector<Alarm>& before);

/// Time until the first disk is full. Rates of recordings on the same disk add up. `left`: identity of the
/// disk, and the time for this recording by itself; NaN: unknown. Negative if no time is known.
double disk_left_s(const std::vector<std::pair<std::uint64_t, double>>& left);

/// Increase of a counter over the last minute.
class CountInMinute {
public:
    /// A counter that falls adds nothing: a recording has ended with the frames that it had dropped.
    std::uint64_t update(SteadyClock::time_point now, std::uint64_t total);

private:
    std::optional<std::uint64_t> total_;                                 ///< of the last call
    std::uint64_t sum_ = 0;                                              ///< of all increases
    std::deque<std::pair<SteadyClock::time_point, std::uint64_t>> sums_; ///< about one a second
};

class AlarmWatch {
public:
    /// Call regularly; looks ten times a second. Null: no pipeline. Returns alarms that are new.
    std::vector<Alarm> update(const Pipeline* pipeline, const Recordings& recordings,
                              const std::deque<std::string>& recordings_stopped, const Freshness& freshness,
                              double saturation_limit);
    const std::vector<Alarm>& now() const { return now_; }
    void acknowledge();

private:
    std::vector<Alarm> now_;
    CountInMinute dropped_;
    SteadyClock::time_point updated_{};
};

} // namespace specklescope
