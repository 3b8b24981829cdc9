// The command check: real recordings, its JSON, and bad words.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace specklescope::check_command_test {

class CheckCommand : public testing::Test {
protected:
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    nlohmann::json report(const std::string& source) const {
        const ChildResult done = run({"check", source, "--json", "check.json"});
        EXPECT_EQ(done.status, 0) << done.err;
        return nlohmann::json::parse(std::ifstream(folder.path() / "check.json"));
    }
    TemporaryFolder folder;
};

TEST_F(CheckCommand, DescribesASavedSceneAndFindsItsRepeatedFrame) {
    // A file of 20 frames of which one comes twice.
    ASSERT_EQ(run({"run", "synthetic:vessels?width=96&height=80&live=false", "--stage", "none", "--frames",
                   "10", "--record-raw", "a.raw"})
                  .status,
              0);
    std::string bytes;
    {
        std::ifstream in(folder.path() / "a.raw", std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    const std::size_t frame = bytes.size() / 10;
    const bool wide = frame > std::size_t{96} * 80;
    bytes.insert(3 * frame, bytes.substr(2 * frame, frame));
    std::ofstream(folder.path() / "b.raw", std::ios::binary) << bytes;
    const nlohmann::json found =
        report(std::string("raw:b.raw?width=96&height=80&format=") + (wide ? "gray16le" : "gray8"));
    EXPECT_EQ(found["content"], "check");
    EXPECT_EQ(found["facts"]["frames"], 11);
    EXPECT_EQ(found["facts"]["width"], 96);
    bool repeated = false;
    for (const auto& finding : found["findings"]) {
        repeated = repeated || finding["what"] == "repeated";
        EXPECT_TRUE(finding["value"].is_number() && finding["advice"].is_string());
    }
    EXPECT_TRUE(repeated);
}

TEST_F(CheckCommand, EndsWithTheStatusOfItsFailure) {
    EXPECT_EQ(run({"check"}).status, 2);
    EXPECT_EQ(run({"check", "a.tiff", "b.tiff"}).status, 2);
    EXPECT_EQ(run({"check", "missing.tiff"}).status, 1);
    EXPECT_EQ(run({"check", "synthetic", "--loop"}).status, 2);
    std::ofstream(folder.path() / "other.json") << "{}";
    EXPECT_NE(run({"check", "synthetic?live=false", "--json", "other.json"}).status, 0);
}

} // namespace specklescope::check_command_test
