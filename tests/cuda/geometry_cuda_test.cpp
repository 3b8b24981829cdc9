// Crop, flip, rotate90 and downsample on the device equal the host byte by byte.
#include <gtest/gtest.h>

#include "tests/cuda/cuda_stage.hpp"
#include "tests/stages/geometry/geometry_oracle.hpp"

namespace specklescope::test::geometry_cuda_test {

template <class T> class GeometryCuda : public CudaStage {
protected:
    void expect(const TestImage<T>& image, const std::string& text, const TestImage<T>& expected) {
        EXPECT_EQ(differing(this->run_device(image, text), expected), 0)
            << to_string(image.shape()) << ", " << text;
    }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(GeometryCuda, PixelTypes);

constexpr std::pair<int, int> kLarge[] = {{631, 479}, {1392, 1040}, {256, 129}};

TYPED_TEST(GeometryCuda, FlipsAndTurnsMoveEveryPixel) {
    std::vector<std::pair<int, int>> shapes(std::begin(kGeometryShapes), std::end(kGeometryShapes));
    shapes.insert(shapes.end(), std::begin(kLarge), std::end(kLarge));
    for (const auto& [width, height] : shapes)
        for (const int channels : {1, 3}) {
            const auto image = geometry_image<TypeParam>(width, height, channels, 1);
            this->expect(image, "flip:direction=horizontal", oracle_flip(image, true, false));
            this->expect(image, "flip:direction=vertical", oracle_flip(image, false, true));
            this->expect(image, "flip:direction=both", oracle_flip(image, true, true));
            for (int turns = 1; turns <= 3; ++turns)
                this->expect(image, "rotate90:turns=" + std::to_string(turns), oracle_rotate(image, turns));
        }
}

TYPED_TEST(GeometryCuda, CropKeepsTheRectangle) {
    for (const int channels : {1, 3}) {
        const auto image = geometry_image<TypeParam>(301, 97, channels, 2);
        this->expect(image, "crop", image);
        this->expect(image, "crop:x=300,y=96", oracle_crop(image, 300, 96, 1, 1));
        for (int x = 1; x <= 20; ++x) // every position within a vector of 16 bytes
            for (const int width : {1, 15, 16, 100, 281})
                this->expect(image,
                             "crop:x=" + std::to_string(x) + ",y=11,width=" + std::to_string(width) +
                                 ",height=30",
                             oracle_crop(image, x, 11, width, 30));
    }
}

TYPED_TEST(GeometryCuda, DownsamplesWholeBlocksOnly) {
    std::vector<std::pair<int, int>> shapes(std::begin(kGeometryShapes), std::end(kGeometryShapes));
    shapes.insert(shapes.end(), std::begin(kLarge), std::end(kLarge));
    for (const auto& [width, height] : shapes)
        for (const int channels : {1, 3}) {
            const auto image = geometry_image<TypeParam>(width, height, channels, 3);
            for (int factor = 2; factor <= std::min({width, height, 16}); ++factor) {
                const std::string text = "downsample:factor=" + std::to_string(factor);
                this->expect(image, text + ",method=mean", oracle_mean(image, factor));
                this->expect(image, text + ",method=nearest", oracle_nearest(image, factor));
            }
        }
}

} // namespace specklescope::test::geometry_cuda_test
