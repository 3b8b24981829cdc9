// The device backend against the formulas in float64, and the executor's promises: order, slots, edits.
#include <gtest/gtest.h>

#ifndef SPECKLESCOPE_HAVE_CUDA

TEST(Cuda, Backend) { GTEST_SKIP() << "this build has no CUDA backend"; }

#else

#include "cuda/devices.hpp"
#include "pipeline/error.hpp"
#include "pipeline/executor.hpp"
#include "stages/convert.hpp"
#include "stages/speckle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace specklescope {
namespace {

using Border = SpeckleParams::Border;
using Output = SpeckleParams::Output;

constexpr std::uint64_t kSeed = 20110523;

template <class T> struct Picture {
    Shape shape;
    std::vector<T> pixels;
    Picture(int width, int height, int channels = 1)
        : shape{width, height, channels, pixel_type_of<T>()},
          pixels(shape.pixels() * static_cast<std::size_t>(channels)) {}
    T& at(int x, int y) {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                      static_cast<std::size_t>(x)];
    }
    T at(int x, int y) const { return const_cast<Picture&>(*this).at(x, y); }
};

/// Normal samples of this mean and contrast, rounded and clamped to the type.
template <class T>
Picture<T> noise(int width, int height, double mean, double contrast, std::uint64_t seed, int channels = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(mean, mean * contrast);
    Picture<T> picture(width, height, channels);
    for (T& pixel : picture.pixels) {
        const double value = normal(random);
        if constexpr (std::is_integral_v<T>)
            pixel = static_cast<T>(
                std::clamp(std::round(value), 0.0, static_cast<double>(std::numeric_limits<T>::max())));
        else
            pixel = static_cast<T>(value);
    }
    return picture;
}
/// Every value of the type alike: the largest sums there are.
template <class T> Picture<T> full_range(int width, int height, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Picture<T> picture(width, height);
    for (T& pixel : picture.pixels) {
        if constexpr (std::is_integral_v<T>)
            pixel = static_cast<T>(random());
        else
            pixel = std::ldexp(static_cast<float>(random() >> 40), static_cast<int>(random() % 8));
    }
    return picture;
}

// --- the truth ---

int truth_index(int i, int size, Border border) {
    if (border == Border::replicate)
        return std::clamp(i, 0, size - 1);
    if (border == Border::reflect)
        return i < 0 ? -1 - i : i >= size ? 2 * size - 1 - i : i;
    return i < 0 || i >= size ? -1 : i;
}

struct Truth {
    long double sum = 0, determinant = 0; ///< S, N·Q − S²
    bool saturated = false;
};

/// One window, sample by sample; integers exactly, f32 in two passes of long double.
template <class T>
Truth truth_at(const Picture<T>& picture, int x, int y, int radius, Border border, double full) {
    std::vector<long double> samples;
    Truth truth;
    for (int v = y - radius; v <= y + radius; ++v)
        for (int u = x - radius; u <= x + radius; ++u) {
            const int column = truth_index(u, picture.shape.width, border);
            const int row = truth_index(v, picture.shape.height, border);
            const T sample = column < 0 || row < 0 ? T{0} : picture.at(column, row);
            samples.push_back(sample);
            truth.saturated |= full > 0 && static_cast<double>(sample) >= full;
        }
    const auto n = static_cast<long double>(samples.size());
    for (const long double sample : samples)
        truth.sum += sample;
    for (const long double sample : samples)
        truth.determinant += (n * sample - truth.sum) * (n * sample - truth.sum) / n;
    return truth;
}

double truth_value(const Truth& truth, const SpeckleParams& params) {
    if (std::isnan(truth.sum) || truth.sum == 0)
        return std::nan("");
    const long double n = (2 * params.radius + 1) * (2 * params.radius + 1);
    const long double k2 = n / (n - 1) * truth.determinant / (truth.sum * truth.sum);
    const long double exposure_s = static_cast<long double>(params.exposure_ms) / 1000;
    switch (params.output) {
    case Output::sfi:
        return static_cast<double>(1 / (2 * exposure_s * k2));
    case Output::contrast:
        return static_cast<double>(std::sqrt(k2));
    case Output::contrast2:
        return static_cast<double>(k2);
    case Output::tau:
        return static_cast<double>(2 * exposure_s * k2);
    case Output::bfi:
        break;
    }
    return static_cast<double>(1 / k2);
}

