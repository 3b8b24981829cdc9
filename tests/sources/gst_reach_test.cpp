// A video file only reads itself, and a gst: text only reads: nothing opens an address, a port or another
// file.
#include "base/long_work.hpp"
#include "tests/sources/gst_sources.hpp"
#include "tests/support/child.hpp"

#include <arpa/inet.h>
#include <gst/gst.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>

namespace gst_reach_test {

using namespace specklescope;
using namespace specklescope::test;

/// Counts connections; the system queues them until they are accepted.
class Door {
public:
    Door() {
        socket_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(socket_, 64) != 0 ||
            getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no port on the loopback");
        port_ = ntohs(address.sin_port);
    }
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    ~Door() { close(socket_); }
    std::string url(const std::string& name) const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/" + name;
    }
    int port() const { return port_; }
    int knocks() const {
        int count = 0;
        for (int client = accept(socket_, nullptr, nullptr); client >= 0;
             client = accept(socket_, nullptr, nullptr)) {
            ++count;
            close(client);
        }
        return count;
    }

private:
    int socket_ = -1;
    int port_ = 0;
};

std::string number(std::size_t value) { // four bytes, big-endian
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
}
std::string box(const std::string& type, const std::string& content) {
    return number(content.size() + 8) + type + content;
}

/// An MP4 whose data are at an address, according to its 'dref': each enclosing box grows.
std::string with_data_elsewhere(std::string mp4, const std::string& url) {
    const std::string reference = box("url ", std::string(4, '\0') + url + '\0');
    const std::size_t inner = mp4.find("dref") + 12; // after its name, version and count: the box to replace
    const std::size_t grown = reference.size() - 12;
    mp4.replace(inner, 12, reference);
    for (const char* name : {"moov", "trak", "mdia", "minf", "dinf", "dref"}) {
        const std::size_t at = mp4.rfind(name, inner) - 4;
        const auto* bytes = reinterpret_cast<const unsigned char*>(mp4.data() + at);
        const std::size_t size = static_cast<std::size_t>(bytes[0]) << 24 |
                                 static_cast<std::size_t>(bytes[1]) << 16 |
                                 static_cast<std::size_t>(bytes[2]) << 8 | bytes[3];
        mp4.replace(at, 4, number(size + grown));
    }
    return mp4;
}

TEST(VideoReach, AManifestIsRefusedWithoutConnections) {
    const Door door;
    const TemporaryFolder folder;
    const std::vector<std::pair<std::string, std::string>> manifests = {
        {"hls",
         "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\n" +
             door.url("a.ts") + "\n#EXTINF:1.0,\n" + door.url("b.ts") + "\n#EXT-X-ENDLIST\n"},
        {"master", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=64x48\n" + door.url("low.m3u8") +
                       "\n#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=64x48\n" + door.url("high.m3u8") +
                       "\n"},
        {"dash", "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" "
                 "mediaPresentationDuration=\"PT10S\" minBufferTime=\"PT1S\" "
                 "profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\"><Period><AdaptationSet "
                 "mimeType=\"video/mp4\">"
                 "<Representation id=\"1\" bandwidth=\"1000\" width=\"64\" height=\"48\" "
                 "codecs=\"avc1.42c00d\"><BaseURL>" +
                     door.url("a.mp4") +
                     "</BaseURL><SegmentList duration=\"1\"><SegmentURL media=\"1.m4s\"/></SegmentList>"
                     "</Representation></AdaptationSet></Period></MPD>\n"},
        {"smooth", "<?xml version=\"1.0\"?>\n<SmoothStreamingMedia MajorVersion=\"2\" MinorVersion=\"0\" "
                   "Duration=\"10000000\">"
                   "<StreamIndex Type=\"video\" Chunks=\"1\" QualityLevels=\"1\" Url=\"" +
                       door.url("q({bitrate})/f({start time})") +
                       "\"><QualityLevel Index=\"0\" Bitrate=\"100000\" FourCC=\"H264\" MaxWidth=\"64\" "
                       "MaxHeight=\"48\" "
                       "CodecPrivateData=\"\"/><c d=\"10000000\"/></StreamIndex></SmoothStreamingMedia>\n"},
        {"session", "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=control:" +
                        door.url("") + "\nm=video 5004 RTP/AVP 26\n"},
        {"list", door.url("a.mp4") + "\n" + door.url("b.mp4") + "\n"},
        {"elsewhere",
         box("ftyp", "qt  " + number(0)) +
             box("moov", box("rmra", box("rmda", box("rdrf", number(0) + "url " +
                                                                 number(door.url("a.mov").size() + 1) +
                                                                 door.url("a.mov") + '\0'))))},
    };
    for (const auto& [kind, text] : manifests)
        for (const char* ending : {".mkv", ".mp4"}) {
            const std::string name = kind + ending;
            SCOPED_TRACE(name);
            write_file(folder / name, text.data(), text.size());
            EXPECT_NE(failure<RunError>(*video(folder / name)).find(name), std::string::npos);
            EXPECT_EQ(door.knocks(), 0);
        }
}

