// Errors in a request or a file: one message that names the problem, the right exit status, no files left.
#include "tests/support/child.hpp"
#include "tests/support/images.hpp"

#include <memory>

namespace specklescope::bad_input_test {

constexpr int kUsage = 2, kRunTime = 1;

struct Case {
    const char* name;
    std::vector<std::string> arguments; ///< IN/ is replaced by the folder of the inputs
    int status;
    std::vector<const char*> says; ///< words that the message must contain
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
    const std::string good = "IN/good.tif";
    return {
        // The command line.
        {"UnknownStage", {"run", good, "--stage", "specle"}, kUsage, {"'specle'", "allowed: speckle"}},
        {"UnknownStageKey",
         {"run", good, "--stage", "speckle:raduis=3"},
         kUsage,
         {"'raduis'", "radius, exposure"}},
        {"StageKeyWithoutValue",
         {"run", good, "--stage", "speckle:radius"},
         kUsage,
         {"'radius'", "key=value"}},
        {"UnknownPreset", {"run", good, "--preset", "flwo"}, kUsage, {"'flwo'", "allowed:", "flow"}},
        {"UnknownColorMap", {"run", good, "--colormap", "plasma"}, kUsage, {"plasma", "viridis, inferno"}},
        {"UnknownViewKey", {"run", good, "--view", "colour=jet"}, kUsage, {"'colour'", "colormap"}},
        {"UnknownOption", {"run", good, "--recrod", "x.tiff"}, kUsage, {"'--recrod'", "--record?"}},
        {"OptionWithoutValue", {"run", good, "--record"}, kUsage, {"--record FILE"}},
        {"UnknownCommand", {"rnu", good}, kUsage, {"'rnu'", "view, run, batch, convert, list"}},
        {"UnknownList", {"list", "cameras"}, kUsage, {"'cameras'", "sources, stages, presets, devices"}},
        {"UnknownBackend", {"run", good, "--backend", "opencl"}, kUsage, {"opencl", "auto, cpu, cuda"}},
        {"OneWordTooMany", {"view", good, "more"}, kUsage, {"'more'"}},
        {"RunWithoutSource", {"run"}, kUsage, {"SOURCE"}},
        {"UnknownHelp", {"--help", "specle"}, kUsage, {"'specle'", "speckle"}},
        // Values.
        {"OutOfRange", {"run", good, "--stage", "speckle:radius=16"}, kUsage, {"radius = 16", "1…15"}},
        {"BelowRange", {"run", good, "--frames", "-1"}, kUsage, {"--frames = -1", "0…"}},
        {"NotANumber",
         {"run", good, "--stage", "speckle:exposure=long"},
         kUsage,
         {"exposure = long", "0.001…10000 ms"}},
        {"NaN",
         {"run", good, "--stage", "speckle:exposure=nan"},
         kUsage,
         {"exposure = nan", "0.001…10000 ms"}},
        {"Infinite", {"run", good, "--rate", "inf"}, kUsage, {"--rate = inf", "allowed"}},
        {"HugeNumber", {"run", good, "--rate", "1e999"}, kUsage, {"--rate = 1e999", "allowed"}},
        {"TrailingLetters", {"run", good, "--threads", "2x"}, kUsage, {"--threads = 2x", "whole number"}},
        {"StageKeyTwice",
         {"run", good, "--stage", "speckle:radius=1,radius=2"},
         kUsage,
         {"radius is given twice", "leave one"}},
        {"FewerSlotsThanPossible", {"run", good, "--slots", "2"}, kUsage, {"--slots = 2", "0 (", "6…4096"}},
        {"TomlFewerSlots", {"run", good, "--config", "IN/slots.toml"}, kUsage, {"--slots = 5", "6…4096"}},
        {"PercentilesInTheWrongOrder",
         {"run", good, "--view", "low_percentile=99.9"},
         kUsage,
         {"low_percentile = 99.9", "high_percentile = 99"}},
        {"RangeInTheWrongOrder",
         {"run", good, "--view", "low=3", "--view", "high=2"},
         kUsage,
         {"low = 3 is not below high = 2"}},
        {"BenchOfNothing", {"bench", "--filter", "zzz"}, kUsage, {"zzz", "speckle", "startup"}},
        {"BenchWithAStage", {"bench", "--stage", "speckle"}, kUsage, {"--stage", "--filter"}},
        {"RunWithAFilter", {"run", good, "--filter", "speckle"}, kUsage, {"--filter", "bench"}},
        {"ListWithARate", {"list", "stages", "--rate", "3"}, kUsage, {"--rate", "list"}},
        // Sources.
        {"SourceKeyTwice", {"run", "synthetic?width=64&width=128"}, kUsage, {"width is given twice"}},
        {"UnknownSource", {"run", "cinema:film"}, kUsage, {"cinema", "allowed"}},
        {"UnknownScene", {"run", "synthetic:ocean"}, kUsage, {"ocean", "vessels"}},
        {"UnknownSourceKey", {"run", "synthetic?colour=3"}, kUsage, {"'colour'", "allowed"}},
        {"SourceValueOutOfRange", {"run", "synthetic?width=-4"}, kUsage, {"-4", "allowed"}},
        {"MissingFile", {"run", "IN/nothing.tif"}, kRunTime, {"nothing.tif"}},
        {"MissingVideo", {"run", "IN/nothing.mkv"}, kRunTime, {"nothing.mkv"}},
        {"EmptyDirectory", {"run", "IN/empty"}, kRunTime, {"empty", "image"}},
        {"SequenceOfNothing", {"run", "IN/none_%04d.tif"}, kRunTime, {"none_%04d.tif"}},
        {"EmptyImage", {"run", "IN/empty.png"}, kRunTime, {"empty.png"}},
        {"EmptyTiff", {"run", "IN/empty.tif"}, kRunTime, {"empty.tif"}},
        {"EmptyVideo", {"run", "IN/empty.mkv"}, kRunTime, {"empty.mkv"}},
        {"NotAVideo", {"run", "IN/text.avi"}, kRunTime, {"text.avi"}},
        {"ZeroSizeImage", {"run", "IN/zero.tif"}, kRunTime, {"zero.tif"}},
        {"ComplexTiff", {"run", "IN/complex.tif"}, kRunTime, {"complex.tif", "complex", "allowed"}},
        {"FiveChannelTiff", {"run", "IN/five.tif"}, kRunTime, {"five.tif", "5 samples", "allowed"}},
        {"HugeTiffWithoutData", {"run", "IN/huge.tif"}, kRunTime, {"huge.tif", "100000"}},
        {"HugePngWithoutData", {"run", "IN/huge.png"}, kRunTime, {"huge.png"}},
        {"TiffWithoutData", {"run", "IN/headless.tif"}, kRunTime, {"headless.tif"}},
        {"TruncatedVideo", {"run", "IN/cut.mp4"}, kRunTime, {"cut.mp4"}},
        {"RawWithoutSize", {"run", "raw:IN/frames.raw"}, kUsage, {"width", "640 bytes fit no usual size"}},
        {"RawOfAUsualSize",
         {"run", "raw:IN/camera.raw"},
         kUsage,
         {"camera.raw?width=640&height=480&format=gray8", "or raw:"}},
        {"RawOfAUsualSizeBehindAHeader",
         {"run", "raw:IN/camera.raw?header=307200&format=gray16le"},
         kUsage,
         {"614400 bytes", "camera.raw?width=640&height=480&format=gray16le"}},
        {"RawTooLarge",
         {"run", "raw:IN/frames.raw?width=100000&height=100000&format=gray8"},
         kUsage,
         {"100000"}},
        {"RawShorterThanOneFrame", {"run", "raw:IN/text.avi?width=640&height=480"}, kRunTime, {"text.avi"}},
        // Chain and image.
        {"RadiusLargerThanImage",
         {"run", "IN/tiny.tif", "--stage", "speckle:radius=15"},
         kUsage,
         {"radius = 15", "4×4"}},
        {"CropLeavesNothing",
         {"run", good, "--stage", "speckle:radius=8,border=crop"},
         kUsage,
         {"radius = 8", "border = crop"}},
        // TOML.
        {"TomlMissing", {"run", good, "--config", "IN/nothing.toml"}, kRunTime, {"nothing.toml"}},
        {"TomlWrongType",
         {"run", good, "--config", "IN/type.toml"},
         kUsage,
         {"type.toml, line 3", "radius", "1…15"}},
        {"TomlUnknownKey",
         {"run", good, "--config", "IN/key.toml"},
         kUsage,
         {"key.toml, line 2", "'colour'", "colormap"}},
        {"TomlSyntax", {"run", good, "--config", "IN/syntax.toml"}, kUsage, {"syntax.toml, line 1"}},
        // Locations of files.
        {"RecordIntoMissingFolder", {"run", good, "--record", "missing/k.tiff"}, kRunTime, {"missing"}},
        {"RecordIntoReadOnlyFolder", {"run", good, "--record", "/proc/k.tiff"}, kRunTime, {"/proc"}},
        {"RecordUnderAFile", {"run", good, "--record", "IN/good.tif/k.tiff"}, kRunTime, {"good.tif"}},
        {"RecordUnknownEnding", {"run", good, "--record", "k.xyz"}, kUsage, {"k.xyz", ".tiff"}},
        {"SecondRecorderFails",
         {"run", good, "--record", "a.tiff", "--record-raw", "/proc/k.tiff"},
         kRunTime,
         {"/proc"}},
        {"SnapshotOfManyPictures",
         {"run", good, "--snapshot", "s.gif"},
         kUsage,
         {"s.gif", ".tiff, .png, .hdr, .exr or .pdf"}},
        {"SnapshotAsAVideo",
         {"run", good, "--snapshot", "s.mkv"},
         kUsage,
         {"s.mkv", ".tiff, .png, .hdr, .exr or .pdf"}},
        {"StatsIntoMissingFolder", {"run", good, "--stats", "missing/s.json"}, kRunTime, {"missing/s.json"}},
        {"SnapshotIntoMissingFolder", {"run", good, "--snapshot", "missing/s.png"}, kRunTime, {"missing"}},
        {"SaveConfigIntoReadOnlyFolder", {"--save-config", "/proc/x.toml"}, kRunTime, {"/proc/x.toml"}},
    };
}

class BadInput : public testing::TestWithParam<Case> {
protected:
    static void SetUpTestSuite() {
        inputs_ = std::make_unique<TemporaryFolder>();
        const TemporaryFolder& in = *inputs_;
        std::filesystem::create_directories(in / "empty");
        write_text(in / "good.tif", tiff_bytes({}));
        write_text(in / "tiny.tif", tiff_bytes({.width = 4, .height = 4}));
        for (const char* name : {"empty.png", "empty.tif", "empty.mkv"})
            write_text(in / name, "");
        write_text(in / "text.avi", "This is a text, whatever its name says.\n");
        write_text(in / "zero.tif", tiff_bytes({.width = 0, .height = 16}));
        write_text(in / "complex.tif", tiff_bytes({.bits = 64, .format = 5}));
        write_text(in / "five.tif", tiff_bytes({.samples = 5}));
        write_text(in / "huge.tif", tiff_bytes({.width = 100000, .height = 100000, .data = false}));
        write_text(in / "huge.png", png_header(100000, 100000));
        write_text(in / "headless.tif", tiff_bytes({.data = false}));
        write_text(in / "frames.raw", std::string(640, 'x'));
        write_text(in / "camera.raw", std::string(std::size_t{640} * 480 * 3, 'x'));
        write_text(in / "slots.toml", "[program]\nslots = 5\n");
        write_text(in / "type.toml", "[[stage]]\nname = \"speckle\"\nradius = \"three\"\n");
        write_text(in / "key.toml", "[view]\ncolour = \"jet\"\n");
        write_text(in / "syntax.toml", "source = = \n");
        make_cut_video(in);
    }
    static void TearDownTestSuite() { inputs_.reset(); }