/// Relative error of K, whichever output carries it; ∞ where only one of the two is NaN, 0 or ∞.
double contrast_error(double got, double want, Output output) {
    if ((std::isnan(got) && std::isnan(want)) || got == want)
        return 0;
    if (!std::isfinite(got) || !std::isfinite(want) || got == 0 || want == 0)
        return std::numeric_limits<double>::infinity();
    return output == Output::contrast ? std::abs(got / want - 1) : std::abs(std::sqrt(got / want) - 1);
}

// --- running things ---

class Cuda : public testing::Test {
protected:
    void SetUp() override {
        std::string reason;
        if (list_gpus(&reason).empty())
            GTEST_SKIP() << reason;
        executor = make_cuda_executor(0);
    }

    void use(const std::string& text) {
        auto chain = std::make_shared<Chain>();
        if (!text.empty())
            chain->add(text);
        executor->set_chain(chain, ++version);
    }
    void use(const SpeckleParams& params) {
        auto chain = std::make_shared<Chain>();
        ChainStage stage{&find_stage("speckle"), Params(speckle_table())};
        stage.params.as<SpeckleParams>() = params;
        chain->add(std::move(stage));
        executor->set_chain(chain, ++version);
    }

    template <class T> Frame frame_of(const Picture<T>& picture, FrameRing& ring) {
        Frame frame = ring.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        std::memset(view.data, 0xa5,
                    view.pitch * static_cast<std::size_t>(view.shape.height)); // padding is garbage
        copy_pixels(ConstHostView(reinterpret_cast<const std::byte*>(picture.pixels.data()), picture.shape),
                    view);
        return frame;
    }

    template <class T> Result run(const Picture<T>& picture, double full_scale = 0) {
        FrameRing ring(picture.shape, 1, executor->slot_memory());
        Frame frame = frame_of(picture, ring);
        frame.info().full_scale = full_scale;
        executor->submit(std::move(frame), true);
        std::optional<Result> result = executor->collect(true);
        EXPECT_TRUE(result);
        return std::move(*result);
    }

    /// Largest relative error of K over every `step`-th pixel.
    template <class T> double worst(const Picture<T>& picture, const SpeckleParams& params, int step = 1) {
        use(params);
        const Result result = run(picture);
        const auto got = result.image.host().template as<float>();
        const int margin = params.border == Border::crop ? params.radius : 0;
        EXPECT_EQ(got.width, picture.shape.width - 2 * margin);
        EXPECT_EQ(got.height, picture.shape.height - 2 * margin);
        double largest = 0;
        for (int i = 0; i < got.width * got.height; i += step) {
            const int x = i % got.width;
            const int y = i / got.width;
            const Truth truth = truth_at(picture, x + margin, y + margin, params.radius, params.border, 0);
            const double error =
                contrast_error(static_cast<double>(got.row(y)[x]), truth_value(truth, params), params.output);
            if (error > largest) {
                largest = error;
                if (error > 1e-6)
                    ADD_FAILURE() << "at " << x << ", " << y << ": " << got.row(y)[x] << ", truth "
                                  << truth_value(truth, params);
            }
        }
        return largest;
    }

    std::unique_ptr<Executor> executor;
    std::uint64_t version = 0;
};

std::string describe(const Shape& shape, const SpeckleParams& params) {
    return to_string(shape) + " radius " + std::to_string(params.radius) + " border " +
           std::to_string(static_cast<int>(params.border)) + " output " +
           std::to_string(static_cast<int>(params.output)) + " seed " + std::to_string(kSeed);
}

