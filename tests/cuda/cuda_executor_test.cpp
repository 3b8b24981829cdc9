// The device executor: effects of prepare(), and several executors as one.
#include "pipeline/executor.hpp"

#include "cuda/devices.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::cuda_executor_test {

constexpr Shape kShape{333, 120, 1, PixelType::u16};

class CudaExecutor : public testing::Test {
protected:
    void SetUp() override {
        if (!test::needs_gpu())
            return;
    }
};

std::shared_ptr<const Chain> chain_of(const std::vector<std::string>& stages) {
    auto chain = std::make_shared<Chain>();
    for (const std::string& stage : stages)
        chain->add(stage);
    return chain;
}

std::vector<Frame> noise(int count, const std::shared_ptr<SlotMemory>& memory) {
    static std::mt19937_64 random = test::test_random(0xC0DA);
    FrameRing ring(kShape, count, memory);
    std::vector<Frame> frames;
    while (Frame frame = ring.try_acquire()) {
        for (int y = 0; y < kShape.height; ++y)
            for (int x = 0; x < kShape.width; ++x)
                frame.host().as<std::uint16_t>().row(y)[x] = static_cast<std::uint16_t>(1 + random() % 4000);
        frame.info().sequence = frames.size();
        frame.info().full_scale = 4095;
        frames.push_back(std::move(frame));
    }
    return frames;
}

/// Results of all frames, with the maximum number in flight.
std::vector<Result> run(Executor& executor, const std::vector<Frame>& frames) {
    std::vector<Result> results;
    for (const Frame& frame : frames) {
        while (executor.in_flight() >= executor.capacity())
            results.push_back(std::move(*executor.collect(true)));
        EXPECT_TRUE(executor.wait_slot(std::chrono::seconds(5)));
        executor.submit(frame, true);
    }
    while (executor.in_flight() > 0)
        results.push_back(std::move(*executor.collect(true)));
    return results;
}

void expect_same(const std::vector<Result>& a, const std::vector<Result>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].info.sequence, i);
        ASSERT_EQ(b[i].info.sequence, i);
        EXPECT_EQ(a[i].counts, b[i].counts) << i;
        EXPECT_EQ(a[i].warmup, b[i].warmup) << i;
        ASSERT_EQ(a[i].shape(), b[i].shape());
        for (int y = 0; y < a[i].shape().height; ++y)
            ASSERT_EQ(
                std::memcmp(a[i].image.host().row(y), b[i].image.host().row(y), a[i].shape().row_bytes()), 0)
                << "frame " << i << ", row " << y;
    }
}

TEST_F(CudaExecutor, PreparingLeavesWindowsEmpty) {
    for (const char* stage :
         {"temporal:frames=5", "average:frames=3", "spatiotemporal:frames=4", "speckle"}) {
        const auto fresh = make_cuda_executor();
        const auto prepared = make_cuda_executor();
        const auto chain = chain_of({stage});
        fresh->set_chain(chain, 1);
        prepared->set_chain(chain, 1);
        prepared->prepare(kShape, true);
        EXPECT_EQ(prepared->in_flight(), 0);
        const std::vector<Frame> frames = noise(8, fresh->slot_memory());
        frames[0].info().discontinuity = true;
        const std::vector<Result> results = run(*prepared, frames);
        EXPECT_FALSE(results[0].timings.empty()) << "the first frame of a run is timed";
        expect_same(run(*fresh, frames), results);
    }
}

TEST_F(CudaExecutor, CountsAreFromTheLastStageInEveryFrame) {
    const auto executor = make_cuda_executor();
    executor->set_chain(chain_of({"speckle:radius=1", "crop:x=0,y=0,width=40,height=30", "speckle:radius=2"}),
                        1);
    const std::vector<Frame> frames = noise(12, executor->slot_memory());
    for (std::size_t i = 0; i < frames.size(); i += 2) // dark: every window is undefined, in both stages
        for (int y = 0; y < kShape.height; ++y)
            std::memset(frames[i].host().row(y), 0, kShape.row_bytes());
    for (const Result& result : run(*executor, frames)) {
        const bool dark = result.info.sequence % 2 == 0;
        EXPECT_EQ(result.counts.undefined, dark ? 40U * 30U : 0U) << result.info.sequence;
    }
}

