// RTSP over the real protocol on the loopback: frames arrive, a server that disappears is an error.
#include "base/error.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/registry.hpp"

#include "tests/sources/rtsp_server.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace rtsp_test {

using namespace specklescope;
using namespace specklescope::test;

std::unique_ptr<Source> rtsp(const std::string& url, double timeout_s = 20) {
    const SourceType type = rtsp_source_type();
    Params params(*type.table);
    params.set("transport", std::string("udp"));
    params.set("timeout", timeout_s);
    return type.make({"rtsp", url, {}}, params);
}

TEST(Rtsp, FramesOfAServerHaveItsImage) {
    const RtspServer server("videotestsrc is-live=true pattern=white ! "
                            "video/x-raw,format=I420,width=64,height=48,framerate=50/1");
    const auto source = rtsp(server.url());
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.live);
    EXPECT_EQ(info.shape.width, 64);
    EXPECT_EQ(info.shape.height, 48);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 60));
    for (std::size_t i = 1; i < port.frames.size(); ++i)
        EXPECT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns);
    EXPECT_GT(std::to_integer<int>(port.frames[30].pixels[64 * 24]), 225);
    source->close();
    source->open();
    EXPECT_TRUE(read_frames(*source, port, 70));
}

TEST(Rtsp, AMissingServerIsARunError) {
    const auto source = rtsp("rtsp://user:secret@127.0.0.1:1/camera");
    testing::internal::CaptureStderr();
    std::string said;
    try {
        source->open();
    } catch (const RunError& error) {
        said = error.what();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::cout << said << '\n';
    EXPECT_NE(said.find("rtsp://user:***@127.0.0.1:1/camera"), std::string::npos);
    EXPECT_EQ(said.find("secret"), std::string::npos);
}

TEST(Rtsp, AnInvalidAddressIsAUsageError) { EXPECT_THROW(rtsp("http://127.0.0.1/"), UsageError); }

} // namespace rtsp_test
