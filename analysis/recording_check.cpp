#include "analysis/recording_check.hpp"

#include "base/round_pupil.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <numeric>

namespace specklescope {

namespace {

using Excerpt = RecordingCheck::Excerpt;

std::string print(const char* format, double a, double b = 0) {
    char text[160];
    std::snprintf(text, sizeof text, format, a, b); // NOLINT(clang-diagnostic-format-nonliteral)
    return text;
}

std::size_t index(int x, int y, int width) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
}

double mean_of(const std::vector<double>& values) {
    return values.empty()
               ? 0
               : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double middle_value(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double deviation_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double sum = 0;
    for (const double value : values)
        sum += (value - mean) * (value - mean);
    return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// The middle of a frame, `bin` × `bin` pixels added, over its local mean, minus 1.
Excerpt middle_of(const std::vector<float>& frame, const Shape& shape, int bin) {
    Excerpt part;
    part.width = std::min(RecordingCheck::kSide, shape.width / bin);
    part.height = std::min(RecordingCheck::kSide, shape.height / bin);
    const int left = (shape.width - part.width * bin) / 2, top = (shape.height - part.height * bin) / 2;
    std::vector<float> sums(static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height));
    for (int y = 0; y < part.height * bin; ++y)
        for (int x = 0; x < part.width * bin; ++x)
            sums[index(x / bin, y / bin, part.width)] += frame[index(left + x, top + y, shape.width)];
    const int wide = part.width + 1;
    std::vector<double> integral(static_cast<std::size_t>(wide) * static_cast<std::size_t>(part.height + 1));
    for (int y = 0; y < part.height; ++y) {
        double row = 0;
        for (int x = 0; x < part.width; ++x) {
            row += sums[index(x, y, part.width)];
            integral[index(x + 1, y + 1, wide)] = integral[index(x + 1, y, wide)] + row;
        }
    }
    part.values.resize(sums.size());
    for (int y = 0; y < part.height; ++y)
        for (int x = 0; x < part.width; ++x) {
            const int x0 = std::max(0, x - RecordingCheck::kBox), y0 = std::max(0, y - RecordingCheck::kBox);
            const int x1 = std::min(part.width, x + RecordingCheck::kBox + 1);
            const int y1 = std::min(part.height, y + RecordingCheck::kBox + 1);
            const double sum = integral[index(x1, y1, wide)] - integral[index(x0, y1, wide)] -
                               integral[index(x1, y0, wide)] + integral[index(x0, y0, wide)];
            const double mean = sum / ((x1 - x0) * (y1 - y0));
            const std::size_t i = index(x, y, part.width);
            part.values[i] = mean > 0 ? static_cast<float>(sums[i] / mean - 1) : 0;
        }
    return part;
}

/// Mean product of two parts, the second (dx, dy) further, over the pixels that all shifts share.
double product(const Excerpt& a, const Excerpt& b, int dx, int dy, int margin) {
    double sum = 0;
    const int count = a.width - 2 * margin;
    for (int y = margin; y < a.height - margin; ++y) {
        const float* p = &a.values[index(margin, y, a.width)];
        const float* q = &b.values[index(margin + dx, y + dy, a.width)];
        std::array<float, 16> lanes{};
        int x = 0;
        for (; x + 16 <= count; x += 16)
            for (std::size_t k = 0; k < 16; ++k)
                lanes[k] += p[static_cast<std::size_t>(x) + k] * q[static_cast<std::size_t>(x) + k];
        for (; x < count; ++x)
            lanes[0] += p[x] * q[x];
        sum += std::accumulate(lanes.begin(), lanes.end(), 0.0F);
    }
    const double pixels = static_cast<double>(count) * (a.height - 2 * margin);
    return pixels > 0 ? sum / pixels : 0;
}

double peak_offset(double before, double at, double after) {
    const double bend = before - 2 * at + after;
    return bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
}

/// Autocovariance of a round pupil's speckle, averaged over a square pixel at both ends: the weight of a
/// distance (x, y) is (1 − |x|)(1 − |y|).
double pixel_covariance(double lag_x, double lag_y, double size) {
    constexpr int kSteps = 4; // to each side
    double sum = 0, weights = 0;
    for (int j = -kSteps + 1; j < kSteps; ++j)
        for (int i = -kSteps + 1; i < kSteps; ++i) {
            const double x = static_cast<double>(i) / kSteps, y = static_cast<double>(j) / kSteps;
            const double weight = (1 - std::abs(x)) * (1 - std::abs(y));
            sum += weight * round_pupil_covariance(std::hypot(lag_x + x, lag_y + y), size);
            weights += weight;
        }
    return sum / weights;
}

struct Speckle {
    double size = 0, beta = 0;
};

/// Size whose autocovariance is closest to the measured one at lags 1, 2 …, where noise of independent pixels
/// has no part. The amplitude is free, up to the whole variance.
Speckle fitted_speckle(const std::array<double, RecordingCheck::kLags>& measured, double diagonal) {
    std::size_t lags = 2;
    while (lags + 1 < measured.size() && measured[lags] > 0.3 * measured[1])
        ++lags;
    Speckle best;
    double least = -1;
    constexpr int kSizes = 102; // 0.6 to 12 px
    for (int i = 0; i < kSizes; ++i) {
        const double size = 0.6 * std::pow(1.03, i);
        const double whole = pixel_covariance(0, 0, size), crossed = pixel_covariance(1, 1, size);
        std::array<double, RecordingCheck::kLags> model{};
        double both = crossed * diagonal, squares = crossed * crossed;
        for (std::size_t lag = 1; lag <= lags; ++lag) {
            model[lag] = pixel_covariance(static_cast<double>(lag), 0, size);
            both += model[lag] * measured[lag];
            squares += model[lag] * model[lag];
        }
        const double amplitude = std::min(both / squares, measured[0] / whole);
        double error = std::pow(diagonal - amplitude * crossed, 2);
        for (std::size_t lag = 1; lag <= lags; ++lag)
            error += std::pow(measured[lag] - amplitude * model[lag], 2);
        if (least < 0 || error < least) {
            least = error;
            best = {size, whole};
        }
    }
    return best;
}

} // namespace

const char* to_string(Sure sure) {
    return sure == Sure::certain ? "certain" : sure == Sure::likely ? "likely" : "possible";
}

RecordingCheck::Shift find_shift(const Excerpt& a, const Excerpt& b) {
    constexpr int kReach = RecordingCheck::kReach, kWide = 2 * kReach + 1;
    RecordingCheck::Shift shift;
    const double scale = std::sqrt(product(a, a, 0, 0, kReach) * product(b, b, 0, 0, kReach));
    if (!(scale > 0) || a.width < 4 * kReach || a.height < 4 * kReach)
        return shift;
    std::array<double, std::size_t{kWide} * kWide> map{};
    for (int dy = -kReach; dy <= kReach; ++dy)
        for (int dx = -kReach; dx <= kReach; ++dx)
            map[index(dx + kReach, dy + kReach, kWide)] = product(a, b, dx, dy, kReach) / scale;
    const auto top = static_cast<int>(std::max_element(map.begin(), map.end()) - map.begin());
    const int x = top % kWide, y = top / kWide;
    shift.peak = map[static_cast<std::size_t>(top)];
    shift.rise = shift.peak - map[index(kReach, kReach, kWide)];
    std::vector<double> far;
    for (int j = 0; j < kWide; ++j)
        for (int i = 0; i < kWide; ++i)
            if (std::abs(i - x) > 4 || std::abs(j - y) > 4)
                far.push_back(map[index(i, j, kWide)]);
    shift.noise = deviation_of(far);
    shift.x = x - kReach;
    shift.y = y - kReach;
    if (x > 0 && x + 1 < kWide)
        shift.x += peak_offset(map[index(x - 1, y, kWide)], shift.peak, map[index(x + 1, y, kWide)]);
    if (y > 0 && y + 1 < kWide)
        shift.y += peak_offset(map[index(x, y - 1, kWide)], shift.peak, map[index(x, y + 1, kWide)]);
    return shift;
}

void RecordingCheck::begin_burst() {
    bursts_.emplace_back();
    previous_.clear();
}

void RecordingCheck::add(ConstHostView frame, const FrameInfo& info, double mosaic) {
    if (frames_ > 0 && frame.shape != shape_)
        return;
    if (bursts_.empty())
        begin_burst();
    if (frames_ == 0) {
        shape_ = frame.shape;
        bin_ = std::min(shape_.width, shape_.height) >= 2 * kSide ? 2 : 1;
        channel_ = shape_.channels == 3 ? 1 : 0;
    }
    full_scale_ = std::max(full_scale_, info.full_scale);
    mosaic_ = std::max(mosaic_, mosaic);
    timed_ = timed_ && info.has_time();
    count_levels(frame);
    std::vector<float> now(shape_.pixels());
    dispatch(shape_.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < shape_.height; ++y) {
            const T* row = frame.as<T>().row(y) + channel_;
            for (int x = 0; x < shape_.width; ++x)
                now[index(x, y, shape_.width)] = static_cast<float>(row[x * shape_.channels]);
        }
    });
    Burst& burst = bursts_.back();
    double sum = 0;
    Tiles tiles{};
    const int tile_x = std::max(1, shape_.width / kTiles), tile_y = std::max(1, shape_.height / kTiles);
    for (int y = 0; y < shape_.height; ++y)
        for (int x = 0; x < shape_.width; ++x) {
            const double value = now[index(x, y, shape_.width)];
            sum += value;
            tiles[index(std::min(x / tile_x, kTiles - 1), std::min(y / tile_y, kTiles - 1), kTiles)] += value;
        }
    std::vector<double> changes;
    for (std::size_t i = 0; burst.frames > 0 && i < tiles.size(); ++i) {
        const double before = burst.tiles.back()[i];
        if (tiles[i] + before > 0)
            changes.push_back(2 * (tiles[i] - before) / (tiles[i] + before));
    }
    burst.tiles.push_back(tiles);
    if (changes.size() > 2)
        burst.common_changes.push_back(mean_of(changes) * std::sqrt(static_cast<double>(changes.size())) /
                                       std::max(1e-9, deviation_of(changes)));
    burst.means.push_back(sum / static_cast<double>(shape_.pixels()));
    burst.times_s.push_back(static_cast<double>(info.capture_ns) * 1e-9);
    burst.exposures.push_back(info.exposure_ms);
    burst.sequence.push_back(info.sequence);
    burst.positions.push_back(info.position);
    if (!previous_.empty())
        compare(now);
    Excerpt part = middle_of(now, shape_, bin_);
    if (burst.frames == 0) {
        burst.first = part;
        burst.sum = part;
        measure_combs(now);
    } else {
        burst.steps.push_back(find_shift(burst.last, part));
        for (std::size_t i = 0; i < part.values.size(); ++i)
            burst.sum.values[i] += part.values[i];
    }
    burst.last = std::move(part);
    measure_speckle(now);
    measure_blocks(now);
    previous_ = std::move(now);
    ++burst.frames;
    ++frames_;
}

