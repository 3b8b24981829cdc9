// Trials: steps of known size are found in simulated traces, numpy averages the same windows to the same
// numbers, and unsuitable tables are refused.
#include "analysis/pulse_table.hpp"
#include "analysis/trials.hpp"
#include "base/error.hpp"
#include "recording/traces.hpp"
#include "tests/analysis/trace_history_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

namespace specklescope::trials_test {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// From the definition: every frame of the window in its bin, with numpy's mean and std.
constexpr const char* kNumpy = R"py(
import numpy as np
to = {"plain": lambda x: x, "squares": lambda x: x ** 2, "inverses": lambda x: 1 / x}
back = {"plain": lambda x: x, "squares": np.sqrt, "inverses": lambda x: 1 / x}
slope = {"plain": lambda x: np.ones_like(x), "squares": lambda x: 0.5 / np.sqrt(x), "inverses": lambda x: 1 / x ** 2}
def trials(t, v, events, before, after, step, kind):
    k = np.arange(-int(np.floor(before / step + 1e-9)), int(np.floor(after / step + 1e-9)) + 1)
    rows = []
    with np.errstate(all="ignore"):
        x = to[kind](v)
    for e in events:
        if e + (k[0] + 0.5) * step < t[0] or e + (k[-1] - 0.5) * step > t[-1]:
            continue # not whole
        bins = np.floor((t - e) / step + 0.5 + 1e-9)
        rows.append([x[(bins == i) & np.isfinite(x)].mean() if ((bins == i) & np.isfinite(x)).any() else np.nan for i in k])
    rows = np.array(rows)
    n = np.isfinite(rows).sum(0)
    m = np.full(len(k), np.nan); s = np.full(len(k), np.nan)
    for i in range(len(k)):
        good = rows[np.isfinite(rows[:, i]), i]
        if len(good): m[i] = good.mean()
        if len(good) > 1: s[i] = good.std(ddof=1) / np.sqrt(len(good)) * slope[kind](m[i])
    front = m[(k < 0) & np.isfinite(m)]
    f0 = back[kind](front.mean()) if len(front) else np.nan
    return k * step, back[kind](m), s, n, f0
def close(a, b, what):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert (np.isnan(a) == np.isnan(b)).all(), what
    good = ~np.isnan(a)
    assert np.allclose(a[good], b[good], rtol=1e-11, atol=1e-300), (what, a[good], b[good])
)py";

void write_case(std::ostream& out, const char* kind, const TrialWindow& window,
                const std::vector<double>& times, const std::vector<double>& values,
                const std::vector<double>& events, const Trials& trials) {
    const auto list = [&](const std::vector<double>& numbers) {
        for (const double number : numbers)
            out << number << ' ';
        out << '\n';
    };
    out << kind << ' ' << window.before_s << ' ' << window.after_s << ' ' << trials.step_s << ' '
        << trials.before << '\n';
    list(times);
    list(values);
    list(events);
    std::vector<double> offsets, means, errors, counts;
    for (const TrialPoint& point : trials.points) {
        offsets.push_back(point.offset_s);
        means.push_back(point.mean);
        errors.push_back(point.error);
        counts.push_back(static_cast<double>(point.trials));
    }
    for (const auto* numbers : {&offsets, &means, &errors, &counts})
        list(*numbers);
}

