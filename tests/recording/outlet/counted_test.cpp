// Each picture that an outlet was given is counted once: shown, dropped or left out.
#include "recording/outlet/outlet.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>

namespace specklescope {
namespace {

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

SinkStatus after(std::uint64_t pictures, bool watched) {
    const auto outlet =
        std::make_shared<Outlet>(std::make_unique<CountingEnd>(watched),
                                 std::make_shared<const LiveLook>(ScreenLook{}), ScreenMarks{});
    Maker maker(kSmall);
    const auto sink = Outlet::feed(outlet);
    sink->open(stream_of(kSmall));
    for (std::uint64_t i = 0; i < pictures; ++i)
        sink->push(maker.make(i), false);
    sink->close();
    EXPECT_TRUE(test::eventually([&] {
        const SinkStatus status = outlet->status();
        return status.written + status.dropped + status.left_out == pictures;
    })) << watched;
    return outlet->status();
}

TEST(Outlet, CountsEachPictureOnce) {
    const SinkStatus unseen = after(20, false);
    EXPECT_EQ(unseen.left_out, 20U);
    const SinkStatus seen = after(20, true);
    EXPECT_EQ(seen.written + seen.dropped + seen.left_out, 20U);
}

} // namespace
} // namespace specklescope
