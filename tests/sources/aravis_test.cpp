// GigE Vision over the real protocol: every frame, in order; the camera's exposure and pixel format; a camera
// that fails and reconnects.
#include "base/error.hpp"
#include "sources/aravis/aravis_source.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/registry.hpp"

#include "tests/sources/fake_camera.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>

namespace aravis_test {

using namespace specklescope;
using namespace specklescope::test;

std::string no_namespace; ///< why the tests cannot run here

constexpr const char* kName = "Aravis-Fake-GV01";

std::unique_ptr<Source> camera(const std::vector<std::pair<std::string, std::string>>& options,
                               const std::string& name = kName) {
    const SourceType type = aravis_source_type();
    Params params(*type.table);
    for (const auto& [key, value] : options)
        params.set_text(key, value);
    return type.make({"aravis", name, {}}, params);
}

class Aravis : public testing::Test {
protected:
    void SetUp() override {
        if (!no_namespace.empty())
            GTEST_SKIP() << no_namespace;
        device_ = std::make_unique<FakeCamera>("GV01");
        for (int i = 0; i < 40; ++i) // until it answers
            for (const auto& [source, text] : aravis_source_type().discover())
                if (source == std::string("aravis:") + kName)
                    return;
        FAIL() << "the fake camera does not answer";
    }
    std::unique_ptr<FakeCamera> device_;
};

// Before the others: the library remembers a camera for a while.
TEST(AravisWithoutCamera, IsARunError) {
    if (!no_namespace.empty())
        GTEST_SKIP() << no_namespace; // there may be a camera on this network
    testing::internal::CaptureStderr();
    std::string said;
    try {
        camera({}, "")->open();
    } catch (const RunError& error) {
        said = error.what();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(said, "No camera can be opened; no GigE or USB3 Vision camera answers.");
}

// At an exposure of 10 ms its image is (x + y + n) mod 255 for frame number n.
TEST_F(Aravis, Mono8FramesAllComeInOrder) {
    const auto source = camera({{"format", "mono8"},
                                {"exposure", "10"},
                                {"packet-size", "9000"},
                                {"width", "320"},
                                {"height", "200"},
                                {"rate", "80"}});
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.live);
    EXPECT_EQ(info.shape, (Shape{320, 200, 1, PixelType::u8}));
    EXPECT_EQ(info.full_scale, 255);
    EXPECT_NEAR(info.rate, 80, 1);
    EXPECT_NE(info.name.find("GV01"), std::string::npos) << info.name;
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 400));
    const int start = port.frames[0].data<std::uint8_t>()[0];
    for (std::size_t i = 0; i < port.frames.size(); ++i) {
        const Delivered& frame = port.frames[i];
        ASSERT_EQ(frame.data<std::uint8_t>()[0], (static_cast<std::size_t>(start) + i) % 255)
            << "frame " << i;
        ASSERT_EQ(frame.data<std::uint8_t>()[320 * 199 + 319],
                  (static_cast<std::size_t>(start) + i + 518) % 255);
        ASSERT_NEAR(frame.info.exposure_ms, 10, 1e-9);
        if (i > 0) {
            ASSERT_GT(frame.info.capture_ns, port.frames[i - 1].info.capture_ns);
        }
    }
    std::cout << "lost by the camera's clock: " << port.lost_frames << '\n';
}

TEST_F(Aravis, Mono16FramesAllComeInOrder) {
    // This camera sends big-endian words, independent of its pixel format.
    const auto source = camera({{"format", "mono16"},
                                {"byteorder", "big"},
                                {"exposure", "10"},
                                {"packet-size", "9000"},
                                {"width", "320"},
                                {"height", "200"},
                                {"rate", "80"}});
    const SourceInfo info = source->open();
    EXPECT_EQ(info.shape, (Shape{320, 200, 1, PixelType::u16}));
    EXPECT_EQ(info.full_scale, 65535);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 320));
    const auto first = port.frames[0].data<std::uint16_t>()[0];
    for (std::size_t i = 0; i < port.frames.size(); ++i) {
        const auto* pixels = port.frames[i].data<std::uint16_t>();
        ASSERT_EQ(pixels[0], (first + i) % 65535) << "frame " << i;
        ASSERT_EQ(pixels[320 * 199 + 319], (first + i + 518) % 65535);
    }
}

