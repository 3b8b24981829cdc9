// Images over RTSP to GStreamer's own client: the received image equals the snapshot; passwords, several
// clients, killed clients and clients that do not read.
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/rtsp_stranger.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <random>

namespace specklescope::rtsp_test {

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
    /// The program with a constant image; port() is valid afterwards.
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
    /// Replaces the constant image by moving speckle of 320×240, which no encoder compresses well.
    void make_moving() const {
        std::filesystem::remove(folder_ / "still.tiff");
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=320&height=240&live=false", "--frames", "20",
                         "--record-raw", "still.tiff", "--backend", "cpu"},
                        folder());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    /// A client that writes this many images into an RGB file.
    std::vector<std::string> client(int pictures, const std::string& file,
                                    const std::string& more = "protocols=tcp") const {
        return {
            "bash", "-c",
            "exec timeout 100 gst-launch-1.0 -q rtspsrc location=" + url() + " latency=0 " + more +
                " ! rtph264depay ! avdec_h264 ! videoconvert ! video/x-raw,format=RGB ! identity eos-after=" +
                std::to_string(pictures) + " ! filesink location=" + file};
    }
    /// GStreamer's client may send TEARDOWN, disconnect, and then try to pause: 2 of 150 runs did.
    static testing::AssertionResult ended_well(const ChildResult& client) {
        const bool late =
            client.all().find("Could not send message. (Received end-of-file)") != std::string::npos;
        return (client.status == 0 || late ? testing::AssertionSuccess() : testing::AssertionFailure())
               << client.status << ' ' << client.all();
    }
    /// A client that connects after others have disconnected, possibly before the server has noticed.
    testing::AssertionResult serves_again(Child& program) const {
        ChildResult last;
        int tries = 0;
        if (test::eventually([&] {
                ++tries;
                last = run_child(client(3, "seen"), folder());
                return bool(ended_well(last));
            }))
            return testing::AssertionSuccess();
        program.until([](const ChildResult&) { return false; }, 1s);
        return testing::AssertionFailure() << "of " << tries << " tries, the last: " << last.status
                                           << last.all() << "\nthe program: " << program.so_far().all();
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

/// Halved chroma cannot preserve the false colours of single pixels; grey has no chroma.
TEST_F(Rtsp, TenClientsOfThreeKindsSeeTheSnapshot) {
    for (const std::string look : {"--colormap grey", "--colormap inferno --serve-chroma 4:4:4"}) {
        const std::string name = look.find("4:4:4") == std::string::npos ? "halved.png" : "full.png";
        const auto program = serve("rtsp://127.0.0.1:0/flow", look);
        const ChildResult shot = run_child(
            {"bash", "-c",
             "exec '" + test::program_path() +
                 "' run still.tiff --frames 1 --backend cpu --stage speckle --snapshot " + name + " " + look},
            folder());
        ASSERT_EQ(shot.status, 0) << shot.all();
        const ChildResult seen = run_child(
            {"/usr/bin/python3", test::source_folder() + "/tests/net/outlet/clients.py", url(), name},
            folder());
        EXPECT_EQ(seen.status, 0) << look << seen.all();
        std::cout << look << '\n' << seen.out;
        const ChildResult done = end(*program);
        EXPECT_EQ(done.status, 0) << done.all();
        EXPECT_NE(done.out.find("showed    "), std::string::npos) << done.all();
    }
}

TEST_F(Rtsp, ARateIsKept) {
    make_moving();
    std::map<std::string, double> bytes_per_picture;
    for (const std::string rate : {"0", "20", "2", "0.5"}) {
        const auto program = serve("rtsp://127.0.0.1:0/flow", "--serve-mbit-s " + rate);
        constexpr int kPictures = 60;
        const ChildResult seen =
            run_child({"bash", "-c",
                       "exec timeout 100 gst-launch-1.0 -q rtspsrc location=" + url() +
                           " latency=0 protocols=tcp ! rtph264depay ! video/x-h264,stream-format=byte-stream,"
                           "alignment=au ! identity eos-after=" +
                           std::to_string(kPictures + 1) + " ! filesink location=rate-" + rate},
                      folder());
        EXPECT_TRUE(ended_well(seen));
        bytes_per_picture[rate] =
            static_cast<double>(std::filesystem::file_size(folder_ / ("rate-" + rate))) / kPictures;
        EXPECT_EQ(end(*program).status, 0);
        std::cout << rate << " Mbit/s: " << bytes_per_picture[rate] << " bytes for a picture\n";
    }
    // At 20 images per second.
    EXPECT_LT(bytes_per_picture["0"], 1.3 * 4e6 / 8 / 20) << "bounded by the size, at least 4 Mbit/s";
    EXPECT_LT(bytes_per_picture["0"], 0.7 * bytes_per_picture["20"]) << "this picture would need more";
    EXPECT_LT(bytes_per_picture["0.5"], 0.5 * bytes_per_picture["2"]);
    EXPECT_LT(bytes_per_picture["2"], 1.3 * 2e6 / 8 / 20);
}

TEST_F(Rtsp, SeveralShareItAndAKilledOneIsNotMissed) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    Child first(client(100000, "first"), folder());
    ASSERT_TRUE(test::eventually([&] { return pictures_in("first") > 2; })) << first.finish(1s).all();
    Child second(client(20, "second"), folder());
    ASSERT_TRUE(test::eventually([&] { return pictures_in("second") > 2; })) << second.finish(1s).all();
    first.signal(SIGKILL);
    EXPECT_TRUE(ended_well(second.finish()));
    const ChildResult third = run_child(client(5, "third"), folder());
    EXPECT_TRUE(ended_well(third));
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_NE(done.all().find("none dropped"), std::string::npos) << done.all();
}

