#include "analysis/response.hpp"

#include "analysis/baseline_image.hpp"
#include "analysis/trace_history.hpp"

#include <cmath>

namespace specklescope {

Response response_of(const std::vector<double>& times, const std::vector<double>& values, double from_s,
                     RegionMean mean, std::optional<double> f0, bool relative) {
    Response response;
    TimeMean sum(mean);
    double farthest = -std::numeric_limits<double>::infinity(), area = 0;
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum.add(values[i]);
        if (!std::isfinite(values[i]))
            continue;
        ++response.frames;
        const double far = f0 ? std::abs(values[i] - *f0) : values[i];
        if (far > farthest) {
            farthest = far;
            response.peak = values[i];
            response.latency_s = times[i] - from_s;
        }
        if (before)
            area += (times[i] - times[*before]) * ((values[i] + values[*before]) / 2 - f0.value_or(0));
        before = i;
    }
    response.mean = sum.mean();
    if (f0 && response.frames > 0)
        response.area = area;
    if (!relative)
        return response;
    if (!f0)
        return {.frames = response.frames};
    response.mean = relative_change(response.mean, *f0);
    response.peak = relative_change(response.peak, *f0);
    response.area *= 100 / *f0;
    return response;
}

} // namespace specklescope
