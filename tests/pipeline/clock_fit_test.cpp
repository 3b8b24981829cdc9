// The fit of a camera's clock: simulated clocks of known skew with random delays.
#include "pipeline/clock/clock_fit.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>

namespace clock_fit_test {

using namespace specklescope;

struct Simulated {
    double skew_ppm = 50;
    double seconds = 60;
    double rate = 100;
    double jitter_ms = 2;                              ///< mean of the exponential delay
    std::int64_t capture0 = 1'795'447'833'606'511'000; ///< a clock set by PTP
    std::int64_t arrival0 = 3'141'592'653;
    std::int64_t constant_ns = 700'000; ///< exposure and transfer
};

/// A frame at time `s` on our clock since the first one.
void add(ClockFit& fit, const Simulated& with, double s, double delay_ns) {
    fit.add(with.capture0 + std::llround(s * (1 + with.skew_ppm * 1e-6) * 1e9),
            with.arrival0 + with.constant_ns + std::llround(s * 1e9 + delay_ns));
}

ClockFit simulate(const Simulated& with, unsigned seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> delay(1 / (with.jitter_ms * 1e6));
    ClockFit fit;
    const auto frames = static_cast<int>(with.seconds * with.rate);
    for (int i = 0; i <= frames; ++i)
        add(fit, with, i / with.rate, delay(random));
    return fit;
}

double ordinary_least_squares(const Simulated& with, unsigned seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> delay(1 / (with.jitter_ms * 1e6));
    double n = 0, t = 0, d = 0, tt = 0, td = 0;
    const auto frames = static_cast<int>(with.seconds * with.rate);
    for (int i = 0; i <= frames; ++i) {
        const double s = i / with.rate, x = s * (1 + with.skew_ppm * 1e-6);
        const double y = s - x + delay(random) * 1e-9;
        n += 1, t += x, d += y, tt += x * x, td += x * y;
    }
    return -(n * td - t * d) / (n * tt - t * t) * 1e6;
}

FrameInfo frame(std::int64_t capture_ns, std::int64_t arrival_ns) {
    FrameInfo info;
    info.capture_ns = capture_ns;
    info.arrival = SteadyClock::time_point(std::chrono::nanoseconds(arrival_ns));
    return info;
}

// 50 ppm with exponential delays of 2 ms on average, 100 frames/s for a minute: the error given in
// docs/science.md, within its error bar.
TEST(ClockFit, FindsAKnownSkewUnderExponentialJitter) {
    constexpr unsigned kRuns = 200;
    for (const double skew : {50.0, -50.0, 0.0}) {
        double squares = 0, squares_plain = 0, stated = 0;
        unsigned within = 0;
        Simulated with;
        with.skew_ppm = skew;
        for (unsigned seed = 1; seed <= kRuns; ++seed) {
            const auto report = simulate(with, seed).report();
            ASSERT_TRUE(report) << "seed " << seed;
            const double error = report->skew_ppm - skew;
            ASSERT_LT(std::abs(error), 8) << "seed " << seed;
            squares += error * error;
            squares_plain += std::pow(ordinary_least_squares(with, seed) - skew, 2);
            stated += report->skew_error_ppm * report->skew_error_ppm;
            within += std::abs(error) < 3 * report->skew_error_ppm ? 1 : 0;
        }
        const double rms = std::sqrt(squares / kRuns);
        std::cout << "skew " << skew << ": rms error " << rms << " ppm, stated " << std::sqrt(stated / kRuns)
                  << ", within three of them " << within << " of " << kRuns << "; least squares "
                  << std::sqrt(squares_plain / kRuns) << '\n';
        EXPECT_LT(rms, 0.2);
        EXPECT_LT(rms, std::sqrt(squares_plain / kRuns) / 5);
        EXPECT_GT(within, kRuns * 9 / 10);
        EXPECT_LT(std::sqrt(stated / kRuns), 5 * rms);
    }
}

// The fit matches the definition: no frame is below the line, and no other such line has a smaller sum.
TEST(ClockFit, IsTheLineOfLeastDelay) {
    Simulated with;
    with.seconds = 20;
    with.rate = 20;
    std::mt19937_64 random(7);
    std::exponential_distribution<double> delay(1 / 3e6);
    ClockFit fit;
    std::vector<std::pair<double, double>> points; // s, ns
    for (int i = 0; i <= 400; ++i) {
        const double s = i / with.rate, late = delay(random);
        add(fit, with, s, late);
        const double t = s * (1 + with.skew_ppm * 1e-6);
        points.emplace_back(t, (s - t) * 1e9 + late);
    }
    double best = 1e300, slope = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            const double k = (points[j].second - points[i].second) / (points[j].first - points[i].first);
            double sum = 0;
            for (const auto& [t, d] : points) {
                const double above = d - (points[i].second + k * (t - points[i].first));
                if (above < -1) { // ns
                    sum = 1e300;
                    break;
                }
                sum += above;
            }
            if (sum < best) {
                best = sum;
                slope = k;
            }
        }
    const auto report = fit.report();
    ASSERT_TRUE(report);
    const double lag = slope * 1e-9;
    EXPECT_NEAR(report->skew_ppm, -lag / (1 + lag) * 1e6, 1e-3);
    EXPECT_NEAR(report->delay_ms, best / static_cast<double>(points.size()) * 1e-6, 1e-4);
}

