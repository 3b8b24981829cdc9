// Samples with a mean not above 0 have no contrast, for example after a dark frame.
#include "tests/support/stage_runner.hpp"

#include <gtest/gtest.h>

namespace specklescope::test::mean_above_zero_test {

/// Samples minus their black level: about half of all windows have a mean not above 0.
TestImage<float> dark_half(std::uint64_t stream) {
    auto random = test_random(stream);
    std::uniform_int_distribution<int> sample(60, 68);
    TestImage<float> image(60, 50, 3);
    return image.fill([&] { return sample(random) - 64; });
}

TEST(MeanAboveZero, OtherwiseSpatialContrastIsUndefined) {
    const TestImage<float> image = dark_half(7);
    for (const std::string output : {"sfi", "contrast", "contrast2", "tau", "bfi"})
        for (const std::string border : {"replicate", "omit", "crop"})
            for (const std::string name : {"speckle", "spatiotemporal"}) {
                if (name == "spatiotemporal" && border == "omit")
                    continue;
                std::vector<std::string> texts = {"radius=2", "output=" + output, "border=" + border};
                if (name == "spatiotemporal")
                    texts.emplace_back("frames=1");
                StageRunner stage(name, texts, image.shape());
                stage.run(image);
                const int shift = border == "crop" ? 2 : 0;
                std::uint64_t undefined = 0;
                for (int y = 0; y < stage.output.shape().height; ++y)
                    for (int x = 0; x < stage.output.shape().width; ++x) {
                        double sum = 0;
                        for (int j = -2; j <= 2; ++j)
                            for (int i = -2; i <= 2; ++i) {
                                const int u = x + shift + i;
                                const int v = y + shift + j;
                                const bool outside = u < 0 || v < 0 || u >= 60 || v >= 50;
                                if (!(outside && border == "omit"))
                                    sum += static_cast<double>(
                                        image.at(std::clamp(u, 0, 59), std::clamp(v, 0, 49)));
                            }
                        undefined += sum > 0 ? 0 : 1;
                        ASSERT_EQ(std::isnan(stage.output.at(x, y)), !(sum > 0))
                            << name << " " << output << " " << border << " " << x << " " << y;
                        if (sum > 0) {
                            ASSERT_GT(stage.output.at(x, y), 0);
                        }
                    }
                EXPECT_EQ(stage.counts.undefined, undefined) << name << " " << output << " " << border;
                EXPECT_GT(undefined, 500U);
            }
}

TEST(MeanAboveZero, OtherwiseTemporalContrastIsUndefined) {
    StageRunner temporal("temporal", {"frames=6", "output=contrast"}, {60, 50, 1, PixelType::f32});
    StageRunner pulsatility("pulsatility", {"frames=6", "beats=1"}, {60, 50, 1, PixelType::f32});
    TestImage<float> sums(60, 50);
    for (std::uint64_t t = 0; t < 6; ++t) {
        const TestImage<float> frame = dark_half(8 + t);
        temporal.run(frame);
        pulsatility.run(frame);
        for (int y = 0; y < 50; ++y)
            for (int x = 0; x < 60; ++x)
                sums.at(x, y) += frame.at(x, y);
    }
    for (int y = 0; y < 50; ++y)
        for (int x = 0; x < 60; ++x) {
            ASSERT_EQ(std::isnan(temporal.output.at(x, y)), sums.at(x, y) <= 0);
            ASSERT_EQ(std::isnan(pulsatility.output.at(x, y)), sums.at(x, y) <= 0);
        }
}

} // namespace specklescope::test::mean_above_zero_test