TEST(Trials, MatchNumpysMeansAndErrorsOfEachKind) {
    auto random = test::test_random(15502);
    std::uniform_real_distribution<double> part(0, 1);
    const TemporaryFolder folder;
    std::ostringstream out;
    out.precision(17);
    for (const auto& [kind, mean] : {std::pair{"plain", RegionMean::plain},
                                     {"squares", RegionMean::of_squares},
                                     {"inverses", RegionMean::of_inverses}})
        for (int round = 0; round < 8; ++round) {
            std::vector<double> times, values, events;
            double t = 100 * part(random);
            for (int i = 0; i < 900; ++i) {
                t += part(random) < 0.03 ? 0.4 * part(random) : 0.05; // gaps among even steps
                times.push_back(t);
                const double drawn = part(random);
                values.push_back(drawn < 0.02 ? kNaN : drawn < 0.03 ? kInf : 0.1 + part(random));
            }
            for (int i = 0; i < 1 + round; ++i)
                events.push_back(i == 0 ? times[times.size() / 2] : times[random() % times.size()] + 0.017);
            const TrialWindow window{part(random) * 2, 0.5 + part(random) * 3, round % 2 == 0 ? 0 : 0.2};
            const Trials trials = average_trials(times, values, events, window, mean);
            ASSERT_EQ(trials.why, "");
            write_case(out, kind, window, times, values, events, trials);
        }
    test::write_file(folder / "cases.txt", out.str());
    EXPECT_TRUE(test::python(folder, (std::string(kNumpy) + R"py(
lines = open("cases.txt").read().split("\n")
compared = 0
for at in range(0, len(lines) - 1, 8):
    kind, *head = lines[at].split()
    before, after, step, f0 = map(float, head)
    t, v, e, off, m, s, n = (np.array(l.split(), float) for l in lines[at + 1:at + 8])
    assert step == 0.2 or abs(step - 0.05) < 1e-9
    k, wm, ws, wn, wf0 = trials(t, v, e, before, after, step, kind)
    close(off, k, "offsets"); close(m, wm, "means"); close(s, ws, "errors"); close(n, wn, "trials"); close([f0], [wf0], "before")
    compared += 1
assert compared == 24
)py")
                                         .c_str()))
        << test::read_file(folder / "python.log");
}

/// Flow that steps from 100 to 130 for 2 s with each event, with noise of 5 % per frame in K².
TEST(Trials, FindAStepOfKnownSizeWithinItsError) {
    std::mt19937_64 random(15503); // constant seed: the bounds are statistical
    std::normal_distribution<double> noise(0, 0.05);
    std::vector<double> times, values, events;
    for (int i = 0; i < 12; ++i)
        events.push_back(10 + 20 * i);
    for (int i = 0; i < 250 * 20; ++i) {
        const double t = i / 20.0;
        bool high = false;
        for (const double event : events)
            high = high || (t >= event - 1e-9 && t < event + 2 - 1e-9);
        times.push_back(t);
        values.push_back(1 / ((1 + noise(random)) / (high ? 130 : 100)));
    }
    const Trials trials = average_trials(times, values, events, {3, 6, 0}, RegionMean::of_inverses);
    ASSERT_EQ(trials.points.size(), 60U + 120U + 1U);
    EXPECT_EQ(trials.used, 12U);
    EXPECT_NEAR(trials.step_s, 0.05, 1e-12);
    EXPECT_NEAR(trials.before, 100, 4 * 100 * 0.05 / std::sqrt(12.0 * 60));
    int outside = 0, points = 0;
    for (const TrialPoint& point : trials.points) {
        const double truth = point.offset_s > -1e-9 && point.offset_s < 2 - 1e-9 ? 130 : 100;
        ASSERT_EQ(point.trials, 12U);
        EXPECT_NEAR(point.error, truth * 0.05 / std::sqrt(12.0), truth * 0.05); // with 12 trials: ± 21 %
        ASSERT_NEAR(point.mean, truth, 6 * truth * 0.05 / std::sqrt(12.0)) << point.offset_s;
        outside += std::abs(point.mean - truth) > 2 * point.error ? 1 : 0;
        ++points;
    }
    EXPECT_LT(outside, points * 0.15)
        << "2 standard errors of 12 trials hold 93 % of the means (Student's t)";
}

/// Drift without a response: the mean over trials is the drift, for any ends of the trace.
TEST(Trials, WindowsBeyondTheTraceAddNoResponse) {
    std::vector<double> times, values;
    for (int i = 0; i < 400; ++i) {
        times.push_back(i * 0.1);
        values.push_back(10 + 0.1 * i);
    }
    const Trials trials = average_trials(times, values, {0.5, 15, 20, 39.8}, {2, 10, 0}, RegionMean::plain);
    EXPECT_EQ(trials.used, 2U);
    EXPECT_EQ(trials.cut_off, (std::vector<double>{0.5, 39.8}));
    for (const TrialPoint& point : trials.points)
        EXPECT_NEAR(point.mean, 10 + 17.5 + point.offset_s, 1e-9) << point.offset_s;
    EXPECT_NEAR(trials.before, 10 + 17.5 - 1.05, 1e-9);
}

