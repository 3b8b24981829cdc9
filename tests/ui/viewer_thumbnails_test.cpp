// Thumbnails next to file names, in the dialog that opens a source.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "config/look/first_look.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"
#include "ui/sources/thumbnails.hpp"

#include <sys/stat.h>

namespace specklescope::viewer_thumbnails_test {

/// A grey TIFF of one strip, which may declare more than it contains.
std::string tiff(std::uint32_t width, std::uint32_t height, const std::string& pixels) {
    std::string file = "II";
    const auto add = [&](std::uint32_t value, int bytes) {
        for (int i = 0; i < bytes; ++i)
            file += static_cast<char>(value >> (8 * i) & 0xFFU);
    };
    constexpr std::uint32_t kShort = 3, kLong = 4;
    const std::vector<std::array<std::uint32_t, 3>> tags = {
        {256, kLong, width}, {257, kLong, height}, {258, kShort, 8},
        {259, kShort, 1},    {262, kShort, 1},     {273, kLong, 8 + 2 + 9 * 12 + 4},
        {277, kShort, 1},    {278, kLong, height}, {279, kLong, static_cast<std::uint32_t>(pixels.size())}};
    add(42, 2);
    add(8, 4);
    add(static_cast<std::uint32_t>(tags.size()), 2);
    for (const auto& [tag, type, value] : tags) {
        add(tag, 2);
        add(type, 2);
        add(1, 4);
        add(value, 4);
    }
    add(0, 4);
    return file + pixels;
}

/// Dark on one side, bright on the other.
std::string halves(bool bright_left) {
    std::string pixels;
    for (int i = 0; i < 64 * 48; ++i)
        pixels += static_cast<char>((i % 64 < 32) == bright_left ? 230 : 20);
    return tiff(64, 48, pixels);
}

class ThumbnailsTest : public ViewerTest {
protected:
    std::string place(const std::string& name) const { return (folder_.path() / "data" / name).string(); }
    void SetUp() override {
        ViewerTest::SetUp();
        std::filesystem::create_directories(folder_.path() / "data");
    }
    void ask(Viewer& viewer) const {
        viewer.key("o");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
        viewer.freeze(true); // no other folder is read in between
        desktop_->events({"type", "--delay", "30", place("")});
        viewer.freeze(false);
        ASSERT_TRUE(viewer.until([&] {
            return viewer.text("open.folder") == (folder_.path() / "data").string();
        })) << viewer.text("open.folder");
    }
    static std::string about(const Viewer& viewer, const std::string& name) {
        return viewer.text("open.about.open.file." + name);
    }
    /// Left and right half of a thumbnail on the screen.
    std::pair<int, int> seen(const Viewer& viewer, const std::string& name) {
        const Rect r = viewer.widget("open.picture." + name);
        const Screenshot screen = shot();
        const auto at = [&](double part) {
            return screen.at(static_cast<int>(r.x + part * r.width), static_cast<int>(r.y + r.height / 2))[1];
        };
        return {at(0.25), at(0.75)};
    }
};

TEST_F(ThumbnailsTest, ShowTheFirstFrameOrSayWhyNotAndNothingStandsStill) {
    write_text(place("a_left.tif"), halves(true));
    write_text(place("b_huge.tif"), tiff(40000, 40000, std::string(1000, 'x')));
    std::filesystem::resize_file(place("b_huge.tif"),
                                 std::uintmax_t{40000} * 40000 + 4096); // as large as declared
    write_text(place("c_broken.png"), "no picture");
    write_text(place("d.raw"), std::string(640, 'x'));
    ASSERT_EQ(mkfifo(place("e_pipe.tif").c_str(), 0600), 0);
    write_text(place("f_right.tif"), halves(false));
    Viewer viewer(*desktop_, folder_, with({"synthetic?rate=50", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    const auto all = [&] {
        return viewer.number("open.thumbnails") >= 6;
    }; // the pipe does not block the others
    ASSERT_TRUE(viewer.until(all)) << viewer.number("open.thumbnails") << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return about(viewer, "a_left.tif") == "64 × 48 u8, 1 frame"; }))
        << about(viewer, "a_left.tif");
    EXPECT_TRUE(about(viewer, "b_huge.tif").starts_with("large: ")) << about(viewer, "b_huge.tif");
    EXPECT_TRUE(about(viewer, "c_broken.png").starts_with("unreadable: ")) << about(viewer, "c_broken.png");
    EXPECT_NE(about(viewer, "c_broken.png").find("c_broken.png"), std::string::npos) << "the reason";
    EXPECT_TRUE(about(viewer, "d.raw").starts_with("no header: ")) << about(viewer, "d.raw");
    EXPECT_NE(about(viewer, "e_pipe.tif").find("pipe"), std::string::npos) << about(viewer, "e_pipe.tif");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.picture.open.file.f_right.tif"); }));
    const auto [left, dark] = seen(viewer, "open.file.a_left.tif");
    EXPECT_GT(left, dark + 150);
    const auto [shadow, right] = seen(viewer, "open.file.f_right.tif");
    EXPECT_GT(right, shadow + 150);
    EXPECT_FALSE(viewer.has_widget("open.picture.open.file.b_huge.tif"));
    for (const std::string name : {"a_left.tif", "f_right.tif"}) { // complete, and not stretched
        const nlohmann::json widgets = viewer.probe()["widgets"];
        const auto row = widgets["open.file." + name].get<std::array<double, 4>>();
        const auto picture = widgets["open.picture.open.file." + name].get<std::array<double, 4>>();
        EXPECT_NEAR(picture[2] / picture[3], 64.0 / 48, 0.01) << name;
        EXPECT_GE(picture[0], row[0]) << name;
        EXPECT_GE(picture[1], row[1]) << name;
        EXPECT_LE(picture[0] + picture[2], row[0] + row[2]) << name;
        EXPECT_LE(picture[1] + picture[3], row[1] + row[3]) << name;
    }
    const double displayed = viewer.number("displayed");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("displayed") > displayed + 5; }));
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ThumbnailsTest, AreMadeOnceAndAgainWhenTheFileHasChanged) {
    constexpr int kFiles = 24;
    for (int i = 0; i < kFiles; ++i)
        write_text(place("p" + std::to_string(10 + i) + ".tif"), halves(true));
    Viewer viewer(*desktop_, folder_, with({"synthetic?rate=50", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.picture.open.file.p10.tif"); }));
    const auto wheel = [&](const char* way) {
        const Rect list = viewer.widget("open.up");
        viewer.events({"mousemove", std::to_string(std::lround(list.x + 60)),
                       std::to_string(std::lround(list.y + 100)), "sleep", "0.3", "click", "--repeat", "30",
                       "--delay", "30", way});
    };
    const Rect up = viewer.widget("open.up");
    viewer.events(
        {"mousemove", std::to_string(std::lround(up.x + 60)), std::to_string(std::lround(up.y + 100))});
    EXPECT_LT(viewer.number("open.thumbnails"), kFiles) << "those that are seen, and no others";
    const std::string last = "open.picture.open.file.p" + std::to_string(10 + kFiles - 1) + ".tif";
    wheel("5");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget(last); })) << viewer.number("open.thumbnails");
    const double made = viewer.number("open.thumbnails");
    viewer.events({"click", "--repeat", "30", "--delay", "30", "4"});
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.picture.open.file.p10.tif"); }));
    viewer.drawn();
    viewer.events({"click", "--repeat", "30", "--delay", "30", "5"});
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget(last); }));
    EXPECT_LE(viewer.number("open.thumbnails"), kFiles) << "each once, however the list was scrolled";
    EXPECT_GE(viewer.number("open.thumbnails"), made);
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("open.text"); }));

    write_text(place("p10.tif"), halves(false) + "longer");
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    ASSERT_TRUE(viewer.until([&] {
        if (!viewer.has_widget("open.picture.open.file.p10.tif"))
            return false;
        const auto [dark, bright] = seen(viewer, "open.file.p10.tif");
        return bright > dark + 150;
    })) << viewer.log();
    EXPECT_LE(viewer.number("open.thumbnails"), kFiles + 1);
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ThumbnailsTest, StandBesideWhatWasOpenLately) {
    write_text(place("left.tif"), halves(true));
    Viewer viewer(*desktop_, folder_, with({place("left.tif")}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("o");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.picture.open.recent.0"); }))
        << viewer.log();
    const auto [left, right] = seen(viewer, "open.recent.0");
    EXPECT_GT(left, right + 150);
    EXPECT_FALSE(viewer.has_widget("open.picture.open.recent.1")) << "a simulated scene has no first frame";
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST(FirstLookLimits, NoMoreMemoryIsTakenThanAllowedAndAPipeIsLeftAlone) {
    const TemporaryFolder folder;
    const std::string wide = folder / "wide.tif", pipe = folder / "pipe.tif";
    write_text(wide, tiff(64, 48, std::string(std::size_t{64} * 48, 'x')));
    EXPECT_EQ(first_look(SourceArgument(wide), 8).shape, (Shape{64, 48, 1, PixelType::u8}));
    {
        const MemoryLimit limit(1000);
        EXPECT_THROW((void)first_look(SourceArgument(wide), 8), RunError);
        EXPECT_TRUE(limit.refused());
    }
    EXPECT_NO_THROW((void)first_look(SourceArgument(wide), 8)) << "the limit has gone with its object";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THROW((void)first_look(SourceArgument(pipe), 8), UsageError);
}

TEST(FirstLookDepth, IsThatOfTheFileWhereItsColoursAreDecoded) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"(
import cv2, numpy
cv2.imwrite('8.png', numpy.full((6, 9, 3), 100, numpy.uint8))
cv2.imwrite('16.png', numpy.full((6, 9, 3), 30000, numpy.uint16))
cv2.imwrite('grey.png', numpy.full((6, 9), 30000, numpy.uint16))
)"));
    const auto look = [&](const char* name) { return first_look(SourceArgument(folder / name), 8); };
    EXPECT_EQ(look("8.png").shape.type, PixelType::f32) << "linear light";
    for (const auto& [name, text] : {std::pair{"8.png", "9 × 6 px, 8 bit colour"},
                                     {"16.png", "9 × 6 px, 16 bit colour"},
                                     {"grey.png", "9 × 6 px, 16 bit grey"}})
        EXPECT_TRUE(details_of_look(look(name)).starts_with(text)) << details_of_look(look(name));
    EXPECT_TRUE(text_of_look(look("8.png")).starts_with("9 × 6 u8 colour"));
}

} // namespace specklescope::viewer_thumbnails_test