TEST_F(Aravis, ExposureIsSetWhileItRunsAndTheFramesCarryIt) {
    const auto source = camera({{"format", "mono8"}, {"exposure", "10"}, {"packet-size", "9000"}});
    source->open();
    EXPECT_NEAR(std::get<double>(source->params().get("exposure")), 10, 1e-9);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 5));
    const auto brightness = [&] {
        double sum = 0;
        for (const std::byte pixel : port.frames.back().pixels)
            sum += std::to_integer<int>(pixel);
        return sum / static_cast<double>(port.frames.back().pixels.size());
    };
    const double before = brightness();
    source->set("exposure", 40.0);
    EXPECT_NEAR(std::get<double>(source->params().get("exposure")), 40, 1e-9);
    ASSERT_TRUE(read_frames(*source, port, 15));
    EXPECT_NEAR(port.frames.back().info.exposure_ms, 40, 1e-9);
    EXPECT_GT(brightness(), before * 1.1);
    EXPECT_THROW(source->set("exposure", 90000.0), UsageError); // above this camera's maximum
    EXPECT_NEAR(std::get<double>(source->params().get("exposure")), 40, 1e-9);
    EXPECT_THROW(source->set("width", std::int64_t{64}), UsageError);
    EXPECT_TRUE(read_frames(*source, port, 20));
}

TEST_F(Aravis, TheFirstCameraIsTheDefaultWithItsDeepestFormat) {
    const auto source = camera({}, ""); // with the negotiated packet size
    const SourceInfo info = source->open();
    EXPECT_EQ(info.shape.type, PixelType::u16);
    EXPECT_EQ(info.shape.channels, 1);
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port, 5));
    EXPECT_TRUE(std::isfinite(port.frames[4].info.exposure_ms));
}

TEST_F(Aravis, AMissingCameraIsNamedWithTheAvailableOnes) {
    testing::internal::CaptureStderr();
    std::string said;
    try {
        camera({}, "Nobody")->open();
    } catch (const RunError& error) {
        said = error.what();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::cout << said << '\n';
    EXPECT_NE(said.find("'Nobody'"), std::string::npos);
    EXPECT_NE(said.find(kName), std::string::npos);
}

TEST_F(Aravis, ADeadCameraIsAnErrorBlocksNothingAndCanBeReopened) {
    const auto source = camera({{"format", "mono8"}, {"packet-size", "9000"}});
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 20));
    device_->kill_it();
    const auto died = SteadyClock::now();
    bool failed = false;
    while (!failed && SteadyClock::now() - died < std::chrono::seconds(30)) {
        try {
            source->next(port);
        } catch (const RunError& error) {
            std::cout << error.what() << '\n';
            failed = true;
        }
    }
    ASSERT_TRUE(failed);
    const auto closing = SteadyClock::now();
    source->close();
    EXPECT_LT(SteadyClock::now() - closing, std::chrono::seconds(3));
    std::cout << pipelines_closing() << " pipeline still closing\n";
    device_ = std::make_unique<FakeCamera>("GV01");
    // The pipeline retries, as here.
    bool opened = false;
    while (!opened && SteadyClock::now() - died < std::chrono::seconds(60)) {
        try {
            source->open();
            opened = true;
        } catch (const RunError& error) {
            std::cout << error.what() << '\n';
            std::this_thread::sleep_for(std::chrono::seconds(1));
        }
    }
    ASSERT_TRUE(opened);
    EXPECT_TRUE(read_frames(*source, port, port.frames.size() + 20));
    source->close();
    EXPECT_EQ(pipelines_closing(), 0);
}

} // namespace aravis_test

int main(int argc, char** argv) {
    bool list = false;
    for (int i = 1; i < argc; ++i)
        list = list || std::strcmp(argv[i], "--gtest_list_tests") == 0;
    if (!list)
        specklescope::test::enter_network_namespace(argv, &aravis_test::no_namespace);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
