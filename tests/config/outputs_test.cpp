// A run never writes the same file twice or to one of its inputs, by any path. It checks this before opening
// anything.
#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <tuple>

namespace specklescope::outputs_test {
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

const char* const kRegions =
    R"({"regions": [{"name": "all", "shape": "rectangle", "points": [[4, 4], [40, 40]]},)"
    R"( {"name": "artery", "shape": "line", "points": [[4, 4], [40, 40]]}]})";

class Outputs : public testing::Test {
protected:
    void SetUp() override {
        write_text(folder_ / "r.json", kRegions);
        fs::create_directory(folder_ / "out");
        fs::create_directory_symlink("out", folder_ / "link");
    }
    ChildResult run(Words words, const std::string& source = "synthetic:uniform?width=64&height=48") {
        words.insert(words.begin(), {"run", source, "--frames", "3", "--backend", "cpu"});
        return run_program(words, folder_.path().string());
    }
    void expect_refused(const Words& words, const std::string& what, const std::string& source) {
        const std::vector<std::string> before = all_names();
        const ChildResult result = source.empty() ? run(words) : run(words, source);
        EXPECT_EQ(result.status, 2) << words.back() << result.all();
        EXPECT_NE(result.err.find(what), std::string::npos) << words.back() << result.all();
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
            << "one sentence: " << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(all_names(), before) << "something was begun";
    }
    void expect_one(const Words& words) { expect_refused(words, "would be the same file", ""); }
    void expect_read(const Words& words, const std::string& source = "") {
        expect_refused(words, "which is read", source);
    }
    std::vector<std::string> all_names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
            names.push_back(entry.path().string());
        std::sort(names.begin(), names.end());
        return names;
    }
    const TemporaryFolder folder_;
};

TEST_F(Outputs, OfAnyTwoKindsAreNotOneFile) {
    const Words kinds = {"--record",    "--record-raw", "--record-mask", "--record-screen", "--snapshot",
                         "--kymograph", "--stats",      "--traces",      "--widths"};
    for (std::size_t i = 0; i < kinds.size(); ++i)
        for (std::size_t k = i; k < kinds.size(); ++k) {
            const bool again = kinds[i].starts_with("--record");
            if (i == k && !again) // the last one counts
                continue;
            // A kymograph writes the file of its line.
            const std::string first = kinds[i] == "--kymograph" ? "x.tiff" : "x-artery.tiff";
            const std::string second = kinds[k] == "--kymograph" ? "./x.tiff" : "out/../x-artery.tiff";
            expect_one({"--regions", "r.json", kinds[i], first, kinds[k], second});
        }
}

TEST_F(Outputs, ByLinksAndFoldersAreOneAllTheSame) {
    expect_one({"--record", "out/a.tiff", "--record-raw", "link/a.tiff"});
    expect_one({"--regions", "r.json", "--traces", (folder_ / "out/t.csv"), "--widths", "link/t.csv"});
    write_text(folder_ / "old.json", "");
    fs::create_hard_link(folder_ / "old.json", folder_ / "hard.json");
    expect_one({"--stats", "old.json", "--regions", "r.json", "--traces", "hard.json"});
    write_text(folder_ / "old.tiff", "");
    fs::create_hard_link(folder_ / "old.tiff", folder_ / "hard.tiff");
    expect_one({"--record", "old.tiff", "--record-raw", "hard.tiff"});
}

TEST_F(Outputs, BesideOthersCountAsWell) {
    expect_one({"--record-raw", "a.raw", "--stats", "./a.raw.jsonl"});
    expect_one({"--record", "a.raw", "--record-raw", "./a.raw"});
    expect_one({"--report", "a.pdf", "--snapshot", "a.png"});
    expect_one({"--regions", "r.json", "--report", "a.pdf", "--traces", "a.csv"});
    expect_one({"--regions", "r.json", "--kymograph", "k.tiff", "--traces", "k-artery.tiff.csv"});
}

TEST_F(Outputs, AreNoneOfTheFilesThatAreRead) {
    ASSERT_EQ(run({"--record-raw", "in.raw", "--record-raw", "out/1.tiff"}).status, 0);
    expect_read({"--record", "./in.raw"}, "in.raw");
    expect_read({"--stats", "in.raw.jsonl"}, "raw:in.raw");
    expect_read({"--record", "link/1.tiff"}, "out/1.tiff");
    expect_read({"--record", "link/1.tiff"}, "out");
    expect_read({"--regions", "r.json", "--stats", "./r.json"});
    fs::create_hard_link(folder_ / "in.raw", folder_ / "hard.raw");
    expect_read({"--record-raw", "hard.raw"}, "in.raw");
    expect_read({"--baseline", "out/1.tiff", "--record", "link/1.tiff"});
}

