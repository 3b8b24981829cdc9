// Sentences name the current keys of actions. They leave the key out if the action has no key.
#include "ui/actions/key_words.hpp"

#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "ui/panels/overlay.hpp"
#include "ui/regions/region_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::key_words_test {

using test::eventually;

KeyBindings with(std::initializer_list<std::pair<Action, const char*>> changes) {
    KeyBindings keys;
    for (const auto& [action, key] : changes)
        keys.set(action, *key == '\0' ? std::vector<KeyChord>() : std::vector{parse_chord(key)});
    return keys;
}

class KeyWords : public testing::Test {
protected:
    std::string film() {
        std::string pixels;
        for (int i = 0; i < 64 * 48 * 30; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        return "raw:" + (folder_ / "film.raw") + "?width=64&height=48&format=gray8&rate=20";
    }
    static Settings settings_of(const std::string& source, const KeyBindings& keys) {
        Settings settings;
        settings.source = source;
        settings.keys = keys;
        settings.program.set_text("backend", "cpu");
        settings.chain.add("speckle");
        return settings;
    }
    TemporaryFolder folder_;
};

TEST_F(KeyWords, OfSeveralTheFirstThatMeansItNow) {
    const KeyBindings keys;
    EXPECT_EQ(key_of(keys, Action::step), "→");
    EXPECT_EQ(key_of(keys, Action::step, true), ".") << "the arrow moves the region";
    EXPECT_EQ(key_of(keys, Action::open), "O");
    EXPECT_EQ(key_of(with({{Action::open, ""}}), Action::open), "");
    EXPECT_EQ(key_words("press ", "O", "."), "press O.");
    EXPECT_EQ(key_words("press ", "", "."), "");
}

TEST_F(KeyWords, TheNoticeOfAPauseNamesThem) {
    for (const auto& [keys, region, wanted] :
         {std::tuple{KeyBindings(), false, "Space resumes, ← and → step one frame."},
          {KeyBindings(), true, "Space resumes, , and . step one frame."},
          {with({{Action::pause, "Q"}, {Action::step, "X"}, {Action::step_back, "W"}}), false,
           "Q resumes, W and X step one frame."},
          {with({{Action::pause, ""}, {Action::step_back, ""}}), false, "→ steps one frame."},
          {with({{Action::pause, ""}, {Action::step_back, ""}, {Action::step, ""}}), false, ""}}) {
        Session session(settings_of(film(), keys));
        session.start([] {});
        if (region) {
            session.regions.set_picture(64, 48);
            session.regions.add(RegionShape::rectangle, {{5, 5}, {20, 20}});
            ASSERT_TRUE(session.regions.selected());
        }
        session.pipeline()->pause(true);
        ASSERT_TRUE(eventually([&] { return banner_of(session).title == "Paused"; }));
        EXPECT_EQ(banner_of(session).text, wanted);
    }
}

TEST_F(KeyWords, SoDoTheOthers) {
    const KeyBindings other = with({{Action::pause, "Q"}, {Action::open, "Ctrl+B"}}),
                      none = with({{Action::pause, ""}, {Action::open, ""}});
    EXPECT_EQ(banner_of(Session(settings_of("", other))).text,
              "Drop a file on the window, or press Ctrl B to open one.");
    EXPECT_EQ(banner_of(Session(settings_of("", none))).text, "Drop a file on the window.");
    for (const auto& [keys, wanted] :
         {std::pair{other, "Q plays it again, Ctrl B opens another."}, {none, ""}}) {
        Session session(settings_of(film(), keys));
        session.start([] {});
        ASSERT_TRUE(eventually([&] {
            Result taken;
            (void)session.pipeline()->mailbox().take(taken);
            return banner_of(session).title.starts_with("End of");
        }));
        EXPECT_EQ(banner_of(session).text, wanted);
    }
}

TEST_F(KeyWords, SoDoesTheLineThatSaysHowToDraw) {
    const Session plain(settings_of("", {}));
    Session other(settings_of("", with({{Action::cancel, "Q"}, {Action::finish_shape, ""}})));
    RegionTools tools;
    tools.choose(RegionTool::polygon);
    EXPECT_EQ(tools.status(plain),
              "Polygon: click its corners; Enter or a double click closes it. Esc: done.");
    EXPECT_EQ(tools.status(other), "Polygon: click its corners; a double click closes it. Q: done.");
    tools.choose(RegionTool::rectangle);
    EXPECT_EQ(tools.status(other), "Rectangle: drag over the image. Shift: square. Q: done.");
}

} // namespace specklescope::key_words_test
