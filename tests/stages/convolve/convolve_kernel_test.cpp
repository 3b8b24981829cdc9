// The kernels of stage convolve: by formula as their formulas say, from files as they stand in them.
#include "stages/convolve/convolution_geometry.hpp"
#include "tests/reference/convolve_reference.hpp"
#include "tests/stages/convolve/convolve_oracle.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/images.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <numeric>

namespace specklescope::test {
namespace {

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

TEST(Glare, falls_as_cie_146_says) {
    for (const VeilReference& reference : kVeilReference)
        EXPECT_NEAR(glare_veil(reference.theta, reference.age, reference.pigment) / reference.value, 1,
                    1e-12);
    EXPECT_EQ(glare_veil(101, 50, 1), 0);
    EXPECT_EQ(glare_veil(0.01, 50, 1), glare_veil(0.1, 50, 1));
}

TEST(Glare, puts_into_a_pixel_the_light_that_falls_on_it) {
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

TEST(Kernel, disk_covers_each_pixel_as_far_as_its_edge_says) {
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

/// An NPY file of version 1 with this header and these bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran = false, int version = 1) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.resize((header.size() + 12 + 63) / 64 * 64 - 12, ' ');
    return "\x93NUMPY" + std::string(1, static_cast<char>(version)) + std::string(1, '\0') +
           little(header.size(), version == 1 ? 2 : 4) + header + data;
}

template <class T, class Bits> std::string numbers(const std::vector<double>& values, bool big = false) {
    std::string bytes;
    for (const double value : values) {
        std::string one = little(std::bit_cast<Bits>(static_cast<T>(value)), sizeof(T));
        if (big)
            std::reverse(one.begin(), one.end());
        bytes += one;
    }
    return bytes;
}

TEST(KernelFile, npy_is_read_in_every_order_and_type) {
    const TemporaryFolder folder;
    const std::vector<float> expected = {1, 2, 3, 4, 5, 6}; // 2 rows of 3
    const std::vector<double> rows = {1, 2, 3, 4, 5, 6};
    const std::vector<double> columns = {1, 4, 2, 5, 3, 6};
    const std::pair<const char*, std::string> files[] = {
        {"f4", npy("<f4", "(2, 3)", numbers<float, std::uint32_t>(rows))},
        {"f4 big", npy(">f4", "(2, 3)", numbers<float, std::uint32_t>(rows, true))},
        {"f8", npy("<f8", "(2,3)", numbers<double, std::uint64_t>(rows))},
        {"f8 fortran", npy("<f8", "(2, 3)", numbers<double, std::uint64_t>(columns), true)},
        {"u1", npy("|u1", "(2, 3)", numbers<std::uint8_t, std::uint8_t>(rows))},
        {"u2 big", npy(">u2", "(2, 3)", numbers<std::uint16_t, std::uint16_t>(rows, true))},
        {"i4", npy("<i4", "(2, 3)", numbers<std::int32_t, std::uint32_t>(rows))},
        {"version 2", npy("<f4", "(2, 3)", numbers<float, std::uint32_t>(rows), false, 2)},
    };
    for (const auto& [name, bytes] : files) {
        write_file(folder / "k.npy", bytes);
        const ConvolveKernel kernel = read_kernel(folder / "k.npy");
        EXPECT_EQ(kernel.width, 3) << name;
        EXPECT_EQ(kernel.height, 2) << name;
        EXPECT_EQ(kernel.channels, 1) << name;
        EXPECT_EQ(kernel.weights, expected) << name;
    }
}

TEST(KernelFile, colour_is_taken_apart_and_put_together_as_asked) {
    const TemporaryFolder folder;
    write_file(folder / "side.npy",
               npy("<f4", "(1, 2, 3)", numbers<float, std::uint32_t>({1, 2, 3, 5, 6, 7})));
    write_file(folder / "planes.npy",
               npy("<f4", "(3, 1, 2)", numbers<float, std::uint32_t>({1, 5, 2, 6, 3, 7})));
    for (const char* name : {"side.npy", "planes.npy"}) {
        const ConvolveKernel kernel = read_kernel(folder / name);
        EXPECT_EQ(kernel.channels, 3);
        EXPECT_EQ(kernel.weights, (std::vector<float>{1, 5, 2, 6, 3, 7}));
    }
    ConvolveParams params;
    params.kernel = Kernel::file;
    params.file = folder / "side.npy";
    params.normalize = false;
    const Shape color{64, 48, 3, PixelType::u8};
    EXPECT_EQ(make_kernel(params, color).weights, (std::vector<float>{2, 6}));
    params.per_channel = true;
    EXPECT_EQ(make_kernel(params, color).channels, 3);
    EXPECT_EQ(make_kernel(params, kImage).weights, (std::vector<float>{2, 6})); // a grey image has one
    params.normalize = true;
    const ConvolveKernel each = make_kernel(params, color);
    for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(each.row(c, 0)[0] + each.row(c, 0)[1], 1, 1e-6);
}

TEST(KernelFile, png_and_tiff_are_their_plain_values) {
    const TemporaryFolder folder;
    if (!python(folder, "import numpy as np, PIL.Image as I\n"
                        "I.fromarray(np.array([[0, 7, 255], [1, 2, 3]], np.uint8)).save('k.png')\n"
                        "I.fromarray(np.array([[0.5, -2], [3e4, 1]], np.float32)).save('k.tif')\n"))
        GTEST_SKIP() << "needs python3-numpy and python3-pil";
    EXPECT_EQ(read_kernel(folder / "k.png").weights, (std::vector<float>{0, 7, 255, 1, 2, 3}));
    EXPECT_EQ(read_kernel(folder / "k.tif").weights, (std::vector<float>{0.5F, -2, 3e4F, 1}));
}

/// One sentence of an error of this kind.
template <class E> std::string sentence(const std::function<void()>& call) {
    try {
        call();
    } catch (const E& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.ends_with('.')) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        return text;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(KernelFile, what_is_no_kernel_is_refused_in_a_sentence) {
    const TemporaryFolder folder;
    const std::string data(48, '\1');
    const std::tuple<const char*, std::string, const char*> files[] = {
        {"empty", "", "is empty"},
        {"text", "hello, world", "is not an image"},
        {"short", npy("<f4", "(2, 3)", "abc"), "cut short"},
        {"only the magic", "\x93NUMPY", "cut short"},
        {"complex", npy("<c8", "(2, 3)", data), "'<c8'; allowed: f4"},
        {"object", npy("|O", "(2, 3)", data), "'|O'; allowed: f4"},
        {"no type", npy("", "(2, 3)", data), "''; allowed: f4"},
        {"one axis", npy("<f4", "(6,)", data), "an array of 6; allowed: height×width"},
        {"no axis", npy("<f4", "()", data), "no array"},
        {"four channels", npy("<f4", "(1, 3, 4)", data), "an array of 1×3×4; allowed"},
        {"no pixel", npy("<f4", "(0, 4)", data), "empty"},
        {"huge", npy("<f4", "(99999999, 99999999)", data), "over 4 GiB"},
        {"long side", npy("|u1", "(1, 70000)", std::string(70000, 'a')), "up to 65536"},
        {"negative", npy("<f4", "(-2, 3)", data), "not one to four numbers"},
        {"version 9", npy("<f4", "(2, 3)", data, false, 9), "version is 9"},
    };
    for (const auto& [name, bytes, words] : files) {
        write_file(folder / "bad", bytes);
        const std::string text = sentence<RunError>([&] { (void)read_kernel(folder / "bad"); });
        EXPECT_NE(text.find(words), std::string::npos) << name << ": " << text;
    }
    EXPECT_NE(sentence<RunError>([&] { (void)read_kernel(folder / "none.npy"); }).find("There is no file"),
              std::string::npos);
}

TEST(KernelFile, weights_that_cannot_be_used_are_refused_in_a_sentence) {
    const TemporaryFolder folder;
    ConvolveParams params;
    params.kernel = Kernel::file;
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("needs the name"),
              std::string::npos);
    params.file = folder / "k.npy";
    write_file(params.file, npy("<f4", "(1, 3)", numbers<float, std::uint32_t>({1, -2, 1})));
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("normalize = false"),
              std::string::npos);
    params.normalize = false;
    EXPECT_EQ(make_kernel(params, kImage).weights, (std::vector<float>{1, -2, 1}));
    write_file(params.file, npy("<f4", "(1, 2)", numbers<float, std::uint32_t>({1, std::nan("")})));
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("finite"),
              std::string::npos);
}

TEST(StageConvolve, runs_by_its_parameters) {
    Params params(*find_stage("convolve").table);
    params.set_text("kernel", "disk");
    params.set_text("radius", "4.5");
    params.set_text("border", "reflect");
    const std::unique_ptr<HostStage> stage = find_stage("convolve").make_host(params);
    std::mt19937_64 random = test_random(31);
    for (const auto& [width, height] : {std::pair{50, 40}, {33, 70}}) { // prepared anew for another size
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
        const auto border = static_cast<Border>(round % 5); // crop has its own rules
        const Space space = round % 2 == 0 ? Space::host : Space::device;
        const auto memory = [](int w, int h) { return static_cast<std::size_t>(w) * h * 8U; };
        const std::size_t bytes = std::max(budget(random), memory(fast_size(width, space) * 2, //
                                                                  fast_size(height, space) * 2));
        const ConvolutionGeometry g = plan_convolution(image, width, height, border, {space, bytes, memory});
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
            // What lies within reach of a result, around the circle too, is what lies beside it in the image.
            for (const int p : {axis.origin, axis.origin + axis.tile_results(0) - 1})
                for (const int k : {0, axis.kernel / 2, axis.kernel - 1}) {
                    const int position = (p + axis.kernel / 2 - k + axis.fft) % axis.fft;
                    const int pixel = p - axis.origin + axis.kernel / 2 - k;
                    EXPECT_EQ(axis.source(0, position, g.border), border_index(pixel, axis.size, g.border));
                }
        }
    }
}

TEST(ConvolutionGeometry, sizes_are_even_and_of_small_factors) {
    for (const Space space : {Space::host, Space::device})
        for (int n = 1; n < 3000; n += 7) {
            int rest = fast_size(n, space);
            EXPECT_GE(rest, n);
            EXPECT_EQ(rest % 2, 0);
            for (const int factor : {2, 3, 5, 7})
                while (rest % factor == 0)
                    rest /= factor;
            EXPECT_EQ(rest, 1);
        }
}

} // namespace
} // namespace specklescope::test
