#include "bench/traces.hpp"

#include "analysis/trace_history.hpp"
#include "bench/timing.hpp"

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kInterval = 1'000'000; ///< ns: 1000 frames/s

/// A result with means of `count` regions, to be pushed again and again under another number.
Result result_of(int count) {
    auto placed = std::make_shared<PlacedRegions>();
    auto values = std::make_shared<RegionValues>();
    for (int i = 0; i < count; ++i) {
        PlacedRegion region;
        region.name = "region " + std::to_string(i + 1);
        placed->regions.push_back(region);
        RegionStatistics statistics;
        statistics.mean = i;
        values->statistics.push_back(statistics);
    }
    values->placed = placed;
    Result result;
    result.regions = values;
    return result;
}

class Run {
public:
    explicit Run(int regions) : regions_(regions), result_(result_of(regions)) {}
    void push() {
        result_.info.sequence = frames_;
        result_.info.capture_ns = static_cast<std::int64_t>(frames_++) * kInterval;
        auto values = std::make_shared<RegionValues>(*result_.regions);
        for (RegionStatistics& region : values->statistics)
            region.mean += static_cast<double>((frames_ * 2654435761U >> 7) % 100) * 0.01;
        Result next = result_;
        next.regions = std::move(values);
        history_.push(next);
    }
    void push(std::uint64_t frames) {
        while (frames_ < frames)
            push();
    }
    TraceHistory& history() { return history_; }
    std::int64_t end() const { return static_cast<std::int64_t>(frames_) * kInterval; }

    Json row(const std::string& what, const Spread& ms) {
        const double micro = 1000;
        return {{"work", what},
                {"regions", regions_},
                {"frames", frames_},
                {"us",
                 {{"median", ms.median * micro},
                  {"low", ms.low * micro},
                  {"high", ms.high * micro},
                  {"rounds", ms.rounds}}},
                {"mb", static_cast<double>(history_.overview().bytes) * 1e-6}};
    }

private:
    int regions_;
    std::uint64_t frames_ = 0;
    Result result_;
    TraceHistory history_;
};

} // namespace

Json run_traces() {
    constexpr int kColumns = 1200;
    Json rows = Json::array();
    const auto columns = [&](Run& run, const std::string& what, std::int64_t from) {
        rows.push_back(
            run.row(what, time_calls([&](int) { (void)run.history().curves(from, run.end(), kColumns); })));
    };
    Run one(1), many(16);
    one.push(1'000'000);
    columns(one, "1200 columns of the whole run", 0);
    many.push(62'500);
    columns(many, "1200 columns of the whole run", 0);
    many.push(1'000'000);
    columns(many, "1200 columns of the whole run", 0);
    columns(many, "1200 columns of the last 10 s", many.end() - 10'000 * kInterval);
    rows.push_back(many.row("a frame taken in", time_calls([&](int) { many.push(); })));
    return rows;
}

} // namespace specklescope::bench
