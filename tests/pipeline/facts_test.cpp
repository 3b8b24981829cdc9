// Facts about frames in the running pipeline: saturation, lossy codecs, grey channels, the origin of the
// exposure, and the reason for the end of a run.
#include "pipeline/results_of_chain.hpp"
#include "tests/support/contrast_reference.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::facts_test {

using test::chain_of;
using test::eventually;
using test::options;
using Status = Source::Status;

/// A source of `count` frames, each painted by `paint(view, info, index)`.
template <class F> std::unique_ptr<Source> painted(SourceInfo info, std::uint64_t count, F paint) {
    return std::make_unique<test::ScriptedSource>(info, [=](test::ScriptedSource& self, FramePort& port) {
        if (self.offered == count)
            return Status::end;
        Frame frame = port.acquire(info.shape);
        if (!frame)
            return Status::idle;
        const std::uint64_t index = self.offered++;
        test::paint(frame.host(), index);
        paint(frame.host(), frame.info(), index);
        port.submit(std::move(frame));
        return Status::frame;
    });
}

Result last_of(Pipeline& pipeline) {
    EXPECT_TRUE(eventually([&] { return pipeline.finished(); }));
    Result result;
    EXPECT_TRUE(pipeline.mailbox().take(result));
    return result;
}

TEST(Facts, TheSourceHasItsRequestedNameOrItsOwn) {
    for (const char* asked : {"", "scripted:fast"}) {
        PipelineOptions made = options();
        made.source_text = asked;
        Pipeline pipeline(test::file_of(3), Chain(), made);
        pipeline.start();
        last_of(pipeline);
        EXPECT_EQ(pipeline.stats().source, *asked ? asked : "scripted file");
    }
}

TEST(Facts, SaturationAboveOnePercentIsReportedOnceForAnyChain) {
    for (const char* stage : {"", "speckle", "gaussian"})
        for (const bool much : {true, false}) {
            // 24×17 samples: 5 are 1.2 %, 4 are 0.98 %.
            const int samples = much ? 5 : 4;
            Pipeline pipeline(painted(test::file_info(), 9,
                                      [=](HostView view, FrameInfo& info, std::uint64_t index) {
                                          info.full_scale = 4095;
                                          for (int x = 0; index >= 3 && x < samples; ++x)
                                              view.as<std::uint16_t>().row(4)[3 * x] = 4095;
                                      }),
                              chain_of(stage), options());
            test::Listener listener(pipeline);
            pipeline.start();
            const Result last = last_of(pipeline);
            EXPECT_EQ(listener.heard("of the samples of frame 3 are at full scale"), much ? 1 : 0)
                << listener.all();
            EXPECT_EQ(last.counts.raw_saturated, static_cast<std::uint64_t>(samples));
            const CountHistory counts = pipeline.stats().counts;
            EXPECT_EQ(counts.total.raw_saturated, static_cast<std::uint64_t>(6 * samples));
            EXPECT_EQ(counts.total.raw_samples, 9U * 24 * 17);
            EXPECT_EQ(counts.worst_frame, 3U);
        }
}

TEST(Facts, ALossyCodecBeforeASpeckleStageIsReportedOnce) {
    for (const auto& [codec, stage, times] : {std::tuple{"H.264", "speckle", 1},
                                              {"MJPEG", "temporal:frames=3", 1},
                                              {"", "speckle", 0},
                                              {"H.264", "gaussian", 0}}) {
        SourceInfo info = test::file_info();
        info.lossy = codec;
        Pipeline pipeline(painted(info, 5, [](HostView, FrameInfo&, std::uint64_t) {}), chain_of(stage),
                          options());
        test::Listener listener(pipeline);
        pipeline.start();
        last_of(pipeline);
        EXPECT_EQ(listener.heard("which smooths speckle"), times) << codec << " under " << stage;
        if (times > 0) {
            EXPECT_EQ(listener.heard(codec), 1);
        }
    }
}

constexpr Shape kColour{24, 17, 3, PixelType::u16};

/// A red laser: speckle in red, a constant dark image in green and blue.
void paint_red(HostView view, FrameInfo& info, std::uint64_t index) {
    info.full_scale = 65535;
    for (int y = 0; y < view.shape.height; ++y)
        for (int x = 0; x < view.shape.width; ++x) {
            std::uint16_t* const rgb = view.as<std::uint16_t>().row(y) + 3 * x;
            rgb[0] = static_cast<std::uint16_t>(257 * test::pixel(index, x, y));
            rgb[1] = 1001;
            rgb[2] = 500;
        }
}

/// K² of one window of the grey channel, in float64.
double expected_contrast2(ConstHostView rgb, GreyChannel channel, int radius, int x, int y) {
    double n = 0, sum = 0, squares = 0;
    for (int j = y - radius; j <= y + radius; ++j)
        for (int i = x - radius; i <= x + radius; ++i) {
            const std::uint16_t* const p = rgb.as<std::uint16_t>().row(j) + 3 * i;
            const double grey = channel == GreyChannel::red     ? p[0]
                                : channel == GreyChannel::green ? p[1]
                                : channel == GreyChannel::blue  ? p[2]
                                : channel == GreyChannel::mean  ? (p[0] + p[1] + p[2]) / 3.0
                                                                : 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
            n += 1;
            sum += grey;
            squares += grey * grey;
        }
    return (n * squares - sum * sum) / (n * (n - 1)) / (sum * sum / (n * n));
}

