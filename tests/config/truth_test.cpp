// --truth: the table and the maps agree with the options of the simulated source.
#include "files/npy_file.hpp"
#include "sources/synthetic/synthetic_source.hpp"
#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace specklescope::truth_test {

const std::string kScene =
    "synthetic:straight?width=96&height=40&tau=2&vessel=8&rho=0.8&rate=20&live=false&speed=0&"
    "drift_x=0.25&drift_y=-1&exposures=1,4&seed=3";

TEST(Truth, TableAndMapsAreThoseOfTheScene) {
    const TemporaryFolder folder;
    const ChildResult result = run_program(
        {"run", kScene, "--frames", "5", "--stage", "none", "--backend", "cpu", "--truth", "truth.csv"},
        folder.path().string());
    ASSERT_EQ(result.status, 0) << result.all();

    std::ifstream table(folder / "truth.csv");
    std::vector<std::vector<double>> rows;
    for (std::string line; std::getline(table, line);) {
        if (line.empty() || std::isdigit(static_cast<unsigned char>(line[0])) == 0)
            continue;
        std::istringstream in(line);
        rows.emplace_back();
        for (std::string cell; std::getline(in, cell, ',');)
            rows.back().push_back(std::stod(cell));
    }
    ASSERT_EQ(rows.size(), 5U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto frame = static_cast<double>(i);
        ASSERT_EQ(rows[i].size(), 6U);
        EXPECT_EQ(rows[i][0], frame);
        EXPECT_EQ(rows[i][1], frame);
        EXPECT_EQ(rows[i][2], i % 2 == 0 ? 1 : 4);
        EXPECT_EQ(rows[i][3], 0.25 * frame);
        EXPECT_EQ(rows[i][4], -frame);
        EXPECT_NEAR(rows[i][5], pulse_wave(std::fmod(frame / 20 * kPulseRate, 1)), 1e-12);
    }

    const NpyArray maps = read_npy(folder / "truth.npy");
    ASSERT_EQ(maps.shape, (std::vector<std::size_t>{3, 40, 96}));
    const std::size_t pixels = 40 * 96;
    EXPECT_NEAR(maps.values[0], 20, 1e-4); // tissue: a tenth of the speed
    EXPECT_NEAR(maps.values[16], 2, 1e-4); // the first vessel begins at 2 widths
    EXPECT_NEAR(maps.values[pixels], 0.8, 1e-6);
    EXPECT_NEAR(maps.values[2 * pixels], SpeckleOptics(2).beta(), 1e-6);
}

TEST(Truth, OtherSourcesAndNamesAreRefused) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::vector<std::string>& words) {
        const ChildResult result = run_program(words, folder.path().string());
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_NE(result.err.find("--truth"), std::string::npos) << result.all();
    };
    std::ofstream(folder / "a.raw", std::ios::binary) << std::string(64, 'x');
    refused({"run", "raw:a.raw?width=8&height=8&format=gray8", "--truth", "truth.csv"});
    refused({"run", kScene, "--frames", "1", "--truth", "truth.tiff"});
    EXPECT_FALSE(std::filesystem::exists(folder / "truth.npy"));
    // A file of other numbers is not replaced.
    std::ofstream(folder / "flow.csv") << "a,b\n1,2\n";
    const ChildResult kept =
        run_program({"run", kScene, "--frames", "1", "--truth", "flow.csv"}, folder.path().string());
    EXPECT_NE(kept.status, 0);
}

} // namespace specklescope::truth_test
