// Convolution by transforms equals its formula: every border, any kernel size, whole or in tiles.
#include "stages/convolve/convolve.hpp"
#include "stages/convolve/host_convolution.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/reference/convolve_reference.hpp"
#include "tests/stages/convolve/convolve_oracle.hpp"
#include "tests/support/instruction_sets.hpp"

#include <gtest/gtest.h>

namespace specklescope::test::convolve_test {

constexpr std::size_t kPlenty = std::size_t{1} << 30;
constexpr Border kBorders[] = {Border::replicate, Border::reflect, Border::wrap,
                               Border::zero,      Border::omit,    Border::crop};

template <class T> TestImage<T> random_image(const Shape& shape, double high, std::mt19937_64& random) {
    std::uniform_real_distribution<double> value(0, high);
    return TestImage<T>(shape.width, shape.height, 5, shape.channels).fill([&] { return value(random); });
}

template <class T> TestImage<T> result_image(const Shape& shape) {
    return TestImage<T>(shape.width, shape.height, 2, shape.channels);
}

/// f32: within 1e-5 of the largest; integers: the rounded oracle, except where float32 decides a tie.
template <class T>
void expect_close(const TestImage<T>& result, const std::vector<double>& expected, double full) {
    std::size_t i = 0;
    for (int y = 0; y < result.shape().height; ++y)
        for (int x = 0; x < result.shape().width * result.shape().channels; ++x, ++i) {
            const double allowed = std::is_integral_v<T> ? 0.5 + 1e-5 * full : 1e-5 * full;
            ASSERT_NEAR(result.at(x, y), expected[i], allowed) << "at " << x << ", " << y;
        }
    ASSERT_EQ(i, expected.size());
}

template <class T> void check(const Shape& shape, const ConvolveKernel& kernel, Border border, double full,
                              std::mt19937_64& random) {
    SCOPED_TRACE(to_string(shape) + ", kernel " + std::to_string(kernel.width) + "x" +
                 std::to_string(kernel.height) + "x" + std::to_string(kernel.channels) + ", border " +
                 std::to_string(static_cast<int>(border)));
    const TestImage<T> image = random_image<T>(shape, full, random);
    HostConvolution convolution(image.shape(), kernel, border == Border::omit ? Border::zero : border,
                                kPlenty);
    TestImage<T> result = result_image<T>(convolution.output());
    convolution.run(image.view(), result.view());
    expect_close(result, oracle_convolve(image, kernel, border == Border::omit ? Border::zero : border),
                 full);
}

TEST(Convolution, agrees_with_scipy) {
    std::uint32_t state = 12345;
    const auto next = [&] { return (state = 1664525 * state + 1013904223) >> 16; };
    const TestImage<float> image = TestImage<float>(kReferenceWidth, kReferenceHeight, 3).fill(next);
    for (const ConvolveReference& reference : kConvolveReference) {
        state = 777;
        ConvolveKernel kernel{reference.width, reference.height, 1, {}};
        double sum = 0;
        for (int i = 0; i < reference.width * reference.height; ++i)
            kernel.weights.push_back(static_cast<float>(next()));
        for (const float weight : kernel.weights)
            sum += weight;
        for (float& weight : kernel.weights)
            weight = static_cast<float>(weight / sum);
        const Border border = reference.border == "replicate" ? Border::replicate
                              : reference.border == "reflect" ? Border::reflect
                              : reference.border == "wrap"    ? Border::wrap
                                                              : Border::zero;
        HostConvolution convolution(image.shape(), kernel, border, kPlenty);
        TestImage<float> result(kReferenceWidth, kReferenceHeight);
        convolution.run(image.view(), result.view());
        EXPECT_NEAR(result.at(reference.x, reference.y), reference.value, 65535e-5)
            << reference.width << "x" << reference.height << " " << reference.border;
    }
}

class ConvolutionTargets : public EveryInstructionSet {};

TEST_P(ConvolutionTargets, agrees_with_the_formula_for_every_type_and_border) {
    std::mt19937_64 random = test_random(21);
    for (const int channels : {1, 3})
        for (const Border border : kBorders) {
            const ConvolveKernel kernel = random_kernel(9, 6, 1, random);
            check<std::uint8_t>({37, 29, channels}, kernel, border, 255, random);
            check<std::uint16_t>({26, 41, channels}, kernel, border, 65535, random);
            check<float>({33, 28, channels}, kernel, border, 1, random);
        }
}

INSTANTIATE_TEST_SUITE_P(Every, ConvolutionTargets, instruction_sets(), instruction_set_name);

TEST(Convolution, agrees_with_the_formula_for_awkward_shapes) {
    std::mt19937_64 random = test_random(22);
    const std::pair<int, int> sizes[] = {{1, 1}, {1, 19}, {23, 1}, {2, 2}, {7, 5}, {64, 3}};
    const std::pair<int, int> kernels[] = {{1, 1}, {2, 2}, {1, 7}, {8, 1}, {13, 21}, {40, 3}};
    for (const auto& [width, height] : sizes)
        for (const auto& [kernel_width, kernel_height] : kernels)
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero})
                check<float>({width, height, 1}, random_kernel(kernel_width, kernel_height, 1, random),
                             border, 1, random);
}

