// Undefined, infinite and saturated pixels in known numbers, at sizes that no block of a kernel divides.
#include "config/executor.hpp"
#include "pipeline/convert.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace specklescope::test::counted_test {

enum Kind { undefined, infinite, saturated, plain };

struct Case {
    Shape shape;
    std::vector<Kind> kinds; ///< of each pixel
    std::uint64_t number[4]; ///< of pixels of each kind
};

/// Calls f(case) with few pixels of each kind, with many, and with all of one kind.
template <class F> void each_case(int channels, PixelType type, F&& f) {
    auto random = test_random(4711);
    for (const auto& [width, height] :
         {std::pair{1, 1}, {37, 2}, {129, 3}, {255, 33}, {1027, 41}, {4099, 9}}) {
        const Shape shape{width, height, channels, type};
        const std::uint64_t pixels = shape.pixels();
        const std::uint64_t some = (pixels + 3) / 4;
        const std::uint64_t numbers[][3] = {{0, 0, 0},      {1, 0, 0},      {0, 1, 0},     {0, 0, 1},
                                            {pixels, 0, 0}, {0, pixels, 0}, {0, 0, pixels}};
        const auto run = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
            Case test{shape, {}, {a, b, c, pixels - a - b - c}};
            for (const Kind kind : {undefined, infinite, saturated, plain})
                test.kinds.insert(test.kinds.end(), test.number[kind], kind);
            std::shuffle(test.kinds.begin(), test.kinds.end(), random);
            SCOPED_TRACE(to_string(test.shape) + ": " + std::to_string(a) + " undefined, " +
                         std::to_string(b) + " infinite, " + std::to_string(c) + " saturated");
            f(test);
        };
        for (const auto& [a, b, c] : numbers)
            run(a, b, c);
        if (pixels > 3)
            run(some, some - 1, some - 2);
    }
}

/// Parameter: the backend.
class Counted : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const bool cuda = GetParam() == std::string("cuda");
        if (cuda && !needs_gpu())
            return;
        executor_ = make_executor({.backend = cuda ? Backend::cuda : Backend::cpu, .threads = 3, .gpus = ""},
                                  nullptr);
    }

    /// Counts after `frames` frames with samples f(frame, kind), in one or more channels of a pixel.
    template <class T, class F>
    PixelCounts count(const std::string& stage, const Case& test, int frames, FrameInfo info, F&& f) {
        auto chain = std::make_shared<Chain>();
        chain->add(stage);
        executor_->set_chain(chain, ++version_);
        FrameRing ring(test.shape, 1, executor_->slot_memory());
        PixelCounts counts;
        for (int t = 0; t < frames; ++t) {
            TestImage<T> image(test.shape.width, test.shape.height, 0, test.shape.channels);
            std::size_t sample = 0;
            image.fill([&] {
                const auto channels = static_cast<std::size_t>(test.shape.channels);
                const std::size_t pixel = sample / channels;
                const std::size_t channel = sample++ % channels;
                const bool marked = channel == pixel % channels || pixel % 7 == channel;
                return f(t, marked ? test.kinds[pixel] : plain);
            });
            Frame frame = ring.acquire(std::chrono::seconds(10));
            copy_pixels(image.view(), frame.host());
            info.discontinuity = t == 0;
            frame.info() = info;
            executor_->submit(std::move(frame), true);
            counts = executor_->collect(true).value().counts;
        }
        return counts;
    }

private:
    std::unique_ptr<Executor> executor_;
    std::uint64_t version_ = 0;
};

TEST_P(Counted, RealsInKnownNumbers) {
    FrameInfo info;
    info.full_scale = 200;
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kSamples[] = {kNan, -kInfinity, 250, 3};
    for (const int channels : {1, 3})
        for (const std::string stage :
             {"background:black=1,dark=none", "average:frames=2", "flip:direction=horizontal"})
            each_case(channels, PixelType::f32, [&](const Case& test) {
                SCOPED_TRACE(stage);
                const PixelCounts counts =
                    count<float>(stage, test, 2, info, [&](int, Kind kind) { return kSamples[kind]; });
                EXPECT_EQ(counts.undefined, test.number[undefined]);
                EXPECT_EQ(counts.infinite, test.number[infinite]);
                if (stage.starts_with("background")) {
                    EXPECT_EQ(counts.saturated, test.number[saturated]);
                }
                if (channels == 1) {
                    EXPECT_EQ(counts.raw_saturated, test.number[saturated]);
                }
            });
}

/// Contrast over two frames: undefined for dark pixels, and the flow index is infinite for constant ones.
TEST_P(Counted, IntegersInKnownNumbers) {
    const auto check = [this]<class T>(T full, const std::string& stage) {
        const T samples[2][4] = {{0, 7, 30, 40}, {0, 7, full, 20}};
        each_case(1, pixel_type_of<T>(), [&](const Case& test) {
            SCOPED_TRACE(stage);
            const PixelCounts counts =
                count<T>(stage, test, 2, {}, [&](int t, Kind kind) { return samples[t][kind]; });
            EXPECT_EQ(counts.undefined, test.number[undefined]);
            EXPECT_EQ(counts.infinite, test.number[infinite]);
            EXPECT_EQ(counts.saturated, test.number[saturated]);
            EXPECT_EQ(counts.raw_saturated, test.number[saturated]);
        });
    };
    for (const char* stage : {"temporal:frames=2,output=sfi", "temporal:frames=2,output=sfi,also=contrast"}) {
        check(std::uint8_t{255}, stage);
        check(std::uint16_t{65535}, stage);
    }
}

INSTANTIATE_TEST_SUITE_P(On, Counted, testing::Values("host", "cuda"),
                         [](const auto& tested) { return std::string(tested.param); });

} // namespace specklescope::test::counted_test
