// Histogram equalisation on the device has the host's bytes, for all pixels, bins and shapes.
#include <gtest/gtest.h>

#include "cuda/devices.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/executor.hpp"
#include "tests/stages/equalize/equalize_cases.hpp"
#include "tests/support/gpu.hpp"

#include <cstdio>

namespace specklescope::test::equalize_cuda_test {

using Scaling = EqualizeParams::Scaling;

class EqualizeCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!needs_gpu())
            return;
        device = make_cuda_executor(0);
        host = make_host_executor(0);
    }

    static std::shared_ptr<const Chain> chain_of(const EqualizeParams& values) {
        auto chain = std::make_shared<Chain>();
        ChainStage stage{&find_stage("equalize"), Params(*find_stage("equalize").table)};
        stage.params.as<EqualizeParams>() = values;
        chain->add(std::move(stage));
        return chain;
    }

    template <class T> static Result run(Executor& executor, const TestImage<T>& image, double full_scale) {
        FrameRing ring(image.shape(), 1, executor.slot_memory());
        Frame frame = ring.try_acquire();
        const HostView view = frame.host();
        // Padding must not count; the last row ends with its last pixel.
        for (int y = 0; y + 1 < view.shape.height; ++y)
            std::memset(view.row(y), 0xa5, view.pitch);
        copy_pixels(image.view(), view);
        frame.info().full_scale = full_scale;
        executor.submit(std::move(frame), true);
        return std::move(*executor.collect(true));
    }

    /// Number of bytes that differ between host and device for two consecutive frames.
    template <class T>
    int differences(const TestImage<T>& image, const EqualizeParams& params, double full_scale = 0) {
        device->set_chain(chain_of(params), ++version);
        host->set_chain(chain_of(params), version);
        const Result expected = run(*host, image, full_scale);
        int count = 0;
        for (int again = 0; again < 2; ++again) { // the first run resets its counters
            const Result got = run(*device, image, full_scale);
            for (int y = 0; y < image.shape().height; ++y)
                for (std::size_t i = 0; i < image.shape().row_bytes(); ++i)
                    count += got.image.host().row(y)[i] == expected.image.host().row(y)[i] ? 0 : 1;
        }
        ++cases;
        return count;
    }

    void TearDown() override {
        if (cases > 0)
            std::printf("%d cases compared\n", cases);
    }

    std::unique_ptr<Executor> device, host;
    std::uint64_t version = 0;
    int cases = 0;
};

template <class T> class EqualizeCudaTypes : public EqualizeCuda {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(EqualizeCudaTypes, PixelTypes);

TYPED_TEST(EqualizeCudaTypes, MatchesTheHostForEveryBinCountScalingStrengthAndShape) {
    std::mt19937_64 random = test_random(1);
    for (const EqualizeCase& c : equalize_cases(equalize_full_scales<TypeParam>())) {
        const double full =
            c.full_scale > 0 ? 1.1 * c.full_scale : type_full_scale(pixel_type_of<TypeParam>());
        const auto image =
            equalize_picture<TypeParam>(c.width, c.height, c.channels, full > 0 ? full : 17.5, random);
        ASSERT_EQ(this->differences(image, c.params, c.full_scale), 0)
            << to_string(c) << ", seed " << test_seed();
    }
}

TYPED_TEST(EqualizeCudaTypes, MatchesTheHostForLargeImages) {
    std::mt19937_64 random = test_random(2);
    for (const auto& [width, height] : {std::pair{1392, 1040}, {1921, 700}})
        for (const int channels : {1, 3})
            for (const int bins : {256, 4096, 65536}) {
                const double full = sizeof(TypeParam) == 1 ? 255 : 65535;
                const auto image = equalize_picture<TypeParam>(width, height, channels, full, random);
                for (const auto scaling : {Scaling::maxabs, Scaling::minmax})
                    ASSERT_EQ(this->differences(image, {.bins = bins, .scaling = scaling}), 0)
                        << to_string(image.shape()) << ", bins " << bins << ", seed " << test_seed();
            }
}

TYPED_TEST(EqualizeCudaTypes, AFrameOfOneValueStaysUnchanged) {
    for (const double level : {0.0, 77.0, 255.0})
        for (const int channels : {1, 3})
            for (const int bins : {2, 256, 65536}) {
                TestImage<TypeParam> image(640, 480, 0, channels);
                image.fill([&] { return level; });
                EXPECT_EQ(this->differences(image, {.bins = bins, .scaling = Scaling::minmax}), 0);
                const Result result = this->run(*this->device, image, 0);
                EXPECT_EQ(
                    std::memcmp(result.image.host().row(479), &image.at(0, 479), image.shape().row_bytes()),
                    0);
            }
}

TEST_F(EqualizeCuda, FullScaleMayChangeBetweenFrames) {
    std::mt19937_64 random = test_random(3);
    const auto image = equalize_picture<std::uint16_t>(300, 200, 3, 65535, random);
    for (const double full : {65535.0, 4095.0, 255.0, 1.0, 4095.0, 0.0})
        EXPECT_EQ(differences(image, {.bins = 65536}, full), 0) << full;
}

TEST_F(EqualizeCuda, NegativeSamplesOfColour) {
    std::mt19937_64 random = test_random(6);
    for (const double strength : {1.0, 0.3, 0.0})
        EXPECT_EQ(differences(negative_picture(131, 43, random), {.strength = strength}), 0) << strength;
}

TEST_F(EqualizeCuda, NonFinitePixelsStayAndDoNotCount) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::mt19937_64 random = test_random(4);
    for (const int channels : {1, 3})
        for (const float hole : {std::nanf(""), kInfinity, -kInfinity}) {
            auto image = equalize_picture<float>(140, 20, channels, 100, random);
            for (int x = 0; x < 140; x += 3)
                image.at(channels * x + x % channels, x % 20) = hole;
            EXPECT_EQ(differences(image, {.bins = 64}), 0);
            EXPECT_EQ(differences(image, {.bins = 64, .strength = 0.4}), 0);
            image.fill([&] { return hole; });
            EXPECT_EQ(differences(image, {}), 0);
        }
}

TEST_F(EqualizeCuda, NegativeHugeAndTinyRanges) {
    std::mt19937_64 random = test_random(5);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const auto& [low, high] : {std::pair{-5.0, 12.0},
                                    {-9.0, -1.0},
                                    {-3.4e38, 3.4e38},
                                    {0.0, 3.4e38},
                                    {1e-30, 2e-30},
                                    {1e6, 1e6 + 1},
                                    {-1e-3, 0.0},
                                    {1e-45, 1e-44}})
        for (const int channels : {1, 3})
            for (const int bins : {2, 256, 65536})
                for (const double strength : {1.0, 0.37}) {
                    TestImage<float> image(150, 30, 1, channels);
                    image.fill([&] { return low + (high - low) * unit(random); });
                    for (const auto scaling : {Scaling::maxabs, Scaling::minmax})
                        EXPECT_EQ(differences(image, {bins, scaling, strength}), 0)
                            << low << " " << high << ", bins " << bins << ", seed " << test_seed();
                }
}

} // namespace specklescope::test::equalize_cuda_test