void RecordingCheck::count_levels(ConstHostView frame) {
    if (shape_.type == PixelType::f32)
        return;
    dispatch(shape_.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < shape_.height; ++y) {
            const T* row = frame.as<T>().row(y);
            for (int x = 0; x < shape_.width * shape_.channels; ++x)
                ++levels_[static_cast<std::size_t>(row[x])];
        }
    });
}

/// Against the frame before: repeats, and 8×8 blocks that a video codec copied.
void RecordingCheck::compare(const std::vector<float>& now) {
    ++pairs_;
    if (now == previous_) {
        ++repeats_;
        return;
    }
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        sum += std::abs(now[i] - previous_[i]);
        all += now[i];
    }
    changes_.push_back(all > 0 ? sum / all : 0);
    for (int top = 0; top + 8 <= shape_.height; top += 8)
        for (int left = 0; left + 8 <= shape_.width; left += 8) {
            int same = 0;
            bool constant = true;
            const float corner = now[index(left, top, shape_.width)];
            for (int y = top; y < top + 8; ++y)
                for (int x = left; x < left + 8; ++x) {
                    const std::size_t i = index(x, y, shape_.width);
                    same += now[i] == previous_[i] ? 1 : 0;
                    constant = constant && now[i] == corner;
                }
            if (constant)
                continue;
            ++blocks_;
            if (same == 64) {
                ++same_blocks_;
            } else {
                other_pixels_ += 64;
                same_pixels_ += static_cast<std::uint64_t>(same);
            }
        }
}

