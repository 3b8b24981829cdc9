// Pictures over RTSP, to GStreamer's own client: what is seen is the snapshot; passwords, several clients,
// such as are killed and such as stand still.
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/rtsp_stranger.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <random>

namespace specklescope {
namespace {

using namespace std::chrono_literals;
using Stranger = test::RtspStranger;

class Rtsp : public testing::Test {
protected:
    void SetUp() override {
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=160&height=120&live=false", "--frames", "1",
                         "--record-raw", "still.tiff", "--backend", "cpu"},
                        folder());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    std::string folder() const { return folder_.path().string(); }
    /// The program, with a picture that stays; port() is known behind it.
    std::unique_ptr<Child> serve(const std::string& address, const std::string& more = "",
                                 const std::string& rate = "20") {
        auto child = std::make_unique<Child>(
            std::vector<std::string>{"bash", "-c",
                                     "exec '" + test::program_path() + "' run still.tiff --loop --rate " +
                                         rate + " --backend cpu --threads 1 --stage speckle --serve '" +
                                         address + "' " + more},
            folder());
        EXPECT_TRUE(child->until(
            [](const ChildResult& r) { return r.err.find(" served at ") != std::string::npos; }, 60s));
        const ChildResult& soon = child->so_far();
        const std::size_t at = soon.err.rfind(':', soon.err.find("/flow", soon.err.find(" served at ")));
        port_ = at == std::string::npos ? 0 : std::stoi(soon.err.substr(at + 1));
        EXPECT_GT(port_, 0) << soon.all();
        return child;
    }
    std::string url() const { return "rtsp://127.0.0.1:" + std::to_string(port_) + "/flow"; }
    /// A client that takes so many pictures into a file of RGB.
    std::vector<std::string> client(int pictures, const std::string& file,
                                    const std::string& more = "protocols=tcp") const {
        return {
            "bash", "-c",
            "exec timeout 100 gst-launch-1.0 -q rtspsrc location=" + url() + " latency=0 " + more +
                " ! rtph264depay ! avdec_h264 ! videoconvert ! video/x-raw,format=RGB ! identity eos-after=" +
                std::to_string(pictures) + " ! filesink location=" + file};
    }
    /// One that comes after others have gone, of whom the server may still have to hear.
    bool serves_again() const {
        return test::eventually([&] { return run_child(client(3, "seen"), folder()).status == 0; });
    }
    static ChildResult end(Child& child) {
        child.signal(SIGTERM);
        return child.finish();
    }
    std::size_t pictures_in(const std::string& file) const {
        std::error_code none;
        const auto bytes = std::filesystem::file_size(folder_ / file, none);
        return none ? 0 : bytes / (std::size_t{160} * 120 * 3);
    }
    int port_ = 0;
    TemporaryFolder folder_;
};

TEST_F(Rtsp, WhatIsSeenIsTheSnapshot) {
    const auto program = serve("rtsp://127.0.0.1:0/flow", "--snapshot s.png --colormap inferno");
    for (const std::string protocol : {"tcp", "udp"}) {
        const ChildResult seen = run_child(client(8, protocol, "protocols=" + protocol), folder());
        EXPECT_EQ(seen.status, 0) << protocol << seen.all();
    }
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_NE(done.out.find("showed    "), std::string::npos) << done.all();
    EXPECT_TRUE(test::python(folder_, R"py(
import cv2, numpy
s = cv2.imread('s.png')[..., ::-1].astype(float)
for name in ('tcp', 'udp'):
    frames = numpy.fromfile(name, numpy.uint8).reshape(-1, 120, 160, 3).astype(float)
    assert len(frames) >= 7, (name, len(frames))
    psnr = 10 * numpy.log10(255**2 / numpy.mean((frames[-1] - s)**2))
    print(name, psnr)
    assert psnr >= 36, (name, psnr)
)py")) << read_text(folder_ / "python.log");
    std::cout << read_text(folder_ / "python.log");
}

TEST_F(Rtsp, SeveralShareItAndAKilledOneIsNotMissed) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    Child first(client(100000, "first"), folder());
    ASSERT_TRUE(test::eventually([&] { return pictures_in("first") > 2; })) << first.finish(1s).all();
    Child second(client(20, "second"), folder());
    ASSERT_TRUE(test::eventually([&] { return pictures_in("second") > 2; })) << second.finish(1s).all();
    first.signal(SIGKILL);
    EXPECT_EQ(second.finish().status, 0);
    const ChildResult third = run_child(client(5, "third"), folder());
    EXPECT_EQ(third.status, 0) << third.all();
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_NE(done.all().find("none dropped"), std::string::npos) << done.all();
}

TEST_F(Rtsp, OneThatStandsStillHoldsNobodyUp) {
    const auto program = serve("rtsp://127.0.0.1:0/flow", "--screen-zoom 4", "60");
    const Stranger still(port_);
    still.play(url());
    // More than any socket holds, so that somebody would wait.
    const ChildResult seen = run_child(client(100, "seen"), folder());
    EXPECT_EQ(seen.status, 0) << seen.all();
    EXPECT_GE(pictures_in("seen") / 16, 99U);
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_NE(done.err.find("has not read its pictures for a second"), std::string::npos) << done.all();
    EXPECT_NE(done.all().find("none dropped"), std::string::npos) << "the pipeline goes on" << done.all();
}

TEST_F(Rtsp, ThePasswordIsAskedForAndNeverShown) {
    ASSERT_EQ(::setenv("SPECKLESCOPE_TEST_PASSWORD", "open/Sesame%1", 1), 0); // NOLINT(concurrency-mt-unsafe)
    const auto program =
        serve("rtsp://eye:${env:SPECKLESCOPE_TEST_PASSWORD}@127.0.0.1:0/flow", "--log verbose");
    const ChildResult wrong =
        run_child(client(3, "wrong", "protocols=tcp user-id=eye user-pw=guess"), folder());
    EXPECT_NE(wrong.status, 0);
    EXPECT_NE(wrong.all().find("nauthorized"), std::string::npos) << wrong.all();
    EXPECT_EQ(pictures_in("wrong"), 0u);
    const ChildResult none = run_child(client(3, "none"), folder());
    EXPECT_NE(none.status, 0) << none.all();
    const ChildResult right =
        run_child(client(3, "right", "protocols=tcp user-id=eye 'user-pw=open/Sesame%1'"), folder());
    EXPECT_EQ(right.status, 0) << right.all();
    EXPECT_GE(pictures_in("right"), 2u);
    const ChildResult done = end(*program);
    EXPECT_EQ(done.all().find("Sesame"), std::string::npos) << done.all();
}

/// Half of them stay while the others come, and some say how much more will follow.
TEST_F(Rtsp, NoiseFromStrangersEndsNothing) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    const std::string process = test::newest_child();
    const double before = test::resident_mib(process);
    std::deque<Stranger> stay;
    for (int seed = 0; seed < 200; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const Stranger goes(port_);
        const Stranger& stranger = seed % 2 == 0 ? goes : stay.emplace_back(port_);
        std::string noise = seed % 4 < 2 ? "DESCRIBE " + url() + " RTSP/1.0\r\nCSeq: " : "";
        for (int i = 0; i < 400; ++i)
            noise += static_cast<char>(random());
        if (seed % 3 == 0)
            noise = "ANNOUNCE " + url() + " RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 100000000\r\n\r\n" + noise;
        stranger.say(noise + "\r\n\r\n");
    }
    EXPECT_LT(test::resident_mib(process) - before, 300.0);
    stay.clear();
    EXPECT_TRUE(serves_again());
    EXPECT_EQ(end(*program).status, 0);
}