TEST_F(Rtsp, OneThatStandsStillHoldsNobodyUp) {
    make_moving();
    const auto program = serve("rtsp://127.0.0.1:0/flow", "--screen-zoom 4", "60");
    const Stranger still(port_);
    still.play(url());
    Child other(client(100000, "seen"), folder());
    // After more data than any socket buffer holds.
    EXPECT_TRUE(program->until(
        [](const ChildResult& r) {
            return r.err.find("has read no image for a second") != std::string::npos;
        },
        120s))
        << program->so_far().all();
    const std::size_t seen = pictures_in("seen");
    EXPECT_TRUE(test::eventually([&] { return pictures_in("seen") > seen + std::size_t{64} * 20; }))
        << seen << " and " << pictures_in("seen") << other.finish(1s).all();
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
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
    EXPECT_TRUE(ended_well(right));
    EXPECT_GE(pictures_in("right"), 2u);
    const ChildResult done = end(*program);
    EXPECT_EQ(done.all().find("Sesame"), std::string::npos) << done.all();
}

/// Random words, truncated requests, and announced bodies, several over each connection, until the server or
/// the client closes it.
TEST_F(Rtsp, NoiseFromStrangersEndsNothing) {
    constexpr unsigned kSeed = 20261124;
    std::cout << "seed " << kSeed << '\n';
    std::mt19937 random(kSeed);
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    const std::string process = test::newest_child();
    const double before = test::resident_mib(process);
    std::array<std::optional<Stranger>, 40> strangers;
    const auto pick = [&](std::size_t of) { return static_cast<std::size_t>(random()) % of; };
    int said = 0, connections = 0;
    while (said < 10'000) {
        std::optional<Stranger>& stranger = strangers.at(pick(strangers.size()));
        if (!stranger || stranger->ended() || pick(100) == 0) {
            stranger.emplace(port_);
            ++connections;
        }
        constexpr std::array<const char*, 8> kMethods{"DESCRIBE", "SETUP",    "PLAY",          "PAUSE",
                                                      "TEARDOWN", "ANNOUNCE", "GET_PARAMETER", "OPTIONS"};
        std::string noise;
        if (pick(4) != 0)
            noise = std::string(kMethods.at(pick(kMethods.size()))) + " " + url() +
                    (pick(2) == 0 ? " RTSP/1.0\r\nCSeq: " : "/stream=0 RTSP/1.0\r\nTransport: ");
        if (pick(200) == 0)
            noise += "1\r\nContent-Length: 100000000\r\n\r\n";
        for (std::size_t i = pick(400); i > 0; --i)
            noise += static_cast<char>(random());
        if (stranger->say(noise + "\r\n\r\n"))
            ++said;
        else
            stranger.reset();
    }
    EXPECT_TRUE(test::eventually([&] {
        for (const std::optional<Stranger>& stranger : strangers)
            if (stranger)
                (void)stranger->ended();
        return test::unread_at(port_) == 0;
    })) << test::unread_at(port_);
    std::cout << said << " messages over " << connections << " connections\n";
    EXPECT_LT(test::resident_mib(process) - before, 300.0);
    for (std::optional<Stranger>& stranger : strangers)
        stranger.reset();
    EXPECT_TRUE(serves_again(*program));
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_EQ(done.all().find("(critical)"), std::string::npos) << done.all();
}

/// From clients without the password.
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
    const auto program = serve("rtsp://127.0.0.1:0/flow", "--log verbose");
    std::deque<Stranger> strangers;
    for (int i = 0; i < 150; ++i)
        strangers.emplace_back(port_);
    const auto ended = [&] {
        return std::count_if(strangers.begin(), strangers.end(), [](const Stranger& s) { return s.ended(); });
    };
    EXPECT_TRUE(test::eventually([&] { return ended() >= 150 - 64; })) << ended();
    EXPECT_TRUE(test::eventually([&] { return ended() == 150; })) << ended();
    EXPECT_TRUE(serves_again(*program));
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_EQ(done.all().find("(critical)"), std::string::npos) << done.all();
}

