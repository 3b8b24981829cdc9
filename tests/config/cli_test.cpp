// The program from a user's view: its text, its files, its end.
#include "cli/progress.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "tests/recording/bigtiff.hpp"
#include "tests/support/child.hpp"
#include "tests/support/images.hpp"
#include "tests/support/places.hpp"

#include <cmath>
#include <sys/stat.h>

namespace specklescope::cli_test {

using std::chrono::seconds;

class Cli : public testing::Test {
protected:
    ChildResult run(const std::vector<std::string>& arguments) const {
        return run_program(arguments, folder_.path().string());
    }
    std::vector<std::string> names() const { return names_in(folder_.path().string()); }
    TemporaryFolder folder_;
};

TEST_F(Cli, InformationGoesToStandardOutputAndFitsIntoAHundredColumns) {
    const std::vector<std::vector<std::string>> questions = {
        {"--help"},         {"--help", "speckle"}, {"--help", "synthetic"}, {"--version"},
        {"list", "stages"}, {"list", "presets"},   {"list", "devices"},     {"list", "sources"}};
    for (const auto& question : questions) {
        const ChildResult result = run(question);
        EXPECT_EQ(result.status, 0) << question.back() << result.all();
        EXPECT_EQ(result.err, "") << question.back();
        EXPECT_GT(result.out.size(), 50U) << question.back();
        std::istringstream lines(result.out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(columns(line), kHelpWidth) << line;
    }
    EXPECT_NE(run({"--help", "speckle"}).out.find("radius=3"), std::string::npos);
    EXPECT_NE(run({"list", "sources"}).out.find("Cameras found now:"), std::string::npos);
    EXPECT_NE(run({"list", "devices"}).out.find("thread"), std::string::npos);
    EXPECT_TRUE(names().empty());
}

TEST_F(Cli, TheManualInTheRepositoryIsTheProgramsOwn) {
    const ChildResult result = run({"--manual"});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, read_text(test::source_folder() + "/docs/manual.md")) << "run ./dev nightly manual";
}

/// Exact integer sums over the rat cortex, 5×5.
TEST_F(Cli, ReferenceContrastThroughTheProgram) {
    const std::string image = test::test_data("rat_cortex_1280x1024_mono8.tif");
    ASSERT_TRUE(std::filesystem::exists(image)) << image;
    const ChildResult result = run({"run", image, "--stage", "speckle:radius=2,output=contrast", "--record",
                                    "k.tiff", "--stats", "s.json"});
    ASSERT_EQ(result.status, 0) << result.all();
    const BigTiff file(read_text(folder_ / "k.tiff"));
    ASSERT_EQ(file.pages().size(), 1U);
    const TiffPage& page = file.pages()[0];
    ASSERT_EQ(page.width, 1280U);
    ASSERT_EQ(page.height, 1024U);
    ASSERT_EQ(page.bits, 32U);
    ASSERT_EQ(page.format, 3U);
    EXPECT_NEAR(float_at(page, 2, 2), 0.062737574, 1e-7);
    EXPECT_NEAR(float_at(page, 100, 100), 0.107885454, 2e-7);
    EXPECT_NEAR(float_at(page, 512, 640), 0.029109499, 1e-7);
    EXPECT_NEAR(float_at(page, 1021, 1277), 0.103963551, 2e-7);
    double sum = 0;
    float low = 1, high = 0;
    for (std::uint64_t y = 2; y < 1022; ++y)
        for (std::uint64_t x = 2; x < 1278; ++x) {
            const float k = float_at(page, y, x);
            sum += k;
            low = std::min(low, k);
            high = std::max(high, k);
        }
    EXPECT_NEAR(sum / (1020.0 * 1276.0), 0.088598, 1e-6);
    EXPECT_NEAR(low, 0.015452, 1e-6);
    EXPECT_NEAR(high, 0.298578, 1e-6);
    EXPECT_NE(result.out.find("1 in, 1 processed, none dropped"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("k.tiff: 1 frame,"), std::string::npos) << result.out;
    EXPECT_NE(read_text(folder_ / "s.json").find("\"processed\": 1,"), std::string::npos);
}

TEST_F(Cli, AThousandFramesArriveWholeAndInOrder) {
    const std::string image = test::test_data("finger_64x64x1000_mono8.png");
    ASSERT_TRUE(std::filesystem::exists(image)) << image;
    ASSERT_EQ(run({"run", image, "--stage", "none", "--record-raw", "tall.tiff"}).status, 0);
    const std::string pixels = BigTiff(read_text(folder_ / "tall.tiff")).pages().at(0).pixels;
    ASSERT_EQ(pixels.size(), std::size_t{64} * 64000);
    write_text(folder_ / "finger.raw", pixels);

    const ChildResult result = run({"run", "raw:finger.raw?width=64&height=64&format=gray8", "--record-raw",
                                    "raw.tiff", "--record", "flow.tiff", "--stats", "s.json"});
    ASSERT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.out.find("1000 in, 1000 processed, none dropped"), std::string::npos) << result.out;
    const BigTiff raw(read_text(folder_ / "raw.tiff"));
    const BigTiff flow(read_text(folder_ / "flow.tiff"));
    ASSERT_EQ(raw.pages().size(), 1000U);
    ASSERT_EQ(flow.pages().size(), 1000U);
    for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(raw.pages()[i].pixels, pixels.substr(i * 4096, 4096)) << "frame " << i;
}

TEST_F(Cli, FramesEndsTheRunAndFilesAreNeverOverwritten) {
    for (int i = 0; i < 2; ++i) {
        const ChildResult result = run({"run", "synthetic:uniform?width=64&height=48", "--frames", "5",
                                        "--record", "flow.tiff", "--snapshot", "last.png", "--quiet"});
        ASSERT_EQ(result.status, 0) << result.all();
        EXPECT_EQ(result.out + result.err, "") << "--quiet";
    }
    EXPECT_EQ(names(), (std::vector<std::string>{"flow-1.tiff", "flow.tiff", "last-1.png", "last.png"}));
    EXPECT_EQ(BigTiff(read_text(folder_ / "flow.tiff")).pages().size(), 5U);
    EXPECT_EQ(BigTiff(read_text(folder_ / "flow-1.tiff")).pages().size(), 5U);
}

TEST_F(Cli, QuietStillSaysWhatWentWrong) {
    const ChildResult result =
        run({"run", "raw:none.raw?width=8&height=8&format=gray8", "--stage", "speckle", "--quiet"});
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("none.raw"), std::string::npos) << result.err;
}

