// A slot is never refilled while a handle exists; handles outlive the ring.
#include "base/error.hpp"
#include "pipeline/frame.hpp"

#include "tests/support/scripted_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

// An impossible allocation must be refused under the sanitizers too, instead of ending the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace specklescope::frame_ring_test {

using namespace std::chrono_literals;
using test::paint;
using test::shows;

/// Host memory that counts allocated blocks.
class CountedMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        ++blocks;
        return host_memory()->allocate(bytes);
    }
    void release(void* memory) noexcept override {
        --blocks;
        host_memory()->release(memory);
    }
    Space space() const override { return Space::host; }
    std::atomic<int> blocks{0};
};

constexpr Shape kOdd{13, 7, 3, PixelType::u16};

TEST(FrameRing, LendsEverySlotOnceAndThenNone) {
    FrameRing ring(kOdd, 7, host_memory());
    EXPECT_EQ(ring.slots(), 7);
    EXPECT_EQ(ring.free_slots(), 7);
    std::vector<Frame> held;
    std::set<const std::byte*> places;
    for (int i = 0; i < 7; ++i) {
        held.push_back(ring.try_acquire());
        ASSERT_TRUE(held.back());
        places.insert(held.back().host().data);
    }
    EXPECT_EQ(places.size(), 7U);
    EXPECT_EQ(ring.free_slots(), 0);
    EXPECT_FALSE(ring.try_acquire());
    EXPECT_FALSE(ring.acquire(1ms));
    held.pop_back();
    EXPECT_EQ(ring.free_slots(), 1);
    EXPECT_TRUE(ring.try_acquire());
}

TEST(FrameRing, RowsStartOn64BytesAndDoNotOverlap) {
    for (const Shape& shape : {Shape{1, 1, 1, PixelType::u8}, kOdd, Shape{631, 3, 1, PixelType::f32}}) {
        FrameRing ring(shape, 3, host_memory());
        std::vector<std::pair<const std::byte*, const std::byte*>> rows;
        std::vector<Frame> frames;
        for (int i = 0; i < 3; ++i) {
            frames.push_back(ring.try_acquire());
            const HostView view = frames.back().host();
            EXPECT_EQ(view.shape, shape);
            EXPECT_GE(view.pitch, shape.row_bytes());
            for (int y = 0; y < shape.height; ++y) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.row(y)) % 64, 0U);
                rows.emplace_back(view.row(y), view.row(y) + shape.row_bytes());
            }
            // checked by ASan
            std::memset(view.data, i, view.pitch * static_cast<std::size_t>(shape.height));
        }
        std::sort(rows.begin(), rows.end());
        for (std::size_t i = 1; i < rows.size(); ++i)
            EXPECT_LE(rows[i - 1].second, rows[i].first);
    }
}

TEST(FrameRing, ANewFrameHasNoMetadataOfTheOldOne) {
    FrameRing ring(kOdd, 1, host_memory());
    {
        const Frame frame = ring.try_acquire();
        frame.info().sequence = 77;
        frame.info().exposure_ms = 5;
        frame.info().version = 3;
    }
    const Frame frame = ring.try_acquire();
    EXPECT_EQ(frame.info().sequence, 0U);
    EXPECT_EQ(frame.info().version, 0U);
    EXPECT_TRUE(std::isnan(frame.info().exposure_ms));
}

TEST(FrameRing, TheLastHandleOfManyReturnsTheSlot) {
    FrameRing ring(kOdd, 1, host_memory());
    Frame first = ring.try_acquire();
    paint(first.host(), 1);
    Frame copy = first;
    Frame moved = std::move(first);
    EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): a moved-from handle is empty, by contract
    Frame assigned;
    assigned = copy;
    Frame& same = assigned;
    assigned = same; // to itself
    EXPECT_EQ(assigned.host().data, copy.host().data);
    moved.reset();
    moved.reset();
    copy.reset();
    EXPECT_FALSE(ring.try_acquire());
    EXPECT_TRUE(shows(assigned.host(), 1));
    assigned = Frame();
    EXPECT_TRUE(ring.try_acquire());
}

TEST(FrameRing, HandlesOutliveTheRingAndTheLastFreesTheMemory) {
    const auto memory = std::make_shared<CountedMemory>();
    std::vector<Frame> held;
    {
        FrameRing ring(kOdd, 4, memory);
        for (std::uint64_t i = 0; i < 3; ++i) {
            held.push_back(ring.try_acquire());
            paint(held.back().host(), i);
        }
    }
    EXPECT_EQ(memory->blocks, 1);
    for (std::uint64_t i = 0; i < 3; ++i)
        EXPECT_TRUE(shows(held[i].host(), i));
    EXPECT_EQ(held[0].shape(), kOdd);
    std::thread([last = std::move(held)]() mutable { last.clear(); }).join();
    EXPECT_EQ(memory->blocks, 0);
}

