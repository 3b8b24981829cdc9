// Recordings begun by requests, into a FIFO in the request folder.
#include "have_egl.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace specklescope::control_pipe_test {

using test::Answer;
using test::ControlledRun;
using test::eventually;
using test::Json;

constexpr std::size_t kWidth = 32, kHeight = 24, kFrames = 60;
constexpr std::size_t kFrame = kWidth * kHeight * 2;

/// Reads to the end, on a separate thread; opens before a writer exists.
class Reader {
public:
    explicit Reader(const std::string& fifo) : fd_(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
        ::fcntl(fd_, F_SETFL, O_RDONLY);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
        if (thread_.joinable())
            thread_.join();
        ::close(fd_);
    }
    /// Call after a writer exists.
    void read_all() {
        thread_ = std::thread([this] {
            char part[65536];
            for (ssize_t got = 0; (got = ::read(fd_, part, sizeof part)) > 0;)
                text_.append(part, static_cast<std::size_t>(got));
        });
    }
    const std::string& text() {
        thread_.join();
        return text_;
    }

private:
    const int fd_;
    std::string text_;
    std::thread thread_;
};

class ControlledPipe : public testing::Test {
protected:
    void SetUp() override {
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=32&height=24&live=false", "--frames",
                         std::to_string(kFrames), "--record-raw", "film.tiff", "--record-raw", "all.raw"},
                        here());
        ASSERT_EQ(made.status, 0) << made.all();
        std::filesystem::create_directory(folder_ / "out");
        for (const char* name : {"out/flow.raw", "out/flow.y4m", "out/flow"})
            ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
    }
    std::string here() const { return folder_.path().string(); }
    std::unique_ptr<ControlledRun> start(const std::vector<std::string>& program) const {
        return std::make_unique<ControlledRun>(
            std::vector<std::string>{"film.tiff?rate=20", "--stage", "none", "--control-folder", "out"},
            here(), "zmq://127.0.0.1:0", program);
    }
    /// Frames written into flow.raw during playback are those after the seek target.
    void expect_frames(ControlledRun& program) const {
        Reader reader(folder_ / "out/flow.raw");
        ASSERT_TRUE(program.ask("pause").ok());
        ASSERT_TRUE(program.ask("seek", {{"frame", 2}}).ok());
        const Answer begun = program.ask("record", {{"what", "raw"}, {"file", "flow.raw"}});
        ASSERT_TRUE(begun.ok()) << begun.error();
        EXPECT_EQ(begun.json["file"], "out/flow.raw");
        const Answer twice = program.ask("record", {{"what", "results"}, {"file", "flow.raw"}});
        EXPECT_NE(twice.error().find("is used by another recording"), std::string::npos) << twice.json;
        reader.read_all();
        ASSERT_TRUE(program.ask("play").ok());
        ASSERT_TRUE(eventually([&] {
            const Json got = program.ask("get").json;
            return got["recordings"].size() == 1 && got["recordings"][0]["written"] > 10;
        }));
        const Answer stopped = program.ask("stop", {{"what", "raw"}});
        ASSERT_TRUE(stopped.ok()) << stopped.error();
        const std::string& text = reader.text();
        EXPECT_EQ(text.size(), stopped.json["written"].get<std::size_t>() * kFrame);
        const std::string all = read_text(folder_ / "all.raw");
        ASSERT_EQ(all.size(), kFrames * kFrame);
        EXPECT_TRUE(text == all.substr(3 * kFrame, text.size())) << "those behind the frame that was sought";
    }
    TemporaryFolder folder_;
};

TEST_F(ControlledPipe, OfARunGetsFramesOneBehindAnother) {
    const auto program = start({test::program_path(), "run", "--loop"});
    expect_frames(*program);
    EXPECT_EQ(program->quit().status, 0);
}

#ifdef SPECKLESCOPE_HAVE_EGL

std::vector<std::string> window() {
    return {"env",
            "LIBGL_ALWAYS_SOFTWARE=1",
            test::program_path(),
            "view",
            "--offscreen",
            "--view",
            "width=640",
            "--view",
            "height=480"};
}

TEST_F(ControlledPipe, OfAWindowGetsFramesOneBehindAnother) {
    const auto program = start(window());
    expect_frames(*program);
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlledPipe, OfAWindowGetsAFilm) {
    const auto program = start(window());
    Reader reader(folder_ / "out/flow.y4m");
    ASSERT_TRUE(program->ask("record", {{"what", "results"}, {"file", "flow.y4m"}}).ok());
    reader.read_all();
    ASSERT_TRUE(eventually([&] {
        const Json got = program->ask("get").json;
        return got["recordings"].size() == 1 && got["recordings"][0]["written"] > 3;
    }));
    const Answer stopped = program->ask("stop", {{"what", "results"}});
    ASSERT_TRUE(stopped.ok()) << stopped.error();
    const std::string& text = reader.text();
    EXPECT_TRUE(text.starts_with("YUV4MPEG2 W32 H24 F")) << text.substr(0, 80);
    const std::size_t header = text.find('\n') + 1, each = 6 + 3 * kWidth * kHeight;
    EXPECT_EQ(text.size(), header + stopped.json["written"].get<std::size_t>() * each);
    EXPECT_EQ(text.substr(header, 6), "FRAME\n");
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlledPipe, WithoutAReaderOrWithOneThatGoesEndsNoWindow) {
    const auto program = start(window());
    const Answer nobody = program->ask("record", {{"what", "raw"}, {"file", "flow"}});
    EXPECT_EQ(nobody.json["kind"], "run");
    EXPECT_NE(nobody.error().find("No program reads 'out/flow'"), std::string::npos) << nobody.error();
    {
        const Reader leaves(folder_ / "out/flow");
        ASSERT_TRUE(program->ask("record", {{"what", "raw"}, {"file", "flow"}}).ok());
    }
    EXPECT_TRUE(eventually([&] {
        return program->ask("messages").json.dump().find("its reader disconnected") != std::string::npos;
    }));
    EXPECT_TRUE(program->ask("get").json["recordings"].empty());
    EXPECT_EQ(program->quit().status, 1) << "a recording ended by itself";
}

#endif

} // namespace specklescope::control_pipe_test
