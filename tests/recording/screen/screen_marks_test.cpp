// Marks on movies of the screen are at their positions only.
#include "have_cairo.hpp"
#include "tests/recording/screen/screen_helpers.hpp"

namespace screen_marks_test {

using namespace specklescope;

constexpr PixelType kU8 = PixelType::u8, kF32 = PixelType::f32;

#ifdef SPECKLESCOPE_HAVE_CAIRO

class Marks : public testing::Test {
protected:
    static constexpr Shape kShape{320, 240, 1, kF32};
    static constexpr std::array<int, 3> kLight = {235, 240, 245}; // bars and figures

    Marks() {
        ScreenLook look;
        look.mapping = {.colormap = ColorMap::grey, .automatic = false, .low = 0, .high = 1};
        options_.look = std::make_shared<const LiveLook>(look);
    }
    /// A constant at half of the range: only marks change pixels.
    Result even(std::uint64_t n) {
        Result result = maker_.make(n);
        const auto values = result.image.host().as<float>();
        for (int y = 0; y < kShape.height; ++y)
            std::fill_n(values.row(y), kShape.width, 0.5F);
        return result;
    }
    Pixels shown(const ScreenMarks& marks, const std::vector<Result>& results,
                 const std::vector<EventMark>& events = {}) {
        RecordOptions options = options_;
        options.marks = marks;
        return last_screen(folder_, options, stream_, results, events);
    }
    static bool plain(const std::array<int, 3>& color) { return color == std::array{128, 128, 128}; }
    /// Box around all changed pixels: left, top, right, bottom; none: all 0.
    static std::array<int, 4> marked(const Pixels& picture) {
        std::array<int, 4> box = {picture.shape.width, picture.shape.height, -1, -1};
        for (int y = 0; y < picture.shape.height; ++y)
            for (int x = 0; x < picture.shape.width; ++x)
                if (!plain(picture.at(x, y)))
                    box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x),
                           std::max(box[3], y)};
        return box[2] < 0 ? std::array<int, 4>{} : box;
    }
    /// Longest run of pixels as light as figures: row, start, length.
    static std::array<int, 3> longest_light(const Pixels& picture) {
        std::array<int, 3> longest{};
        for (int y = 0; y < picture.shape.height; ++y)
            for (int x = 0, run = 0; x < picture.shape.width; ++x) {
                run = picture.at(x, y) == kLight ? run + 1 : 0;
                if (run > longest[2])
                    longest = {y, x - run + 1, run};
            }
        return longest;
    }

    TemporaryFolder folder_;
    Maker maker_{{8, 8, 1, kU8}, kShape};
    StreamInfo stream_ = stream_of(kShape);
    RecordOptions options_;
};

TEST_F(Marks, WithoutAnyThePictureIsAsItWas) {
    EXPECT_EQ(marked(shown({}, {even(1)})), (std::array<int, 4>{}));
}

TEST_F(Marks, OutlinesCarryTheColourOfTheirRegionWhereItIs) {
    Result result = even(1);
    put_regions(result, {{.name = "box",
                          .shape = RegionShape::rectangle,
                          .points = {{100, 80}, {180, 140}},
                          .colour = "#12e45a",
                          .locked = false},
                         {.name = "across",
                          .shape = RegionShape::line,
                          .points = {{20, 200}, {300, 200}},
                          .colour = "#e40077",
                          .locked = false}});
    for (const int zoom : {1, 3}) {
        const Pixels picture = shown({.regions = true, .zoom = zoom}, {result});
        ASSERT_EQ(picture.shape.width, 320 * zoom);
        const auto all_of = [&](int x, int y, const std::array<int, 3>& wanted) {
            for (int j = 0; j < zoom; ++j)
                for (int i = 0; i < zoom; ++i)
                    if (picture.at(x * zoom + i, y * zoom + j) != wanted)
                        return false;
            return true;
        };
        const std::array<int, 3> box = {0x12, 0xe4, 0x5a}, line = {0xe4, 0, 0x77};
        for (int x = 101; x < 180; ++x) {
            EXPECT_TRUE(all_of(x, 80, box)) << x << " above, zoom " << zoom;
            EXPECT_TRUE(all_of(x, 140, box)) << x << " below, zoom " << zoom;
        }
        for (int y = 81; y < 140; ++y) {
            EXPECT_TRUE(all_of(100, y, box)) << y << " left, zoom " << zoom;
            EXPECT_TRUE(all_of(180, y, box)) << y << " right, zoom " << zoom;
        }
        for (int x = 21; x < 300; ++x)
            EXPECT_TRUE(all_of(x, 200, line)) << x << " of the line, zoom " << zoom;
        for (int y = 83; y < 138; ++y) // not filled
            EXPECT_TRUE(plain(picture.at(140 * zoom, y * zoom))) << y;
    }
}