TEST(FrameRing, TheSlotReleasedLastIsReusedFirstAndSmallOnesTakeTurns) {
    constexpr Shape kLarge{1024, 513, 1, PixelType::u8};
    FrameRing ring(kLarge, 5, host_memory());
    std::vector<Frame> frames;
    for (int i = 0; i < 5; ++i)
        frames.push_back(ring.try_acquire());
    for (const std::size_t last : {3U, 0U, 4U}) {
        const std::byte* data = frames[last].host().data;
        frames[1].reset();
        frames[last].reset();
        frames[last] = ring.try_acquire();
        EXPECT_EQ(frames[last].host().data, data);
        frames[1] = ring.try_acquire();
    }

    FrameRing small({1024, 512, 1, PixelType::u8}, 5, host_memory());
    Frame last = small.try_acquire();
    for (int i = 1; i < 23; ++i) {
        Frame next = small.try_acquire();
        EXPECT_EQ(next.follows(last), i % 5 != 0) << i;
        EXPECT_EQ(next.follows(last), next.host().data == last.host().row(512)) << i;
        last = std::move(next);
    }
    EXPECT_FALSE(FrameRing({1024, 512, 1, PixelType::u8}, 5, host_memory()).try_acquire().follows(last));
}

TEST(FrameRing, SeveralFramesLeaveSomeFree) {
    for (const int free : {0, 1, 4, 5, 9}) {
        FrameRing ring(kOdd, 9, host_memory());
        const std::vector<Frame> held = ring.try_acquire(9 - free, 0);
        ASSERT_EQ(held.size(), 9U - static_cast<unsigned>(free));
        const std::vector<Frame> more = ring.try_acquire(3, 2);
        EXPECT_EQ(static_cast<int>(more.size()), std::clamp(free - 2, 0, 3)) << free;
        std::set<const std::byte*> places;
        for (const std::vector<Frame>* frames : {&held, &more})
            for (const Frame& frame : *frames)
                places.insert(frame.host().data);
        EXPECT_EQ(places.size(), held.size() + more.size());
        EXPECT_EQ(ring.free_slots(), free - static_cast<int>(more.size()));
    }
}

/// A thread waits a moment for several free slots of small frames, then takes the only one.
TEST(FrameRing, EveryWaitingThreadGetsASlot) {
    FrameRing ring(kOdd, 16, host_memory());
    std::vector<Frame> held = ring.try_acquire(16, 0);
    ASSERT_EQ(held.size(), 16U);
    std::array<Frame, 3> frames;
    std::vector<std::thread> waiting;
    for (Frame& frame : frames)
        waiting.emplace_back([&] { frame = ring.acquire(60s); });
    held.resize(held.size() - frames.size());
    for (std::thread& thread : waiting)
        thread.join();
    for (const Frame& frame : frames)
        EXPECT_TRUE(frame);
}

TEST(FrameRing, AnUnusedLentSlotIsReleased) {
    FrameRing ring(kOdd, 1, host_memory());
    {
        const LentSlot slot = ring.lend(0ms);
        ASSERT_TRUE(slot);
        EXPECT_FALSE(ring.lend(0ms));
        EXPECT_FALSE(ring.try_acquire());
    }
    EXPECT_EQ(ring.free_slots(), 1);
    const Frame frame = ring.try_acquire();
    EXPECT_FALSE(frame.lent());
}

TEST(FrameRing, ALentSlotStaysAFrameUntilTheLastHandleAndItsOwnerAreReleased) {
    const auto memory = std::make_shared<CountedMemory>();
    auto ring = std::make_unique<FrameRing>(kOdd, 1, memory);
    auto slot = std::make_shared<LentSlot>(ring->lend(0ms));
    paint(slot->host(), 5);
    Frame frame = slot->frame(slot);
    frame.info().sequence = 77;
    EXPECT_TRUE(frame.lent());
    Frame copy = frame;
    frame.reset();
    EXPECT_TRUE(shows(copy.host(), 5));
    EXPECT_EQ(copy.info().sequence, 77U);
    copy.reset();
    EXPECT_FALSE(ring->try_acquire()) << "whoever filled it may still read it";
    slot.reset();
    EXPECT_EQ(ring->free_slots(), 1);

    slot = std::make_shared<LentSlot>(ring->lend(0ms));
    frame = slot->frame(slot);
    EXPECT_EQ(frame.info().sequence, 0U) << "nothing of the frame before";
    slot.reset();
    ring.reset();
    EXPECT_EQ(memory->blocks, 1);
    frame.reset();
    EXPECT_EQ(memory->blocks, 0);
}

