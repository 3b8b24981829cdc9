// Recordings into pipes: a reader gets the bytes of the file. Slow, missing or killed readers are reported
// and end only their own recording.
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <iostream>

namespace specklescope::stream_run_test {

using namespace std::chrono_literals;

constexpr std::size_t kFrame = std::size_t{160} * 120 * sizeof(float);

class StreamRun : public testing::Test {
protected:
    /// A shell command, with $S for the program and the common options of these tests.
    std::vector<std::string> shell(const std::string& words) const {
        return {"bash", "-c",
                "S='" + test::program_path() + "'; run() { \"$S\" run \"$@\" --backend cpu --threads 1; }; " +
                    words};
    }
    ChildResult run(const std::string& words) const {
        return run_child(shell("set -o pipefail; " + words), folder_.path().string());
    }
    std::string file(const std::string& name) const { return read_text(folder_ / name); }
    std::string make_fifo(const std::string& name) const {
        EXPECT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
        return folder_ / name;
    }
    static bool says(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }
    TemporaryFolder folder_;
};

const char* const kScene = "'synthetic:vessels?width=160&height=120&live=false'";
const char* const kLive = "'synthetic:vessels?width=160&height=120&live=true'";

TEST_F(StreamRun, APipeGetsTheBytesOfTheFileAndNothingElse) {
    for (const std::string name : {"-", "raw:-", "/dev/stdout", "/dev/fd/1"}) {
        const ChildResult done = run(std::string("run ") + kScene + " --frames 7 --record " + name +
                                     " --record a.raw --stats s.json | cat > got");
        ASSERT_EQ(done.status, 0) << name << done.all();
        const std::string got = file("got");
        EXPECT_EQ(got.size(), 7 * kFrame) << name;
        EXPECT_TRUE(got == file("a.raw")) << name;
        EXPECT_EQ(done.out, "") << name;
        EXPECT_TRUE(says(done.err, "gray32f, 160 × 120 pixels")) << done.all();
        EXPECT_TRUE(says(done.err, "frames      7 in, 7 processed"))
            << "the report is on standard error" << done.all();
        std::filesystem::remove(folder_ / "a.raw");
        std::filesystem::remove(folder_ / "a.raw.jsonl");
    }
}

/// Otherwise the next opened file would get their descriptors, and the text of standard error.
TEST_F(StreamRun, WhereStandardInputAndErrorAreClosedNothingElseTakesTheirPlaces) {
    for (const std::string closed : {"2>&-", "<&-", "<&- 2>&-"}) {
        const ChildResult done =
            run(std::string("run ") + kScene + " --frames 7 --record - --record a.raw --stats s.json " +
                closed + " | cat > got");
        ASSERT_EQ(done.status, 0) << closed << done.all();
        const std::string got = file("got");
        EXPECT_EQ(got.size(), 7 * kFrame) << closed;
        EXPECT_TRUE(got == file("a.raw")) << closed;
        EXPECT_EQ(file("s.json").front(), '{') << closed;
        EXPECT_EQ(file("a.raw.jsonl").front(), '{') << closed;
        for (const char* name : {"a.raw", "a.raw.jsonl", "s.json"})
            std::filesystem::remove(folder_ / name);
    }
}

TEST_F(StreamRun, RawFramesAndOtherDescriptorsAndFilesTakeThem) {
    const ChildResult done = run(std::string("exec 5> five; run ") + kScene +
                                 " --frames 5 --record-raw - --record /dev/fd/5 --record >(cat > sub) "
                                 "--record a.raw --record-raw b.raw "
                                 "> out; sleep 0.3");
    ASSERT_EQ(done.status, 0) << done.all();
    EXPECT_TRUE(file("out") == file("b.raw"));
    EXPECT_TRUE(file("five") == file("a.raw"));
    EXPECT_TRUE(test::eventually([&] { return file("sub") == file("a.raw"); }));
    EXPECT_EQ(file("a.raw").size(), 5 * kFrame);
    EXPECT_EQ(file("b.raw").size(), 5 * kFrame / 2);
}

TEST_F(StreamRun, AFilmInGreyIsExactAndNamesItsRate) {
    const std::string movie = test::test_data("finger_64x64x1000_mono8.png") + "?frame_height=64";
    const ChildResult done =
        run("run '" + movie +
            "' --rate 12.5 --frames 4 --stage none --record-raw y4m:- --record-raw a.raw | cat > got.y4m");
    ASSERT_EQ(done.status, 0) << done.all();
    const std::string got = file("got.y4m"), raw = file("a.raw");
    std::string want = "YUV4MPEG2 W64 H64 F25:2 Ip A1:1 Cmono XCOLORRANGE=FULL\n";
    for (std::size_t i = 0; i < 4; ++i)
        want += "FRAME\n" + raw.substr(i * 4096, 4096);
    EXPECT_TRUE(got == want) << got.substr(0, 80) << " … " << got.size() << " for " << want.size();
}

TEST_F(StreamRun, AFilmNamesEveryRate) {
    for (const auto& [rate, said] : {std::pair{"1e-9", "F1:1000000000 "},
                                     {"0.0004", "F1:2500 "},
                                     {"0.75", "F3:4 "},
                                     {"29.97", "F2997:100 "},
                                     {"100000", "F100000:1 "}}) {
        const ChildResult done = run(std::string("run ") + kScene + " --rate " + rate +
                                     " --frames 1 --record y4m:- | head -n 1 > got.y4m");
        EXPECT_NE(file("got.y4m").find(said), std::string::npos) << rate << file("got.y4m") << done.all();
    }
}

TEST_F(StreamRun, AFilmInColoursIsThePictureOfTheSnapshot) {
    const ChildResult done = run(
        std::string("run ") + kScene +
        " --frames 6 --record y4m:- --colormap inferno --snapshot s.png | tee film.y4m | gst-launch-1.0 -q "
        "fdsrc ! y4mdec ! videoconvert ! video/x-raw,format=RGB ! filesink location=decoded");
    ASSERT_EQ(done.status, 0) << done.all();
    EXPECT_TRUE(test::python(folder_, R"py(
import cv2, numpy
s = cv2.imread('s.png')[..., ::-1].astype(float)
def psnr(picture): return 10 * numpy.log10(255**2 / numpy.mean((picture - s)**2))
head, _, film = open('film.y4m', 'rb').read().partition(b'\n')
assert b' C444 ' in head, head
frames = numpy.frombuffer(film, numpy.uint8).reshape(6, -1)
assert all(bytes(frame[:6]) == b'FRAME\n' for frame in frames)
y, u, v = frames[-1][6:].reshape(3, 120, 160).astype(float)
y, u, v = (y - 16) * 255 / 219, (u - 128) * 255 / 224, (v - 128) * 255 / 224
rgb = numpy.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], -1)  # ITU-R BT.601
print(psnr(numpy.clip(rgb, 0, 255)))
assert psnr(numpy.clip(rgb, 0, 255)) >= 45
read = numpy.fromfile('decoded', numpy.uint8).reshape(-1, 120, 160, 3).astype(float)
print(psnr(read[-1]))
assert len(read) == 6 and psnr(read[-1]) >= 38 # GStreamer's conversion truncates
)py")) << read_text(folder_ / "python.log");
    std::cout << read_text(folder_ / "python.log");
}