TEST_F(Outputs, OfOtherNamesAreWritten) {
    ASSERT_EQ(run({"--record-raw", "in.tiff"}).status, 0);
    const ChildResult result = run(
        {"--regions", "r.json",   "--record",  "a.tiff",       "--record-raw", "out/a.tiff", "--record-mask",
         "mask.tiff", "--record", "a.raw",     "--snapshot",   "a.png",        "--stats",    "a.json",
         "--traces",  "a.csv",    "--widths",  "w.csv",        "--kymograph",  "k.tiff",     "--record",
         "out/2.png", "--record", "/dev/null", "--record-raw", "/dev/null"},
        "in.tiff");
    EXPECT_EQ(result.status, 0) << result.all();
    for (const char* name : {"a.tiff", "out/a.tiff", "mask.tiff", "a.raw", "a.raw.jsonl", "a.png", "a.json",
                             "a.csv", "w.csv", "k-artery.tiff", "k-artery.tiff.csv", "out/2.png"})
        EXPECT_TRUE(fs::exists(folder_ / name)) << name << result.all();
}

TEST_F(Outputs, OfSeveralSourcesAreNotThoseOfAnother) {
    for (const char* name : {"out/a.tiff", "out/b.tiff"})
        ASSERT_EQ(run({"--record-raw", name}).status, 0);
    const ChildResult result = run_program(
        {"run", "out/a.tiff", "out/b.tiff", "--record", "link/{stem}.tiff"}, folder_.path().string());
    EXPECT_EQ(result.status, 2) << result.all();
    EXPECT_NE(result.err.find("which is read"), std::string::npos) << result.all();
    EXPECT_EQ(run_program({"run", "out/a.tiff", "out/b.tiff", "--record", "link/{stem}-flow.tiff"},
                          folder_.path().string())
                  .status,
              0);
}

/// A second line with the same name in file names gets a number, as for existing files.
TEST_F(Outputs, OfLinesWhoseNamesAreOneInNamesOfFilesAreTwo) {
    const auto lines = [&](const std::string& first, const std::string& second) {
        return R"({"regions": [{"name": ")" + first +
               R"(", "shape": "line", "points": [[4, 4], [40, 40]]}, {"name": ")" + second +
               R"(", "shape": "line", "points": [[4, 40], [40, 4]]}]})";
    };
    const std::string start(160, 'x'); // file names contain no more of a name
    write_text(folder_ / "two.json", lines("a/b", "a_b"));
    write_text(folder_ / "long.json", lines(start + "1", start + "2"));
    for (const auto& [regions, name] :
         {std::pair{"two.json", std::string("k-a_b")}, std::pair{"long.json", "k-" + start}}) {
        const ChildResult result = run({"--regions", regions, "--kymograph", "k.tiff"});
        EXPECT_EQ(result.status, 0) << result.all();
        for (const char* ending : {".tiff", ".tiff.csv", "-1.tiff", "-1.tiff.csv"})
            EXPECT_TRUE(fs::exists(folder_ / (name + ending))) << name << ending << result.all();
    }
    expect_one({"--regions", "two.json", "--kymograph", "q.tiff", "--record", "q-a_b.tiff"});
}

TEST_F(Outputs, AreNoneOfASequenceThatIsRead) {
    for (const char* name : {"out/1.tiff", "out/2.tiff"})
        ASSERT_EQ(run({"--record-raw", name}).status, 0);
    expect_read({"--record", "out/1.tiff"}, "out/%d.tiff");
    expect_read({"--record", "link/2.tiff"}, "out/%d.tiff");
    for (const char* other : {"out/x.tiff", "out/01.tiff", "out/3.tiff", "1.tiff"}) {
        const ChildResult result = run({"--record", other}, "out/%d.tiff");
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_TRUE(fs::exists(folder_ / other)) << other << result.all();
    }
}

