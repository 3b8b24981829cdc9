// Header of the report of specklescope pulse: number of values and their gaps.
#include "tests/support/child.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <regex>

namespace specklescope::pulse_report_test {

TEST(PulseReport, TellsThePartsOfATraceWithLongGapsAndOfNoOther) {
    const TemporaryFolder folder;
    std::string table = "sequence,capture_s,region,mean\n";
    int split = 0, whole = 0;
    for (int i = 0; i < 1000; ++i) {
        const double t = i / 25.0;
        const auto add = [&](const char* region) {
            table += std::to_string(i) + "," + std::to_string(t) + "," + region + "," +
                     std::to_string(5 + std::sin(7.5 * t)) + "\n";
        };
        add("whole");
        ++whole;
        if (t < 12 || (t >= 18 && t < 26) || t >= 35) {
            add("split");
            ++split;
        }
    }
    write_text(folder / "t.csv", table);
    const ChildResult result = run_program({"pulse", "t.csv", "--json", "p.json"}, folder.path().string());
    ASSERT_EQ(result.status, 0) << result.all();
    const std::string said = std::regex_replace(result.out, std::regex("\\s+"), " "); // one line
    EXPECT_NE(said.find(std::to_string(split) + " values over"), std::string::npos) << said;
    EXPECT_NE(said.find(std::to_string(whole) + " values over"), std::string::npos) << said;
    const std::size_t at = said.find(", in 3 parts between longer gaps");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_GT(at, said.find(std::to_string(split) + " values over")) << said;
    EXPECT_EQ(said.find("parts between longer gaps"), said.rfind("parts between longer gaps"))
        << "of one region";
    const auto json = nlohmann::json::parse(read_text(folder / "p.json"));
    for (const auto& region : json["regions"]) {
        const bool gaps = region["region"] == "split";
        EXPECT_EQ(region["parts"], gaps ? 3 : 1);
        EXPECT_EQ(region["samples"], gaps ? split : whole);
    }
}

} // namespace specklescope::pulse_report_test
