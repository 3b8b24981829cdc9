// The command pulse: the heart of a simulated scene, and invalid tables.
#include "analysis/pulse.hpp"
#include "analysis/pulse_table.hpp"

#include "base/error.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace specklescope::pulse_command_test {

/// A beat of two harmonics.
double beat(double phase) {
    const double angle = 2 * std::numbers::pi * phase;
    return 1 + 0.2 * std::cos(angle) + 0.06 * std::cos(2 * angle - 0.7);
}

class PulseCommand : public testing::Test {
protected:
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    TemporaryFolder folder;
};

/// The simulated heart beats 1.2 times per second (sources/synthetic/synthetic_source.hpp).
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

TEST_F(PulseCommand, ReadsForeignAndTruncatedTables) {
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
    EXPECT_NE(found.out.find("600 rows of 1 region, column mean over arrival_s; the incomplete last line"),
              std::string::npos)
        << found.out;
    EXPECT_NE(found.out.find("1.500 Hz (90.0 beats/min)"), std::string::npos) << found.out;
    EXPECT_NE(found.out.find("2 without a number left out"), std::string::npos) << found.out;
    EXPECT_EQ(names_in(folder.path().string()), std::vector<std::string>{"t.csv"});
}

/// Frames made during a warm-up have other values: here 100 times too large.
TEST_F(PulseCommand, SkipsAndCountsWarmUpRows) {
    std::string text = "sequence,capture_s,region,mean,warming_up\n", never = text;
    for (int i = 0; i < 900; ++i) {
        const std::string row = std::to_string(i) + "," + std::to_string(i / 50.0) + ",x,";
        const double value = beat(1.5 * i / 50);
        text += row + std::to_string(i < 50 ? 100 + value : value) + (i < 50 ? ",1\n" : ",0\n");
        never += i < 50 ? "" : row + std::to_string(value) + ",\n";
    }
    text += "900,18.0,late,7,1\n"; // a region that only appears in a warm-up
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

TEST_F(PulseCommand, RefusesInvalidTables) {
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
        {head, {"pulse", "t.csv", "u.csv"}, 2, "'u.csv'"},
        {head, {"pulse", "none.csv"}, 1, "There is no file 'none.csv'"},
        {head, {"pulse", "."}, 1, "'.'"},
        {head, {"pulse", "t.csv", "--frames", "3"}, 2, "--frames has no effect on pulse"},
        {head, {"pulse", "t.csv", "--json", "missing/p.json"}, 1, "missing"},
        {head, {"pulse", "t.csv", "--json", "t.csv"}, 1, "'t.csv' exists"},
        {head, {"run", "synthetic", "--json", "p.json"}, 2, "--json belongs to specklescope bench"}};
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

} // namespace specklescope::pulse_command_test
