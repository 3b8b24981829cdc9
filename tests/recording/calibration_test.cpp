// Axes of a TIFF: ratios are the nearest ones, and the JSON within OME-XML is an equivalent object.
#include "files/whole_file.hpp"
#include "recording/tiff.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

namespace specklescope::calibration_test {

double value_of(std::uint64_t ratio) {
    return static_cast<double>(ratio & 0xffffffffU) / static_cast<double>(ratio >> 32);
}

TEST(Calibration, RatiosOfSmallNumbersAreExact) {
    for (std::uint64_t above = 1; above < 60; ++above)
        for (std::uint64_t below = 1; below < 60; ++below) {
            const double value = static_cast<double>(above) / static_cast<double>(below);
            const std::uint64_t ratio = tiff_ratio(value);
            EXPECT_EQ((ratio & 0xffffffffU) * below, (ratio >> 32) * above) << above << "/" << below;
            EXPECT_LE(ratio >> 32, below);
        }
}

TEST(Calibration, RatiosAreWithin1e9AndNeverDivideBy0) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> power(-4, 4);
    for (int i = 0; i < 20000; ++i) {
        const double value = std::pow(10, power(random));
        EXPECT_NEAR(value_of(tiff_ratio(value)) / value, 1, 1e-9) << value;
    }
    for (const double value : {0.0, -1.0, 1e300, 1e-300, std::nan(""), HUGE_VAL})
        EXPECT_EQ(value_of(tiff_ratio(value)), 1) << value;
}

TEST(Calibration, WrappingsKeepTheirLength) {
    StackAxes axes{.shape = {640, 480, 1, PixelType::f32},
                   .quantity = {"a <name> & \"more\" {", "n", "µm²"},
                   .um_per_px = 2.125};
    for (const auto text : {imagej_text, ome_text}) {
        const Wrapping first = text(axes);
        EXPECT_EQ(first.before.find('{'), std::string::npos) << "the JSON is found by its brace";
        axes.frames = 4000000000ULL;
        axes.interval_s = 1.0 / 3;
        EXPECT_EQ(text(axes).before.size(), first.before.size());
        EXPECT_EQ(text(axes).after, first.after);
        axes.frames = 0;
        axes.interval_s = 0;
    }
}

TEST(Calibration, MicrometresOfOmeAreUtf8) {
    const std::string text =
        ome_text({.shape = {8, 8, 1, PixelType::f32}, .quantity = {}, .um_per_px = 2.5}).before;
    for (const char* unit : {"PhysicalSizeXUnit=\"\xC2\xB5m\"", "PhysicalSizeYUnit=\"\xC2\xB5m\""})
        EXPECT_NE(text.find(unit), std::string::npos) << text;
}

TEST(Calibration, JsonWithinACommentIsTheSameObject) {
    const nlohmann::json json = {{"note", "]]>]]]>&<x>"}, {"list", {1, {2, {3}}}}};
    const std::string safe = ome_safe(json.dump());
    EXPECT_EQ(safe.find("]]>"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(safe), json);
}

TEST(Calibration, TheEndingOfOmeStaysTogether) {
    EXPECT_EQ(numbered("a/flow.ome.tiff", 2), "a/flow-2.ome.tiff");
    EXPECT_EQ(numbered("flow.tiff", 2), "flow-2.tiff");
    EXPECT_TRUE(is_ome_name("x/Flow.OME.tif"));
    EXPECT_FALSE(is_ome_name("x.ome/flow.tiff"));
}

} // namespace specklescope::calibration_test
