// Part of a video read for a seek: from the key frame before the target, not from the start.
#include "tests/sources/seek_helpers.hpp"

#include <fstream>

namespace specklescope::test::seek_reach_test {

/// Bytes read by this process so far (proc(5), io: rchar).
std::uint64_t bytes_read() {
    std::ifstream file("/proc/self/io");
    for (std::string word; file >> word;)
        if (std::uint64_t bytes = 0; word == "rchar:" && file >> bytes)
            return bytes;
    return 0;
}

class SeekReach : public SeekTest, public testing::WithParamInterface<EncodedFilm> {};

TEST_P(SeekReach, StartsAtThePrecedingKeyFrame) {
    constexpr std::uint64_t kFrames = 600;
    const RawMovie movie = noise_movie(96, 64, kFrames, "GRAY8", 1);
    const std::string path = file("film" + GetParam().name);
    ASSERT_NO_FATAL_FAILURE(encode(movie, GetParam().chain, path));
    const std::uint64_t begin = bytes_read();
    const std::vector<Delivered> all = straight(path);
    ASSERT_EQ(all.size(), kFrames);
    const auto source = make_source(path, {});
    source->open();
    source->seek(1, 0); // scans the frames of the whole file, once
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 1));
    const std::uint64_t whole = std::filesystem::file_size(path);
    ASSERT_GE(bytes_read() - begin, whole) << "the system does not count what is read";
    for (const std::uint64_t frame : {kFrames - 2, kFrames - 20, kFrames - 40}) {
        const std::uint64_t before = bytes_read();
        source->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frame));
        EXPECT_LT(bytes_read() - before, whole / 2) << "for frame " << frame << " of a file of " << whole;
    }
    source->close();
}

INSTANTIATE_TEST_SUITE_P(
    Containers, SeekReach,
    testing::Values(EncodedFilm{"_ffv1.mkv", "avenc_ffv1 ! matroskamux"},
                    EncodedFilm{"_mjpeg.avi", "videoconvert ! jpegenc ! avimux"},
                    EncodedFilm{"_b.mp4", "videoconvert ! x264enc key-int-max=13 bframes=3 b-adapt=false "
                                          "option-string=scenecut=0 ! mp4mux"},
                    EncodedFilm{"_b.mkv", "videoconvert ! x264enc key-int-max=25 bframes=2 b-adapt=false "
                                          "option-string=scenecut=0 ! matroskamux"},
                    EncodedFilm{"_vp8.webm",
                                "videoconvert ! vp8enc keyframe-max-dist=10 deadline=1 ! webmmux"}),
    name_of);

} // namespace specklescope::test::seek_reach_test
