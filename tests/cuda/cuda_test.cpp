// Guarantees of the device executor: order, slots, edits.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/executor.hpp"
#include "cuda/devices.hpp"
#include "tests/cuda/cuda_speckle.hpp"

#include <thread>

namespace specklescope::cuda_test {

TEST_F(Cuda, KeepsTwoHundredFramesInOrderAndReleasesEverySlot) {
    const Shape shape{320, 200, 1, PixelType::u16};
    FrameRing ring(shape, 8, executor->slot_memory());
    use(SpeckleParams{.radius = 2, .output = Output::contrast});
    std::uint64_t collected = 0;
    int timed = 0; // the first frame, then a hundred per second
    const auto take = [&](const Result& result) {
        EXPECT_EQ(result.info.sequence, collected);
        // Each frame has two columns of levels that identify it: K at the seam is known.
        const double a = 1000 + static_cast<double>(result.info.sequence);
        const double b = 3000;
        const double n = 25, s = 15 * a + 10 * b, d = n * (15 * a * a + 10 * b * b) - s * s;
        EXPECT_LE(contrast_error(static_cast<double>(result.image.host().as<float>().row(100)[159]),
                                 std::sqrt(n / (n - 1) * d) / s, Output::contrast),
                  1e-6);
        EXPECT_TRUE(result.timings.empty() || result.timings.size() == 4U);
        timed += !result.timings.empty() ? 1 : 0;
        ++collected;
    };
    for (std::uint64_t i = 0; i < 200; ++i) {
        while (executor->in_flight() >= executor->capacity())
            take(*executor->collect(true));
        ASSERT_TRUE(executor->wait_slot(std::chrono::seconds(5)));
        Frame frame = ring.try_acquire();
        while (!frame) { // the executor holds all slots
            take(*executor->collect(true));
            frame = ring.try_acquire();
        }
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                frame.host().as<std::uint16_t>().row(y)[x] =
                    static_cast<std::uint16_t>(x < 160 ? 1000 + i : 3000);
        frame.info().sequence = i;
        executor->submit(std::move(frame), true);
        while (auto result = executor->collect(false))
            take(*result);
    }
    while (auto result = executor->collect(true))
        take(*result);
    EXPECT_EQ(collected, 200U);
    EXPECT_GE(timed, 1);
    EXPECT_EQ(ring.free_slots(), 8);
    EXPECT_EQ(executor->in_flight(), 0);
}

TEST_F(Cuda, WaitsWhileAllResultsAreHeld) {
    const auto picture = noise<std::uint8_t>(64, 64, 100, 0.2, kSeed);
    FrameRing ring(picture.shape, 2, executor->slot_memory());
    use("speckle");
    std::vector<Result> held;
    executor->submit(frame_of(picture, ring), true);
    held.push_back(std::move(*executor->collect(true)));
    while (executor->wait_slot(std::chrono::milliseconds(20))) {
        ASSERT_LT(held.size(), 1000U);
        executor->submit(frame_of(picture, ring), true);
        held.push_back(std::move(*executor->collect(true)));
        held.back().raw.reset();
    }
    EXPECT_GE(held.size(), 6U);
    held.front() = Result();
    EXPECT_TRUE(executor->wait_slot(std::chrono::milliseconds(20)));
}

TEST_F(Cuda, DownloadsOnlyOnRequest) {
    const auto picture = noise<std::uint16_t>(100, 80, 1000, 0.2, kSeed);
    FrameRing ring(picture.shape, 2, executor->slot_memory());
    use("speckle:radius=2");
    for (const bool want : {false, true, false, true}) {
        executor->submit(frame_of(picture, ring), want);
        const auto result = executor->collect(true);
        EXPECT_EQ(static_cast<bool>(result->image), want);
        EXPECT_TRUE(result->device_image);
        EXPECT_TRUE(result->raw);
        EXPECT_EQ(result->quantity.symbol, "SFI");
    }
}

TEST_F(Cuda, FollowsEditsAndSizeChanges) {
    const auto small = noise<std::uint8_t>(90, 60, 100, 0.2, kSeed);
    const auto large = noise<std::uint16_t>(200, 150, 1000, 0.2, kSeed);
    use("speckle:radius=1,output=contrast");
    EXPECT_EQ(run(small).info.version, version);
    EXPECT_LE(worst(large, {.radius = 4, .output = Output::contrast}), 1e-6);
    EXPECT_LE(worst(small, {.radius = 2, .output = Output::tau}), 1e-6);
    EXPECT_LE(worst(small, {.radius = 2, .exposure_ms = 3, .output = Output::sfi}),
              1e-6); // free parameters only
    EXPECT_LE(worst(small, {.radius = 2, .output = Output::sfi, .border = Border::crop}), 1e-6);

    // An impossible edit keeps the old chain.
    use(SpeckleParams{.radius = 3, .output = Output::contrast});
    const auto tiny = noise<std::uint8_t>(8, 8, 100, 0.2, kSeed);
    run(tiny);
    EXPECT_THROW(use(SpeckleParams{.radius = 15}), UsageError);
    const Result still = run(tiny);
    EXPECT_EQ(still.chain->stages()[0].params.as<SpeckleParams>().radius, 3);
    // A frame that does not fit the chain is refused and its slot released.
    FrameRing ring({2, 2, 1, PixelType::u8}, 1, executor->slot_memory());
    EXPECT_THROW(executor->submit(ring.try_acquire(), true), UsageError);
    EXPECT_EQ(ring.free_slots(), 1);
    EXPECT_EQ(executor->in_flight(), 0);
    EXPECT_LE(worst(large, {.radius = 5, .output = Output::contrast}, 7), 1e-6);
}

TEST_F(Cuda, AnEmptyChainReturnsTheFrame) {
    const auto picture = noise<std::uint8_t>(77, 33, 120, 0.4, kSeed, 3);
    use("");
    const Result result = run(picture);
    EXPECT_EQ(result.shape(), picture.shape);
    EXPECT_EQ(result.device_image.shape(), picture.shape);
    for (int y = 0; y < 33; ++y)
        ASSERT_EQ(std::memcmp(result.image.host().row(y), picture.pixels.data() + y * 231, 231), 0);
}

TEST_F(Cuda, TheCamerasExposureHasPriority) {
    const auto picture = noise<std::uint16_t>(64, 48, 1000, 0.2, kSeed);
    FrameRing ring(picture.shape, 2, executor->slot_memory());
    use("speckle:exposure=10");
    const auto value = [&](double exposure) {
        Frame frame = frame_of(picture, ring);
        frame.info().exposure_ms = exposure;
        executor->submit(std::move(frame), true);
        return static_cast<double>(executor->collect(true)->image.host().as<float>().row(20)[20]);
    };
    EXPECT_NEAR(value(5) / value(std::nan("")), 2, 1e-6);
}

TEST_F(Cuda, ResultsOutliveTheExecutorAndAnotherThreadMayHoldThem) {
    const auto picture = noise<std::uint16_t>(64, 48, 1000, 0.2, kSeed);
    for (int round = 0; round < 3; ++round) {
        use("speckle");
        Result result = run(picture);
        executor = make_cuda_executor(0);
        std::thread([held = std::move(result)] {
            EXPECT_TRUE(std::isfinite(held.image.host().as<float>().row(20)[20]));
        }).join();
    }
}

TEST(CudaDevices, ListsGpusOrTheReasonForNone) {
    std::string reason;
    const std::vector<GpuInfo> gpus = list_gpus(&reason);
    if (gpus.empty()) {
        EXPECT_FALSE(reason.empty());
        try {
            make_cuda_executor(0);
            FAIL() << "made an executor without a GPU";
        } catch (const RunError& error) {
            EXPECT_EQ(std::string(error.what()), "No CUDA device can be used: " + reason + ".");
        }
        EXPECT_THROW(make_executor({.backend = Backend::cuda, .threads = 1, .gpus = ""}, nullptr), RunError);
        std::string note;
        EXPECT_EQ(make_executor({.backend = Backend::automatic, .threads = 1, .gpus = ""}, &note)->backend(),
                  "cpu");
        EXPECT_NE(note.find(reason), std::string::npos);
        return;
    }
    EXPECT_GT(gpus[0].memory_bytes, 0U);
    EXPECT_NE(to_string(gpus[0]).find(gpus[0].name), std::string::npos);
    EXPECT_THROW(make_cuda_executor(static_cast<int>(gpus.size())), RunError);
    EXPECT_EQ(make_executor({.backend = Backend::automatic, .threads = 1, .gpus = ""}, nullptr)->backend(),
              "cuda");
}

} // namespace specklescope::cuda_test