/// An output for one of several sources would be an input of a later one.
TEST_F(Outputs, AreNoFramesOfALaterSource) {
    fs::create_directory(folder_ / "in");
    for (const char* name : {"out/1.tiff", "out/2.tiff", "in/5.tiff"})
        ASSERT_EQ(run({"--record-raw", name}).status, 0);
    const auto in_turn = [&](const std::string& first, const std::string& second, const std::string& name) {
        return run_program({"run", first, second, "--record", name, "--backend", "cpu"},
                           folder_.path().string());
    };
    for (const char* later : {"out", "link", "out/%d.tiff", "link/%d.tiff"}) {
        const ChildResult result = in_turn("in/5.tiff", later, "out/1{count}.tiff");
        EXPECT_EQ(result.status, 2) << later << result.all();
        EXPECT_NE(result.err.find("which is read"), std::string::npos) << later << result.all();
        EXPECT_FALSE(fs::exists(folder_ / "out/1001.tiff")) << later;
    }
    const ChildResult behind = in_turn("out", "in/5.tiff", "out/{stem}-behind.tiff");
    EXPECT_EQ(behind.status, 0) << "it has been read by then: " << behind.all();
    const ChildResult beside = in_turn("in/5.tiff", "out", "in/{stem}-beside.tiff");
    EXPECT_EQ(beside.status, 0) << beside.all();
    const ChildResult tables =
        run_program({"run", "in/5.tiff", "out", "--stats", "out/{stem}.json", "--backend", "cpu"},
                    folder_.path().string());
    EXPECT_EQ(tables.status, 0) << "no picture: " << tables.all();
}

TEST_F(Outputs, OfBenchAreNotItsReports) {
    const auto refused = [&](const Words& words, const std::string& why) {
        const ChildResult result = run_program(words, folder_.path().string());
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_NE(result.err.find(why), std::string::npos) << result.all();
        EXPECT_EQ(result.out, "");
    };
    write_text(folder_ / "b.json", "{}");
    refused({"bench", "b.json", "--json", "./b.json"}, "which is read");
}

/// A word before "=" is the name of an image, unless a file or folder has that name.
TEST_F(Outputs, NamesOfImagesAreThoseOfAStage) {
    const Words stage = {"--stage", "speckle:also=contrast", "--regions", "r.json"};
    const auto with = [&](Words words) {
        words.insert(words.begin(), stage.begin(), stage.end());
        return words;
    };
    for (const char* kind : {"--record", "--traces", "--kymograph", "--widths"})
        expect_refused(with({kind, "contrasT=x.csv"}), "allowed: ", "");
    EXPECT_EQ(run(with({"--record", "mean=x.tiff"})).status, 2) << "the chain does not give it";
    fs::create_directory(folder_ / "run=3");
    for (const char* file : {"run=3/x.tiff", "./contrasT=x.tiff", "a b=x.tiff"}) {
        const ChildResult result = run(with({"--record", file}));
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_TRUE(fs::exists(folder_ / file)) << file;
    }
    EXPECT_EQ(run(with({"--record", "contrast=run=3/y.tiff"})).status, 0);
    EXPECT_TRUE(fs::exists(folder_ / "run=3/y.tiff"));
}

TEST_F(Outputs, EachImageHasItsOwnTraces) {
    const Words stage = {"--stage", "speckle:also=contrast+mean", "--regions", "r.json"};
    const auto with = [&](const Words& words) {
        Words all = stage;
        for (const std::string& word : words)
            all.insert(all.end(), {"--traces", word});
        return all;
    };
    expect_refused(with({"a.csv", "b.csv"}), "a.csv and b.csv", "");
    expect_refused(with({"mean=a.csv", "b.csv", "mean=c.csv"}), "a.csv and c.csv", "");
    const auto rows = [&](const std::string& file) {
        std::string found;
        std::istringstream lines(read_text(folder_ / file));
        for (std::string line; std::getline(lines, line);)
            if (!line.starts_with('#')) { // without arrival_s, which differs between runs
                const std::size_t second = line.find(',', line.find(',') + 1);
                found += line.substr(0, second) + line.substr(line.find(',', second + 1)) + "\n";
            }
        return found;
    };
    for (const Words& one : {Words{"flow.csv"}, Words{"contrast=contrast.csv"}, Words{"mean=mean.csv"}})
        ASSERT_EQ(run(with(one)).status, 0);
    const ChildResult all = run(with({"all.csv", "contrast=all-contrast.csv", "mean=all-mean.csv"}));
    ASSERT_EQ(all.status, 0) << all.all();
    EXPECT_EQ(rows("all.csv"), rows("flow.csv"));
    EXPECT_EQ(rows("all-contrast.csv"), rows("contrast.csv"));
    EXPECT_EQ(rows("all-mean.csv"), rows("mean.csv"));
    EXPECT_NE(rows("mean.csv"), rows("contrast.csv"));
    EXPECT_GT(rows("mean.csv").size(), 100U);
}

} // namespace specklescope::outputs_test
