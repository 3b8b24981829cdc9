// Frames assigned to several executors in rotation: order, capacity, edits, refusals.
#include "base/error.hpp"
#include "pipeline/executor.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

namespace specklescope::round_robin_test {

std::shared_ptr<const Chain> chain_of(const std::string& text) {
    auto chain = std::make_shared<Chain>();
    chain->add(text);
    return chain;
}

/// Several frames in flight, each result delayed by `delay` calls of collect().
class LateExecutor final : public test::StandIn {
public:
    LateExecutor(int room, int delay) : room_(room), delay_(delay) {}
    std::string backend() const override { return "cpu"; }
    std::string device_name() const override { return "late by " + std::to_string(delay_); }
    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        if (refuses)
            throw UsageError("This one does not want to.");
        StandIn::set_chain(std::move(chain), version);
    }
    void submit(Frame frame, bool want_host, bool again) override {
        if (full)
            throw NoSlot("This one is full.");
        StandIn::submit(std::move(frame), want_host, again);
        Result& result = done_.back();
        const HostView pixels = result.image.host();
        result.device_image = borrowed_device_frame({pixels.data, pixels.shape, pixels.pitch}); // simulated
        if (leaves)
            result.memory = std::make_shared<NoMemory>();
    }
    std::optional<Result> collect(bool wait) override {
        const bool late = !done_.empty() && !wait && ++calls_ % (delay_ + 1) != 0;
        return late ? std::nullopt : StandIn::collect(wait);
    }
    int capacity() const override { return room_; }
    bool refuses = false, leaves = false, full = false;

private:
    struct NoMemory final : ResultMemory {
        int device() const override { return 1; }
        void give() override {}
        void used_on(void*) override {}
    };
    int room_, delay_, calls_ = 0;
};

TEST(Dealing, ResultsAreReturnedInOrder) {
    std::vector<std::unique_ptr<Executor>> members;
    for (const int delay : {3, 0, 7})
        members.push_back(std::make_unique<LateExecutor>(2, delay));
    const auto dealer = make_round_robin_executor(std::move(members));
    EXPECT_EQ(dealer->capacity(), 6);
    dealer->set_chain(chain_of("speckle:radius=1"), 5);
    std::mt19937_64 random = test::test_random(1);
    FrameRing ring({20, 10, 1, PixelType::u8}, 40, host_memory());
    std::uint64_t next = 0;
    const auto take = [&](bool wait) {
        if (const std::optional<Result> result = dealer->collect(wait)) {
            EXPECT_EQ(result->info.sequence, next++);
            EXPECT_EQ(result->info.version, 5U);
            EXPECT_TRUE(result->image);
        }
    };
    for (std::uint64_t i = 0; i < 200; ++i) {
        while (dealer->in_flight() == dealer->capacity())
            take(random() % 2 == 0);
        Frame frame = ring.acquire(std::chrono::seconds(1));
        ASSERT_TRUE(frame);
        for (int y = 0; y < 10; ++y)
            for (int x = 0; x < 20; ++x)
                frame.host().as<std::uint8_t>().row(y)[x] = static_cast<std::uint8_t>(random());
        frame.info().sequence = i;
        ASSERT_TRUE(dealer->wait_slot(std::chrono::seconds(1)));
        dealer->submit(std::move(frame), false, false);
        if (random() % 3 == 0)
            take(false);
    }
    while (dealer->in_flight() > 0)
        take(true);
    EXPECT_EQ(next, 200U);
}

TEST(Dealing, AChainIsSetOnAllOrNone) {
    std::vector<std::unique_ptr<Executor>> members;
    members.push_back(std::make_unique<LateExecutor>(1, 0));
    auto last = std::make_unique<LateExecutor>(1, 0);
    LateExecutor& stubborn = *last;
    members.push_back(std::move(last));
    const auto dealer = make_round_robin_executor(std::move(members));
    dealer->set_chain(chain_of("speckle:radius=1"), 1);
    stubborn.refuses = true;
    EXPECT_THROW(dealer->set_chain(chain_of("speckle:radius=2"), 2), UsageError);
    FrameRing ring({20, 10, 1, PixelType::u8}, 4, host_memory());
    for (int i = 0; i < 2; ++i) {
        dealer->submit(ring.try_acquire(), true, false);
        EXPECT_EQ(dealer->collect(true)->info.version, 1U) << "member " << i;
    }
}

TEST(Dealing, DevicePixelsStayWithResultsThatOwnTheirMemory) {
    for (const bool leaves : {true, false}) {
        std::vector<std::unique_ptr<Executor>> members;
        auto only = std::make_unique<LateExecutor>(1, 0);
        only->leaves = leaves;
        members.push_back(std::move(only));
        const auto dealer = make_round_robin_executor(std::move(members));
        FrameRing ring({20, 10, 1, PixelType::u8}, 1, host_memory());
        dealer->submit(ring.try_acquire(), true, false);
        const std::optional<Result> result = dealer->collect(true);
        ASSERT_TRUE(result && result->image);
        EXPECT_EQ(static_cast<bool>(result->device_image), leaves) << "a recorder has wanted the host's, too";
    }
}

TEST(Dealing, AFrameWithoutASlotIsLostWithTheMembersError) {
    std::vector<std::unique_ptr<Executor>> members;
    auto only = std::make_unique<LateExecutor>(1, 0);
    only->full = true;
    members.push_back(std::move(only));
    const auto dealer = make_round_robin_executor(std::move(members));
    FrameRing ring({20, 10, 1, PixelType::u8}, 1, host_memory());
    dealer->submit(ring.try_acquire(), true, false);
    try {
        dealer->collect(true);
        FAIL();
    } catch (const NoSlot& error) {
        EXPECT_STREQ(error.what(), "This one is full.");
    }
    EXPECT_EQ(dealer->in_flight(), 0);
}

TEST(Dealing, AStatefulChainIsRefused) {
    std::vector<std::unique_ptr<Executor>> members;
    members.push_back(make_host_executor(1));
    const auto dealer = make_round_robin_executor(std::move(members));
    for (const StageType& type : stage_types())
        if (type.stateful)
            EXPECT_THROW(dealer->set_chain(chain_of(std::string(type.name)), 1), UsageError) << type.name;
        else
            EXPECT_NO_THROW(dealer->set_chain(chain_of(std::string(type.name)), 1)) << type.name;
}

TEST(Dealing, GpusAreNamedByIndex) {
    EXPECT_EQ(parse_gpus("all", 3), (std::vector{0, 1, 2}));
    EXPECT_EQ(parse_gpus("0,2", 3), (std::vector{0, 2}));
    EXPECT_EQ(parse_gpus("1", 2), (std::vector{1}));
    for (const char* wrong : {"", "3", "-1", "0,0", "0,", ",0", "x", "0 1", "1.5"})
        EXPECT_THROW(parse_gpus(wrong, 3), UsageError) << wrong;
}

} // namespace specklescope::round_robin_test
