// Random images for tests. The seed is printed, so that a failure can be repeated: SPECKLESCOPE_TEST_SEED=….
#pragma once

#include "pipeline/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace specklescope::test {

/// One seed for the process: the environment's, or a new one.
inline std::uint64_t test_seed() {
    static const std::uint64_t seed = [] {
        const char* given = std::getenv("SPECKLESCOPE_TEST_SEED");
        const std::uint64_t value = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        std::printf("SPECKLESCOPE_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
        return value;
    }();
    return seed;
}

/// Independent of the order of tests: each names its own stream.
inline std::mt19937_64 test_random(std::uint64_t stream) {
    return std::mt19937_64(test_seed() * 1000003 + stream);
}

/// An image that owns its pixels, with rows `extra` pixels longer than the image. The memory ends with the
/// last row's last pixel, so that the address sanitizer detects a read beyond it.
template <class T> class TestImage {
public:
    TestImage(int width, int height, int extra = 0, int channels = 1)
        : shape_{width, height, channels, pixel_type_of<T>()},
          stride_(static_cast<std::size_t>((width + extra) * channels)),
          pixels_(stride_ * static_cast<std::size_t>(height - 1) +
                  static_cast<std::size_t>(width * channels)) {}

    const Shape& shape() const { return shape_; }
    T& at(int x, int y) {
        return pixels_[static_cast<std::size_t>(y) * stride_ + static_cast<std::size_t>(x)];
    }
    T at(int x, int y) const {
        return pixels_[static_cast<std::size_t>(y) * stride_ + static_cast<std::size_t>(x)];
    }
    HostView view() { return {reinterpret_cast<std::byte*>(pixels_.data()), shape_, stride_ * sizeof(T)}; }
    ConstHostView view() const {
        return {reinterpret_cast<const std::byte*>(pixels_.data()), shape_, stride_ * sizeof(T)};
    }
    /// Sets every pixel (interleaved channels) to f(); the padding stays.
    template <class F> TestImage& fill(F&& f) {
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width * shape_.channels; ++x)
                at(x, y) = static_cast<T>(f());
        return *this;
    }

private:
    Shape shape_;
    std::size_t stride_;
    std::vector<T> pixels_;
};

/// Uniform over [low, high].
template <class T>
TestImage<T> uniform_image(int width, int height, double low, double high, std::mt19937_64& random) {
    TestImage<T> image(width, height, 3);
    if constexpr (std::is_integral_v<T>) {
        std::uniform_int_distribution<int> value(static_cast<int>(low), static_cast<int>(high));
        return image.fill([&] { return value(random); });
    } else {
        std::uniform_real_distribution<double> value(low, high);
        return image.fill([&] { return value(random); });
    }
}

/// Fully developed speckle: intensities with a negative exponential distribution, clipped to [0, full].
template <class T>
TestImage<T> speckle_image(int width, int height, double mean, double full, std::mt19937_64& random) {
    std::exponential_distribution<double> value(1 / mean);
    return TestImage<T>(width, height, 3).fill([&] { return std::min(full, value(random)); });
}

/// Normal around `mean` with contrast K = s/mean.
template <class T> TestImage<T> low_contrast_image(int width, int height, double mean, double contrast,
                                                   std::mt19937_64& random) {
    std::normal_distribution<double> value(mean, contrast * mean);
    return TestImage<T>(width, height, 3).fill([&] { return std::max(0.0, std::round(value(random))); });
}

} // namespace specklescope::test
