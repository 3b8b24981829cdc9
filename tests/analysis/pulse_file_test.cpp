// The file written by specklescope pulse --json, and the files it may replace.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace specklescope::pulse_file_test {

/// --json replaces a file only if this program wrote it and it is a pulse.
TEST(PulseFile, ReplacesOnlyPulseFilesOfThisProgram) {
    const TemporaryFolder folder;
    const auto run = [&] {
        return run_program({"pulse", "t.csv", "--json", "p.json"}, folder.path().string());
    };
    test::write_file(folder / "t.csv", "sequence,capture_s,region,mean\n0,0.0,x,1\n");
    const std::string ours = "{\n \"program\": \"Specklescope 0.1\",\n", pulse = " \"content\": \"pulse\",\n";
    for (const std::string& mine :
         {ours + " \"content\": \"bench\",\n}", "{\n \"program\": \"other\",\n" + pulse + "}", ours + "}",
          ours + " \"note\": \"" + std::string(300, 'x') + "\",\n" + pulse + "}", std::string("{}")}) {
        test::write_file(folder / "p.json", mine);
        const ChildResult ran = run();
        EXPECT_EQ(ran.status, 1) << mine;
        EXPECT_NE(ran.err.find("'p.json' exists"), std::string::npos) << ran.all();
        EXPECT_EQ(test::read_file(folder / "p.json"), mine);
    }
    test::write_file(folder / "p.json", ours + pulse + "}");
    EXPECT_EQ(run().status, 0);
    EXPECT_TRUE(nlohmann::json::parse(test::read_file(folder / "p.json")).contains("regions"));
}

} // namespace specklescope::pulse_file_test
