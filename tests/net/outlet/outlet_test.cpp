// An output counts each image once (shown, dropped or left out). It requests pixels from the device only
// with viewers, and often enough for a viewer that connects after the end.
#include "net/outlet.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>

namespace specklescope::outlet_test {

const Shape kSmall{8, 6, 1, PixelType::u8};

class CountingEnd final : public OutletEnd {
public:
    explicit CountingEnd(bool watched) : watched_(watched) {}
    std::string name() const override { return "test"; }
    bool watched() const override { return watched_; }
    bool show(const RecordedFrame&) override { return ++shown_ % 2 == 0; }
    void show_again() override {}

private:
    const bool watched_;
    int shown_ = 0;
};

std::uint64_t counted(const SinkStatus& status) { return status.written + status.dropped + status.left_out; }

/// `in_turn`: each is shown before the next one arrives.
SinkStatus after(std::uint64_t pictures, bool watched, bool in_turn) {
    const auto outlet =
        std::make_shared<Outlet>(std::make_unique<CountingEnd>(watched),
                                 std::make_shared<const LiveLook>(ScreenLook{}), ScreenMarks{});
    Maker maker(kSmall);
    const auto sink = Outlet::feed(outlet);
    sink->open(stream_of(kSmall));
    for (std::uint64_t i = 0; i < pictures; ++i) {
        sink->push(maker.make(i), false);
        if (in_turn) {
            EXPECT_TRUE(test::eventually([&] { return counted(outlet->status()) == i + 1; })) << i;
        }
    }
    sink->close();
    EXPECT_TRUE(test::eventually([&] { return counted(outlet->status()) == pictures; })) << watched;
    return outlet->status();
}

TEST(Outlet, CountsEachPictureOnce) {
    EXPECT_EQ(after(20, false, false).left_out, 20U);
    EXPECT_EQ(counted(after(20, true, false)), 20U);
    const SinkStatus seen = after(20, true, true);
    EXPECT_EQ(seen.written, 10U);
    EXPECT_EQ(seen.dropped, 10U);
}

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
    /// As in the pipeline: with pixels if they were requested.
    void give(Sink& sink) {
        const bool wanted = sink.wants_host_image();
        downloads_ += wanted ? 1 : 0;
        Result result = maker_.make(number_++);
        if (!wanted)
            result.image = {};
        sink.push(result, false);
    }
    /// A viewer connects and gets an image although no new one arrives.
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
    constexpr int kFrames = 1000; // at full speed: less than a second for two of them
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

} // namespace specklescope::outlet_test