TEST(Convolution, takes_a_kernel_for_each_channel) {
    std::mt19937_64 random = test_random(23);
    check<float>({31, 18, 3}, random_kernel(7, 7, 3, random), Border::replicate, 1, random);
    check<std::uint8_t>({31, 18, 3}, random_kernel(4, 11, 3, random), Border::wrap, 255, random);
}

template <class T> void delta_is_identity(int width, int height, double full, std::mt19937_64& random) {
    for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
        ConvolveKernel kernel{width, height, 1, {}};
        kernel.weights.resize(static_cast<std::size_t>(width * height));
        kernel.weights[static_cast<std::size_t>(height / 2 * width + width / 2)] = 1;
        const TestImage<T> image = random_image<T>({61, 47, 3}, full, random);
        TestImage<T> result(61, 47, 1, 3);
        HostConvolution(image.shape(), kernel, border, kPlenty).run(image.view(), result.view());
        for (int y = 0; y < 47; ++y)
            for (int x = 0; x < 3 * 61; ++x)
                if constexpr (std::is_integral_v<T>)
                    ASSERT_EQ(result.at(x, y), image.at(x, y));
                else
                    ASSERT_NEAR(result.at(x, y), image.at(x, y), 2e-6 * full);
    }
}

TEST(Convolution, by_a_delta_is_the_image) {
    std::mt19937_64 random = test_random(24);
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 9}, {6, 4}, {121, 3}, {130, 160}}) {
        delta_is_identity<std::uint8_t>(width, height, 255, random);
        delta_is_identity<std::uint16_t>(width, height, 65535, random);
        delta_is_identity<float>(width, height, 100, random);
    }
}

