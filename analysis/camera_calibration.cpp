#include "analysis/camera_calibration.hpp"

#include "base/error.hpp"
#include "base/round_pupil.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace specklescope {

namespace {

constexpr double kMostFlicker = 0.05;     ///< relative change of the mean between two frames
constexpr double kMostNeighbours = 0.15;  ///< correlation of differences
constexpr double kMostSaturated = 1e-4;   ///< share of samples
constexpr double kLeastRatio = 1.5;       ///< of the brightest to the darkest level
constexpr double kLeastSteadiness = 0.98; ///< of a static scatterer
constexpr double kLeastBeta = 0.02;

std::string to_text(double value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}
std::string percent(double share) { return to_text(100 * share, 3) + " %"; }

[[noreturn]] void refuse(const CalibrationRecording& recording, const std::string& why,
                         const std::string& remedy) {
    throw UsageError("The recording " + one_line(recording.name()) + " " + why + ". " + remedy);
}

bool is_bad(const std::vector<std::uint8_t>& bad, std::size_t i) { return !bad.empty() && bad[i] != 0; }

double mean_of(const std::vector<float>& values, const std::vector<std::uint8_t>& bad) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!is_bad(bad, i)) {
            sum += values[i];
            ++count;
        }
    return count > 0 ? sum / static_cast<double>(count) : 0;
}

double median_of(std::vector<float> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Values without trend: the plane that fits best divided out, minus 1. Only good pixels count.
class Block {
public:
    Block(const std::vector<float>& image, const Shape& shape, int x0, int y0, double offset,
          const std::vector<std::uint8_t>& bad)
        : values_(static_cast<std::size_t>(kStaticBlock) * kStaticBlock), good_(values_.size()) {
        double sums[3] = {}, squares[2] = {};
        std::size_t count = 0;
        const double middle = (kStaticBlock - 1) / 2.0;
        each([&](int x, int y, std::size_t i) {
            const std::size_t at = static_cast<std::size_t>(y0 + y) * static_cast<std::size_t>(shape.width) +
                                   static_cast<std::size_t>(x0 + x);
            good_[i] = !is_bad(bad, at);
            values_[i] = image[at] - offset;
            if (!good_[i])
                return;
            sums[0] += values_[i];
            sums[1] += values_[i] * (x - middle);
            sums[2] += values_[i] * (y - middle);
            squares[0] += (x - middle) * (x - middle);
            squares[1] += (y - middle) * (y - middle);
            ++count;
        });
        mean_ = count > 0 ? sums[0] / static_cast<double>(count) : 0;
        const double slope_x = sums[1] / std::max(squares[0], 1.0);
        const double slope_y = sums[2] / std::max(squares[1], 1.0);
        each([&](int x, int y, std::size_t i) {
            const double trend = mean_ + slope_x * (x - middle) + slope_y * (y - middle);
            values_[i] = trend > 0 ? values_[i] / trend - 1 : 0;
            good_[i] = good_[i] && trend > 0;
        });
    }

    double mean() const { return mean_; }
    /// Mean product of values (dx, dy) apart.
    double product(const Block& other, int dx, int dy) const {
        double sum = 0;
        std::size_t count = 0;
        for (int y = 0; y + dy < kStaticBlock; ++y)
            for (int x = 0; x + dx < kStaticBlock; ++x) {
                const std::size_t i = at(x, y), j = at(x + dx, y + dy);
                if (good_[i] && other.good_[j]) {
                    sum += values_[i] * other.values_[j];
                    ++count;
                }
            }
        return count > 0 ? sum / static_cast<double>(count) : 0;
    }

private:
    static std::size_t at(int x, int y) {
        return static_cast<std::size_t>(y) * kStaticBlock + static_cast<std::size_t>(x);
    }
    template <class F> static void each(F&& f) {
        for (int y = 0; y < kStaticBlock; ++y)
            for (int x = 0; x < kStaticBlock; ++x)
                f(x, y, at(x, y));
    }
    std::vector<double> values_;
    std::vector<bool> good_;
    double mean_ = 0;
};

constexpr int kLags = 13; ///< of the autocovariance, with 0

/// Lag at which the curve falls below half of its value at 0, by straight lines; 0: it does not.
double half_width(const std::vector<double>& curve) {
    for (std::size_t i = 1; i < curve.size(); ++i)
        if (curve[i] < 0.5)
            return static_cast<double>(i - 1) + (curve[i - 1] - 0.5) / (curve[i - 1] - curve[i]);
    return 0;
}

/// Size of the round pupil's speckle whose autocovariance is closest to the curve up to its half.
double fitted_size(const std::vector<double>& curve, double& residual) {
    const double start = 2 * half_width(curve);
    const auto lags = std::min<std::size_t>(curve.size(), static_cast<std::size_t>(start) + 2);
    const auto error = [&](double size) {
        double sum = 0;
        for (std::size_t i = 1; i < lags; ++i) {
            const double d = curve[i] - round_pupil_covariance(static_cast<double>(i), size);
            sum += d * d;
        }
        return sum;
    };
    double low = 0.3 * start, high = 2 * start;
    constexpr double kGolden = 0.381966;
    for (int i = 0; i < 60; ++i) { // golden section
        const double a = low + kGolden * (high - low), b = high - kGolden * (high - low);
        (error(a) < error(b) ? high : low) = error(a) < error(b) ? b : a;
    }
    const double size = (low + high) / 2;
    residual = std::sqrt(error(size) / static_cast<double>(std::max<std::size_t>(1, lags - 1)));
    return size;
}

double correlation(const std::vector<float>& a, const std::vector<float>& b,
                   const std::vector<std::uint8_t>& bad) {
    const double ma = mean_of(a, bad), mb = mean_of(b, bad);
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!is_bad(bad, i)) {
            ab += (a[i] - ma) * (b[i] - mb);
            aa += (a[i] - ma) * (a[i] - ma);
            bb += (b[i] - mb) * (b[i] - mb);
        }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

void check_steady(const CalibrationRecording& lit) {
    if (lit.frames() < 2)
        refuse(lit, "has one frame, and noise is measured from differences of two", "Record 16 or more.");
    if (lit.saturated_share() > kMostSaturated)
        refuse(lit, "is saturated: " + percent(lit.saturated_share()) + " of its samples are at full scale",
               "Use less light or a shorter exposure.");
    if (lit.flicker() > kMostFlicker)
        refuse(lit, "flickers: its mean changes by " + percent(lit.flicker()) + " between two frames",
               "Use a steady light.");
    if (lit.neighbours() > kMostNeighbours)
        refuse(lit,
               "is unsuitable: neighbouring pixels change together (correlation " +
                   to_text(lit.neighbours(), 2) +
                   "), so that something moves or the camera filters its image",
               "Light a still, even surface, and turn the camera's filters off.");
}

/// Median of the pixels around (x, y), without it.
float around(const std::vector<float>& image, const Shape& shape, int x, int y) {
    std::vector<float> values;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
            const int i = x + dx, j = y + dy;
            if ((dx != 0 || dy != 0) && i >= 0 && j >= 0 && i < shape.width && j < shape.height)
                values.push_back(image[static_cast<std::size_t>(j) * static_cast<std::size_t>(shape.width) +
                                       static_cast<std::size_t>(i)]);
        }
    return static_cast<float>(median_of(std::move(values)));
}

} // namespace

