#include "analysis/vessel_width.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

namespace specklescope {

namespace {

// Parameters: baseline, depth, centre (px), ln(width/px), ln(u).
constexpr int kBaseline = 0, kDepth = 1, kCentre = 2, kWidth = 3, kEdge = 4, kCount = 5;
using Vector = Eigen::Matrix<double, kCount, 1>;
using Matrix = Eigen::Matrix<double, kCount, kCount>;

constexpr double kLeastU = 0.1; // a Gaussian to 1e-3
/// In steps. Interpolation between pixels is by itself a blur with a variance of 1/6 step.
constexpr double kLeastSigma = 0.4;
constexpr double kLeastInSteps = 0.5; // width

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double below(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// Half of the width at half depth in units of σ, and its derivative.
struct HalfWidth {
    double t, slope;
};
HalfWidth half_width(double u) {
    double t = std::max(u, std::sqrt(2 * std::numbers::ln2)); // both limits
    const double half = below(u) - 0.5;
    for (int i = 0; i < 20; ++i) {
        const double step = (below(t + u) - below(t - u) - half) / (density(t + u) - density(t - u));
        t -= step;
        if (std::abs(step) < 1e-13 * t)
            break;
    }
    const double sum = density(t + u) + density(t - u), difference = density(t + u) - density(t - u);
    return {t, (density(u) - sum) / difference};
}

struct Sample {
    double at, value;
};

/// The curve for one set of parameters.
class Curve {
public:
    explicit Curve(const Vector& p)
        : p_(p), u_(std::exp(p[kEdge])), width_(std::exp(p[kWidth])), half_(half_width(u_)),
          sigma_(width_ / (2 * half_.t)), scale_(1 / (2 * below(u_) - 1)) {}

    double sigma() const { return sigma_; }
    double value(double at) const { return p_[kBaseline] + p_[kDepth] * shape((at - p_[kCentre]) / sigma_); }
    /// Also returns the value.
    Vector gradient(double at, double& value) const {
        const double x = (at - p_[kCentre]) / sigma_;
        const double up = density(x + u_), down = density(x - u_), g = shape(x);
        value = p_[kBaseline] + p_[kDepth] * g;
        const double by_x = (up - down) * scale_; // of the shape, in units of σ
        const double by_log_sigma = -x * by_x;    // σ·∂/∂σ
        const double by_u = (up + down) * scale_ - 2 * density(u_) * scale_ * g;
        Vector d;
        d[kBaseline] = 1;
        d[kDepth] = g;
        d[kCentre] = -p_[kDepth] * by_x / sigma_;
        d[kWidth] = p_[kDepth] * by_log_sigma;
        d[kEdge] = p_[kDepth] * u_ * (by_u - by_log_sigma * half_.slope / half_.t);
        return d;
    }

private:
    double shape(double x) const { return (below(x + u_) - below(x - u_)) * scale_; }

    Vector p_;
    double u_, width_;
    HalfWidth half_;
    double sigma_, scale_;
};

double squares(const std::vector<Sample>& samples, const Vector& p) {
    const Curve curve(p);
    double sum = 0;
    for (const Sample& s : samples) {
        const double off = s.value - curve.value(s.at);
        sum += off * off;
    }
    return sum;
}

class Fit {
public:
    Fit(const std::vector<Sample>& samples, double spacing)
        : samples_(samples), spacing_(spacing), length_(samples.back().at) {}

    /// False if the iteration does not converge.
    bool run(const Vector& start) {
        constexpr int kMost = 200;
        p_ = inside(start);
        best_ = squares(samples_, p_);
        double damping = 1e-3;
        for (int i = 0; i < kMost; ++i) {
            linearise();
            hold_at_limits();
            bool better = false;
            while (!better && damping < 1e12) {
                Matrix damped = normal_;
                damped.diagonal() +=
                    damping * normal_.diagonal() + Vector::Constant(1e-14 * normal_.diagonal().maxCoeff());
                const Vector next = inside(p_ + damped.ldlt().solve(slope_));
                const double sum = squares(samples_, next);
                better = sum < best_;
                if (!better) {
                    damping *= 10;
                    continue;
                }
                // The remaining gain is far below the standard deviations.
                const bool settled = best_ - sum <= 1e-6 * best_;
                p_ = next;
                best_ = sum;
                damping = std::max(1e-12, damping / 10);
                if (settled)
                    return true;
            }
            if (!better) // converged to the last digit
                return true;
        }
        return false;
    }

    const Vector& parameters() const { return p_; }
    double squares_left() const { return best_; }

    /// Row and column are 0 for parameters at a limit. Nothing if it cannot be computed.
    std::optional<Matrix> covariance() {
        linearise();
        Vector scale;
        for (int i = 0; i < kCount; ++i)
            scale[i] = normal_(i, i) > 0 && !at_limit(i) ? 1 / std::sqrt(normal_(i, i)) : 0;
        Matrix scaled = scale.asDiagonal() * normal_ * scale.asDiagonal();
        for (int i = 0; i < kCount; ++i)
            if (scale[i] == 0)
                scaled(i, i) = 1;
        const Eigen::LLT<Matrix> factors(scaled);
        if (factors.info() != Eigen::Success)
            return std::nullopt;
        const Matrix inverse = scale.asDiagonal() * factors.solve(Matrix::Identity()) * scale.asDiagonal();
        const double variance = best_ / (static_cast<double>(samples_.size()) - kCount);
        Matrix correlated = inverse * noise_in_slopes() * inverse;
        for (int i = 0; i < kCount; ++i) // at least a quarter of that of uncorrelated noise
            correlated(i, i) = std::max(correlated(i, i), 0.25 * inverse(i, i));
        return Matrix(variance * correlated);
    }

private:
    Vector inside(Vector p) const {
        p[kCentre] = std::clamp(p[kCentre], 0.0, length_);
        p[kWidth] = std::clamp(p[kWidth], std::log(kLeastInSteps * spacing_), std::log(2 * length_));
        p[kEdge] = std::clamp(p[kEdge], std::log(kLeastU), most_edge(p));
        return p;
    }
    double most_edge(const Vector& p) const {
        return std::log(std::max(2 * kLeastU, std::exp(p[kWidth]) / (2 * kLeastSigma * spacing_)));
    }
    bool at_limit(int i) const {
        return i == kEdge && (p_[kEdge] <= std::log(kLeastU) + 1e-9 || p_[kEdge] >= most_edge(p_) - 1e-9);
    }

    /// A parameter that the gradient leads beyond its limit is fixed for this step.
    void hold_at_limits() {
        for (const int i : {kWidth, kEdge, kCentre}) {
            Vector beyond = p_;
            beyond[i] += slope_[i] > 0 ? 1e-6 : -1e-6;
            if (inside(beyond)[i] == beyond[i])
                continue;
            normal_.row(i).setZero();
            normal_.col(i).setZero();
            normal_(i, i) = 1;
            slope_[i] = 0;
        }
    }

    void linearise() {
        const Curve curve(p_);
        normal_.setZero();
        slope_.setZero();
        for (const Sample& s : samples_) {
            double value = 0;
            const Vector d = curve.gradient(s.at, value);
            normal_ += d * d.transpose();
            slope_ += d * (s.value - value);
        }
    }

    /// JᵀRJ with the autocorrelation R of the residuals, up to the first negative lag.
    Matrix noise_in_slopes() const {
        const Curve curve(p_);
        std::vector<double> off;
        std::vector<Vector> slopes;
        for (const Sample& s : samples_) {
            double value = 0;
            slopes.push_back(curve.gradient(s.at, value));
            off.push_back(s.value - value);
        }
        Matrix sum = normal_;
        for (std::size_t lag = 1; lag < off.size() / 4; ++lag) {
            double product = 0;
            for (std::size_t i = lag; i < off.size(); ++i)
                product += off[i] * off[i - lag];
            if (!(product > 0))
                break;
            Matrix pairs = Matrix::Zero();
            for (std::size_t i = lag; i < off.size(); ++i)
                pairs += slopes[i] * slopes[i - lag].transpose();
            sum += product / best_ * (pairs + pairs.transpose());
        }
        return sum;
    }

    const std::vector<Sample>& samples_;
    double spacing_, length_;
    Vector p_ = Vector::Zero();
    double best_ = 0;
    Matrix normal_ = Matrix::Zero();
    Vector slope_ = Vector::Zero();
};

/// The box that explains most, among all; for many samples, of means over some.
struct DipBox {
    double baseline, depth, begin, end;
};
DipBox best_box(const std::vector<Sample>& samples) {
    constexpr std::size_t kMost = 256;
    const std::size_t group = (samples.size() + kMost - 1) / kMost;
    std::vector<double> sums = {0};
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        sum += samples[i].value;
        if ((i + 1) % group == 0 || i + 1 == samples.size())
            sums.push_back(sum);
    }
    const auto count = static_cast<double>(samples.size());
    DipBox best{sum / count, 0, 0, samples.back().at};
    double most = -1;
    for (std::size_t a = 0; a + 1 < sums.size(); ++a)
        for (std::size_t b = a + 1; b < sums.size(); ++b) {
            const double inside = static_cast<double>(std::min(b * group, samples.size()) - a * group);
            if (inside < 2 || count - inside < 4)
                continue;
            const double part = sums[b] - sums[a], off = part - sum * inside / count;
            const double explained = off * off * count / (inside * (count - inside));
            if (explained > most) {
                most = explained;
                const double outside = (sum - part) / (count - inside);
                best = {outside, part / inside - outside, samples[a * group].at,
                        samples[std::min(b * group, samples.size()) - 1].at};
            }
        }
    return best;
}

} // namespace

const char* to_string(WidthFit fit) {
    switch (fit) {
    case WidthFit::ok:
        return "ok";
    case WidthFit::too_few:
        return "too few values";
    case WidthFit::no_vessel:
        return "no vessel";
    case WidthFit::cut_off:
        return "cut off";
    case WidthFit::not_settled:
        break;
    }
    return "not settled";
}

VesselWidth fit_vessel_width(std::span<const double> values, double spacing) {
    VesselWidth result;
    std::vector<Sample> samples;
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i])) {
            samples.push_back({static_cast<double>(i) * spacing, values[i]});
            largest = std::max(largest, std::abs(values[i]));
        }
    if (samples.size() < kLeastWidthSamples || !(spacing > 0))
        return result;
    double mean = 0, variance = 0;
    for (const Sample& s : samples)
        mean += s.value / static_cast<double>(samples.size());
    for (const Sample& s : samples)
        variance += (s.value - mean) * (s.value - mean);
    result.fit = WidthFit::no_vessel;
    if (!(variance > 1e-24 * largest * largest)) // constant, up to rounding
        return result;

    const DipBox box = best_box(samples);
    std::optional<Fit> best;
    bool settled = false;
    for (const double sigma : {1.0, 3.0}) { // steps; the second only if the first fails
        if (settled)
            break;
        Vector start;
        const double width = std::max(box.end - box.begin, spacing);
        start << box.baseline, box.depth, (box.begin + box.end) / 2, std::log(width),
            std::log(width / (2 * sigma * spacing));
        Fit fit(samples, spacing);
        settled = fit.run(start);
        if (settled || !best || fit.squares_left() < best->squares_left())
            best.emplace(fit);
    }
    const std::optional<Matrix> covariance = best->covariance();
    if (!covariance) {
        result.fit = WidthFit::not_settled;
        return result;
    }
    const Vector& p = best->parameters();
    const double width = std::exp(p[kWidth]), depth_std = std::sqrt((*covariance)(kDepth, kDepth));
    result.fit = !(std::abs(p[kDepth]) >= least_depth(samples.size()) * depth_std) ? WidthFit::no_vessel
                 : !settled                                                        ? WidthFit::not_settled
                 : p[kCentre] - width / 2 < samples.front().at || p[kCentre] + width / 2 > samples.back().at
                     ? WidthFit::cut_off
                     : WidthFit::ok;
    if (result.fit != WidthFit::ok)
        return result;
    result.width = width;
    result.width_std = width * std::sqrt((*covariance)(kWidth, kWidth));
    result.centre = p[kCentre];
    result.centre_std = std::sqrt((*covariance)(kCentre, kCentre));
    result.baseline = p[kBaseline];
    result.depth = p[kDepth];
    result.edge = Curve(p).sigma();
    result.r2 = 1 - best->squares_left() / variance;
    return result;
}

} // namespace specklescope
