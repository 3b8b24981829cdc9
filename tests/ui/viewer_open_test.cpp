// The dialog that opens a source, by real mouse and keys: folders, completion, preview of the first frame, a
// file without a header, recent sources, and the desktop's own dialog.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cerrno>
#include <csignal>
#include <sys/stat.h>

namespace specklescope::viewer_open_test {

class ViewerOpenTest : public ViewerTest {
protected:
    /// Frames of 64×48 bytes.
    void film(const std::string& name, int frames) const {
        std::string pixels;
        for (int i = 0; i < 64 * 48 * frames; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / name, pixels);
    }
    void ask(Viewer& viewer) const {
        viewer.key("o");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
    }
    std::string place(const std::string& name) const { return (folder_.path() / name).string(); }
};

TEST_F(ViewerOpenTest, AFileWithoutAHeaderIsToldItsSizeAndShowsIt) {
    std::filesystem::create_directories(folder_.path() / "data");
    film("data/cells_64x48.raw", 7);
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    desktop_->events({"type", "--delay", "40", place("data/ce")});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.folder") == place("data"); }));
    viewer.key("Tab"); // completes it
    ASSERT_TRUE(viewer.until([&] { return viewer.number("open.raw.form") == 1; }));
    EXPECT_TRUE(viewer.until([&] { return viewer.number("open.raw.sizes") >= 1; }));
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look") == "64 × 48 u8, 7 frames"; }))
        << viewer.text("open.look");
    EXPECT_TRUE(viewer.has_widget("open.picture"));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("cells_64x48.raw?width=64&height=48&format=gray8") != std::string::npos;
    })) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, TheFormOfAFileWithoutAHeaderIsWhatIsOpened) {
    film("cells_64x48.raw", 7);
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    desktop_->events({"type", "--delay", "40", place("cells_64x48.raw")});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look") == "64 × 48 u8, 7 frames"; }));
    viewer.click("open.raw.Format");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.raw.format.rgb8"); }));
    viewer.key("Escape"); // closes the list, not the dialog
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("open.raw.format.rgb8"); }));
    ASSERT_TRUE(viewer.has_widget("open.text"));
    const auto width = [&](const char* text) {
        const Rect field = viewer.rest("open.raw.Width"); // its buttons are at the right
        viewer.events({"mousemove",
                       std::to_string(std::lround(field.x + 20)),
                       std::to_string(std::lround(field.y + field.height / 2)),
                       "sleep",
                       "0.4",
                       "mousedown",
                       "1",
                       "sleep",
                       "0.3",
                       "mouseup",
                       "1",
                       "sleep",
                       "0.4",
                       "key",
                       "ctrl+a",
                       "sleep",
                       "0.2",
                       "type",
                       "--delay",
                       "60",
                       text});
        viewer.key("Return");
    };
    width("640"); // 640×48 is longer than the file
    ASSERT_TRUE(viewer.until([&] {
        return viewer.text("open.said").find("after its header") != std::string::npos;
    })) << viewer.log();
    EXPECT_EQ(viewer.log().find("Opened " + place("cells")), std::string::npos) << viewer.log();
    width("32");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("cells_64x48.raw?width=32&height=48&format=gray8") != std::string::npos;
    })) << viewer.log();
    EXPECT_FALSE(viewer.has_widget("error.close")) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, AFileOfFoilNeedsNoForm) {
    film("pixels", 7);
    std::ofstream(folder_ / "foil.raw", std::ios::binary)
        << std::string("\x30\0\x40\0\x07\0\x05\0", 8) << test::read_file(folder_ / "pixels");
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    desktop_->events({"type", "--delay", "30", place("foil.raw")});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look") == "64 × 48 u8, 7 frames"; }))
        << viewer.text("open.look");
    EXPECT_EQ(viewer.number("open.raw.form"), 0);
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("Opened " + place("foil.raw")) != std::string::npos;
    })) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, AFileWithLinesBesideItNeedsNoForm) {
    const ChildResult made =
        run_program({"run", "synthetic:uniform?width=72&height=40&live=false", "--frames", "5",
                     "--record-raw", "made_72x40.raw", "--backend", "cpu"},
                    folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    ASSERT_TRUE(std::filesystem::exists(folder_ / "made_72x40.raw.jsonl"));
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    viewer.freeze(true); // no partial name is previewed
    desktop_->events({"type", "--delay", "30", place("made_72x40.raw")});
    viewer.freeze(false);
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look").starts_with("72 × 40 "); }))
        << viewer.text("open.look");
    EXPECT_TRUE(viewer.text("open.look").ends_with(", 5 frames")) << viewer.text("open.look");
    EXPECT_EQ(viewer.number("open.raw.form"), 0);
    EXPECT_FALSE(viewer.has_widget("open.raw.Width"));
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, TheLookStandsBesideTheFilesWhereThereIsRoomAndElseBelowThem) {
    film("cells_64x48.raw", 7);
    for (const auto& [width, beside] : {std::pair{1280, true}, {520, false}}) {
        Viewer viewer(*desktop_, folder_,
                      {"synthetic", "--no-remember", "--view", "width=" + std::to_string(width), "--view",
                       "height=790"});
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        ASSERT_NO_FATAL_FAILURE(ask(viewer));
        desktop_->events({"type", "--delay", "40", place("cells_64x48.raw")});
        ASSERT_TRUE(viewer.until([&] {
            return viewer.text("open.look") == "64 × 48 u8, 7 frames" && viewer.has_widget("open.picture");
        })) << viewer.log();
        const Rect up = viewer.rest("open.up"), picture = viewer.rest("open.picture");
        EXPECT_EQ(picture.x >= up.x + up.width, beside) << width;
        EXPECT_NEAR(picture.width / picture.height, 64.0 / 48, 0.02) << width;
        EXPECT_GT(picture.height, 40) << width;
        EXPECT_LE(picture.x + picture.width, width);
        const Rect all = viewer.widget("open.all");
        EXPECT_GT(all.y, up.y) << width;
        EXPECT_LE(all.y + all.height, 790) << width;
        viewer.key("Escape");
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(ViewerOpenTest, FoldersAreWalkedByMouse) {
    std::filesystem::create_directories(folder_.path() / "data/deep");
    film("data/deep/other.txt", 1);
    film("data/b_64x48.raw", 2);
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.file.data"); })) << "where it was started";
    viewer.click("open.file.data");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.file.deep"); }));
    EXPECT_TRUE(viewer.has_widget("open.file.b_64x48.raw"));
    viewer.click("open.file.deep");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.folder") == place("data/deep"); }));
    EXPECT_FALSE(viewer.has_widget("open.file.other.txt")) << "no source has this ending";
    viewer.click("open.up");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.file.b_64x48.raw"); }));
    viewer.click("open.file.b_64x48.raw");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look") == "64 × 48 u8, 2 frames"; }));
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("open.text"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, WhatWasOpenLatelyIsKnownToTheNextWindowAndGoneFilesAreNotOffered) {
    film("one.raw", 30);
    film("two.raw", 30);
    const std::string options = "?width=64&height=48&format=gray8&rate=100";
    for (const char* name : {"one.raw", "two.raw"}) {
        Viewer viewer(*desktop_, folder_, with({"raw:" + std::string(name) + options}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    std::filesystem::remove(folder_ / "one.raw");
    const std::string kept = read_text(folder_ / "config/specklescope/recent.toml");
    EXPECT_LT(kept.find(place("two.raw")), kept.find(place("one.raw"))) << kept;
    Viewer viewer(*desktop_, folder_, with({"synthetic"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    ASSERT_TRUE(
        viewer.until([&] { return viewer.has_widget("open.recent.2"); })); // after synthetic and two.raw
    ASSERT_TRUE(viewer.until([&] { return viewer.number("open.gone") == 1; }));
    viewer.click("open.recent.1");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("Opened " + place("two.raw")) != std::string::npos;
    })) << viewer.log();
    EXPECT_EQ(viewer.log().find("Opened " + place("one.raw")), std::string::npos) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerOpenTest, TheDesktopsDialogIsAProcessWhoseAnswerIsAName) {
    const std::string name = "a; touch gone, $(touch gone) %s.tif"; // a malicious name
    std::filesystem::create_directories(folder_.path() / "bin");
    write_text(
        folder_ / "bin/zenity",
        "#!/bin/sh\necho $$ >pid\nprintf '%s\\n' \"$@\" >words\nwhile [ ! -e go ]; do sleep 0.1; done\n"
        "[ -e cancel ] && exit 1\n"
        "printf '%s/%s\\n' \"$PWD\" '" +
            name + "'\n");
    chmod((folder_ / "bin/zenity").c_str(), 0755);
    struct Path { // NOLINTBEGIN(concurrency-mt-unsafe)
        explicit Path(const std::string& first) { setenv("PATH", (first + ":" + before).c_str(), 1); }
        ~Path() { setenv("PATH", before.c_str(), 1); }
        const std::string before = std::getenv("PATH");
    } const path(folder_ / "bin"); // NOLINTEND(concurrency-mt-unsafe)
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    viewer.click("open.browse");
    ASSERT_TRUE(viewer.until([&] { return std::filesystem::exists(folder_ / "words"); }));
    const double displayed = viewer.number("displayed");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("displayed") > displayed + 5; }))
        << "the picture goes on";
    write_text(folder_ / "go", "");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); }))
        << viewer.log(); // no such file
    EXPECT_NE(viewer.log().find(name), std::string::npos) << viewer.log();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "gone")) << "no shell has seen it";
    EXPECT_EQ(read_text(folder_ / "words").find("--file-selection\n"), 0U);
    viewer.key("Escape");
    std::filesystem::remove(folder_ / "words");
    write_text(folder_ / "cancel", ""); // nothing is chosen: the text stays for further editing
    ASSERT_NO_FATAL_FAILURE(ask(viewer));
    viewer.click("open.browse");
    ASSERT_TRUE(viewer.until([&] { return std::filesystem::exists(folder_ / "words"); }));
    ASSERT_TRUE(viewer.until([&] { return kill(std::stoi(read_text(folder_ / "pid")), 0) != 0; }));
    viewer.drawn();
    EXPECT_TRUE(viewer.has_widget("open.text"));
    EXPECT_EQ(viewer.text("open.said"), "");
    EXPECT_FALSE(viewer.has_widget("error.close"));
    std::filesystem::remove(folder_ / "go");
    std::filesystem::remove(folder_ / "words");
    viewer.click("open.browse");
    ASSERT_TRUE(viewer.until([&] { return std::filesystem::exists(folder_ / "words"); }));
    const int desktops = std::stoi(read_text(folder_ / "pid"));
    EXPECT_EQ(kill(desktops, 0), 0);
    viewer.key("Escape"); // closes the dialog and the desktop's dialog
    EXPECT_TRUE(viewer.until([&] { return kill(desktops, 0) != 0 && errno == ESRCH; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_open_test
