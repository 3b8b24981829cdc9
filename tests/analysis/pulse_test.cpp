// The pulse in traces: scipy's spectrum of the same values, known rates and pulsatilities.
#include "analysis/pulse.hpp"

#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <sstream>

namespace specklescope::pulse_test {

struct Wave {
    std::vector<double> times, values;
};

/// A beat of two harmonics with extremes of about 1 ± depth/2, at `rate` frames/s.
double beat(double phase) {
    const double angle = 2 * std::numbers::pi * phase;
    return 1 + 0.2 * std::cos(angle) + 0.06 * std::cos(2 * angle - 0.7);
}
double true_pulsatility() {
    double low = 9, high = 0;
    for (int i = 0; i < 100000; ++i) {
        low = std::min(low, beat(i * 1e-5));
        high = std::max(high, beat(i * 1e-5));
    }
    return high - low; // the mean is 1
}

Wave wave(double pulse, double rate, double seconds, double noise, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Wave made;
    for (int i = 0; i < static_cast<int>(seconds * rate); ++i) {
        made.times.push_back(1234 + i / rate);
        made.values.push_back(50 * (beat(pulse * i / rate) + noise * normal(random)));
    }
    return made;
}

TEST(Pulse, RateAndPulsatilityOfAKnownBeatAreRecovered) {
    auto random = test::test_random(15401);
    for (const double pulse : {0.7, 1.2, 1.87, 5.3, 11.1})
        for (const double rate : {60.0, 200.0, 1000.0}) {
            if (rate < 16 * pulse) // the low-pass needs a margin
                continue;
            const Wave made = wave(pulse, rate, 22, 0.01, random);
            const Pulse found = find_pulse(made.times, made.values);
            ASSERT_EQ(found.why, "") << pulse << ' ' << rate;
            EXPECT_NEAR(found.pulse_hz, pulse, 0.005) << rate;
            EXPECT_NEAR(found.rate_hz, rate, 1e-6 * rate);
            EXPECT_NEAR(found.mean, 50, 1);
            EXPECT_GE(static_cast<double>(found.beats.size()), 20 * pulse - 2);
            EXPECT_LE(static_cast<double>(found.beats.size()), 22 * pulse);
            EXPECT_NEAR(found.pulsatility / true_pulsatility(), 1, 0.08) << pulse << ' ' << rate;
            EXPECT_NEAR(found.beat_s * pulse, 1, 0.02);
        }
}

/// Like a reflected wave: its second and third harmonics are larger than the first.
TEST(Pulse, FindsTheFundamentalOfAWaveWithLargeHarmonics) {
    auto random = test::test_random(15408);
    std::normal_distribution<double> normal;
    int mistaken = 0; // noise contains lower harmonics in one of 500 cases
    for (const double pulse : {1.13, 2.9})
        for (const double seconds : {12.0, 30.0})
            for (const int largest : {1, 2, 3}) {
                std::vector<double> times, values;
                for (int i = 0; i < static_cast<int>(seconds * 60); ++i) {
                    times.push_back(i / 60.0);
                    double value = 1 + 0.02 * normal(random);
                    for (int h = 1; h <= 3; ++h)
                        value += (h == largest ? 0.2 : 0.08) *
                                 std::cos(2 * std::numbers::pi * h * pulse * times.back() + h);
                    values.push_back(value);
                }
                const Pulse found = find_pulse(times, values);
                ASSERT_EQ(found.why, "");
                if (found.harmonic != largest) {
                    ++mistaken;
                    continue;
                }
                EXPECT_NEAR(found.pulse_hz, pulse, 0.01) << seconds << ' ' << largest;
                // A missed foot of the weak first harmonic costs two beats.
                EXPECT_GE(static_cast<double>(found.beats.size()), 0.85 * pulse * seconds - 2.5);
                EXPECT_LE(static_cast<double>(found.beats.size()), pulse * seconds + 0.5);
            }
    EXPECT_LE(mistaken, 1);
}

TEST(Pulse, HandlesAndCountsGapsUnevenTimesAndMissingNumbers) {
    auto random = test::test_random(15402);
    Wave made = wave(1.3, 60, 40, 0.005, random);
    for (std::size_t i = 0; i < made.times.size(); ++i) // ±10 % of a frame
        made.times[i] += std::uniform_real_distribution<double>(-0.1, 0.1)(random) / 60;
    Wave cut;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < made.times.size(); ++i) {
        const bool bridged = i % 50 == 20 || i % 50 == 21; // two in a row
        const bool gap = i >= 1200 && i < 1260;            // one second
        missing += bridged && !gap ? 1 : 0;
        if (bridged || gap)
            continue;
        cut.times.push_back(made.times[i]);
        cut.values.push_back(i % 97 == 5 ? Pulse::kNone : made.values[i]);
    }
    const Pulse found = find_pulse(cut.times, cut.values);
    ASSERT_EQ(found.why, "");
    EXPECT_EQ(found.runs, 2U);
    EXPECT_EQ(found.undefined, static_cast<std::size_t>(std::count_if(cut.values.begin(), cut.values.end(),
                                                                      [](double v) { return v != v; })));
    EXPECT_NEAR(static_cast<double>(found.bridged), static_cast<double>(missing + found.undefined), 3);
    EXPECT_NEAR(found.pulse_hz, 1.3, 0.01);
    EXPECT_NEAR(found.pulsatility / true_pulsatility(), 1, 0.1);
    EXPECT_NEAR(found.seconds, 39, 0.1);
    // A loop of a file: the time goes back.
    Wave twice = made;
    twice.times.insert(twice.times.end(), made.times.begin(), made.times.end());
    twice.values.insert(twice.values.end(), made.values.begin(), made.values.end());
    EXPECT_EQ(find_pulse(twice.times, twice.values).runs, 2U);
    EXPECT_NEAR(find_pulse(twice.times, twice.values).pulse_hz, 1.3, 0.01);
}