void RecordingCheck::measure_speckle(const std::vector<float>& now) {
    const Excerpt part = middle_of(now, shape_, 1);
    const int margin = std::min({kLags, part.width / 3, part.height / 3});
    for (int lag = 0; lag < std::min(kLags, margin + 1); ++lag)
        covariance_[static_cast<std::size_t>(lag)] +=
            (product(part, part, lag, 0, margin) + product(part, part, 0, lag, margin)) / 2;
    if (margin > 0)
        diagonal_ += product(part, part, 1, 1, margin);
    double third = 0;
    for (const float value : part.values)
        third += static_cast<double>(value) * value * value;
    third_ += part.values.empty() ? 0 : third / static_cast<double>(part.values.size());
}

void RecordingCheck::measure_blocks(const std::vector<float>& now) {
    const int step = std::max(1, shape_.height / kSide);
    const int wide = shape_.width / 8 * 8, high = shape_.height / 8 * 8;
    for (int y = 0; y < high; y += step)
        for (int x = 8; x < wide; ++x)
            across_[static_cast<std::size_t>(x % 8)] +=
                std::abs(now[index(x, y, shape_.width)] - now[index(x - 1, y, shape_.width)]);
    const int stride = std::max(1, shape_.width / kSide);
    for (int y = 8; y < high; ++y)
        for (int x = 0; x < wide; x += stride)
            down_[static_cast<std::size_t>(y % 8)] +=
                std::abs(now[index(x, y, shape_.width)] - now[index(x, y - 1, shape_.width)]);
}

