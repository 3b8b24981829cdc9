#include "bench/timing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope::bench {

Spread spread_of(std::vector<double> times_ms) {
    std::sort(times_ms.begin(), times_ms.end());
    const auto quantile = [&](double q) {
        const double place = q * static_cast<double>(times_ms.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, times_ms.size() - 1);
        return times_ms[below] + (place - static_cast<double>(below)) * (times_ms[above] - times_ms[below]);
    };
    if (times_ms.empty())
        return {};
    return {quantile(0.5), quantile(0.25), quantile(0.75), static_cast<int>(times_ms.size())};
}

Spread time_calls(const std::function<void(int)>& call, double round_ms, double total_ms) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kFewest = 5;
    constexpr std::size_t kMost = 25;
    const auto ms_since = [](Clock::time_point begin) {
        return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    };
    int i = 0;
    call(i++);
    const auto warm = Clock::now();
    call(i++);
    const double one = std::max(ms_since(warm), 1e-4);
    const int calls = std::clamp(static_cast<int>(std::ceil(round_ms / one)), 1, 100000);
    std::vector<double> times;
    const auto begin = Clock::now();
    while (times.size() < kFewest || (times.size() < kMost && ms_since(begin) < total_ms)) {
        const auto round = Clock::now();
        for (int k = 0; k < calls; ++k)
            call(i++);
        times.push_back(ms_since(round) / calls);
    }
    return spread_of(std::move(times));
}

std::string digits(double value) {
    const double size = std::abs(value);
    const int places =
        size == 0 || size >= 100 ? 0 : std::min(6, 2 - static_cast<int>(std::floor(std::log10(size))));
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", places, value);
    return text.data();
}

} // namespace specklescope::bench
