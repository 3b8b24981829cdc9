// A recording of results keeps their quantity: in playback they are averaged, named and converted as in the
// live run.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <algorithm>
#include <sstream>

namespace specklescope::replay_meaning_test {

constexpr const char* kScene = "synthetic:vessels?width=96&height=64&live=false";

class ReplayMeaning : public testing::Test {
protected:
    ReplayMeaning() {
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    }
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--quiet", "--backend", "cpu"});
        return run_program(words, folder_.path().string());
    }
    /// Rows without arrival times, and the lines on map and mean.
    std::vector<std::string> facts(const std::string& name) const {
        std::vector<std::string> found;
        std::istringstream in(read_text(folder_ / name));
        for (std::string line; std::getline(in, line);) {
            for (const char* about : {", map: ", ", mean: "})
                if (const std::size_t at = line.find(about); line.starts_with("#") && at != std::string::npos)
                    found.push_back(line.substr(at));
            if (line.empty() || line[0] < '0' || line[0] > '9')
                continue;
            std::vector<std::string> cells;
            std::istringstream row(line);
            for (std::string cell; std::getline(row, cell, ',');)
                cells.push_back(cell);
            std::string kept = cells.at(0);
            for (std::size_t i = 3; i < 9; ++i)
                kept += "," + cells.at(i);
            found.push_back(kept);
        }
        return found;
    }
    TemporaryFolder folder_;
};

TEST_F(ReplayMeaning, EveryOutputHasTheSameTracesAgainAndOnceMore) {
    for (const char* output : {"contrast", "contrast2", "sfi", "bfi", "tau"})
        for (const char* ending : {".tiff", ".raw"}) {
            const std::string name = std::string(output) + ending,
                              again = std::string(output) + "_2" + ending;
            const ChildResult made =
                run({kScene, "--frames", "4", "--stage", "speckle:radius=2,output=" + std::string(output),
                     "--regions", "r.json", "--traces", "live.csv", "--record", name});
            ASSERT_EQ(made.status, 0) << made.all();
            const ChildResult replayed =
                run({name, "--regions", "r.json", "--traces", "first.csv", "--record-raw", again});
            ASSERT_EQ(replayed.status, 0) << replayed.all();
            const ChildResult second = run({again, "--regions", "r.json", "--traces", "second.csv"});
            ASSERT_EQ(second.status, 0) << second.all();
            const std::vector<std::string> live = facts("live.csv");
            EXPECT_GE(live.size(), 6U);
            EXPECT_EQ(facts("first.csv"), live) << name;
            EXPECT_EQ(facts("second.csv"), live) << name;
        }
}

TEST_F(ReplayMeaning, ARecordedK2IsConvertedAsALiveOne) {
    const std::vector<std::string> measured = {"--stage", "speckle:radius=2,output=contrast2"};
    ASSERT_EQ(run({kScene, "--frames", "4", measured[0], measured[1], "--record", "k2.tiff"}).status, 0);
    ASSERT_EQ(run({kScene, "--frames", "4", measured[0], measured[1], "--stage", "average:frames=2",
                   "--stage", "flow:output=bfi", "--record", "live.raw"})
                  .status,
              0);
    const ChildResult made = run(
        {"k2.tiff", "--stage", "average:frames=2", "--stage", "flow:output=bfi", "--record", "again.raw"});
    ASSERT_EQ(made.status, 0) << made.all();
    EXPECT_EQ(read_text(folder_ / "again.raw"), read_text(folder_ / "live.raw"));
    const ChildResult refused = run({kScene, "--frames", "4", "--stage", "flow:output=bfi"});
    EXPECT_EQ(refused.status, 2) << refused.all();
    const ChildResult of_raw = run({"k2.tiff", "--stage", "flow", "--stage", "flow"});
    EXPECT_EQ(of_raw.status, 2) << "a flow index is no K²: " << of_raw.all();
}

TEST_F(ReplayMeaning, WhatIsAssumedOfALiveResultIsAssumedOfItsRecording) {
    write_text(folder_ / "bare.raw", std::string(32 * 24 * 3, 'a') + std::string(32 * 24, 'k'));
    ASSERT_EQ(run({"raw:bare.raw?width=32&height=24&format=gray8", "--stage", "speckle:radius=1,output=sfi",
                   "--record", "sfi.tiff"})
                  .status,
              0);
    ASSERT_EQ(run({"sfi.tiff", "--stats", "s.json"}).status, 0);
    const std::string stats = read_text(folder_ / "s.json");
    EXPECT_NE(stats.find("\"exposure_origin\": \"default\""), std::string::npos) << stats;
}

TEST_F(ReplayMeaning, ADescriptionThatLiesTooDeepIsRefused) {
    const std::string deep(400000, '['), end(400000, ']');
    write_text(folder_ / "deep.raw", std::string(32 * 24, 'a'));
    write_text(
        folder_ / "deep.raw.jsonl",
        R"({"finished": true, "program":"Specklescope 0.1.0","content":"processed","parameters":"none","format":"gray8",)"
        R"("width":32,"height":24,"regions":)" +
            deep + end + "}\n");
    const ChildResult made = run({"deep.raw", "--frames", "1", "--config", "from:deep.raw"});
    EXPECT_EQ(made.status, 2) << made.all();
    EXPECT_NE(made.err.find("more than 16 deep"), std::string::npos) << made.err;
}

} // namespace specklescope::replay_meaning_test
