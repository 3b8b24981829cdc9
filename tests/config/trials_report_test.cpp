// Report of specklescope trials on events without a frame, or at a frame without a time.
#include "tests/support/child.hpp"

#include <regex>

namespace specklescope::trials_report_test {

class TrialsReport : public testing::Test {
protected:
    /// Frames 0 to 99, ten per second; `untimed` frames have no time.
    std::string said(const std::vector<int>& untimed, const std::vector<int>& events) {
        std::string table = "sequence,capture_s,region,mean\n";
        const auto time = [&](int frame) {
            const bool none = std::find(untimed.begin(), untimed.end(), frame) != untimed.end();
            return none ? std::string("nan") : std::to_string(frame / 10.0);
        };
        for (int i = 0; i < 100; ++i)
            table += std::to_string(i) + "," + time(i) + ",x,5\n";
        for (std::size_t i = 0; i < events.size(); ++i)
            table += "# event: " + std::to_string(i + 1) + "," + std::to_string(events[i]) + "," +
                     (events[i] < 100 ? time(events[i]) : "nan") + ",stimulus\n";
        write_text(folder_ / "t.csv", table);
        const ChildResult result =
            run_program({"trials", "t.csv", "--around", "stimulus", "--before", "1", "--after", "1"},
                        folder_.path().string());
        EXPECT_EQ(result.status, 0) << result.all();
        return std::regex_replace(result.out, std::regex("\\s+"), " "); // independent of line breaks
    }
    const TemporaryFolder folder_;
};

TEST_F(TrialsReport, CountsEventsAtFramesWithoutATimeApart) {
    const std::string text = said({30, 50}, {20, 30, 50, 500});
    EXPECT_NE(text.find("1 trial, F₀ 5"), std::string::npos) << text;
    EXPECT_NE(text.find("; 1 event at frames that the table does not hold left out"), std::string::npos)
        << text;
    EXPECT_NE(text.find("; 2 events whose frame has no time left out"), std::string::npos) << text;
}

TEST_F(TrialsReport, SaysOfEventsWithoutATimeThatTheyAreThere) {
    const std::string text = said({30}, {30});
    EXPECT_NE(text.find("none: no event has a time; 1 event whose frame has no time left out"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("there is no event"), std::string::npos) << text;
    EXPECT_EQ(text.find("does not hold"), std::string::npos) << text;
    EXPECT_NE(
        said({}, {500}).find("none: no event has a time; 1 event at frames that the table does not hold"),
        std::string::npos);
}

} // namespace specklescope::trials_report_test
