// The pulse in traces: scipy's spectrum of the same values, rates and pulsatilities that are known, and
// tables that are no tables.
#include "analysis/pulse.hpp"
#include "analysis/pulse_table.hpp"

#include "base/error.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numbers>
#include <sstream>

namespace specklescope {
namespace {

struct Wave {
    std::vector<double> times, values;
};

/// A beat of two harmonics with extremes 1 ± depth/2 or so, at `rate` frames/s.
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
            if (rate < 16 * pulse) // the low-pass needs room
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

/// As of a wave that is reflected: its second and third harmonics are larger than the first.
TEST(Pulse, OfAWaveWithLargeHarmonicsIsItsFundamental) {
    auto random = test::test_random(15408);
    std::normal_distribution<double> normal;
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
                EXPECT_NEAR(found.pulse_hz, pulse, 0.01) << seconds << ' ' << largest;
                EXPECT_EQ(found.harmonic, largest);
                // A foot of the weak first harmonic that drowns in noise takes two beats with it.
                EXPECT_GE(static_cast<double>(found.beats.size()), 0.85 * pulse * seconds - 2.5);
                EXPECT_LE(static_cast<double>(found.beats.size()), pulse * seconds + 0.5);
            }
}

TEST(Pulse, GapsAndUnevenTimesAndMissingNumbersAreCopedWithAndCounted) {
    auto random = test::test_random(15402);
    Wave made = wave(1.3, 60, 40, 0.005, random);
    for (std::size_t i = 0; i < made.times.size(); ++i) // ±10 % of a frame
        made.times[i] += std::uniform_real_distribution<double>(-0.1, 0.1)(random) / 60;
    Wave cut;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < made.times.size(); ++i) {
        const bool bridged = i % 50 == 20 || i % 50 == 21; // two at a time
        const bool gap = i >= 1200 && i < 1260;            // a second
        missing += bridged && !gap ? 1 : 0;
        if (bridged || gap)
            continue;
        cut.times.push_back(made.times[i]);
        cut.values.push_back(i % 97 == 5 ? Pulse::kNone : made.values[i]);
    }
    const Pulse found = find_pulse(cut.times, cut.values);
    ASSERT_EQ(found.why, "");
    EXPECT_EQ(found.runs, 2U);
    EXPECT_EQ(found.left_out, static_cast<std::size_t>(std::count_if(cut.values.begin(), cut.values.end(),
                                                                     [](double v) { return v != v; })));
    EXPECT_NEAR(static_cast<double>(found.bridged), static_cast<double>(missing + found.left_out), 3);
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

/// Each sample remembers `memory` of the one before: 0 is white, 1 a random walk.
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

TEST(Pulse, OfNoiseAndOfDriftIsNone) {
    std::mt19937_64 random(15403); // always the same: the bounds are statistical
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

TEST(Pulse, OnADriftIsFound) {
    std::mt19937_64 random(15407); // always the same: the bounds are statistical
    for (const double pulse : {1.1, 6.2}) {
        Wave made = wave(pulse, 60, 30, 0.01, random);
        const Wave drift = noise(60, 30, 1, random);
        for (std::size_t i = 0; i < made.values.size();
             ++i) // a step as large as 2 % of the mean, 40 % in 1 s
            made.values[i] += drift.values[i] - 1000;
        const Pulse found = find_pulse(made.times, made.values);
        ASSERT_EQ(found.why, "") << pulse;
        EXPECT_NEAR(found.pulse_hz, pulse, 0.03) << pulse;
    }
}

TEST(Pulse, OfNothingIsNoneAndSaysWhy) {
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
assert compared == 12
)py";

TEST(Pulse, SpectrumIsScipysWelch) {
    auto random = test::test_random(15404);
    const TemporaryFolder folder;
    std::ostringstream text;
    text.precision(17);
    for (int i = 0; i < 12; ++i) {
        const std::size_t length = 16 + random() % 700, count = length + random() % 3000;
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

class PulseCommand : public testing::Test {
protected:
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    TemporaryFolder folder;
};

/// The simulated heart beats 1.2 times a second (sources/synthetic/vessel_scene.hpp).
constexpr const char* kReport = R"py(
import csv, io, json
import numpy as np
from scipy.signal import welch
about = json.load(open("pulse.json"))
rows = list(csv.DictReader(l for l in open("t.csv") if not l.startswith("#")))
regions = {r["region"]: r for r in about["regions"]}
assert set(regions) == {"all", "a, \"b\""}
for name, region in regions.items():
    values = np.array([float(r["mean"]) for r in rows if r["region"] == name])
    assert len(values) == 1200 == region["samples"] and region["parts"] == 1, region["samples"]
    assert abs(region["rate_hz"] - 60) < 1e-5 and region["segment_samples"] == 600
    f, wanted = welch(values, fs=region["rate_hz"], window="hann", nperseg=600)
    is_ = np.array(region["density"])
    # Times are whole nanoseconds: what was interpolated is some 1e-8 of a frame away.
    assert np.abs(is_ - wanted).max() < 1e-5 * wanted.max(), np.abs(is_ - wanted).max() / wanted.max()
    assert abs(region["mean"] / values.mean() - 1) < 1e-12
whole = regions["all"]
assert abs(whole["pulse_hz"] - 1.2) < 0.01, whole["pulse_hz"]
beats = whole["beats"]
assert 21 <= len(beats) <= 24 and abs(whole["beat_s"] - 1 / 1.2) < 0.01, (beats, whole["beat_s"])
index, begins = [np.array([b[k] for b in beats]) for k in ("pulsatility", "begin_s")]
assert abs(index.mean() - whole["pulsatility"]) < 1e-12 and abs(index.std(ddof=1) - whole["pulsatility_std"]) < 1e-12
assert (np.diff(begins) > 0.5).all() and abs(sum(b["seconds"] for b in beats) / len(beats) - whole["beat_s"]) < 1e-12
assert 0.01 < whole["pulsatility"] < 0.03, whole["pulsatility"]
)py";

TEST_F(PulseCommand, FindsTheHeartOfTheSimulatedScene) {
    test::write_file(folder / "r.json", R"({"regions":[
{"name":"all","shape":"rectangle","points":[[0,0],[639,479]]},
{"name":"a, \"b\"","shape":"ellipse","points":[[30,20],[60,50]]}]})");
    const ChildResult made =
        run({"run", "synthetic:vessels?width=640&height=480&rate=60&live=false", "--frames", "1200",
             "--regions", "r.json", "--traces", "t.csv", "--quiet", "--backend", "cpu"});
    ASSERT_EQ(made.status, 0) << made.all();
    const ChildResult found = run({"pulse", "t.csv", "--json", "pulse.json"});
    ASSERT_EQ(found.status, 0) << found.all();
    EXPECT_EQ(found.err, "");
    const std::string report = test::read_file(folder / "pulse.json");
    EXPECT_EQ(run({"pulse", "t.csv", "--json", "pulse.json"}).status, 0) << "its own is replaced";
    EXPECT_EQ(test::read_file(folder / "pulse.json"), report);
    EXPECT_NE(found.out.find("1200 values over 20.0 s at 60 frames/s"), std::string::npos) << found.out;
    EXPECT_NE(found.out.find("2 regions, column mean over capture_s"), std::string::npos) << found.out;
    EXPECT_TRUE(test::python(folder, kReport)) << test::read_file(folder / "python.log") << found.out;
}

TEST_F(PulseCommand, ReadsTablesOfOthersAndCutOffOnes) {
    std::string text = "\xef\xbb\xbf# of somebody\r\nregion,arrival_s,mean\r\n\r\n";
    for (int i = 0; i < 600; ++i)
        text += "\"x\"," + std::to_string(5 + i / 50.0) + "," +
                (i == 77   ? ""
                 : i == 78 ? "nan"
                           : std::to_string(beat(1.5 * i / 50))) +
                "\r\n# a line between\n";
    test::write_file(folder / "t.csv", text + "x,17.0");
    const ChildResult found = run({"pulse", "t.csv"});
    ASSERT_EQ(found.status, 0) << found.all();
    EXPECT_NE(found.out.find("600 rows of 1 region, column mean over arrival_s; the last line is not whole"),
              std::string::npos)
        << found.out;
    EXPECT_NE(found.out.find("1.500 Hz (90.0 beats/min)"), std::string::npos) << found.out;
    EXPECT_NE(found.out.find("2 without a number left out"), std::string::npos) << found.out;
    EXPECT_EQ(names_in(folder.path().string()), std::vector<std::string>{"t.csv"});
}

/// Frames that a stage made while its history filled are another quantity's: here 100 times too large.
TEST_F(PulseCommand, LeavesWarmUpsOutAndCountsThem) {
    std::string text = "sequence,capture_s,region,mean,warming_up\n", never = text;
    for (int i = 0; i < 900; ++i) {
        const std::string row = std::to_string(i) + "," + std::to_string(i / 50.0) + ",x,";
        const double value = beat(1.5 * i / 50);
        text += row + std::to_string(i < 50 ? 100 + value : value) + (i < 50 ? ",1\n" : ",0\n");
        never += i < 50 ? "" : row + std::to_string(value) + ",\n";
    }
    text += "900,18.0,late,7,1\n"; // of one that was only there in a warm-up
    test::write_file(folder / "t.csv", text);
    test::write_file(folder / "n.csv", never);
    const ChildResult found = run({"pulse", "t.csv", "--json", "t.json"});
    ASSERT_EQ(found.status, 0) << found.all();
    EXPECT_NE(found.out.find("901 rows of 2 regions, column mean over capture_s; 51 made during a warm-up"),
              std::string::npos)
        << found.out;
    EXPECT_NE(found.out.find("late"), std::string::npos) << found.out;
    const auto told = nlohmann::json::parse(test::read_file(folder / "t.json"));
    EXPECT_EQ(told["left_out_in_warmup"], 51);
    ASSERT_EQ(run({"pulse", "n.csv", "--json", "n.json"}).status, 0);
    const auto expected = nlohmann::json::parse(test::read_file(folder / "n.json"));
    EXPECT_EQ(expected["left_out_in_warmup"], 0);
    EXPECT_EQ(told["regions"][0], expected["regions"][0]) << "as if they were not there";
    EXPECT_EQ(told["regions"][1]["samples"], 0);
}

struct Refused {
    std::string text; ///< of t.csv
    std::vector<std::string> arguments;
    int status;
    std::string sentence;
};

TEST_F(PulseCommand, RefusesWhatIsNoTableInOneSentence) {
    const std::string head = "sequence,capture_s,region,mean\n";
    const std::vector<Refused> cases = {
        {"", {"pulse", "t.csv"}, 2, "'t.csv' holds no table of traces"},
        {"# nothing\n", {"pulse", "t.csv"}, 2, "'t.csv' holds no table of traces"},
        {"# x\na,b\n1,2\n", {"pulse", "t.csv"}, 2, "t.csv, line 2: there is no column 'region'"},
        {"region,mean\n", {"pulse", "t.csv"}, 2, "t.csv, line 1: there is no column 'capture_s'"},
        {head + "0,0.0,x,1\n1,0.1,x\n", {"pulse", "t.csv"}, 2, "t.csv, line 3: it has 3 fields"},
        {head + "0,0.0,x,fast\n", {"pulse", "t.csv"}, 2, "t.csv, line 2: mean is 'fast'; allowed: a number"},
        {head + "0,1e999,x,1\n", {"pulse", "t.csv"}, 2, "t.csv, line 2: capture_s is '1e999'"},
        {head + "0,0.0,\"x,1\n", {"pulse", "t.csv"}, 2, "t.csv, line 2: a quotation mark is not closed"},
        {head + std::string(2 << 20, 'a') + "\n", {"pulse", "t.csv"}, 2, "it is longer than 1 MiB"},
        {head, {"pulse"}, 2, "pulse needs a table of traces"},
        {head, {"pulse", "t.csv", "u.csv"}, 2, "'u.csv' is one word too many"},
        {head, {"pulse", "none.csv"}, 1, "There is no file 'none.csv'"},
        {head, {"pulse", "."}, 1, "'.'"},
        {head, {"pulse", "t.csv", "--frames", "3"}, 2, "--frames says nothing to pulse"},
        {head, {"pulse", "t.csv", "--json", "missing/p.json"}, 1, "missing"},
        {head, {"pulse", "t.csv", "--json", "t.csv"}, 1, "'t.csv' exists and holds no pulse of this program"},
        {head,
         {"run", "synthetic", "--json", "p.json"},
         2,
         "--json belongs to specklescope bench and pulse"}};
    for (const Refused& refused : cases) {
        test::write_file(folder / "t.csv", refused.text);
        const ChildResult ran = run(refused.arguments);
        EXPECT_EQ(ran.status, refused.status) << refused.sentence << ran.all();
        EXPECT_NE(ran.err.find(refused.sentence), std::string::npos) << ran.all();
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        EXPECT_EQ(ran.out, "");
    }
    test::write_file(folder / "t.csv", head);
    const ChildResult empty = run({"pulse", "t.csv"});
    EXPECT_EQ(empty.status, 0) << empty.all();
    EXPECT_NE(empty.out.find("the table has no row"), std::string::npos);
}

TEST_F(PulseCommand, TablesWithAnyBytesAreReadOrRefused) {
    auto random = test::test_random(15406);
    const std::string good = "# a\nsequence,capture_s,region,mean,note\n0,0.1,\"a \"\"b\"\"\",1.5,\n"
                             "1,0.2,x,nan,\n2,0.3,x,,y\n";
    const std::string path = folder / "t.csv";
    int refused = 0, read = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string text = good;
        for (std::size_t k = random() % 4; k > 0 && !text.empty(); --k) {
            const std::size_t at = random() % text.size();
            if (random() % 3 == 0)
                text.erase(at, 1 + random() % 20);
            else if (random() % 2 == 0)
                text.insert(at, 1, ",\"\n\r#\0e.-"[random() % 9]);
            else
                text[at] = static_cast<char>(random());
        }
        test::write_file(path, text);
        try {
            for (const RegionTrace& trace : read_trace_table(path).regions) {
                EXPECT_EQ(trace.times.size(), trace.values.size());
                (void)find_pulse(trace.times, trace.values);
            }
            ++read;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("t.csv"), std::string::npos);
            ++refused;
        }
    }
    EXPECT_GT(refused, 300);
    EXPECT_GT(read, 300);
}

} // namespace
} // namespace specklescope
