// What an outlet asks the device for: pixels while somebody watches, and enough for whoever comes when all is
// over.
#include "recording/outlet/outlet.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>

namespace specklescope::watched_test {

const Shape kSmall{8, 6, 1, PixelType::u8};

struct Seen {
    std::atomic<bool> watched{false};
    std::atomic<int> pictures{0};
    std::function<void()> comes;
};

class End final : public OutletEnd {
public:
    explicit End(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}
    std::string name() const override { return "test"; }
    bool watched() const override { return seen_->watched; }
    bool show(const RecordedFrame&) override {
        ++seen_->pictures;
        return true;
    }
    void show_again() override {}
    void tell(const std::function<void()>& on_watched) override { seen_->comes = on_watched; }

private:
    const std::shared_ptr<Seen> seen_;
};

class OutletPixels : public testing::Test {
protected:
    std::shared_ptr<Sink> feed(bool live) const {
        StreamInfo stream = stream_of(kSmall);
        stream.source.live = live;
        auto made = Outlet::feed(outlet_);
        made->open(stream);
        return made;
    }
    /// As the pipeline gives it: with pixels where they were asked for.
    void give(Sink& sink) {
        const bool wanted = sink.wants_host_image();
        downloads_ += wanted ? 1 : 0;
        Result result = maker_.make(number_++);
        if (!wanted)
            result.image = {};
        sink.push(result, false);
    }
    /// Somebody comes, and sees a picture although nothing new is given.
    void expect_a_picture() const {
        ASSERT_EQ(seen_->pictures, 0);
        seen_->watched = true;
        seen_->comes();
        EXPECT_TRUE(test::eventually([&] { return seen_->pictures == 1; }));
    }
    const std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
    const std::shared_ptr<Outlet> outlet_ = std::make_shared<Outlet>(
        std::make_unique<End>(seen_), std::make_shared<const LiveLook>(ScreenLook{}), ScreenMarks{});
    Maker maker_{kSmall};
    std::uint64_t number_ = 0;
    int downloads_ = 0;
};

TEST_F(OutletPixels, OfACameraThatNobodyWatchesAreAskedForNowAndThen) {
    const auto sink = feed(true);
    constexpr int kFrames = 1000; // as fast as they come: they take less than a second for each two of them
    for (int i = 0; i < kFrames; ++i)
        give(*sink);
    EXPECT_GE(downloads_, 1);
    EXPECT_LT(downloads_, kFrames / 2);
    const SinkStatus status = outlet_->status();
    EXPECT_EQ(status.left_out, static_cast<std::uint64_t>(kFrames - 1)) << "all but the one that is kept";
    expect_a_picture();
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(sink->wants_host_image()) << "while it is watched, each";
    sink->close();
}

TEST_F(OutletPixels, OfAFilmAreAskedForAlwaysSinceItMayStandStill) {
    const auto sink = feed(false);
    for (int i = 0; i < 50; ++i)
        give(*sink);
    EXPECT_EQ(downloads_, 50);
    expect_a_picture();
    sink->close();
}

} // namespace specklescope::watched_test
