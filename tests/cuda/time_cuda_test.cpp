// Stages with a window on the device equal those on the host, frame by frame: values, counts, warm-up, after
// a reset and after an edit.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cuda/devices.hpp"
#include "pipeline/executor.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <cstring>

namespace specklescope::test::time_cuda_test {

/// An executor with its chain and slots.
class Runner {
public:
    Runner(std::unique_ptr<Executor> executor, const Shape& shape)
        : executor_(std::move(executor)), ring_(shape, 2, executor_->slot_memory()) {}

    void use(const std::string& text) {
        auto chain = std::make_shared<Chain>();
        chain->add(text);
        executor_->set_chain(chain, ++version_);
    }
    template <class T> Result run(const TestImage<T>& image, const FrameInfo& info, bool again) {
        Frame frame = ring_.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        std::memset(view.data, 0xff, view.pitch * static_cast<std::size_t>(view.shape.height));
        copy_pixels(image.view(), view);
        frame.info() = info;
        executor_->submit(std::move(frame), true, again);
        std::optional<Result> result = executor_->collect(true);
        EXPECT_TRUE(result);
        return std::move(*result);
    }

private:
    std::unique_ptr<Executor> executor_;
    FrameRing ring_;
    std::uint64_t version_ = 0;
};

/// Largest relative difference; if one is not finite the other must be equal.
double difference(const Result& host, const Result& device) {
    const Shape& shape = host.image.shape();
    EXPECT_EQ(device.image.shape(), shape);
    const auto a = host.image.host().as<float>();
    const auto b = device.image.host().as<float>();
    double worst = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x) {
            const double u = a.row(y)[x];
            const double v = b.row(y)[x];
            if (u == v || (std::isnan(u) && std::isnan(v)))
                continue;
            const double error = std::abs(u - v) / std::max(std::abs(u), std::abs(v));
            worst = std::max(worst, std::isfinite(error) ? error : 1e30);
        }
    return worst;
}

class TimeCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!needs_gpu())
            return;
    }

    /// `count` frames from make(t) through both; `edited` is an alternative chain with other free parameters.
    template <class T, class Make> void expect_same(const std::string& text, const std::string& edited,
                                                    int count, FrameInfo info, Make&& make) {
        const Shape shape = make(0).shape();
        Runner host(make_host_executor(2), shape);
        Runner device(make_cuda_executor(0), shape);
        double worst = 0;
        const auto compare = [&](const TestImage<T>& frame, bool again, int t) {
            const Result a = host.run(frame, info, again);
            const Result b = device.run(frame, info, again);
            worst = std::max(worst, difference(a, b));
            EXPECT_EQ(a.counts, b.counts)
                << text << " at " << t << ": " << a.counts.undefined << "/" << b.counts.undefined << ", "
                << a.counts.infinite << "/" << b.counts.infinite << ", " << a.counts.saturated << "/"
                << b.counts.saturated;
            EXPECT_EQ(a.warmup.frames, b.warmup.frames);
            EXPECT_EQ(a.warmup.wanted, b.warmup.wanted);
        };
        host.use(text);
        device.use(text);
        for (int t = 0; t < count && !HasFailure(); ++t) {
            const TestImage<T> frame = make(t);
            info.discontinuity = t == 17 || t == 19;
            compare(frame, false, t);
            if (t % 9 == 4) {
                host.use(edited);
                device.use(edited);
                compare(frame, true, t);
                host.use(text);
                device.use(text);
            }
        }
        EXPECT_LE(worst, 3e-6) << text; // of an output that may be 1/K²
        std::printf("%s, %s: %.2g\n", text.c_str(), to_string(shape).c_str(), worst);
    }
};

TEST_F(TimeCuda, TemporalOfIntegers) {
    std::mt19937_64 random = test_random(1);
    FrameInfo info;
    info.exposure_ms = 3;
    for (const int width : {1, 5, 127, 128, 131, 517})
        for (const char* output : {"sfi", "contrast", "contrast2", "tau", "bfi"}) {
            const std::string text = std::string("temporal:frames=7,output=") + output;
            expect_same<std::uint8_t>(text, text, 30, info, [&](int t) {
                return uniform_image<std::uint8_t>(width, 9, 0, t % 11 == 0 ? 255 : 230, random);
            });
            expect_same<std::uint16_t>(text, text, 30, info, [&](int t) {
                return uniform_image<std::uint16_t>(width, 9, 100, t % 11 == 0 ? 65535 : 60000, random);
            });
        }
    info.full_scale = 4095;
    expect_same<std::uint16_t>("temporal:frames=5,output=contrast", "temporal:frames=5,output=sfi", 40, info,
                               [&](int) { return speckle_image<std::uint16_t>(300, 40, 600, 4095, random); });
}

