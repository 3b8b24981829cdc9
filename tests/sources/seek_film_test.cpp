// A seek in a video gives the frame that a sequential read gives there, in every container.
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "tests/sources/seek_helpers.hpp"

#include <gst/app/gstappsink.h>

namespace specklescope::test::seek_film_test {

/// True if packets are stored in another order than displayed; and their number.
std::pair<bool, int> order_of(const std::string& path) {
    init_gstreamer();
    const GstHandle<GstElement> pipeline = own(gst_parse_launch(
        ("filesrc location=\"" + path + "\" ! parsebin ! appsink name=sink sync=false").c_str(), nullptr));
    if (!pipeline)
        return {};
    const GstHandle<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    bool back = false;
    int count = 0;
    GstClockTime before = 0;
    while (const GstHandle<GstSample> sample{
        gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 60 * GST_SECOND)}) {
        const GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample.get()));
        back |= GST_CLOCK_TIME_IS_VALID(pts) && pts < before;
        before = GST_CLOCK_TIME_IS_VALID(pts) ? pts : before;
        ++count;
    }
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return {back, count};
}

class SeekFilm : public SeekTest, public testing::WithParamInterface<EncodedFilm> {};

TEST_P(SeekFilm, ShowsExactlyTheFrame) {
    const RawMovie movie = noise_movie(48, 32, 60, "GRAY8", 1);
    const std::string path = file("film" + GetParam().name);
    ASSERT_NO_FATAL_FAILURE(encode(movie, GetParam().chain, path));
    const auto [back, packets] = order_of(path);
    EXPECT_GE(packets, 60);
    EXPECT_EQ(back, GetParam().chain.find(" bframes=") != std::string::npos) << "other packets than meant";
    expect_exact_seeks(path, 60);
}

INSTANTIATE_TEST_SUITE_P(
    Containers, SeekFilm,
    testing::Values(
        EncodedFilm{"_ffv1.mkv", "avenc_ffv1 ! matroskamux"},
        EncodedFilm{"_raw.mkv", "matroskamux timecodescale=1"},
        EncodedFilm{"_mjpeg.avi", "videoconvert ! jpegenc ! avimux"},
        EncodedFilm{"_b.mp4", "videoconvert ! x264enc key-int-max=13 bframes=3 b-adapt=false "
                              "option-string=scenecut=0 ! mp4mux"},
        EncodedFilm{"_b.mkv", "videoconvert ! x264enc key-int-max=25 bframes=2 b-adapt=false "
                              "option-string=scenecut=0 ! matroskamux"},
        EncodedFilm{"_one_key.mkv", "videoconvert ! x264enc key-int-max=1000 bframes=2 b-adapt=false "
                                    "option-string=scenecut=0 ! matroskamux"},
        EncodedFilm{"_vp8.webm", "videoconvert ! vp8enc keyframe-max-dist=10 deadline=1 ! webmmux"},
        EncodedFilm{"_b.ts", "videoconvert ! x264enc key-int-max=10 bframes=2 b-adapt=false "
                             "option-string=scenecut=0 ! mpegtsmux"},
        EncodedFilm{"_theora.ogg", "videoconvert ! theoraenc keyframe-force=12 ! oggmux"},
        EncodedFilm{"_b.flv", "videoconvert ! x264enc key-int-max=10 bframes=2 b-adapt=false "
                              "option-string=scenecut=0 ! flvmux"},
        EncodedFilm{".y4m", "videoconvert ! y4menc"}),
    name_of);

class SeekForeignFilm : public SeekTest, public testing::WithParamInterface<EncodedFilm> {};

