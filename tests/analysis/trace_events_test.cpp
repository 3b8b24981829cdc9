// Baselines and events: F₀ of each region, editable labels, and both in trace files.
#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "base/error.hpp"
#include "pipeline/chain.hpp"
#include "recording/recorder.hpp"
#include "recording/traces.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>
#include <sstream>
#include <thread>
#include <tuple>

namespace specklescope::trace_events_test {

constexpr std::int64_t kMs = 1'000'000;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Result frame(std::uint64_t sequence, const std::vector<std::pair<std::string, double>>& means,
             int column = 0) {
    auto placed = std::make_shared<PlacedRegions>();
    auto values = std::make_shared<RegionValues>();
    for (const auto& [name, mean] : means) {
        PlacedRegion region;
        region.name = name;
        region.span = static_cast<std::uint32_t>(placed->spans.size());
        region.spans = 1;
        placed->spans.push_back({column, static_cast<int>(placed->spans.size()), 3});
        placed->regions.push_back(region);
        RegionStatistics statistics;
        statistics.mean = mean;
        values->statistics.push_back(statistics);
    }
    values->placed = placed;
    Result result;
    result.info.sequence = sequence;
    result.info.capture_ns = static_cast<std::int64_t>(sequence) * 10 * kMs;
    result.regions = values;
    return result;
}

TEST(TraceBaseline, IsTheMeanOfEachRegionOverTheLastSeconds) {
    TraceHistory history;
    Baseline baseline;
    EXPECT_FALSE(baseline.take(history, 5));
    EXPECT_FALSE(baseline.taken());
    for (std::uint64_t i = 0; i < 1000; ++i)
        history.push(
            frame(i, {{"a", i < 500 ? 100.0 : 2 + static_cast<double>(i % 2)}, {"zero", 0}, {"none", kNaN}}));
    ASSERT_TRUE(baseline.take(history, 5));
    EXPECT_EQ(baseline.taken()->frames, 500U);
    EXPECT_EQ(baseline.taken()->from.sequence, 500U);
    auto regions = history.overview().regions;
    const auto f0 = [&](std::size_t region) { return baseline.of(regions[region], history.overview()); };
    EXPECT_EQ(f0(0), 2.5);
    EXPECT_EQ(f0(1), std::nullopt); // undefined relative to 0
    EXPECT_EQ(f0(2), std::nullopt);
    EXPECT_FALSE(baseline.moved(regions[0]));
    EXPECT_DOUBLE_EQ(relative_change(3, 2.5), 20);
    EXPECT_DOUBLE_EQ(relative_change(2, 2.5), -20);
    // F₀ stays with a renamed region, is dropped when the region is moved, and is not used for another
    // region.
    history.push(frame(1000, {{"b", 3}, {"zero", 0}, {"none", kNaN}}));
    regions = history.overview().regions;
    EXPECT_EQ(f0(0), 2.5);
    EXPECT_EQ(baseline.changed(history.overview()), "");
    history.push(frame(1001, {{"b", 3}, {"zero", 0}, {"new", 1}}, 7));
    regions = history.overview().regions;
    EXPECT_EQ(f0(0), std::nullopt);
    EXPECT_TRUE(baseline.moved(regions[0]));
    EXPECT_NE(baseline.changed(history.overview()).find("outline of b"), std::string::npos);
    EXPECT_EQ(f0(2), std::nullopt);
    EXPECT_FALSE(baseline.moved(regions[2]));
    baseline.clear();
    EXPECT_EQ(f0(0), std::nullopt);
}

TEST(TraceBaseline, AFailedBaselineKeepsThePreviousOne) {
    TraceHistory history;
    Baseline baseline;
    history.push(frame(0, {{"a", 4}}));
    ASSERT_TRUE(baseline.take(history, 1));
    history.push(frame(300, {{"a", kNaN}}));
    EXPECT_FALSE(baseline.take(history, 1));
    EXPECT_EQ(baseline.of(history.overview().regions[0], history.overview()), 4);
}

/// A frame made by this chain with this exposure.
Result made(Result result, const std::string& chain, double exposure_ms = 5) {
    result.chain = std::make_shared<const Chain>(chain_from_text(chain));
    result.exposure = {exposure_ms, ExposureOrigin::camera};
    return result;
}

TEST(TraceBaseline, AppliesOnlyToItsSettings) {
    TraceHistory history;
    Baseline baseline;
    std::uint64_t next = 0;
    const auto play = [&](double value, const std::string& chain, double exposure_ms = 5) {
        for (int i = 0; i < 200; ++i)
            history.push(made(frame(next++, {{"a", value}}), chain, exposure_ms));
    };
    const auto f0 = [&] {
        const TraceOverview overview = history.overview();
        return baseline.of(overview.regions.at(0), overview);
    };
    play(2, "speckle:radius=3");
    ASSERT_TRUE(baseline.take(history, 1));
    EXPECT_EQ(f0(), 2);
    play(2, "speckle:radius=3", 5.001);     // a camera's rounding
    play(2, "speckle:radius=3,exposure=7"); // not used: the camera's counts
    EXPECT_EQ(f0(), 2);
    EXPECT_TRUE(history.overview().restarts.empty());
    for (const auto& [chain, exposure, named] : std::vector<std::tuple<std::string, double, std::string>>{
             {"speckle:radius=6", 5, "radius 3, now 6"},
             {"speckle:radius=3", 2.5, "exposure 5 ms, now 2.5 ms"},
             {"gaussian | speckle:radius=3", 5, "chain"},
             {"speckle:radius=3,output=contrast", 5, "output"}}) {
        play(5, chain, exposure);
        EXPECT_EQ(f0(), std::nullopt) << chain;
        EXPECT_NE(baseline.changed(history.overview()).find(named), std::string::npos)
            << baseline.changed(history.overview());
    }
    EXPECT_EQ(history.overview().restarts.size(), 4U);
    play(2, "gaussian:bypass=true | speckle:radius=3"); // unchanged
    EXPECT_EQ(f0(), 2);
    EXPECT_EQ(baseline.changed(history.overview()), "");
    // The channel matters if a stage got one of a colour image.
    Result red = made(frame(next++, {{"a", 2}}), "speckle:radius=3");
    Result other = made(frame(next++, {{"a", 4}}), "speckle:radius=3");
    Chain chain = *other.chain;
    chain.set_channel(GreyChannel::green);
    other.chain = std::make_shared<const Chain>(chain);
    red.to_grey = other.to_grey = true;
    history.push(red); // the channel is known from here on
    ASSERT_TRUE(baseline.take(history, 1));
    history.push(other);
    EXPECT_EQ(f0(), std::nullopt);
}

TEST(TraceBaseline, UsesFramesOfOneSettingOnly) {
    TraceHistory history;
    Baseline baseline;
    for (std::uint64_t i = 0; i < 60; ++i) // 10 ms each
        history.push(
            made(frame(i, {{"a", i < 50 ? 100.0 : 3}}), i < 50 ? "speckle:radius=3" : "speckle:radius=6"));
    ASSERT_TRUE(baseline.take(history, 5));
    EXPECT_EQ(baseline.taken()->frames, 10U);
    EXPECT_EQ(baseline.taken()->regions.at(0).mean, 3);
    const TraceOverview overview = history.overview();
    const auto curves = history.curves(overview.first_ns, overview.last_ns + 1, 1000);
    ASSERT_EQ(curves.at(0).size(), 60U);
    for (const TraceColumn& column : curves[0])
        EXPECT_EQ(overview.comparable(column, baseline.taken()->with), column.low == 3);
    EXPECT_TRUE(curves[0][50].broken);
    const auto columns = history.curves(overview.first_ns, overview.last_ns + 1, 7);
    int mixed = 0;
    for (const TraceColumn& column : columns.at(0)) {
        mixed += column.low != column.high ? 1 : 0;
        EXPECT_EQ(overview.comparable(column, baseline.taken()->with), column.high == 3);
    }
    EXPECT_EQ(mixed, 1);
    EXPECT_EQ(history.extremes(0, overview.last_ns, baseline.taken()->with).at(0)->high, 3);
    EXPECT_EQ(history.extremes(0, overview.last_ns).at(0)->high, 100);
    const auto settings_at = [&](int frame) { return history.values_at(frame * 10 * kMs)->settings.at(0); };
    ASSERT_TRUE(overview.find(settings_at(49)));
    EXPECT_NE(settings_at(49), settings_at(50));
}

TEST(TraceBaseline, IgnoresAPausedFrameAfterAnEdit) {
    TraceHistory history;
    Baseline baseline;
    for (std::uint64_t i = 0; i < 10; ++i)
        history.push(made(frame(i, {{"a", 2}}), "speckle:radius=3"));
    ASSERT_TRUE(baseline.take(history, 5));
    Result again = made(frame(9, {{"a", 4}}), "speckle:radius=6");
    again.repeated = true;
    history.push(again);
    TraceOverview overview = history.overview();
    EXPECT_EQ(overview.frames, 10U);
    EXPECT_EQ(overview.regions.at(0).newest, 4); // as in the image
    EXPECT_EQ(baseline.of(overview.regions[0], overview), std::nullopt);
    history.push(made(frame(10, {{"a", 2}}), "speckle:radius=3"));
    overview = history.overview();
    EXPECT_EQ(overview.regions.at(0).newest, 2);
    EXPECT_EQ(baseline.of(overview.regions[0], overview), 2);
}

TEST(TraceEvents, HaveNumbersLabelsAndFrames) {
    EventLog log;
    EXPECT_EQ(log.mark({5, 7, 9}).mark.label, "event 1");
    const TimedEvent second = log.mark({50, 70, 90}, "  a\tstimulus\n of light ");
    EXPECT_EQ(second.mark.label, "a stimulus of light");
    EXPECT_EQ(second.mark.number, 2U);
    EXPECT_EQ(second.mark.sequence, 90U);
    EXPECT_EQ(second.mark.capture_ns, 70);
    EXPECT_EQ(second.time_ns, 50);
    ASSERT_TRUE(log.rename(1, "rest"));
    EXPECT_EQ(log.events()[0].mark.label, "rest");
    EXPECT_FALSE(log.rename(1, "rest")); // nothing changes
    EXPECT_FALSE(log.rename(1, " \n"));
    EXPECT_FALSE(log.rename(77, "rest"));
    EXPECT_EQ(log.remembered(), std::vector<std::string>{"rest"});
    const auto gone = log.remove(1);
    ASSERT_TRUE(gone);
    EXPECT_TRUE(gone->mark.removed);
    EXPECT_FALSE(log.remove(1));
    EXPECT_EQ(log.mark({}).mark.label, "event 3"); // numbers are not reused
    EXPECT_EQ(log.events().size(), 2U);
}

TEST(TraceEvents, LabelsAreCutBetweenCharacters) {
    EventLog log;
    std::string label;
    for (int i = 0; i < 150; ++i)
        label += "é";
    const std::string kept = log.mark({}, "x" + label).mark.label;
    EXPECT_EQ(kept, "x" + label.substr(0, 198)); // 199 of 200 bytes: one more would split a character
    for (std::size_t i = 1; i < EventLog::kMaxEvents; ++i)
        log.mark({});
    EXPECT_THROW(log.mark({}), UsageError);
}

std::vector<std::string> lines_with(const std::string& text, const std::string& begin) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (text.compare(at, begin.size(), begin) == 0)
            found.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

TEST(TraceEvents, AreCommentLinesInTheTable) {
    const TemporaryFolder folder;
    const std::string path = folder / "t.csv";
    const auto traces = make_traces(path);
    EventMark event{1, 3, 30 * kMs, "light, \"on\"", false};
    traces->mark(event); // not open yet: no file to write to
    traces->open({});
    for (std::uint64_t i = 0; i < 4; ++i)
        traces->push(frame(i, {{"a", 1}}), true);
    traces->mark(event);
    std::thread([&] { // from another thread, like the window
        event.label = "other";
        traces->mark(event);
    })
        .join();
    event.removed = true;
    traces->mark(event);
    for (std::uint64_t i = 4; i < 8; ++i)
        traces->push(frame(i, {{"a", 1}}), true);
    traces->close();
    traces->mark(event); // too late
    const std::string text = test::read_file(path);
    const std::vector<std::string> events = lines_with(text, "# event: ");
    ASSERT_EQ(events.size(), 4U) << text;
    EXPECT_EQ(events[0].rfind("# event: number,sequence,capture_s,label", 0), 0U); // column names
    EXPECT_EQ(events[1], "# event: 1,3,0.030000000,\"light, \"\"on\"\"\"");
    EXPECT_EQ(events[2], "# event: 1,3,0.030000000,other");
    EXPECT_EQ(events[3], "# event: 1,3,0.030000000,");
    EXPECT_LT(text.find("\n3,0.03"), text.find("# event: 1,"));
    EXPECT_GT(text.find("\n4,0.04"), text.find("# event: 1,"));
    EXPECT_EQ(traces->status().written, 8U); // frames
    EXPECT_EQ(traces->status().queued, 0U);
    EXPECT_EQ(traces->status().dropped, 0U);
    EXPECT_TRUE(test::python(folder, R"py(
import csv
rows = list(csv.DictReader(l for l in open("t.csv", newline="") if not l.startswith("#")))
assert [int(r["sequence"]) for r in rows] == list(range(8)), rows
)py")) << test::read_file(folder / "python.log");
}

/// Written with the next recorded frame; removed events are marked.
TEST(TraceEvents, AreInTheSidecarOfARecording) {
    const TemporaryFolder folder;
    RecordOptions options;
    options.path = folder / "r.raw";
    options.what = RecordWhat::raw;
    const auto recorder = make_recorder(options);
    EventMark event{1, 1, 10 * kMs, "é", false};
    recorder->open({});
    FrameRing ring({16, 8, 1, PixelType::u8}, 8, host_memory());
    const auto push = [&](std::uint64_t sequence) {
        Result result;
        result.raw = ring.acquire(std::chrono::seconds(60));
        for (int y = 0; y < 8; ++y)
            std::memset(result.raw.host().row(y), 7, 16);
        result.info.sequence = sequence;
        result.raw.info() = result.info;
        recorder->push(result, true);
    };
    push(0);
    push(1);
    recorder->mark(event);
    event.number = 2;
    event.removed = true;
    recorder->mark(event);
    push(2);
    push(3);
    recorder->close();
    std::istringstream lines(test::read_file(folder / "r.raw.jsonl"));
    std::vector<nlohmann::json> read;
    for (std::string line; std::getline(lines, line);)
        read.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(read.size(), 5U); // one for the file, four for frames
    EXPECT_FALSE(read[2].contains("events"));
    EXPECT_FALSE(read[4].contains("events"));
    ASSERT_EQ(read[3]["events"].size(), 2U);
    EXPECT_EQ(read[3]["events"][0],
              (nlohmann::json{{"number", 1}, {"sequence", 1}, {"capture_ns", 10 * kMs}, {"label", "é"}}));
    EXPECT_EQ(read[3]["events"][1]["removed"], true);
}

TEST(TraceEvents, LongLabelsUseOnlyTheMemoryOfTheStoredPart) {
    EventLog log;
    constexpr std::size_t kLong = 1'000'000;
    log.mark({}, std::string(kLong, 'x'));
    const EventMark moved = log.mark({}, std::string(kLong, ' ') + "y" + std::string(kLong, ' ')).mark;
    EXPECT_EQ(moved.label, "y");
    for (const TimedEvent& event : log.events())
        EXPECT_LE(event.mark.label.capacity(), 2 * EventLog::kMaxLabel);
    EXPECT_EQ(log.events()[0].mark.label.size(), EventLog::kMaxLabel);
}

} // namespace specklescope::trace_events_test