TEST(VideoReach, AnMp4WithExternalDataMakesNoConnections) {
    const Door door;
    const TemporaryFolder folder;
    ASSERT_TRUE(
        launch("videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! x264enc ! mp4mux ! filesink "
               "location=" +
               (folder / "a.mp4")));
    const std::vector<char> bytes = file_bytes(folder / "a.mp4");
    const std::string changed = with_data_elsewhere({bytes.begin(), bytes.end()}, door.url("a.mp4"));
    write_file(folder / "b.mp4", changed.data(), changed.size());
    const auto source = video(folder / "b.mp4");
    TestPort port;
    try {
        source->open();
        read_frames(*source, port);
    } catch (const RunError& error) {
        std::cout << error.what() << '\n';
    }
    source->close();
    EXPECT_EQ(door.knocks(), 0);
}

TEST(GstReach, WithoutTrustOnlyListedElementsRun) {
    const TemporaryFolder folder;
    const std::string file = folder / "x";
    write_file(file, "before", 6);
    const std::string picture = "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=32,height=16 ! ";
    const std::string branched = picture + "tee name=t ! queue ! ";
    const auto branch = [&](const std::string& end) { return branched + end + " t. ! queue"; };
    const std::string encoder = "videotestsrc num-buffers=3 ! x264enc ";
    const std::string decoder = " ! h264parse ! avdec_h264";
    const std::string yuv = "option-string=\"dump-yuv=" + file + "\"";
    for (const std::string& text : std::vector<std::string>{
             // Elements that write or listen
             branch("filesink location=" + file), branch("multifilesink location=" + file),
             branch("tcpserversink port=0"), branch("udpsink port=9"), branch("fdsink"),
             branch("shmsink socket-path=" + file), branch("jpegenc ! avimux ! filesink location=" + file),
             branch("bin. ( queue ! filesink location=" + file + " )"),
             branch("( queue ! filesink location=" + file + " )"), branch("filesink  location = " + file),
             branch("\\filesink location=" + file), branch("\"filesink\" location=" + file),
             branch("splitmuxsink location=" + file), branch("giosink location=file://" + file),
             branch("video/x-raw!filesink location=" + file),
             std::string("tcpserversrc port=0 ! rawvideoparse"), std::string("udpsrc port=0 ! rawvideoparse"),
             std::string("fdsrc fd=0 ! rawvideoparse"), "file://" + file + " ! rawvideoparse",
             "multifilesrc location=" + folder.path().string() + "/%s%n ! rawvideoparse",
             // Properties that write
             encoder + yuv + decoder, encoder + "option-string='dump-yuv=" + file + "'" + decoder,
             encoder + "option_string=dump-yuv=" + file + decoder,
             encoder + "multipass-cache-file=" + file + decoder, encoder + decoder,
             "videotestsrc num-buffers=3 ! x264enc ! mp4mux moov-recovery-file=" + file +
                 " ! qtdemux ! avdec_h264",
             picture + "queue2 temp-template=" + file + "XXXXXX", picture + "queue2 temp_template=" + file,
             picture + "queue name=q q::temp-template=" + file,
             "uridecodebin uri=file://" + file + " queue2::temp-template=" + file,
             "uridecodebin uri=file://" + file + " download=true", picture + "identity dump=true",
             branch("fakesink dump=true"),
             // Code
             "videotestsrc num-buffers=3 ! avenc_h264_omx omx-libname=" + file + decoder,
             picture + "frei0r-filter-glow", picture + "ladspa-amp", picture + "glshader fragment=\"x\"",
             // Values and addresses
             std::string("uridecodebin uri=udp://127.0.0.1:0"), "uridecodebin uri=appsrc://",
             std::string("rtspsrc location=rtsp-sdp://v=0 ! decodebin"),
             "rtspsrc location=rtsp://h debug=true", std::string("playbin uri=file:///x"),
             "filesrc location=" + file + " ! rsvgdec",
             picture + "capsfilter caps=\"video/x-raw,a=(GstElement)filesink\"",
             picture + "video/x-raw,a=(GObject)b", picture + "queue name=\"a b\""}) {
        const std::string said = failure<UsageError>(*gst(text));
        EXPECT_NE(said.find("source gst"), std::string::npos) << text;
        EXPECT_TRUE(said.find("--trust") != std::string::npos || said.find("value") != std::string::npos ||
                    said.find("not an element") != std::string::npos)
            << text;
    }
    EXPECT_EQ(names_in(folder.path().string()), std::vector<std::string>{"x"});
    EXPECT_EQ(file_bytes(file).size(), 6U);
}