/// Each sample keeps the fraction `memory` of the previous one: 0 is white noise, 1 a random walk.
Wave noise(double rate, double seconds, double memory, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Wave made;
    double value = 0;
    for (int i = 0; i < static_cast<int>(seconds * rate); ++i) {
        value = memory * value + normal(random);
        made.times.push_back(i / rate);
        made.values.push_back(1000 + value);
    }
    return made;
}

TEST(Pulse, FindsNoneInNoiseAndDrift) {
    std::mt19937_64 random(15403); // constant seed: the bounds are statistical
    constexpr int kRuns = 200;
    for (const double seconds : {4.0, 10.0, 20.0, 60.0})
        for (const double memory : {0.0, std::exp(-2 * std::numbers::pi / 60), 1.0}) {
            int pulses = 0;
            for (int run = 0; run < kRuns; ++run) {
                const Wave made = noise(60, seconds, memory, random);
                const Pulse found = find_pulse(made.times, made.values);
                pulses += found.why.empty() ? 1 : 0;
                EXPECT_EQ(found.why.empty(), std::isfinite(found.pulse_hz));
            }
            EXPECT_LE(pulses, kRuns / 25) << seconds << ' ' << memory;
        }
}

TEST(Pulse, IsFoundOnADrift) {
    std::mt19937_64 random(15407); // constant seed: the bounds are statistical
    for (const double pulse : {1.1, 6.2}) {
        Wave made = wave(pulse, 60, 30, 0.01, random);
        const Wave drift = noise(60, 30, 1, random);
        for (std::size_t i = 0; i < made.values.size(); ++i) // a step of 2 % of the mean, 40 % in 1 s
            made.values[i] += drift.values[i] - 1000;
        const Pulse found = find_pulse(made.times, made.values);
        ASSERT_EQ(found.why, "") << pulse;
        EXPECT_NEAR(found.pulse_hz, pulse, 0.03) << pulse;
    }
}

TEST(Pulse, ReportsWhyThereIsNoPulse) {
    const auto why = [](std::vector<double> times, std::vector<double> values) {
        const Pulse found = find_pulse(times, values);
        EXPECT_TRUE(std::isnan(found.pulse_hz) && std::isnan(found.pulsatility));
        return found.why;
    };
    EXPECT_EQ(why({}, {}), "too few values");
    EXPECT_EQ(why({1, 1, 1}, {1, 2, 3}), "its times do not advance");
    EXPECT_EQ(why({1, 2, 3}, {Pulse::kNone, 2, INFINITY}), "too few values");
    std::vector<double> times, values;
    for (int i = 0; i < 100; ++i) {
        times.push_back(i / 60.0);
        values.push_back(i % 7);
    }
    EXPECT_EQ(why(times, values), "no part without a gap is 3 s long");
    for (double& t : times)
        t *= 60;
    EXPECT_EQ(why(times, values), "fewer than 2 frames/s");
    EXPECT_EQ(why({-1e308, 1e308}, {1, 2}), "its times lie too far apart");
    for (double& t : times)
        t /= 10;
    values[50] = 1e160;
    EXPECT_EQ(why(times, values), "its values are too large to be squared");
    times.resize(19);
    values.resize(19);
    EXPECT_EQ(why(times, values), "no part without a gap is 3 s long");
    times.assign({0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5});
    values.assign({1, 2, 1, 2, 1, 3, 1, 2});
    EXPECT_EQ(why(times, values), "too few values, or frames/s, for a peak and its surroundings");
}

/// A constant minus its mean is rounding noise, which has peaks.
TEST(Pulse, FindsNoneInConstantValues) {
    for (const double value : {0.1, 42.7, 1e9 / 3, -0.3, 0.0, 1e-30}) {
        std::vector<double> times, values;
        for (int i = 0; i < 2000; ++i) {
            times.push_back(i / 100.0);
            values.push_back(i % 50 == 7 ? Pulse::kNone : value * (1 + (i % 120 < 60 ? 1e-15 : 0)));
        }
        const Pulse found = find_pulse(times, values);
        EXPECT_EQ(found.why, "its values do not change") << value;
        EXPECT_TRUE(found.beats.empty() && std::isnan(found.pulse_hz)) << value;
        EXPECT_NEAR(found.rate_hz, 100, 1e-9);
        values[1000] = value + 1; // one different value
        EXPECT_NE(find_pulse(times, values).why, "its values do not change") << value;
    }
}