void CalibrationRecording::add(ConstHostView frame, double full_scale) {
    if (frame.shape.channels != 1)
        throw UsageError("The recording " + one_line(name_) +
                         " is in colour. Calibrate with grey frames of the sensor.");
    if (frames_ == 0) {
        shape_ = frame.shape;
        full_scale_ = full_scale > 0 ? full_scale : type_full_scale(shape_.type);
        even_.assign(shape_.pixels(), 0);
        odd_ = differences_ = even_;
    } else if (frame.shape != shape_) {
        throw UsageError("The recording " + one_line(name_) + " has frames of " + to_string(shape_) +
                         " and of " + to_string(frame.shape) + ". Give frames of one size.");
    }
    std::vector<float> now;
    now.reserve(shape_.pixels());
    for (int y = 0; y < shape_.height; ++y)
        for (int x = 0; x < shape_.width; ++x)
            now.push_back(shape_.type == PixelType::u8    ? frame.as<std::uint8_t>().row(y)[x]
                          : shape_.type == PixelType::u16 ? frame.as<std::uint16_t>().row(y)[x]
                                                          : frame.as<float>().row(y)[x]);
    double sum = 0, before = 0;
    std::vector<double>& half = frames_ % 2 == 0 ? even_ : odd_;
    for (std::size_t i = 0; i < now.size(); ++i) {
        half[i] += now[i];
        sum += now[i];
        saturated_ += full_scale_ > 0 && now[i] >= full_scale_ ? 1 : 0;
        if (frames_ > 0)
            before += previous_[i];
    }
    if (frames_ % 2 == 1 && sum > 0 && before > 0) { // pairs of their own: differences are independent
        flicker_ = std::max(flicker_, std::abs(sum - before) / std::max(sum, before));
        const double scale = std::sqrt(before / sum);
        double left = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            const double d = now[i] * scale - previous_[i] / scale;
            differences_[i] += d * d / 2;
            if (i % static_cast<std::size_t>(shape_.width) != 0)
                products_ += left * d;
            squares_ += d * d;
            left = d;
        }
        ++pairs_;
    }
    if (frames_ == 0)
        first_ = now;
    else if (frames_ == 1)
        second_ = now;
    previous_ = std::move(now);
    ++frames_;
}

