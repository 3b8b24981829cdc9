// CLAHE on the device has the host's bits, for every pixel type.
#include <gtest/gtest.h>

#include "tests/cuda/cuda_stage.hpp"
#include "tests/stages/equalize/clahe_oracle.hpp"
#include "tests/stages/equalize/equalize_cases.hpp"
#include "tests/stages/geometry/geometry_oracle.hpp"

namespace specklescope::test::clahe_cuda_test {

template <class T> class ClaheCuda : public CudaStage {
protected:
    static constexpr double kFull = sizeof(T) == 1 ? 255 : sizeof(T) == 2 ? 65535 : 3.5;

    void expect_host(const TestImage<T>& image, const std::string& text, double full_scale = 0) {
        const TestImage<T> host = run_host_stage(image, text, full_scale);
        for (int frame = 0; frame < 2; ++frame) // the first frame must not affect the second
            EXPECT_EQ(differing(this->run_device(image, text, full_scale), host), 0)
                << to_string(image.shape()) << ", " << text << ", full scale " << full_scale;
    }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(ClaheCuda, PixelTypes);

TYPED_TEST(ClaheCuda, EveryShapeAndTiling) {
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {5, 3}, {17, 33}, {64, 48}, {131, 70}, {631, 479}})
        for (const int channels : {1, 3}) {
            const auto image = clahe_image<TypeParam>(width, height, channels, this->kFull, 1);
            for (const int tiles : {1, 2, 7, 8, 64})
                this->expect_host(image, "clahe:tiles=" + std::to_string(tiles));
        }
}

TYPED_TEST(ClaheCuda, EveryClipAndNumberOfBins) {
    for (const int channels : {1, 3}) {
        const auto image = clahe_image<TypeParam>(403, 211, channels, this->kFull, 2);
        for (const int bins : {2, 3, 100, 256, 512, 513, 2048, 2049, 4096})
            for (const char* clip : {"0", "0.5", "3", "100"})
                this->expect_host(image, "clahe:tiles=4,bins=" + std::to_string(bins) + ",clip=" + clip);
    }
}

TYPED_TEST(ClaheCuda, LargeImage) {
    const auto image = clahe_image<TypeParam>(1920, 1080, 3, this->kFull, 3);
    this->expect_host(image, "clahe");
}

class ClaheCudaValues : public CudaStage {};

TEST_F(ClaheCudaValues, FullScaleOfTheCamera) {
    const auto image = clahe_image<std::uint16_t>(300, 200, 1, 4095, 4);
    for (const double full : {4095.0, 1000.0})
        for (const char* text : {"clahe", "clahe:bins=4096"})
            EXPECT_EQ(differing(run_device(image, text, full), run_host_stage(image, text, full)), 0)
                << text << ", full scale " << full;
}

TEST_F(ClaheCudaValues, NegativeSamplesOfColour) {
    std::mt19937_64 random = test_random(6);
    const TestImage<float> image = negative_picture(131, 70, random);
    EXPECT_EQ(differing(run_device(image, "clahe:tiles=4"), run_host_stage(image, "clahe:tiles=4")), 0);
}

TEST_F(ClaheCudaValues, NonFinitePixelsStay) {
    for (const int channels : {1, 3}) {
        TestImage<float> image = clahe_image<float>(80, 60, channels, 5, 5);
        image.at(20 * channels, 30) = std::numeric_limits<float>::infinity();
        image.at(79 * channels, 59) = -std::numeric_limits<float>::infinity();
        EXPECT_EQ(differing(run_device(image, "clahe:tiles=4"), run_host_stage(image, "clahe:tiles=4")), 0);
        image.at(7 * channels, 9) = std::numeric_limits<float>::quiet_NaN();
        TestImage<float> got = run_device(image, "clahe:tiles=4");
        TestImage<float> expected = run_host_stage(image, "clahe:tiles=4");
        EXPECT_TRUE(std::isnan(got.at(7 * channels, 9)));
        got.at(7 * channels, 9) = expected.at(7 * channels, 9) = 0;
        EXPECT_EQ(differing(got, expected), 0);
        image.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
        EXPECT_TRUE(std::isnan(run_device(image, "clahe").at(0, 0)));
        image.fill([] { return 1.5F; });
        EXPECT_EQ(differing(run_device(image, "clahe"), image), 0);
        int i = 0;
        image.fill([&] { return ++i % 3 == 0 ? 0.0F : -0.0F; });
        EXPECT_EQ(differing(run_device(image, "clahe"), run_host_stage(image, "clahe")), 0);
        image.fill([&] { return ++i % 2 == 0 ? 3e38F : -3e38F; }); // a range beyond f32
        EXPECT_EQ(differing(run_device(image, "clahe"), run_host_stage(image, "clahe")), 0);
    }
}

} // namespace specklescope::test::clahe_cuda_test
