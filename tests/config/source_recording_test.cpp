// A recording as the source: raw frames come with their recorded settings, results are not processed again.
#include "analysis/regions_file.hpp"
#include "config/cli.hpp"
#include "config/last_window.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "config/settings.hpp"
#include "files/image_file.hpp"
#include "tests/support/child.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace specklescope::source_recording_test {

constexpr const char* kScene = "synthetic:vessels?width=64&height=48&live=false";
constexpr const char* kRegions =
    R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},)"
    R"({"name":"µ vein","shape":"line","points":[[1,1],[60,40.5]],"colour":"#102030"}]})";

class SourceRecordingTest : public testing::Test {
protected:
    SourceRecordingTest() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
        write_text(folder_ / "r.json", kRegions);
    }
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), "run");
        return run_program(std::move(words), folder_.path().string());
    }
    void record(const std::vector<std::string>& words) const {
        std::vector<std::string> all = {kScene, "--frames", "6"};
        all.insert(all.end(), words.begin(), words.end());
        const ChildResult result = run(all);
        ASSERT_EQ(result.status, 0) << result.all();
    }
    static Settings parse(std::vector<std::string> words) {
        words.insert(words.begin(), "specklescope");
        std::vector<const char*> argv;
        argv.reserve(words.size());
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return parse_command_line(static_cast<int>(argv.size()), argv.data()).settings;
    }
    Settings view(const std::string& name, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"view", folder_ / name};
        words.insert(words.end(), more.begin(), more.end());
        return parse(words);
    }
    static std::string said(const Settings& settings) {
        std::string all;
        for (const std::string& remark : settings.remarks)
            all += remark + "\n";
        return all;
    }
    static const Mapping& mapping(const Settings& settings) {
        return settings.view.as<ViewSettings>().mapping;
    }
    TemporaryFolder folder_;
};

const std::vector<std::string> kSet = {"--stage",    "temporal:frames=4,output=contrast2",
                                       "--stage",    "flow:output=tau,exposure=3",
                                       "--view",     "low=0.25",
                                       "--view",     "high=7.5",
                                       "--colormap", "inferno",
                                       "--channel",  "green"};

std::vector<std::string> with(std::vector<std::string> words) {
    words.insert(words.end(), kSet.begin(), kSet.end());
    return words;
}

TEST_F(SourceRecordingTest, RawFramesBringChainColoursAndRegions) {
    record(with(
        {"--regions", "r.json", "--record-raw", "a.tiff", "--record-raw", "b.raw", "--record-raw", "c.mkv"}));
    Chain chain;
    chain.add("temporal:frames=4,output=contrast2");
    chain.add("flow:output=tau,exposure=3");
    for (const char* name : {"a.tiff", "b.raw", "c.mkv"}) {
        SCOPED_TRACE(name);
        const Settings shown = view(name);
        EXPECT_EQ(to_string(shown.chain), to_string(chain));
        EXPECT_EQ(mapping(shown).colormap, ColorMap::inferno);
        EXPECT_FALSE(mapping(shown).automatic);
        EXPECT_EQ(mapping(shown).low, 0.25);
        EXPECT_EQ(mapping(shown).high, 7.5);
        ASSERT_TRUE(shown.regions);
        EXPECT_TRUE(*shown.regions == read_regions_json(kRegions, "r.json"));
        EXPECT_EQ(shown.remarks.size(), 1U) << said(shown);
        EXPECT_NE(said(shown).find("Taken from " + (folder_ / name)), std::string::npos) << said(shown);
        EXPECT_NE(said(shown).find("2 regions"), std::string::npos) << said(shown);
    }
    const ChildResult again = run({"a.tiff", "--config", "from:a.tiff", "--record", "again.raw"});
    ASSERT_EQ(again.status, 0) << again.all();
    record(with({"--record", "first.raw"}));
    EXPECT_TRUE(read_text(folder_ / "again.raw") == read_text(folder_ / "first.raw"));
}

TEST_F(SourceRecordingTest, WhatIsOnTheLineWins) {
    record(with({"--regions", "r.json", "--record-raw", "a.tiff"}));
    write_text(folder_ / "other.json",
               R"({"regions":[{"name":"o","shape":"rectangle","points":[[1,1],[2,2]]}]})");
    const Settings shown = view("a.tiff", {"--stage", "speckle:radius=5", "--colormap", "jet", "--view",
                                           "low=1", "--regions", folder_ / "other.json"});
    ASSERT_EQ(shown.chain.stages().size(), 1U);
    EXPECT_EQ(shown.chain.stages()[0].type->name, "speckle");
    EXPECT_EQ(mapping(shown).colormap, ColorMap::jet);
    EXPECT_EQ(mapping(shown).low, 1);
    EXPECT_FALSE(shown.regions);
    EXPECT_EQ(shown.regions_path, folder_ / "other.json");
    const Settings preset = view("a.tiff", {"--preset", "contrast"});
    EXPECT_EQ(preset.chain_from, "preset contrast") << said(preset);
    EXPECT_TRUE(preset.regions);
}

