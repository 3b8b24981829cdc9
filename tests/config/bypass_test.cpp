// A bypassed stage: results equal those of the chain without it, at any position, and a recording restores
// the stage with its parameters.
#include "tests/support/child.hpp"

namespace specklescope::bypass_test {

class Bypass : public testing::Test {
protected:
    void SetUp() override {
        std::string film;
        for (int i = 0; i < 40 * 30 * 12; ++i)
            film += static_cast<char>(20 + (i * 7919 ^ i / 64) % 200);
        write_text(folder_ / "film.raw", film);
    }
    ChildResult run(std::vector<std::string> more) const {
        more.insert(more.begin(), {"run", "raw:film.raw?width=40&height=30&format=gray8"});
        return run_program(more, folder_.path().string());
    }
    /// The pixels of all results.
    std::string results(const std::vector<std::string>& stages) const {
        std::vector<std::string> words = {"--record", "out.raw"};
        for (const std::string& stage : stages)
            words.insert(words.end(), {"--stage", stage});
        const ChildResult ran = run(words);
        EXPECT_EQ(ran.status, 0) << ran.all();
        const std::string pixels = read_text(folder_ / "out.raw");
        EXPECT_FALSE(pixels.empty());
        std::filesystem::remove(folder_ / "out.raw");
        std::filesystem::remove(folder_ / "out.raw.jsonl");
        return pixels;
    }
    TemporaryFolder folder_;
};

TEST_F(Bypass, GivesTheNumbersOfTheChainWithoutTheStage) {
    const std::string speckle = "speckle:radius=2,output=contrast";
    const std::string alone = results({speckle});
    EXPECT_TRUE(results({"gaussian:bypass=true,sigma=2", speckle}) == alone) << "the first";
    EXPECT_TRUE(results({speckle, "gaussian:sigma=2,bypass=true"}) == alone) << "the last";
    EXPECT_TRUE(results({"crop:bypass=true,width=8,height=8", "downsample:bypass=true", speckle,
                         "average:bypass=true"}) == alone)
        << "of another size, and one with a history";
    EXPECT_FALSE(results({"gaussian:bypass=false,sigma=2", speckle}) == alone);
    EXPECT_TRUE(results({speckle + ",bypass=true"}) == read_text(folder_ / "film.raw"))
        << "all of them: the raw picture";
}

TEST_F(Bypass, ARecordingBringsItBack) {
    const std::vector<std::string> stages = {"--stage", "gaussian:bypass=true,sigma=2.5", "--stage",
                                             "speckle:radius=2"};
    std::vector<std::string> words = {"--record", "a.tiff", "--save-config", "a.toml"};
    words.insert(words.end(), stages.begin(), stages.end());
    ChildResult ran = run(words);
    ASSERT_EQ(ran.status, 0) << ran.all();
    words.erase(words.begin() + 2, words.begin() + 4);
    ran = run(words);
    ASSERT_EQ(ran.status, 0) << ran.all();
    ran = run({"--config", "from:a.tiff", "--save-config", "b.toml"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    const auto chain_of = [&](const char* file) {
        const std::string text = read_text(folder_ / file);
        return text.substr(text.find("[[stage]]"));
    };
    EXPECT_EQ(chain_of("b.toml"), chain_of("a.toml"));
    EXPECT_NE(chain_of("b.toml").find("name = \"gaussian\"\nbypass = true\n"), std::string::npos)
        << chain_of("b.toml");
    ran = run({"--config", "b.toml", "--record", "b.tiff"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    ran = run({"--config", "from:a.tiff", "--record", "c.tiff"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    write_text(folder_ / "bad.toml", "[[stage]]\nname = \"gaussian\"\nbypass = 1\n");
    ran = run({"--config", "bad.toml"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.err.find(
                  "bad.toml, line 3: stage gaussian: bypass is a whole number here; allowed: true, false."),
              std::string::npos)
        << ran.err;
}

} // namespace specklescope::bypass_test