/// Cosine coefficients of 8×8 blocks: JPEG rounds them to multiples of a step.
void RecordingCheck::measure_combs(const std::vector<float>& now) {
    constexpr std::array<std::array<int, 2>, 8> kWaves = {
        {{0, 1}, {1, 0}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}, {2, 2}}};
    constexpr std::size_t kMost = 6000;
    std::array<std::array<float, 8>, 3> cosine{};
    for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t x = 0; x < 8; ++x)
            cosine[k][x] = static_cast<float>((k == 0 ? std::sqrt(0.125) : 0.5) *
                                              std::cos((2.0 * static_cast<double>(x) + 1) *
                                                       static_cast<double>(k) * std::numbers::pi / 16));
    for (int top = 0; top + 8 <= shape_.height; top += 8)
        for (int left = 0; left + 8 <= shape_.width; left += 8) {
            if (coefficients_[0].size() >= kMost)
                return;
            for (std::size_t k = 0; k < kWaves.size(); ++k) {
                const auto& horizontal = cosine[static_cast<std::size_t>(kWaves[k][0])];
                const auto& vertical = cosine[static_cast<std::size_t>(kWaves[k][1])];
                float sum = 0;
                for (std::size_t y = 0; y < 8; ++y)
                    for (std::size_t x = 0; x < 8; ++x)
                        sum +=
                            vertical[y] * horizontal[x] *
                            now[index(left + static_cast<int>(x), top + static_cast<int>(y), shape_.width)];
                coefficients_[k].push_back(sum);
            }
        }
}

CheckReport RecordingCheck::report(const std::string& lossy) const {
    CheckReport report;
    report.facts.shape = shape_;
    report.facts.frames = frames_;
    if (frames_ == 0)
        return report;
    double mean = 0;
    for (const Burst& burst : bursts_)
        mean += mean_of(burst.means) * burst.frames;
    report.facts.mean = mean / frames_;
    find_levels(report);
    find_saturation(report);
    find_speckle(report);
    find_black(report);
    if (mosaic_ > 1)
        report.findings.push_back(
            {"mosaic", Sure::likely, mosaic_,
             print("one of each 2×2 pixels is %.3g times as bright as another: a colour sensor's mosaic",
                   mosaic_),
             "K is too high", "Give ?bayer=rggb, grbg, gbrg or bggr, or use the one lit channel"});
    find_repeats(report);
    find_times(report);
    find_light(report);
    find_motion(report);
    find_change(report);
    find_lossy(report, lossy);
    return report;
}

void RecordingCheck::find_levels(CheckReport& report) const {
    if (shape_.type == PixelType::f32) {
        report.facts.least = *std::min_element(previous_.begin(), previous_.end());
        report.facts.greatest = *std::max_element(previous_.begin(), previous_.end());
        return;
    }
    unsigned common = 0;
    int least = -1, greatest = 0;
    for (int level = 0; level < kLevels; ++level)
        if (levels_[static_cast<std::size_t>(level)] > 0) {
            common = std::gcd(common, static_cast<unsigned>(level));
            least = least < 0 ? level : least;
            greatest = level;
        }
    report.facts.least = least;
    report.facts.greatest = greatest;
    int low_bits = 0; // that are always 0
    while (greatest > 0 && common % (2U << low_bits) == 0)
        ++low_bits;
    int bits = 0;
    while ((greatest >> bits) > 0)
        ++bits;
    report.facts.bits = bits - low_bits;
    const int type_bits = shape_.type == PixelType::u8 ? 8 : 16;
    // One value alone proves nothing: at least four steps must be used.
    if (low_bits > 0 && greatest - least >= 4 * static_cast<int>(common))
        report.findings.push_back(
            {"alignment", Sure::certain, static_cast<double>(low_bits),
             print("all values are multiples of %.0f: %.0f bits, moved up", 1U << low_bits, bits - low_bits),
             "None on K itself; gain and read noise in DN are too high by this factor",
             bits == type_bits ? "Nothing for K. For noise correction use the values as they are"
                               : "Give ?full_scale= if the camera's largest value is not found"});
}

