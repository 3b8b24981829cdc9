// A movie of the screen equals a snapshot of the same frame, and in every layout the separate images. It
// does not delay the pipeline.
#include "tests/recording/screen/screen_helpers.hpp"

#include "analysis/baseline_image.hpp"

namespace screen_test {

using namespace specklescope;

constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;

std::shared_ptr<const LiveLook> looking(ScreenLook look) {
    return std::make_shared<const LiveLook>(std::move(look));
}

struct Case {
    std::string ending;
    Shape shape;
    Mapping mapping;
};

class ScreenMovie : public testing::TestWithParam<Case> {};

TEST_P(ScreenMovie, IsWithin40DecibelsOfTheSnapshot) {
    const TemporaryFolder folder;
    const auto& [ending, shape, mapping] = GetParam();
    Maker maker({8, 8, 1, kU8}, shape);
    const StreamInfo stream = stream_of(shape);
    const auto sink = make_recorder(
        {.path = folder / "v" + ending, .what = RecordWhat::screen, .look = looking({.mapping = mapping})});
    sink->open(stream);
    std::vector<Bytes> pictures;
    for (std::uint64_t n = 0; n < 8; ++n) { // noise: the hardest image
        const Result result = maker.make(n);
        pictures.push_back(
            read_rgb(write_snapshot(result, {.path = folder / "s.png", .mapping = mapping}, stream)).rgb);
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().written, 8U);
    expect_movie(sink->status().path, shape, pictures, ending == ".mp4" ? 35 : 40);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ScreenMovie,
    testing::Values(Case{".mkv", {160, 120, 1, kF32}, {.colormap = ColorMap::viridis}},
                    Case{".mp4", {160, 120, 1, kF32}, {.colormap = ColorMap::grey}},
                    Case{".mp4",
                         {159, 121, 1, kF32},
                         {.colormap = ColorMap::grey, .automatic = false, .low = 100, .high = 700}},
                    Case{".mkv", {161, 119, 3, kU16}, {.colormap = ColorMap::grey}}));

TEST(Screen, IsTheSnapshotPixelForPixelWhereNothingIsLost) {
    const TemporaryFolder folder;
    const Shape shape{97, 61, 1, kF32};
    Maker maker(shape);
    const Result result = maker.make(5);
    const StreamInfo stream = stream_of(shape);
    for (const Mapping& mapping :
         {Mapping{.colormap = ColorMap::magma},
          Mapping{
              .colormap = ColorMap::jet, .automatic = false, .low = 50, .high = 300, .exposure_stops = 1}}) {
        const Pixels shown =
            last_screen(folder, {.path = {}, .look = looking({.mapping = mapping})}, stream, {result});
        const Pixels snapshot =
            read_rgb(write_snapshot(result, {.path = folder / "s.png", .mapping = mapping}, stream));
        EXPECT_EQ(shown.shape, snapshot.shape);
        EXPECT_EQ(compare(shown.rgb, snapshot.rgb), "equal");
    }
}

/// Colours of a single image, as in its snapshot.
struct Alone {
    ConstHostView image;
    ColorMap map;
    ValueRange range;

    Pixels colors() const {
        Pixels made{{image.shape.width, image.shape.height, 3, kU8}, {}};
        made.rgb.resize(made.shape.bytes());
        map_colors(image, map, range, ToneCurve::linear, HostView(made.rgb.data(), made.shape));
        return made;
    }
};

class Layouts : public testing::Test {
protected:
    // The result lacks a border of 3 and of 2 pixels.
    static constexpr Shape kRaw{60, 40, 1, kU8}, kResult{54, 36, 1, kF32};
    static constexpr ValueRange kRange{100, 700}, kRawRange{10, 200};
    static constexpr std::array<int, 3> kBackground = {10, 13, 16};

    ScreenLook look(ScreenLayout layout) const {
        ScreenLook look;
        look.layout = layout;
        look.split = 0.4; // column 24
        look.blend = {0.7, 0.25};
        look.mapping = {
            .colormap = ColorMap::viridis, .automatic = false, .low = kRange.low, .high = kRange.high};
        look.raw_range = kRawRange;
        look.mark_saturated = false;
        return look;
    }
    Pixels shown(const ScreenLook& look) {
        return last_screen(folder_, {.path = {}, .look = looking(look)}, stream_of(kRaw), {result_});
    }
    void expect(const Pixels& shown, const std::function<std::array<int, 3>(int, int)>& wanted) const {
        int wrong = 0;
        for (int y = 0; y < shown.shape.height; ++y)
            for (int x = 0; x < shown.shape.width; ++x)
                if (shown.at(x, y) != wanted(x, y) && ++wrong < 4)
                    ADD_FAILURE() << "pixel " << x << ", " << y;
        EXPECT_EQ(wrong, 0);
    }
    static bool inside(int x, int y) { return x >= 3 && y >= 2 && x < 57 && y < 38; }

