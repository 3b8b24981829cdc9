// Surprising effects are reported: a chain that replaces another, a range that does not fit the next source.
#include "config/cli.hpp"
#include "config/last_window.hpp"
#include "config/settings.hpp"
#include "tests/support/child.hpp"

#include <cstdlib>

namespace specklescope::remarks_test {

class Remarks : public testing::Test {
protected:
    Remarks() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    static Settings parse(std::vector<std::string> words) {
        words.insert(words.begin(), "specklescope");
        std::vector<const char*> argv;
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return parse_command_line(static_cast<int>(argv.size()), argv.data()).settings;
    }
    static std::string said(const Settings& settings) {
        std::string all;
        for (const std::string& remark : settings.remarks)
            all += remark + "\n";
        return all;
    }
    TemporaryFolder folder_;
};

TEST_F(Remarks, AChainThatReplacesAnotherIsNamed) {
    const std::string file = folder_ / "mine.toml";
    write_text(file, "[[stage]]\nname = \"temporal\"\n");
    EXPECT_EQ(said(parse({"run", "synthetic", "--preset", "flow"})), "");
    EXPECT_EQ(said(parse({"run", "synthetic", "--stage", "speckle", "--stage", "average"})), "");
    EXPECT_EQ(said(parse({"run", "synthetic", "--preset", "flow", "--stage", "speckle"})),
              "The chain of preset flow is replaced by that of --stage.\n");
    EXPECT_EQ(said(parse({"run", "synthetic", "--preset", "flow", "--config", file})),
              "The chain of preset flow is replaced by that of " + file + ".\n");
    EXPECT_EQ(said(parse({"run", "synthetic", "--config", file, "--stage", "none"})),
              "The chain of " + file + " is replaced by that of --stage.\n");
    const ChildResult run = run_program({"run", "synthetic:uniform?width=64&height=48", "--frames", "2",
                                         "--preset", "flow", "--stage", "speckle"},
                                        folder_.path().string());
    EXPECT_EQ(run.status, 0) << run.all();
    EXPECT_NE(run.err.find("preset flow is replaced"), std::string::npos) << run.all();
}

TEST_F(Remarks, AnEndOfTheRangeFixesIt) {
    const auto automatic = [](const Settings& settings) {
        return settings.view.as<ViewSettings>().mapping.automatic;
    };
    EXPECT_TRUE(automatic(parse({"run", "synthetic"})));
    EXPECT_FALSE(automatic(parse({"run", "synthetic", "--view", "high=4"})));
    EXPECT_TRUE(automatic(parse({"run", "synthetic", "--view", "high=4", "--view", "automatic=true"})));
}

TEST_F(Remarks, ARememberedRangeStaysWithItsPicture) {
    Settings last = parse({"film.mkv", "--stage", "speckle:output=contrast", "--view", "high=0.5"});
    save_remembered(last);
    const auto fixed = [](const Settings& settings) {
        return !settings.view.as<ViewSettings>().mapping.automatic;
    };
    EXPECT_TRUE(fixed(parse({})));
    EXPECT_TRUE(fixed(parse({"film.mkv"})));
    EXPECT_FALSE(fixed(parse({"other.mkv"})));
    EXPECT_NE(said(parse({"other.mkv"})).find("0 to 0.5"), std::string::npos);
    EXPECT_FALSE(fixed(parse({"film.mkv", "--stage", "speckle:output=sfi"})));
    EXPECT_TRUE(fixed(parse({"film.mkv", "--stage", "speckle:output=contrast,radius=5"})));
    EXPECT_TRUE(fixed(parse({"other.mkv", "--view", "high=0.25"}))) << "asked for";
}

TEST_F(Remarks, APresetLooksTheSameWhateverTheLastWindowShowed) {
    save_remembered(parse({"film.mkv", "--stage", "speckle:radius=9", "--view", "layout=raw"}));
    const auto layout = [](const Settings& settings) { return to_string(settings.view.get("layout")); };
    EXPECT_EQ(layout(parse({})), "raw");
    EXPECT_EQ(layout(parse({"--preset", "contrast"})), "processed");
    EXPECT_NE(parse({"--preset", "contrast"}).source.shown().find("film.mkv"), std::string::npos)
        << "but the source stays";
}

TEST_F(Remarks, ADamagedMemoryOfTheRangeIsLeftOut) {
    Settings last = parse({"film.mkv"});
    last.view.as<ViewSettings>().mapping.low_percentile = 100;
    save_remembered(last);
    EXPECT_EQ(parse({}).source, "");
}

} // namespace specklescope::remarks_test
