// After its parent has used the library, a forked child gets an error from every call, and objects of the
// parent stay intact.
#include "tests/library/client.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

namespace fork_test {

using namespace client;

/// Exit status of the child; -1: a signal ended it, -2: it hung. The child runs `body` and exits with its
/// exit handlers, or with `at_once` without them.
int in_child(bool at_once, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int status = body();
#ifdef __SANITIZE_ADDRESS__ // the leak check waits for threads that the child does not have
        at_once = true;
#endif
        if (at_once)
            ::_exit(status);
        std::exit(status); // NOLINT(concurrency-mt-unsafe): the child has one thread
    }
    int status = 0;
    for (int i = 0; i < 6000; ++i) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -2;
}

bool refused(specklescope_status status) {
    return status == SPECKLESCOPE_BAD_HANDLE &&
           std::string(specklescope_last_error()).find("spawn") != std::string::npos;
}

TEST(Fork, AChildGetsErrorsAndLeavesFilesAlone) {
    const std::string folder = testing::TempDir() + "/specklescope_fork_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
    const std::string file = folder + "/stream.tiff";
    Pixels pixels = random_pixels(64, 48, 3);
    const Chain chain("speckle:output=contrast", "backend=cpu,threads=2");
    const std::vector<float> expected = run(chain, pixels);
    specklescope_stream* stream = nullptr;
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_open("synthetic:uniform?width=64&height=48&rate=200&live=true", "speckle",
                                       nullptr, &stream),
              SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_record(stream, file.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK);
    for (const bool at_once : {false, true}) {
        ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK);
        EXPECT_EQ(in_child(at_once,
                           [&] {
                               auto result = sized<specklescope_result>();
                               std::size_t place = 0;
                               specklescope_frame* next = nullptr;
                               specklescope_chain* made = nullptr;
                               if (!refused(specklescope_stream_next(stream, -1, &next)))
                                   return 1;
                               if (!refused(specklescope_frame_result(frame, &result)))
                                   return 2;
                               if (!refused(specklescope_chain_place(chain, "speckle", &place)))
                                   return 3;
                               if (!refused(specklescope_chain_create("speckle", nullptr, &made)))
                                   return 4;
                               return refused(specklescope_stream_close(stream)) ? 0 : 5;
                           }),
                  0);
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    EXPECT_EQ(run(chain, pixels), expected) << "the parent continues";
    EXPECT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_open(file.c_str(), "", nullptr, &stream), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << "the recording is readable";
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK);
    std::filesystem::remove_all(folder);
}

} // namespace fork_test