/// Of strangers who know no password.
TEST_F(Rtsp, WhatIsSaidWithoutEndIsNotKept) {
    ASSERT_EQ(::setenv("SPECKLESCOPE_TEST_PASSWORD", "sesame", 1), 0); // NOLINT(concurrency-mt-unsafe)
    const auto program = serve("rtsp://eye:${env:SPECKLESCOPE_TEST_PASSWORD}@127.0.0.1:0/flow");
    const std::string process = test::newest_child();
    const double before = test::resident_mib(process);
    const std::string much(1'000'000, 'y');
    for (const std::string& begin :
         {"ANNOUNCE " + url() + " RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 1073741824\r\n\r\n",
          "OPTIONS " + url() + " RTSP/1.0\r\nCSeq: 1\r\n"}) {
        const Stranger stranger(port_);
        ASSERT_TRUE(stranger.say(begin));
        std::string more = much;
        if (begin.starts_with("OPTIONS")) // one line after another
            for (std::size_t at = 0; at + 203 < more.size(); at += 203)
                more.replace(at, 203, "X-Y: " + std::string(196, 'y') + "\r\n");
        int said = 0;
        while (said < 500 && stranger.say(more))
            ++said;
        EXPECT_LT(said, 500) << "all of it was taken: " << begin;
        EXPECT_LT(test::resident_mib(process) - before, 200.0) << begin;
        std::cout << said << " MB said, " << test::resident_mib(process) - before << " MiB kept\n";
    }
    EXPECT_EQ(end(*program).status, 0);
}