TEST_F(SourceRecordingTest, ResultsAreShownAsTheyAreWithTheirQuantity) {
    record(with({"--regions", "r.json", "--record", "a.tiff", "--record", "b.raw", "--record", "c.mkv",
                 "--record", "d.png"}));
    for (const char* name : {"a.tiff", "b.raw", "c.mkv", "d.png"}) {
        SCOPED_TRACE(name);
        const Settings shown = view(name);
        EXPECT_TRUE(shown.chain.stages().empty()) << to_string(shown.chain);
        ASSERT_TRUE(shown.regions);
        EXPECT_NE(said(shown).find("no stage processes them again"), std::string::npos) << said(shown);
        const bool numbers = name[0] < 'c'; // the others contain colours
        EXPECT_NE(said(shown).find(" in s)"), std::string::npos) << said(shown);
        EXPECT_EQ(mapping(shown).automatic, !numbers);
    }
    // The same without a window.
    const ChildResult plain =
        run({"a.tiff", "--record", "same.raw", "--regions", "r.json", "--traces", "t.csv"});
    ASSERT_EQ(plain.status, 0) << plain.all();
    EXPECT_TRUE(read_text(folder_ / "same.raw") == read_text(folder_ / "b.raw"));
    EXPECT_NE(plain.err.find("no stage processes them again"), std::string::npos) << plain.all();
    const ChildResult twice = run({"a.tiff", "--stage", "speckle", "--record", "twice.raw"});
    ASSERT_EQ(twice.status, 0) << twice.all();
    EXPECT_NE(twice.err.find("no raw frames"), std::string::npos) << twice.all();
}

TEST_F(SourceRecordingTest, ASourceOfStrangersBringsNothingThatItMustNot) {
    nlohmann::ordered_json json = {{"finished", true},
                                   {"program", "Specklescope 99.5"},
                                   {"content", "raw"},
                                   {"format", "gray8"},
                                   {"width", 4},
                                   {"height", 2},
                                   {"chain", "background:dark=file,dark_file=/etc/secret.tiff | speckle"}};
    const auto shown = [&](const std::string& after = "") {
        write_text(folder_ / "made.raw", "12345678");
        write_text(folder_ / "made.raw.jsonl", json.dump() + after + "\n");
        return view("made.raw");
    };
    Settings file = shown();
    EXPECT_EQ(file.chain.stages().at(0).type->name, "speckle") << to_string(file.chain);
    EXPECT_NE(said(file).find("--trust"), std::string::npos) << said(file);
    json["chain"] = "hologram:depth=3";
    EXPECT_NE(said(shown()).find("are not used"), std::string::npos) << said(shown());
    json["content"] = "processed";
    json["parameters"] = "hologram:depth=3";
    json["quantity"] = "depth\nof \x1b[31mfield";
    json["symbol"] = "d";
    json["unit"] = "mm";
    file = shown();
    EXPECT_TRUE(file.chain.stages().empty());
    EXPECT_NE(said(file).find(" in mm)"), std::string::npos) << said(file);
    EXPECT_EQ(said(file).find('\x1b'), std::string::npos);
    json["regions"] = "all";
    file = shown();
    EXPECT_TRUE(file.chain.stages().empty()) << "also where its settings are damaged";
    EXPECT_NE(said(file).find("are not used"), std::string::npos) << said(file);
    json["program"] = "Else";
    EXPECT_EQ(shown().chain.stages().size(), 1U);
    EXPECT_TRUE(shown().remarks.empty());
}

TEST_F(SourceRecordingTest, TheLastWindowOfTheSameRecordingIsKept) {
    record(with({"--record-raw", "a.tiff"}));
    Settings last = view("a.tiff");
    last.remember = true;
    last.chain = {};
    last.chain.add("speckle:radius=6");
    save_remembered(last);
    const Settings again = view("a.tiff");
    EXPECT_EQ(to_string(again.chain), to_string(last.chain));
    EXPECT_NE(said(again).find("--config from:"), std::string::npos) << said(again);
    EXPECT_EQ(to_string(parse({}).chain), to_string(last.chain));
    EXPECT_EQ(view("a.tiff", {"--no-remember"}).chain.stages().at(0).type->name, "temporal");
}

} // namespace specklescope::source_recording_test
