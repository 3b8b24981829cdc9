// `specklescope bench`: timing, measured work, report, and the pages made from reports.
#include "base/error.hpp"
#include "bench/cases.hpp"
#include "bench/host.hpp"
#include "bench/report.hpp"
#include "bench/sections.hpp"
#include "tests/support/child.hpp"
#include "tests/support/places.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace specklescope::bench_test {

using namespace bench;

TEST(Bench, SpreadIsMedianAndQuartiles) {
    const Spread odd = spread_of({5, 1, 4, 2, 3});
    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(odd.low, 2);
    EXPECT_EQ(odd.high, 4);
    EXPECT_EQ(odd.rounds, 5);
    EXPECT_EQ(spread_of({1, 2}).median, 1.5);
    EXPECT_EQ(spread_of({}).rounds, 0);
}

TEST(Bench, NumbersHaveThreeSignificantDigits) {
    EXPECT_EQ(digits(0), "0");
    EXPECT_EQ(digits(4567.8), "4568");
    EXPECT_EQ(digits(12.345), "12.3");
    EXPECT_EQ(digits(0.0123456), "0.0123");
    EXPECT_EQ(digits(-1.2345), "-1.23");
}

TEST(Bench, EveryStageIsMeasuredAtEverySize) {
    const std::vector<KernelCase> cases = kernel_cases("");
    for (const StageType& stage : stage_types())
        for (const char* size : {"1392×1040", "1920×1080", "3840×2160", "7680×4320"}) {
            const auto found = std::find_if(cases.begin(), cases.end(), [&](const KernelCase& c) {
                return c.work.substr(0, c.work.find(':')) == stage.name &&
                       c.name().find(size) != std::string::npos;
            });
            EXPECT_NE(found, cases.end()) << stage.name << " " << size;
        }
    std::set<std::string> names;
    for (const KernelCase& work : published_cases("published")) {
        Chain chain;
        EXPECT_NO_THROW(chain.add(work.work)) << work.work;
    }
    for (const KernelCase& work : cases) {
        EXPECT_TRUE(names.insert(work.name()).second) << work.name() << " twice";
        Chain chain;
        EXPECT_NO_THROW(chain.add(work.work)) << work.work;
    }
}

TEST(Bench, FramesAreTwelveBitSpeckle) {
    const Frame frame = speckle_frames({256, 200, 1, PixelType::u16}, 1, host_memory()).front();
    double sum = 0;
    double squares = 0;
    const auto view = frame.host().as<std::uint16_t>();
    for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < view.width; ++x) {
            ASSERT_LE(view.row(y)[x], 4095);
            sum += view.row(y)[x];
            squares += static_cast<double>(view.row(y)[x]) * view.row(y)[x];
        }
    const double mean = sum / 51200;
    EXPECT_NEAR(mean, 400, 10);
    EXPECT_NEAR(std::sqrt(squares / 51200 - mean * mean) / mean, 1,
                0.05); // fully developed
    EXPECT_EQ(frame.info().full_scale, 4095);
}

TEST(Bench, DifferenceDetectsOneWrongPixel) {
    const Shape shape{33, 7, 1, PixelType::f32};
    const Frame a = poisoned_frames(shape, 1, std::byte{0x40}).front();
    const Frame b = poisoned_frames(shape, 1, std::byte{0x40}).front();
    EXPECT_EQ(difference(a.host(), b.host()), 0);
    a.host().as<float>().row(6)[32] *= 1.5F;
    EXPECT_NEAR(difference(a.host(), b.host()), 0.5, 1e-6);
    a.host().as<float>().row(6)[32] = std::nanf("");
    EXPECT_TRUE(std::isinf(difference(a.host(), b.host())));
}

TEST(Bench, FeedsCountEveryFrame) {
    for (const char* name : {"raw file", "TIFF recorder", "plain write"}) {
        const std::vector<FeedRun> runs = run_feeds(std::string("feeds ") + name, 0.05);
        ASSERT_FALSE(runs.empty()) << name;
        for (const FeedRun& run : runs) {
            EXPECT_TRUE(run.name.starts_with(name)) << run.name;
            EXPECT_NE(run.place, "");
            EXPECT_GT(run.frames, 0);
            EXPECT_EQ(run.dropped, 0);
            EXPECT_NEAR(run.mb_per_s, run.frames_per_s * 1392 * 1040 * 2e-6, 1e-6 * run.mb_per_s);
            EXPECT_GT(run.cpu, 0);
        }
    }
    EXPECT_TRUE(run_feeds("nothing of this name", 0.05).empty());
}

TEST(Bench, WritesAReportOfItsMeasurements) {
    TemporaryFolder folder;
    const ChildResult run = run_program({"bench", "--filter", "speckle:radius=2 1392×1040 u16", "--backend",
                                         "cpu", "--json", folder / "host.json"},
                                        folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    const auto report = nlohmann::json::parse(read_text(folder / "host.json"));
    ASSERT_EQ(report.at("kernels").size(), 1U);
    EXPECT_GT(report.at("kernels")[0].at("ms").at("median"), 0.0);
    EXPECT_EQ(report.at("kernels")[0].at("difference"), 0.0);
    EXPECT_GT(report.at("ceilings").front(), 0.0);
    const std::vector<std::string> simd = simd_to_compare();
    ASSERT_EQ(report.at("simd").size(), simd.size() < 2 ? 0U : 1U);
    for (std::size_t i = 0; i < simd.size() && simd.size() > 1; ++i)
        EXPECT_GT(report.at("simd")[0].at("ms_by_simd").at(simd[i]).at("median"), 0.0);
    ASSERT_FALSE(report.at("published").empty());
    EXPECT_EQ(report.at("published")[0].at("on"), "1 thread");
    EXPECT_GT(report.at("published")[0].at("ms").at("median"), 0.0);
    const std::string row = "CPU speckle:radius=2  1392×1040 u16";
    EXPECT_NE(run.out.find(row), std::string::npos) << run.out;
    const ChildResult again = run_program({"bench", folder / "host.json"}, folder.path().string());
    EXPECT_EQ(again.status, 0) << again.all();
    EXPECT_NE(again.out.find(row), std::string::npos) << again.out;
}

/// The pages of docs/benchmarks match page.py's output for the reports next to them.
TEST(Bench, ThePagesMatchTheirReports) {
    namespace fs = std::filesystem;
    const TemporaryFolder folder;
    const fs::path docs = fs::path(test::source_folder()) / "docs";
    for (const auto& file : fs::directory_iterator(docs / "benchmarks"))
        if (file.path().extension() == ".json")
            fs::copy(file.path(), folder.path());
    const std::string script = (docs / "benchmarks/page.py").string();
    ASSERT_EQ(std::system(("cd '" + folder.path().string() + "' && python3 '" + script +
                           "' --page benchmarks.md $(ls *.json)")
                              .c_str()),
              0);
    EXPECT_EQ(read_text(folder / "benchmarks.md"), read_text(docs / "benchmarks.md"));
    for (const auto& file : fs::directory_iterator(folder.path() / "benchmarks"))
        EXPECT_EQ(read_text(file.path()), read_text(docs / "benchmarks" / file.path().filename()))
            << file.path();
}

TEST(Bench, RefusesOtherFiles) {
    TemporaryFolder folder;
    std::ofstream(folder / "no.json") << "{ no";
    EXPECT_EQ(run_program({"bench", folder / "no.json"}, folder.path().string()).status, 1);
    EXPECT_EQ(run_program({"bench", folder / "missing.json"}, folder.path().string()).status, 1);
}

} // namespace specklescope::bench_test