std::vector<float> CalibrationRecording::half_mean(bool odd) const {
    const std::vector<double>& sums = odd ? odd_ : even_;
    const double count = odd ? frames_ / 2 : (frames_ + 1) / 2;
    std::vector<float> mean(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        mean[i] = static_cast<float>(sums[i] / std::max(1.0, count));
    return mean;
}

std::vector<float> CalibrationRecording::mean() const {
    std::vector<float> mean(even_.size());
    for (std::size_t i = 0; i < even_.size(); ++i)
        mean[i] = static_cast<float>((even_[i] + odd_[i]) / std::max(1, frames_));
    return mean;
}

std::vector<float> CalibrationRecording::variance() const {
    std::vector<float> variance(differences_.size());
    for (std::size_t i = 0; i < differences_.size(); ++i)
        variance[i] = static_cast<float>(differences_[i] / std::max(1, pairs_));
    return variance;
}

double CalibrationRecording::neighbours() const { return squares_ > 0 ? products_ / squares_ : 0; }

double CalibrationRecording::saturated_share() const {
    return static_cast<double>(saturated_) /
           std::max(1.0, static_cast<double>(shape_.pixels()) * static_cast<double>(frames_));
}

std::vector<std::uint8_t> bad_pixels(const std::vector<CalibrationRecording>& lit,
                                     const CalibrationRecording* dark) {
    const CalibrationRecording* bright = dark;
    for (const CalibrationRecording& one : lit)
        if (!bright || mean_of(one.mean(), {}) > mean_of(bright->mean(), {}))
            bright = &one;
    if (!bright)
        return {};
    const Shape shape = bright->shape();
    std::vector<std::uint8_t> bad(shape.pixels(), 0);
    constexpr double kFar = 8; // robust standard deviations
    const auto outliers = [&](const std::vector<float>& values) {
        const double middle = median_of(values);
        std::vector<float> distance(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            distance[i] = static_cast<float>(std::abs(values[i] - middle));
        const double spread = std::max(1.4826 * median_of(distance), 1e-3 * std::max(1.0, middle));
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] > middle + kFar * spread)
                bad[i] = 1;
    };
    if (dark) {
        outliers(dark->mean());
        const std::vector<float> noise = dark->variance();
        const double usual = median_of(noise);
        for (std::size_t i = 0; i < noise.size() && dark->frames() >= 16; ++i) // a few pairs spread widely
            if (noise[i] > kFar * usual)
                bad[i] = 1;
    }
    if (lit.empty())
        return bad;
    std::vector<float> response = bright->mean();
    if (dark) {
        const std::vector<float> base = dark->mean();
        for (std::size_t i = 0; i < response.size(); ++i)
            response[i] -= base[i];
    }
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                                  static_cast<std::size_t>(x);
            const float near = around(response, shape, x, y);
            if (response[i] < near / 2 || response[i] > 1.5F * near)
                bad[i] = 1;
        }
    return bad;
}

double mean_level(const CalibrationRecording& recording, const std::vector<std::uint8_t>& bad) {
    return mean_of(recording.mean(), bad);
}

PhotonTransfer photon_transfer(const std::vector<CalibrationRecording>& lit, const CalibrationRecording* dark,
                               const std::vector<std::uint8_t>& bad) {
    PhotonTransfer result;
    struct Point {
        double mean, variance, weight;
    };
    std::vector<Point> points;
    const auto add = [&](const CalibrationRecording& one) {
        const int pairs = one.frames() / 2;
        const Point point{mean_of(one.mean(), bad), mean_of(one.variance(), bad), 0};
        points.push_back(point);
        // the variance of a variance: 2·var²/(number of differences)
        points.back().weight = static_cast<double>(one.shape().pixels()) * pairs /
                               (2 * std::max(point.variance * point.variance, 1e-12));
        result.levels.push_back({one.name(), point.mean, point.variance});
    };
    for (const CalibrationRecording& one : lit) {
        check_steady(one);
        add(one);
    }
    if (dark) {
        if (dark->frames() < 2)
            refuse(*dark, "has one frame, and noise is measured from differences of two",
                   "Record 16 or more.");
        add(*dark);
        result.offset = points.back().mean;
    }
    const auto [least, most] = std::minmax_element(
        points.begin(), points.end(), [](const Point& a, const Point& b) { return a.mean < b.mean; });
    if (points.size() < 2 || !(most->mean > kLeastRatio * std::max(least->mean, 0.0)))
        throw UsageError(
            "The levels of light are too close for a gain: " +
            (points.empty()
                 ? std::string("no recording")
                 : "means of " + to_text(least->mean, 4) + " to " + to_text(most->mean, 4) + " DN") +
            ". Record an evenly lit surface at two or more levels of light, the brightest 1.5 times "
            "the darkest, or one and a dark recording.");
    double w = 0, wx = 0, wy = 0;
    for (const Point& p : points) {
        w += p.weight;
        wx += p.weight * p.mean;
        wy += p.weight * p.variance;
    }
    double xx = 0, xy = 0;
    for (const Point& p : points) {
        xx += p.weight * (p.mean - wx / w) * (p.mean - wx / w);
        xy += p.weight * (p.mean - wx / w) * (p.variance - wy / w);
    }
    result.gain = xy / xx;
    result.gain_error = 1 / std::sqrt(xx);
    if (!(result.gain > 0))
        throw UsageError(
            "The noise does not grow with the light, so that there is no gain. Record raw frames of "
            "the sensor, without compression or filters.");
    result.at_zero = wy / w - result.gain * wx / w;
    result.residual = 0;
    for (const Point& p : points)
        result.residual =
            std::max(result.residual, std::abs(p.variance - result.at_zero - result.gain * p.mean) /
                                          std::max(p.variance, 1e-12));
    if (dark) {
        const double quantisation = dark->whole_numbers() ? 1.0 / 12 : 0;
        result.read_noise = std::sqrt(std::max(0.0, points.back().variance - quantisation));
    }
    std::sort(result.levels.begin(), result.levels.end(),
              [](const PhotonTransfer::Level& a, const PhotonTransfer::Level& b) { return a.mean < b.mean; });
    return result;
}

