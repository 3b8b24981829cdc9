// Identities of blurs and convolutions for any image, without stored results.
#include "base/error.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/stages/identities.hpp"

namespace specklescope::identities_filter_test {

// --- blurs ---

TEST_P(Identities, AFlatPictureStaysFlatUnderEveryBlur) {
    for (const char* method : {"direct", "recursive", "fft", "binomial3", "binomial5"})
        for (const char* border : {"replicate", "reflect", "wrap", "omit"})
            for (const char* sigma : {"0.5", "2", "11"}) {
                const std::string stage =
                    std::string("gaussian:method=") + method + ",border=" + border + ",sigma=" + sigma;
                SCOPED_TRACE(stage);
                for (const int channels : {1, 3}) {
                    for (const double value : run(stage, flat<float>(83, 61, 700, channels)).samples)
                        ASSERT_NEAR(value, 700, 700e-6);
                    for (const double value : run(stage, flat<std::uint8_t>(83, 61, 201, channels)).samples)
                        ASSERT_EQ(value, 201);
                    for (const double value :
                         run(stage, flat<std::uint16_t>(83, 61, 40001, channels)).samples)
                        ASSERT_EQ(value, 40001);
                }
            }
    for (const char* kernel : {"gaussian", "disk", "line", "glare"})
        for (const char* border : {"replicate", "reflect", "wrap"}) {
            const std::string stage = std::string("convolve:kernel=") + kernel + ",border=" + border;
            SCOPED_TRACE(stage);
            for (const double value : run(stage, flat<float>(83, 61, 700)).samples)
                ASSERT_NEAR(value, 700, 700e-5);
            for (const double value : run(stage, flat<std::uint8_t>(83, 61, 201, 3)).samples)
                ASSERT_EQ(value, 201);
        }
}

TEST_P(Identities, DirectAndFourierAreOneFilter) {
    for (const std::string& border : kBorders)
        for (const char* sigma : {"0.7", "3", "12"})
            for (const int channels : {1, 3}) {
                const auto image = noise(133, 97, channels, 7);
                const auto by = [&](const std::string& method) {
                    return run("gaussian:method=" + method + ",border=" + border + ",sigma=" + sigma, image);
                };
                EXPECT_LE(apart(by("direct"), by("fft")), 1e-5) << border << " sigma " << sigma;
            }
}

TEST_P(Identities, RecursiveIsWithinItsTableOfDirect) {
    struct Stated {
        const char* sigma;
        /// docs/gaussian.md: largest errors, relative to the true peak and to the step
        double impulse, step;
    };
    for (const Stated& stated : {Stated{"1", 0.105, 0.0361}, {"3", 0.050, 0.0121}, {"10", 0.033, 0.0083}}) {
        TestImage<float> step(260, 12), line(260, 12);
        for (int y = 0; y < 12; ++y)
            for (int x = 0; x < 260; ++x) {
                step.at(x, y) = x < 130 ? 0.0F : 1.0F;
                line.at(x, y) = x == 130 ? 1.0F : 0.0F;
            }
        const auto by = [&](const std::string& method, const TestImage<float>& image) {
            return run("gaussian:method=" + method + ",sigma=" + stated.sigma, image);
        };
        constexpr double kCut = 1e-4; // direct is truncated at 4 sigma
        EXPECT_LE(apart(by("direct", step), by("recursive", step)), stated.step + kCut) << stated.sigma;
        const Picture peak = by("direct", line);
        EXPECT_LE(apart(peak, by("recursive", line)), (stated.impulse + 6e-4) * peak.at(130, 6))
            << stated.sigma;
    }
}

TEST_P(Identities, TheConvolutionsGaussianIsTheFiltersGaussian) {
    for (const std::string& border : kBorders)
        for (const char* sigma : {"2", "9"}) { // truncated where both are
            const auto image = noise(120, 75, 3, 8);
            const Picture filter = run("gaussian:method=direct,border=" + border + ",sigma=" + sigma, image);
            const Picture convolution =
                run("convolve:kernel=gaussian,border=" + border + ",sigma=" + sigma, image);
            EXPECT_LE(apart(filter, convolution), 1e-5) << border << " sigma " << sigma;
        }
}

TEST_P(Identities, BlursCommuteWithMirrors) {
    const auto image = noise(101, 64, 3, 9);
    for (const char* stage : {"gaussian:method=direct,sigma=3", "gaussian:method=fft,sigma=3",
                              "gaussian:method=recursive,sigma=3", "convolve:kernel=disk,radius=6.5"}) {
        EXPECT_LE(apart(run("flip:direction=both | " + std::string(stage), image),
                        run(std::string(stage) + " | flip:direction=both", image)),
                  2e-5)
            << stage;
        EXPECT_LE(apart(run("rotate90 | " + std::string(stage), image),
                        run(std::string(stage) + " | rotate90", image)),
                  2e-5)
            << stage;
    }
}

// --- convolution ---

TEST_P(Identities, ADeltaReturnsTheImageAndAShiftedOneMovesIt) {
    const std::string middle = kernel_file("delta.npy", 5, 3, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
    const std::string beside = kernel_file("beside.npy", 5, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const std::string stage = "convolve:kernel=file,file=";
    const auto grey = levels<std::uint16_t>(67, 41);
    const auto colour = levels<std::uint8_t>(67, 41, 3);
    const auto real = noise(67, 41, 3);
    EXPECT_EQ(apart(run(stage + middle, grey), picture_of(grey.view())), 0);
    EXPECT_EQ(apart(run(stage + middle, colour), picture_of(colour.view())), 0);
    EXPECT_LE(apart(run(stage + middle, real), picture_of(real.view())), 1e-6);
    // (f ∗ δ(x−2, y+1))(x, y) = f(x−2, y+1)
    const Picture moved = run(stage + beside, grey);
    const Picture was = picture_of(grey.view());
    EXPECT_EQ(apart(part(moved, 2, 0, 65, 40), part(was, 0, 1, 65, 40)), 0);
}

TEST_P(Identities, AKernelLargerThanTheImageIsSummedCompletely) {
    auto random = test_random(5);
    std::uniform_real_distribution<float> value(-1, 2);
    const int kw = 45, kh = 37;
    std::vector<float> weights(static_cast<std::size_t>(kw * kh));
    for (float& weight : weights)
        weight = value(random);
    const std::string file = kernel_file("large.npy", kw, kh, weights);
    for (const auto& [width, height] : {std::pair{17, 13}, {1, 1}, {40, 1}, {3, 29}}) {
        const auto image = noise(width, height, 1, 6);
        for (const std::string& border : kBorders) {
            const Picture got =
                run("convolve:kernel=file,normalize=false,border=" + border + ",file=" + file, image);
            const auto index = [&](int i, int size) {
                if (border == "replicate")
                    return std::clamp(i, 0, size - 1);
                if (border == "wrap")
                    return (i % size + size) % size;
                const int fold = (i % (2 * size) + 2 * size) % (2 * size); // reflect: the edge pixel twice
                return fold < size ? fold : 2 * size - 1 - fold;
            };
            double worst = 0;
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    double sum = 0;
                    for (int j = 0; j < kh; ++j)
                        for (int i = 0; i < kw; ++i) {
                            const int sx = x - (i - kw / 2), sy = y - (j - kh / 2);
                            if (border == "zero" && (sx < 0 || sy < 0 || sx >= width || sy >= height))
                                continue;
                            sum += static_cast<double>(weights[static_cast<std::size_t>(j * kw + i)]) *
                                   static_cast<double>(image.at(index(sx, width), index(sy, height)));
                        }
                    worst = std::max(worst, std::abs(sum - got.at(x, y)));
                }
            EXPECT_LE(worst, 1e-5 * kw * kh) << width << "×" << height << " " << border;
        }
    }
}

TEST_P(Identities, TilesGiveTheSamePixelsAsTheWhole) {
    const auto image = noise(1531, 1203, 1, 11);
    for (const char* stage : {"convolve:kernel=disk,radius=60", "convolve:kernel=line,length=301,angle=20"})
        for (const char* border : {"replicate", "reflect", "wrap", "zero"}) {
            const Picture whole = run(std::string(stage) + ",memory=2048,border=" + border, image);
            const Picture tiles = run(std::string(stage) + ",memory=8,border=" + border, image);
            EXPECT_NE(whole.note, tiles.note) << "both " << whole.note;
            EXPECT_LE(apart(whole, tiles), 1e-5) << stage << " " << border;
        }
}

INSTANTIATE_TEST_SUITE_P(On, Identities, testing::ValuesIn(backends()), backend_name);

} // namespace specklescope::identities_filter_test
