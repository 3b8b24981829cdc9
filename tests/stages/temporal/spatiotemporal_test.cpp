// Contrast over (2w+1)²·n samples on the host matches the stored frames, on every processor.
#include "base/error.hpp"
#include "stages/temporal/spatiotemporal.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/stage_runner.hpp"

namespace specklescope::test::spatiotemporal_test {

constexpr double kExposure = 0.01; // the parameter's default, s
constexpr double kNoThreshold = std::numeric_limits<double>::quiet_NaN();
std::string border_name(Border border) {
    for (const auto& [name, value] : contrast_borders())
        if (value == border)
            return name.key;
    return "";
}

struct Case {
    int radius = 1, frames = 1;
    Border border = Border::replicate;
    ContrastOutput output = ContrastOutput::contrast;
    double threshold = kNoThreshold;
    double tolerance = 1e-6;
};

template <class T>
void expect_window(const StageRunner& run, const std::deque<TestImage<T>>& frames, const Case& c, int t) {
    const SpeckleParams window{c.radius, 10, c.output, c.border};
    const int margin = c.border == Border::crop ? c.radius : 0;
    PixelCounts expected;
    double worst = 0;
    ASSERT_EQ(run.output.shape().width, frames[0].shape().width - 2 * margin);
    for (int y = 0; y < run.output.shape().height; ++y)
        for (int x = 0; x < run.output.shape().width; ++x) {
            std::vector<T> samples;
            for (const TestImage<T>& frame : frames)
                for (const T sample : oracle_samples(frame, x + margin, y + margin, window))
                    samples.push_back(sample);
            const OracleWindow sums = oracle_window(samples, c.threshold);
            const double value = oracle_value(sums, static_cast<double>(samples.size()), c.output, kExposure);
            worst = std::max(worst, contrast_error(run.output.at(x, y), value, c.output));
            expected.undefined += std::isnan(value) ? 1 : 0;
            expected.infinite += std::isinf(value) ? 1 : 0;
            expected.saturated += sums.saturated ? 1 : 0;
        }
    EXPECT_LE(worst, c.tolerance) << "radius " << c.radius << ", " << c.frames << " frames, border "
                                  << border_name(c.border) << ", at " << t << ", "
                                  << to_string(frames[0].shape());
    EXPECT_EQ(run.counts, expected) << run.counts.saturated << ", expected " << expected.saturated;
}

/// `count` frames from make(t), all compared.
template <class T, class Make> void expect_stream(const Case& c, int count, Make&& make) {
    TestImage<T> frame = make(0);
    StageRunner run("spatiotemporal",
                    {"radius=" + std::to_string(c.radius), "frames=" + std::to_string(c.frames),
                     "border=" + border_name(c.border),
                     "output=" + contrast_output_names()[static_cast<std::size_t>(c.output)].key},
                    frame.shape());
    std::deque<TestImage<T>> frames;
    for (int t = 0; t < count && !testing::Test::HasFailure(); ++t) {
        if (t > 0)
            frame = make(t);
        frames.push_back(frame);
        if (frames.size() > static_cast<std::size_t>(c.frames))
            frames.pop_front();
        run.run(frame);
        EXPECT_EQ(run.held(), static_cast<int>(frames.size()));
        expect_window(run, frames, c, t);
        run.run(frame, true);
        expect_window(run, frames, c, t);
    }
}

class SpatiotemporalTargets : public EveryInstructionSet {};

TEST_P(SpatiotemporalTargets, EveryTypeBorderAndOutput) {
    std::mt19937_64 random = test_random(1);
    for (int i = 0; i < 20; ++i) {
        Case c{.radius = 1 + i % 3,
               .frames = 1 + i % 4,
               .border = contrast_borders()[i % 4].second,
               .output = static_cast<ContrastOutput>(i / 4)};
        c.threshold = 255;
        expect_stream<std::uint8_t>(c, 6,
                                    [&](int) { return uniform_image<std::uint8_t>(21, 9, 0, 255, random); });
        c.threshold = 65535;
        expect_stream<std::uint16_t>(
            c, 6, [&](int) { return speckle_image<std::uint16_t>(21, 9, 15000, 65535, random); });
        c.threshold = kNoThreshold;
        expect_stream<float>(c, 6, [&](int) { return uniform_image<float>(21, 9, 1, 5000, random); });
    }
}

TEST_P(SpatiotemporalTargets, RowsWiderThanTheSumsInCache) {
    std::mt19937_64 random = test_random(7);
    for (int i = 0; i < 4; ++i) {
        const Case c{
            .radius = 2 + i % 2, .frames = 2, .border = contrast_borders()[i].second, .threshold = 255};
        for (const int width : {511, 513, 1030}) {
            const auto make = [&]<class T>(T low, T high) {
                expect_stream<T>(c, 3, [&](int) { return uniform_image<T>(width, 7, low, high, random); });
            };
            make(std::uint8_t{0}, std::uint8_t{255});
            make(std::uint16_t{0}, std::uint16_t{254});
            make(1.0F, 254.0F);
        }
    }
}

TEST_P(SpatiotemporalTargets, LargestRadiusAndLowContrast) {
    std::mt19937_64 random = test_random(2);
    for (const int radius : {7, 15}) {
        const Case c{.radius = radius, .frames = 3, .border = Border::reflect};
        expect_stream<std::uint16_t>(
            c, 4, [&](int) { return low_contrast_image<std::uint16_t>(33, 17, 50000, 0.001, random); });
        expect_stream<float>(c, 4,
                             [&](int) { return low_contrast_image<float>(33, 17, 50000, 0.001, random); });
    }
}

TEST_P(SpatiotemporalTargets, UndefinedSamplesStayInTheirWindows) {
    std::mt19937_64 random = test_random(3);
    expect_stream<float>({.radius = 2, .frames = 3, .output = ContrastOutput::sfi}, 9, [&](int t) {
        TestImage<float> image = uniform_image<float>(25, 11, 1, 100, random);
        if (t == 3)
            image.at(4, 5) = std::numeric_limits<float>::quiet_NaN();
        if (t == 4)
            image.at(20, 0) = std::numeric_limits<float>::infinity();
        return image;
    });
}

TEST_P(SpatiotemporalTargets, EqualSamplesHaveNoContrast) {
    for (const int value : {1, 77, 60000}) {
        const auto constant = [&](int) { return TestImage<float>(19, 9, 1).fill([&] { return value; }); };
        expect_stream<float>({.radius = 3, .frames = 4}, 6, constant);
        expect_stream<std::uint16_t>({.radius = 3, .frames = 4}, 6, [&](int) {
            return TestImage<std::uint16_t>(19, 9, 1).fill([&] { return value; });
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Highway, SpatiotemporalTargets, instruction_sets(), instruction_set_name);

TEST(Spatiotemporal, MomentsOfTheLargestWindow) { // 961·500 samples: N·ΣI² has 70 bits
    const std::uint32_t n = 961 * 500;
    for (const std::uint64_t low :
         {std::uint64_t{0}, std::uint64_t{1}, n / std::uint64_t{3}, std::uint64_t{n}}) {
        const std::uint64_t high = n - low; // this number at 65535, the others at 65000
        const std::uint64_t s = high * 65535 + low * 65000;
        const std::uint64_t q = high * 65535 * 65535 + low * 65000 * 65000;
        const auto moments = window_moments<float>(s, q, n, 1.0F / static_cast<float>(n));
        const double d = static_cast<double>(low) * static_cast<double>(high) * 535 * 535;
        EXPECT_NEAR(static_cast<double>(moments.d), d, 1e-6 * d);
    }
}

TEST(Spatiotemporal, OneFrameIsTheSpatialContrast) {
    std::mt19937_64 random = test_random(4);
    const auto frame = speckle_image<std::uint16_t>(40, 20, 900, 4095, random);
    StageRunner here("spatiotemporal", {"radius=3", "frames=1"}, frame.shape());
    StageRunner there("speckle", {"radius=3"}, frame.shape());
    here.run(frame);
    there.run(frame);
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 40; ++x)
            EXPECT_NEAR(here.output.at(x, y) / there.output.at(x, y), 1, 2e-6);
}

TEST(Spatiotemporal, AWindowLargerThanTheImageIsRefused) {
    EXPECT_THROW(StageRunner("spatiotemporal", {"radius=9"}, {8, 8, 1, PixelType::u8}), UsageError);
    EXPECT_THROW(StageRunner("spatiotemporal", {"radius=4", "border=crop"}, {8, 8, 1, PixelType::u8}),
                 UsageError);
}

} // namespace specklescope::test::spatiotemporal_test