TEST_F(StreamRun, AFifoWaitsForItsReaderAndSaysSo) {
    const std::string fifo = make_fifo("flow.y4m");
    Child child(
        shell(std::string("exec \"$S\" run ") + kScene + " --frames 3 --record flow.y4m --record b.raw"),
        folder_.path().string());
    ASSERT_TRUE(child.until(
        [](const ChildResult& r) { return says(r.err, "Waiting for a program that reads"); }, 60s));
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
    std::string got(1 << 20, '\0');
    std::size_t bytes = 0;
    for (ssize_t n = 1; n > 0; bytes += static_cast<std::size_t>(n))
        n = ::read(reader, got.data() + bytes, got.size() - bytes);
    ::close(reader);
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_EQ(got.substr(0, 33), "YUV4MPEG2 W160 H120 F60:1 Ip A1:1") << done.all();
    EXPECT_EQ(bytes, got.find('\n') + 1 + 3 * (6 + 3 * 160 * 120));
    EXPECT_TRUE(std::filesystem::is_fifo(fifo)) << "nothing has taken its place";
}

TEST_F(StreamRun, CtrlCEndsTheWaitForAReader) {
    make_fifo("flow");
    Child child(shell(std::string("exec \"$S\" run ") + kScene + " --frames 3 --record flow --record b.tiff"),
                folder_.path().string());
    ASSERT_TRUE(child.until(
        [](const ChildResult& r) { return says(r.err, "Waiting for a program that reads"); }, 60s));
    child.signal(SIGINT);
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 1) << done.all();
    EXPECT_TRUE(says(done.err, "the wait for a program that reads 'flow'")) << done.all();
    EXPECT_EQ(names_in(folder_.path().string()), std::vector<std::string>{"flow"});
}