StaticScatterer static_scatterer(const CalibrationRecording& still, double offset,
                                 const std::vector<std::uint8_t>& bad) {
    if (still.frames() < 2)
        refuse(still, "has one frame, and two are needed to separate speckle from noise",
               "Record 16 or more.");
    if (still.saturated_share() > 100 * kMostSaturated)
        refuse(still,
               "is saturated: " + percent(still.saturated_share()) + " of its samples are at full scale",
               "Use less light or a shorter exposure.");
    const Shape& shape = still.shape();
    if (shape.width < kStaticBlock || shape.height < kStaticBlock)
        refuse(still,
               "is smaller than " + std::to_string(kStaticBlock) + " × " + std::to_string(kStaticBlock) +
                   " px",
               "Record a larger part of the sensor.");
    StaticScatterer found;
    if (still.frames() > 2)
        found.steadiness =
            correlation(still.first(), still.last(), bad) / correlation(still.first(), still.second(), bad);
    if (!(found.steadiness > kLeastSteadiness))
        refuse(still,
               "moves: its last frame has " + percent(found.steadiness) +
                   " of the correlation of two neighbours",
               "Fix scatterer, camera and light, and record again.");
    const std::vector<float> even = still.half_mean(false), odd = still.half_mean(true);
    std::vector<double> betas;
    std::vector<double> curve(kLags, 0);
    for (int y = 0; y + kStaticBlock <= shape.height; y += kStaticBlock)
        for (int x = 0; x + kStaticBlock <= shape.width; x += kStaticBlock) {
            const Block a(even, shape, x, y, offset, bad), b(odd, shape, x, y, offset, bad);
            if (!(a.mean() > 0))
                continue;
            betas.push_back(a.product(b, 0, 0));
            for (int lag = 0; lag < kLags; ++lag)
                curve[static_cast<std::size_t>(lag)] += (a.product(b, lag, 0) + a.product(b, 0, lag)) / 2;
        }
    const double count = static_cast<double>(betas.size());
    const double mean = std::accumulate(betas.begin(), betas.end(), 0.0) / std::max(1.0, count);
    if (!(mean > kLeastBeta))
        refuse(still, "has no speckle: its contrast is " + to_text(std::sqrt(std::max(0.0, mean)), 2),
               "Light a still, rough surface with the laser.");
    // The mean and the plane of a block take part of its variance: that of three parameters.
    for (double& value : curve)
        value /= count;
    const double raw_size = 2 * half_width([&] {
                                std::vector<double> part = curve;
                                for (double& value : part)
                                    value /= mean;
                                return part;
                            }());
    const double area = std::max(1.0, 1.2 * raw_size * raw_size); // of the autocovariance, px² (round pupil)
    const double taken = 3 * area / (static_cast<double>(kStaticBlock) * kStaticBlock);
    found.beta = mean / (1 - taken);
    double squares = 0;
    for (const double beta : betas)
        squares += (beta - mean) * (beta - mean);
    found.beta_error = count > 1 ? std::sqrt(squares / (count - 1) / count) / (1 - taken) : found.beta;
    for (double& value : curve)
        value = (value + taken * found.beta) / (mean + taken * found.beta);
    found.autocovariance = curve;
    found.speckle_size = fitted_size(curve, found.residual);
    return found;
}

} // namespace specklescope