TEST(Convolution, in_tiles_is_the_same_as_whole) {
    std::mt19937_64 random = test_random(25);
    const Shape shape{203, 151, 3, PixelType::f32};
    const TestImage<float> image = random_image<float>(shape, 1, random);
    for (const Border border : kBorders)
        for (const auto& [width, height] : {std::pair{31, 18}, {6, 45}}) {
            const ConvolveKernel kernel = random_kernel(width, height, 1, random);
            HostConvolution whole(image.shape(), kernel, border, kPlenty);
            const TestImage<float> expected = [&] {
                TestImage<float> result = result_image<float>(whole.output());
                whole.run(image.view(), result.view());
                return result;
            }();
            for (const std::size_t bytes : {70'000U, 120'000U, 250'000U}) {
                HostConvolution tiled(image.shape(), kernel, border, bytes);
                EXPECT_GT(tiled.geometry().tiles(), 1);
                EXPECT_NE(tiled.note().find(" tiles of "), std::string::npos);
                TestImage<float> result = result_image<float>(tiled.output());
                tiled.run(image.view(), result.view());
                for (int y = 0; y < result.shape().height; ++y)
                    for (int x = 0; x < 3 * result.shape().width; ++x)
                        ASSERT_NEAR(result.at(x, y), expected.at(x, y), 1e-5)
                            << tiled.note() << " at " << x << ", " << y;
            }
        }
}

TEST(Convolution, uses_free_memory_less_a_share_for_others) {
    const Shape small{100, 100, 1, PixelType::u8};
    const std::size_t gigabyte = 1'000'000'000;
    EXPECT_EQ(convolution_budget(0, 4 * gigabyte, small, "here").bytes, 3 * gigabyte); // a quarter
    EXPECT_FALSE(convolution_budget(0, 4 * gigabyte, small, "here").typed);
    EXPECT_EQ(convolution_budget(500, 4 * gigabyte, small, "here").bytes, gigabyte / 2); // a limit
    EXPECT_TRUE(convolution_budget(500, 4 * gigabyte, small, "here").typed);
    // still free memory
    EXPECT_EQ(convolution_budget(5000, 4 * gigabyte, small, "here").bytes, 3 * gigabyte);
    EXPECT_FALSE(convolution_budget(5000, 4 * gigabyte, small, "here").typed);
    const Shape large{8000, 4000, 1, PixelType::f32}; // 128 MB, for 22 slots
    EXPECT_EQ(convolution_budget(0, 4 * gigabyte, large, "here").bytes, 4 * gigabyte - 22 * large.bytes());
    EXPECT_EQ(convolution_budget(0, gigabyte, large, "here").bytes, gigabyte / 4); // never less
}

TEST(Convolution, works_in_tiles_with_little_free_memory) {
    std::mt19937_64 random = test_random(29);
    const Shape shape{601, 403, 1, PixelType::f32};
    const TestImage<float> image = random_image<float>(shape, 1, random);
    Params params(*convolve_stage().table);
    params.as<ConvolveParams>().kernel = ConvolveParams::Kernel::glare;
    params.as<ConvolveParams>().size = 401;
    const auto run = [&](std::size_t (*free)(), std::string& note) {
        const std::unique_ptr<HostStage> stage = make_convolve_host(params, free);
        TestImage<float> result = result_image<float>(stage->prepare(shape));
        PixelCounts counts;
        const FrameInfo info;
        stage->run(image.view(), result.view(), {.info = info, .counts = counts});
        note = stage->note();
        return result;
    };
    std::string whole_note;
    std::string tiles_note;
    const TestImage<float> whole = run([] { return std::size_t{1} << 40; }, whole_note);
    const TestImage<float> tiles = run([] { return std::size_t{12'000'000}; }, tiles_note);
    EXPECT_NE(whole_note.find("whole"), std::string::npos) << whole_note;
    EXPECT_NE(tiles_note.find(" tiles of "), std::string::npos) << tiles_note;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            ASSERT_NEAR(tiles.at(x, y), whole.at(x, y), 1e-5) << x << ", " << y;
    try {
        run([] { return std::size_t{40'000}; }, tiles_note);
        FAIL() << tiles_note;
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("this machine has 1 MB left for it"), std::string::npos)
            << error.what();
    }
}

TEST(Convolution, reports_the_required_memory) {
    std::mt19937_64 random = test_random(26);
    const ConvolveKernel kernel = random_kernel(400, 300, 1, random);
    try {
        HostConvolution({500, 500, 1, PixelType::u8}, kernel, Border::wrap, 100'000);
        FAIL();
    } catch (const UsageError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("memory = 1 MB is too little for a kernel of 400×300 pixels"), std::string::npos)
            << text;
        const std::size_t least = std::stoull(text.substr(text.find("from ") + 5));
        HostConvolution({500, 500, 1, PixelType::u8}, kernel, Border::wrap, least * 1'000'000);
    }
    EXPECT_THROW(HostConvolution({100, 100, 1, PixelType::u8}, kernel, Border::crop, kPlenty), UsageError);
}

TEST(Convolution, does_not_clip_or_lose_a_wide_range) {
    TestImage<float> image(90, 70);
    image.fill([] { return 0.01; });
    image.at(40, 30) = 1e6F;
    image.at(41, 30) = -3e5F;
    std::mt19937_64 random = test_random(27);
    const ConvolveKernel kernel = random_kernel(5, 7, 1, random);
    TestImage<float> result(90, 70);
    HostConvolution(image.shape(), kernel, Border::replicate, kPlenty).run(image.view(), result.view());
    expect_close(result, oracle_convolve(image, kernel, Border::replicate), 1e5); // 1e-6 of the largest
    float largest = 0;
    for (int y = 0; y < 70; ++y)
        for (int x = 0; x < 90; ++x)
            largest = std::max(largest, result.at(x, y));
    EXPECT_GT(largest, 16'000); // the weights sum to 1: 7e5 is spread over 6 × 7 pixels
}

TEST(Convolution, handles_non_finite_samples) {
    const ConvolveKernel kernel{3, 3, 1, std::vector<float>(9, 1.0F / 9)};
    TestImage<float> image(40, 30);
    image.fill([] { return 1; });
    image.at(3, 4) = std::numeric_limits<float>::quiet_NaN();
    image.at(9, 9) = std::numeric_limits<float>::infinity();
    TestImage<float> result(40, 30);
    HostConvolution convolution(image.shape(), kernel, Border::wrap, kPlenty);
    convolution.run(image.view(), result.view());
    EXPECT_TRUE(std::isnan(result.at(3, 4)));
    image.at(3, 4) = image.at(9, 9) = 1; // and leaves no trace
    convolution.run(image.view(), result.view());
    for (int y = 0; y < 30; ++y)
        for (int x = 0; x < 40; ++x)
            ASSERT_NEAR(result.at(x, y), 1, 1e-6);
}

TEST(Convolution, does_not_depend_on_the_number_of_threads) {
    std::mt19937_64 random = test_random(28);
    const ConvolveKernel kernel = random_kernel(20, 20, 1, random);
    const TestImage<float> image = random_image<float>({150, 130, 3}, 1, random);
    const auto run = [&](int threads) {
        const ThreadLimit limit(threads);
        TestImage<float> result(150, 130, 0, 3);
        HostConvolution(image.shape(), kernel, Border::reflect, kPlenty).run(image.view(), result.view());
        return result;
    };
    const TestImage<float> one = run(1);
    const TestImage<float> two = run(2);
    for (int y = 0; y < 130; ++y)
        for (int x = 0; x < 3 * 150; ++x)
            ASSERT_EQ(one.at(x, y), two.at(x, y));
}

template <class T>
void fft_is_direct(const Shape& shape, double sigma, Border border, double full, std::mt19937_64& random) {
    GaussianParams params;
    params.sigma = sigma;
    params.border = border;
    const std::vector<double> taps = oracle_taps(params);
    const int side = static_cast<int>(taps.size());
    ConvolveKernel kernel{side, side, 1, {}};
    for (const double down : taps)
        for (const double across : taps)
            kernel.weights.push_back(static_cast<float>(down * across));
    const TestImage<T> image = random_image<T>(shape, full, random);
    const std::unique_ptr<HostStage> stage = make_gaussian_fft_host(params);
    TestImage<T> result = result_image<T>(stage->prepare(image.shape()));
    EXPECT_EQ(result.shape(), gaussian_shape(params, image.shape()));
    FrameInfo info;
    PixelCounts counts;
    stage->run(image.view(), result.view(), {info, counts});
    expect_close(result, oracle_convolve(image, kernel, border), full);
    EXPECT_NE(stage->note().find("whole, "), std::string::npos);
}

TEST(GaussianFft, is_the_sampled_gaussian_at_every_border) {
    std::mt19937_64 random = test_random(29);
    for (const Border border : kBorders) {
        fft_is_direct<std::uint8_t>({31, 24, 3}, 2, border, 255, random);
        fft_is_direct<std::uint16_t>({29, 33, 1}, 1.3, border, 65535, random);
        fft_is_direct<float>({41, 30, 3}, 3, border, 1, random);
        if (border != Border::crop)
            fft_is_direct<float>({12, 9, 1}, 6, border, 1, random);
    }
}

} // namespace specklescope::test::convolve_test