TEST_F(Marks, OnTheRawPictureRegionsLieABorderFurther) {
    constexpr Shape kRaw{326, 244, 1, kU8};
    Maker maker{kRaw, kShape};
    Result result = maker.make(1);
    const auto values = result.raw.host().as<std::uint8_t>();
    for (int y = 0; y < kRaw.height; ++y)
        std::fill_n(values.row(y), kRaw.width, std::uint8_t{100});
    put_regions(result, {{.name = "box",
                          .shape = RegionShape::rectangle,
                          .points = {{100, 80}, {180, 140}},
                          .colour = "#12e45a",
                          .locked = false}});
    ScreenLook look;
    look.layout = ScreenLayout::raw;
    options_.look = std::make_shared<const LiveLook>(look);
    const Pixels picture = shown({.regions = true}, {result});
    for (int x = 101; x < 180; ++x)
        EXPECT_EQ(picture.at(x + 3, 82), (std::array{0x12, 0xe4, 0x5a})) << x;
}

/// The bar has the stated length: 1, 2 or 5 times a power of ten, with a text next to it.
TEST_F(Marks, TheScaleBarIsItsMicrometresOverThoseOfAPixel) {
    for (const double um : {0.35, 1.0, 3.45, 7.4})
        for (const int zoom : {1, 2}) {
            stream_.um_per_source_px = um;
            const auto [row, begin, length] = longest_light(shown({.scale = true, .zoom = zoom}, {even(1)}));
            ASSERT_GT(length, 20 * zoom) << um;
            const double micrometres = length * um / zoom;
            double nearest = INFINITY;
            for (const double part : {1.0, 2.0, 5.0})
                for (double power = 0.1; power < 1e5; power *= 10)
                    if (std::abs(part * power - micrometres) < std::abs(nearest - micrometres))
                        nearest = part * power;
            EXPECT_NEAR(length, nearest / um * zoom, 1) << um << " µm a pixel, zoom " << zoom;
            EXPECT_LE(length, 0.3 * 320 * zoom + 1);
            EXPECT_GT(row, 200 * zoom) << "at the lower left";
            EXPECT_LT(begin, 60 * zoom);
        }
    stream_.um_per_source_px = 0;
    EXPECT_EQ(marked(shown({.scale = true}, {even(1)})), (std::array<int, 4>{})) << "nobody knows the scale";
}

TEST_F(Marks, TheScaleBarIsSeenInASmallPictureAndGrowsWithALargeOne) {
    stream_.um_per_source_px = 1;
    const auto thickness = [&](int zoom) { // number of rows that are as light between the bar's ends
        const Pixels picture = shown({.scale = true, .zoom = zoom}, {even(1)});
        const auto [first, begin, length] = longest_light(picture);
        int rows = 0;
        for (int y = 0; y < picture.shape.height; ++y) {
            int light = 0;
            for (int x = begin; x < begin + length; ++x)
                light += picture.at(x, y) == kLight ? 1 : 0;
            rows += light == length ? 1 : 0;
        }
        return rows;
    };
    const int small = thickness(1);
    EXPECT_GE(small, 2);
    EXPECT_GE(thickness(4), 2 * small) << "as its letters do";
}

TEST_F(Marks, AStarSaysThatNobodyGaveTheExposureThatTheNumbersRestOn) {
    const auto legend = [&](const Quantity& quantity, ExposureOrigin origin) {
        Result result = even(1);
        result.quantity = quantity;
        result.exposure = {.ms = 5, .origin = origin};
        return shown({.bar = true}, {result}).rgb;
    };
    const Quantity flow{"speckle flow index", "SFI", "1/s", Measure::flow};
    const Quantity contrast{"speckle contrast", "K", "1", Measure::contrast};
    const Bytes given = legend(flow, ExposureOrigin::camera);
    EXPECT_EQ(compare(given, legend(flow, ExposureOrigin::file)), "equal");
    EXPECT_NE(compare(given, legend(flow, ExposureOrigin::assumed)), "equal");
    EXPECT_EQ(compare(legend(contrast, ExposureOrigin::camera), legend(contrast, ExposureOrigin::assumed)),
              "equal")
        << "which rests on none";
}

