// The device's Gaussian filters compared with float64: every method, pixel type, border and unusual shape.
#include <gtest/gtest.h>

#include "cuda/devices.hpp"
#include "pipeline/executor.hpp"
#include "tests/stages/gaussian/gaussian_oracle.hpp"
#include "tests/support/gpu.hpp"

#include <cstring>
#include <limits>

namespace specklescope::test::gaussian_cuda_test {

using Method = GaussianParams::Method;

constexpr Border kBorders[] = {Border::replicate, Border::reflect, Border::wrap,
                               Border::zero,      Border::omit,    Border::crop};

class GaussianCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!needs_gpu())
            return;
        executor_ = make_cuda_executor(0);
    }

    void use(const GaussianParams& params) {
        auto chain = std::make_shared<Chain>();
        ChainStage stage{&find_stage("gaussian"), Params(*find_stage("gaussian").table)};
        stage.params.as<GaussianParams>() = params;
        chain->add(std::move(stage));
        executor_->set_chain(chain, ++version_);
    }

    template <class T> Result run(const TestImage<T>& image) {
        FrameRing ring(image.shape(), 1, executor_->slot_memory());
        Frame frame = ring.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        // Padding must not be used: it is NaN in f32.
        std::memset(view.data, 0xff, view.pitch * static_cast<std::size_t>(view.shape.height));
        copy_pixels(image.view(), view);
        executor_->submit(std::move(frame), true);
        std::optional<Result> result = executor_->collect(true);
        EXPECT_TRUE(result);
        return std::move(*result);
    }

    /// Largest difference from the oracle; integers minus their rounding.
    template <class T> double worst(const TestImage<T>& image, const GaussianParams& params) {
        use(params);
        const Result result = run(image);
        const OraclePlane want = oracle_gaussian(image, params);
        const auto got = result.image.host().template as<T>();
        EXPECT_EQ(got.width, want.width);
        EXPECT_EQ(got.height, want.height);
        EXPECT_EQ(got.channels, want.channels);
        double worst = 0;
        const double rounding = std::is_integral_v<T> ? 0.5 : 0;
        for (int y = 0; y < want.height; ++y)
            for (int x = 0; x < want.width; ++x)
                for (int c = 0; c < want.channels; ++c) {
                    const auto value = static_cast<double>(got.row(y)[x * want.channels + c]);
                    const double distance = std::abs(value - want.at(x, y, c)) - rounding;
                    worst = std::isnan(distance) ? std::numeric_limits<double>::infinity()
                                                 : std::max(worst, distance);
                }
        return worst;
    }

    std::unique_ptr<Executor> executor_;
    std::uint64_t version_ = 0;
};

std::string describe(const Shape& shape, const GaussianParams& params) {
    return to_string(shape) + " sigma " + std::to_string(params.sigma) + " method " +
           std::to_string(static_cast<int>(params.method)) + " radius " + std::to_string(params.radius) +
           " border " + std::to_string(static_cast<int>(params.border));
}

template <class T> constexpr double kFull = type_full_scale(pixel_type_of<T>());
template <> constexpr double kFull<float> = 4;

template <class T> TestImage<T> random_image(int width, int height, int channels, std::uint64_t stream) {
    auto random = test_random(stream);
    std::uniform_real_distribution<double> value(0, kFull<T>);
    return TestImage<T>(width, height, 0, channels).fill([&] {
        return std::is_integral_v<T> ? std::round(value(random)) : value(random);
    });
}

bool too_large(const Shape& shape, const GaussianParams& params) {
    return params.border == Border::crop &&
           2 * gaussian_radius(params) + 1 > std::min(shape.width, shape.height);
}

template <class T> class GaussianCudaOf : public GaussianCuda {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(GaussianCudaOf, PixelTypes);

TYPED_TEST(GaussianCudaOf, AgreesAtEveryBorderAndShape) {
    std::uint64_t stream = 10;
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {1, 9}, {3, 5}, {17, 13}, {33, 40}, {131, 70}, {521, 37}})
        for (const int channels : {1, 3}) {
            const auto image = random_image<TypeParam>(width, height, channels, ++stream);
            for (const Border border : kBorders)
                for (const GaussianParams& params :
                     {GaussianParams{.sigma = 1, .method = Method::direct, .border = border},
                      GaussianParams{.sigma = 2, .method = Method::direct, .border = border},
                      GaussianParams{.sigma = 4, .method = Method::direct, .border = border},
                      GaussianParams{.sigma = 3, .method = Method::recursive, .border = border},
                      GaussianParams{.method = Method::binomial3, .border = border},
                      GaussianParams{.method = Method::binomial5, .border = border}}) {
                    if (too_large(image.shape(), params))
                        continue;
                    EXPECT_LE(this->worst(image, params), 2e-6 * kFull<TypeParam>)
                        << describe(image.shape(), params);
                }
        }
}

TYPED_TEST(GaussianCudaOf, AgreesAtEveryRadius) {
    for (const int channels : {1, 3}) {
        const auto image = random_image<TypeParam>(197, 61, channels, 100);
        for (const int radius : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 40, 130}) {
            const GaussianParams params{.sigma = 0.4 * radius + 0.2,
                                        .method = Method::direct,
                                        .radius = radius,
                                        .border = Border::reflect};
            EXPECT_LE(this->worst(image, params), 2e-6 * kFull<TypeParam>) << describe(image.shape(), params);
        }
    }
}