TEST(Trials, ReportWhyThereAreNone) {
    const std::vector<double> times = {0, 1, 2}, values = {1, 2, 3};
    const auto why = [&](const std::vector<double>& t, const std::vector<double>& events,
                         const TrialWindow& window) {
        return average_trials(t, std::vector<double>(t.size(), 1.0), events, window, RegionMean::plain).why;
    };
    EXPECT_EQ(why(times, {}, {1, 1, 0}), "there is no event");
    EXPECT_EQ(why({5}, {5}, {1, 1, 0}), "there are fewer than two frames");
    EXPECT_EQ(why({}, {5}, {1, 1, 0.1}), "there are fewer than two frames");
    EXPECT_EQ(why({kNaN, kInf}, {5}, {1, 1, 0.1}), "there are fewer than two frames");
    EXPECT_EQ(why({0, 1, 2, 90, 91}, {50}, {1, 1, 0}), "no frame lies in the window of any event");
    EXPECT_EQ(why(times, {50}, {1, 1, 0}), "no event has its whole window within the trace");
    EXPECT_EQ(why(times, {1}, {1, 1, 1e-9}), "the window has more than 1000000 steps");
    const Trials one = average_trials(times, values, {1, 80}, {1, 1, 0}, RegionMean::plain);
    ASSERT_EQ(one.points.size(), 3U);
    EXPECT_EQ(one.cut_off, std::vector<double>{80});
    EXPECT_EQ(one.points[0].mean, 1);
    EXPECT_EQ(one.points[2].mean, 3);
    EXPECT_TRUE(std::isnan(one.points[0].error)) << "of one trial";
    EXPECT_EQ(one.before, 1);
}

/// Frames without a time, and times beyond any clock, do not change the others.
TEST(Trials, SkipValuesWithoutTimes) {
    std::vector<double> times, values;
    for (int i = 0; i < 200; ++i) {
        times.push_back(i * 0.1);
        values.push_back(10 + i % 7);
    }
    const auto points = [](const Trials& trials) {
        std::vector<double> all = {trials.before, trials.step_s};
        for (const TrialPoint& point : trials.points)
            all.insert(all.end(), {point.mean, point.error, static_cast<double>(point.trials)});
        return all;
    };
    const TrialWindow window{2, 3, 0};
    const Trials clean = average_trials(times, values, {5, 9}, window, RegionMean::plain);
    EXPECT_EQ(clean.used, 2U);
    std::vector<double> odd_times = times, odd_values = values;
    for (const auto& [at, time] : {std::pair{199, kInf}, {100, kNaN}, {55, -kInf}, {0, kNaN}}) {
        odd_times.insert(odd_times.begin() + at, time);
        odd_values.insert(odd_values.begin() + at, 1e6);
    }
    odd_times.push_back(1e300);
    odd_values.push_back(1e6);
    const Trials odd =
        average_trials(odd_times, odd_values, {5, kNaN, 9, kInf, -kInf}, window, RegionMean::plain);
    EXPECT_EQ(points(odd), points(clean));
    EXPECT_EQ(odd.used, 2U);
    EXPECT_EQ(odd.whole_missing.size(), 1U);
    EXPECT_EQ(odd.cut_off, (std::vector<double>{kInf, -kInf}));
}

class TrialsCommand : public testing::Test {
protected:
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    TemporaryFolder folder;
};