TEST_F(TimeCuda, TemporalOfManyFrames) {
    std::mt19937_64 random = test_random(2);
    for (const char* stage : {"temporal", "spatiotemporal"})
        for (const int frames : {30, 31, 32}) { // around the longest window with sums in 32 bits
            const std::string text = std::string(stage) + ":frames=" + std::to_string(frames);
            expect_same<std::uint8_t>(text + ",output=contrast", text + ",output=sfi", 120, {}, [&](int t) {
                TestImage<std::uint8_t> image = uniform_image<std::uint8_t>(140, 7, 0, 255, random);
                for (int x = 0; x < 40; ++x)
                    image.at(x, 0) = t / 40 % 2 == 0 || (x > 20 && random() % 2 == 0) ? 0 : 255;
                return image;
            });
        }
    for (const int frames : {256, 257, 500})
        expect_same<std::uint16_t>(
            "temporal:output=contrast,frames=" + std::to_string(frames),
            "temporal:output=contrast2,frames=" + std::to_string(frames), 620, {},
            [&](int) { return uniform_image<std::uint16_t>(140, 3, 65000, 65535, random); });
}

TEST_F(TimeCuda, TemporalOfReals) {
    std::mt19937_64 random = test_random(3);
    FrameInfo info;
    info.full_scale = 99;
    expect_same<float>("temporal:frames=6,output=contrast", "temporal:frames=6,output=tau", 1500, info,
                       [&](int t) {
                           TestImage<float> image = uniform_image<float>(133, 3, 10, 100, random);
                           if (t % 50 == 3)
                               image.at(t % 133, 1) = std::numeric_limits<float>::quiet_NaN();
                           if (t % 50 == 7)
                               image.at(t % 133, 2) = std::numeric_limits<float>::infinity();
                           if (t % 50 == 12)
                               image.at(t % 133, 2) = 1e12F;
                           return image;
                       });
    for (const int width : {1, 3, 64, 129})
        expect_same<float>("temporal:frames=25,output=contrast", "temporal:frames=25,output=contrast2", 80,
                           {}, [&](int) { return low_contrast_image<float>(width, 5, 50000, 0.01, random); });
}

TEST_F(TimeCuda, Average) {
    std::mt19937_64 random = test_random(5);
    for (const char* kind : {"window", "exponential"})
        for (const int width : {1, 43, 128, 300}) {
            const std::string text = std::string("average:frames=7,kind=") + kind;
            expect_same<std::uint8_t>(text, text, 30, {}, [&](int) {
                return uniform_image<std::uint8_t>(width, 9, 0, 255, random);
            });
            expect_same<std::uint16_t>(text, text, 30, {}, [&](int) {
                return TestImage<std::uint16_t>(width, 5, 1, 3).fill([&] { return random() & 0xffffU; });
            });
            expect_same<float>(text, text, 1200, {}, [&](int t) {
                TestImage<float> image = uniform_image<float>(width, 3, 1, 10, random);
                if (t % 20 == 3)
                    image.at(t % width, 1) = std::numeric_limits<float>::quiet_NaN();
                if (t % 30 == 7)
                    image.at(t % width, 2) = std::numeric_limits<float>::infinity();
                return image;
            });
        }
}