TYPED_TEST(GaussianCudaOf, AgreesAtEverySigma) {
    for (const int channels : {1, 3}) {
        const auto image = random_image<TypeParam>(210, 167, channels, 200);
        for (const double sigma : {0.5, 0.8, 2.5, 2.6, 10.0, 60.0, 200.0})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::omit}) {
                const GaussianParams params{.sigma = sigma, .method = Method::recursive, .border = border};
                EXPECT_LE(this->worst(image, params), 2e-6 * kFull<TypeParam>)
                    << describe(image.shape(), params);
            }
    }
}

/// Every number of blocks per thread: 3, 4 or 8, or several times 8.
TEST_F(GaussianCuda, RecursiveAgreesOnLongLines) {
    for (const auto& [width, height] :
         {std::pair{2100, 3}, {3105, 2}, {3841, 3}, {5000, 2}, {8300, 2}, {2, 8300}, {3, 4200}}) {
        const auto image = random_image<float>(width, height, 1, 250);
        for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
            const GaussianParams params{.sigma = 40, .method = Method::recursive, .border = border};
            EXPECT_LE(worst(image, params), 2e-6 * kFull<float>) << describe(image.shape(), params);
        }
    }
}

TYPED_TEST(GaussianCudaOf, KeepsAConstant) {
    for (const double level : {1.0, 0.7 * kFull<TypeParam>, kFull<TypeParam>}) {
        const auto image =
            TestImage<TypeParam>(203, 150, 0, 3).fill([&] { return static_cast<TypeParam>(level); });
        for (const GaussianParams& params :
             {GaussianParams{.method = Method::binomial3}, GaussianParams{.method = Method::binomial5},
              GaussianParams{.sigma = 1.3, .method = Method::direct},
              GaussianParams{.sigma = 9, .method = Method::direct},
              GaussianParams{.sigma = 0.5, .method = Method::recursive},
              GaussianParams{.sigma = 20, .method = Method::recursive},
              GaussianParams{.sigma = 200, .method = Method::recursive}})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::omit}) {
                GaussianParams at = params;
                at.border = border;
                this->use(at);
                const Result result = this->run(image);
                const auto got = result.image.host().template as<TypeParam>();
                const auto want = static_cast<double>(image.at(0, 0));
                double worst = 0;
                for (int y = 0; y < got.height; ++y)
                    for (int x = 0; x < got.width * 3; ++x)
                        worst = std::max(worst, std::abs(static_cast<double>(got.row(y)[x]) - want));
                EXPECT_LE(worst, std::is_integral_v<TypeParam> ? 0 : 1e-6 * want)
                    << describe(image.shape(), at);
            }
    }
}

TEST_F(GaussianCuda, BinomialsOfIntegersAreExact) {
    const auto exact = [&](const auto& image, const GaussianParams& params) {
        use(params);
        const Result result = run(image);
        using T = std::decay_t<decltype(image.at(0, 0))>;
        const auto got = result.image.host().template as<T>();
        const OraclePlane want = oracle_gaussian(image, params); // sums of 256ths: exact
        int wrong = 0;
        for (int y = 0; y < want.height; ++y)
            for (int x = 0; x < want.width; ++x)
                for (int c = 0; c < want.channels; ++c)
                    wrong += static_cast<double>(got.row(y)[x * want.channels + c]) !=
                                     std::nearbyint(want.at(x, y, c))
                                 ? 1
                                 : 0;
        EXPECT_EQ(wrong, 0) << describe(image.shape(), params);
    };
    for (const int channels : {1, 3})
        for (const Method method : {Method::binomial3, Method::binomial5})
            for (const Border border :
                 {Border::replicate, Border::reflect, Border::wrap, Border::zero, Border::crop})
                for (const auto& [width, height] : {std::pair{5, 5}, {160, 33}, {483, 90}, {1921, 21}}) {
                    const GaussianParams params{.method = method, .border = border};
                    exact(random_image<std::uint8_t>(width, height, channels, 300), params);
                    exact(random_image<std::uint16_t>(width, height, channels, 301), params);
                }
}

TEST_F(GaussianCuda, NonFiniteSamplesDoNotSpread) {
    auto image = random_image<float>(300, 80, 1, 400);
    image.at(150, 40) = std::numeric_limits<float>::quiet_NaN();
    image.at(20, 10) = std::numeric_limits<float>::infinity();
    for (const GaussianParams& params : {GaussianParams{.sigma = 1.5, .method = Method::binomial3},
                                         GaussianParams{.sigma = 1.5, .method = Method::binomial5},
                                         GaussianParams{.sigma = 1.5, .method = Method::direct},
                                         GaussianParams{.sigma = 7, .method = Method::direct},
                                         GaussianParams{.sigma = 7, .method = Method::recursive}}) {
        use(params);
        const Result result = run(image);
        const auto got = result.image.host().as<float>();
        int undefined = 0;
        for (int y = 0; y < got.height; ++y)
            for (int x = 0; x < got.width; ++x)
                undefined += std::isfinite(got.row(y)[x]) ? 0 : 1;
        EXPECT_EQ(undefined, 0) << params.sigma;
    }
}

} // namespace specklescope::test::gaussian_cuda_test
