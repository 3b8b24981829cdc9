// The Gaussian filters of the device against float64: every method, pixel type, border and awkward shape. The
// arithmetic of lines in blocks is checked without a GPU too.
#include <gtest/gtest.h>

#ifndef SPECKLESCOPE_HAVE_CUDA

TEST(GaussianCuda, Backend) { GTEST_SKIP() << "this build has no CUDA backend"; }

#else

#include "cuda/devices.hpp"
#include "cuda/gaussian_blocks.hpp"
#include "gaussian_plane.hpp"
#include "pipeline/executor.hpp"

#include <array>
#include <cstring>
#include <limits>

namespace specklescope::test {
namespace {

using Method = GaussianParams::Method;

constexpr Border kBorders[] = {Border::replicate, Border::reflect, Border::wrap,
                               Border::zero,      Border::omit,    Border::crop};

// --- lines in blocks, as the kernels go about it ---

using State = std::array<double, 3>;

State applied(const cuda::Matrix3& a, const State& s, const State& more) {
    State result = more;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            result[i] += a.m[i][j] * s[j];
    return result;
}

State weighted(const float (&weights)[3][cuda::kBlockSamples], const double* samples, int count) {
    State sums{};
    for (std::size_t c = 0; c < 3; ++c)
        for (int i = 0; i < count; ++i)
            sums[c] += static_cast<double>(weights[c][i]) * samples[i];
    return sums;
}

struct BlockStates {
    State forward, backward, mirrored;
};

/// States before (backward: behind) every block in place of what the blocks add.
void scan(const cuda::LineFilter& filter, const std::vector<double>& line, std::vector<BlockStates>& blocks) {
    const auto last = [&](std::size_t block) { return block + 1 == blocks.size() ? 1 : 0; };
    State before{};
    if (filter.border == Border::replicate)
        before[0] = line.front();
    if (filter.border == Border::wrap || filter.border == Border::reflect) {
        State period{};
        for (std::size_t b = 0; b < blocks.size(); ++b)
            period = applied(filter.power[last(b)], period, blocks[b].forward);
        if (filter.border == Border::reflect) {
            State back{};
            for (std::size_t b = blocks.size(); b-- > 0;)
                back = applied(filter.power[last(b)], back, blocks[b].mirrored);
            period = applied(filter.line, period, back);
        }
        before = applied(filter.begin, period, {});
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const State adds = blocks[b].forward;
        blocks[b].forward = before;
        before = applied(filter.power[last(b)], before, adds);
    }
    const auto back = [&](std::size_t b, const State& s) {
        return applied(filter.power[last(b)], s,
                       applied(filter.through[last(b)], blocks[b].forward, blocks[b].backward));
    };
    State behind{};
    if (filter.border == Border::wrap) {
        for (std::size_t b = blocks.size(); b-- > 0;)
            behind = back(b, behind);
        behind = applied(filter.turn, behind, {});
    } else {
        const double end = filter.border == Border::replicate ? line.back() : 0;
        behind = applied(filter.turn, {before[0] - end, before[1], before[2]}, {end, 0, 0});
    }
    for (std::size_t b = blocks.size(); b-- > 0;) {
        const State next = back(b, behind);
        blocks[b].backward = behind;
        behind = next;
    }
}

std::vector<double> line_in_blocks(std::vector<double> line, double sigma, Border border) {
    const auto size = static_cast<int>(line.size());
    const RecursiveGaussian exact = recursive_gaussian(sigma);
    const cuda::LineFilter filter = cuda::make_line_filter(exact, size, border);
    std::vector<BlockStates> blocks(static_cast<std::size_t>(filter.blocks));
    const auto count = [&](int b) { return std::min(cuda::kBlockSamples, size - b * cuda::kBlockSamples); };
    for (int b = 0; b < filter.blocks; ++b) {
        const cuda::BlockWeights& weights = filter.weights[b + 1 == filter.blocks ? 1 : 0];
        const double* samples = &line[static_cast<std::size_t>(b * cuda::kBlockSamples)];
        blocks[static_cast<std::size_t>(b)] = {weighted(weights.forward, samples, count(b)),
                                               weighted(weights.backward, samples, count(b)),
                                               weighted(weights.mirrored, samples, count(b))};
    }
    scan(filter, line, blocks);
    for (int b = 0; b < filter.blocks; ++b) {
        double* samples = &line[static_cast<std::size_t>(b * cuda::kBlockSamples)];
        const auto step = [&](State& s, double x) {
            s[2] = exact.gain * (x - s[0]) - exact.slope * s[1] + exact.curve * s[2];
            s[1] += s[2];
            return s[0] += s[1];
        };
        BlockStates s = blocks[static_cast<std::size_t>(b)];
        for (int i = 0; i < count(b); ++i)
            samples[i] = step(s.forward, samples[i]);
        for (int i = count(b); i-- > 0;)
            samples[i] = step(s.backward, samples[i]);
    }
    return line;
}

TEST(GaussianBlocks, MakeTheLineThatTheFilterMakesInOneGo) {
    auto random = test_random(1);
    std::uniform_real_distribution<double> value(0, 1);
    for (const double sigma : {0.5, 1.0, 2.5, 3.0, 10.0, 57.0, 200.0})
        for (const int size : {1, 2, 3, 31, 32, 33, 64, 100, 517})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
                std::vector<double> line(static_cast<std::size_t>(size));
                for (double& sample : line)
                    sample = value(random);
                const std::vector<double> got = line_in_blocks(line, sigma, border);
                const std::vector<double> want = recursive_line(line, sigma, border);
                double worst = 0;
                for (std::size_t i = 0; i < line.size(); ++i)
                    worst = std::max(worst, std::abs(got[i] - want[i]));
                EXPECT_LE(worst, 5e-7)
                    << "sigma " << sigma << " size " << size << " border " << static_cast<int>(border);
            }
}

TEST(GaussianBlocks, SegmentsMakeUpTheLine) {
    for (const int size : {1, 32, 33, 512, 513, 1040, 3840, 65536}) {
        const cuda::LineFilter filter =
            cuda::make_line_filter(recursive_gaussian(150), size, Border::replicate);
        EXPECT_LE(filter.segments, cuda::kLineSegments);
        EXPECT_GT(filter.segments * filter.segment_blocks, filter.blocks - filter.segment_blocks);
        for (std::size_t unit = 0; unit < 3; ++unit) {
            State by_segments{};
            by_segments[unit] = 1;
            State by_blocks = by_segments;
            for (int i = 0; i < filter.segments; ++i)
                by_segments = applied(filter.segment[i + 1 == filter.segments ? 1 : 0], by_segments, {});
            for (int i = 0; i < filter.blocks; ++i)
                by_blocks = applied(filter.power[i + 1 == filter.blocks ? 1 : 0], by_blocks, {});
            const State at_once{filter.line.m[0][unit], filter.line.m[1][unit], filter.line.m[2][unit]};
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_NEAR(by_segments[c], at_once[c], 1e-8) << size;
                EXPECT_NEAR(by_blocks[c], at_once[c], 1e-8) << size;
            }
        }
    }
}