TEST_F(Cli, TheSummaryNamesOnlyParametersInEffect) {
    const ChildResult result = run({"run", "synthetic:uniform?width=64&height=48", "--frames", "2", "--stage",
                                    "gaussian:method=binomial5", "--stage", "background:black=3"});
    ASSERT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.out.find("gaussian:method=binomial5"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("background:dark=none,black=3,flat=none"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("sigma"), std::string::npos) << result.out;
}

TEST_F(Cli, TheSummarySaysWhichExposureWasUsed) {
    const auto summary = [&](const std::vector<std::string>& words) {
        const ChildResult result = run(words);
        EXPECT_EQ(result.status, 0) << result.all();
        return result.out;
    };
    const std::string camera =
        summary({"run", "synthetic:uniform?width=64&height=48&exposure=5", "--frames", "2"});
    EXPECT_NE(camera.find("5 ms (camera)"), std::string::npos) << camera;
    EXPECT_EQ(camera.find("exposure=10"), std::string::npos) << camera;
    write_text(folder_ / "f.raw", std::string(64 * 48 * 2, 'x'));
    const std::string raw = "raw:f.raw?width=64&height=48&format=gray8";
    const std::string assumed = summary({"run", raw});
    EXPECT_NE(assumed.find("10 ms (default: assumed"), std::string::npos) << assumed;
    const std::string given = summary({"run", raw, "--stage", "speckle:exposure=10", "--stats", "s.json"});
    EXPECT_NE(given.find("10 ms (parameter)"), std::string::npos) << given;
    EXPECT_NE(read_text(folder_ / "s.json").find("\"exposure_origin\": \"parameter\""), std::string::npos);
    const std::string relative = summary({"run", raw, "--stage", "speckle:output=contrast"});
    EXPECT_EQ(relative.find("ms (default"), std::string::npos) << relative;
}

TEST_F(Cli, SaturationIsCountedForEveryChainAndSaidOnce) {
    std::string frames(3 * 64 * 48, 'x');
    for (std::size_t i = 0; i < 64; ++i)
        frames[64 * 48 + i] = '\xff'; // one row of the second frame: 2.1 % of it
    write_text(folder_ / "f.raw", frames);
    const std::string raw = "raw:f.raw?width=64&height=48&format=gray8";
    for (const std::vector<std::string>& chain :
         {std::vector<std::string>{"--stage", "none"}, {"--stage", "speckle"}, {"--preset", "flow"}}) {
        std::vector<std::string> words = {"run", raw};
        words.insert(words.end(), chain.begin(), chain.end());
        const ChildResult result = run(words);
        ASSERT_EQ(result.status, 0) << result.all();
        const std::string text = "2.1 % of the samples of frame 1 are at full scale";
        const std::size_t at = result.err.find(text);
        EXPECT_NE(at, std::string::npos) << result.all();
        EXPECT_EQ(result.err.find("at full scale", at + text.size()), std::string::npos) << result.all();
        EXPECT_NE(result.out.find("0 % in the last frame, 2.1 % in the worst, 0.69 % of all samples"),
                  std::string::npos)
            << result.out;
    }
}

TEST_F(Cli, AnEndOfALiveSourceIsAnEnd) {
    const ChildResult result =
        run({"run", "synthetic:uniform?width=64&height=48&rate=200&frames=12&live=true", "--record-raw",
             "raw.tiff"});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_EQ(result.err.find("Next try"), std::string::npos) << result.all();
    EXPECT_LE(BigTiff(read_text(folder_ / "raw.tiff")).pages().size(), 12U);
}

TEST_F(Cli, ChannelOfColour) {
    std::string rgb;
    for (int i = 0; i < 16 * 12; ++i)
        rgb += std::string({static_cast<char>(50 + i * 7919 % 101), '\x40', '\x20'});
    write_text(folder_ / "rgb.raw", rgb);
    const std::vector<std::string> words = {
        "run", "raw:rgb.raw?width=16&height=12&format=rgb8", "--stage", "speckle", "--record", "k.tiff"};
    ASSERT_EQ(run(words).status, 0);
    std::vector<std::string> red = words;
    red.insert(red.end(), {"--channel", "red"});
    const ChildResult result = run(red);
    ASSERT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.out.find("stages for grey images got red"), std::string::npos) << result.out;
    EXPECT_NE(read_text(folder_ / "k-1.tiff").find("\"channel\":\"red\""), std::string::npos);
    EXPECT_NE(read_text(folder_ / "k.tiff").find("\"channel\":\"luma\""), std::string::npos);
    const ChildResult wrong = run({"run", "synthetic", "--channel", "violet"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_NE(wrong.err.find("luma, red, green, blue, mean"), std::string::npos) << wrong.err;
}

TEST_F(Cli, InterruptFinishesTheFilesAndPrintsTheStatistics) {
    for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM}) {
        const TemporaryFolder folder;
        Child child({test::program_path(), "run", "synthetic:uniform?width=64&height=48", "--record-raw",
                     "raw.tiff", "--stats", "s.json"},
                    folder.path().string());
        // The first plain line comes after two seconds.
        ASSERT_TRUE(child.until(
            [](const ChildResult& r) { return r.out.find("frames/s") != std::string::npos; }, seconds(60)));
        child.signal(number);
        const ChildResult result = child.finish();
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_NE(result.err.find("Interrupted"), std::string::npos) << result.all();
        const std::size_t pages = BigTiff(read_text(folder / "raw.tiff")).pages().size();
        EXPECT_GT(pages, 10U);
        EXPECT_NE(result.out.find("raw.tiff: " + std::to_string(pages) + " frames"), std::string::npos)
            << result.all();
        EXPECT_NE(result.out.find("latency"), std::string::npos) << result.all();
        EXPECT_NE(read_text(folder / "s.json").find("\"processed\""), std::string::npos);
    }
}