TEST(ClockFit, ReportsTheOffsetAtTheLastFrame) {
    Simulated with;
    const auto report = simulate(with, 3).report();
    ASSERT_TRUE(report);
    const auto last = std::llround(60 * (1 + 50e-6) * 1e9);
    EXPECT_EQ(report->at_capture_ns, with.capture0 + last);
    const std::int64_t truth = with.arrival0 + with.constant_ns + 60'000'000'000 - with.capture0 - last;
    EXPECT_NEAR(static_cast<double>(report->offset_ns - truth), 0, 5 * report->offset_error_ns + 50'000);
    EXPECT_NEAR(report->delay_ms, with.jitter_ms, 0.2);
}

// A disk that delays everything for seconds now and then moves a mean, but not the line.
TEST(ClockFit, IgnoresPeriodsInWhichEverythingIsLate) {
    Simulated with;
    std::mt19937_64 random(11);
    std::exponential_distribution<double> delay(1 / 0.5e6);
    ClockFit fit;
    for (int i = 0; i <= 6000; ++i) {
        const double s = i / 100.0;
        add(fit, with, s, delay(random) + ((i / 500) % 3 == 1 ? 80e6 : 0));
    }
    const auto report = fit.report();
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->skew_ppm, 50, 1);
}

TEST(ClockFit, ReportsDriftAsDifferentHalves) {
    Simulated with;
    with.skew_ppm = 0;
    std::mt19937_64 random(5);
    std::exponential_distribution<double> delay(1 / 0.2e6);
    ClockFit fit;
    for (int i = 0; i <= 60000; ++i) { // 10 minutes, from 0 to 40 ppm
        const double s = i / 100.0;
        fit.add(with.capture0 + std::llround((s + 20e-6 * s * s / 600) * 1e9),
                with.arrival0 + std::llround(s * 1e9 + delay(random)));
    }
    const auto report = fit.report();
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->second_half_ppm - report->first_half_ppm, 20, 4);
    EXPECT_GT(report->skew_error_ppm, 0.05) << "no one skew is true";
}

TEST(ClockFit, GivesNoReportForAFewSeconds) {
    Simulated with;
    with.seconds = 4.9;
    EXPECT_FALSE(simulate(with, 1).report());
    with.seconds = 6;
    EXPECT_TRUE(simulate(with, 1).report());
    with.rate = 4;
    EXPECT_FALSE(simulate(with, 1).report()) << "too few frames";
}

TEST(ClockWatch, RestartsWhenTheClockIsSetAndReportsTheLongestSpan) {
    ClockWatch watch;
    std::int64_t here = 1'000'000'000;
    for (int i = 0; i < 1000; ++i, here += 10'000'000) // 10 s, 100 ppm
        watch.add(frame(std::llround(i * 1e7 * 1.0001), here));
    for (int i = 0; i < 600; ++i, here += 10'000'000) // switched off and on: 6 s, and another rate
        watch.add(frame(std::llround(i * 1e7 * 1.0003), here));
    auto report = watch.report();
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->skew_ppm, 100, 0.5);
    EXPECT_EQ(report->frames, 1000U);
    for (int i = 0; i < 2000; ++i, here += 10'000'000) // set by PTP
        watch.add(frame(1'795'447'833'606'511'000 + i * std::int64_t{10'000'000}, here));
    report = watch.report();
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->skew_ppm, 0, 0.5);
    EXPECT_EQ(report->frames, 2000U);
}

