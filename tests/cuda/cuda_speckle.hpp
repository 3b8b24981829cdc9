// One stage on a device executor, and the exact speckle contrast in float64, window by window.
#pragma once

#include "cuda/devices.hpp"
#include "pipeline/executor.hpp"
#include "stages/speckle/speckle.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace specklescope {

using Output = SpeckleParams::Output;

inline constexpr std::uint64_t kSeed = 20110523;

/// The counts of a stage, without those added by the executor.
inline PixelCounts of_stage(const PixelCounts& counts) {
    return {.undefined = counts.undefined, .infinite = counts.infinite, .saturated = counts.saturated};
}

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

/// Normal samples with this mean and contrast, rounded and clamped to the type.
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
/// Uniform over the type's range: the largest sums.
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

using Truth = test::OracleWindow;
using test::contrast_error;

/// One window; `full`: full scale, 0 for none.
template <class T>
Truth truth_at(const Picture<T>& picture, int x, int y, int radius, Border border, double full) {
    const auto at = [&](int u, int v) { return picture.at(u, v); };
    const SpeckleParams params{.radius = radius, .border = border};
    return test::oracle_window(test::oracle_samples(picture.shape, at, x, y, params),
                               full > 0 ? full : std::numeric_limits<double>::infinity());
}

inline double truth_value(const Truth& truth, const SpeckleParams& params) {
    return test::oracle_value(truth, params, params.exposure_ms / 1000);
}

// --- running things ---

class Cuda : public testing::Test {
protected:
    void SetUp() override {
        if (!test::needs_gpu())
            return;
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
        ChainStage stage{&find_stage("speckle"), Params(*find_stage("speckle").table)};
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

inline std::string describe(const Shape& shape, const SpeckleParams& params) {
    return to_string(shape) + " radius " + std::to_string(params.radius) + " border " +
           std::to_string(static_cast<int>(params.border)) + " output " +
           std::to_string(static_cast<int>(params.output)) + " seed " + std::to_string(kSeed);
}

} // namespace specklescope
