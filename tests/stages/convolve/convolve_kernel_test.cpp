// Kernels of stage convolve: from formulas and from files.
#include "stages/convolve/convolution_geometry.hpp"
#include "tests/reference/convolve_reference.hpp"
#include "tests/stages/convolve/convolve_oracle.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

namespace specklescope::test::convolve_kernel_test {

using Kernel = ConvolveParams::Kernel;
constexpr Shape kImage{64, 48, 1, PixelType::f32};

double sum_of(const ConvolveKernel& kernel) {
    return std::accumulate(kernel.weights.begin(), kernel.weights.end(), 0.0);
}

KernelFormula glare(double age, double pigment, double degrees) {
    KernelFormula formula;
    formula.kind = Kernel::glare;
    formula.age = age;
    formula.pigment = pigment;
    formula.degrees = degrees;
    return formula;
}

TEST(Glare, matches_cie_146) {
    for (const VeilReference& reference : kVeilReference)
        EXPECT_NEAR(glare_veil(reference.theta, reference.age, reference.pigment, 0) / reference.value, 1,
                    1e-12);
    EXPECT_EQ(glare_veil(101, 50, 1, 0), 0);
    EXPECT_EQ(glare_veil(0.01, 50, 1, 0), glare_veil(0.1, 50, 1, 0));
}

/// The terms of the lens are multiplied by age: 10^c adds (10^c − 1) times them.
TEST(Glare, cataract_multiplies_the_straylight_of_the_lens) {
    for (const double theta : {0.1, 1.0, 7.0, 60.0})
        for (const double cataract : {0.3, 1.0}) {
            const double lens = (5 / (theta * theta) + 0.1 * 0.5 / theta) * (1 + std::pow(70 / 62.5, 4));
            const double more = glare_veil(theta, 70, 0.5, cataract) - glare_veil(theta, 70, 0.5, 0);
            EXPECT_NEAR(more / (lens * (std::pow(10, cataract) - 1)), 1, 1e-12);
        }
    // Where the lens dominates, log10 of the straylight parameter increases by c.
    EXPECT_NEAR(std::log10(glare_veil(10, 70, 0.5, 0.5) / glare_veil(10, 70, 0.5, 0)), 0.5, 0.03);
}

TEST(Glare, an_eye_does_not_scatter_more_light_than_there_is) {
    ConvolveParams params;
    params.kernel = Kernel::glare;
    params.normalize = false;
    for (const double degrees : {0.002, 0.05, 2.0})
        for (const double cataract : {0.0, 0.3, 0.5}) {
            params.degrees = degrees;
            params.cataract = cataract;
            params.age = 40;
            const KernelFormula formula = kernel_formula(params, kImage);
            double sum = 0; // pixel by pixel
            for (int y = 0; y < formula.height; ++y)
                for (int x = 0; x < formula.width; ++x)
                    sum += kernel_value(formula, x, y);
            EXPECT_NEAR(scattered_part(formula) / sum, 1, 0.02) << degrees << " " << cataract;
            EXPECT_LT(sum, 1);
        }
    params.age = 90;
    params.cataract = 1;
    params.degrees = 1;
    try {
        (void)make_kernel(params, kImage);
        FAIL() << "no such eye";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("cataract"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("more than there is"), std::string::npos) << error.what();
    }
}

TEST(Glare, integrates_the_light_over_each_pixel) {
    for (const GlareReference& reference : kGlareReference) {
        const KernelFormula formula = glare(reference.age, reference.pigment, reference.degrees);
        EXPECT_NEAR(glare_pixel(reference.x, reference.y, formula) / reference.value, 1, 5e-3)
            << reference.degrees << ": " << reference.x << ", " << reference.y;
    }
}

TEST(Glare, loses_no_light_at_any_age_and_scale) {
    for (const double age : {1.0, 40.0, 100.0})
        for (const double pigment : {0.0, 1.2})
            for (const double degrees : {0.002, 0.05, 2.0})
                for (const bool normalize : {false, true}) {
                    ConvolveParams params;
                    params.kernel = Kernel::glare;
                    params.age = age;
                    params.pigment = pigment;
                    params.degrees = degrees;
                    params.normalize = normalize;
                    const ConvolveKernel kernel = make_kernel(params, kImage);
                    EXPECT_NEAR(sum_of(kernel), 1, 1e-5);
                    const int x = kernel.width / 2;
                    const int y = kernel.height / 2;
                    EXPECT_GT(kernel.row(0, y)[x], 0) << age << " " << pigment << " " << degrees;
                    EXPECT_GE(kernel.row(0, y)[x], kernel.row(0, y)[x + 1]) << age << " " << degrees;
                }
}

TEST(Glare, reaches_from_every_pixel_to_every_other_within_a_hundred_degrees) {
    ConvolveParams params;
    params.kernel = Kernel::glare;
    EXPECT_EQ(make_kernel(params, kImage).width, 127);
    EXPECT_EQ(make_kernel(params, kImage).height, 95);
    params.degrees = 2; // 100° are 50 pixels
    EXPECT_EQ(make_kernel(params, kImage).width, 101);
    EXPECT_EQ(make_kernel(params, kImage).height, 95);
    params.size = 30;
    EXPECT_EQ(make_kernel(params, kImage).width, 29);
}

TEST(Kernel, disk_covers_the_exact_part_of_each_pixel) {
    for (const DiskReference& reference : kDiskReference)
        EXPECT_NEAR(disk_pixel(reference.x, reference.y, reference.radius), reference.value, 1e-3)
            << reference.radius << ": " << reference.x << ", " << reference.y;
    for (const double radius : {0.5, 0.7, 3.0, 7.77, 40.0}) {
        ConvolveParams params;
        params.kernel = Kernel::disk;
        params.radius = radius;
        params.normalize = false;
        const ConvolveKernel kernel = make_kernel(params, kImage);
        EXPECT_EQ(kernel.width, 2 * static_cast<int>(std::ceil(radius - 0.5)) + 1);
        EXPECT_NEAR(sum_of(kernel), 1, 2e-3) << radius;
        for (int i = 0; i < kernel.width; ++i)
            EXPECT_NEAR(kernel.row(0, 0)[i], kernel.row(0, i)[0], 1e-7); // the diagonal
    }
}

TEST(Kernel, line_along_an_axis_is_a_row_of_equal_pixels) {
    ConvolveParams params;
    params.kernel = Kernel::line;
    params.length = 9;
    params.normalize = false;
    for (const double angle : {0.0, 90.0, 180.0, -90.0}) {
        params.angle = angle;
        const ConvolveKernel kernel = make_kernel(params, kImage);
        const bool across = std::fmod(angle, 180) == 0;
        EXPECT_EQ(kernel.width, across ? 9 : 1);
        EXPECT_EQ(kernel.height, across ? 1 : 9);
        for (const float weight : kernel.weights)
            EXPECT_FLOAT_EQ(weight, 1.0F / 9);
    }
}

TEST(Kernel, line_turns_counterclockwise_and_keeps_its_light) {
    ConvolveParams params;
    params.kernel = Kernel::line;
    params.length = 20;
    params.angle = 30;
    params.normalize = false;
    const ConvolveKernel kernel = make_kernel(params, kImage);
    EXPECT_NEAR(sum_of(kernel), 1, 0.01);
    const int x = kernel.width / 2;
    const int y = kernel.height / 2;
    EXPECT_GT(kernel.row(0, y - 4)[x + 7], 0.02F); // up on the right
    EXPECT_EQ(kernel.row(0, y + 4)[x + 7], 0);
    EXPECT_GT(kernel.row(0, y + 4)[x - 7], 0.02F);
}

TEST(Kernel, gaussian_is_the_product_of_two) {
    ConvolveParams params;
    params.sigma = 2.5;
    const ConvolveKernel kernel = make_kernel(params, kImage);
    EXPECT_EQ(kernel.width, 21);
    EXPECT_NEAR(sum_of(kernel), 1, 1e-6);
    const double centre = kernel.row(0, 10)[10];
    for (int y = 0; y < 21; ++y)
        for (int x = 0; x < 21; ++x)
            EXPECT_NEAR(kernel.row(0, y)[x] / centre,
                        std::exp(-((x - 10) * (x - 10) + (y - 10) * (y - 10)) / (2 * 2.5 * 2.5)), 1e-6);
}

TEST(StageConvolve, runs_by_its_parameters) {
    Params params(*find_stage("convolve").table);
    params.set_text("kernel", "disk");
    params.set_text("radius", "4.5");
    params.set_text("border", "reflect");
    const std::unique_ptr<HostStage> stage = find_stage("convolve").make_host(params);
    std::mt19937_64 random = test_random(31);
    for (const auto& [width, height] : {std::pair{50, 40}, {33, 70}}) { // prepared again for another size
        const TestImage<std::uint16_t> image = uniform_image<std::uint16_t>(width, height, 0, 65535, random);
        EXPECT_EQ(stage->prepare(image.shape()), image.shape());
        TestImage<std::uint16_t> result(width, height);
        FrameInfo info;
        PixelCounts counts;
        stage->run(image.view(), result.view(), {info, counts});
        const auto expected =
            oracle_convolve(image, make_kernel(params.as<ConvolveParams>(), image.shape()), Border::reflect);
        for (int i = 0; i < width * height; ++i)
            ASSERT_NEAR(result.at(i % width, i / width), expected[static_cast<std::size_t>(i)], 0.6);
        EXPECT_EQ(stage->note().substr(0, 7), "whole, ");
    }
}

TEST(StageConvolve, glare_keeps_a_constant_image) {
    Params params(*find_stage("convolve").table);
    params.set_text("kernel", "glare");
    const std::unique_ptr<HostStage> stage = find_stage("convolve").make_host(params);
    TestImage<float> image(70, 50, 0, 3);
    image.fill([] { return 250.0; });
    TestImage<float> result(70, 50, 0, 3);
    stage->prepare(image.shape());
    FrameInfo info;
    PixelCounts counts;
    stage->run(image.view(), result.view(), {info, counts});
    for (int y = 0; y < 50; ++y)
        for (int x = 0; x < 210; ++x)
            ASSERT_NEAR(result.at(x, y), 250, 2.5e-3);
}

TEST(ConvolutionGeometry, covers_every_result_once_and_never_wraps) {
    std::mt19937_64 random = test_random(32);
    std::uniform_int_distribution<int> side(1, 500);
    std::uniform_int_distribution<std::size_t> budget(20'000, 2'000'000);
    for (int round = 0; round < 300; ++round) {
        const Shape image{side(random), side(random), 1, PixelType::f32};
        const int width = side(random);
        const int height = side(random);
        const auto border = static_cast<Border>(round % 5); // crop has other rules
        const auto memory = [](int w, int h) { return static_cast<std::size_t>(w) * h * 8U; };
        const std::size_t bytes =
            std::max(budget(random), memory(fast_size(width) * 2, fast_size(height) * 2));
        const ConvolutionGeometry g =
            plan_convolution(image, width, height, border, {.bytes = bytes, .memory = memory});
        EXPECT_LE(memory(g.x.fft, g.y.fft), bytes);
        for (const ConvolutionAxis& axis : {g.x, g.y}) {
            int results = 0;
            for (int t = 0; t < axis.tiles; ++t) {
                EXPECT_GT(axis.tile_results(t), 0);
                results += axis.tile_results(t);
            }
            EXPECT_EQ(results, axis.results);
            EXPECT_LE(axis.filled, axis.fft);
            EXPECT_LE(axis.origin + axis.tile, axis.fft);
            for (int k = 0; k < axis.kernel; ++k)
                EXPECT_EQ(axis.kernel_pixel(axis.kernel_position(k)), k);
            // Positions within reach of a result, also cyclically, are neighbours in the image.
            for (const int p : {axis.origin, axis.origin + axis.tile_results(0) - 1})
                for (const int k : {0, axis.kernel / 2, axis.kernel - 1}) {
                    const int position = (p + axis.kernel / 2 - k + axis.fft) % axis.fft;
                    const int pixel = p - axis.origin + axis.kernel / 2 - k;
                    EXPECT_EQ(axis.source(0, position, g.border), oracle_index(pixel, axis.size, g.border));
                }
        }
    }
}

TEST(ConvolutionGeometry, sizes_are_even_and_of_small_factors) {
    for (int n = 1; n < 3000; n += 7) {
        int rest = fast_size(n);
        EXPECT_GE(rest, n);
        EXPECT_EQ(rest % 2, 0);
        for (const int factor : {2, 3, 5, 7})
            while (rest % factor == 0)
                rest /= factor;
        EXPECT_EQ(rest, 1);
    }
}

/// The best even size between the requested one and twice that, by trying all.
TEST(ConvolutionGeometry, the_fast_size_is_the_fastest) {
    for (int n = 1; n < 3000; n += 13) {
        double best = std::numeric_limits<double>::infinity();
        for (int size = n + n % 2; size <= std::max(8, 2 * n + 2); size += 2)
            best = std::min(best, size * host_line_cost(size));
        const int fast = fast_size(n);
        EXPECT_EQ(fast * host_line_cost(fast), best) << n << ": " << fast;
    }
}

} // namespace specklescope::test::convolve_kernel_test
