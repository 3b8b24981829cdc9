// Baseline of the image over an interval of a film: compared with the mean over a file of only these frames.
#include "config/baseline.hpp"
#include "session/session.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::baseline_interval_test {

using test::eventually;

class BaselineInterval : public testing::Test {
protected:
    static constexpr std::int64_t kFrame = 50'000'000; ///< ns, at 20 frames/s
    void SetUp() override {
        std::uint32_t state = 12345;
        for (int i = 0; i < 64 * 48 * 40; ++i) {
            state = state * 1664525U + 1013904223U;
            pixels_ += static_cast<char>(30 + (state >> 24) % 150);
        }
        Settings settings;
        settings.source = file("film.raw", 0, 40);
        settings.chain.add("speckle:radius=2,output=contrast");
        session_ = std::make_unique<Session>(std::move(settings));
        session_->start([] {});
    }
    /// Frames [from, to) of the film as a file of their own.
    std::string file(const std::string& name, std::size_t from, std::size_t to) const {
        write_text(folder_ / name, pixels_.substr(from * 64 * 48, (to - from) * 64 * 48));
        return "raw:" + (folder_ / name) + "?width=64&height=48&format=gray8&rate=20";
    }
    std::vector<float> mean_over(std::size_t from, std::size_t to) const {
        Settings settings = session_->settings_now();
        settings.program.set("baseline", file("part.raw", from, to));
        take_baseline(settings);
        return settings.baseline->values();
    }
    bool taken(std::uint64_t frames) {
        return eventually([&] {
            session_->poll();
            const auto& image = session_->picture_baseline.image();
            return image && image->frames() == frames && !session_->whole_film.running();
        });
    }
    static bool same(const std::vector<float>& a, const std::vector<float>& b) {
        return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    }
    TemporaryFolder folder_;
    std::string pixels_;
    std::unique_ptr<Session> session_;
};

TEST_F(BaselineInterval, TheImageIsTheMeanOverItsFramesAndFollowsIt) {
    session_->regions.add(RegionShape::rectangle, {{4, 4}, {20, 20}});
    ASSERT_TRUE(eventually([&] {
        session_->poll();
        return session_->traces().overview().film && session_->pipeline()->finished();
    }));
    session_->record_edits();
    session_->intervals = {{"rest", 10 * kFrame, 19 * kFrame, true}};
    session_->record_edits();
    session_->take_baseline_image();
    ASSERT_TRUE(taken(10)) << session_->notices().list().back().text;
    session_->record_edits();
    const auto first = session_->picture_baseline.image();
    EXPECT_TRUE(same(first->values(), mean_over(10, 20)));
    session_->intervals[0].to_ns = 39 * kFrame; // to the last frame
    session_->record_edits();
    ASSERT_TRUE(taken(30)) << session_->notices().list().back().text;
    EXPECT_TRUE(same(session_->picture_baseline.image()->values(), mean_over(10, 40)));
    session_->record_edits();
    session_->undo();
    EXPECT_EQ(session_->picture_baseline.image(), first) << "it came back with its interval";
    EXPECT_EQ(session_->intervals[0].to_ns, 19 * kFrame);
    session_->record_edits();
    EXPECT_FALSE(session_->whole_film.running()) << "it need not be taken again";
}

} // namespace specklescope::baseline_interval_test