TEST_F(StreamRun, AReaderThatGoesAwayEndsTheRunWithASentence) {
    const ChildResult done =
        run(std::string("run ") + kLive + " --record - | head -c 100000 > got; echo ${PIPESTATUS[0]}");
    EXPECT_EQ(done.out, "1\n") << done.all();
    EXPECT_TRUE(says(done.err, "Recording into - stopped: its reader disconnected.")) << done.all();
    EXPECT_TRUE(says(done.err, "ran on")) << "the report comes all the same" << done.all();
    EXPECT_FALSE(says(done.err, "Interrupted")) << done.all();
}

/// As in an unattended run, which must end to be restarted.
TEST_F(StreamRun, RecordingsThatHaveAllFailedEndTheRun) {
    const std::string full = "ulimit -f 256; run " + std::string(kLive) + " --frames 100000 ";
    const ChildResult all = run(full + "--record-raw a.tiff --record b.tiff");
    EXPECT_EQ(all.status, 1) << all.all();
    EXPECT_TRUE(says(all.err, "a.tiff stopped: File too large")) << all.all();
    EXPECT_TRUE(says(all.err, "b.tiff stopped: File too large")) << all.all();
    EXPECT_TRUE(says(all.out, "ran on")) << "the report comes all the same" << all.all();
}

TEST_F(StreamRun, WhatGoesOnBesideAFailedRecordingKeepsTheRun) {
    for (const std::string beside : {"--record flow", "--publish zmq://127.0.0.1:0"}) {
        make_fifo("flow");
        const std::string reader = beside == "--record flow" ? "cat flow > /dev/null & " : "";
        const ChildResult done = run(reader + "ulimit -f 256; run " + kScene +
                                     " --rate 100 --frames 200 --record-raw a.tiff " + beside);
        EXPECT_EQ(done.status, 1) << done.all();
        EXPECT_TRUE(says(done.err, "stopped: File too large")) << done.all();
        EXPECT_TRUE(says(done.out, "200 in, 200 processed")) << beside << done.all();
        for (const std::string& name : names_in(folder_.path().string()))
            std::filesystem::remove(folder_ / name);
    }
}

TEST_F(StreamRun, AKilledReaderEndsItsRecordingAlone) {
    make_fifo("flow");
    Child child(shell("cat flow > /dev/null & R=$!; { sleep 0.7; kill -9 $R; } & "
                      "exec \"$S\" run " +
                      std::string(kScene) +
                      " --rate 20 --frames 40 --record flow --record all.raw --backend cpu --stats s.json"),
                folder_.path().string());
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 1) << done.all();
    EXPECT_TRUE(says(done.err, "Recording into flow stopped: its reader disconnected.")) << done.all();
    EXPECT_EQ(file("all.raw").size(), 40 * kFrame) << done.all();
}

TEST_F(StreamRun, AFullDiskBehindThePipeIsSaid) {
    for (const std::string words : {"--record - > /dev/full", "--record /dev/full"}) {
        const ChildResult done = run(std::string("run ") + kLive + " " + words);
        EXPECT_EQ(done.status, 1) << done.all();
        EXPECT_TRUE(says(done.err, "stopped: No space left on device")) << done.all();
    }
}