template <class T> class CudaContrast : public Cuda {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(CudaContrast, PixelTypes);

TYPED_TEST(CudaContrast, AgreesWithTheFormulaAtEveryBorderAndShape) {
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {3, 5}, {17, 13}, {33, 31}, {131, 70}, {631, 479}})
        for (const int radius : {1, 2, 3, 7, 15})
            for (const Border border : {Border::replicate, Border::reflect, Border::crop, Border::zero}) {
                const int side = std::min(width, height);
                if (border == Border::crop ? 2 * radius + 1 > side : radius > side)
                    continue;
                const auto picture = full_range<TypeParam>(width, height, kSeed);
                const SpeckleParams params{.radius = radius, .output = Output::contrast, .border = border};
                SCOPED_TRACE(describe(picture.shape, params));
                const int step = width * height * radius * radius < 2'000'000 ? 1 : radius < 7 ? 7 : 53;
                EXPECT_LE(this->worst(picture, params, step), 1e-6);
            }
}

TYPED_TEST(CudaContrast, AgreesWithTheFormulaAtEveryRadiusAndOutput) {
    const auto picture = noise<TypeParam>(157, 61, 100, 0.3, kSeed);
    for (int radius = 1; radius <= 15; ++radius)
        for (const Output output :
             {Output::sfi, Output::contrast, Output::contrast2, Output::tau, Output::bfi}) {
            const SpeckleParams params{.radius = radius, .exposure_ms = 7.5, .output = output};
            SCOPED_TRACE(describe(picture.shape, params));
            EXPECT_LE(this->worst(picture, params, 3), 1e-6);
        }
}

TYPED_TEST(CudaContrast, IsExactForConstantAndDarkImages) {
    for (const double level : {0.0, 1.0, 100.0, 200.0}) {
        Picture<TypeParam> picture(70, 40);
        std::fill(picture.pixels.begin(), picture.pixels.end(), static_cast<TypeParam>(level));
        for (const int radius : {1, 4, 9}) {
            this->use(SpeckleParams{.radius = radius});
            const Result result = this->run(picture);
            EXPECT_EQ(result.counts.undefined, level == 0 ? picture.shape.pixels() : 0);
            EXPECT_EQ(result.counts.infinite, level == 0 ? 0 : picture.shape.pixels());
            this->use(SpeckleParams{.radius = radius, .output = Output::contrast});
            const Result contrast = this->run(picture);
            const float middle = contrast.image.host().template as<float>().row(20)[30];
            EXPECT_TRUE(level == 0 ? std::isnan(middle) : middle == 0) << middle;
            EXPECT_EQ(contrast.counts.infinite, 0U);
        }
    }
}

TEST_F(Cuda, KeepsLowContrastOfBrightImages) {
    for (const int radius : {1, 2, 3, 5, 7, 8, 11, 15}) {
        const SpeckleParams params{.radius = radius, .output = Output::contrast};
        SCOPED_TRACE(describe(Shape{}, params));
        EXPECT_LE(worst(noise<std::uint16_t>(211, 150, 50000, 0.01, kSeed), params, 11), 1e-6);
        EXPECT_LE(worst(noise<float>(211, 150, 50000, 0.01, kSeed), params, 11), 1e-6);
        EXPECT_LE(worst(noise<std::uint16_t>(211, 150, 2000, 0.005, kSeed), params, 11), 1e-6); // 12 bit
    }
}