TEST(GstReach, WithoutTrustOrdinaryTextsRun) {
    const TemporaryFolder folder;
    const std::string film = folder / "a film.mkv";
    ASSERT_TRUE(launch("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=32,height=16 ! x264enc ! "
                       "matroskamux ! filesink location=\"" +
                       film + "\""));
    for (const std::string& text :
         {std::string("videotestsrc num-buffers=3 ! tee name=t ! queue ! fakesink t. ! queue"),
          std::string("videotestsrc num-buffers=3 pattern=ball ! videoconvert ! videoscale ! video/x-raw, "
                      "format = (string) GRAY8, width=(int)32 ! queue max_size_buffers=4 name = q"),
          std::string(
              "videotestsrc num-buffers=3 ! capsfilter caps=\"video/x-raw, width=32\" ! videocrop left=2"),
          "filesrc location=\"" + film + "\" ! matroskademux ! h264parse ! avdec_h264 max-threads=1",
          "filesrc location='" + film + "' ! decodebin ! videoconvert n-threads=1",
          "filesrc location=" + folder.path().string() +
              "/a\\ film.mkv ! matroskademux name=d d.video_0 ! "
              "queue ! decodebin",
          "uridecodebin uri=\"file://" + folder.path().string() + "/a%20film.mkv\" ! videoconvert"}) {
        SCOPED_TRACE(text);
        const auto source = gst(text);
        TestPort port;
        source->open();
        EXPECT_TRUE(read_frames(*source, port));
        EXPECT_EQ(port.frames.size(), 3U);
        source->close();
    }
}

/// GStreamer numbers elements without names, per process.
TEST(GstReach, ATextMayContainAnyNameGivenByGStreamer) {
    const TemporaryFolder folder;
    for (const std::string trust : {"", "--trust"}) {
        std::vector<std::string> words = {
            "run", "gst:videotestsrc num-buffers=3 ! videoconvert ! videoconvert", "--frames", "3"};
        if (!trust.empty())
            words.push_back(trust);
        const ChildResult made = run_program(words, folder.path().string());
        EXPECT_EQ(made.status, 0) << made.all();
    }
}

/// Elements that decodebin plugs for a file are restricted, also within a text.
TEST(GstReach, AManifestInATextMakesNoConnections) {
    const Door door;
    const TemporaryFolder folder;
    const std::string list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n" + door.url("a.ts") + "\n";
    write_file(folder / "a.m3u8", list.data(), list.size());
    for (const std::string& text : {"filesrc location=" + (folder / "a.m3u8") + " ! decodebin",
                                    "uridecodebin uri=file://" + (folder / "a.m3u8")}) {
        (void)failure<RunError>(*gst(text));
        EXPECT_EQ(door.knocks(), 0) << text;
    }
}

TEST(GstReach, ATrustedTextMayWrite) {
    const TemporaryFolder folder;
    const auto source =
        trusted_gst("videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=32,height=16 ! tee "
                    "name=t ! queue ! filesink buffer-mode=unbuffered location=" +
                    (folder / "x") + " t. ! queue");
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    // Its branch has its own thread, which may be later than ours.
    const auto end = SteadyClock::now() + std::chrono::minutes(1);
    while (std::filesystem::file_size(folder / "x") < 32U * 16 && SteadyClock::now() < end)
        std::this_thread::yield();
    source->close();
    EXPECT_GE(std::filesystem::file_size(folder / "x"), 32U * 16);
}

/// A server that accepts the connection and stays silent: messages name the source.
TEST(GstText, TheNameOfAWaitingSourceContainsNoSecret) {
    const Door silent;
    const std::string address = "127.0.0.1:" + std::to_string(silent.port());
    ::setenv("SPECKLESCOPE_TEST_WORD", "from-the-environment", 1); // NOLINT(concurrency-mt-unsafe)
    for (const std::string& text :
         {"gst:rtspsrc location=rtsp://u:geheim4711@" + address + " user-pw=geheim4711 ! decodebin",
          "gst:rtspsrc user-id=a user-pw=\"${env:SPECKLESCOPE_TEST_WORD}\" proxy=u:geheim4711@h "
          "location=\"rtsp://u:${env:SPECKLESCOPE_TEST_WORD}@" +
              address + "\" ! decodebin",
          "rtsp://u:geheim4711@" + address}) {
        std::string said;
        const WatchWork watch([&](std::string_view what, double) {
            said += what;
            return false;
        });
        const auto source = make_source(SourceArgument(text), {});
        EXPECT_THROW(source->open(), UsageError) << text;
        source->close();
        EXPECT_NE(said.find("u:"), std::string::npos) << said;
        for (const char* secret : {"geheim4711", "from-the-environment"})
            EXPECT_EQ(said.find(secret), std::string::npos) << said;
    }
}

TEST(GstText, AnInvalidPipelineIsOneError) {
    for (const char* text :
         {"", "\"", "\\", "(", "videotestsrc num-buffers=1 !", "! !", "videotestsrc num-buffers=1 name=\"a !",
          "identity name=specklescope_end", "videotestsrc num-buffers=1 ;"}) {
        SCOPED_TRACE(text);
        (void)failure<UsageError>(*gst(text)); // reads standard error
    }
}

TEST(GstText, WarningsOfGLibStayOffTheTerminal) {
    (void)failure<Error>(*gst("videotestsrc name=a ! identity name=a")); // reads standard error
}

} // namespace gst_reach_test
