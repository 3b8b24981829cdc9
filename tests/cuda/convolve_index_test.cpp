// Where the device convolution puts pixels, weights and results, without a device.
#include <gtest/gtest.h>

#include "cuda/convolve/convolution_index.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/stages/convolve/convolve_sums.hpp"

#include <complex>
#include <numbers>

namespace specklescope::test {
namespace {

/// The device's way of placing pixels, weights and results along one axis, with the cyclic sum written out.
void check_axis(int size, int kernel, Border border, std::size_t points) {
    const Shape shape{size, 8, 1, PixelType::f32};
    ConvolutionLimits limits;
    limits.space = Space::device;
    limits.bytes = points;
    limits.memory = [](int width, int) { return static_cast<std::size_t>(width); };
    const ConvolutionAxis axis = plan_convolution(shape, kernel, 1, border, limits).x;
    auto random = test_random(static_cast<std::uint64_t>(size * 1000 + kernel));
    const Weights weights = random_weights(kernel, 1, random);
    const auto image = uniform_image<float>(size, 1, 0, 1, random);
    const Border outside = border == Border::omit ? Border::zero : border;
    const int margin = border == Border::crop ? kernel - 1 - kernel / 2 : 0;
    for (int t = 0; t < axis.tiles; ++t)
        for (int d = 0; d < axis.tile_results(t); ++d) {
            double sum = 0;
            for (int p = 0; p < axis.fft; ++p) {
                const int pixel = axis.source(t, cuda::axis_position(axis, p), outside);
                const int weight = axis.kernel_pixel((d - p + axis.fft) % axis.fft);
                if (pixel >= 0 && weight >= 0)
                    sum += weights.at(weight, 0) * static_cast<double>(image.at(pixel, 0));
            }
            const int x = axis.first_result(t) + d;
            ASSERT_NEAR(sum, truth_at(image, weights, x + margin, 0, 0, outside), 1e-9)
                << "size " << size << " kernel " << kernel << " border " << static_cast<int>(border)
                << " tile " << t << " result " << d;
        }
}

TEST(ConvolveIndex, PlacesPixelsWeightsAndResultsAsTheSumAsks) {
    for (const auto& [size, kernel] :
         {std::pair{1, 1}, {7, 3}, {8, 4}, {20, 20}, {13, 30}, {64, 9}, {30, 59}})
        for (const Border border :
             {Border::replicate, Border::reflect, Border::wrap, Border::zero, Border::omit, Border::crop})
            for (const std::size_t most : {std::size_t{4096}, static_cast<std::size_t>(2 * kernel + 16)})
                if (border != Border::crop || kernel <= size)
                    check_axis(size, kernel, border, most);
}

TEST(ConvolveIndex, CandidatesHoldTheWholeAxis) {
    for (const auto& [size, kernel] : {std::pair{100, 31}, {3840, 255}, {4750, 4750}, {5, 40}})
        for (const Border border : {Border::replicate, Border::zero, Border::crop}) {
            if (border == Border::crop && kernel > size)
                continue;
            ConvolutionLimits limits;
            limits.space = Space::device;
            limits.bytes = 1;
            limits.memory = [](int, int) { return std::size_t{1}; };
            const ConvolutionAxis planned =
                plan_convolution({size, size, 1, PixelType::f32}, kernel, kernel, border, limits).x;
            for (const int candidate : cuda::candidate_sizes(planned, border)) {
                EXPECT_EQ(candidate % 2, 0);
                const ConvolutionAxis axis = cuda::whole_axis(planned, candidate, border);
                for (int k = 0; k < kernel; ++k)
                    ASSERT_EQ(axis.kernel_pixel(axis.kernel_position(k)), k);
                // The outermost results see the outermost pixels, and nothing in their place twice.
                for (const int result : {0, axis.results - 1})
                    for (int k = 0; k < kernel; ++k) {
                        const int position = (result - (k - kernel / 2) + axis.fft) % axis.fft;
                        const int pixel = axis.source(0, cuda::axis_position(axis, position), border);
                        ASSERT_EQ(pixel, oracle_index(axis.shift + result - (k - kernel / 2), size, border));
                    }
            }
        }
}

TEST(ConvolveIndex, TapSpectrumIsTheTransformOfTheTaps) {
    GaussianParams params;
    params.sigma = 2.3;
    const std::vector<double> taps = oracle_taps(params);
    constexpr int kLength = 48;
    const std::vector<float> spectrum = cuda::tap_spectrum(taps, kLength, kLength);
    const int middle = static_cast<int>(taps.size()) / 2;
    for (int f = 0; f < kLength; ++f) {
        std::complex<double> sum = 0;
        for (int i = -middle; i <= middle; ++i)
            sum += taps[static_cast<std::size_t>(i + middle)] *
                   std::polar(1.0, -2 * std::numbers::pi * i * f / kLength);
        EXPECT_NEAR(static_cast<double>(spectrum[static_cast<std::size_t>(f)]), sum.real() / kLength, 1e-8);
        EXPECT_NEAR(sum.imag(), 0, 1e-12);
    }
}

} // namespace
} // namespace specklescope::test
