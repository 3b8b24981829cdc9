// `specklescope bench`: its figures are figures, its files can be read, and a wrong result does not pass.
#include "base/error.hpp"
#include "bench/cases.hpp"
#include "bench/feeds.hpp"
#include "bench/host.hpp"
#include "bench/newest.hpp"
#include "bench/plot.hpp"
#include "bench/published.hpp"
#include "bench/report.hpp"
#include "bench/simd.hpp"
#include "bench/summary.hpp"
#include "bench/timing.hpp"
#include "tests/support/child.hpp"

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

TEST(Bench, FiguresHaveThreeDigitsThatCount) {
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
    for (const KernelCase& work : cases) {
        EXPECT_TRUE(names.insert(work.name()).second) << work.name() << " twice";
        Chain chain;
        EXPECT_NO_THROW(chain.add(work.work)) << work.work;
    }
}

TEST(Bench, PublishedWorkIsPutBesideItsSourceAndTheOtherMethod) {
    std::set<std::string> sizes;
    for (const Published& system : published())
        for (const KernelCase& work : system.cases) {
            Chain chain;
            EXPECT_NO_THROW(chain.add(work.work)) << work.work;
            sizes.insert(std::to_string(work.shape.width) + "×" + std::to_string(work.shape.height));
        }
    for (const char* size :
         {"1392×1040", "1920×1440", "640×480", "3840×2160", "961×640", "4750×4750", "5661×5661"})
        EXPECT_EQ(sizes.count(size), 1U) << size;
    const auto time = [](double ms) {
        return nlohmann::ordered_json{{"median", ms}, {"low", ms}, {"high", ms}};
    };
    nlohmann::ordered_json report;
    report["machine"] = {{"name", "a GPU"}, {"measured", "a day"}};
    EXPECT_EQ(published_page({report}), "");
    for (const char* on : {"1 thread", "2 threads", "GPU"})
        report["published"].push_back({{"work", "equalize:bins=256"},
                                       {"image", "961×640 u8 RGB"},
                                       {"on", on},
                                       {"ms", time(on[0] - '0')},
                                       {"most", on[0] != '1'},
                                       {"note", ""}});
    report["published"].back()["with_copies_ms"] = time(44);
    for (const auto& [peer, ms] : {std::pair{"slow", 9.0}, {"quick", 7.5}})
        report["peers"].push_back({{"work", "GPU equalize:bins=256 (a note)"},
                                   {"image", "961×640 u8 RGB"},
                                   {"peer", peer},
                                   {"peer_ms", time(ms)},
                                   {"ours_ms", time(1)}});
    std::string page = published_page({report});
    const auto without_padding = [](std::string text) {
        for (std::size_t at = 0; (at = text.find("  ", at)) != std::string::npos;)
            text.erase(at, 1);
        return text;
    };
    page = without_padding(page);
    for (const char* line : {"| 961×640 u8 RGB, equalize:bins=256 | a GPU, 1 thread | 1.00 | – | – | |",
                             "| 961×640 u8 RGB, equalize:bins=256 | a GPU, 2 threads | 2.00 | – | – | |",
                             "| 961×640 u8 RGB, equalize:bins=256 | a GPU | 23.0 | 44.0 | 7.50 | quick |"})
        EXPECT_NE(page.find(line), std::string::npos) << line << "\n" << page;
    EXPECT_NE(page.find("about 10 frames/s (one GPU programmed in CUDA"), std::string::npos) << page;
    EXPECT_EQ(page.find("slow"), std::string::npos);
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

TEST(Bench, DifferenceSeesOneWrongPixel) {
    const Shape shape{33, 7, 1, PixelType::f32};
    const Frame a = poisoned_frames(shape, 1, std::byte{0x40}).front();
    const Frame b = poisoned_frames(shape, 1, std::byte{0x40}).front();
    EXPECT_EQ(difference(a.host(), b.host()), 0);
    a.host().as<float>().row(6)[32] *= 1.5F;
    EXPECT_NEAR(difference(a.host(), b.host()), 0.5, 1e-6);
    a.host().as<float>().row(6)[32] = std::nanf("");
    EXPECT_TRUE(std::isinf(difference(a.host(), b.host())));
}

TEST(Bench, WritesAReportThatMakesAPage) {
    TemporaryFolder folder;
    const ChildResult run =
        run_program({"bench", "--filter", "speckle:radius=2 1392×1040 u16", "--backend", "cpu", "--json",
                     folder / "host.json", "--markdown", folder / "page.md"},
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
    EXPECT_NE(read_text(folder / "page/published.md").find("| 1392×1040 u16, speckle:radius=2 |"),
              std::string::npos)
        << read_text(folder / "page/published.md");
    const std::string page = read_text(folder / "page.md");
    EXPECT_NE(page.find("| flow index, 5×5, 1392×1040 u16 |"), std::string::npos) << page;
    EXPECT_NE(page.find("(page/host.md)"), std::string::npos) << page;
    const std::string all = read_text(folder / "page/host.md");
    EXPECT_NE(all.find("| CPU speckle:radius=2, 1392×1040 u16 |"), std::string::npos) << all;
    const ChildResult again = run_program({"bench", folder / "host.json", "--markdown", folder / "again.md"},
                                          folder.path().string());
    ASSERT_EQ(again.status, 0) << again.all();
    EXPECT_EQ(read_text(folder / "again/host.md"), all);
    EXPECT_EQ(read_text(folder / "again/published.md"), read_text(folder / "page/published.md"));
    EXPECT_NE(page.find("![page/host-radius.svg](page/host-radius.svg)"), std::string::npos) << page;
    EXPECT_TRUE(std::filesystem::exists(folder / "page/host-radius.svg"));
}

TEST(Bench, TheNewestRunOfAWorkOnAMachineStands) {
    const auto row = [](const std::string& work) {
        return nlohmann::ordered_json{{"work", work}, {"image", "8×8 u8"}};
    };
    const auto report = [&](const char* name, const char* date, const std::vector<std::string>& works) {
        nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
        for (const std::string& work : works)
            kernels.push_back(row(work));
        return nlohmann::ordered_json{{"machine", {{"name", name}, {"measured", date}}},
                                      {"kernels", kernels}};
    };
    std::vector<std::pair<std::string, nlohmann::ordered_json>> reports = {
        {"old", report("A", "2026-11-21 10:00 UTC", {"GPU speckle", "CPU convolve", "GPU convolve (tiles)"})},
        {"new", report("A", "2026-11-22 09:00 UTC", {"GPU convolve (whole)"})},
        {"elsewhere", report("B", "2026-11-23 09:00 UTC", {"GPU speckle"})}};
    keep_newest(reports);
    const auto& old = reports[0].second;
    ASSERT_EQ(old.at("kernels").size(), 2U) << old;
    EXPECT_EQ(old.at("kernels")[0].at("work"), "GPU speckle");
    EXPECT_EQ(old.at("kernels")[1].at("work"), "CPU convolve");
    EXPECT_EQ(old.at("machine").at("measured again since, new"), "1 rows, 2026-11-22 09:00 UTC");
    EXPECT_EQ(reports[1].second.at("kernels").size(), 1U);
    EXPECT_EQ(reports[2].second.at("kernels").size(), 1U);
}

TEST(Bench, AChartHoldsEachPointWhereItsAxesSay) {
    const std::string text =
        svg({.title = "a < b",
             .x = "px",
             .y = "ms",
             .series = {{"ours", {{1, 1}, {10, 10}, {100, 100}}}, {"copy", {{1, 10}, {100, 10}}, true}}});
    EXPECT_NE(text.find("a &lt; b"), std::string::npos);
    std::vector<std::pair<double, double>> marks;
    for (std::size_t at = text.find("<circle"); at != std::string::npos; at = text.find("<circle", at + 1)) {
        double x = 0, y = 0;
        ASSERT_EQ(std::sscanf(text.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
        marks.emplace_back(x, y);
    }
    ASSERT_EQ(marks.size(), 3U);                                           // a ceiling has none
    EXPECT_NEAR(marks[1].first, (marks[0].first + marks[2].first) / 2, 1); // equal ratios, equal distances
    EXPECT_NEAR(marks[1].second, (marks[0].second + marks[2].second) / 2, 1);
    EXPECT_LT(marks[2].second, marks[0].second); // upwards is more
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

TEST(Bench, InstructionSetsStandBesideOtherLibraries) {
    const auto time = [](double ms) {
        return nlohmann::ordered_json{{"median", ms}, {"low", ms}, {"high", ms}, {"rounds", 1}};
    };
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    rows.push_back({{"work", "CPU a"}, {"image", "9×9 u8"}, {"peer", "P"}, {"peer_ms", time(8)}});
    rows[0]["ours_ms"] = time(2);
    EXPECT_EQ(peer_table(rows).find("AVX2"), std::string::npos); // as in reports of before
    rows.push_back(rows[0]);
    rows[0]["ours_ms_by_simd"] = {{"AVX3", time(2)}, {"AVX2", time(4)}};
    const std::string table = peer_table(rows);
    EXPECT_NE(table.find("AVX2, ms"), std::string::npos) << table;
    EXPECT_NE(table.find("|   2.00 |\n"), std::string::npos) << table;
    EXPECT_NE(table.find("|      – |\n"), std::string::npos) << table;
}

/// A machine with a GPU has rows of both, that of the CPU first.
TEST(Bench, TheOverviewTellsGpuAndCpuApart) {
    const auto time = [](double ms) {
        return nlohmann::ordered_json{{"median", ms}, {"low", ms}, {"high", ms}, {"rounds", 1}};
    };
    nlohmann::ordered_json report = {{"machine", {{"name", "A GPU"}, {"CPU", "A CPU, AVX2, 2 threads"}}}};
    for (const auto& [processor, ms] : {std::pair{"CPU", 8.0}, {"GPU", 2.0}}) {
        const std::string work = std::string(processor) + " speckle:radius=2";
        report["kernels"].push_back(
            {{"work", work}, {"image", "1392×1040 u16"}, {"ms", time(ms)}, {"copy_ms", time(1)}});
        report["peers"].push_back({{"work", work},
                                   {"image", "1392×1040 u16"},
                                   {"peer", std::string(processor) + " peer"},
                                   {"ours_ms", time(ms)},
                                   {"peer_ms", time(10 * ms)}});
    }
    const std::string table = summary_table({report});
    for (const auto& [processor, ours, other] :
         {std::tuple{"A GPU", "2.00", "20.0"}, {"A CPU, AVX2, 2 threads", "8.00", "80.0"}}) {
        const std::size_t at = table.find(processor);
        ASSERT_NE(at, std::string::npos) << table;
        const std::string line = table.substr(at, table.find('\n', at) - at);
        EXPECT_NE(line.find(ours), std::string::npos) << table;
        EXPECT_NE(line.find(other), std::string::npos) << table;
        EXPECT_NE(line.find(std::string(processor).substr(2, 3) + " peer"), std::string::npos) << table;
    }
    std::set<std::string> series;
    for (const auto& [name, plot] : plots(report))
        for (const Series& each : plot.series) {
            EXPECT_EQ(each.points.size(), 1U) << name << ' ' << each.name;
            series.insert(each.name);
        }
    EXPECT_EQ(series.count("this program, GPU") + series.count("this program, CPU"), 2U);
}

TEST(Bench, RefusesAFileThatIsNoReport) {
    TemporaryFolder folder;
    std::ofstream(folder / "no.json") << "{ no";
    EXPECT_EQ(run_program({"bench", folder / "no.json"}, folder.path().string()).status, 1);
    EXPECT_EQ(run_program({"bench", folder / "missing.json"}, folder.path().string()).status, 1);
}

} // namespace specklescope::bench_test
