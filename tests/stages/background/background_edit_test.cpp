// Dark frame and flat field in a chain that is edited between frames.
#include "pipeline/executor.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

namespace specklescope::test::background_edit_test {

TestImage<std::uint16_t> noise(double low, double high, std::mt19937_64& random) {
    return uniform_image<std::uint16_t>(23, 7, low, high, random);
}

/// A chain in an executor with edits of a user.
class EditedBackground {
public:
    void use(const std::string& text) {
        auto chain = std::make_shared<Chain>();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(" | ", at), text.size());
            chain->add(text.substr(at, end - at));
            at = end + 3;
        }
        executor_->set_chain(std::move(chain), ++version_);
    }
    Result run(const TestImage<std::uint16_t>& frame) {
        Frame slot = ring_.try_acquire();
        copy_pixels(frame.view(), slot.host());
        executor_->submit(std::move(slot), true);
        return *executor_->collect(true);
    }

private:
    std::unique_ptr<Executor> executor_ = make_host_executor(1);
    FrameRing ring_{{23, 7, 1, PixelType::u16}, 2, host_memory()};
    std::uint64_t version_ = 0;
};

TEST(BackgroundEdits, ChoosingTheFlatFieldKeepsTheDarkFrame) {
    std::mt19937_64 random = test_random(10);
    const auto even = [](double value) {
        return TestImage<std::uint16_t>(23, 7, 0, 1).fill([&] { return value; });
    };
    const auto at = [](const Result& result) { return result.image.host().as<float>().row(3)[4]; };
    const auto dark = noise(40, 60, random);
    EditedBackground stage;
    stage.use("background:dark=capture,frames=1");
    Result result = stage.run(dark);
    EXPECT_TRUE(result.warming_up()) << "this frame is the dark one";
    EXPECT_EQ(*result.notes, StageNotes{""});
    EXPECT_EQ(at(result), 0);
    stage.use("background:dark=capture,flat=capture,frames=2");
    result = stage.run(even(1000));
    EXPECT_EQ(*result.notes, StageNotes{"takes the flat field"});
    EXPECT_EQ(result.warmup.frames, 1);
    EXPECT_EQ(at(result), 1000.0F - static_cast<float>(dark.at(4, 3)));
    stage.use("background:flat=capture,frames=3"); // the current capture starts again
    EXPECT_EQ(stage.run(even(1000)).warmup.wanted, 3);
    stage.use("background:dark=none");
    result = stage.run(even(500));
    EXPECT_EQ(result.image.host().as<std::uint16_t>().row(3)[4], 500);
    stage.use("background:dark=none,black=64");
    EXPECT_EQ(at(stage.run(even(500))), 436);
    stage.use("background:dark=none");
    stage.use("background:dark=capture,frames=1");
    result = stage.run(even(500));
    EXPECT_TRUE(result.warmup.done()) << "not taken in use is not lost";
    EXPECT_EQ(at(result), 500.0F - static_cast<float>(dark.at(4, 3)));
    stage.use("average:frames=3");
    stage.use("background:dark=capture,frames=1");
    EXPECT_EQ(at(stage.run(even(500))), 0) << "another stage stood in its place";
}

/// Rows with the same pitch do not make another size the same.
TEST(BackgroundEdits, CapturesOfAnotherSizeAreNotUsed) {
    std::mt19937_64 random = test_random(12);
    const auto at = [](const Result& result) { return result.image.host().as<float>().row(3)[4]; };
    EditedBackground stage;
    stage.use("crop:width=23,height=5 | background:dark=capture,frames=1");
    EXPECT_EQ(at(stage.run(noise(40, 60, random))), 0);
    stage.use("crop:width=23,height=7 | background:dark=capture,frames=1");
    Result result = stage.run(noise(40, 60, random));
    EXPECT_EQ(result.shape().height, 7);
    EXPECT_EQ(at(result), 0) << "this frame is the dark one";
    const auto next = noise(100, 200, random);
    stage.use("crop:width=20,height=7 | background:dark=capture,frames=1");
    result = stage.run(next);
    EXPECT_EQ(result.shape().width, 20);
    EXPECT_EQ(at(result), 0);
}

/// Black levels that are added and removed between frames, before another stage and after one.
TEST(BackgroundEdits, AnActivatingEditChangesThePixelTypeBetweenFrames) {
    std::mt19937_64 random = test_random(11);
    for (const auto& [chain, type] : {std::pair{std::string("background"), PixelType::u16},
                                      {"background | flip:direction=horizontal", PixelType::u16},
                                      {"flip:direction=horizontal | background", PixelType::u16},
                                      {"background | flip:direction=horizontal | background", PixelType::u16},
                                      {"background | background", PixelType::u16},
                                      {"background | average:frames=1", PixelType::f32}}) {
        EditedBackground stage;
        const bool flipped = chain.find("flip") != std::string::npos;
        for (const char* edit : {"", ":black=3", ":black=5", "", ":black=7"}) {
            std::string text = chain;
            text.insert(text.find("background") + 10, edit); // the first one
            stage.use(text);
            const double black = *edit == '\0' ? 0 : edit[7] - '0';
            for (int t = 0; t < 2; ++t) {
                const auto frame = noise(100, 4000, random);
                const Result result = stage.run(frame);
                ASSERT_EQ(result.shape().type, black > 0 ? PixelType::f32 : type) << text;
                const double expected = frame.at(flipped ? 22 - 4 : 4, 3) - black;
                const ConstHostView image = result.image.host();
                const double got = result.shape().type == PixelType::f32
                                       ? static_cast<double>(image.as<float>().row(3)[4])
                                       : image.as<std::uint16_t>().row(3)[4];
                EXPECT_EQ(got, expected) << text;
                EXPECT_EQ(result.notes->size(), text.find('|') == std::string::npos
                                                    ? 1U
                                                    : 2U + (text.find('|') != text.rfind('|')));
            }
        }
    }
}

} // namespace specklescope::test::background_edit_test
