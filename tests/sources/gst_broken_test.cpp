// A damaged video delivers what can be decoded, then one error with the reason.
#include "tests/sources/gst_sources.hpp"
#include "tests/support/child.hpp"

#include <algorithm>

namespace gst_broken_test {

using namespace specklescope;
using namespace specklescope::test;

/// Everything decoded before the truncation arrives in order, followed by the error.
void expect_cut_short(const std::string& chain, const std::string& name) {
    const TemporaryFolder folder;
    const RawMovie movie = counting_movie(200);
    ASSERT_NO_FATAL_FAILURE(encode(movie, chain, folder / name));
    std::filesystem::resize_file(folder / name, std::filesystem::file_size(folder / name) * 6 / 10);
    const auto source = video(folder / name);
    TestPort port;
    const std::string said = failure<RunError>(*source, port);
    EXPECT_NE(said.find(name), std::string::npos);
    EXPECT_GT(port.frames.size(), 50u);
    EXPECT_LT(port.frames.size(), 200u);
    for (std::size_t i = 0; i < port.frames.size(); ++i)
        ASSERT_EQ(port.frames[i].data<std::uint16_t>()[0], i);
}

TEST(BrokenVideo, TruncatedCompressedMatroskaDeliversItsFrames) {
    expect_cut_short("avenc_ffv1 ! matroskamux", "cut.mkv");
}

TEST(BrokenVideo, TruncatedAviDeliversItsFrames) {
    const TemporaryFolder folder;
    const RawMovie movie = noise_movie(64, 48, 40, "BGR", 3);
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avimux", folder / "cut.avi"));
    std::filesystem::resize_file(folder / "cut.avi", std::filesystem::file_size(folder / "cut.avi") * 6 / 10);
    const auto source = video(folder / "cut.avi");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("cut.avi"), std::string::npos);
    EXPECT_GE(port.frames.size(), 22u);
    EXPECT_LE(port.frames.size(), 24u);
    for (std::size_t i = 0; i < port.frames.size(); ++i)
        ASSERT_EQ(std::to_integer<int>(port.frames[i].pixels[2]), movie.frame(i)[0]) << i;
}

TEST(BrokenVideo, TruncatedMp4WithItsIndexFirstDeliversItsFrames) {
    const TemporaryFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=100 pattern=snow ! video/x-raw,width=64,height=48 ! x264enc ! mp4mux "
        "faststart=true ! filesink location=" +
        (folder / "cut.mp4")));
    std::filesystem::resize_file(folder / "cut.mp4", std::filesystem::file_size(folder / "cut.mp4") * 7 / 10);
    const auto source = video(folder / "cut.mp4");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("cut.mp4"), std::string::npos);
    EXPECT_GT(port.frames.size(), 30u);
    EXPECT_LT(port.frames.size(), 100u);
}

// Each ends with an error after its frames; the whole file ends normally.
TEST(BrokenVideo, EveryTruncatedContainerIsReported) {
    const TemporaryFolder folder;
    const std::string scene =
        "videotestsrc num-buffers=60 pattern=snow ! video/x-raw,width=64,height=48,framerate=25/1 ! ";
    for (const auto& [ending, chain] : std::vector<std::pair<std::string, std::string>>{
             {"streamed.mkv", "jpegenc ! matroskamux streamable=true"},
             {"a.mkv", "jpegenc ! matroskamux"},
             {"a.webm", "vp8enc ! webmmux"},
             {"a.avi", "jpegenc ! avimux"},
             {"a.mp4", "x264enc ! mp4mux faststart=true"},
             {"fragments.mp4", "x264enc ! mp4mux fragment-duration=200"},
             {"a.flv", "x264enc ! flvmux"},
             {"a.ogg", "theoraenc ! oggmux"},
             {"a.wmv", "avenc_wmv2 ! asfmux"},
             {"a.ts", "x264enc ! mpegtsmux"},
             {"a.y4m", "y4menc"},
             {"a.mjpg", "jpegenc"},
             {"a.multi", "jpegenc ! multipartmux"}}) {
        SCOPED_TRACE(ending);
        const std::string path = folder / ending;
        ASSERT_TRUE(launch(scene + chain + " ! filesink location=" + path));
        TestPort whole;
        const auto good = video(path);
        good->open();
        ASSERT_TRUE(read_frames(*good, whole));
        good->close();
        std::filesystem::resize_file(path, std::filesystem::file_size(path) * 6 / 10 + 1);
        TestPort port;
        EXPECT_NE(failure<RunError>(*video(path), port).find("cut short"), std::string::npos);
        EXPECT_GE(port.frames.size(), 25U);
        EXPECT_LT(port.frames.size(), whole.frames.size());
        EXPECT_EQ(port.frames[0].pixels, whole.frames[0].pixels);
    }
}