/// A pile-up: more samples at the largest value than three times the mean of the levels just below it.
void RecordingCheck::find_saturation(CheckReport& report) const {
    if (shape_.type == PixelType::f32)
        return;
    const int top = static_cast<int>(report.facts.greatest);
    std::uint64_t total = 0, below = 0;
    for (const std::uint64_t count : levels_)
        total += count;
    int used = 0;
    for (int level = top - 1; level >= std::max(0, top - 4096) && used < 8; --level)
        if (levels_[static_cast<std::size_t>(level)] > 0) {
            below += levels_[static_cast<std::size_t>(level)];
            ++used;
        }
    const std::uint64_t at_top = levels_[static_cast<std::size_t>(top)];
    const double share = static_cast<double>(at_top) / static_cast<double>(total);
    if (used < 2 || share < 5e-5 || at_top < 8 || at_top * static_cast<std::uint64_t>(used) < 3 * below)
        return;
    report.findings.push_back(
        {"saturation", top == static_cast<int>(full_scale_) ? Sure::certain : Sure::likely, share,
         print("%.3g %% of the samples pile up at %.0f", 100 * share, top) +
             (top < static_cast<int>(type_full_scale(shape_.type)) && top != static_cast<int>(full_scale_)
                  ? ", below the " + print("%.0f", type_full_scale(shape_.type)) + " of the sample type"
                  : ""),
         "K is too low where it is bright", "Use less light or a shorter exposure"});
}

void RecordingCheck::find_speckle(CheckReport& report) const {
    CheckFacts& facts = report.facts;
    facts.contrast = std::sqrt(std::max(0.0, covariance_[0] / frames_));
    const double noise = 1 / std::sqrt(static_cast<double>(std::min(shape_.width, kSide)) *
                                       std::min(shape_.height, kSide) * std::min(frames_, 4));
    const double near = covariance_[0] > 0 ? covariance_[1] / covariance_[0] : 0;
    if (!(covariance_[0] > 0) || near < std::max(0.03, 5 * noise)) {
        report.findings.push_back(
            {"empty", covariance_[0] > 0 ? Sure::likely : Sure::certain, near,
             print("no speckle: K is %.2g, and neighbouring pixels are correlated by %.2g", facts.contrast,
                   near),
             "K is only noise", "Check laser, lens cap and focus"});
        return;
    }
    const Speckle speckle = fitted_speckle(covariance_, diagonal_);
    facts.speckle_px = speckle.size;
    facts.beta = speckle.beta;
    if (facts.speckle_px < 1.85) // Nyquist asks for 2 px; estimates scatter by 0.1 px
        report.findings.push_back(
            {"speckle", Sure::likely, facts.speckle_px,
             print("speckle is %.2g px wide, below 2 px (Nyquist)", facts.speckle_px),
             print("K is at most %.2g times that of large speckle", std::sqrt(facts.beta)),
             "Close the lens's aperture or go nearer"});
    if (shape_.type == PixelType::f32)
        return;
    double step = 0; // mean distance of the levels within the middle of the range
    int used = 0;
    const int low = static_cast<int>(facts.mean * (1 - facts.contrast));
    const int high = std::min(kLevels - 1, static_cast<int>(facts.mean * (1 + facts.contrast)) + 1);
    for (int level = std::max(0, low); level <= high; ++level)
        used += levels_[static_cast<std::size_t>(level)] > 0 ? 1 : 0;
    step = static_cast<double>(high - std::max(0, low) + 1) / std::max(1, used);
    const double share = step * step / 12 / std::pow(facts.mean * facts.contrast, 2);
    if (share > 0.05)
        report.findings.push_back(
            {"levels", Sure::certain, share,
             print("the values have steps of %.3g DN: rounding is %.2g %% of K²", step, 100 * share),
             "K is too high where it is dark or moves fast",
             "Use more bits or more light; correct with quantisation noise"});
}

