// Each picture that an outlet was given is counted once: shown, dropped or left out.
#include "recording/outlet/outlet.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>

namespace specklescope::counted_test {

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

/// `in_turn`: each is shown before the next one comes.
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

} // namespace specklescope::counted_test