    /// An .mp4 has its index at the end, so half of it is unreadable.
    static void make_cut_video(const TemporaryFolder& in) {
        const auto made = run_child({"gst-launch-1.0", "-q", "videotestsrc", "num-buffers=30", "!",
                                     "video/x-raw,width=160,height=120", "!", "x264enc", "!", "mp4mux", "!",
                                     "filesink", "location=" + in / "whole.mp4"},
                                    in.path().string());
        const std::string whole = read_text(in / "whole.mp4");
        ASSERT_GT(whole.size(), 1000U) << made.all();
        write_text(in / "cut.mp4", whole.substr(0, whole.size() / 2));
    }

    static std::string placed(std::string word) {
        const std::size_t place = word.find("IN/");
        return place == std::string::npos ? word : word.replace(place, 2, inputs_->path().string());
    }

    static std::unique_ptr<TemporaryFolder> inputs_;
};
std::unique_ptr<TemporaryFolder> BadInput::inputs_;

TEST_P(BadInput, GetsOneSentenceAndLeavesNothing) {
    const Case& c = GetParam();
    std::vector<std::string> arguments;
    for (const std::string& word : c.arguments)
        arguments.push_back(placed(word));
    const auto inputs_before = names_in(inputs_->path().string());
    const TemporaryFolder outputs;
    const ChildResult result = run_program(arguments, outputs.path().string());

    EXPECT_EQ(result.status, c.status) << result.all();
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
    EXPECT_TRUE(result.err.starts_with("specklescope: ")) << result.all();
    EXPECT_TRUE(result.err.ends_with(".\n") || result.err.ends_with("?\n")) << result.all();
    for (const char* piece : c.says)
        EXPECT_NE(result.err.find(piece), std::string::npos) << "must say " << piece << "\n" << result.all();
    std::string out = result.out; // a slow machine prints what it waits for
    while (out.starts_with("waiting for the first frame of "))
        out.erase(0, out.find('\n') + 1);
    EXPECT_EQ(out, "") << "nothing was done, so there is nothing to report";
    EXPECT_EQ(names_in(outputs.path().string()), std::vector<std::string>{}) << "left behind";
    EXPECT_EQ(names_in(inputs_->path().string()), inputs_before) << "left beside the inputs";
}

INSTANTIATE_TEST_SUITE_P(Request, BadInput, testing::ValuesIn(cases()),
                         [](const auto& row) { return std::string(row.param.name); });

using BadInputInTheMiddle = BadInput;

TEST_F(BadInputInTheMiddle, RawFileCutShortCountsItsWholeFrames) {
    const TemporaryFolder folder;
    write_text(folder / "cut.raw", std::string(std::size_t{16} * 16 * 3 + 7, 'a'));
    const ChildResult result =
        run_program({"run", "raw:" + folder / "cut.raw" + "?width=16&height=16&format=gray8", "--record-raw",
                     "out.tiff", "--stats", "s.json", "--quiet"},
                    folder.path().string());
    EXPECT_EQ(result.status, kRunTime) << result.all();
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
    EXPECT_NE(result.err.find("cut.raw"), std::string::npos) << result.all();
    EXPECT_EQ(result.out, "") << result.all();
    EXPECT_NE(read_text(folder / "s.json").find("\"processed\": 3"), std::string::npos);
    const ChildResult recorded =
        run_program({"run", folder / "out.tiff", "--stats", "again.json", "--quiet"}, folder.path().string());
    EXPECT_EQ(recorded.status, 0) << recorded.all();
    EXPECT_NE(read_text(folder / "again.json").find("\"processed\": 3"), std::string::npos);
}

TEST_F(BadInputInTheMiddle, FramesThatTheChainRefusedAreAFailure) {
    const TemporaryFolder folder;
    const auto run = [&](std::vector<std::string> words) {
        return run_program(std::move(words), folder.path().string());
    };
    std::filesystem::create_directory(folder / "pictures");
    for (const auto& [name, side] : {std::pair{"a", 64U}, {"b", 8U}, {"c", 64U}})
        write_text(folder / (std::string("pictures/") + name + ".tif"),
                   tiff_bytes({.width = side, .height = side}));
    const ChildResult result = run({"run", "pictures", "--stage", "speckle:radius=10,border=crop"});
    EXPECT_EQ(result.status, 1) << result.all();
    EXPECT_NE(result.out.find("3 in, 2 processed"), std::string::npos) << result.all();
    EXPECT_NE(result.err.find("radius = 10"), std::string::npos) << result.err;
    const ChildResult fits = run({"run", "pictures", "--stage", "speckle:radius=3,border=crop"});
    EXPECT_EQ(fits.status, 0) << fits.all();
}

TEST_F(BadInputInTheMiddle, CudaWithoutAGpuSaysWhy) {
    const TemporaryFolder folder;
    setenv("CUDA_VISIBLE_DEVICES", "", 1); // NOLINT(concurrency-mt-unsafe): where there is one it is hidden
    const ChildResult devices = run_program({"list", "devices"}, folder.path().string());
    EXPECT_NE(devices.out.find("none: "), std::string::npos) << devices.all();
    const ChildResult result =
        run_program({"run", placed("IN/good.tif"), "--backend", "cuda"}, folder.path().string());
    EXPECT_EQ(result.status, kRunTime) << result.all();
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
    EXPECT_NE(result.err.find("CUDA"), std::string::npos) << result.all();
    const ChildResult automatic =
        run_program({"run", placed("IN/good.tif"), "--backend", "auto"}, folder.path().string());
    EXPECT_EQ(automatic.status, 0) << automatic.all();
    const ChildResult named =
        run_program({"run", placed("IN/good.tif"), "--gpus", "0,1"}, folder.path().string());
    EXPECT_EQ(named.status, kRunTime) << "who names them wants no other: " << named.all();
    unsetenv("CUDA_VISIBLE_DEVICES"); // NOLINT(concurrency-mt-unsafe)
}

} // namespace specklescope::bad_input_test
