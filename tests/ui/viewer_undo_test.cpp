// Undo in the real window: keys, sliders, the list of edits.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_undo_test {

class ViewerUndoTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        if (IsSkipped())
            return;
        std::string pixels;
        for (int i = 0; i < 64 * 48 * 10; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        viewer_ =
            std::make_unique<Viewer>(*desktop_, folder_,
                                     with({"raw:film.raw?width=64&height=48&format=gray8&rate=20",
                                           "--no-remember", "--stage", "speckle:radius=2,output=contrast"}));
        ASSERT_TRUE(viewer_->shows_picture()) << viewer_->log();
        ASSERT_TRUE(viewer_->until([&] { return viewer_->text("banner").starts_with("End of"); }));
    }
    bool computed(const std::string& text) const {
        return viewer_->until([&] { return viewer_->text("chain").find(text) != std::string::npos; });
    }
    bool shows(const std::string& name, const std::string& text) const {
        return viewer_->until([&] { return viewer_->text(name) == text; });
    }
    bool at(double entry) const {
        return viewer_->until([&] { return viewer_->number("history.at") == entry; });
    }
    std::unique_ptr<Viewer> viewer_;
};

TEST_F(ViewerUndoTest, KeysUndoParametersColoursAndLayout) {
    const std::string colours = viewer_->text("colormap");
    viewer_->key("greater");
    ASSERT_TRUE(computed("radius=3"));
    viewer_->key("m");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->text("colormap") != colours; }));
    viewer_->key("2");
    ASSERT_TRUE(shows("layout", "raw"));
    ASSERT_TRUE(at(3));
    viewer_->key("ctrl+z");
    EXPECT_TRUE(shows("layout", "processed"));
    viewer_->key("ctrl+z");
    EXPECT_TRUE(shows("colormap", colours));
    viewer_->key("ctrl+z");
    EXPECT_TRUE(computed("radius=2"));
    EXPECT_TRUE(at(0));
    viewer_->key("ctrl+z");
    EXPECT_TRUE(shows("status", "There is nothing to undo."));
    viewer_->key("ctrl+y");
    EXPECT_TRUE(computed("radius=3"));
    viewer_->key("ctrl+shift+z");
    EXPECT_TRUE(viewer_->until([&] { return viewer_->text("colormap") != colours; }));
    EXPECT_TRUE(at(2));
    EXPECT_EQ(viewer_->quit(), 0) << viewer_->log();
}

TEST_F(ViewerUndoTest, DraggingASliderIsOneEditAndTheListReturnsToAny) {
    viewer_->drag("speckle.radius", 0.2, 0.7);
    ASSERT_TRUE(at(1));
    const std::string dragged = viewer_->text("history.edit");
    EXPECT_TRUE(dragged.starts_with("speckle radius 2 → ")) << dragged;
    viewer_->key("bracketright");
    ASSERT_TRUE(at(2));
    viewer_->key("ctrl+h");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->number("palette.found") == 3; }));
    viewer_->key("Down");
    ASSERT_TRUE(shows("palette.first", dragged));
    viewer_->key("Down");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->text("palette.first") != dragged; }));
    viewer_->key("Return");
    EXPECT_TRUE(computed("radius=2"));
    EXPECT_TRUE(at(0));
    EXPECT_EQ(viewer_->quit(), 0) << viewer_->log();
}

} // namespace specklescope::viewer_undo_test