/// The signal arrives more than once, as from a terminal that closes.
TEST_F(Cli, AClosedTerminalFinishesTheFiles) {
    Child child({test::program_path(), "run", "synthetic:uniform?width=64&height=48", "--record-raw",
                 "raw.mkv", "--stats", "s.json"},
                folder_.path().string());
    ASSERT_TRUE(child.until([](const ChildResult& r) { return r.out.find("frames/s") != std::string::npos; },
                            seconds(60)));
    child.signal(SIGHUP);
    child.signal(SIGHUP);
    const ChildResult result = child.finish();
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_NE(read_text(folder_ / "raw.mkv").find("\"finished\": true"), std::string::npos);
    EXPECT_NE(read_text(folder_ / "s.json").find("\"processed\""), std::string::npos);
}

TEST_F(Cli, AClosedPipeFinishesTheFiles) {
    // head ends after one line; the next one has no reader.
    const ChildResult result =
        run_child({"bash", "-c",
                   "'" + test::program_path() +
                       "' run 'synthetic:uniform?width=64&height=48' --record-raw raw.tiff --stats "
                       "s.json | head -n 1; echo status ${PIPESTATUS[0]}"},
                  folder_.path().string());
    EXPECT_NE(result.out.find("status 0"), std::string::npos) << result.all();
    const std::string file = read_text(folder_ / "raw.tiff");
    EXPECT_GT(BigTiff(file).pages().size(), 10U);
    EXPECT_NE(file.find("\"finished\": true"), std::string::npos);
    EXPECT_NE(read_text(folder_ / "s.json").find("\"processed\""), std::string::npos);
}