/// A mouse's 10 Hz too close to half of the frame rate: there is no neighbouring density, and the reported
/// band ends below it.
TEST(Pulse, ReportsTheSearchedBand) {
    auto random = test::test_random(15409);
    for (const double rate : {22.0, 26.0}) {
        Wave made = noise(rate, 30, 0, random);
        for (std::size_t i = 0; i < made.values.size(); ++i)
            made.values[i] += 50 * std::sin(2 * std::numbers::pi * 10 * made.times[i]);
        const Pulse found = find_pulse(made.times, made.values);
        EXPECT_EQ(found.why.empty(), found.high_hz >= 10) << found.why;
        EXPECT_EQ(found.why.empty(), rate > 23);
        EXPECT_NEAR(found.high_hz, 0.9 * rate / 2, 0.2);
        if (!found.why.empty())
            EXPECT_EQ(found.why, "no peak from 0.5 to 9.9 Hz exceeds the noise around it");
        else
            EXPECT_NEAR(found.pulse_hz, 10, 0.01);
    }
}

/// A segment of 99991 samples, a prime: by definition a transform takes 10¹⁰ operations, and those of this
/// trace a quarter of an hour.
TEST(Pulse, SegmentsWithAPrimeNumberOfSamplesAreFast) {
    auto random = test::test_random(15410);
    const Wave made = wave(1.3, 9999.1, 120, 0.01, random);
    const Pulse found = find_pulse(made.times, made.values);
    ASSERT_EQ(found.why, "");
    EXPECT_EQ(found.spectrum.length, 99991U);
    EXPECT_EQ(found.spectrum.segments, 22U);
    EXPECT_NEAR(found.pulse_hz, 1.3, 0.005);
    EXPECT_NEAR(found.pulsatility / true_pulsatility(), 1, 0.08);
}

constexpr const char* kWelch = R"py(
import json
import numpy as np
from scipy.signal import welch
compared = 0
for line in open("spectra.txt"):
    words = line.split()
    rate, length, n = float(words[0]), int(words[1]), int(words[2])
    values = np.array(words[3:3 + n], float)
    is_ = np.array(words[3 + n:], float)
    f, wanted = welch(values, fs=rate, window="hann", nperseg=length)
    assert is_.shape == wanted.shape
    assert np.abs(is_ - wanted).max() <= 1e-9 * wanted.max() and (np.abs(is_ - wanted) / wanted)[1:].max() < 1e-6
    compared += 1
assert compared == 19
)py";

TEST(Pulse, SpectrumMatchesScipysWelch) {
    auto random = test::test_random(15404);
    const TemporaryFolder folder;
    std::ostringstream text;
    text.precision(17);
    std::vector<std::size_t> lengths = {67, 127, 2 * 499, 997, 67 * 71, 9973, 8192};
    for (int i = 0; i < 12; ++i)
        lengths.push_back(16 + random() % 700);
    for (const std::size_t length : lengths) {
        const std::size_t count = length + random() % 3000;
        const double rate = std::uniform_real_distribution<double>(5, 1000)(random);
        std::vector<double> values(count);
        for (double& v : values)
            v = std::uniform_real_distribution<double>(90, 110)(random);
        const Spectrum spectrum = welch_spectrum({values}, rate, length);
        EXPECT_DOUBLE_EQ(spectrum.step_hz, rate / static_cast<double>(length));
        text << rate << ' ' << length << ' ' << count;
        for (const double v : values)
            text << ' ' << v;
        for (const double v : spectrum.density)
            text << ' ' << v;
        text << '\n';
    }
    test::write_file(folder / "spectra.txt", text.str());
    EXPECT_TRUE(test::python(folder, kWelch)) << test::read_file(folder / "python.log");
}

TEST(Pulse, SpectrumOfPartsIsTheMeanOverTheirSegments) {
    auto random = test::test_random(15405);
    std::vector<double> one(100), two(150), none(30);
    for (auto* values : {&one, &two, &none})
        for (double& v : *values)
            v = std::uniform_real_distribution<double>(0, 1)(random);
    const Spectrum a = welch_spectrum({one}, 10, 50), b = welch_spectrum({two}, 10, 50),
                   both = welch_spectrum({one, none, two}, 10, 50);
    EXPECT_EQ(a.segments, 3U);
    EXPECT_EQ(b.segments, 5U);
    ASSERT_EQ(both.segments, 8U);
    for (std::size_t k = 0; k < both.density.size(); ++k)
        EXPECT_NEAR(both.density[k], (3 * a.density[k] + 5 * b.density[k]) / 8, 1e-12);
    EXPECT_TRUE(welch_spectrum({none}, 10, 50).density.empty());
}

} // namespace specklescope::pulse_test