TEST_F(Marks, TheColourBarStandsBesideThePicture) {
    ScreenLook look;
    look.mapping = {.colormap = ColorMap::viridis, .automatic = false, .low = 0, .high = 1};
    options_.look = std::make_shared<const LiveLook>(look);
    const Pixels picture = shown({.bar = true}, {even(1)});
    ASSERT_GT(picture.shape.width, kShape.width);
    ASSERT_EQ(picture.shape.height, kShape.height);
    const Rgb middle = color_table(ColorMap::viridis)[128];
    for (int y = 0; y < kShape.height; ++y)
        for (int x = 0; x < kShape.width; ++x)
            ASSERT_EQ(picture.at(x, y), (std::array<int, 3>{middle[0], middle[1], middle[2]}))
                << "the picture itself is as it was, " << x << ", " << y;
    // In some column of the strip the colours are in order, the highest at the top.
    std::size_t best = 0;
    for (int x = kShape.width; x < picture.shape.width; ++x) {
        std::size_t found = 0;
        int next = 255;
        for (int y = 0; y < picture.shape.height; ++y)
            for (int i = next; i >= 0; --i) {
                const Rgb& color = color_table(ColorMap::viridis)[static_cast<std::size_t>(i)];
                if (picture.at(x, y) == std::array<int, 3>{color[0], color[1], color[2]}) {
                    ++found;
                    next = i - 1;
                    break;
                }
            }
        best = std::max(best, found);
    }
    EXPECT_GT(best, 100U);
    look.layout = ScreenLayout::raw;
    options_.look = std::make_shared<const LiveLook>(look);
    EXPECT_EQ(shown({.bar = true}, {even(1)}).shape.width, 8) << "raw frames have no bar";
}

TEST_F(Marks, TheTimeStampIsOfItsFrame) {
    const Pixels first = shown({.time = true}, {even(1)}), same = shown({.time = true}, {even(1)});
    const Pixels later = shown({.time = true}, {even(1), even(2)});
    EXPECT_EQ(compare(first.rgb, same.rgb), "equal");
    EXPECT_NE(compare(first.rgb, later.rgb), "equal") << "10 ms later, and another frame";
    const auto [left, top, right, bottom] = marked(first);
    EXPECT_LT(right - left, 200);
    EXPECT_LT(bottom, 30) << "at the upper left, and nothing else";
    EXPECT_GT(right - left, 60);
    EXPECT_LT(left, 20);
    EXPECT_LT(top, 20);
}

TEST_F(Marks, ALabelIsSeenForTwoSecondsFromItsEvent) {
    const ScreenMarks marks{.events = true};
    const EventMark event{.number = 1, .sequence = 10, .capture_ns = 100'000'005, .label = "stimulus"};
    EXPECT_EQ(marked(shown(marks, {even(9)})), (std::array<int, 4>{}));
    EXPECT_NE(marked(shown(marks, {even(10)}, {event})), (std::array<int, 4>{}));
    EXPECT_NE(marked(shown(marks, {even(10), even(209)}, {event})), (std::array<int, 4>{})) << "1.99 s";
    EXPECT_EQ(marked(shown(marks, {even(10), even(210)}, {event})), (std::array<int, 4>{})) << "2 s";
    EventMark removed = event;
    removed.removed = true;
    EXPECT_EQ(marked(shown(marks, {even(10), even(11)}, {event, removed})), (std::array<int, 4>{}));
    EventMark renamed = event;
    renamed.label = "stimulus on the left";
    const auto shorter = marked(shown(marks, {even(10), even(11)}, {event, {}}));
    const auto longer = marked(shown(marks, {even(10), even(11)}, {event, renamed}));
    EXPECT_GT(longer[2], shorter[2]);
    EXPECT_EQ(longer[3], shorter[3]) << "in its place, not below it";
}

TEST_F(Marks, WhatFindsNoRoomIsLeftOutAndAllElseIsThere) {
    Maker small{{8, 8, 1, kU8}, {40, 30, 1, kF32}};
    Result result = small.make(1);
    put_regions(result, {{.name = "box",
                          .shape = RegionShape::rectangle,
                          .points = {{10, 8}, {30, 20}},
                          .colour = "#12e45a",
                          .locked = false}});
    stream_.um_per_source_px = 1;
    const Pixels picture =
        shown({.bar = true, .time = true, .scale = true, .regions = true, .events = true}, {result});
    EXPECT_EQ(picture.at(20, 20), (std::array{0x12, 0xe4, 0x5a}));
}

#else

TEST(Marks, AreRefusedWithoutWhatDrawsThem) {
    EXPECT_NO_THROW(check_marks({.zoom = 2}, "Recording"));
    EXPECT_THROW(check_marks({.time = true}, "Recording"), UsageError);
}

#endif

} // namespace screen_marks_test