TEST_F(Cuda, SamplesThatAreNoNumbersSpoilOnlyTheirWindows) {
    for (const float hole :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F, -3.4e38F}) {
        Picture<float> picture = noise<float>(150, 90, 1000, 0.1, kSeed);
        picture.at(40, 30) = hole;
        picture.at(149, 89) = hole;
        for (const int radius : {1, 3, 10}) {
            const SpeckleParams params{.radius = radius, .output = Output::contrast};
            use(params);
            const Result result = run(picture);
            const auto got = result.image.host().as<float>();
            std::uint64_t spoilt = 0;
            for (int y = 0; y < got.height; ++y)
                for (int x = 0; x < got.width; ++x) {
                    const bool near = std::max(std::abs(x - 40), std::abs(y - 30)) <= radius ||
                                      (x + radius >= 149 && y + radius >= 89);
                    const auto value = static_cast<double>(got.row(y)[x]);
                    if (near) {
                        spoilt += std::isnan(value) ? 1 : 0;
                        continue;
                    }
                    const Truth truth = truth_at(picture, x, y, radius, params.border, 0);
                    ASSERT_LE(contrast_error(value, truth_value(truth, params), params.output), 1e-6)
                        << x << ", " << y << " radius " << radius << " hole " << hole;
                }
            EXPECT_EQ(result.counts.undefined, spoilt);
            if (!std::isfinite(hole)) {
                const auto side = static_cast<std::uint64_t>(2 * radius + 1);
                EXPECT_EQ(spoilt, side * side + static_cast<std::uint64_t>((radius + 1) * (radius + 1)));
            }
        }
    }
}

TYPED_TEST(CudaContrast, CountsUndefinedInfiniteAndSaturatedPixels) {
    std::mt19937_64 random(kSeed);
    for (const Border border : {Border::replicate, Border::reflect, Border::crop, Border::zero})
        for (const int radius : {1, 2, 7, 15}) {
            auto picture = noise<TypeParam>(203, 97, 90, 0.2, kSeed);
            for (int y = 10; y < 60; ++y)
                for (int x = 20; x < 75; ++x)
                    picture.at(x, y) = static_cast<TypeParam>(x < 50 ? 0 : 7);
            for (int i = 0; i < 25; ++i)
                picture.at(static_cast<int>(random() % 203), static_cast<int>(random() % 97)) =
                    static_cast<TypeParam>(220);
            const SpeckleParams params{.radius = radius, .border = border};
            SCOPED_TRACE(describe(picture.shape, params));
            this->use(params);
            const double full = 219.5;
            const Result result = this->run(picture, full);
            PixelCounts want;
            const int margin = border == Border::crop ? radius : 0;
            for (int y = margin; y < 97 - margin; ++y)
                for (int x = margin; x < 203 - margin; ++x) {
                    const Truth truth = truth_at(picture, x, y, radius, border, full);
                    const double value = truth_value(truth, params);
                    want.undefined += std::isnan(value) ? 1 : 0;
                    want.infinite += std::isinf(value) ? 1 : 0;
                    want.saturated += truth.saturated ? 1 : 0;
                }
            EXPECT_EQ(result.counts, want)
                << result.counts.undefined << " " << result.counts.infinite << " " << result.counts.saturated
                << " want " << want.undefined << " " << want.infinite << " " << want.saturated;
        }
}

TEST_F(Cuda, SaturationOfIntegersIsTheTypesOwnWhereTheCameraNamesNone) {
    auto picture = noise<std::uint16_t>(64, 48, 20000, 0.1, kSeed);
    use(SpeckleParams{.radius = 2});
    EXPECT_EQ(run(picture).counts, PixelCounts{});
    picture.at(30, 20) = 65535;
    EXPECT_EQ(run(picture).counts, (PixelCounts{.saturated = 25}));
    auto bytes = noise<std::uint8_t>(64, 48, 100, 0.1, kSeed);
    bytes.at(0, 0) = 255;
    EXPECT_EQ(run(bytes).counts, (PixelCounts{.saturated = 9}));
    auto reals = noise<float>(64, 48, 100, 0.1, kSeed);
    reals.at(0, 0) = 1e6F;
    EXPECT_EQ(run(reals).counts, PixelCounts{});
}