/// Pixels and counts: a skipped stage counts nothing, the last one's counts are the result's.
TEST_F(CudaExecutor, APassingStageIsSkippedUntilItHasWork) {
    const auto executor = make_cuda_executor();
    const std::vector<Frame> frames = noise(6, executor->slot_memory());
    for (int y = 40; y < 70; ++y)
        std::memset(frames[3].host().row(y), 0xff, kShape.row_bytes()); // saturated
    std::uint64_t version = 0;
    const auto results = [&](const std::vector<std::string>& stages) {
        executor->set_chain(chain_of(stages), ++version);
        return run(*executor, frames);
    };
    for (const char* stage : {"speckle:radius=2", "flip:direction=vertical"}) {
        const auto plain = results({stage});
        expect_same(results({"background", stage}), plain);
        expect_same(results({"background", "background", stage}), plain);
        expect_same(results({"flip", "background", "flip", stage}), plain);
        // If no later stage examines windows, those of the background count: its pixels.
        const bool windows = std::string_view(stage).starts_with("speckle");
        EXPECT_EQ(results({"background:black=1", stage})[3].counts.saturated,
                  windows ? plain[3].counts.saturated : 30U * static_cast<unsigned>(kShape.width));
        expect_same(results({"background", stage}), plain);
    }
    EXPECT_GT(results({"background", "speckle:radius=2"})[3].counts.saturated, 0U);
    const auto alone = results({"background"});
    for (int y = 0; y < kShape.height; ++y)
        ASSERT_EQ(std::memcmp(alone[5].image.host().row(y), frames[5].host().row(y), kShape.row_bytes()), 0);
}

TEST_F(CudaExecutor, DownloadsIntoLentPageLockedMemory) {
    const auto executor = make_cuda_executor(0, true);
    executor->set_chain(chain_of({"speckle:radius=2,output=contrast"}), 1);
    const std::vector<Frame> frames = noise(1, executor->slot_memory());
    const Result plain = std::move(run(*executor, frames)[0]);
    const Shape shape{kShape.width, kShape.height, 1, PixelType::f32};
    const std::size_t pitch = slot_pitch(shape, Space::device); // for a single copy of all rows
    const std::shared_ptr<SlotMemory> locked = executor->callers_memory(), pageable = host_memory();
    for (const auto& memory : {locked, pageable}) {
        const std::shared_ptr<std::byte> room(
            static_cast<std::byte*>(memory->allocate(pitch * static_cast<std::size_t>(shape.height))),
            [&](std::byte* data) { memory->release(data); });
        std::memset(room.get(), 0xA5, pitch * static_cast<std::size_t>(shape.height));
        const HostView place(room.get(), shape, pitch);
        executor->lend_result(borrowed_frame(place));
        executor->submit(frames[0], true);
        executor->forget_caller();
        const Result made = *executor->collect(true);
        EXPECT_EQ(made.image.host().data == place.data, memory == locked);
        for (int y = 0; y < shape.height; ++y)
            ASSERT_EQ(std::memcmp(made.image.host().row(y), plain.image.host().row(y), shape.row_bytes()), 0);
        for (std::size_t at = shape.row_bytes(); at < pitch; ++at)
            ASSERT_EQ(room.get()[at], std::byte{0xA5}) << "what lies between rows was written";
        executor->submit(frames[0], true);
        EXPECT_NE(executor->collect(true)->image.host().data, place.data) << "it was lent for one";
    }
}

TEST_F(CudaExecutor, SeveralExecutorsGiveTheSameResults) {
    const auto chain = chain_of({"speckle:radius=7", "gaussian:sigma=3,method=recursive"});
    const auto one = make_cuda_executor();
    const int gpus = static_cast<int>(list_gpus(nullptr).size());
    std::vector<std::unique_ptr<Executor>> members;
    for (int i = 0; i < 3; ++i)
        members.push_back(make_cuda_executor(i % gpus)); // one GPU may be used several times
    const auto dealer = make_round_robin_executor(std::move(members));
    one->set_chain(chain, 1);
    dealer->set_chain(chain, 1);
    dealer->prepare(kShape, true);
    const std::vector<Frame> frames = noise(15, dealer->slot_memory());
    expect_same(run(*one, frames), run(*dealer, frames));
    dealer->submit(frames[0], false);
    const auto stays = dealer->collect(true);
    EXPECT_FALSE(stays->image) << "no one asked for host pixels";
    EXPECT_TRUE(stays->device_image);
}

} // namespace specklescope::cuda_executor_test
