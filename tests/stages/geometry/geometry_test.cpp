// Crop, flip, rotate90 and downsample on the host move and sum pixels exactly, for every type, channel count
// and shape, on every processor.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/chain.hpp"
#include "stages/geometry/simd/geometry_rows.hpp"
#include "tests/stages/geometry/geometry_oracle.hpp"
#include "tests/support/instruction_sets.hpp"

namespace specklescope::test::geometry_test {

template <class T> TestImage<T> run_stage(const TestImage<T>& image, const std::string& text) {
    Chain chain;
    chain.add(text);
    const ChainStage& link = chain.stages()[0];
    const std::unique_ptr<HostStage> stage = link.type->make_host(link.params);
    const Shape shape = stage->prepare(image.shape());
    TestImage<T> output(shape.width, shape.height, 5, shape.channels);
    const int end = shape.width * shape.channels;
    for (int y = 0; y + 1 < shape.height; ++y) // padding of the output must not change
        for (int x = end; x < end + 5 * shape.channels; ++x)
            output.at(x, y) = T{77};
    PixelCounts counts;
    stage->run(image.view(), output.view(), {FrameInfo{}, counts});
    for (int y = 0; y + 1 < shape.height; ++y)
        for (int x = end; x < end + 5 * shape.channels; ++x)
            EXPECT_EQ(output.at(x, y), T{77}) << "written past the end of row " << y;
    return output;
}

std::string message_of(const std::string& text, const Shape& shape) {
    try {
        Chain chain;
        chain.add(text);
        const ChainStage& link = chain.stages()[0];
        link.type->make_host(link.params)->prepare(shape);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

class GeometryTargets : public EveryInstructionSet {};

template <class T> void flips_and_turns() {
    for (const auto& [width, height] : kGeometryShapes)
        for (const int channels : {1, 3}) {
            const TestImage<T> image = geometry_image<T>(width, height, channels, 1);
            SCOPED_TRACE(to_string(image.shape()));
            EXPECT_EQ(
                differing(run_stage(image, "flip:direction=horizontal"), oracle_flip(image, true, false)), 0);
            EXPECT_EQ(differing(run_stage(image, "flip:direction=vertical"), oracle_flip(image, false, true)),
                      0);
            EXPECT_EQ(differing(run_stage(image, "flip:direction=both"), oracle_flip(image, true, true)), 0);
            for (int turns = 1; turns <= 3; ++turns)
                EXPECT_EQ(differing(run_stage(image, "rotate90:turns=" + std::to_string(turns)),
                                    oracle_rotate(image, turns)),
                          0)
                    << turns << " turns";
        }
}

TEST_P(GeometryTargets, FlipsAndTurnsMoveEveryPixel) {
    flips_and_turns<std::uint8_t>();
    flips_and_turns<std::uint16_t>();
    flips_and_turns<float>();
}

template <class T> void downsamples() {
    for (const auto& [width, height] : kGeometryShapes)
        for (const int channels : {1, 3}) {
            const TestImage<T> image = geometry_image<T>(width, height, channels, 2);
            SCOPED_TRACE(to_string(image.shape()));
            for (int factor = 2; factor <= std::min({width, height, 16}); ++factor) {
                const std::string text = "downsample:factor=" + std::to_string(factor);
                EXPECT_EQ(differing(run_stage(image, text + ",method=mean"), oracle_mean(image, factor)), 0)
                    << factor;
                EXPECT_EQ(
                    differing(run_stage(image, text + ",method=nearest"), oracle_nearest(image, factor)), 0)
                    << factor;
            }
        }
}

TEST_P(GeometryTargets, DownsamplesWholeBlocksOnly) {
    downsamples<std::uint8_t>();
    downsamples<std::uint16_t>();
    downsamples<float>();
}

template <class T> void halves() {
    for (int width = 2; width <= 300; width += width < 70 ? 1 : 23)
        for (const int channels : {1, 3}) {
            const TestImage<T> image =
                geometry_image<T>(width, 4, channels, static_cast<std::uint64_t>(width));
            ASSERT_EQ(differing(run_stage(image, "downsample:factor=2"), oracle_mean(image, 2)), 0)
                << to_string(image.shape());
        }
}

TEST_P(GeometryTargets, HalvesEveryWidth) {
    halves<std::uint8_t>();
    halves<std::uint16_t>();
    halves<float>();
}

INSTANTIATE_TEST_SUITE_P(Every, GeometryTargets, instruction_sets(), instruction_set_name);

TEST(Downsample, RoundsTiesToEvenAndReachesFullScale) {
    TestImage<std::uint16_t> image(8, 2);
    const int sums[4][4] = {
        {0, 0, 1, 1}, {1, 1, 2, 2}, {65535, 65535, 65534, 65534}, {65535, 65535, 65535, 65535}};
    for (int block = 0; block < 4; ++block)
        for (int i = 0; i < 4; ++i)
            image.at(2 * block + i % 2, i / 2) = static_cast<std::uint16_t>(sums[block][i]);
    const TestImage<std::uint16_t> mean = run_stage(image, "downsample:factor=2");
    EXPECT_EQ(mean.at(0, 0), 0);     // 0.5
    EXPECT_EQ(mean.at(1, 0), 2);     // 1.5
    EXPECT_EQ(mean.at(2, 0), 65534); // 65534.5
    EXPECT_EQ(mean.at(3, 0), 65535);
}

/// Every possible sum near a tie, for every block: the f32 quotient is rounded like the exact one.
TEST(Downsample, MeanIsExactForEverySum) {
    for (int factor = 2; factor <= 16; ++factor) {
        const int count = factor * factor;
        for (std::uint32_t mean = 0; mean < 65535; mean += mean < 300 || mean > 65000 ? 1 : 97)
            for (int near = -1; near <= 1; ++near) {
                const std::uint32_t sum =
                    mean * static_cast<std::uint32_t>(count) + static_cast<std::uint32_t>(count / 2 + near);
                const std::uint32_t rest = 2 * (sum % static_cast<std::uint32_t>(count));
                const std::uint32_t floor = sum / static_cast<std::uint32_t>(count);
                const bool tie = rest == static_cast<std::uint32_t>(count);
                const bool up = rest > static_cast<std::uint32_t>(count) || (tie && floor % 2 == 1);
                ASSERT_EQ(mean_even(sum, count), floor + (up ? 1U : 0U)) << sum << " of " << count;
            }
    }
}

template <class T> class Geometry : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Geometry, PixelTypes);

TYPED_TEST(Geometry, CropKeepsTheRectangle) {
    for (const int channels : {1, 3}) {
        const TestImage<TypeParam> image = geometry_image<TypeParam>(67, 41, channels, 3);
        EXPECT_EQ(differing(run_stage(image, "crop"), image), 0);
        EXPECT_EQ(differing(run_stage(image, "crop:x=5,y=7"), oracle_crop(image, 5, 7, 62, 34)), 0);
        EXPECT_EQ(differing(run_stage(image, "crop:x=66,y=40"), oracle_crop(image, 66, 40, 1, 1)), 0);
        EXPECT_EQ(
            differing(run_stage(image, "crop:x=1,y=0,width=33,height=9"), oracle_crop(image, 1, 0, 33, 9)),
            0);
        const TestImage<TypeParam> twice =
            run_stage(run_stage(image, "crop:x=3,y=2,width=40,height=30"), "crop:x=4,y=5,width=20,height=11");
        EXPECT_EQ(differing(twice, run_stage(image, "crop:x=7,y=7,width=20,height=11")), 0);
    }
}

TYPED_TEST(Geometry, FourTurnsAndTwoFlipsAreNothing) {
    for (const int channels : {1, 3}) {
        const TestImage<TypeParam> image = geometry_image<TypeParam>(61, 47, channels, 4);
        TestImage<TypeParam> turned = image;
        for (int i = 0; i < 4; ++i)
            turned = run_stage(turned, "rotate90:turns=1");
        EXPECT_EQ(differing(turned, image), 0);
        EXPECT_EQ(differing(run_stage(run_stage(image, "rotate90:turns=1"), "rotate90:turns=3"), image), 0);
        for (const char* direction : {"horizontal", "vertical", "both"}) {
            const std::string flip = std::string("flip:direction=") + direction;
            EXPECT_EQ(differing(run_stage(run_stage(image, flip), flip), image), 0) << direction;
        }
    }
}

TEST(Geometry, RowsLongerThanABandOfBytes) {
    const TestImage<std::uint16_t> image = geometry_image<std::uint16_t>(70001, 3, 1, 1);
    EXPECT_EQ(differing(run_stage(image, "flip:direction=both"), oracle_flip(image, true, true)), 0);
}

/// Moved pixels are equal on every device; a mean is rounded from an exact sum.
TEST(Geometry, ToleranceIsZero) {
    int moving = 0;
    for (const StageType& type : stage_types())
        if (type.moves_pixels) {
            ++moving;
            EXPECT_EQ(type.tolerance, 0) << type.name;
        }
    EXPECT_EQ(moving, 5) << "crop, flip, rotate90, downsample, register";
}

TEST(GeometryErrors, NameWhatIsAllowed) {
    const Shape shape{640, 480, 1, PixelType::u8};
    EXPECT_EQ(message_of("crop:x=640", shape),
              "stage crop: x = 640 leaves the image of 640×480 pixels; allowed: up to 639.");
    EXPECT_EQ(message_of("crop:y=480", shape),
              "stage crop: y = 480 leaves the image of 640×480 pixels; allowed: up to 479.");
    EXPECT_EQ(message_of("crop:x=600,width=41", shape),
              "stage crop: width = 41 leaves the image of 640×480 pixels; allowed: up to 40.");
    EXPECT_EQ(message_of("crop:y=400,height=100", shape),
              "stage crop: height = 100 leaves the image of 640×480 pixels; allowed: up to 80.");
    EXPECT_EQ(message_of("downsample:factor=9", Shape{64, 8, 1, PixelType::u8}),
              "stage downsample: factor = 9 is too large for an image of 64×8 pixels; allowed: 2…8.");
    EXPECT_EQ(message_of("downsample", Shape{64, 1, 1, PixelType::u8}),
              "stage downsample: factor = 2 is too large for an image of 64×1 pixels; leave the stage out.");
    for (const char* text : {"rotate90:turns=4", "rotate90:turns=0", "flip:direction=left", "crop:x=-1",
                             "downsample:factor=1", "downsample:factor=17", "downsample:method=median"})
        EXPECT_NE(message_of(text, shape), "") << text;
}

} // namespace specklescope::test::geometry_test
