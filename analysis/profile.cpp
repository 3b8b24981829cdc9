#include "analysis/profile.hpp"

#include "pipeline/convert.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {

/// Σ weight·value and Σ weight.
struct WeightedSum {
    double sum = 0, weight = 0;
    void add(double value, double by) {
        if (by > 0) { // 0·∞ is undefined
            sum += by * value;
            weight += by;
        }
    }
};

/// Adds a pixel in the form that may be averaged, or omits it.
template <RegionMean mean> void add_pixel(WeightedSum& to, double value, double weight) {
    if constexpr (mean == RegionMean::of_inverses) {
        if (!std::isnan(value))
            to.add(1 / value, weight);
    } else if (std::isfinite(value)) {
        to.add(mean == RegionMean::of_squares ? value * value : value, weight);
    }
}

/// Position of a coordinate between two pixels of `size`; `pixel` −1: outside. Outermost pixels extend half a
/// pixel beyond their centres, as in region_spans(), with a constant value.
struct Between {
    int pixel = -1;
    double part = 0; ///< 0…1, fraction of the distance to the next one
};
Between between(double at, int size) {
    constexpr double kRounding = 1e-9; // of computed positions: snaps to pixel centres
    if (!(at >= -0.5 && at < size - 0.5))
        return {};
    const double last = size - 1, centre = std::round(at);
    const double inside = std::clamp(std::abs(at - centre) < kRounding ? centre : at, 0.0, last);
    const int pixel = std::min(static_cast<int>(inside), std::max(0, size - 2));
    return {pixel, inside - pixel};
}

template <RegionMean mean, class Pixel>
void add_point(WeightedSum& to, double x, double y, const Shape& shape, const Pixel& pixel) {
    const Between column = between(x, shape.width), row = between(y, shape.height);
    if (column.pixel < 0 || row.pixel < 0)
        return;
    for (int down = 0; down < 2; ++down)
        for (int right = 0; right < 2; ++right) {
            const double weight =
                (down == 1 ? row.part : 1 - row.part) * (right == 1 ? column.part : 1 - column.part);
            if (weight > 0)
                add_pixel<mean>(to, pixel(column.pixel + right, row.pixel + down), weight);
        }
}

} // namespace

LineProfile::LineProfile(const LineEnds& line, int band) : line_(line), band_(band) {
    assert(band >= 1 && band <= kMaxBand);
    const double dx = line.x1 - line.x0, dy = line.y1 - line.y0;
    const double length = std::hypot(dx, dy);
    if (!(length > 0))
        return;
    steps_ = static_cast<std::size_t>(std::max(1LL, std::llround(length)));
    spacing_ = length / static_cast<double>(steps_);
    across_x_ = -dy / length;
    across_y_ = dx / length;
}

void LineProfile::measure(const ProfileInput& input, std::vector<double>& averages) const {
    const Shape& shape = input.image.shape;
    averages.resize(samples());
    const auto over_line = [&]<RegionMean mean>(const auto& pixel) {
        for (std::size_t i = 0; i < averages.size(); ++i) {
            const double part = steps_ == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps_);
            const double x = std::lerp(line_.x0, line_.x1, part), y = std::lerp(line_.y0, line_.y1, part);
            WeightedSum sum;
            for (int k = 0; k < band_; ++k) {
                const double off = k - (band_ - 1) / 2.0;
                add_point<mean>(sum, x + off * across_x_, y + off * across_y_, shape, pixel);
            }
            averages[i] = sum.weight > 0 ? sum.sum / sum.weight : std::numeric_limits<double>::quiet_NaN();
        }
    };
    dispatch(shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto view = input.image.as<T>();
        const auto pixel = [&](int x, int y) {
            const T* const at = view.row(y) + static_cast<std::ptrdiff_t>(x) * shape.channels;
            return static_cast<double>(shape.channels == 3 ? grey_of<float>(at, input.channel)
                                                           : static_cast<float>(*at));
        };
        switch (input.mean) {
        case RegionMean::plain:
            return over_line.template operator()<RegionMean::plain>(pixel);
        case RegionMean::of_squares:
            return over_line.template operator()<RegionMean::of_squares>(pixel);
        case RegionMean::of_inverses:
            return over_line.template operator()<RegionMean::of_inverses>(pixel);
        }
    });
}

double from_average(double average, RegionMean mean) {
    return mean == RegionMean::of_squares    ? std::sqrt(average)
           : mean == RegionMean::of_inverses ? 1 / average
                                             : average;
}

} // namespace specklescope
