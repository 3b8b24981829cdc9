// Headerless frames from a pipe whose writer pauses: a partial frame is kept, and cancelling works.
#include "base/long_work.hpp"
#include "sources/registry.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <atomic>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

namespace specklescope::test::raw_pipe_test {

constexpr std::size_t kFrame = 17 * 13; // rows that do not fill their padded slot rows

std::string bytes_from(std::size_t first, std::size_t count) {
    std::string bytes;
    for (std::size_t i = first; i < first + count; ++i)
        bytes += static_cast<char>((i * 37 + i / 256) & 255);
    return bytes;
}

std::string pixels(const Delivered& frame) {
    return {reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size()};
}

class RawPipe : public testing::Test {
protected:
    RawPipe() {
        EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
        writer_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC); // does not wait for a reader
    }
    ~RawPipe() override { hang_up(); }
    void put(const std::string& bytes) const {
        EXPECT_EQ(::write(writer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    void hang_up() {
        if (writer_ >= 0)
            ::close(writer_);
        writer_ = -1;
    }
    std::string text(const std::string& more = "") const {
        return "raw:" + path_ + "?width=17&height=13" + more;
    }

    TemporaryFolder folder_;
    std::string path_ = folder_ / "pipe";
    int writer_ = -1;
};

TEST_F(RawPipe, APartialFrameIsContinued) {
    const std::string sent = bytes_from(0, 3 * kFrame);
    put(sent.substr(0, kFrame + 40));
    const auto source = make_source(text(), {});
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 1));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(source->next(port), Source::Status::idle) << "the pipeline cannot stop meanwhile";
    put(sent.substr(kFrame + 40, 100));
    EXPECT_EQ(source->next(port), Source::Status::idle);
    put(sent.substr(kFrame + 140));
    hang_up();
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(pixels(port.frames[i]), sent.substr(i * kFrame, kFrame)) << i;
}

/// The window plays files without a rate at a usual one; here a frame would take a thousand seconds.
TEST_F(RawPipe, TheWriterSetsThePace) {
    put(bytes_from(0, 3 * kFrame));
    const auto source = make_source(text(), {});
    (void)source->open();
    source->pace(1e-3);
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port, 3, std::chrono::seconds(5)));
}

TEST_F(RawPipe, APartialFrameAfterAPauseIsReportedAtTheEnd) {
    put(bytes_from(0, kFrame + 40));
    const auto source = make_source(text(), {});
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 1));
    EXPECT_EQ(source->next(port), Source::Status::idle);
    put("more");
    hang_up();
    try {
        read_frames(*source, port);
        ADD_FAILURE() << "the cut end was not noticed";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("has 44 of 221 bytes; the 1 whole frames before it count"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_EQ(source->next(port), Source::Status::end);
}

TEST_F(RawPipe, APauseWithinTheHeaderCanBeCancelled) {
    put("head");
    const auto source = make_source(text("&header=10"), {});
    int asked = 0;
    {
        const WatchWork watch([&](std::string_view what, double) {
            EXPECT_NE(what.find("waiting for the rest"), std::string_view::npos) << what;
            return ++asked < 4;
        });
        EXPECT_THROW((void)source->open(), Cancelled);
    }
    put("head");
    const WatchWork watch([&](std::string_view, double) {
        if (++asked == 10)
            put("er" + bytes_from(0, kFrame));
        return true;
    });
    put("head");
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 1));
    EXPECT_EQ(pixels(port.frames[0]).size(), kFrame);
}

TEST_F(RawPipe, ASignalIsNoFailure) {
    struct sigaction handler {}; // without SA_RESTART
    handler.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &handler, nullptr), 0);
    const std::string sent = bytes_from(0, 2 * kFrame);
    put(sent.substr(0, kFrame + 1));
    const auto source = make_source(text(), {});
    (void)source->open();
    TestPort port;
    std::atomic<int> idle = 0;
    std::atomic<bool> over = false;
    std::string failure;
    std::thread reader([&] {
        try {
            for (auto status = Source::Status::idle; status != Source::Status::end;) {
                status = source->next(port);
                idle += status == Source::Status::idle ? 1 : 0;
            }
        } catch (const std::exception& error) {
            failure = error.what();
        }
        over = true;
    });
    EXPECT_TRUE(eventually([&] {
        pthread_kill(reader.native_handle(), SIGUSR1);
        return over || idle > 2;
    }));
    put(sent.substr(kFrame + 1));
    hang_up();
    reader.join();
    EXPECT_EQ(failure, "");
    ASSERT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(pixels(port.frames[1]), sent.substr(kFrame));
}

TEST_F(RawPipe, CtrlCFinishesTheRecordingWhileTheWriterPauses) {
    put(bytes_from(0, 4 * kFrame + 100));
    const std::string recording = folder_ / "r.raw";
    Child run({program_path(), "run", text(), "--stage", "none", "--record", recording},
              folder_.path().string());
    ASSERT_TRUE(eventually([&] {
        return read_text(recording + ".jsonl").find("\"sequence\":3") != std::string::npos ||
               read_text(recording + ".jsonl").find("\"sequence\": 3") != std::string::npos;
    })) << run.so_far().all();
    run.signal(SIGINT);
    const ChildResult result = run.finish(std::chrono::seconds(60));
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_TRUE(read_text(recording) == bytes_from(0, 4 * kFrame)) << "the whole frames";
}

} // namespace specklescope::test::raw_pipe_test
