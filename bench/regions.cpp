#include "bench/sections.hpp"

#include "analysis/region.hpp"
#include "analysis/trace_history.hpp"
#include "bench/report.hpp"
#include "have_cuda.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr Shape kFieldShape{1392, 1040, 1, PixelType::u16};
constexpr const char* kWork = "speckle:radius=2";

/// Regions in rows: rectangle, ellipse and polygon alternating, each over half the sides of its cell.
std::vector<Region> spread_over(int columns, int rows) {
    std::vector<Region> regions;
    const double w = static_cast<double>(kFieldShape.width) / columns,
                 h = static_cast<double>(kFieldShape.height) / rows;
    for (int i = 0; i < columns * rows; ++i) {
        const int column = i % columns, line = i / columns;
        const double x = w * (column + 0.25), y = h * (line + 0.25);
        const double right = x + w / 2, bottom = y + h / 2;
        Region region{
            "r" + std::to_string(i), static_cast<RegionShape>(i % 3), {{x, y}, {right, bottom}}, "", false};
        if (region.shape == RegionShape::polygon)
            region.points = {{x, y}, {right, y + h / 8}, {x + w / 4, bottom}};
        regions.push_back(std::move(region));
    }
    return regions;
}

struct RegionCase {
    const char* name;
    std::vector<Region> regions;
    bool medians = false;
};

std::vector<RegionCase> cases() {
    std::vector<Region> whole;
    whole.reserve(16);
    for (int i = 0; i < 16; ++i)
        whole.push_back({"r" + std::to_string(i),
                         RegionShape::rectangle,
                         {{0, 0}, {kFieldShape.width - 1.0, kFieldShape.height - 1.0}},
                         "",
                         false});
    return {{"16 regions", spread_over(4, 4)},
            {"16 regions, medians", spread_over(4, 4), true},
            {"1000 regions", spread_over(40, 25)},
            {"16 regions of the whole image", std::move(whole)}};
}

/// Alternating, so that other load affects both equally.
Json row(Executor& executor, const RegionCase& work) {
    constexpr int kRounds = 7;
    constexpr double kSeconds = 0.6;
    const auto outlines = make_outlines(work.regions, work.medians);
    std::vector<double> without, with;
    for (int i = 0; i < kRounds; ++i) {
        executor.set_regions(nullptr, 1);
        without.push_back(1e3 / run_stream(executor, {kWork}, kFieldShape, false, kSeconds).frames_per_s);
        executor.set_regions(outlines, 1);
        with.push_back(1e3 / run_stream(executor, {kWork}, kFieldShape, false, kSeconds).frames_per_s);
    }
    std::uint64_t pixels = 0;
    for (const PlacedRegion& region : place_regions(outlines, *executor.output(), 1)->regions)
        pixels += region.pixels;
    const Spread plain = spread_of(std::move(without)), measured = spread_of(std::move(with));
    const std::string where = executor.backend() == "cuda" ? "GPU" : "CPU";
    std::fprintf(stderr, "%s %s: %s ms, without %s ms\n", where.c_str(), work.name,
                 digits(measured.median).c_str(), digits(plain.median).c_str());
    return {{"work", where + " " + kWork},
            {"image", to_string(kFieldShape)},
            {"regions", work.name},
            {"pixels", pixels},
            {"frames_per_s_without", 1e3 / plain.median},
            {"frames_per_s", 1e3 / measured.median},
            {"ms", measured.median - plain.median},
            {"share", 1 - plain.median / measured.median}};
}

void add_rows(Json& rows, Executor& executor) {
    for (const RegionCase& work : cases())
        rows.push_back(row(executor, work));
}

constexpr std::int64_t kInterval = 1'000'000; ///< ns: 1000 frames/s

/// A result with means of `count` regions, to be pushed repeatedly with new numbers.
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

Json run_regions(const Settings& settings, [[maybe_unused]] bool gpu) {
    const auto& program = settings.program.as<ProgramSettings>();
    Json rows = Json::array();
    if (program.executor.backend != Backend::cuda)
        add_rows(rows, *make_host_executor(program.executor.threads));
#ifdef SPECKLESCOPE_HAVE_CUDA
    if (gpu)
        add_rows(rows, *make_cuda_executor());
#endif
    return rows;
}

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