TEST(FrameRing, AFailedAllocationNamesTheAmount) {
    class None final : public SlotMemory {
    public:
        void* allocate(std::size_t bytes) override {
            throw RunError("No room for " + std::to_string(bytes) + " bytes.");
        }
        void release(void*) noexcept override { ADD_FAILURE() << "released what was never given"; }
        Space space() const override { return Space::host; }
    };
    EXPECT_THROW(FrameRing(kOdd, 4, std::make_shared<None>()), RunError);
    EXPECT_THROW((void)host_memory()->allocate(std::size_t{1} << 60), RunError);
}

TEST(FrameRing, AWaitingThreadGetsAReleasedSlot) {
    FrameRing ring(kOdd, 1, host_memory());
    Frame held = ring.try_acquire();
    std::atomic<bool> waiting{false};
    Frame got;
    std::thread waiter([&] {
        waiting = true;
        got = ring.acquire(60s);
    });
    ASSERT_TRUE(test::eventually([&] { return waiting.load(); }));
    held.reset();
    waiter.join();
    EXPECT_TRUE(got);
}

/// One thread fills, several hold, read and release in any order; a slot refilled too early is detected.
TEST(FrameRing, NoSlotIsRefilledWhileAThreadHoldsIt) {
    constexpr int kReaders = 3;
    constexpr std::uint64_t kFrames = 20'000;
    const auto memory = std::make_shared<CountedMemory>();
    std::atomic<int> torn{0};
    std::atomic<std::uint64_t> looked{0};
    {
        FrameRing ring({16, 3, 1, PixelType::u16}, 6, memory);
        struct Inbox {
            std::mutex mutex;
            std::deque<Frame> frames;
        };
        std::array<Inbox, kReaders> inboxes;
        std::atomic<bool> done{false};
        const auto read = [&](int me) {
            Inbox& inbox = inboxes[static_cast<std::size_t>(me)];
            std::minstd_rand random(static_cast<unsigned>(me) + 1); // seeds 1, 2, 3
            std::vector<Frame> kept;
            while (true) {
                const bool last = done;
                Frame frame;
                {
                    const std::scoped_lock lock(inbox.mutex);
                    if (!inbox.frames.empty()) {
                        frame = std::move(inbox.frames.front());
                        inbox.frames.pop_front();
                    }
                }
                if (!frame && last)
                    break;
                if (!frame) {
                    kept.clear();
                    std::this_thread::yield();
                    continue;
                }
                kept.push_back(frame);
                if (kept.size() > random() % 3)
                    kept.erase(kept.begin() + static_cast<long>(random() % kept.size()));
                for (const Frame& still : kept)
                    torn += !shows(still.host(), still.info().sequence);
                ++looked;
            }
        };
        std::vector<std::thread> readers;
        for (int i = 0; i < kReaders; ++i)
            readers.emplace_back(read, i);
        for (std::uint64_t i = 0; i < kFrames; ++i) {
            Frame frame = ring.acquire(60s);
            ASSERT_TRUE(frame) << "a slot was lost";
            frame.info().sequence = i;
            paint(frame.host(), i);
            for (Inbox& inbox : inboxes) {
                const std::scoped_lock lock(inbox.mutex);
                inbox.frames.push_back(frame);
            }
        }
        done = true;
        for (std::thread& reader : readers)
            reader.join();
        EXPECT_EQ(ring.free_slots(), 6);
    }
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(looked, kFrames * kReaders);
    EXPECT_EQ(memory->blocks, 0);
}

TEST(FrameRing, DefaultSlotsFitTheBudget) {
    EXPECT_EQ(default_slots({1392, 1040, 1, PixelType::u16}), 16);
    EXPECT_EQ(default_slots({8192, 8192, 1, PixelType::u8}), 8);
    EXPECT_EQ(default_slots({65536, 8192, 3, PixelType::u16}), 6);
    EXPECT_EQ(default_slots({1, 1, 1, PixelType::u8}, 10), 10);
    EXPECT_EQ(default_slots({0, 0, 1, PixelType::u8}, 10), 10) << "a picture of nothing is taken for a byte";
}

} // namespace specklescope::frame_ring_test