/// The printed text has no reader; the recording has.
TEST_F(Cli, AClosedPipeLeavesARunWithAnEndToItsEnd) {
    for (const char* source :
         {"'synthetic:uniform?width=64&height=48&rate=40' --frames 120 --verbose",
          "'synthetic:uniform?width=64&height=48&rate=40' --record-frames 120 --verbose",
          "'gst:videotestsrc num-buffers=120 ! video/x-raw,width=64,height=48' --verbose"}) {
        const TemporaryFolder folder;
        const ChildResult result = run_child({"bash", "-c",
                                              "'" + test::program_path() + "' run " + source +
                                                  " --record-raw raw.tiff 2>&1 | head -n 1; echo status "
                                                  "${PIPESTATUS[0]}"},
                                             folder.path().string());
        EXPECT_NE(result.out.find("status 0"), std::string::npos) << result.all();
        EXPECT_EQ(BigTiff(read_text(folder / "raw.tiff")).pages().size(), 120U) << source;
    }
}

TEST_F(Cli, ASecondInterruptEndsAtOnce) {
    Child child({test::program_path(), "run", "synthetic:uniform?width=64&height=48"},
                folder_.path().string());
    ASSERT_TRUE(child.until([](const ChildResult& r) { return r.out.find("frames/s") != std::string::npos; },
                            seconds(60)));
    child.signal(SIGSTOP); // so that both are pending when it continues
    child.signal(SIGINT);
    child.signal(SIGTERM);
    child.signal(SIGCONT);
    const ChildResult result = child.finish();
    EXPECT_EQ(result.status, 130) << result.all();
    EXPECT_EQ(result.out.find("latency"), std::string::npos) << result.all();
}