/// Videos written by ffmpeg: the frame number is in the first row, as eight bright or dark blocks.
TEST_P(SeekForeignFilm, ShowsExactlyTheFrame) {
    const std::string path = file("film" + GetParam().name);
    script(
        "import subprocess\n"
        "a = n.random.default_rng(1).integers(90, 150, (60, 64, 128)).astype(n.uint8)\n"
        "for i in range(60):\n"
        "    for b in range(8): a[i, :16, 16*b:16*b+16] = 220 if i >> b & 1 else 30\n"
        "subprocess.run(['ffmpeg', '-y', '-loglevel', 'error', '-f', 'rawvideo', '-pix_fmt', 'gray', '-s', "
        "'128x64', '-r', '25', '-i', '-'] + '" +
        GetParam().chain + "'.split() + ['" + path + "'], input=a.tobytes(), check=True)");
    if (HasFatalFailure())
        return;
    const std::vector<Delivered> all = straight(path);
    ASSERT_EQ(all.size(), 60U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Shape& shape = all[i].shape;
        const auto* row =
            all[i].pixels.data() + std::size_t{8} * 128 * static_cast<std::size_t>(shape.channels);
        std::size_t number = 0;
        for (std::size_t b = 0; b < 8; ++b)
            number |= std::size_t{std::to_integer<int>(
                                      row[(16 * b + 8) * static_cast<std::size_t>(shape.channels)]) > 125}
                      << b;
        ASSERT_EQ(number, i) << "the run itself is out of order";
    }
    const auto source = make_source(path, {});
    source->open();
    for (const std::uint64_t frame :
         {1, 2, 3, 59, 5, 12, 14, 15, 16, 18, 19, 20, 21, 37, 38, 39, 40, 45, 58, 0}) {
        source->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frame));
    }
}

const std::string kB = "-c:v libx264 -bf 2 -g 20 -pix_fmt yuv420p ", kSimple = "-q:v 3 -g 15 ";
INSTANTIATE_TEST_SUITE_P(
    Containers, SeekForeignFilm,
    testing::Values(
        EncodedFilm{"_b.mp4", kB}, EncodedFilm{"_fragments.mp4", kB + "-movflags frag_keyframe+empty_moov"},
        EncodedFilm{"_short.mp4", kB + "-movflags frag_keyframe+empty_moov -frag_duration 200000"},
        EncodedFilm{"_refresh.mp4", "-c:v libx264 -x264-params intra-refresh=1 -g 15 -pix_fmt yuv420p"},
        EncodedFilm{"_open.mp4", kB + "-x264-params open-gop=1"}, EncodedFilm{"_b.mov", kB},
        EncodedFilm{"_b.mkv", kB}, EncodedFilm{"_b.avi", kB}, EncodedFilm{"_b.ts", kB},
        EncodedFilm{"_b.flv", kB}, EncodedFilm{"_vp8.webm", "-c:v libvpx -b:v 2M -g 20"},
        EncodedFilm{"_vp9.webm", "-c:v libvpx-vp9 -b:v 2M -g 20"},
        EncodedFilm{"_p.avi", "-c:v mpeg4 " + kSimple},
        EncodedFilm{"_mpeg4_b.avi", "-c:v mpeg4 -bf 2 " + kSimple},
        EncodedFilm{"_mpeg4.mp4", "-c:v mpeg4 -bf 2 " + kSimple},
        EncodedFilm{"_mjpeg.avi", "-c:v mjpeg -q:v 3"}, EncodedFilm{"_mjpeg.mov", "-c:v mjpeg -q:v 3"},
        EncodedFilm{".wmv", "-c:v wmv2 " + kSimple}, EncodedFilm{".asf", "-c:v msmpeg4 " + kSimple},
        EncodedFilm{".flv", "-c:v flv " + kSimple}, EncodedFilm{"_2.mpg", "-c:v mpeg2video -bf 2 " + kSimple},
        EncodedFilm{"_1.mpg", "-c:v mpeg1video -bf 2 " + kSimple},
        EncodedFilm{"_2.ts", "-c:v mpeg2video -bf 2 " + kSimple},
        EncodedFilm{".mxf", "-c:v mpeg2video -bf 2 " + kSimple},
        EncodedFilm{".ogv", "-c:v libtheora -q:v 8 -g 15"}, EncodedFilm{"_grey.mkv", "-c:v ffv1"},
        EncodedFilm{"_ffv1.avi", "-c:v ffv1"}),
    name_of);

TEST_F(SeekTest, ATrimmedFilmHasAllItsFrames) {
    const RawMovie movie = noise_movie(96, 64, 60, "GRAY8", 1);
    const std::string path = file("trimmed.mp4"), raw = file("frames");
    write_file(raw, movie.bytes.data(), movie.bytes.size());
    const std::string quiet = "ffmpeg -y -loglevel error ";
    ASSERT_EQ(std::system((quiet + "-f rawvideo -pix_fmt gray -s 96x64 -r 25 -i " + raw + " " + kB +
                           file("whole.mp4") + " && " + quiet + "-ss 1.16 -i " + file("whole.mp4") +
                           " -c copy " + path)
                              .c_str()),
              0);
    const std::vector<Delivered> whole = straight(file("whole.mp4"));
    ASSERT_EQ(whole.size(), 60U);
    const std::vector<Delivered> trimmed = straight(path);
    ASSERT_EQ(trimmed.size(), 31U) << "frames 29 to 59";
    for (std::size_t i = 0; i < trimmed.size(); ++i)
        EXPECT_TRUE(trimmed[i].pixels == whole[29 + i].pixels) << i;
    expect_exact_seeks(path, 31);
}

