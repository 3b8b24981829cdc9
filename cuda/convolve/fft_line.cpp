#include "cuda/convolve/fft_line.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <string>

namespace specklescope::cuda {

namespace {

constexpr std::array kRadices = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16};
constexpr int kBanks = 16; ///< of 8 bytes: 16 threads are served together if they use different banks

using Radices = std::vector<int>;

LinePlan plan_of(int n, const Radices& radices, bool inner_gap, bool outer_gap) {
    LinePlan plan;
    plan.n = n;
    const int last = radices.back();
    // Keeps the points of every pass equally spaced: m is a multiple of both periods, or smaller.
    const int inner = inner_gap ? last : 0;
    const int outer = outer_gap && radices.size() > 1 ? last * radices[radices.size() - 2] : 0;
    plan.gap[0] = reciprocal_of(inner);
    plan.gap[1] = reciprocal_of(outer);
    int m = n;
    for (const int radix : radices) {
        m /= radix;
        LinePass& pass = plan.pass[plan.passes++];
        pass.radix = radix;
        pass.m = m;
        pass.reciprocal = reciprocal_of(m);
        pass.butterflies = n / radix;
        pass.stride = m + (inner ? m / inner : 0) + (outer ? m / outer : 0);
        pass.step = n / (radix * m);
    }
    return plan;
}

/// Mean number of accesses needed to serve 16 threads, for the first loads of each pass and, as rows need it,
/// for frequencies in order: averaged over the line's first threads.
double conflicts(const LinePlan& plan) {
    constexpr int kGroups = 8;
    double total = 0;
    const auto count = [&](int available, const auto& place_of) {
        double times = 0;
        int groups = 0;
        for (; groups < kGroups && (groups == 0 || (groups + 1) * kBanks <= available); ++groups) {
            std::array<int, kBanks> wanted{};
            for (int t = groups * kBanks; t < std::min((groups + 1) * kBanks, available); ++t)
                ++wanted[static_cast<std::size_t>(place_of(t) % kBanks)];
            times += *std::max_element(wanted.begin(), wanted.end());
        }
        return times / groups;
    };
    for (int p = 0; p < plan.passes; ++p) {
        const LinePass& pass = plan.pass[p];
        total += 2 * count(pass.butterflies,
                           [&](int t) { return plan.place(t / pass.m * pass.m * pass.radix + t % pass.m); });
    }
    const LinePass& first = plan.pass[0];
    return total + count(first.radix, [&](int k) { return plan.place(k * first.m); });
}

} // namespace

double line_cost(const LinePlan& plan) {
    constexpr double kPass = 12; // loads, stores, twiddles, synchronisation
    double total = 0;
    for (int p = 0; p < plan.passes; ++p) {
        const int radix = plan.pass[p].radix;
        total += kPass + 2.5 * std::log2(radix);
        total += radix % 7 == 0 ? 6 : radix % 5 == 0 ? 3 : radix % 3 == 0 ? 2 : 0;
    }
    return plan.passes == 0 ? kPass : total + 2 * conflicts(plan);
}

namespace {

/// Best ordered product of at most kMaxPasses radices equal to n.
class Search {
public:
    explicit Search(int n) : n_(n) {
        fewest_ = LinePlan::kMaxPasses;
        while (fewest_ > 1 && std::pow(kRadices.back(), fewest_ - 1) >= n)
            --fewest_;
        for (; fewest_ <= LinePlan::kMaxPasses && best_.passes == 0; ++fewest_)
            extend(n);
    }
    const LinePlan& best() const { return best_; }

private:
    void extend(int rest) {
        if (rest == 1) {
            for (const bool inner : {false, true})
                for (const bool outer : {false, true}) {
                    const LinePlan plan = plan_of(n_, path_, inner, outer);
                    if (const double c = line_cost(plan); c < least_) {
                        least_ = c;
                        best_ = plan;
                    }
                }
            return;
        }
        if (static_cast<int>(path_.size()) == fewest_)
            return;
        for (const int radix : kRadices)
            if (rest % radix == 0) {
                path_.push_back(radix);
                extend(rest / radix);
                path_.pop_back();
            }
    }