/// Skewness of a gamma distribution is 2K and does not change with an offset b, while K becomes K(1 − b/⟨I⟩).
/// Speckle with one decay time has up to 3K, which hides up to a third of the mean.
void RecordingCheck::find_black(CheckReport& report) const {
    const CheckFacts& facts = report.facts;
    const double variance = covariance_[0] / frames_, third = third_ / frames_;
    if (!(variance > 0) || facts.speckle_px == 0)
        return;
    const double skewness = third / std::pow(variance, 1.5);
    const double black = skewness > 0 ? facts.mean * (1 - 2 * facts.contrast / skewness) : 0;
    std::uint64_t total = 0, seen = 0;
    for (const std::uint64_t count : levels_)
        total += count;
    double floor = facts.least; // that 99.99 % of the samples exceed
    if (shape_.type != PixelType::f32)
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            seen += levels_[level];
            if (static_cast<double>(seen) > 1e-4 * static_cast<double>(total)) {
                floor = static_cast<double>(level);
                break;
            }
        }
    if (black > 0.5 * facts.mean && floor > 0.2 * facts.mean)
        report.findings.push_back(
            {"black", Sure::possible, std::min(black, floor),
             print("values begin at %.4g DN with a mean of %.4g: a black level", floor, facts.mean),
             print("K is up to %.2g times too low", facts.mean / std::max(1e-9, facts.mean - floor)),
             "Record without light, and subtract it: stage background"});
    if (shape_.type == PixelType::f32)
        return;
    double above = 0;
    for (std::size_t level = 1; level <= 8; ++level)
        above += static_cast<double>(levels_[level]) / 8;
    const double share = static_cast<double>(levels_[0]) / static_cast<double>(total);
    if (share > 1e-3 && static_cast<double>(levels_[0]) > 6 * above)
        report.findings.push_back({"clipped", Sure::likely, share,
                                   print("%.3g %% of the samples are cut off at 0", 100 * share),
                                   "K is wrong where it is dark", "Raise the camera's black level"});
}

void RecordingCheck::find_repeats(CheckReport& report) const {
    // A frame that hardly differs from the one before, while others do: a copy that a codec passed on. A
    // twentieth of the usual change: noise alone keeps real frames above a half.
    int copies = repeats_;
    const double usual = middle_value(changes_);
    for (const double change : changes_)
        copies += change < 0.05 * usual ? 1 : 0;
    if (pairs_ == 0 || copies == 0)
        return;
    if (repeats_ == pairs_)
        report.findings.push_back({"still", Sure::certain, static_cast<double>(pairs_),
                                   "all frames are the same image", "Contrast over time is 0",
                                   "Record a series, or use spatial contrast"});
    else
        report.findings.push_back({"repeated", repeats_ > 0 ? Sure::certain : Sure::likely,
                                   static_cast<double>(copies) / pairs_,
                                   print("%.0f of %.0f frames repeat the one before", copies, pairs_),
                                   "Contrast over time is too low, and times are wrong",
                                   "Record at the camera's own rate, without a screen recorder"});
}

void RecordingCheck::find_times(CheckReport& report) const {
    std::vector<double> gaps;
    double missing = 0;
    int backward = 0;
    for (const Burst& burst : bursts_)
        for (std::size_t i = 1; i < burst.times_s.size(); ++i) {
            if (burst.sequence[i] > burst.sequence[i - 1] + 1)
                missing += static_cast<double>(burst.sequence[i] - burst.sequence[i - 1] - 1);
            if (!timed_)
                continue;
            gaps.push_back(burst.times_s[i] - burst.times_s[i - 1]);
            backward += gaps.back() <= 0 ? 1 : 0;
        }
    const double usual = middle_value(gaps);
    if (usual > 0)
        report.facts.rate_hz = 1 / usual;
    std::vector<double> regular;
    double by_time = 0;
    for (const double gap : gaps)
        if (usual > 0 && gap > 1.6 * usual)
            by_time += std::round(gap / usual) - 1;
        else
            regular.push_back(gap);
    missing = std::max(missing, by_time);
    if (missing > 0)
        report.findings.push_back(
            {"missing", Sure::likely, missing,
             print("%.0f frames are missing in the %.0f that were looked at", missing, frames_),
             "Contrast over time mixes longer intervals; pulses are distorted",
             "Use a faster disk or link, or a lower rate"});
    if (backward > 0)
        report.findings.push_back({"clock", Sure::certain, static_cast<double>(backward),
                                   print("times stop or go back %.0f times", backward),
                                   "Nothing in K; rates and pulses are wrong", "Give the true rate: ?rate="});
    // Half the intervals within 5 % is what software timers reach; cameras are below 0.1 %.
    const double jitter = usual > 0 ? deviation_of(regular) / usual : 0;
    if (backward == 0 && regular.size() > 4 && jitter > 0.05)
        report.findings.push_back({"clock", Sure::likely, jitter,
                                   print("intervals of frames vary by %.2g %%", 100 * jitter),
                                   "Nothing in K; rates and pulses are distorted",
                                   "Use the camera's clock, or a hardware trigger"});
}

