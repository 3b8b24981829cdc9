#include "analysis/interval.hpp"

#include <algorithm>

namespace specklescope {

std::string label_of(const Interval& interval) { return interval.name + (interval.baseline ? " · F₀" : ""); }

std::optional<std::size_t> baseline_of(const std::vector<Interval>& intervals) {
    const auto at = std::find_if(intervals.begin(), intervals.end(),
                                 [](const Interval& interval) { return interval.baseline; });
    return at == intervals.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(at - intervals.begin()));
}

std::size_t add_interval(std::vector<Interval>& intervals, std::int64_t from_ns, std::int64_t to_ns) {
    if (intervals.size() >= kMaxIntervals)
        return intervals.size() - 1;
    const auto taken = [&](const std::string& name) {
        return std::any_of(intervals.begin(), intervals.end(),
                           [&](const Interval& interval) { return interval.name == name; });
    };
    std::string name = "rest";
    if (taken(name))
        name = "stimulus";
    for (std::size_t number = intervals.size() + 1; taken(name); ++number)
        name = "interval " + std::to_string(number);
    intervals.push_back({name, std::min(from_ns, to_ns), std::max(from_ns, to_ns), !baseline_of(intervals)});
    return intervals.size() - 1;
}

void choose_baseline(std::vector<Interval>& intervals, std::optional<std::size_t> index) {
    for (std::size_t i = 0; i < intervals.size(); ++i)
        intervals[i].baseline = index == i;
}

} // namespace specklescope