TEST_F(Cuda, ColourIsTurnedIntoLumaAsOnTheHost) {
    const auto picture = noise<std::uint8_t>(75, 50, 120, 0.3, kSeed, 3);
    Picture<std::uint8_t> grey(75, 50);
    convert(ConstHostView(reinterpret_cast<const std::byte*>(picture.pixels.data()), picture.shape),
            HostView(reinterpret_cast<std::byte*>(grey.pixels.data()), grey.shape));
    use(SpeckleParams{});
    const Result from_colour = run(picture);
    const Result from_grey = run(grey);
    for (int y = 0; y < 50; ++y)
        ASSERT_EQ(
            std::memcmp(from_colour.image.host().row(y), from_grey.image.host().row(y), 75 * sizeof(float)),
            0);
    EXPECT_EQ(from_colour.timings.entries[1].name, "convert");
}

// --- the executor ---

TEST_F(Cuda, KeepsTwoHundredFramesInOrderAndGivesEverySlotBack) {
    const Shape shape{320, 200, 1, PixelType::u16};
    FrameRing ring(shape, 8, executor->slot_memory());
    use(SpeckleParams{.radius = 2, .output = Output::contrast});
    std::uint64_t collected = 0;
    const auto take = [&](const Result& result) {
        EXPECT_EQ(result.info.sequence, collected);
        // Each frame is two columns of levels that name it: K of the seam is known.
        const double a = 1000 + static_cast<double>(result.info.sequence);
        const double b = 3000;
        const double n = 25, s = 15 * a + 10 * b, d = n * (15 * a * a + 10 * b * b) - s * s;
        EXPECT_LE(contrast_error(static_cast<double>(result.image.host().as<float>().row(100)[159]),
                                 std::sqrt(n / (n - 1) * d) / s, Output::contrast),
                  1e-6);
        EXPECT_GT(result.timings.count, 2U);
        ++collected;
    };
    for (std::uint64_t i = 0; i < 200; ++i) {
        while (executor->in_flight() == executor->capacity())
            take(*executor->collect(true));
        ASSERT_TRUE(executor->wait_slot(std::chrono::seconds(5)));
        Frame frame = ring.acquire(std::chrono::seconds(5));
        ASSERT_TRUE(frame);
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
    EXPECT_EQ(ring.free_slots(), 8);
    EXPECT_EQ(executor->in_flight(), 0);
}

TEST_F(Cuda, HoldsBackWhenAllResultsAreTaken) {
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

TEST_F(Cuda, DownloadsOnlyWhenAsked) {
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

    // An edit that cannot be leaves the old chain in place.
    use(SpeckleParams{.radius = 3, .output = Output::contrast});
    const auto tiny = noise<std::uint8_t>(8, 8, 100, 0.2, kSeed);
    run(tiny);
    EXPECT_THROW(use(SpeckleParams{.radius = 15}), UsageError);
    const Result still = run(tiny);
    EXPECT_EQ(still.chain->stages()[0].params.as<SpeckleParams>().radius, 3);
    // A frame that the chain cannot take is refused and gives its slot back.
    FrameRing ring({2, 2, 1, PixelType::u8}, 1, executor->slot_memory());
    EXPECT_THROW(executor->submit(ring.try_acquire(), true), UsageError);
    EXPECT_EQ(ring.free_slots(), 1);
    EXPECT_EQ(executor->in_flight(), 0);
    EXPECT_LE(worst(large, {.radius = 5, .output = Output::contrast}, 7), 1e-6);
}

TEST_F(Cuda, AnEmptyChainGivesTheFrameItself) {
    const auto picture = noise<std::uint8_t>(77, 33, 120, 0.4, kSeed, 3);
    use("");
    const Result result = run(picture);
    EXPECT_EQ(result.shape(), picture.shape);
    EXPECT_EQ(result.device_image.shape(), picture.shape);
    for (int y = 0; y < 33; ++y)
        ASSERT_EQ(std::memcmp(result.image.host().row(y), picture.pixels.data() + y * 231, 231), 0);
}

TEST_F(Cuda, TheCamerasExposureGoesBeforeTheParameter) {
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

TEST(CudaDevices, SaysWhatThereIsOrWhyThereIsNone) {
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

} // namespace
} // namespace specklescope

#endif