TEST(GaussianBlocks, KeepAConstant) {
    for (const double sigma : {0.5, 2.0, 30.0, 200.0})
        for (const int size : {1, 33, 1000})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap})
                for (const double sample :
                     line_in_blocks(std::vector<double>(static_cast<std::size_t>(size), 0.75), sigma, border))
                    ASSERT_NEAR(sample, 0.75, 3e-7)
                        << sigma << " " << size << " " << static_cast<int>(border);
}

// --- on the device ---

class GaussianCuda : public testing::Test {
protected:
    void SetUp() override {
        std::string reason;
        if (list_gpus(&reason).empty())
            GTEST_SKIP() << reason;
        executor_ = make_cuda_executor(0);
    }

    void use(const GaussianParams& params) {
        auto chain = std::make_shared<Chain>();
        ChainStage stage{&find_stage("gaussian"), Params(gaussian_table())};
        stage.params.as<GaussianParams>() = params;
        chain->add(std::move(stage));
        executor_->set_chain(chain, ++version_);
    }

    template <class T> Result run(const TestImage<T>& image) {
        FrameRing ring(image.shape(), 1, executor_->slot_memory());
        Frame frame = ring.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        // What lies between the rows is nothing that a kernel may use: NaN in f32.
        std::memset(view.data, 0xff, view.pitch * static_cast<std::size_t>(view.shape.height));
        copy_pixels(image.view(), view);
        executor_->submit(std::move(frame), true);
        std::optional<Result> result = executor_->collect(true);
        EXPECT_TRUE(result);
        return std::move(*result);
    }

    /// Largest distance from the oracle of what has the oracle's shape; integers may be off by their
    /// rounding.
    template <class T> double worst(const TestImage<T>& image, const GaussianParams& params) {
        use(params);
        const Result result = run(image);
        const Plane want = gaussian_oracle(image, params);
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
        const Plane want = gaussian_oracle(image, params); // sums of 256ths: exact
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

TEST_F(GaussianCuda, SamplesThatAreNoNumbersDoNotSpreadBeyondTheTaps) {
    auto image = random_image<float>(300, 80, 1, 400);
    image.at(150, 40) = std::numeric_limits<float>::quiet_NaN();
    image.at(20, 10) = std::numeric_limits<float>::infinity();
    for (const Method method : {Method::binomial3, Method::binomial5, Method::direct}) {
        const GaussianParams params{.sigma = 1.5, .method = method};
        const int radius = gaussian_radius(params);
        use(params);
        const Result result = run(image);
        const auto got = result.image.host().as<float>();
        for (int y = 0; y < got.height; ++y)
            for (int x = 0; x < got.width; ++x) {
                const bool near = std::max(std::abs(x - 150), std::abs(y - 40)) <= radius ||
                                  std::max(std::abs(x - 20), std::abs(y - 10)) <= radius;
                ASSERT_EQ(!std::isfinite(got.row(y)[x]), near) << x << ", " << y << " radius " << radius;
            }
    }
    for (const Method method : {Method::recursive, Method::direct}) { // neither crashes nor hangs
        use({.sigma = 7, .method = method});
        EXPECT_TRUE(run(image).image);
    }
}

} // namespace
} // namespace specklescope::test

#endif