    TemporaryFolder folder_;
    Maker maker_{kRaw, kResult};
    Result result_ = maker_.make(7);
    Pixels raw_ = Alone{result_.raw.host(), ColorMap::grey, kRawRange}.colors();
    Pixels processed_ = Alone{result_.image.host(), ColorMap::viridis, kRange}.colors();
};

TEST_F(Layouts, RawIsTheRawPicture) {
    const Pixels got = shown(look(ScreenLayout::raw));
    ASSERT_EQ(got.shape, raw_.shape);
    EXPECT_EQ(compare(got.rgb, raw_.rgb), "equal");
}

TEST_F(Layouts, SaturatedRawPixelsHaveTheirColour) {
    ScreenLook marked = look(ScreenLayout::raw);
    marked.mark_saturated = true;
    result_.info.full_scale = 128;
    const auto raw = result_.raw.host().as<std::uint8_t>();
    expect(shown(marked), [&](int x, int y) {
        return raw.row(y)[x] >= 128 ? std::array<int, 3>{255, 38, 26} : raw_.at(x, y);
    });
}

TEST_F(Layouts, SideBySideBothAreWhole) {
    const Pixels got = shown(look(ScreenLayout::side_by_side));
    ASSERT_EQ(got.shape, (Shape{122, 40, 3, kU8}));
    expect(got, [&](int x, int y) {
        return x < 60 ? raw_.at(x, y) : inside(x - 62, y) ? processed_.at(x - 65, y - 2) : kBackground;
    });
}

TEST_F(Layouts, SplitChangesAtTheDivider) {
    const Pixels got = shown(look(ScreenLayout::split));
    ASSERT_EQ(got.shape, raw_.shape);
    expect(got, [&](int x, int y) {
        return x < 24 ? raw_.at(x, y) : inside(x, y) ? processed_.at(x - 3, y - 2) : kBackground;
    });
}

TEST_F(Layouts, BlendedIsTheBlendOfTheTwo) {
    const ScreenLook wanted = look(ScreenLayout::blended);
    Pixels blend{raw_.shape, Bytes(raw_.rgb.size())};
    blend_colors(result_.raw.host(), {ColorMap::grey, kRawRange, ToneCurve::linear}, result_.image.host(),
                 {ColorMap::viridis, kRange, ToneCurve::linear}, wanted.blend,
                 HostView(blend.rgb.data(), blend.shape));
    const Pixels got = shown(wanted);
    ASSERT_EQ(got.shape, blend.shape);
    EXPECT_EQ(compare(got.rgb, blend.rgb), "equal");
}

TEST_F(Layouts, AStageThatMovesPixelsLeavesNoBlend) {
    auto chain = std::make_shared<Chain>();
    chain->add("rotate90");
    chain->add("speckle");
    result_.chain = chain;
    const Pixels got = shown(look(ScreenLayout::blended));
    ASSERT_EQ(got.shape, processed_.shape);
    EXPECT_EQ(compare(got.rgb, processed_.rgb), "equal");
}

TEST_F(Layouts, AChangeAgainstABaselineTakesThePlaceOfTheResult) {
    ScreenLook changed = look(ScreenLayout::processed);
    changed.change_range = 80;
    std::vector<float> f0(kResult.pixels(), 400.0F);
    changed.baseline =
        std::make_shared<const BaselineImage>(kResult, result_.quantity, std::move(f0), 10, 1.0);
    const auto values = result_.image.host().as<float>();
    std::vector<float> percent;
    for (int y = 0; y < kResult.height; ++y)
        for (int x = 0; x < kResult.width; ++x)
            percent.push_back(static_cast<float>(100 * (static_cast<double>(values.row(y)[x]) / 400 - 1)));
    const ConstHostView change(reinterpret_cast<const std::byte*>(percent.data()), kResult);
    const Pixels wanted = Alone{change, ColorMap::rdbu, {-80, 80}}.colors();
    const Pixels got = shown(changed);
    ASSERT_EQ(got.shape, wanted.shape);
    EXPECT_GE(psnr(got.rgb, wanted.rgb), 60); // a rounded per cent may be one colour off
}

TEST_F(Layouts, ZoomRepeatsPixels) {
    const ScreenMarks marks{.zoom = 3};
    const Pixels got =
        last_screen(folder_, {.path = {}, .look = looking(look(ScreenLayout::processed)), .marks = marks},
                    stream_of(kRaw), {result_});
    ASSERT_EQ(got.shape, (Shape{162, 108, 3, kU8}));
    expect(got, [&](int x, int y) { return processed_.at(x / 3, y / 3); });
}

TEST_F(Layouts, ALookThatChangesBeginsAnotherFileWhereTheSizeDoes) {
    const auto live = std::make_shared<LiveLook>(look(ScreenLayout::processed));
    const auto sink = make_recorder({.path = folder_ / "s.tiff", .what = RecordWhat::screen, .look = live});
    sink->open(stream_of(kRaw));
    sink->push(result_, true);
    ScreenLook other = look(ScreenLayout::processed);
    other.mapping.colormap = ColorMap::inferno;
    live->set(other);
    sink->push(maker_.make(8), true);
    live->set(look(ScreenLayout::raw));
    const Result last = maker_.make(9);
    sink->push(last, true);
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    const std::vector<Page> first = read_stack(folder_ / "s.tiff"), second = read_stack(folder_ / "s-1.tiff");
    ASSERT_EQ(first.size(), 2U);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(compare(first[0].pixels, processed_.rgb), "equal");
    EXPECT_NE(compare(first[1].pixels, processed_.rgb), "equal");
    EXPECT_EQ(second[0].shape, raw_.shape);
    EXPECT_EQ(first[0].description.at("content"), "screen");
    EXPECT_EQ(first[0].description.at("layout"), "processed");
    EXPECT_EQ(second[0].description.at("layout"), "raw");
}

/// Pushed as from a camera: frames are either counted as dropped or written correctly. If frames are copied,
/// raw and result must belong together.
TEST_F(Layouts, ALiveStreamIsNeverHeldUp) {
    const auto sink = make_recorder({.path = folder_ / "s.tiff",
                                     .what = RecordWhat::screen,
                                     .look = looking(look(ScreenLayout::side_by_side))});
    sink->open(stream_of(kRaw));
    constexpr std::uint64_t kFrames = 300;
    for (std::uint64_t n = 0; n < kFrames; ++n) {
        sink->push(maker_.make(n), false); // with 6 slots: held frames would block this loop
        EXPECT_GE(maker_.raw().free_slots(), 3);
        EXPECT_GE(maker_.image().free_slots(), 3);
    }
    sink->close();
    const SinkStatus status = sink->status();
    ASSERT_EQ(status.error, "");
    EXPECT_EQ(status.written + status.dropped, kFrames);
    const std::vector<Page> pages = read_stack(status.path);
    ASSERT_EQ(pages.size(), status.written);
    Maker again{kRaw, kResult};
    for (const Page& page : pages) {
        const Json& about = page.description;
        const Result made =
            again.make(about.contains("frame") ? about["frame"].at("sequence").get<std::uint64_t>()
                                               : about.at("sequence").get<std::uint64_t>());
        const Pixels raw = Alone{made.raw.host(), ColorMap::grey, kRawRange}.colors();
        const Pixels processed = Alone{made.image.host(), ColorMap::viridis, kRange}.colors();
        expect({page.shape, page.pixels}, [&](int x, int y) {
            return x < 60 ? raw.at(x, y) : inside(x - 62, y) ? processed.at(x - 65, y - 2) : kBackground;
        });
    }
}

TEST(Screen, IsRefusedWhereAFormatCannotHoldIt) {
    const TemporaryFolder folder;
    for (const char* name : {"s.hdr", "s.pdf"}) {
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::screen});
        EXPECT_THROW(sink->open(stream_of({8, 8, 1, kU8})), UsageError) << name;
    }
    const auto raw = make_recorder({.path = folder / "r.mp4", .what = RecordWhat::raw});
    EXPECT_THROW(raw->open(stream_of({8, 8, 1, kU8})), UsageError);
    EXPECT_TRUE(folder.names().empty());
}

/// An unfinished MP4 can be opened up to its last write.
TEST(Screen, AnMp4ThatWasCutOffOpens) {
    const TemporaryFolder folder;
    const Shape shape{64, 48, 1, kF32};
    Maker maker(shape);
    const auto sink = make_recorder({.path = folder / "v.mp4", .what = RecordWhat::screen});
    sink->open(stream_of(shape));
    for (std::uint64_t n = 0; n < 350; ++n) // 3.5 s
        sink->push(maker.make(n), true);
    // As it is on the disk now, and as a killed process leaves it.
    fs::copy_file(folder / "v.mp4", folder / "cut.mp4");
    sink->close();
    const Shape rgb{shape.width, shape.height, 3, kU8};
    EXPECT_EQ(decode_video(folder / "v.mp4", "RGB", rgb).size(), 350U);
    const std::size_t cut = decode_video(folder / "cut.mp4", "RGB", rgb).size();
    EXPECT_GE(cut, 100U);
    EXPECT_LE(cut, 350U);
}

} // namespace screen_test