TEST_F(Rtsp, ConnectionsAreBoundedAndWhoAsksForNothingLeaves) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    std::deque<Stranger> strangers;
    for (int i = 0; i < 150; ++i)
        strangers.emplace_back(port_);
    const auto ended = [&] {
        return std::count_if(strangers.begin(), strangers.end(), [](const Stranger& s) { return s.ended(); });
    };
    EXPECT_TRUE(test::eventually([&] { return ended() >= 150 - 64; })) << ended();
    EXPECT_TRUE(test::eventually([&] { return ended() == 150; })) << ended();
    EXPECT_TRUE(serves_again());
    EXPECT_EQ(end(*program).status, 0);
}

TEST_F(Rtsp, APortInUseAndAWrongAddressAreOneSentence) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    write_text(folder_ / "serve.toml",
               "source = \"still.tiff\"\n[program]\nserve = \"rtsp://127.0.0.1:0/flow\"\n");
    for (const auto& [words, status, part] :
         {std::tuple{"--serve " + url(), 1,
                     std::string("name another port, or end the program that has it.")},
          {"--serve http://127.0.0.1/flow", 2,
           "--serve = 'http://127.0.0.1/flow' is not possible; allowed: rtsp://"},
          {"--serve rtsp://127.0.0.1:99999/flow", 2, "is not possible"},
          {"--serve rtsp://127.0.0.1:8554", 2, "is not possible"},
          {"--serve rtsp://eye:sesame@127.0.0.1:0/flow", 2,
           "rtsp://eye:***@127.0.0.1:0/flow' holds a password"},
          {"--serve 'rtsp://eye:${env:NOT_SET_HERE}@127.0.0.1:0/flow'", 2, "NOT_SET_HERE, which is not set"},
          {"--config serve.toml", 2, "read this file with --trust"},
          {"--output /dev/video7", 2, "allowed: v4l2:/dev/videoN"},
          {"--output v4l2:/dev/video77", 1, "v4l2loopback makes one"},
          {"--output v4l2:/dev/null", 1, "/dev/null is no camera"},
          {"--output v4l2:" + (folder_ / "still.tiff"), 1, "is no camera"}}) {
        const ChildResult done = run_child(
            {"bash", "-c",
             "exec '" + test::program_path() + "' run still.tiff --frames 2 --backend cpu " + words},
            folder());
        EXPECT_EQ(done.status, status) << words << done.all();
        EXPECT_NE(done.err.find(part), std::string::npos) << words << done.all();
        EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << words << done.all();
        EXPECT_EQ(done.all().find("sesame"), std::string::npos);
    }
    EXPECT_EQ(end(*program).status, 0);
}

TEST_F(Rtsp, AnOpenDoorIsSaidOnce) {
    const auto program = serve("rtsp://*:0/flow");
    const ChildResult done = end(*program);
    EXPECT_NE(done.err.find("is open to whoever reaches this machine"), std::string::npos) << done.all();
    EXPECT_EQ(done.err.find("is open to", done.err.find("is open to") + 1), std::string::npos);
}

} // namespace
} // namespace specklescope