TEST_F(Cli, ATerminalGetsABarAndNoPlainLines) {
    Child child(
        {test::program_path(), "run", "synthetic:uniform?width=64&height=48&rate=100", "--frames", "300"},
        folder_.path().string(), true);
    const ChildResult result = child.finish();
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.err.find(" of 300 frames"), std::string::npos) << result.all();
    EXPECT_NE(result.err.find("[#"), std::string::npos) << result.all();
    EXPECT_NE(result.out.find("300 processed"), std::string::npos) << result.all();
}

TEST(Progress, SaysHowFarAndHowLong) {
    EXPECT_EQ(progress_line(5, 0, 12.34), "5 frames · 12.3 frames/s");
    EXPECT_EQ(progress_line(50, 100, 10), "50 of 100 frames · 10.0 frames/s · 0:05 left");
    EXPECT_EQ(progress_line(0, 100000, 10), "0 of 100000 frames · 10.0 frames/s · 2:46:40 left");
    EXPECT_EQ(progress_line(100, 100, 10), "100 of 100 frames · 10.0 frames/s");
    EXPECT_EQ(progress_line(0, 10, 0), "0 of 10 frames · 0.0 frames/s");
    EXPECT_EQ(progress_bar(50, 100, 10, 67),
              "[##########----------] 50 of 100 frames · 10.0 frames/s · 0:05 left");
    for (std::size_t width = 0; width < 150; ++width)
        for (const std::uint64_t done : {0, 1, 99, 100, 200})
            if (const std::string bar = progress_bar(done, 100, 10, width); bar[0] == '[') {
                EXPECT_LE(columns(bar), width);
            }
}

TEST_F(Cli, WithoutADisplayTheWindowIsRefusedInOneSentenceThatNamesRun) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, {"view", "synthetic"}, {"synthetic", "--frames", "4"}}) {
        const ChildResult result = run(words);
        EXPECT_EQ(result.status, 1) << result.all();
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(result.err,
                  "specklescope: No window can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set; "
                  "'specklescope run' works without one, and --offscreen draws one without a display.\n");
        EXPECT_TRUE(names().empty()) << "nothing is written";
    }
}

TEST_F(Cli, PresetsOfYourOwnWinOverThoseOfTheSameName) {
    const auto presets = folder_.path() / ".config/specklescope/presets";
    std::filesystem::create_directories(presets);
    write_text(presets / "mine.toml", "# My own chain.\n[[stage]]\nname = \"speckle\"\nradius = 9\n");
    write_text(presets / "flow.toml", "# Another flow.\n[[stage]]\nname = \"gaussian\"\nsigma = 7\n");
    write_text(presets / "broken.toml", "# Not whole.\n[[stage]]\nname = \n");
    const std::string list = run({"list", "presets"}).out;
    EXPECT_NE(list.find("My own chain. (yours:"), std::string::npos) << list;
    EXPECT_NE(list.find("Another flow."), std::string::npos) << list;
    EXPECT_NE(list.find("contrast"), std::string::npos) << list;
    EXPECT_EQ(list.find("camera at 5 to 20 ms"), std::string::npos)
        << "the compiled-in flow is hidden: " << list;
    ASSERT_EQ(run({"--preset", "flow", "--save-config", "a.toml"}).status, 0);
    EXPECT_NE(read_text(folder_ / "a.toml").find("sigma = 7"), std::string::npos);
    ASSERT_EQ(run({"--preset", "mine", "--save-config", "b.toml"}).status, 0);
    EXPECT_NE(read_text(folder_ / "b.toml").find("radius = 9"), std::string::npos);
    const ChildResult broken = run({"run", "synthetic", "--preset", "broken"});
    EXPECT_EQ(broken.status, 2);
    EXPECT_NE(broken.err.find("broken.toml, line 3"), std::string::npos) << broken.err;
    EXPECT_EQ(run({"--manual"}).out.find("My own chain"), std::string::npos)
        << "the manual tells the program's";
}

