// Frames on a caller's pixels, and results in a caller's memory.
#include "pipeline/executor.hpp"
#include "pipeline/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace borrowed_frame_test {

using namespace specklescope;

constexpr Shape kShape{5, 3, 1, PixelType::u16};

TEST(BorrowedFrame, UsesThePixelsAndReleasesTheirOwnerLast) {
    std::array<std::uint16_t, 7 * 3> pixels{};
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = owner;
    Frame frame = borrowed_frame({reinterpret_cast<std::byte*>(pixels.data()), kShape, 14}, std::move(owner));
    frame.info().sequence = 7;
    {
        const Frame copy = frame;
        EXPECT_EQ(copy.host().data, reinterpret_cast<std::byte*>(pixels.data()));
        EXPECT_EQ(copy.host().pitch, 14U);
        EXPECT_EQ(copy.shape(), kShape);
        EXPECT_EQ(copy.space(), Space::host);
        EXPECT_EQ(copy.info().sequence, 7U);
        EXPECT_FALSE(copy.lent());
        frame.reset();
        EXPECT_FALSE(alive.expired());
    }
    EXPECT_TRUE(alive.expired());
}

TEST(BorrowedFrame, AResultIsWrittenIntoTheLentFrame) {
    std::vector<std::uint16_t> in(15, 100);
    std::vector<float> out(3 * 8, -1);
    const Shape result{5, 3, 1, PixelType::f32};
    auto chain = std::make_shared<Chain>();
    chain->add("speckle:output=contrast,radius=1");
    const auto executor = make_host_executor(1);
    executor->set_chain(chain, 1);
    const auto run = [&](const HostView& place) {
        executor->lend_result(borrowed_frame(place));
        executor->submit(borrowed_frame({reinterpret_cast<std::byte*>(in.data()), kShape}), true);
        const Result made = executor->collect(true).value();
        return made.image.host().data;
    };
    auto* const bytes = reinterpret_cast<std::byte*>(out.data());
    EXPECT_EQ(run({bytes, result, 32}), bytes);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 8; ++x)
            EXPECT_EQ(out[static_cast<std::size_t>(y * 8 + x)], x < 5 ? 0 : -1)
                << "a constant picture has no contrast";
    out.assign(out.size(), -1);
    EXPECT_NE(run({bytes, {4, 3, 1, PixelType::f32}, 32}), bytes) << "the shape is another";
    EXPECT_EQ(out, std::vector<float>(24, -1));
    executor->submit(borrowed_frame({reinterpret_cast<std::byte*>(in.data()), kShape}), true);
    EXPECT_NE(executor->collect(true)->image.host().data, bytes) << "it was lent for one";
}

} // namespace borrowed_frame_test