TEST_F(SeekTest, VideosThatChangeTheirRateHaveAllTheirFrames) {
    // Two rates in one file: times without a common rate.
    const RawMovie movie = noise_movie(48, 32, 40, "GRAY8", 1);
    const std::string path = file("uneven.mkv");
    ASSERT_NO_FATAL_FAILURE(
        encode(movie, "videorate drop-only=true max-rate=9 ! avenc_ffv1 ! matroskamux", path));
    const std::size_t frames = straight(path).size();
    ASSERT_GT(frames, 5U);
    ASSERT_LT(frames, 40U);
    expect_exact_seeks(path, frames);
}

TEST_F(SeekTest, AVideoWithoutTimesIsCounted) {
    const RawMovie movie = noise_movie(48, 32, 60, "GRAY8", 1);
    const std::string path = file("film.h264");
    ASSERT_NO_FATAL_FAILURE(encode(movie,
                                   "videoconvert ! x264enc key-int-max=10 bframes=0 ! h264parse ! "
                                   "video/x-h264,stream-format=byte-stream",
                                   path));
    const std::vector<Delivered> all = straight(path);
    ASSERT_EQ(all.size(), 60U);
    const auto source = make_source(path, {});
    EXPECT_EQ(source->open().length, 0U) << "nobody knows";
    for (const std::uint64_t frame : {40U, 7U, 59U, 0U}) {
        source->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frame));
    }
    source->seek(60, 0);
    TestPort port;
    try {
        read_frames(*source, port);
        FAIL() << "no error";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("has no frame 60; it ends after 60."), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(source->length(), 60U) << "now somebody does";
    EXPECT_NE(refusal(*source, 60).find("0…59"), std::string::npos);
    source->seek(33, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 33));
}

TEST_F(SeekTest, ATruncatedVideoExtendsToTheTruncation) {
    const RawMovie movie = noise_movie(48, 32, 60, "GRAY8", 1);
    const std::string path = file("cut.mkv");
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avenc_ffv1 ! matroskamux", path));
    cut_file(path, std::filesystem::file_size(path) * 6 / 10);
    const auto source = make_source(path, {});
    source->open();
    TestPort port;
    EXPECT_THROW(read_frames(*source, port), RunError);
    ASSERT_GT(port.frames.size(), 20U);
    for (const std::uint64_t frame :
         {std::uint64_t{5}, std::uint64_t{17}, std::uint64_t{port.frames.size() - 2}}) {
        source->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*source, port.frames, frame));
    }
    EXPECT_NE(refusal(*source, 59).find("has no frame 59"), std::string::npos);
}

TEST_F(SeekTest, AVideoThatDidNotGrowKeepsItsPosition) {
    const RawMovie movie = noise_movie(48, 32, 30, "GRAY8", 1);
    const std::string path = file("grows.mkv");
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avenc_ffv1 ! matroskamux", path));
    const std::vector<Delivered> all = straight(path);
    const auto source = make_source(path, {});
    source->open();
    source->seek(11, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 11));
    std::ofstream(path, std::ios::binary | std::ios::app) << std::string(100, '\0');
    EXPECT_NE(refusal(*source, 30).find("has no frame 30; allowed: 0…29."), std::string::npos);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 12));
}

TEST_F(SeekTest, ARemovedVideoIsReportedEachTime) {
    const RawMovie movie = noise_movie(48, 32, 30, "GRAY8", 1);
    const std::string path = file("gone.y4m"); // must be counted: it is opened again
    ASSERT_NO_FATAL_FAILURE(encode(movie, "videoconvert ! y4menc", path));
    const std::vector<Delivered> all = straight(path);
    const auto source = make_source(path, {});
    source->open();
    source->seek(7, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 7));
    std::filesystem::rename(path, path + ".away");
    for (int i = 0; i < 2; ++i)
        EXPECT_THROW(source->seek(3, 0), RunError);
    std::filesystem::rename(path + ".away", path);
    source->seek(3, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 3));
}

} // namespace specklescope::test::seek_film_test
