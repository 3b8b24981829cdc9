// Several sources in sequence, and file names with placeholders.
#include "config/in_turn.hpp"

#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/images.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

namespace specklescope::in_turn_test {

class InTurn : public testing::Test {
protected:
    /// session/a.tif, b.tif and c.tif with 2, 3 and 4 frames.
    void SetUp() override {
        std::filesystem::create_directory(folder / "session");
        std::filesystem::create_directory(folder / "out");
        int frames = 2;
        for (const char* name : {"a", "b", "c"}) {
            const ChildResult made =
                run({"run", "synthetic:vessels?width=64&height=48&live=false&seed=" + std::to_string(frames),
                     "--stage", "none", "--frames", std::to_string(frames), "--record-raw",
                     "session/" + std::string(name) + ".tif", "--quiet"});
            ASSERT_EQ(made.status, 0) << made.all();
            ++frames;
        }
    }
    ChildResult run(const std::vector<std::string>& arguments) const {
        return run_program(arguments, folder.path().string());
    }
    std::vector<std::string> out() const { return names_in(folder / "out"); }
    TemporaryFolder folder;
};

TEST_F(InTurn, EachFileOfAPatternGivesTheResultThatItGivesAlone) {
    const ChildResult all = run({"run", "session/*.tif", "--record", "out/{stem}_flow.tiff", "--stats",
                                 "out/{count}.json", "--stage", "temporal:frames=2", "--backend", "cpu"});
    ASSERT_EQ(all.status, 0) << all.all();
    EXPECT_EQ(out(), (std::vector<std::string>{"001.json", "002.json", "003.json", "a_flow.tiff",
                                               "b_flow.tiff", "c_flow.tiff"}));
    EXPECT_NE(all.err.find("Source 2 of 3: session/b.tif"), std::string::npos) << all.err;
    EXPECT_NE(all.out.find("3: 3 done, 0 failed"), std::string::npos) << all.out;
    for (const char* name : {"a", "b", "c"}) {
        const ChildResult one =
            run({"run", "session/" + std::string(name) + ".tif", "--record", "out/one_{stem}.tiff", "--stage",
                 "temporal:frames=2", "--backend", "cpu", "--quiet"});
        ASSERT_EQ(one.status, 0) << one.all();
    }
    EXPECT_TRUE(test::python(folder, R"py(
import json, numpy as np, tifffile
for count, (name, frames) in enumerate([("a", 2), ("b", 3), ("c", 4)], 1):
    flow = tifffile.imread(f"out/{name}_flow.tiff")
    np.testing.assert_array_equal(flow, tifffile.imread(f"out/one_{name}.tiff"))
    assert flow.shape[0] == frames, flow.shape
    assert json.load(open(f"out/{count:03}.json"))["frames"]["processed"] == frames
)py")) << test::read_file(folder / "python.log");
}

TEST_F(InTurn, ABadFileIsListedAndTheOthersAreDone) {
    test::write_file(folder / "session/b.tif", "no picture");
    const ChildResult ran = run({"run", "session/*.tif", "--record", "out/{stem}.tiff", "--stage", "none"});
    EXPECT_EQ(ran.status, 1) << ran.all();
    EXPECT_EQ(out(), (std::vector<std::string>{"a.tiff", "c.tiff"}));
    EXPECT_NE(ran.out.find("3: 2 done, 1 failed"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("failed      session/b.tif: "), std::string::npos) << ran.out;
}

TEST_F(InTurn, SourcesAreNamedOneByOneAsWell) {
    const ChildResult ran = run({"run", "session/c.tif", "session/a.tif?loop=true", "--frames", "3",
                                 "--record", "out/{count}-{stem}.tiff", "--stage", "none"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_EQ(out(), (std::vector<std::string>{"001-c.tiff", "002-a.tiff"}));
    EXPECT_TRUE(test::python(folder, "import tifffile\n"
                                     "for name in ('001-c', '002-a'):\n"
                                     "    with tifffile.TiffFile(f'out/{name}.tiff') as f:\n"
                                     "        assert len(f.pages) == 3, name\n"))
        << test::read_file(folder / "python.log");
}

TEST_F(InTurn, WhatCannotBeMeantIsRefusedBeforeAnythingIsDone) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"session/*.tif", "--record", "out/flow.tiff"},
         "--record out/flow.tiff would be the same file for 'session/a.tif' and 'session/b.tif'"},
        {{"session/*.tif", "session/a.tif", "--stats", "out/{stem}.json"},
         "would be the same file for 'session/a.tif' and 'session/a.tif'"},
        {{"session/*.tif", "--record", "out/{name}.tiff"}, "{name}; allowed: {stem}, "},
        {{"session/a.tif", "--record", "out/{stem.tiff"}, "{stem.tiff}"},
        {{"session/*.png"}, "'session/*.png'"},
        {{"session/a.tif", "session/b.tif", "--save-config", "out/s.toml"},
         "--save-config saves one SOURCE"}};
    for (const auto& [words, sentence] : cases) {
        std::vector<std::string> arguments = {"run"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        const ChildResult ran = run(arguments);
        EXPECT_EQ(ran.status, 2) << ran.all();
        EXPECT_NE(ran.err.find(sentence), std::string::npos) << ran.all();
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        EXPECT_TRUE(out().empty());
    }
}

TEST_F(InTurn, AFileWhoseNameIsAPatternIsThatFile) {
    std::filesystem::rename(folder / "session/a.tif", folder / "session/*.tif");
    const ChildResult ran =
        run({"run", "session/*.tif", "--record", "out/{stem}.tiff", "--stage", "none", "--quiet"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_EQ(out(), (std::vector<std::string>{"*.tiff"}));
}

TEST(FileNames, HaveTheirPlacesFilledIn) {
    NamePlaces places{"rat", 12, {}};
    places.begin.tm_year = 126;
    places.begin.tm_mon = 10;
    places.begin.tm_mday = 2;
    places.begin.tm_hour = 9;
    places.begin.tm_min = 5;
    EXPECT_EQ(fill_name("{date}/{time}_{stem}-{count}.tiff", places), "2026-11-02/09-05-00_rat-012.tiff");
    EXPECT_EQ(fill_name("{{stem}}}", places), "{stem}}");
    EXPECT_EQ(fill_name("", places), "");
    EXPECT_EQ(fill_name("{subject}", places), "subject");
    places.subject = "mouse/7";
    places.what = "raw";
    EXPECT_EQ(fill_name("{subject}_{what}", places), "mouse-7_raw");
    places.count = 12345;
    EXPECT_EQ(fill_name("{count}", places), "12345");
}

TEST(FileNames, TakeTheStemOfFilesAndTheKindOfOthers) {
    for (const auto& [source, stem] :
         std::vector<std::pair<std::string, std::string>>{{"folder/rat.day1.tif?rate=5", "rat.day1"},
                                                          {"raw:folder/x.bin?width=1&height=1", "x"},
                                                          {"folder/images/", "images"},
                                                          {"synthetic:vessels?seed=2", "synthetic"},
                                                          {"rtsp://user:secret@host/live", "rtsp"},
                                                          {"", "synthetic"}})
        EXPECT_EQ(stem_of(source), stem) << source;
}

} // namespace specklescope::in_turn_test
