// Files that are sought, paused, and played to their end and beyond through the C ABI.
#include "tests/library/recorded.hpp"

#include <barrier>
#include <cstdlib>
#include <thread>

namespace stream_jumps_test {

using namespace client;

const char* const kSceneWithoutEnd = "synthetic:uniform?width=64&height=48&live=true";

/// Positions of all frames up to the end.
std::vector<double> places(specklescope_stream* stream) {
    std::vector<double> all;
    for (double place = next_place(stream); place >= 0; place = next_place(stream))
        all.push_back(place);
    return all;
}

std::vector<double> from_to(int first, int last) {
    std::vector<double> all;
    for (int place = first; place <= last; ++place)
        all.push_back(place);
    return all;
}

TEST(Streams, AFileIsSoughtForwardsBackwardsAndBehindItsEnd) {
    const std::string path = recorded_file(60);
    const Stream stream(path, "average:frames=4", "backend=cpu");
    EXPECT_EQ(next_place(stream), 0);
    EXPECT_EQ(next_place(stream), 1);
    ASSERT_EQ(specklescope_stream_seek(stream, 40, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    double mean = 0;
    EXPECT_EQ(next_place(stream, -1, &mean), 40);
    EXPECT_EQ(mean, 40) << "the history is forgotten";
    EXPECT_EQ(next_place(stream), 41);
    ASSERT_EQ(specklescope_stream_seek(stream, 10, 1), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(next_place(stream, -1, &mean), 10);
    EXPECT_EQ(mean, 8.5) << "frames in front of it have filled the history";
    for (int place = 11; place < 60; ++place)
        ASSERT_EQ(next_place(stream), place);
    EXPECT_EQ(next_place(stream), -1);
    ASSERT_EQ(specklescope_stream_seek(stream, 58, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(next_place(stream), 58);
    EXPECT_EQ(next_place(stream), 59);
    EXPECT_EQ(next_place(stream), -1);
    expect_refused(specklescope_stream_seek(stream, 60, 0), SPECKLESCOPE_USAGE_ERROR, "60");
    const Stream scene(kSceneWithoutEnd, nullptr, "backend=cpu");
    expect_refused(specklescope_stream_seek(scene, 3, 0), SPECKLESCOPE_USAGE_ERROR,
                   "No frame can be chosen in synthetic:");
}

TEST(Streams, AFileThatIsPausedStandsAndGoesOnWhereItStood) {
    const std::string path = recorded_file(60);
    const Stream stream(path, nullptr, "backend=cpu");
    ASSERT_EQ(specklescope_stream_pause(stream, 1), SPECKLESCOPE_OK);
    EXPECT_EQ(next_place(stream, 0.2), -2);
    ASSERT_EQ(specklescope_stream_seek(stream, 20, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(next_place(stream, 30), 20) << "it shows the frame that was sought";
    EXPECT_EQ(next_place(stream, 0.2), -2);
    ASSERT_EQ(specklescope_stream_pause(stream, 0), SPECKLESCOPE_OK);
    for (int place = 21; place < 60; ++place)
        ASSERT_EQ(next_place(stream), place);
    EXPECT_EQ(next_place(stream), -1);
}

TEST(Streams, APausedCameraGivesOnlyTheResultsFromBefore) {
    const Stream stream(kSceneWithoutEnd, nullptr, "backend=cpu");
    ASSERT_GE(next_place(stream), 0);
    ASSERT_EQ(specklescope_stream_pause(stream, 1), SPECKLESCOPE_OK);
    while (next_place(stream, 0) != -2) {
    }
    EXPECT_EQ(next_place(stream, 0.2), -2);
    ASSERT_EQ(specklescope_stream_pause(stream, 0), SPECKLESCOPE_OK);
    EXPECT_GE(next_place(stream), 0);
}

TEST(Streams, OfTwoSeeksTheLastCountsAndItsFrameComesOnce) {
    const std::string path = recorded_file(60);
    for (int round = 0; round < 60; ++round) {
        const Stream stream(path, nullptr, "backend=cpu");
        ASSERT_EQ(next_place(stream), 0);
        ASSERT_EQ(specklescope_stream_seek(stream, round % 2 == 0 ? 10 : 50, 0), SPECKLESCOPE_OK);
        if (round % 3 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
        ASSERT_EQ(specklescope_stream_seek(stream, 10, 0), SPECKLESCOPE_OK);
        ASSERT_EQ(places(stream), from_to(10, 59)) << "round " << round;
    }
}

TEST(Streams, AFrameThatTurnsOutNotToBeThereIsSaidAndNothingIsLost) {
    const std::string path = own_folder() + "/library_gaps.mkv"; // its length implies more frames than it has
    const std::string make = "gst-launch-1.0 -q videotestsrc num-buffers=50 ! "
                             "video/x-raw,format=GRAY8,width=32,height=24,framerate=25/1 ! "
                             "identity drop-probability=0.4 ! jpegenc ! matroskamux ! filesink location=" +
                             path;
    ASSERT_EQ(std::system(make.c_str()), 0) << make; // NOLINT(concurrency-mt-unsafe)
    const auto count = [](specklescope_stream* stream) {
        std::size_t frames = 0;
        for (specklescope_frame* frame = nullptr;
             specklescope_stream_next(stream, -1, &frame) == SPECKLESCOPE_OK; ++frames)
            specklescope_frame_free(frame);
        return frames;
    };
    const Stream whole(path, "none", "backend=cpu");
    const std::size_t there = count(whole);
    ASSERT_GT(there, 10U);
    ASSERT_LT(there, 45U);
    const Stream stream(path, "none", "backend=cpu");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    specklescope_frame_free(frame);
    if (const specklescope_status sought = specklescope_stream_seek(stream, 45, 0); sought == SPECKLESCOPE_OK)
        expect_refused(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_RUN_ERROR,
                       "has no frame 45");
    else // the file was read to its end already
        expect_refused(sought, SPECKLESCOPE_USAGE_ERROR, "has no frame 45");
    EXPECT_EQ(count(stream), there - 1) << "the file goes on as before";
    ASSERT_EQ(specklescope_stream_seek(stream, 3, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(count(stream), there - 3);
}

TEST(Streams, AFrameThatTheChainCannotRunOnIsSaidAndTheNextOnesCome) {
    std::filesystem::create_directories(own_folder() + "/sizes");
    for (int i = 0; i < 12; ++i)
        recorded_file(1, "/sizes/im" + std::to_string(100 + i) + ".tiff", i == 5 ? 4 : 16, i);
    const Stream stream(own_folder() + "/sizes", "crop:x=8", "backend=cpu");
    ASSERT_EQ(next_place(stream), 0);
    ASSERT_EQ(specklescope_stream_seek(stream, 5, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    specklescope_frame* frame = nullptr;
    expect_refused(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_RUN_ERROR, "stage crop");
    for (int place = 6; place < 12; ++place)
        ASSERT_EQ(next_place(stream), place) << specklescope_last_error();
}

TEST(Streams, RecordingsAreFinishedAndTheStreamGoesOn) {
    constexpr int kLast = 599; // not all are computed before the second recording is finished
    const std::string path = recorded_file(kLast + 1), first = own_folder() + "/finished_1.tiff",
                      second = own_folder() + "/finished_2.tiff";
    std::filesystem::remove(first);
    std::filesystem::remove(second);
    const Stream stream(path, nullptr, "backend=cpu");
    ASSERT_EQ(specklescope_stream_record(stream, first.c_str(), SPECKLESCOPE_FRAMES), SPECKLESCOPE_OK);
    ASSERT_EQ(next_place(stream), 0);
    ASSERT_EQ(specklescope_stream_seek(stream, 50, 0), SPECKLESCOPE_OK);
    ASSERT_EQ(places(stream), from_to(50, kLast));
    ASSERT_EQ(specklescope_stream_finish(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_finish(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(places(Stream(first, nullptr, "backend=cpu")).back(), kLast) << "the file is whole";
    ASSERT_EQ(specklescope_stream_record(stream, second.c_str(), SPECKLESCOPE_FRAMES), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_stream_seek(stream, 20, 0), SPECKLESCOPE_OK);
    ASSERT_EQ(next_place(stream), 20);
    ASSERT_EQ(specklescope_stream_pause(stream, 1), SPECKLESCOPE_OK); // most frames come after finish()
    // with pending results, finish must not wait for the reader
    ASSERT_EQ(specklescope_stream_finish(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_pause(stream, 0), SPECKLESCOPE_OK);
    EXPECT_EQ(places(stream), from_to(21, kLast));
    const std::vector<double> kept = places(Stream(second, nullptr, "backend=cpu"));
    ASSERT_FALSE(kept.empty());
    EXPECT_EQ(kept.front(), 20);
    EXPECT_LT(kept.back(), kLast) << "frames after finish() were recorded";
}

TEST(Streams, APauseBesideTheFirstFrameIsHeard) {
    constexpr int kFrames = 600; // more than the program reads ahead
    const std::string path = recorded_file(kFrames);
    for (int round = 0; round < 150; ++round) {
        const Stream stream(path, nullptr, "backend=cpu");
        std::barrier together(2);
        std::thread other([&] {
            together.arrive_and_wait();
            specklescope_stream_pause(stream, 1);
        });
        together.arrive_and_wait();
        int given = next_place(stream, 0) >= 0 ? 1 : 0;
        other.join();
        while (given < kFrames && next_place(stream, 0.05) >= 0)
            ++given;
        ASSERT_LT(given, kFrames) << "round " << round << ": it was not paused";
    }
}

TEST(Streams, APartThatIsPlayedAgainAndAgainHasNoNumberOfFrames) {
    const std::string path = recorded_file(60);
    const auto frames = [&](const char* options) {
        auto info = sized<specklescope_source_info>();
        const Stream stream(path, nullptr, options);
        EXPECT_EQ(specklescope_stream_source(stream, &info), SPECKLESCOPE_OK) << specklescope_last_error();
        return info.frames;
    };
    EXPECT_EQ(frames("backend=cpu"), 60U);
    EXPECT_EQ(frames("backend=cpu,loop=true"), 0U);
    EXPECT_EQ(frames("backend=cpu,loop=true,from=50"), 0U);
    const Stream stream(path, nullptr, "backend=cpu,loop=true,from=50");
    for (int place = 50; place < 75; ++place)
        ASSERT_EQ(next_place(stream), 50 + (place - 50) % 10);
}

} // namespace stream_jumps_test
