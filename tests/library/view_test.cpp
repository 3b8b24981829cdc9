// The view through the C ABI: ranges, colours, levels, refusals.
#include "tests/library/client.hpp"

#include <cmath>
#include <limits>

namespace view_test {

using namespace client;

class View {
public:
    explicit View(const char* text) {
        EXPECT_EQ(specklescope_view_create(text, &view_), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    ~View() { specklescope_view_free(view_); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    operator specklescope_view*() const { return view_; } // NOLINT(google-explicit-constructor)

private:
    specklescope_view* view_ = nullptr;
};

specklescope_image rgb_of(std::vector<std::uint8_t>& bytes, int width, int height) {
    auto image = sized<specklescope_image>();
    image.data = bytes.data();
    image.width = width;
    image.height = height;
    image.channels = 3;
    return image;
}

constexpr auto kNan = std::numeric_limits<float>::quiet_NaN();
constexpr auto kInf = std::numeric_limits<float>::infinity();

TEST(View, IsDescribedAsStagesAre) {
    std::size_t count = 0;
    ASSERT_EQ(specklescope_view_count(&count), SPECKLESCOPE_OK);
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        auto info = sized<specklescope_parameter_info>();
        ASSERT_EQ(specklescope_view_describe(i, &info), SPECKLESCOPE_OK);
        EXPECT_STRNE(info.doc, "");
        const View view((std::string(info.name) + "=" + info.default_value).c_str());
        all += std::string(info.name) + " ";
    }
    EXPECT_EQ(all, "colormap automatic low high low_percentile high_percentile exposure_stops curve ");
    auto info = sized<specklescope_parameter_info>();
    expect_refused(specklescope_view_describe(count, &info), SPECKLESCOPE_USAGE_ERROR,
                   "There is no parameter of view number");
}

TEST(View, GreyIsTheNumberOver256thsOfTheRange) {
    std::vector<float> values{-1, 0, 0.99F, 1, 127.5F, 255, 256, 1e9F};
    std::vector<std::uint8_t> rgb(values.size() * 3);
    const specklescope_image in = image_of(values, 8, 1), out = rgb_of(rgb, 8, 1);
    double low = 0, high = 0;
    const View view("colormap=grey,low=0,high=256");
    ASSERT_EQ(specklescope_view_colors(view, &in, &out, &low, &high), SPECKLESCOPE_OK);
    const std::uint8_t expected[] = {0, 0, 0, 1, 127, 255, 255, 255};
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(rgb[3 * i + 1], expected[i]) << values[i];
    EXPECT_EQ(low, 0);
    EXPECT_EQ(high, 256);
    // One stop more exposure displays doubled values.
    const View brighter("colormap=grey,low=0,high=256,exposure_stops=1");
    ASSERT_EQ(specklescope_view_colors(brighter, &in, &out, &low, &high), SPECKLESCOPE_OK);
    EXPECT_EQ(rgb[3 * 4], 255);
    EXPECT_EQ(high, 128);
}

TEST(View, LevelsGiveBackTheirValuesToHalfAStep) {
    std::vector<float> values{-5, -2, -1.999F, 0, 0.3F, 1, 2.71F, 3, 7, kNan, kInf, -kInf};
    std::vector<std::uint16_t> levels(values.size());
    const specklescope_image in = image_of(values, 12, 1);
    specklescope_image out = in;
    out.data = levels.data();
    out.type = SPECKLESCOPE_U16;
    double scale = 0, offset = 0;
    const View view("low=-2,high=3");
    ASSERT_EQ(specklescope_view_levels(view, &in, &out, &scale, &offset), SPECKLESCOPE_OK);
    EXPECT_DOUBLE_EQ(scale, 5.0 / 65535);
    EXPECT_EQ(offset, -2);
    for (std::size_t i = 1; i < 8; ++i)
        EXPECT_NEAR(offset + scale * levels[i], values[i], 0.5 * scale * (1 + 1e-9)) << values[i];
    EXPECT_EQ(levels[0], 0);
    EXPECT_EQ(levels[8], 65535);
    EXPECT_EQ(levels[9], 0);
    EXPECT_EQ(levels[10], 65535);
    EXPECT_EQ(levels[11], 0);
}

TEST(View, LevelsOfWholeNumbersAreThemselves) {
    Pixels pixels = random_pixels(13, 7, 3), made{13, 7, 1, std::vector<std::uint16_t>(91)};
    const specklescope_image in = image_of(pixels), out = image_of(made);
    double scale = 0, offset = 1;
    const View view("low=3,high=4");
    ASSERT_EQ(specklescope_view_levels(view, &in, &out, &scale, &offset), SPECKLESCOPE_OK);
    EXPECT_EQ(made.samples, pixels.samples);
    EXPECT_EQ(scale, 1);
    EXPECT_EQ(offset, 0);
}

TEST(View, WhatIsWrongIsRefused) {
    specklescope_view* view = nullptr;
    expect_refused(specklescope_view_create("colour=red", &view), SPECKLESCOPE_USAGE_ERROR,
                   "The view has no 'colour'; allowed: colormap, automatic, low");
    expect_refused(specklescope_view_create("low=3,high=2", &view), SPECKLESCOPE_USAGE_ERROR,
                   "low = 3 is not below high = 2");
    expect_refused(specklescope_view_create("layout=raw", &view), SPECKLESCOPE_USAGE_ERROR,
                   "The view has no 'layout'");
    EXPECT_EQ(view, nullptr);
    expect_refused(specklescope_view_create("", nullptr), SPECKLESCOPE_USAGE_ERROR, "The place for the view");

    std::vector<float> values(12);
    std::vector<std::uint8_t> rgb(36);
    const specklescope_image in = image_of(values, 4, 3), out = rgb_of(rgb, 3, 4);
    const View whole("");
    expect_refused(specklescope_view_colors(whole, &in, &out, nullptr, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "and the colours of this input are");
    specklescope_image self = rgb_of(rgb, 4, 1), over = self;
    expect_refused(specklescope_view_colors(whole, &self, &over, nullptr, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "shares memory");
    double scale = 0, offset = 0;
    std::vector<std::uint16_t> levels(4);
    specklescope_image to = self;
    to.data = levels.data();
    to.channels = 1;
    to.type = SPECKLESCOPE_U16;
    expect_refused(specklescope_view_levels(whole, &self, &to, &scale, &offset), SPECKLESCOPE_USAGE_ERROR,
                   "levels are of one");

    ASSERT_EQ(specklescope_view_create(nullptr, &view), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_view_free(view), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_view_colors(view, &in, &out, nullptr, nullptr), SPECKLESCOPE_BAD_HANDLE);
    expect_refused(specklescope_view_free(view), SPECKLESCOPE_BAD_HANDLE, "This is no view that is alive");
    EXPECT_EQ(specklescope_view_free(nullptr), SPECKLESCOPE_OK);
}

TEST(ChainCalls, InPlaceUntilAStageMovesPixels) {
    const Chain chain("speckle");
    std::int32_t in_place = 0;
    ASSERT_EQ(specklescope_chain_in_place(chain, &in_place), SPECKLESCOPE_OK);
    EXPECT_EQ(in_place, 1);
    ASSERT_EQ(specklescope_chain_add(chain, "downsample"), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_chain_in_place(chain, &in_place), SPECKLESCOPE_OK);
    EXPECT_EQ(in_place, 0);
    ASSERT_EQ(specklescope_chain_replace(chain, "speckle | flip:bypass=true"), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_chain_in_place(chain, &in_place), SPECKLESCOPE_OK);
    EXPECT_EQ(in_place, 1);
    expect_refused(specklescope_chain_in_place(chain, nullptr), SPECKLESCOPE_USAGE_ERROR, "is NULL");
}

} // namespace view_test
