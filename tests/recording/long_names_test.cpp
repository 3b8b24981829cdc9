// Names as long as the file system allows: suffixes are checked before the first frame.
#include "base/text.hpp"
#include "files/whole_file.hpp"
#include "recording/lines/lines.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <climits>
#include <ctime>
#include <functional>

namespace specklescope::long_names_test {

const Shape kSmall{8, 8, 1, PixelType::u8}, kOther{16, 8, 1, PixelType::u8};

/// A name of this length with this extension.
std::string long_name(std::size_t bytes, const std::string& ending) {
    return std::string(bytes - ending.size(), 'n') + ending;
}

/// Two files, since the later frames have another size.
SinkStatus record_two(const std::string& path) {
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    Maker first(kSmall), second(kOther);
    for (std::uint64_t n = 0; n < 3; ++n)
        sink->push(first.make(n), true);
    for (std::uint64_t n = 3; n < 6; ++n)
        sink->push(second.make(n), true);
    sink->close();
    return sink->status();
}

TEST(LongNames, TheNextFileOfARecordingHasOneThatFits) {
    for (const auto& [ending, most] :
         {std::pair{".tiff", 255U}, {".ome.tiff", 255U}, {".h5", 255U}, {".raw", 249U}, {".mkv", 255U}}) {
        const TemporaryFolder folder;
        const std::string name = long_name(most, ending);
        const SinkStatus status = record_two(folder / name);
        EXPECT_EQ(status.error, "") << ending;
        EXPECT_EQ(status.written, 6U) << ending;
        ASSERT_EQ(status.before.size(), 1U) << ending;
        EXPECT_EQ(status.before[0].path, folder / name);
        EXPECT_EQ(status.path, folder / long_name(most, std::string("-1") + ending));
        EXPECT_TRUE(fs::exists(status.path));
    }
}

TEST(LongNames, AreRefusedBeforeTheFirstFrameWhereNothingFits) {
    const TemporaryFolder folder;
    for (const auto& [ending, bytes] : {std::pair{".tiff", 256U}, {".raw", 250U}, {".raw", 255U}}) {
        try {
            make_recorder({.path = folder / long_name(bytes, ending), .what = RecordWhat::raw})
                ->open(stream_of(kSmall));
            ADD_FAILURE() << bytes << ending;
        } catch (const RunError& error) {
            EXPECT_NE(std::string(error.what()).find("takes names of 255"), std::string::npos)
                << error.what();
        }
    }
    EXPECT_THROW(check_kymograph(folder / long_name(252, ".tiff")), RunError);
    EXPECT_NO_THROW(check_kymograph(folder / long_name(251, ".tiff")));
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    std::string deep = folder / "";
    while (deep.size() + 4 < PATH_MAX)
        deep += "./";
    EXPECT_THROW(check_length(deep + "a"), RunError);
}

TEST(LongNames, LoseWholeLettersOnly) {
    std::string stem;
    while (stem.size() < 250)
        stem += "µ";
    const std::string name = numbered("f/" + stem + ".tiff", 12345);
    EXPECT_LE(name.size() - 2, 255U);
    EXPECT_GE(name.size() - 2, 254U);
    EXPECT_TRUE(name.ends_with("µ-12345.tiff")) << name;
    EXPECT_EQ(numbered("flow.tiff", 2, 200), "flow-2.tiff");
    EXPECT_EQ(utf8_prefix("aµ", 2), "a");
    EXPECT_EQ(utf8_prefix("aµ", 3), "aµ");
    const std::string of_line = kymograph_path("f/" + stem + ".tiff", std::string(200, 'r'));
    EXPECT_LE(of_line.size() - 2 + 4, 255U);
    EXPECT_TRUE(of_line.ends_with("µ-" + std::string(160, 'r') + ".tiff")) << of_line;
    EXPECT_EQ(kymograph_path("out/flow.tiff", "a/b"), "out/flow-a_b.tiff");
}

TEST(LongNames, OfFilesOnTheirWayLoseWholeLettersOnly) {
    const TemporaryFolder folder;
    std::string name = "a"; // 200 bytes end within a character
    while (name.size() < 230)
        name += "µ";
    const UnnamedFile file(folder / (name + ".png"), UnnamedFile::Way::hidden);
    ASSERT_EQ(file.error(), 0);
    EXPECT_TRUE(is_utf8(folder.names().at(0))) << folder.names().at(0);
}

TEST(LongNames, TheLastNumberIsNamedWhereAllAreTaken) {
    const auto said = [](const std::function<void()>& make) -> std::string {
        try {
            make();
        } catch (const RunError& error) {
            return error.what();
        }
        return "made";
    };
    std::string path;
    EXPECT_EQ(said([&] { (void)create_new("s.tiff", path, kMaxNumber); }),
              "All names from s.tiff to s-99999.tiff are taken. Choose another name.");
    EXPECT_EQ(said([] { (void)create_pair("s.raw", ".jsonl", kMaxNumber); }),
              "All names from s.raw to s-99999.raw are taken. Choose another name.");
}

/// Names of files written at the end are refused at the beginning.
TEST(LongNames, OfFilesThatAreWrittenAtTheEndAreRefusedAtOnce) {
    const TemporaryFolder folder;
    for (const UnnamedFile::Way way : {UnnamedFile::Way::unnamed, UnnamedFile::Way::hidden}) {
        EXPECT_EQ(UnnamedFile(folder / long_name(256, ".json"), way).error(), ENAMETOOLONG);
        UnnamedFile longest(folder / long_name(255, ".json"), way);
        ASSERT_EQ(longest.error(), 0);
        EXPECT_EQ(longest.replace(), 0) << "the name that it has on the way is no longer than 255";
        UnnamedFile next(folder / long_name(255, ".json"), way);
        EXPECT_EQ(next.publish(),
                  folder / long_name(255, way == UnnamedFile::Way::unnamed ? "-1.json" : "-2.json"));
    }
    for (const char* option : {"--stats", "--snapshot"}) {
        const TemporaryFolder empty;
        const ChildResult result = run_program(
            {"run", "synthetic:uniform?width=64&height=48", "--frames", "4", option, long_name(256, ".png")},
            empty.path().string());
        EXPECT_EQ(result.status, 1) << result.all();
        EXPECT_NE(result.err.find("File name too long"), std::string::npos) << result.all();
        EXPECT_EQ(result.out.find("processed"), std::string::npos) << "it has run: " << result.all();
        EXPECT_EQ(empty.names(), std::vector<std::string>{});
    }
}

/// Two files that belong together exist both or not at all.
TEST(LongNames, APairIsMadeWholeOrNotAtAll) {
    const TemporaryFolder folder;
    EXPECT_THROW((void)create_pair(folder / long_name(252, ".raw"), ".jsonl"), RunError);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    std::ofstream(folder / "a.raw.jsonl") << "mine";
    std::ofstream(folder / "a-1.raw") << "mine";
    const FilePair pair = create_pair(folder / "a.raw", ".jsonl");
    EXPECT_EQ(pair.path, folder / "a-2.raw");
    EXPECT_EQ(pair.beside_path, folder / "a-2.raw.jsonl");
    EXPECT_EQ(folder.names(),
              (std::vector<std::string>{"a-1.raw", "a-2.raw", "a-2.raw.jsonl", "a.raw.jsonl"}));
}

/// A recording of thousands of files does not search all names for each file: names freed in the meantime
/// stay free.
TEST(SplitRecording, GoesOnBehindTheNumberOfItsLastFile) {
    for (const char* ending : {".raw", ".tiff", ".mkv"}) {
        const TemporaryFolder folder;
        const std::string path = folder / (std::string("s") + ending);
        const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
        sink->open(stream_of(kSmall));
        Maker small(kSmall), other(kOther);
        sink->push(small.make(0), true);
        sink->push(other.make(1), true);
        ASSERT_TRUE(test::eventually([&] { return sink->status().before.size() == 1; })) << ending;
        fs::remove(path);
        sink->push(small.make(2), true);
        sink->close();
        EXPECT_EQ(sink->status().error, "");
        EXPECT_EQ(sink->status().path, numbered(path, 2));
        EXPECT_FALSE(fs::exists(path)) << ending;
    }
}

/// Image files get their names at the end: no name is searched at the beginning.
TEST(SplitRecording, LooksForNoNameThatIsNotThereYet) {
    const TemporaryFolder folder;
    const std::string path = folder / "p.png";
    constexpr int kFiles = 12;
    const auto cpu_s = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    const double began = cpu_s();
    std::size_t found = 0;
    for (int number = 0; number < kMaxNumber; ++number)
        found += numbered(path, number) == "p.png" ? 1 : 0;
    const double all_names = cpu_s() - began;
    EXPECT_EQ(found, 0U);
    const double start = cpu_s();
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    Maker small(kSmall), other(kOther);
    for (int n = 0; n < kFiles; ++n)
        sink->push((n % 2 == 0 ? small : other).make(static_cast<std::uint64_t>(n)), true);
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().written, static_cast<std::uint64_t>(kFiles));
    EXPECT_EQ(sink->status().path, numbered(path, kFiles - 1));
    EXPECT_LT(cpu_s() - start, kFiles / 2 * all_names);
}

} // namespace specklescope::long_names_test
