// Named intervals of time in traces; one of them may be the baseline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct Interval {
    std::string name;
    std::int64_t from_ns = 0, to_ns = 0; ///< TraceMoment::time_ns; both ends included
    bool baseline = false;               ///< its mean is F₀; at most one of a list
    bool operator==(const Interval&) const = default;
};

/// Text for plots: "rest · F₀".
std::string label_of(const Interval& interval);

inline constexpr std::size_t kMaxIntervals = 64;

std::optional<std::size_t> baseline_of(const std::vector<Interval>& intervals);
/// Appends an interval (ends in any order) with an unused name: rest, stimulus, interval 3 … The first one
/// becomes the baseline. Returns its index, or the last index if kMaxIntervals is reached.
std::size_t add_interval(std::vector<Interval>& intervals, std::int64_t from_ns, std::int64_t to_ns);
/// Makes it the only baseline; none: there is no baseline.
void choose_baseline(std::vector<Interval>& intervals, std::optional<std::size_t> index);

} // namespace specklescope