TEST_F(Cli, ATildeIsTheHomeFolder) {
    setenv("HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe): the child's too
    write_text(folder_ / "ten.raw", std::string(std::size_t{16} * 16 * 10, 'a'));
    for (const std::string source : {"raw:~/ten.raw?width=16&height=16", "~/ten.raw?width=16&height=16"}) {
        const ChildResult result = run({"run", source, "--stage", "none"});
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_NE(result.out.find("10 processed"), std::string::npos) << result.all();
    }
    const ChildResult missing = run({"run", "~/nothing.tif"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.err.find(folder_ / "nothing.tif"), std::string::npos) << missing.err;
}

TEST_F(Cli, ARawRecordingPlayedBackKeepsItsExposureAndFullScale) {
    const std::string source = "synthetic:uniform?width=64&height=48&live=false&exposure=2&bits=12";
    ASSERT_EQ(
        run({"run", source, "--frames", "3", "--record", "live.tiff", "--record-raw", "raw.tiff"}).status, 0);
    ASSERT_EQ(run({"run", "raw.tiff", "--record", "again.tiff"}).status, 0);
    const BigTiff live(read_text(folder_ / "live.tiff")), again(read_text(folder_ / "again.tiff"));
    ASSERT_EQ(live.pages().size(), 3U);
    ASSERT_EQ(again.pages().size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(live.pages()[i].pixels == again.pages()[i].pixels) << "SFI of page " << i;
    EXPECT_NE(read_text(folder_ / "again.tiff").find("\"full_scale\":4095"), std::string::npos);
}

TEST_F(Cli, ASavedConfigurationRunsTheSame) {
    const std::vector<std::string> words = {"run",      "synthetic:uniform?width=64&height=48&live=false",
                                            "--frames", "3",
                                            "--stage",  "speckle:radius=2,output=contrast",
                                            "--record", "k.tiff",
                                            "--quiet"};
    std::vector<std::string> saving = words;
    saving.insert(saving.end(), {"--save-config", "a.toml"});
    ASSERT_EQ(run(saving).status, 0);
    ASSERT_EQ(run({"--config", "a.toml", "--trust", "--save-config", "b.toml"}).status, 0);
    EXPECT_EQ(read_text(folder_ / "a.toml"), read_text(folder_ / "b.toml"));
    EXPECT_EQ(names(), (std::vector<std::string>{"a.toml", "b.toml"})) << "saving runs nothing";
    ASSERT_EQ(run(words).status, 0);
    ASSERT_EQ(run({"--config", "b.toml", "--trust"}).status, 0) << "the file says run, too";
    const BigTiff one(read_text(folder_ / "k.tiff")), two(read_text(folder_ / "k-1.tiff"));
    ASSERT_EQ(one.pages().size(), 3U);
    ASSERT_EQ(two.pages().size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(one.pages()[i].pixels == two.pages()[i].pixels) << i;
}

TEST_F(Cli, RateHoldsAFileBack) {
    write_text(folder_ / "ten.raw", std::string(std::size_t{16} * 16 * 10, 'a'));
    const std::string source = "raw:ten.raw?width=16&height=16&format=gray8";
    const auto begin = std::chrono::steady_clock::now();
    const ChildResult result = run({"run", source, "--rate", "20", "--stage", "speckle:radius=1"});
    // Ten frames are nine pauses of 50 ms; there is no upper bound, because a machine may be busy.
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(440));
    EXPECT_NE(result.out.find("10 processed, none dropped"), std::string::npos) << result.all();
}

} // namespace specklescope::cli_test
