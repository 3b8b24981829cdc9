#include "analysis/histogram.hpp"

#include "pipeline/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace specklescope {

void ValueSample::take(ConstHostView image) {
    values_.clear();
    looked_ = sample_values(image, values_);
    pixels_ = image.shape.pixels();
    std::sort(values_.begin(), values_.end());
}

void ValueSample::take(std::span<const float> values, std::size_t pixels) {
    values_.clear();
    std::copy_if(values.begin(), values.end(), std::back_inserter(values_),
                 [](float value) { return std::isfinite(value); });
    looked_ = values.size();
    pixels_ = pixels;
    std::sort(values_.begin(), values_.end());
}

void ValueSample::clear() {
    values_.clear();
    looked_ = pixels_ = 0;
}

std::optional<double> ValueSample::percentile(double percent) const {
    if (values_.empty())
        return {};
    const double last = static_cast<double>(values_.size() - 1);
    return static_cast<double>(
        values_[static_cast<std::size_t>(std::lround(std::clamp(percent, 0.0, 100.0) / 100 * last))]);
}

double ValueSample::share_below(double value) const {
    if (values_.empty())
        return 0;
    const auto end = std::partition_point(values_.begin(), values_.end(),
                                          [&](float v) { return static_cast<double>(v) < value; });
    return static_cast<double>(end - values_.begin()) / static_cast<double>(values_.size());
}

double ValueSample::share_above(double value) const {
    if (values_.empty())
        return 0;
    const auto begin = std::partition_point(values_.begin(), values_.end(),
                                            [&](float v) { return static_cast<double>(v) <= value; });
    return static_cast<double>(values_.end() - begin) / static_cast<double>(values_.size());
}

void ValueSample::count(double low, double high, std::span<std::uint32_t> bins) const {
    const auto parts = static_cast<double>(bins.size());
    auto at = std::partition_point(values_.begin(), values_.end(),
                                   [&](float v) { return static_cast<double>(v) < low; });
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double end = low + (high - low) * static_cast<double>(i + 1) / parts;
        const bool last = i + 1 == bins.size();
        const auto next = std::partition_point(at, values_.end(), [&](float v) {
            const auto value = static_cast<double>(v);
            return value < end || (last && value <= high);
        });
        bins[i] = static_cast<std::uint32_t>(next - at);
        at = next;
    }
}

} // namespace specklescope