TEST(Facts, GreyStagesGetTheRequestedChannel) {
    for (const GreyChannel channel : {GreyChannel::luma, GreyChannel::red, GreyChannel::mean}) {
        SCOPED_TRACE(to_string(channel));
        PipelineOptions asked = options();
        asked.channel = channel;
        Pipeline pipeline(painted(test::file_info(kColour), 4, paint_red),
                          chain_of("speckle:radius=2,output=contrast2"), asked);
        pipeline.start();
        const Result last = last_of(pipeline);
        for (const auto& [x, y] : {std::pair{2, 2}, {11, 8}, {21, 14}})
            EXPECT_NEAR(last.image.host().as<float>().row(y)[x] /
                            expected_contrast2(last.raw.host(), channel, 2, x, y),
                        1, channel == GreyChannel::luma ? 5e-5 : 2e-6); // luma's weights have 16 bits
        EXPECT_EQ(grey_channel_of(last), to_string(channel));
        EXPECT_EQ(pipeline.stats().newest.channel, to_string(channel));
    }
}

TEST(Facts, AnEditOfTheChannelOutlivesANewChain) {
    Pipeline pipeline(painted(test::file_info(kColour), 3, paint_red), chain_of("speckle:radius=2"),
                      options());
    pipeline.start();
    EXPECT_EQ(last_of(pipeline).chain->channel(), GreyChannel::luma);
    pipeline.set_channel(GreyChannel::green);
    const std::uint64_t version = pipeline.set_chain(chain_of("speckle:radius=1,output=contrast"));
    Result result;
    ASSERT_TRUE(
        test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
    EXPECT_EQ(result.chain->channel(), GreyChannel::green);
    EXPECT_EQ(pipeline.chain()->channel(), GreyChannel::green);
    EXPECT_EQ(result.image.host().as<float>().row(8)[11], 0) << "green stands still";
    EXPECT_EQ(result.counts.infinite, 0U);
}

TEST(Facts, OneChannelKeepsTypeAndFullScale) {
    PipelineOptions asked = options();
    asked.channel = GreyChannel::red;
    Pipeline pipeline(painted(test::file_info(kColour), 2,
                              [](HostView view, FrameInfo& info, std::uint64_t index) {
                                  paint_red(view, info, index);
                                  info.full_scale = 0;                                // the type's own
                                  view.as<std::uint16_t>().row(8)[3 * 11] = 65535;    // red
                                  view.as<std::uint16_t>().row(2)[3 * 3 + 1] = 65535; // green: not used
                              }),
                      chain_of("speckle:radius=2"), asked);
    pipeline.start();
    const Result last = last_of(pipeline);
    EXPECT_EQ(last.counts.saturated, 25U);
    EXPECT_EQ(last.counts.raw_saturated, 2U);
    EXPECT_EQ(last.counts.raw_samples, 3U * 24 * 17);
}

TEST(Facts, TheOriginOfAnExposureIsTheSourcesKind) {
    for (const bool live : {true, false}) {
        SourceInfo info = live ? test::camera_info() : test::file_info();
        Pipeline pipeline(
            painted(info, 2, [](HostView, FrameInfo& frame, std::uint64_t) { frame.exposure_ms = 5; }),
            chain_of("speckle:exposure=10"), options());
        pipeline.start();
        EXPECT_EQ(to_string(last_of(pipeline).exposure), live ? "5 ms (camera)" : "5 ms (file)");
        EXPECT_EQ(to_string(pipeline.stats().newest.exposure), live ? "5 ms (camera)" : "5 ms (file)");
    }
    Pipeline pipeline(test::file_of(2), chain_of("speckle"), options());
    pipeline.start();
    EXPECT_EQ(last_of(pipeline).exposure.origin, ExposureOrigin::assumed);
}

TEST(Facts, ResultsOfAChainHaveItsQuantityAndExposure) {
    for (const char* chain :
         {"none", "speckle", "speckle:exposure=7", "speckle:output=contrast",
          "speckle:output=contrast2 | flow:exposure=3", "temporal:output=tau | gaussian"}) {
        const auto made = std::make_shared<const Chain>(settled(chain_from_text(chain)));
        const ResultsOfChain results(made);
        for (const double ms : {std::nan(""), 2.5})
            for (const int summed : {1, 4}) {
                FrameInfo info;
                info.sequence = 9;
                info.exposure_ms = ms;
                info.exposure_origin = std::isnan(ms) ? ExposureOrigin::unknown : ExposureOrigin::file;
                info.summed = summed;
                Result result;
                results.describe(result, info, 5);
                const Exposure used = exposure_used(*made, info);
                EXPECT_EQ(result.exposure.origin, used.origin) << chain;
                EXPECT_TRUE(result.exposure.ms == used.ms ||
                            (std::isnan(result.exposure.ms) && std::isnan(used.ms)))
                    << chain;
                EXPECT_EQ(result.quantity, made->quantity()) << chain;
                EXPECT_EQ(result.chain, made);
                EXPECT_EQ(result.info.sequence, 9U);
                EXPECT_EQ(result.info.version, 5U);
            }
    }
}

} // namespace specklescope::facts_test
