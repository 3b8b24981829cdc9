// Keys and clicks between two slow frames have the same effect as at sixty frames a second.
#include "ui/actions/key_words.hpp"
#include "ui/canvas/input_queue.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <gtest/gtest.h>

namespace specklescope::input_queue_test {

/// Dear ImGui without a window, in frames of a quarter of a second: a field above a button.
class SlowFrames : public testing::Test {
protected:
    SlowFrames() {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {400, 300};
        io.DeltaTime = 0.25F;
        unsigned char* pixels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
        io.KeyMap[ImGuiKey_Enter] = GLFW_KEY_ENTER;
        io.KeyMap[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
        io.KeyMap[ImGuiKey_Backspace] = GLFW_KEY_BACKSPACE;
        io.KeyMap[ImGuiKey_A] = GLFW_KEY_A;
        frame();
        frame();
    }
    ~SlowFrames() override { ImGui::DestroyContext(); }

    void frame() {
        ImGuiIO& io = ImGui::GetIO();
        io.MousePos = {390, 290}; // current mouse position
        queue_.feed(io);
        ImGui::NewFrame();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({200, 200});
        ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
        if (focus_)
            ImGui::SetKeyboardFocusHere();
        focus_ = false;
        entered_ += ImGui::InputText("##field", &text_, ImGuiInputTextFlags_EnterReturnsTrue);
        typing_ = ImGui::IsItemActive();
        clicks_ += ImGui::Button("button", {100, 40});
        x_ = (ImGui::GetItemRectMin().x + ImGui::GetItemRectMax().x) / 2;
        y_ = (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2;
        double_clicks_ += ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0);
        ImGui::End();
        ImGui::EndFrame();
    }
    void settle() {
        while (!queue_.empty())
            frame();
        frame();
    }
    void tap(int key, int modifiers = 0) {
        queue_.key(key, GLFW_PRESS, modifiers);
        queue_.key(key, GLFW_RELEASE, modifiers);
    }
    void type(const char* text) {
        for (; *text; ++text) {
            queue_.key(*text >= 'a' ? *text - 'a' + 'A' : *text, GLFW_PRESS, 0);
            queue_.character(static_cast<unsigned>(*text));
            queue_.key(*text >= 'a' ? *text - 'a' + 'A' : *text, GLFW_RELEASE, 0);
        }
    }
    void click(double seconds) {
        queue_.button(0, true, x_, y_, seconds);
        queue_.button(0, false, x_, y_, seconds + 0.02);
    }

    InputQueue queue_;
    std::string text_ = "old";
    bool focus_ = false, typing_ = false;
    int entered_ = 0, clicks_ = 0, double_clicks_ = 0;
    float x_ = 0, y_ = 0;
};

TEST_F(SlowFrames, WordsAndTheKeyThatEndsThemAreAllThere) {
    focus_ = true;
    frame();
    frame();
    ASSERT_TRUE(typing_);
    queue_.key(GLFW_KEY_LEFT_CONTROL, GLFW_PRESS, 0);
    tap(GLFW_KEY_A, GLFW_MOD_CONTROL);
    queue_.key(GLFW_KEY_LEFT_CONTROL, GLFW_RELEASE, GLFW_MOD_CONTROL);
    type("news");
    tap(GLFW_KEY_BACKSPACE);
    tap(GLFW_KEY_BACKSPACE);
    type("xt");
    tap(GLFW_KEY_ENTER);
    settle();
    EXPECT_EQ(text_, "next");
    EXPECT_EQ(entered_, 1);
    EXPECT_FALSE(typing_);
}

TEST_F(SlowFrames, FastTypingTakesOneFrame) {
    focus_ = true;
    frame();
    frame();
    text_.clear();
    type("a whole line");
    frame();
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(queue_.take_keys().size(), 24U) << "a key and a character each";
}

TEST_F(SlowFrames, AKeyHasItsModifierAlsoIfThatIsReleasedFirst) {
    queue_.key(GLFW_KEY_LEFT_SHIFT, GLFW_PRESS, 0);
    frame();
    queue_.key(GLFW_KEY_TAB, GLFW_PRESS, GLFW_MOD_SHIFT);
    queue_.key(GLFW_KEY_LEFT_SHIFT, GLFW_RELEASE, GLFW_MOD_SHIFT);
    queue_.key(GLFW_KEY_TAB, GLFW_RELEASE, 0);
    frame();
    EXPECT_TRUE(ImGui::GetIO().KeyShift);
    settle();
    EXPECT_FALSE(ImGui::GetIO().KeyShift);
}

TEST_F(SlowFrames, AClickCountsWhereItWasMade) {
    click(1);
    settle();
    EXPECT_EQ(clicks_, 1);
}

TEST_F(SlowFrames, ButtonsThatDearImGuiDoesNotKnowAreLeftOut) {
    for (const int button : {-1, 5, 7}) {
        queue_.button(button, true, x_, y_, 1);
        EXPECT_TRUE(queue_.empty()) << button;
    }
    queue_.button(4, true, x_, y_, 1);
    EXPECT_FALSE(queue_.empty());
}

TEST_F(SlowFrames, TwoClicksAreADoubleClickByTheHandsClock) {
    click(1);
    click(1.2);
    settle();
    EXPECT_EQ(clicks_, 2);
    EXPECT_EQ(double_clicks_, 1);
    click(5);
    click(5.5);
    settle();
    EXPECT_EQ(clicks_, 4);
    EXPECT_EQ(double_clicks_, 1);
}

TEST_F(SlowFrames, AnEscapeEndsTheTypingAndTheNextLetterIsAShortcut) {
    focus_ = true;
    frame();
    frame();
    tap(GLFW_KEY_ESCAPE);
    type("m");
    frame();
    EXPECT_EQ(queue_.take_keys().size(), 1U) << "the letter waits until the field is left";
    settle();
    EXPECT_FALSE(typing_);
    EXPECT_EQ(text_, "old");
    EXPECT_EQ(queue_.take_keys().size(), 2U);
}

TEST_F(SlowFrames, WhatFollowsAShortcutThatOpensAFieldIsForTheField) {
    queue_.character('o');
    type("news");
    tap(GLFW_KEY_ENTER);
    frame();
    const std::vector<KeyPress> keys = queue_.take_keys();
    ASSERT_EQ(keys.size(), 10U) << "the Enter too came in the first frame";
    ASSERT_EQ(keys[0].character, 'o');
    queue_.put_back({keys.begin() + 1, keys.end()}, ImGui::GetIO());
    queue_.wait_for_field();
    text_.clear();
    frame();
    EXPECT_TRUE(queue_.take_keys().empty()) << "nothing is fed before the field is there";
    focus_ = true;
    frame();
    settle();
    EXPECT_EQ(text_, "news");
    EXPECT_EQ(entered_, 1);
    EXPECT_EQ(queue_.take_keys().size(), 5U) << "four letters and the Enter, once more";
    EXPECT_FALSE(ImGui::GetIO().KeysDown[GLFW_KEY_ENTER]) << "let go";
}

TEST_F(SlowFrames, AFieldThatNeverComesHoldsNothingUpForLong) {
    queue_.wait_for_field();
    type("m");
    for (int i = 0; i < 10; ++i)
        frame();
    EXPECT_EQ(queue_.take_keys().size(), 2U);
    EXPECT_TRUE(queue_.empty());
}

/// In the compiler's encoding.
TEST(Chord, ACharacterOfAnyKeyboardIsItsUtf8) {
    for (const auto& [character, text] :
         std::initializer_list<std::pair<char32_t, const char*>>{{U'?', "?"},
                                                                 {U'7', "7"},
                                                                 {U'é', "é"},
                                                                 {U'\u07ff', "\u07ff"},
                                                                 {U'\u0800', "\u0800"},
                                                                 {U'€', "€"},
                                                                 {U'語', "語"},
                                                                 {U'\uffee', "\uffee"},
                                                                 {U'\U0001f52c', "\U0001f52c"},
                                                                 {U'\U0010fffd', "\U0010fffd"}}) {
        const std::optional<KeyChord> chord = chord_of({0, static_cast<unsigned>(character), 0});
        ASSERT_TRUE(chord) << text;
        EXPECT_EQ(chord->key, text);
    }
    EXPECT_FALSE(chord_of({0, ' ', 0}));
    const std::optional<KeyChord> large = chord_of({0, 'Q', 0}), small = chord_of({0, 'q', 0});
    ASSERT_TRUE(large && small);
    EXPECT_EQ(to_string(*large), "Shift+Q");
    EXPECT_EQ(to_string(*small), "Q");
}

TEST_F(SlowFrames, TheProgramHearsEveryTap) {
    for (int i = 0; i < 3; ++i)
        tap(GLFW_KEY_RIGHT);
    int heard = 0;
    for (int i = 0; i < 8; ++i) {
        frame();
        heard += static_cast<int>(queue_.take_keys().size());
    }
    EXPECT_EQ(heard, 3);
    EXPECT_TRUE(queue_.empty());
}

} // namespace specklescope::input_queue_test