/// As written by --traces: two regions of a flow, events with two labels, one renamed, one removed.
std::string table(const std::string& mean, bool arrival) {
    std::ostringstream out;
    out.precision(17);
    out << "# traces\n# version 0, chain: speckle\n# version 0, map: speckle flow index SFI (1/s) of 64×48 "
           "pixels\n"
        << "# version 0, mean: " << mean << "\n"
        << "sequence,capture_s,arrival_s,region,mean,std,min,max,valid,infinite,saturated,version\n";
    for (int i = 0; i < 400; ++i) {
        const double t = i * 0.1;
        for (const char* region : {"vein", "\"a, b\""})
            out << i << ',' << (arrival ? 0.0 : t) << ',' << 1000 + t << ',' << region << ','
                << 10 + (i * 7919 % 97) * 0.01 + (i % 100 >= 50 && i % 100 < 70 ? 4 : 0)
                << ",1,1,1,9,0,0,0\n";
        if (i % 100 == 50)
            out << "# event: " << 1 + i / 100 << ',' << i << ',' << (arrival ? 0.0 : t) << ",stimulus\n";
        if (i == 20)
            out << "# event: 9," << i << ',' << (arrival ? 0.0 : t) << ",\"cold, wet\"\n";
    }
    out << "# event: 4,350,35,\n# event: 3,250,25,other\n# event: 3,250,25,stimulus\n";
    return out.str();
}

constexpr const char* kCommand = R"py(
import csv
rows = [r for r in csv.DictReader(l for l in open("t.csv") if not l.startswith("#"))]
out = list(csv.DictReader(l for l in open("m.csv") if not l.startswith("#")))
assert [r["region"] for r in out] == ["vein"] * 71 + ["a, b"] * 71
for region in ("vein", "a, b"):
    mine = [r for r in rows if r["region"] == region]
    t = np.array([float(r[CLOCK]) for r in mine]); v = np.array([float(r["mean"]) for r in mine])
    events = [t[i] for i in (50, 150, 250)]
    k, m, s, n, f0 = trials(t, v, events, 2, 5, np.median(np.diff(t)), KIND)
    is_ = [r for r in out if r["region"] == region]
    number = lambda name: [float(r[name]) if r[name] else np.nan for r in is_]
    close(number("offset_s"), k, "offset"); close(number("mean"), m, "mean"); close(number("sem"), s, "sem")
    close(number("trials"), n, "trials"); close(np.array(number("percent")) + 1000, 100 * (m / f0 - 1) + 1000, "percent")
    step = m[(k > 0.05) & (k < 1.85)].mean() - m[k < -0.05].mean()
    assert abs(step - 4) < 0.2, step
)py";

TEST_F(TrialsCommand, AveragesATableLikeNumpy) {
    struct Case {
        const char *mean, *kind;
        bool arrival;
    };
    for (const Case& c : {Case{"of the mean of K², converted as the map is: 1/⟨1/value⟩", "inverses", false},
                          Case{"the root of the mean of K²", "squares", true},
                          Case{"of the values, as mean_of_map", "plain", false}}) {
        test::write_file(folder / "t.csv", table(c.mean, c.arrival));
        const ChildResult ran = run(
            {"trials", "t.csv", "--around", "stimulus", "--before", "2", "--after", "5", "--csv", "m.csv"});
        ASSERT_EQ(ran.status, 0) << ran.all();
        EXPECT_NE(ran.out.find("3 events 'stimulus', 2 s before to 5 s after each"), std::string::npos)
            << ran.out;
        EXPECT_NE(ran.out.find("3 trials, F₀ 10."), std::string::npos) << ran.out;
        EXPECT_NE(ran.out.find(c.mean), std::string::npos) << ran.out;
        const std::string python = std::string("KIND, CLOCK = '") + c.kind + "', '" +
                                   (c.arrival ? "arrival_s" : "capture_s") + "'\n" + kNumpy + kCommand;
        EXPECT_TRUE(test::python(folder, python.c_str())) << c.kind << test::read_file(folder / "python.log");
    }
}

