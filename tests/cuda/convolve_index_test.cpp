// Layout of the device convolution: pixels, weights and results, without a device.
#include <gtest/gtest.h>

#include "cuda/convolve/fft_line.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/stages/convolve/convolve_sums.hpp"

#include <complex>
#include <numbers>
#include <set>

namespace specklescope::test::convolve_index_test {

/// The device's mapping of pixels, weights and results along one axis, with an explicit cyclic sum: image
/// rows by tile_columns(), columns of spectra by tile_rows().
void check_axis(int size, int kernel, Border border, std::size_t points) {
    const Shape shape{size, 8, 1, PixelType::f32};
    const cuda::DeviceLineCosts costs = cuda::device_line_costs(1 << 17);
    ConvolutionLimits limits;
    limits.bytes = points;
    limits.memory = [](int width, int) { return static_cast<std::size_t>(width); };
    limits.across = costs.across;
    limits.down = costs.down;
    const ConvolutionAxis axis = plan_convolution(shape, kernel, 1, border, limits).x;
    auto random = test_random(static_cast<std::uint64_t>(size * 1000 + kernel));
    const Weights weights = random_weights(kernel, 1, random);
    const auto image = uniform_image<float>(size, 1, 0, 1, random);
    const Border outside = border == Border::omit ? Border::zero : border;
    const int margin = border == Border::crop ? kernel - 1 - kernel / 2 : 0;
    for (int t = 0; t < axis.tiles; ++t) {
        const std::vector<int> columns = tile_columns(axis, t, outside);
        const TileRows rows = tile_rows(axis, t, outside);
        ASSERT_EQ(std::set<int>(rows.rows.begin(), rows.rows.end()).size(), rows.rows.size());
        // Results replace rows that are not needed any more.
        ASSERT_GE(static_cast<int>(rows.rows.size()), axis.tile_results(t));
        for (int d = 0; d < axis.tile_results(t); ++d) {
            double sum = 0;
            for (int p = 0; p < axis.fft; ++p) {
                const auto position = static_cast<std::size_t>(p);
                const int pixel = columns[position];
                const int place = rows.place[position];
                ASSERT_EQ(place < 0 ? -1 : rows.rows[static_cast<std::size_t>(place)], pixel);
                const int weight = axis.kernel_pixel((axis.origin + d - p + axis.fft) % axis.fft);
                if (pixel >= 0 && weight >= 0)
                    sum += weights.at(weight, 0) * static_cast<double>(image.at(pixel, 0));
            }
            const int x = axis.first_result(t) + d;
            ASSERT_NEAR(sum, truth_at(image, weights, x + margin, 0, 0, outside), 1e-9)
                << "size " << size << " kernel " << kernel << " border " << static_cast<int>(border)
                << " tile " << t << " result " << d;
        }
    }
}

TEST(ConvolveIndex, PlacesPixelsWeightsAndResultsForTheSum) {
    for (const auto& [size, kernel] :
         {std::pair{1, 1}, {7, 3}, {8, 4}, {20, 20}, {13, 30}, {64, 9}, {30, 59}})
        for (const Border border :
             {Border::replicate, Border::reflect, Border::wrap, Border::zero, Border::omit, Border::crop})
            for (const std::size_t most : {std::size_t{4096}, static_cast<std::size_t>(2 * kernel + 16)})
                if (border != Border::crop || kernel <= size)
                    check_axis(size, kernel, border, most);
}

TEST(ConvolveIndex, AnImageLongerThanALineIsTiledAndALongerKernelRefused) {
    constexpr int kBytes = 8192; // lines of fewer than 1024 points, rows of twice as many
    const cuda::DeviceLineCosts costs = cuda::device_line_costs(kBytes);
    ConvolutionLimits limits;
    limits.bytes = std::size_t{1} << 40;
    limits.memory = [](int, int) { return std::size_t{1}; };
    limits.across = costs.across;
    limits.down = costs.down;
    const Shape shape{5000, 3000, 1, PixelType::f32};
    const ConvolutionGeometry geometry = plan_convolution(shape, 101, 63, Border::reflect, limits);
    EXPECT_LT(geometry.x.fft, 2048);
    EXPECT_LT(geometry.y.fft, 1024);
    EXPECT_GT(geometry.x.tiles, 2);
    EXPECT_GT(geometry.y.tiles, 2);
    EXPECT_THROW(static_cast<void>(plan_convolution(shape, 101, 1500, Border::reflect, limits)), UsageError);
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

} // namespace specklescope::test::convolve_index_test
