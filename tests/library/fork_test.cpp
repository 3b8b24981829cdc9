// A fork while streams and recorders are open: the child has none of their threads.
#include "tests/library/forked.hpp"

#include <dlfcn.h>

namespace fork_test {

using namespace client;

/// A stream that records, a frame of it, a recorder with a frame and a chain. The folder is made first: a
/// child that exits would take it down.
struct Open {
    Open() {
        const char* const source = "synthetic:uniform?width=64&height=48&rate=200&live=true";
        EXPECT_EQ(specklescope_stream_open(source, "speckle", nullptr, &stream), SPECKLESCOPE_OK)
            << specklescope_last_error();
        EXPECT_EQ(specklescope_stream_record(stream, stream_file.c_str(), SPECKLESCOPE_RESULTS),
                  SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_recorder_create(file.c_str(), nullptr, &recorder), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_OK);
    }
    ~Open() {
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_EQ(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_OK) << specklescope_last_error();
        std::filesystem::remove_all(folder);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    const std::string folder = [] {
        std::string made = testing::TempDir() + "/specklescope_fork_" + std::to_string(::getpid());
        std::filesystem::create_directories(made);
        return made;
    }();
    const std::string stream_file = folder + "/stream.tiff", file = folder + "/recorder.tiff";
    Pixels pixels = random_pixels(16, 12, 3);
    specklescope_image image = image_of(pixels);
    specklescope_stream* stream = nullptr;
    specklescope_frame* frame = nullptr;
    specklescope_recorder* recorder = nullptr;
};

TEST(Fork, AChildThatExitsLeavesThemAlone) {
    Open open;
    // The recorder's thread makes the file, and may be writing it still.
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!std::filesystem::exists(open.file) && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    for (const bool at_once : {false, true}) {
        ASSERT_TRUE(std::filesystem::exists(open.file));
        const auto size = std::filesystem::file_size(open.file);
        EXPECT_EQ(in_child(at_once, [] { return 0; }), 0);
        ASSERT_TRUE(std::filesystem::exists(open.file));
        EXPECT_GE(std::filesystem::file_size(open.file), size);
    }
}

TEST(Fork, AChildEndsThemAtOnce) {
    Open open;
    for (const bool at_once : {false, true})
        EXPECT_EQ(in_child(at_once,
                           [&] {
                               if (specklescope_stream_close(open.stream) != SPECKLESCOPE_OK)
                                   return 1;
                               if (specklescope_frame_free(open.frame) != SPECKLESCOPE_OK)
                                   return 2;
                               if (specklescope_recorder_free(open.recorder) != SPECKLESCOPE_OK)
                                   return 3;
                               // They have ended, here as elsewhere.
                               return specklescope_stream_close(open.stream) == SPECKLESCOPE_BAD_HANDLE ? 0
                                                                                                        : 4;
                           }),
                  0);
}

TEST(Fork, AChildIsToldWhereTheyWereMade) {
    Open open;
    EXPECT_EQ(
        in_child(true,
                 [&] {
                     specklescope_frame* next = nullptr;
                     auto result = sized<specklescope_result>();
                     const char* const stream =
                         "This stream was opened before a fork; open it again in this process.";
                     if (!refused(specklescope_stream_next(open.stream, -1, &next), stream))
                         return 1;
                     if (!refused(specklescope_stream_stop(open.stream), stream))
                         return 2;
                     if (!refused(specklescope_frame_result(open.frame, &result),
                                  "This frame was fetched before a fork; open a stream in this "
                                  "process, and fetch it there."))
                         return 3;
                     const char* const recorder =
                         "This recorder was made before a fork; make another one in this process.";
                     if (!refused(specklescope_recorder_push(open.recorder, &open.image, nullptr), recorder))
                         return 4;
                     return refused(specklescope_recorder_close(open.recorder), recorder) ? 0 : 5;
                 }),
        0);
}

TEST(Fork, ChainsGoOnInAChild) {
    Open open;
    const Chain chain("speckle:output=contrast", "backend=cpu,threads=1");
    const std::vector<float> expected = run(chain, open.pixels);
    EXPECT_EQ(in_child(true, [&] { return run(chain, open.pixels) == expected ? 0 : 1; }), 0);
}

TEST(Fork, GStreamerStaysWithTheProcessThatHasStartedIt) {
    Open open;
    const std::string film = open.folder + "/film.mkv";
    specklescope_recorder* recorder = nullptr;
    ASSERT_EQ(specklescope_recorder_create(film.c_str(), nullptr, &recorder), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(specklescope_recorder_push(recorder, &open.image, nullptr), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_OK);
    EXPECT_EQ(
        in_child(true,
                 [&] {
                     specklescope_stream* stream = nullptr;
                     const auto is_said = [](specklescope_status status) {
                         return status == SPECKLESCOPE_RUN_ERROR &&
                                std::string(specklescope_last_error())
                                        .find("GStreamer was started before this process was forked") !=
                                    std::string::npos;
                     };
                     if (!is_said(specklescope_stream_open(film.c_str(), "", nullptr, &stream)))
                         return 1;
                     if (specklescope_recorder_create(film.c_str(), nullptr, &recorder) != SPECKLESCOPE_OK)
                         return 2;
                     if (!is_said(specklescope_recorder_push(recorder, &open.image, nullptr)))
                         return 3;
                     const char* const scene = "synthetic:uniform?width=64&height=48&live=false";
                     return specklescope_stream_open(scene, "", nullptr, &stream) == SPECKLESCOPE_OK ? 0 : 4;
                 }),
        0);
    ASSERT_EQ(specklescope_recorder_create(film.c_str(), nullptr, &recorder), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_recorder_push(recorder, &open.image, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_OK);
}

/// Without the library: a player, OpenCV.
TEST(Fork, GStreamerOfTheProgramStaysWithItAsWell) {
    void* const gstreamer = ::dlopen("libgstreamer-1.0.so.0", RTLD_NOW);
    ASSERT_NE(gstreamer, nullptr) << ::dlerror();
    const auto start = reinterpret_cast<void (*)(int*, char***)>(::dlsym(gstreamer, "gst_init"));
    ASSERT_NE(start, nullptr);
    start(nullptr, nullptr);
    Open open;
    EXPECT_EQ(
        in_child(true,
                 [&] {
                     specklescope_recorder* recorder = nullptr;
                     if (specklescope_recorder_create((open.folder + "/film.mkv").c_str(), nullptr,
                                                      &recorder) != SPECKLESCOPE_OK)
                         return 1;
                     if (specklescope_recorder_push(recorder, &open.image, nullptr) != SPECKLESCOPE_RUN_ERROR)
                         return 2;
                     return std::string(specklescope_last_error())
                                        .find("GStreamer was started before this process was forked") == 0
                                ? 0
                                : 3;
                 }),
        0);
}

} // namespace fork_test
