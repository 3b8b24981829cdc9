// Tables that convert K² to x = T/τc by a model. With the field correlation g(t) = exp(−(t/τc)ⁿ) and the
// dynamic part ρ of the light,
//   K²/β = ∫ 2(1 − u)·[ρ²g² + 2ρ(1 − ρ)g + (1 − ρ)²] du,  g = exp(−(xu)ⁿ),  u from 0 to 1
// (Parthasarathy 2008; docs/science.md). One quadrature serves every n; the velocity model has the weight 1.
#include "stages/flow/flow.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

/// Gauss–Legendre quadrature with 8 points on [−1, 1]: the positive half.
constexpr std::array<double, 4> kPoints = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                           0.9602898564975363};
constexpr std::array<double, 4> kWeights = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                            0.1012285362903763};

/// y = 1 at x = 0, and falls to 0. Both are exact where they are small.
struct Part {
    double y = 0, rest = 1; ///< rest = 1 − y
};

class Curve {
public:
    explicit Curve(const FlowParams& params) : velocity_(params.model == FlowModel::velocity) {
        n_ = params.model == FlowModel::gaussian ? 2 : params.model == FlowModel::sqrt ? 0.5 : 1;
        power_ = params.model == FlowModel::gaussian ? 0.5 : params.model == FlowModel::sqrt ? 2 : 1;
        dynamic_ = velocity_ ? 1 : 1 - params.fixed_part;
    }

    Part at(double x) const {
        // Beyond this u, g² and g add less than a double resolves. The square puts points near u = 0.
        const double end = std::min(1.0, std::pow(kNoField, 1 / n_) / x);
        double field = 0;
        double lost = 0;
        for (int panel = 0; panel < kPanels; ++panel)
            for (std::size_t i = 0; i < 2 * kPoints.size(); ++i) {
                const double point = i % 2 == 0 ? kPoints[i / 2] : -kPoints[i / 2];
                const double t = (panel + 0.5 + 0.5 * point) / kPanels;
                const double u = end * t * t;
                const double weight =
                    kWeights[i / 2] / kPanels * end * t * (velocity_ ? 1.0 : 2 * (1 - u)); // du = 2·end·t·dt
                const double exponent = -std::pow(x * u, n_);
                const double g = std::exp(exponent);
                const double mixed = 2 * dynamic_ * (1 - dynamic_);
                field += weight * (dynamic_ * dynamic_ * g * g + mixed * g);
                lost -=
                    weight * (dynamic_ * dynamic_ * std::expm1(2 * exponent) + mixed * std::expm1(exponent));
            }
        const double whole = 1 - (1 - dynamic_) * (1 - dynamic_);
        return field < whole / 2 ? Part{field / whole, 1 - field / whole}
                                 : Part{1 - lost / whole, lost / whole};
    }

    /// h of this x, which is not 0.
    double h(double x) const {
        const Part part = at(x);
        return x * part.y / std::pow(part.rest, power_);
    }

    /// h where y is the value. `near`: h at a y nearby.
    double h_of(double y, double near) const {
        // The secant of y in log x converges in three steps or so.
        double log_x = std::log(near * std::pow(1 - y, power_) / y);
        double error = at(std::exp(log_x)).y - y;
        double before = log_x - 1e-3;
        double error_before = at(std::exp(before)).y - y;
        for (int step = 0; step < 30 && std::abs(error) > 1e-13 && error != error_before; ++step) {
            const double next = log_x - error * (log_x - before) / (error - error_before);
            before = std::exchange(log_x, next);
            error_before = std::exchange(error, at(std::exp(log_x)).y - y);
        }
        return h(std::exp(log_x));
    }

    double power() const { return power_; }

private:
    static constexpr int kPanels = 8;
    static constexpr double kNoField = 40; ///< exp(−40) is 4e-18
    bool velocity_;
    double n_, power_, dynamic_;
};

/// Writes the kFlowSteps + 1 values of one table.
void write_table(const FlowParams& params, float* table) {
    const Curve curve(params);
    double h = curve.h(1e12);
    table[0] = static_cast<float>(h);
    for (int i = 1; i < kFlowSteps; ++i) {
        h = curve.h_of(static_cast<double>(i) / kFlowSteps, h);
        table[i] = static_cast<float>(h);
    }
    table[kFlowSteps] = static_cast<float>(curve.h(std::pow(1e-9, curve.power()))); // 1 − y: about 1e-9
}

} // namespace

std::vector<float> flow_table(const FlowParams& params) {
    if (params.model == FlowModel::simplified)
        return {};
    const int tables = has_static_map(params) ? kStaticSteps + 1 : 1;
    std::vector<float> values(static_cast<std::size_t>(tables) * (kFlowSteps + 1));
    for_bands(tables, tables, parallel_threads(), [&](Band which, int) {
        for (int i = which.begin; i < which.end; ++i) {
            FlowParams one = params;
            if (tables > 1) // without moving light there is no curve, but a limit
                one.fixed_part = std::min(static_cast<double>(i) / kStaticSteps, 1 - 1e-6);
            write_table(one, values.data() + static_cast<std::ptrdiff_t>(i) * (kFlowSteps + 1));
        }
    });
    return values;
}

} // namespace specklescope
