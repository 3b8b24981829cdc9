#include "sources/synthetic/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {

constexpr double kForgotten = 6; ///< correlation times after which fields are independent: |e^{−6}|² = 6e-6
constexpr int kMaxLevels = 40;
constexpr std::uint64_t kEnds = std::uint64_t{1} << 63; ///< + number: the field at the end of an exposure

/// Adds weight·from to each term of `to`.
void add(const std::vector<std::vector<double>>& from, const std::vector<double>& weight,
         std::vector<std::vector<double>>& to) {
    to.resize(std::max(to.size(), from.size()), std::vector<double>(weight.size(), 0.0));
    for (std::size_t i = 0; i < from.size(); ++i)
        for (std::size_t c = 0; c < weight.size(); ++c)
            to[i][c] += weight[c] * from[i][c];
}

} // namespace

Evolution::Evolution(std::vector<double> rates, double interval_s)
    : rates_(std::move(rates)), interval_(interval_s) {
    double slowest = std::numeric_limits<double>::infinity();
    for (const double rate : rates_)
        slowest = rate > 0 ? std::min(slowest, rate) : slowest;
    while (levels_ < kMaxLevels && std::ldexp(slowest * interval_, levels_) < kForgotten)
        ++levels_;
}

std::vector<Evolution::Term> Evolution::terms(std::uint64_t number, double exposure_s) const {
    // Weights of the random fields in those at the two known frames around the exposure: [term][class].
    using Weights = std::vector<std::vector<double>>;
    const std::size_t classes = rates_.size();
    const std::vector<double> none(classes, 0.0);
    const std::vector<double> one(classes, 1.0);
    std::uint64_t first = number >> levels_ << levels_;
    std::uint64_t span = std::uint64_t{1} << levels_;
    std::vector<std::uint64_t> keys = {first, first + span};
    Weights left = {one, none};
    Weights right = {none, one};
    std::vector<double> mean(classes);
    std::vector<double> deviation(classes);
    for (; span > 1; span /= 2) {
        const std::uint64_t half = span / 2;
        for (std::size_t c = 0; c < classes; ++c) {
            const double way = rates_[c] * interval_ * static_cast<double>(half);
            const double e = std::exp(-way);
            mean[c] = e / (1 + e * e);
            deviation[c] = std::sqrt(std::tanh(way));
        }
        Weights middle;
        add(left, mean, middle);
        add(right, mean, middle);
        middle.resize(keys.size(), none);
        middle.push_back(deviation);
        keys.push_back(first + half);
        if (number >= first + half) {
            first += half;
            left = std::move(middle);
        } else {
            right = std::move(middle);
        }
    }
    left.resize(keys.size(), none);
    right.resize(keys.size(), none);
    // The end of the exposure, between the starts of this frame and the next.
    keys.push_back(kEnds + number);
    std::vector<double> from_left(classes);
    std::vector<double> from_right(classes);
    for (std::size_t c = 0; c < classes; ++c) {
        const double whole = std::exp(-rates_[c] * interval_);
        const double done = std::exp(-rates_[c] * exposure_s);
        const double rest = std::exp(-rates_[c] * std::max(0.0, interval_ - exposure_s));
        const double norm = 1 - whole * whole;
        from_left[c] = norm > 0 ? done * (1 - rest * rest) / norm : 0;
        from_right[c] = norm > 0 ? rest * (1 - done * done) / norm : 1;
        deviation[c] = norm > 0 ? std::sqrt((1 - done * done) * (1 - rest * rest) / norm) : 0;
    }
    Weights end;
    add(left, from_left, end);
    add(right, from_right, end);
    end.push_back(deviation);
    left.push_back(none);
    // A class that does not move has one field for ever.
    keys.push_back(kStill);
    left.push_back(none);
    end.push_back(none);
    for (std::size_t c = 0; c < classes; ++c)
        if (rates_[c] <= 0)
            for (std::size_t i = 0; i < keys.size(); ++i)
                left[i][c] = end[i][c] = keys[i] == kStill ? 1 : 0;
    std::vector<Term> terms;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        double largest = 0;
        for (std::size_t c = 0; c < classes; ++c)
            largest = std::max({largest, std::abs(left[i][c]), std::abs(end[i][c])});
        if (largest > 1e-3) // smaller ones are less than 1e-6 of the power
            terms.push_back({keys[i], std::move(left[i]), std::move(end[i])});
    }
    return terms;
}

} // namespace specklescope