void RecordingCheck::find_light(CheckReport& report) const {
    std::vector<double> means, exposures;
    for (const Burst& burst : bursts_) {
        means.insert(means.end(), burst.means.begin(), burst.means.end());
        for (const double exposure : burst.exposures)
            if (std::isfinite(exposure))
                exposures.push_back(exposure);
    }
    const auto [shortest, longest] = std::minmax_element(exposures.begin(), exposures.end());
    const bool stated = !exposures.empty() && *longest > 1.001 * *shortest;
    if (stated)
        report.findings.push_back({"exposure", Sure::certain, *longest / *shortest,
                                   print("exposures of %.4g to %.4g ms", *shortest, *longest),
                                   "K of different exposures must not be averaged",
                                   "Turn automatic exposure off, or use a multi-exposure model"});
    const double mean = mean_of(means);
    if (stated || !(mean > 0) || means.size() < 4)
        return;
    // Speckle itself changes the mean by K over the root of the number of speckles; a change that all tiles
    // share is light.
    const double expected = report.facts.contrast * std::max(1.0, report.facts.speckle_px) /
                            std::sqrt(static_cast<double>(shape_.pixels()));
    const double spread = deviation_of(means) / mean;
    double squares = 0, largest = 0, count = 0;
    for (const Burst& burst : bursts_)
        for (const double change : burst.common_changes) {
            squares += change * change;
            largest = std::max(largest, std::abs(change));
            ++count;
        }
    const bool shared = count > 0 && (squares / count > 2 * 2 || largest > 7);
    if (spread < 0.005 || (!shared && spread < 5 * expected))
        return;
    double explained = 0, step = 0;
    for (std::size_t cut = 2; cut + 2 <= means.size(); ++cut) {
        const auto middle = means.begin() + static_cast<std::ptrdiff_t>(cut);
        const double before = mean_of({means.begin(), middle}), after = mean_of({middle, means.end()});
        const double n = static_cast<double>(means.size()), k = static_cast<double>(cut);
        const double part = k * (n - k) / n * std::pow(after - before, 2);
        if (part > explained) {
            explained = part;
            step = after / before;
        }
    }
    explained /= std::pow(spread * mean, 2) * static_cast<double>(means.size() - 1);
    if (explained > 0.85 && std::abs(step - 1) > 0.03)
        report.findings.push_back(
            {"exposure", Sure::likely, step, print("the mean changes once, to %.3g times", step),
             "If the exposure changed, K changes with it", "Turn automatic exposure and gain off"});
    else
        report.findings.push_back({"flicker", spread > 5 * expected ? Sure::likely : Sure::possible, spread,
                                   print("the mean of the frames varies by %.2g %%", 100 * spread),
                                   print("K² over time is too high by %.2g", spread * spread),
                                   "Stabilise the laser and shield other light; compare spatial contrast"});
}

void RecordingCheck::find_motion(CheckReport& report) const {
    std::vector<double> xs, ys;
    int unsure = 0, moved = 0; // steps
    double correlation = 0;
    for (const Burst& burst : bursts_)
        for (const Shift& step : burst.steps) {
            if (step.sure()) {
                xs.push_back(step.x * bin_);
                ys.push_back(step.y * bin_);
                correlation += step.peak;
                moved += step.moved() ? 1 : 0;
            } else {
                ++unsure;
            }
        }
    const auto sure = static_cast<double>(xs.size());
    report.facts.correlation = sure + unsure > 0 ? correlation / (sure + unsure) : 0;
    Shift far; // over a burst, and between the means of the bursts
    for (const Burst& burst : bursts_)
        for (const Excerpt* other : {&burst.last, &bursts_.back().sum}) {
            if (burst.frames < 2)
                continue;
            const Shift shift = find_shift(other == &burst.last ? burst.first : burst.sum, *other);
            if (shift.moved() && std::hypot(shift.x, shift.y) > std::hypot(far.x, far.y))
                far = shift;
        }
    const double shake = xs.size() < 3 ? 0 : std::hypot(deviation_of(xs), deviation_of(ys));
    const double drift = xs.size() < 3 ? 0 : std::hypot(middle_value(xs), middle_value(ys));
    const double distance = std::hypot(far.x, far.y) * bin_;
    if (drift > 0.25 || distance > 0.5)
        report.findings.push_back(
            {"drift", Sure::likely, std::max(drift, distance),
             drift > 0.25 ? print("the image moves by %.2g px a frame", drift)
                          : print("the image moves by %.2g px between the frames looked at", distance),
             "Contrast over time is too high, maps are blurred",
             "Fix camera and subject, or register frames"});
    if (shake > 0.4 && moved * 4 >= static_cast<int>(xs.size())) // not the noise of a weak peak
        report.findings.push_back({"shake", Sure::likely, shake,
                                   print("the image shakes by %.2g px from frame to frame", shake),
                                   "Contrast over time is too high, maps are blurred",
                                   "Fix camera and subject, or register frames"});
}

