// The static part of simulated light of known ρ, and every value against the plain formula.
#include "tests/support/random.hpp"
#include "tests/support/stage_runner.hpp"

#include <cmath>
#include <complex>

namespace specklescope::test::static_test {

/// Speckle of one pixel: a static and a moving field, which is new in every frame.
class Light {
public:
    Light(int width, int height, double rho, std::mt19937_64& random)
        : width_(width), height_(height), rho_(rho), random_(random) {
        for (int i = 0; i < width * height; ++i)
            static_.push_back(field());
    }
    TestImage<std::uint16_t> next() {
        TestImage<std::uint16_t> image(width_, height_, 3);
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x) {
                const std::complex<double> sum =
                    std::sqrt(rho_) * field() +
                    std::sqrt(1 - rho_) * static_[static_cast<std::size_t>(y * width_ + x)];
                image.at(x, y) = static_cast<std::uint16_t>(std::min(65535.0, 1000 * std::norm(sum) + 0.5));
            }
        return image;
    }

private:
    std::complex<double> field() { return {normal_(random_), normal_(random_)}; }

    int width_, height_;
    double rho_;
    std::mt19937_64& random_;
    std::normal_distribution<double> normal_{0, std::sqrt(0.5)};
    std::vector<std::complex<double>> static_;
};

TEST(Static, FindsTheDynamicPartOfSimulatedLight) {
    auto random = test_random(32101);
    for (const double rho : {0.3, 0.6, 0.9}) {
        Light light(96, 80, rho, random);
        StageRunner run("static", {"radius=7", "frames=40", "output=dynamic"}, {96, 80, 1, PixelType::u16});
        for (int i = 0; i < 41; ++i)
            run.run(light.next());
        EXPECT_TRUE(run.stage().warmup().done());
        double mean = 0;
        for (int y = 0; y < 80; ++y)
            for (int x = 0; x < 96; ++x)
                mean += run.output.at(x, y) / (96 * 80);
        EXPECT_NEAR(mean, rho, 0.03) << rho;
    }
}

template <class T> void expect_formula(std::mt19937_64& random) {
    constexpr int kWidth = 23, kHeight = 11, kRadius = 2, kFrames = 3;
    StageRunner run("static", {"radius=2", "frames=3", "output=correlation"},
                    {kWidth, kHeight, 1, pixel_type_of<T>()});
    std::vector<double> means(kWidth * kHeight, 0);
    TestImage<T> before = uniform_image<T>(kWidth, kHeight, 1, 200, random);
    run.run(before);
    EXPECT_TRUE(std::isnan(run.output.at(3, 3)));
    for (int pair = 1; pair <= 5; ++pair) {
        const TestImage<T> now = uniform_image<T>(kWidth, kHeight, 1, 200, random);
        run.run(now);
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                double products = 0, a = 0, b = 0, n = 0;
                for (int j = std::max(0, y - kRadius); j <= std::min(kHeight - 1, y + kRadius); ++j)
                    for (int i = std::max(0, x - kRadius); i <= std::min(kWidth - 1, x + kRadius); ++i) {
                        products += static_cast<double>(before.at(i, j)) * now.at(i, j);
                        a += before.at(i, j);
                        b += now.at(i, j);
                        ++n;
                    }
                double& mean = means[static_cast<std::size_t>(y * kWidth + x)];
                mean += (n * products / (a * b) - 1 - mean) / std::min(pair, kFrames);
                ASSERT_NEAR(run.output.at(x, y), mean, 1e-6) << pair << " " << x << "," << y;
            }
        before = now;
    }
    // The static part and the dynamic one, of the same mean.
    const double c = std::max(0.0, means[static_cast<std::size_t>(5 * kWidth + 9)]);
    run.set({"radius=2", "frames=3", "output=fraction", "beta=0.5"});
    run.run(before, true);
    EXPECT_NEAR(run.output.at(9, 5), std::sqrt(c / 0.5), 1e-5);
    run.set({"radius=2", "frames=3", "output=dynamic", "beta=0.5"});
    run.run(before, true);
    EXPECT_NEAR(run.output.at(9, 5), 1 - std::sqrt(c / 0.5), 1e-5);
}

TEST(Static, EveryValueIsTheFormula) {
    auto random = test_random(32102);
    expect_formula<std::uint8_t>(random);
    expect_formula<std::uint16_t>(random);
    expect_formula<float>(random);
}

TEST(Static, NoLightHasNoCorrelation) {
    StageRunner run("static", {"radius=1"}, {8, 8, 1, PixelType::u8});
    TestImage<std::uint8_t> dark(8, 8);
    run.run(dark);
    run.run(dark);
    EXPECT_TRUE(std::isnan(run.output.at(4, 4)));
    TestImage<std::uint8_t> even(8, 8);
    even.fill([] { return 7; });
    run.run(even);
    run.run(even);
    EXPECT_EQ(run.output.at(4, 4), 0);
}

} // namespace specklescope::test::static_test
