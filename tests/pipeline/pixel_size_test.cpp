// Size of a result pixel, compared with the shapes of every stage's output.
#include "pipeline/scale/pixel_size.hpp"

#include <gtest/gtest.h>

namespace specklescope::pixel_size_test {

/// Output shape of the stage for an image of 120×96, with its first type and channels.
Shape given(const StageType& type, const Params& params) {
    const Shape input{120, 96, type.channels.front(), type.types.front()};
    return type.make_host(params)->prepare(input);
}

TEST(PixelSize, MatchesTheShapesOfStages) {
    for (const StageType& type : stage_types()) {
        // A conversion gets its input quantity explicitly, since no stage is before it.
        std::vector<std::string> variants = {std::string(type.name) +
                                             (type.table->find("input") ? ":input=contrast2" : "")};
        if (type.table->find("factor"))
            for (int factor = 2; factor <= 16; ++factor)
                variants.push_back(std::string(type.name) + ":factor=" + std::to_string(factor));
        for (const std::string& text : variants) {
            Chain chain;
            chain.add(text);
            const Shape shape = given(type, chain.stages().front().params);
            const double side = source_pixels_per_pixel(chain);
            // A cropped border costs a few pixels; combining pixels at least halves the image.
            const int whole = static_cast<int>(120 / side);
            EXPECT_LE(std::max(shape.width, shape.height), whole) << text;
            EXPECT_GT(std::max(shape.width, shape.height), whole * 3 / 4) << text;
        }
    }
}

TEST(PixelSize, FollowsTheChain) {
    const StreamInfo stream{.source = {}, .source_text = "", .backend = "", .um_per_source_px = 2.5};
    Chain chain;
    EXPECT_EQ(um_per_px(stream, nullptr), 2.5);
    EXPECT_EQ(um_per_px(stream, &chain), 2.5);
    for (const char* stage :
         {"crop:x=10,width=50", "rotate90", "flip", "downsample:factor=3", "speckle:border=crop"})
        chain.add(stage);
    EXPECT_EQ(um_per_px(stream, &chain), 7.5);
    chain.add("downsample:factor=2,method=nearest");
    EXPECT_EQ(um_per_px(stream, &chain), 15);
    chain.add("downsample:factor=4,bypass=true");
    EXPECT_EQ(um_per_px(stream, &chain), 15) << "what is not computed leaves pixels as they are";
    EXPECT_EQ(um_per_px(StreamInfo(), &chain), 0);
}

} // namespace specklescope::pixel_size_test