/// RTSP over HTTP uses two connections, neither of which is checked like a viewer's connection.
TEST_F(Rtsp, TunnelsThroughHttpAreNotBuilt) {
    const auto program = serve("rtsp://127.0.0.1:0/flow", "--log verbose");
    const std::string process = test::newest_child();
    const double before = test::resident_mib(process);
    const auto ask = [](const std::string& method, int cookie) {
        return method + " /flow HTTP/1.0\r\nx-sessioncookie: c" + std::to_string(cookie) +
               "\r\nContent-Type: application/x-rtsp-tunnelled\r\nContent-Length: 32767\r\n\r\n";
    };
    {
        const Stranger down(port_), up(port_);
        ASSERT_TRUE(down.say(ask("GET", 0)));
        ASSERT_TRUE(up.say(ask("POST", 0)));
        const std::string header = "WTogeXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXkNCgAA"; // in base64
        std::string much;
        while (much.size() < 1'000'000)
            much += header;
        int said = 0;
        while (said < 200 && up.say(much))
            ++said;
        EXPECT_LT(said, 200) << "all of it was taken";
        EXPECT_LT(test::resident_mib(process) - before, 100.0);
    }
    std::deque<Stranger> all;
    for (int i = 1; i <= 100; ++i) {
        Stranger up(port_);
        up.say(ask("POST", i));
        all.emplace_back(port_).say(ask("GET", i));
    } // its upward connection is closed
    EXPECT_TRUE(test::eventually(
        [&] { return std::all_of(all.begin(), all.end(), [](const Stranger& s) { return s.ended(); }); }));
    EXPECT_TRUE(serves_again(*program));
    const ChildResult done = end(*program);
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_EQ(done.all().find("have not heard of its end"), std::string::npos) << done.all();
}

TEST_F(Rtsp, APortInUseAndAWrongAddressAreOneSentence) {
    const auto program = serve("rtsp://127.0.0.1:0/flow");
    write_text(folder_ / "serve.toml",
               "source = \"still.tiff\"\n[program]\nserve = \"rtsp://127.0.0.1:0/flow\"\n");
    for (const auto& [words, status, part] :
         {std::tuple{"--serve " + url(), 1, std::string("another port")},
          {"--serve http://127.0.0.1/flow", 2,
           "--serve = 'http://127.0.0.1/flow' is not possible; allowed: rtsp://"},
          {"--serve rtsp://127.0.0.1:99999/flow", 2, "is not possible"},
          {"--serve rtsp://127.0.0.1:8554", 2, "is not possible"},
          {"--serve rtsp://eye:sesame@127.0.0.1:0/flow", 2,
           "rtsp://eye:***@127.0.0.1:0/flow' contains a password"},
          {"--serve 'rtsp://eye:${env:NOT_SET_HERE}@127.0.0.1:0/flow'", 2, "NOT_SET_HERE, which is not set"},
          {"--config serve.toml", 2, "add --trust"},
          {"--output /dev/video7", 2, "allowed: v4l2:/dev/videoN"},
          {"--output v4l2:/dev/video77", 1, "/dev/video77"},
          {"--output v4l2:/dev/null", 1, "/dev/null"},
          {"--output v4l2:" + (folder_ / "still.tiff"), 1, "still.tiff"},
          {"--output gst:nosuchsink", 1, "nosuchsink"},
          {"--output gst:", 2, "gst:SINK"}}) {
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

/// Raw images in a file equal the snapshot.
TEST_F(Rtsp, AnySinkOfGStreamerIsAnOutput) {
    const ChildResult done = run_child({"bash", "-c",
                                        "exec '" + test::program_path() +
                                            "' run still.tiff --loop --rate 20 --frames 10 --backend cpu "
                                            "--snapshot shown.png --output 'gst:video/x-raw,"
                                            "format=RGB ! filesink location=out.rgb'"},
                                       folder());
    ASSERT_EQ(done.status, 0) << done.all();
    EXPECT_TRUE(test::python(folder_, R"py(
import numpy
from PIL import Image
shown = numpy.asarray(Image.open("shown.png").convert("RGB")).astype(int)
out = numpy.fromfile("out.rgb", numpy.uint8)
assert len(out) >= shown.size and len(out) % shown.size == 0, (len(out), shown.size)
assert abs(out[:shown.size].reshape(shown.shape).astype(int) - shown).max() <= 4
)py")) << test::read_file(folder_ / "python.log");
}

TEST_F(Rtsp, AnOpenDoorIsSaidOnce) {
    const auto program = serve("rtsp://*:0/flow");
    const ChildResult done = end(*program);
    EXPECT_NE(done.err.find("to everyone who reaches this machine"), std::string::npos) << done.all();
    EXPECT_EQ(done.err.find("to everyone", done.err.find("to everyone") + 1), std::string::npos);
}

} // namespace specklescope::rtsp_test