/// Opened by the test, and read on demand.
class SlowReader {
public:
    explicit SlowReader(const std::string& fifo)
        : fd_(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
    SlowReader(const SlowReader&) = delete;
    SlowReader& operator=(const SlowReader&) = delete;
    ~SlowReader() { ::close(fd_); }
    /// Reads the available data; false at the end.
    bool take() {
        char some[65536];
        const ssize_t n = ::read(fd_, some, sizeof some);
        if (n > 0)
            text.append(some, static_cast<std::size_t>(n));
        return n != 0;
    }
    std::string text;

private:
    int fd_;
};

TEST_F(StreamRun, AFileWaitsForASlowReader) {
    SlowReader reader(make_fifo("flow"));
    Child child(
        shell(std::string("exec \"$S\" run ") + kScene + " --frames 60 --record flow --record all.raw"),
        folder_.path().string());
    ASSERT_TRUE(child.until([](const ChildResult& r) { return says(r.err, "into flow"); }, 60s));
    std::this_thread::sleep_for(1500ms); // its frames fill the pipe, and then wait longer than the limit
    std::size_t ends = 0;
    ASSERT_TRUE(test::eventually([&] { return (ends += reader.take() ? 0 : 1) > 0; }));
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_TRUE(reader.text == file("all.raw")) << reader.text.size() << done.all();
    EXPECT_EQ(reader.text.size(), 60 * kFrame);
}

TEST_F(StreamRun, ALiveSourceDropsForASlowReaderAndCounts) {
    SlowReader reader(make_fifo("flow"));
    Child child(shell(std::string("exec \"$S\" run ") + kLive +
                      " --frames 150 --record flow --record all.raw --stats s.json"),
                folder_.path().string());
    // Its other recording continues to its end.
    const auto other = [&] { return file("all.raw").size() == 150 * kFrame; };
    ASSERT_TRUE(test::eventually(other)) << file("all.raw").size() / kFrame;
    bool open = true;
    ASSERT_TRUE(test::eventually([&] { return !(open = open && reader.take()); }));
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_EQ(reader.text.size() % kFrame, 0u) << "whole frames";
    const auto dropped = nlohmann::json::parse(file("s.json"))["drops"]["recorder"].get<std::size_t>();
    EXPECT_GT(dropped, 0u);
    EXPECT_EQ(reader.text.size() / kFrame + dropped, 150u) << done.all();
}

TEST_F(StreamRun, CtrlCEndsARunWhoseReaderStandsStill) {
    SlowReader reader(make_fifo("flow"));
    Child child(shell(std::string("exec \"$S\" run ") + kScene + " --record flow --log verbose"),
                folder_.path().string());
    ASSERT_TRUE(child.until([](const ChildResult& r) { return says(r.err, "into flow"); }, 60s));
    std::this_thread::sleep_for(500ms);
    child.signal(SIGINT);
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 1) << done.all();
    EXPECT_TRUE(says(done.err, "took nothing for a second")) << done.all();
}

TEST_F(StreamRun, WhatCannotBeAStreamIsRefused) {
    write_text(folder_ / "file.raw", "mine");
    make_fifo("f.tiff");
    for (const auto& [words, status, part] :
         {std::tuple{"--record - --record-raw y4m:/dev/stdout | cat", 2, "are the same stream"},
          {"--record raw:file.raw", 2, "is not a FIFO"},
          {"--record y4m:none", 1, "mkfifo"},
          {"--record /dev/stderr", 2, "is used for messages"},
          {"--record /dev/fd/77", 1, "Bad file descriptor"},
          {"--record /dev/fd/0 < file.raw", 2, "is open only for reading"},
          {"--record f.tiff", 1, "a pipe, a socket or a device has that name"},
          {"--record-raw y4m:- | cat", 2, "cannot hold 160×120 u16 frames exactly"},
          {"--record - >&-", 1, "Standard output cannot take a stream"},
          {"--record flow", 2, "or be - or a FIFO"}}) {
        const ChildResult done = run(std::string("run ") + kScene + " --frames 3 " + words);
        EXPECT_EQ(done.status, status) << words << done.all();
        EXPECT_TRUE(says(done.err, part)) << words << done.all();
        EXPECT_EQ(done.out, "") << words;
    }
    EXPECT_EQ(file("file.raw"), "mine");
    const ChildResult two =
        run(std::string("run ") + kScene + " synthetic:uniform --frames 3 --record - | cat");
    EXPECT_EQ(two.status, 2);
    EXPECT_TRUE(says(two.err, "takes one source, but there are 2")) << two.all();
}

TEST_F(StreamRun, ATerminalGetsNoPixels) {
    write_text(folder_ / "terminal.py", "import os, pty, sys\n"
                                        "sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))\n");
    const ChildResult done =
        run("/usr/bin/python3 terminal.py \"$S\" run synthetic --frames 2 --record y4m:-");
    EXPECT_EQ(done.status, 2) << done.all();
    EXPECT_TRUE(says(done.all(), "is a terminal")) << done.all();
}

} // namespace specklescope::stream_run_test