/// Change of light in 8×8 tiles between the first and the last third of the frames. Speckle changes each tile
/// on its own, an object changes neighbours alike: the mean of 3×3 tiles is compared with what independent
/// tiles would give.
void RecordingCheck::find_change(CheckReport& report) const {
    Tiles first{}, last{};
    const int third = std::max(1, frames_ / 3);
    int number = 0;
    for (const Burst& burst : bursts_)
        for (const Tiles& tiles : burst.tiles) {
            for (std::size_t i = 0; i < tiles.size(); ++i) {
                first[i] += number < third ? tiles[i] : 0;
                last[i] += number >= frames_ - third ? tiles[i] : 0;
            }
            ++number;
        }
    std::vector<double> changes, steps;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!(first[i] > 0) || !(last[i] > 0))
            return;
        changes.push_back(std::log(last[i] / first[i]));
    }
    for (int y = 0; y < kTiles; ++y)
        for (int x = 0; x + 1 < kTiles; ++x) {
            steps.push_back(std::abs(changes[index(x, y, kTiles)] - changes[index(x + 1, y, kTiles)]));
            steps.push_back(std::abs(changes[index(y, x, kTiles)] - changes[index(y, x + 1, kTiles)]));
        }
    const double noise = middle_value(steps) / 0.6745 / std::numbers::sqrt2; // standard deviation of a tile
    const double usual = middle_value(changes);
    double largest = 0;
    for (int y = 1; y + 1 < kTiles; ++y)
        for (int x = 1; x + 1 < kTiles; ++x) {
            double sum = 0;
            for (int j = y - 1; j <= y + 1; ++j)
                for (int i = x - 1; i <= x + 1; ++i)
                    sum += (changes[index(i, j, kTiles)] - usual) / 9;
            if (std::abs(sum) > std::abs(largest))
                largest = sum;
        }
    if (std::abs(largest) > std::max(0.05, 4 * noise / 3))
        report.findings.push_back(
            {"scene", Sure::likely, largest,
             print("a part of the image has %.2g times its light at the end", std::exp(largest)),
             "Averages mix different scenes", "Analyse the parts one by one: --from, --frames"});
}

void RecordingCheck::find_lossy(CheckReport& report, const std::string& lossy) const {
    const auto edge = [](const std::array<double, 8>& by_phase) {
        const std::vector<double> others(by_phase.begin() + 1, by_phase.end());
        const double mean = mean_of(others);
        return std::array{mean > 0 ? by_phase[0] / mean - 1 : 0,
                          (by_phase[0] - mean) / std::max(1e-12, deviation_of(others))};
    };
    const auto [across, across_z] = edge(across_);
    const auto [down, down_z] = edge(down_);
    const bool blocky = across > 0.015 && down > 0.015 && across_z > 4 && down_z > 4;
    int combs = 0;
    for (const std::vector<float>& coefficients : coefficients_) {
        const std::vector<double> values(coefficients.begin(), coefficients.end());
        const double spread = deviation_of(values);
        bool comb = false;
        const auto count = static_cast<double>(values.size());
        for (int q = 1; q <= 40 && spread > 1.5 * q && values.size() >= 256 && !comb; ++q) {
            double real = 0, imaginary = 0;
            for (const double value : values) {
                real += std::cos(2 * std::numbers::pi * value / q);
                imaginary += std::sin(2 * std::numbers::pi * value / q);
            }
            // Rounding to whole values leaves 0.19 of a step of 1, and 0.66 of a step of 2.
            comb = std::hypot(real, imaginary) > (q == 1 ? 5 * std::sqrt(count) : 0.35 * count);
        }
        combs += comb ? 1 : 0;
    }
    const double copied = blocks_ > 0 ? static_cast<double>(same_blocks_) / static_cast<double>(blocks_) : 0;
    const double equal =
        other_pixels_ > 0 ? static_cast<double>(same_pixels_) / static_cast<double>(other_pixels_) : 1;
    const bool copies = copied > 0.02 && equal < 0.3;
    if (lossy.empty() && !blocky && combs < 3 && !copies)
        return;
    std::string text = lossy.empty() ? "the frames were compressed with loss" : lossy + " is a lossy codec";
    if (combs >= 3)
        text += ": coefficients of 8×8 blocks are rounded, as by JPEG";
    else if (blocky)
        text += print(": edges of 8×8 blocks are %.2g %% stronger", 100 * std::max(across, down));
    else if (copies)
        text += print(": %.2g %% of the 8×8 blocks are copied from the frame before", 100 * copied);
    report.findings.push_back({"lossy", lossy.empty() ? Sure::likely : Sure::certain, std::max(across, down),
                               text, "K is too low by an unknown amount",
                               "Record raw, TIFF or FFV1 in Matroska"});
}

} // namespace specklescope