    int n_, fewest_ = 1;
    Radices path_;
    LinePlan best_;
    double least_ = std::numeric_limits<double>::infinity();
};

} // namespace

LinePlan line_plan(int n) {
    if (n == 1) {
        LinePlan plan;
        plan.n = 1;
        return plan;
    }
    if (n > 1 && n <= kLongestLine)
        if (const Search search(n); search.best().passes > 0)
            return search.best();
    throw UsageError("There is no Fourier transform of " + std::to_string(n) +
                     " points on the GPU; allowed: 1 to " + std::to_string(kLongestLine) +
                     " points whose prime factors are 2, 3, 5, 7.");
}

std::vector<std::uint16_t> line_order(const LinePlan& plan) {
    std::vector<std::uint16_t> order(static_cast<std::size_t>(plan.n));
    for (int f = 0; f < plan.n; ++f) {
        int place = 0;
        int rest = f;
        for (int p = 0; p < plan.passes; ++p) {
            const LinePass& pass = plan.pass[p];
            place += rest % pass.radix * pass.m;
            rest /= pass.radix;
        }
        order[static_cast<std::size_t>(f)] = static_cast<std::uint16_t>(place);
    }
    return order;
}

std::vector<float> line_roots(int n) {
    std::vector<float> roots(2 * static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j) {
        const double angle = -2 * std::numbers::pi * j / n;
        roots[2 * static_cast<std::size_t>(j)] = static_cast<float>(std::cos(angle));
        roots[2 * static_cast<std::size_t>(j) + 1] = static_cast<float>(std::sin(angle));
    }
    return roots;
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Constant cost per point and axis besides the passes: loading, storing, multiplying (an H200, November
/// 2026: columns of 2240 points take 15 ps per point, of 4096 points 11).
constexpr double kPoint = 40;

bool is_smooth(int n) {
    for (const int prime : {2, 3, 5, 7})
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

double planned_cost(int points, std::size_t shared_bytes) {
    if (points < 1 || points > kLongestLine || !is_smooth(points))
        return kNever;
    const LinePlan plan = line_plan(points);
    const auto bytes = static_cast<std::size_t>(plan.room()) * 2 * sizeof(float);
    return bytes > shared_bytes ? kNever : kPoint + line_cost(plan);
}

} // namespace

DeviceLineCosts device_line_costs(std::size_t shared_bytes) {
    const auto known = std::make_shared<std::map<int, double>>();
    const auto cost = [known, shared_bytes](int points) {
        const auto [entry, isnew] = known->try_emplace(points, 0);
        if (isnew)
            entry->second = planned_cost(points, shared_bytes);
        return entry->second;
    };
    // A row of n real samples is a line of n/2 complex ones.
    return {[cost](int n) { return n % 2 == 0 ? cost(n / 2) : kNever; }, cost};
}

std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count) {
    const auto length = static_cast<std::size_t>(fft);
    std::vector<double> cosines(length);
    for (std::size_t i = 0; i < length; ++i)
        cosines[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / fft);
    const std::size_t middle = taps.size() / 2;
    std::vector<float> spectrum(static_cast<std::size_t>(count));
    for (std::size_t f = 0; f < spectrum.size(); ++f) {
        double sum = 0;
        std::size_t angle = 0;
        for (std::size_t i = 1; i <= middle; ++i) {
            angle += f;
            if (angle >= length)
                angle -= length;
            sum += taps[middle + i] * cosines[angle];
        }
        spectrum[f] = static_cast<float>((taps[middle] + 2 * sum) / fft);
    }
    return spectrum;
}

} // namespace specklescope::cuda