/// Also by a second, and after late frames.
TEST(ClockWatch, RestartsWhenTheClockIsSetAheadSlightly) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> delay(1 / 3e6);
    for (const std::int64_t by : {150'000'000LL, 1'000'000'000LL, -20'000'000LL}) {
        ClockWatch watch;
        for (int i = 0; i < 2000; ++i) {
            const std::int64_t now = 1'000'000'000 + i * std::int64_t{10'000'000};
            const std::int64_t set = i >= 800 ? by : 0, held_up = i >= 200 && i < 250 ? 400'000'000 : 0;
            watch.add(frame(std::llround(static_cast<double>(now) * 1.0001) + set,
                            now + std::llround(delay(random)) + held_up));
        }
        const auto report = watch.report();
        ASSERT_TRUE(report) << by;
        EXPECT_EQ(report->frames, 1200U) << by;
        EXPECT_NEAR(report->skew_ppm, 100, 20) << by;
    }
}

TEST(ClockWatch, AClockThatIsCoarserThanItsFramesIsFitted) {
    ClockWatch watch;
    std::mt19937_64 random(3);
    std::exponential_distribution<double> delay(1 / 1e6);
    for (int i = 0; i < 6000; ++i) { // 100 frames/s, a clock of 40 ms
        const std::int64_t now = i * std::int64_t{10'000'000};
        watch.add(frame(now / 40'000'000 * 40'000'000, 5'000'000'000 + now + std::llround(delay(random))));
    }
    const auto report = watch.report();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->frames, 6000U);
    EXPECT_NEAR(report->skew_ppm, 0, 20);
}

TEST(ClockReport, HasAsManyDecimalsAsItsError) {
    ClockReport report{.frames = 6000, .span_s = 60, .skew_ppm = -49.98123, .skew_error_ppm = 0.0312};
    report.first_half_ppm = -49.95;
    report.second_half_ppm = -50.02;
    report.delay_ms = 2.004;
    EXPECT_EQ(to_string(report),
              "slow by 49.981 ± 0.031 ppm relative to this computer over 60 s (first half -49.950, second "
              "-50.020); frames came 2 ms later than the quickest");
    report.skew_ppm = 984.2;
    report.skew_error_ppm = 93;
    report.span_s = 10;
    EXPECT_EQ(
        to_string(report),
        "fast by 984 ± 93 ppm relative to this computer over 10 s; frames came 2 ms later than the quickest");
}

TEST(ClockReport, IsJsonThatFitsTheHeaderOfARecording) {
    const auto report = simulate({}, 1).report();
    ASSERT_TRUE(report);
    const auto json = nlohmann::json::parse(to_json(*report));
    EXPECT_NEAR(json["skew_ppm"].get<double>(), report->skew_ppm, 1e-3);
    EXPECT_EQ(json["at_capture_ns"].get<std::int64_t>(), report->at_capture_ns);
    ClockReport widest{.frames = ~std::uint64_t{0},
                       .span_s = 1.2345678e9,
                       .skew_ppm = -1.2345678e-5,
                       .skew_error_ppm = 1.2345678e-5,
                       .first_half_ppm = -1.2345678e-5,
                       .second_half_ppm = -1.2345678e-5,
                       .at_capture_ns = std::numeric_limits<std::int64_t>::min(),
                       .offset_ns = std::numeric_limits<std::int64_t>::min(),
                       .offset_error_ns = 1e18,
                       .delay_ms = 1.2345678e-5};
    EXPECT_LT(to_json(widest).size(), 400U); // next to totals of 192 characters, in 640
    EXPECT_TRUE(nlohmann::json::accept(to_json(widest)));
}

} // namespace clock_fit_test