TEST_F(TimeCuda, Spatiotemporal) {
    std::mt19937_64 random = test_random(7);
    FrameInfo info;
    info.full_scale = 60000;
    for (const char* border : {"replicate", "reflect", "crop", "zero"})
        for (const int radius : {1, 2, 7, 15}) {
            const std::string text =
                "spatiotemporal:frames=4,output=contrast,radius=" + std::to_string(radius) +
                ",border=" + border;
            for (const int width : {37, 128, 517}) {
                expect_same<std::uint8_t>(text, text, 8, {}, [&](int) {
                    return uniform_image<std::uint8_t>(width, 41, 0, 254, random);
                });
                expect_same<std::uint16_t>(text, text, 8, info, [&](int t) {
                    TestImage<std::uint16_t> image =
                        low_contrast_image<std::uint16_t>(width, 70, 50000, 0.01, random);
                    image.at(t * 4, t * 5) = 60000;
                    return image;
                });
                expect_same<float>(text, text, 8, info, [&](int t) {
                    TestImage<float> image = low_contrast_image<float>(width, 70, 50000, 0.01, random);
                    image.at(t * 4, t * 5) = t == 3 ? std::numeric_limits<float>::quiet_NaN() : 60001.0F;
                    return image;
                });
            }
        }
    expect_same<std::uint16_t>(
        "spatiotemporal:frames=300,radius=3,output=contrast", "spatiotemporal:frames=300,radius=3,output=sfi",
        320, {}, [&](int) { return uniform_image<std::uint16_t>(60, 9, 65000, 65535, random); });
}

TEST_F(TimeCuda, Background) {
    std::mt19937_64 random = test_random(6);
    FrameInfo info;
    info.full_scale = 4000;
    for (const int width : {1, 43, 128, 300})
        for (const char* text :
             {"background:black=64", "background:dark=capture,frames=3", "background:flat=capture,frames=4",
              "background:dark=capture,flat=capture,frames=3"}) {
            const std::string edited = std::string(text) + (text[11] == 'b' ? "" : ",black=5");
            expect_same<std::uint16_t>(text, edited, 22, info, [&](int t) {
                return uniform_image<std::uint16_t>(width, 9, t < 3 ? 10 : 500, t < 3 ? 90 : 4000, random);
            });
            expect_same<std::uint8_t>(text, edited, 22, {}, [&](int t) {
                return TestImage<std::uint8_t>(width, 9, 1, 3).fill([&] {
                    return t < 3 ? random() % 20 : random() % 8 == 0 ? 255 : random() & 0xffU;
                });
            });
            expect_same<float>(text, edited, 22, info, [&](int t) {
                return TestImage<float>(width, 5, 1, 3).fill([&] {
                    return static_cast<double>(random() & 0xfffU) * (t < 3 ? 0.01 : 1);
                });
            });
        }
}

TEST_F(TimeCuda, BackgroundCountsPixelsOfColour) { // also those in two tiles of 128 samples
    constexpr float inf = std::numeric_limits<float>::infinity();
    const float odd[] = {std::numeric_limits<float>::quiet_NaN(), inf, -inf, 4000};
    std::mt19937_64 random = test_random(8);
    FrameInfo info;
    info.full_scale = 4000;
    for (const int width : {1, 42, 43, 85, 86, 300})
        expect_same<float>("background:black=64", "background:black=5", 12, info, [&](int) {
            return TestImage<float>(width, 40, 1, 3).fill([&] {
                return random() % 9 == 0 ? odd[random() % 4] : static_cast<float>(random() & 0xfffU);
            });
        });
}

TEST_F(TimeCuda, IdenticalFramesHaveNoContrast) {
    std::mt19937_64 random = test_random(4);
    const TestImage<float> still = uniform_image<float>(200, 5, 100, 4000, random);
    Runner device(make_cuda_executor(0), still.shape());
    device.use("temporal:frames=40,output=contrast");
    for (int t = 0; t < 60; ++t) {
        const Result result = device.run(still, {}, false);
        const auto pixels = result.image.host().as<float>();
        for (int i = 0; t > 0 && i < 200 * 5; ++i)
            ASSERT_EQ(pixels.row(i / 200)[i % 200], 0);
    }
}

TEST_F(TimeCuda, AWindowThatDoesNotFitIsRefusedWithTheLargestThatDoes) {
    auto chain = std::make_shared<Chain>();
    chain->add("temporal:frames=500");
    const std::unique_ptr<Executor> executor = make_cuda_executor(0);
    executor->set_chain(chain, 1);
    FrameRing ring({30000, 30000, 1, PixelType::u16}, 1, host_memory()); // 900 GB of frames
    try {
        executor->submit(ring.try_acquire(), false, false);
        FAIL() << "it was accepted";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("at most frames = "), std::string::npos) << error.what();
    }
}

} // namespace specklescope::test::time_cuda_test