TEST(BrokenVideo, TruncatedMp4WithoutIndexIsRefused) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        launch("videotestsrc num-buffers=50 ! video/x-raw,width=64,height=48 ! x264enc ! mp4mux ! filesink "
               "location=" +
               (folder / "cut.mp4")));
    std::filesystem::resize_file(folder / "cut.mp4", std::filesystem::file_size(folder / "cut.mp4") / 2);
    EXPECT_NE(failure<RunError>(*video(folder / "cut.mp4")).find("cut.mp4"), std::string::npos);
}

TEST(BrokenVideo, DamageInTheMiddleIsAnError) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(
        encode(noise_movie(64, 48, 60, "GRAY8", 1), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    std::vector<char> bytes = file_bytes(folder / "a.mkv");
    for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 20000; ++i)
        bytes[i] = static_cast<char>(i * 7);
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    const auto source = video(folder / "a.mkv");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("a.mkv"), std::string::npos);
    EXPECT_GT(port.frames.size(), 20u);
    EXPECT_LT(port.frames.size(), 60u);
}

TEST(BrokenVideo, OtherFilesAreRefused) {
    const TemporaryFolder folder;
    const std::string text = "these are words, not pictures; these are words, not pictures\n";
    write_file(folder / "text.avi", text.data(), text.size());
    write_file(folder / "empty.mkv", "", 0);
    const RawMovie noise = noise_movie(50, 50, 1, "GRAY8", 1);
    write_file(folder / "noise.mp4", noise.bytes.data(), noise.bytes.size());
    ASSERT_TRUE(launch("audiotestsrc num-buffers=20 ! wavenc ! filesink location=" + (folder / "sound.wav")));
    ASSERT_TRUE(launch("audiotestsrc num-buffers=20 ! vorbisenc ! matroskamux ! filesink location=" +
                       (folder / "sound.mkv")));
    for (const char* name : {"text.avi", "empty.mkv", "noise.mp4", "sound.wav", "sound.mkv", "absent.mkv"})
        EXPECT_NE(failure<RunError>(*video(folder / name)).find(name), std::string::npos) << name;
}

TEST(BrokenVideo, AMissingDecoderIsNamed) {
    // A Matroska file with a nonexistent codec: the ID is changed in place.
    const TemporaryFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! theoraenc ! matroskamux ! filesink "
        "location=" +
        (folder / "a.mkv")));
    std::vector<char> bytes = file_bytes(folder / "a.mkv");
    const std::string id = "V_THEORA";
    const auto at = std::search(bytes.begin(), bytes.end(), id.begin(), id.end());
    ASSERT_NE(at, bytes.end());
    std::copy_n("V_NOBODY", 8, at);
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    EXPECT_NE(failure<RunError>(*video(folder / "a.mkv")).find("V_NOBODY"), std::string::npos);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they reserve terabytes of addresses
/// An installed decoder without memory or threads is not reported as missing, and GStreamer, which would wait
/// forever, is not waited for.
TEST(BrokenVideo, AnInstalledDecoderWithoutMemoryIsNotReportedAsMissing) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(counting_movie(5), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    int refused = 0;
    for (const int kib : {200000, 250000, 300000, 350000, 400000}) {
        const ChildResult made =
            run_child({"bash", "-c",
                       "ulimit -v " + std::to_string(kib) + "; exec timeout -s KILL 60 '" + program_path() +
                           "' run a.mkv --backend cpu --threads 1"},
                      folder.path().string());
        EXPECT_NE(made.status, 137) << kib << " KiB: " << made.all();
        EXPECT_EQ(made.all().find("gstreamer1.0-"), std::string::npos) << kib << " KiB: " << made.all();
        refused += made.status == 1 ? 1 : 0;
    }
    std::cout << refused << " of 5 were refused\n";
}
#endif

} // namespace gst_broken_test
