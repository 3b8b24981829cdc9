// Exposures in turn over the real protocol: tests/sources/gige_camera.py writes the true exposure of each
// frame into its first pixels, and no frame may be labelled with another.
#include "tests/sources/camera_tests.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace specklescope::test::aravis_exposures_test {

/// True exposure in ms.
double truth(const Delivered& frame) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i)
        bits = bits << 8 | static_cast<std::uint8_t>(frame.pixels[i]);
    return std::bit_cast<double>(bits) / 1000;
}

struct Seen {
    std::vector<double> labels;
    std::size_t wrong = 0;
    std::uint64_t settled = 0;
};

class GigeExposures : public GigeCamera {
protected:
    /// The first `frames` frames.
    Seen read(const CameraOptions& options, std::size_t frames) {
        const auto source = camera(kName, options);
        source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port, frames));
        source->close();
        // A busy computer loses some frames of a camera.
        EXPECT_LT(port.lost_frames, std::max<std::uint64_t>(frames, port.settled))
            << "settling frames are not lost";
        Seen seen;
        seen.settled = port.settled;
        for (const Delivered& frame : port.frames) {
            seen.labels.push_back(frame.info.exposure_ms);
            seen.wrong += std::abs(truth(frame) - frame.info.exposure_ms) > 1e-9 ? 1 : 0;
        }
        return seen;
    }
    static std::vector<double> cycle(std::vector<double> list, std::size_t frames) {
        std::vector<double> all;
        for (std::size_t i = 0; i < frames; ++i)
            all.push_back(list[i % list.size()]);
        return all;
    }
};

TEST_F(GigeExposures, WithChunksEveryFrameStatesItsOwn) {
    for (const char* late : {"0", "2"}) {
        start({"--show-exposure", "--rate", "200", "--takes-late", late});
        const Seen seen = read({{"exposures", "0.5,2,8"}}, 90); // chunks are switched on
        EXPECT_EQ(seen.wrong, 0U);
        EXPECT_EQ(seen.settled, 0U) << "nothing is discarded";
        for (const double ms : {0.5, 2.0, 8.0})
            EXPECT_GE(std::count(seen.labels.begin(), seen.labels.end(), ms), 5) << ms;
        EXPECT_EQ(std::set<double>(seen.labels.begin(), seen.labels.end()), (std::set<double>{0.5, 2, 8}));
        device_->end();
    }
}

TEST_F(GigeExposures, WithoutChunksSettlingFramesAreDiscardedAndCounted) {
    for (const char* late : {"0", "1", "2"}) {
        SCOPED_TRACE(late);
        start({"--show-exposure", "--rate", "200", "--takes-late", late, "--without",
               "ChunkModeActive,ChunkSelector"});
        const Seen seen = read({{"exposures", "0.5,2,8,1"}}, 40);
        EXPECT_EQ(seen.labels, cycle({0.5, 2, 8, 1}, 40));
        EXPECT_EQ(seen.wrong, 0U);
        EXPECT_GE(seen.settled, 39U * 3);
        device_->end();
    }
}

/// The test would see a wrong label: this camera needs more settling frames.
TEST_F(GigeExposures, TooFewSettlingFramesWouldBeWrong) {
    start({"--show-exposure", "--rate", "500", "--takes-late", "60"});
    const CameraOptions options = {{"exposures", "0.5,2,8,1,4,3,6"}, {"chunks", "off"}};
    EXPECT_GT(read(options, 40).wrong, 10U);
    CameraOptions more = options;
    more.emplace_back("settle", "64");
    EXPECT_EQ(read(more, 9).wrong, 0U);
}

TEST_F(GigeExposures, TriggeredFramesSettleToo) {
    start({"--show-exposure"});
    const Seen seen = read(
        {{"exposures", "0.5,2"}, {"chunks", "off"}, {"trigger", "software"}, {"trigger-rate", "200"}}, 20);
    EXPECT_EQ(seen.labels, cycle({0.5, 2}, 20));
    EXPECT_EQ(seen.wrong, 0U);
}

/// The camera's own value is the label.
TEST_F(GigeExposures, TheCameraRounds) {
    start({"--show-exposure", "--coarse", "7"});
    const Seen seen = read({{"exposures", "0.5,2"}, {"chunks", "off"}}, 6);
    EXPECT_EQ(seen.labels, cycle({0.497, 2.002}, 6));
    EXPECT_EQ(seen.wrong, 0U);
}

TEST_F(GigeExposures, AreRefusedWithOneSentence) {
    const auto refused = [&](const CameraOptions& options) {
        const std::string text = sentence([&] { camera(kName, options)->open(); });
        EXPECT_EQ(text.find('\n'), std::string::npos);
        EXPECT_NE(text.find("exposure"), std::string::npos) << text;
        EXPECT_EQ(text.find("nothing was refused"), std::string::npos);
    };
    for (const char* list : {"0", "1,x", "1,,2", "20000", "-1"})
        EXPECT_THROW((void)camera(kName, {{"exposures", list}}), UsageError) << list;
    EXPECT_THROW((void)camera(kName, {{"exposures", "1,2"}, {"exposure", "1"}}), UsageError);
    start({"--without", "ExposureTime"});
    refused({{"exposures", "1,2"}});
    device_->end();
    start({"--refuse-exposure"});
    refused({{"exposures", "1,2"}});
    device_->end();
    start({"--coarse", "1000"});
    refused({{"exposures", "1,1.4"}});   // it takes 1 ms for both
    refused({{"exposures", "0.005,1"}}); // below its range
    const auto source = camera(kName, {{"exposures", "1,2"}});
    source->open();
    EXPECT_THROW(source->set("exposure", 5.0), UsageError);
}

} // namespace specklescope::test::aravis_exposures_test