TEST_F(TrialsCommand, SkipsAndCountsWarmUpRows) {
    std::string text = "sequence,capture_s,region,mean,warming_up\n";
    for (int i = 0; i < 400; ++i)
        text += std::to_string(i) + "," + std::to_string(i / 10.0) + ",x," +
                (i >= 100 && i < 110 ? "1000,1\n"
                 : i % 100 < 50      ? "10,0\n"
                                     : "12,0\n");
    for (int event = 1; event <= 3; ++event)
        text += "# event: " + std::to_string(event) + "," + std::to_string(100 * event) + "," +
                std::to_string(10 * event) + ",stimulus\n";
    test::write_file(folder / "t.csv", text);
    const ChildResult ran =
        run({"trials", "t.csv", "--around", "stimulus", "--before", "2", "--after", "3", "--csv", "m.csv"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_NE(ran.out.find("400 rows of 1 region, column mean over capture_s; 10 made during a warm-up"),
              std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find("3 trials, F₀ 12"), std::string::npos) << ran.out;
    EXPECT_EQ(test::read_file(folder / "m.csv").find("x,0,340,"), std::string::npos) << "(1000 + 10 + 10)/3";
    EXPECT_NE(test::read_file(folder / "m.csv").find("\nx,0,10,"), std::string::npos)
        << test::read_file(folder / "m.csv");
}

/// Values made with other settings than the last row are not averaged with it.
TEST_F(TrialsCommand, SkipsRowsWithOtherSettings) {
    const auto rows = [](int from, int to, int value) {
        std::string text;
        for (int i = from; i < to; ++i)
            text += std::to_string(i) + "," + std::to_string(i / 10.0) + ",x," + std::to_string(value) + "\n";
        return text;
    };
    const auto events = [](std::string text) {
        for (int event = 1; event <= 3; ++event)
            text += "# event: " + std::to_string(event) + "," + std::to_string(100 * event) + "," +
                    std::to_string(10 * event) + ",stimulus\n";
        return text;
    };
    const std::string head =
        "# version 1, chain: speckle:radius=3\n# version 1, map: flow F (1/s) of 4×4 "
        "pixels\n# version 1, exposure: 5 ms (camera)\n# version 1, channel: luma\n"
        "# version 1, full scale: 255\n# version 1, region: x: circle, 9 pixels, outline 1\n"
        "# version 1, region: y: circle, 9 pixels, outline 1\n"
        "sequence,capture_s,region,mean\n";
    for (const std::string change :
         {"chain: speckle:radius=6", "exposure: 10 ms (camera)", "map: speckle contrast K (1) of 4×4 pixels",
          "channel: red", "full scale: 4095", "region: x: circle, 9 pixels, outline 2"}) {
        test::write_file(folder / "t.csv", events(head + rows(0, 150, 90) + "# version 2, " + change + "\n" +
                                                  rows(150, 400, 10)));
        const ChildResult ran =
            run({"trials", "t.csv", "--around", "stimulus", "--before", "2", "--after", "3"});
        ASSERT_EQ(ran.status, 0) << ran.all();
        const std::string out = std::regex_replace(ran.out, std::regex("\\s+"), " "); // lines are wrapped
        EXPECT_NE(out.find("150 made with other settings"), std::string::npos) << out;
        EXPECT_NE(ran.out.find("2 trials, F₀ 10"), std::string::npos) << ran.out;
        const ChildResult pulse = run({"pulse", "t.csv"});
        EXPECT_NE(pulse.out.find("250 values"), std::string::npos) << pulse.all();
    }
    // Repeated settings, a rounded exposure, and settings without rows.
    test::write_file(folder / "t.csv",
                     events(head + rows(0, 150, 10) + "# version 2, chain: speckle:radius=3\n" +
                            "# version 2, exposure: 5.001 ms (camera)\n# version 2, channel: luma\n"
                            "# version 2, full scale: 255\n"
                            "# version 2, region: x: circle, 9 pixels, outline 1\n"
                            "# version 2, region: y: circle, 9 pixels, outline 2\n" +
                            rows(150, 400, 10) + "# version 3, chain: speckle:radius=6\n"));
    const ChildResult ran = run({"trials", "t.csv", "--around", "stimulus", "--before", "2", "--after", "3"});
    EXPECT_NE(ran.out.find("3 trials, F₀ 10"), std::string::npos) << ran.all();
}

/// As written by --traces: values of another outline are omitted, only for that region.
TEST_F(TrialsCommand, SkipsRowsWithAnotherOutline) {
    const auto before = placed({"a", "b"});
    auto after = std::make_shared<PlacedRegions>(*before);
    after->spans[1].x = 30; // the same size
    std::string text = traces_columns({});
    const auto add = [&](const std::shared_ptr<const PlacedRegions>& regions, int from, int to) {
        text += traces_settings(result(0, 0, regions, {1, 2}), {});
        for (int i = from; i < to; ++i)
            add_rows(result(static_cast<std::uint64_t>(i), i * 100 * kMs, regions, {1, 2}), {}, text);
    };
    const auto lengths = [&] {
        test::write_file(folder / "t.csv", text);
        const TraceTable table = read_trace_table(folder / "t.csv");
        return std::vector<std::uint64_t>{table.regions.at(0).values.size(),
                                          table.regions.at(1).values.size(), table.other_settings};
    };
    add(before, 0, 5);
    add(std::make_shared<PlacedRegions>(*before), 5, 8); // another edit
    EXPECT_EQ(lengths(), (std::vector<std::uint64_t>{8, 8, 0}));
    add(after, 8, 10);
    EXPECT_EQ(lengths(), (std::vector<std::uint64_t>{10, 2, 8}));
}

TEST_F(TrialsCommand, RefusesTablesWithoutAKnownMean) {
    const auto refused = [&](const std::string& text, const std::vector<std::string>& more) {
        test::write_file(folder / "t.csv", text);
        std::vector<std::string> words = {"trials", "t.csv"};
        words.insert(words.end(), more.begin(), more.end());
        const ChildResult ran = run(words);
        EXPECT_EQ(ran.status, 2) << ran.all();
        EXPECT_FALSE(std::filesystem::exists(folder / "m.csv"));
        return ran.err;
    };
    const std::string good = table("of the values, as mean_of_map", false);
    EXPECT_EQ(refused(good, {"--around", "none", "--csv", "m.csv"}),
              "specklescope: No event of t.csv has the label 'none'; allowed: stimulus, cold, wet.\n");
    const ChildResult over = run({"trials", "t.csv", "--around", "stimulus", "--csv", "t.csv"});
    EXPECT_EQ(over.status, 1) << over.all();
    EXPECT_NE(over.err.find("'t.csv' exists"), std::string::npos) << over.err;
    EXPECT_EQ(test::read_file(folder / "t.csv"), good);
    EXPECT_NE(refused(good, {}).find("trials needs the label of events, --around LABEL"), std::string::npos);
    EXPECT_NE(
        refused(good + "400,1.5,2000,vein,1,1,1,1,9,0,0,0\n", {"--around", "stimulus"}).find("goes back"),
        std::string::npos);
    EXPECT_NE(refused(good + "400,,2000,vein,1,1,1,1,9,0,0,0\n401,1.5,2000,vein,1,1,1,1,9,0,0,0\n",
                      {"--around", "stimulus"})
                  .find("goes back"),
              std::string::npos)
        << "a frame without a time hides no step back";
    EXPECT_NE(refused(good, {"--around", "stimulus", "--before", "-1"}).find("trials_before = -1"),
              std::string::npos);
    EXPECT_NE(refused(good, {"--around", "stimulus", "--rate", "5"}).find("has no effect on trials"),
              std::string::npos);
    const ChildResult view = run({"view", "--around", "x"});
    EXPECT_EQ(view.status, 2);
    EXPECT_NE(view.err.find("--around belongs to specklescope trials"), std::string::npos) << view.err;
}

TEST(TraceTable, MeansMatchTheTextsInTables) {
    for (const RegionMean mean : {RegionMean::plain, RegionMean::of_squares, RegionMean::of_inverses})
        EXPECT_EQ(mean_of_text(mean_text(mean)), mean);
    EXPECT_FALSE(mean_of_text("of something else"));
}

} // namespace specklescope::trials_test
