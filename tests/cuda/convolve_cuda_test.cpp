// Convolution on the device compared with sums in float64, the host, and itself: whole and in tiles.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "pipeline/executor.hpp"
#include "stages/convolve/convolve.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/stages/convolve/convolve_sums.hpp"
#include "tests/support/gpu.hpp"

#include <cmath>
#include <cstring>

namespace specklescope::convolve_cuda_test {

using test::plane_of;
using test::random_weights;
using test::TestImage;
using test::truth_at;
using test::Weights;
using test::write_npy;

// --- running things ---

std::unique_ptr<DeviceStage> gaussian_fft(const Params& params) {
    return make_gaussian_fft_device(params.as<GaussianParams>());
}

/// Method fft, independent of the choice made by stage gaussian.
const StageType& gaussian_fft_type() {
    static const StageType type = {.name = "gaussian",
                                   .doc = "by transforms",
                                   .table = find_stage("gaussian").table,
                                   .types = {PixelType::u8, PixelType::u16, PixelType::f32},
                                   .channels = {1, 3},
                                   .tolerance = 1e-5,
                                   .quantity = same_quantity,
                                   .make_host = nullptr,
                                   .make_device = gaussian_fft};
    return type;
}

class ConvolveCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!test::needs_gpu())
            return;
        executor = make_cuda_executor(0);
    }

    template <class T> Result run_chain(const TestImage<T>& image, ChainStage stage, Executor& on) {
        auto chain = std::make_shared<Chain>();
        chain->add(std::move(stage));
        on.set_chain(chain, ++version);
        FrameRing ring(image.shape(), 1, on.slot_memory());
        Frame frame = ring.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        std::memset(view.data, 0xa5, view.pitch * static_cast<std::size_t>(view.shape.height));
        copy_pixels(image.view(), view);
        frame.info().discontinuity = true;
        on.submit(std::move(frame), true);
        std::optional<Result> result = on.collect(true);
        EXPECT_TRUE(result);
        return std::move(*result);
    }
    static ChainStage stage_of(const ConvolveParams& params) {
        ChainStage stage{&find_stage("convolve"), Params(*find_stage("convolve").table)};
        stage.params.as<ConvolveParams>() = params;
        return stage;
    }
    template <class T> Result run(const TestImage<T>& image, const ConvolveParams& params) {
        return run_chain(image, stage_of(params), *executor);
    }
    template <class T> Result run(const TestImage<T>& image, const GaussianParams& params) {
        ChainStage stage{&gaussian_fft_type(), Params(*find_stage("gaussian").table)};
        stage.params.as<GaussianParams>() = params;
        return run_chain(image, std::move(stage), *executor);
    }
    template <class T>
    Result run(const TestImage<T>& image, const std::vector<Weights>& planes, ConvolveParams params = {}) {
        write_npy(folder / "kernel.npy", planes);
        params.kernel = ConvolveParams::Kernel::file;
        params.file = folder / "kernel.npy";
        params.normalize = false;
        return run(image, params);
    }

    /// Largest difference over the image in units of `full`, for integers minus 0.5 for rounding.
    template <class T> double worst(const Result& result, const TestImage<T>& image,
                                    const std::vector<Weights>& planes, Border border, double full) {
        const auto got = result.image.host().as<T>();
        const int channels = image.shape().channels;
        double largest = 0;
        for (int y = 0; y < got.height; ++y)
            for (int x = 0; x < got.width * channels; ++x) {
                const int channel = x % channels;
                const Weights& weights = planes[planes.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
                const double want = truth_at(image, weights, x / channels, y, channel, border);
                double error = std::abs(static_cast<double>(got.row(y)[x]) - want);
                if (std::is_integral_v<T>)
                    error = std::max(0.0, error - 0.5);
                largest = std::max(largest, error / full);
                if (!(error / full <= 1e-5)) {
                    ADD_FAILURE() << to_string(image.shape()) << " at " << x << ", " << y << ": "
                                  << static_cast<double>(got.row(y)[x]) << ", truth " << want;
                    return error / full;
                }
            }
        return largest;
    }

    TemporaryFolder folder;
    std::unique_ptr<Executor> executor;
    std::uint64_t version = 0;
};

template <class T> class ConvolveCudaPixels : public ConvolveCuda {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(ConvolveCudaPixels, PixelTypes);

template <class T> double full_scale() {
    return std::is_same_v<T, float> ? 1000.0 : type_full_scale(pixel_type_of<T>());
}

template <class T> TestImage<T> random_image(int width, int height, int channels, std::uint64_t stream) {
    auto random = test::test_random(stream);
    std::uniform_real_distribution<double> value(0, full_scale<T>());
    return TestImage<T>(width, height, 1, channels).fill([&] { return value(random); });
}

TYPED_TEST(ConvolveCudaPixels, AgreesWithTheSumForEveryBorderSizeAndChannelCount) {
    struct Case {
        int width, height, kernel_width, kernel_height;
    };
    auto random = test::test_random(1);
    for (const Case& c : {Case{1, 1, 1, 1}, Case{33, 17, 1, 1}, Case{33, 17, 5, 3}, Case{64, 40, 8, 6},
                          Case{61, 47, 13, 22}, Case{19, 23, 40, 51}, Case{5, 9, 64, 2}, Case{130, 3, 3, 7}})
        for (const int channels : {1, 3})
            for (const auto border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
                const auto image = random_image<TypeParam>(c.width, c.height, channels, 2);
                const std::vector<Weights> planes = {random_weights(c.kernel_width, c.kernel_height, random)};
                ConvolveParams params;
                params.border = border;
                SCOPED_TRACE(std::to_string(c.kernel_width) + "x" + std::to_string(c.kernel_height) +
                             " border " + std::to_string(static_cast<int>(border)));
                EXPECT_LE(this->worst(this->run(image, planes, params), image, planes, border,
                                      full_scale<TypeParam>()),
                          1e-5);
            }
}

TYPED_TEST(ConvolveCudaPixels, ADeltaIsTheIdentity) {
    for (const int channels : {1, 3}) {
        const auto image = random_image<TypeParam>(211, 97, channels, 3);
        const double most = std::is_same_v<TypeParam, float> ? 1e-3 : 0;
        Weights delta{5, 4, std::vector<double>(20)};
        delta.values[2 * 5 + 2] = 1; // the centre: 5/2, 4/2
        const Result result = this->run(image, std::vector<Weights>{delta});
        const auto got = result.image.host().template as<TypeParam>();
        for (int y = 0; y < got.height; ++y)
            for (int x = 0; x < got.width * channels; ++x)
                ASSERT_NEAR(static_cast<double>(got.row(y)[x]), static_cast<double>(image.at(x, y)), most)
                    << x << ", " << y;
    }
}

TYPED_TEST(ConvolveCudaPixels, ColourKernelsApplyPerChannelOnRequest) {
    auto random = test::test_random(4);
    const auto image = random_image<TypeParam>(45, 31, 3, 5);
    const std::vector<Weights> planes = {random_weights(9, 7, random), random_weights(9, 7, random),
                                         random_weights(9, 7, random)};
    ConvolveParams params;
    params.per_channel = true;
    const double full = full_scale<TypeParam>();
    EXPECT_LE(this->worst(this->run(image, planes, params), image, planes, Border::replicate, full), 1e-5);
    params.per_channel = false;
    Weights mean = planes[0];
    for (std::size_t i = 0; i < mean.values.size(); ++i)
        mean.values[i] = (planes[0].values[i] + planes[1].values[i] + planes[2].values[i]) / 3;
    EXPECT_LE(this->worst(this->run(image, planes, params), image, {mean}, Border::replicate, full), 1e-5);
}

TEST_F(ConvolveCuda, KernelsByFormulaMatchTheHost) {
    const auto image = random_image<float>(90, 70, 3, 6);
    for (const auto kernel : {ConvolveParams::Kernel::gaussian, ConvolveParams::Kernel::disk,
                              ConvolveParams::Kernel::line, ConvolveParams::Kernel::glare})
        for (const bool normalize : {true, false}) {
            ConvolveParams params;
            params.kernel = kernel;
            params.sigma = 3.7;
            params.radius = 6.2;
            params.length = 17.5;
            params.angle = 31;
            params.normalize = normalize;
            params.border = Border::reflect;
            SCOPED_TRACE(to_string(stage_of(params)));
            const std::vector<Weights> planes = {plane_of(make_kernel(params, image.shape()), 0)};
            EXPECT_LE(worst(run(image, params), image, planes, Border::reflect, 1000), 1e-5);
        }
}

TYPED_TEST(ConvolveCudaPixels, TilesMatchTheWhole) {
    const double rounding = std::is_same_v<TypeParam, float> ? 0 : 0.5;
    auto random = test::test_random(7);
    for (const int channels : {1, 3}) {
        const auto image = random_image<TypeParam>(channels == 1 ? 1801 : 1101, 1203, channels, 8);
        // So large that tiles are slower if there is memory for one transform.
        const std::vector<Weights> planes = {random_weights(402 / channels, 389 / channels, random)};
        for (const auto border : {Border::replicate, Border::zero}) {
            ConvolveParams params;
            params.border = border;
            const Result whole = this->run(image, planes, params);
            params.memory = 16;
            const Result tiles = this->run(image, planes, params);
            ASSERT_NE(tiles.notes->at(0).find("tiles"), std::string::npos) << tiles.notes->at(0);
            const auto a = whole.image.host().template as<TypeParam>();
            const auto b = tiles.image.host().template as<TypeParam>();
            for (int i = 0; i < 100; ++i) {
                const auto x = static_cast<int>(random() % static_cast<unsigned>(a.width * channels));
                const auto y = static_cast<int>(random() % static_cast<unsigned>(a.height));
                ASSERT_NEAR(static_cast<double>(b.row(y)[x]),
                            truth_at(image, planes[0], x / channels, y, x % channels, border),
                            rounding + 1e-5 * full_scale<TypeParam>())
                    << x << ", " << y << " " << whole.notes->at(0) << ", " << tiles.notes->at(0);
            }
            const double most = std::is_same_v<TypeParam, float> ? 1e-5 * full_scale<TypeParam>() : 1;
            for (int y = 0; y < a.height; ++y)
                for (int x = 0; x < a.width * channels; ++x)
                    ASSERT_NEAR(static_cast<double>(a.row(y)[x]), static_cast<double>(b.row(y)[x]), most)
                        << x << ", " << y << " " << tiles.notes->at(0);
        }
    }
}

TYPED_TEST(ConvolveCudaPixels, AgreesWithTheHost) {
    const auto cpu = make_host_executor(1);
    for (const int channels : {1, 3})
        for (const auto& [width, height] : {std::pair{320, 241}, {501, 353}}) {
            const auto image = random_image<TypeParam>(width, height, channels, 9);
            ConvolveParams params;
            params.kernel = ConvolveParams::Kernel::glare;
            params.border = Border::reflect;
            const Result host = this->run_chain(image, this->stage_of(params), *cpu);
            const Result device = this->run(image, params);
            const auto a = host.image.host().template as<TypeParam>();
            const auto b = device.image.host().template as<TypeParam>();
            const double most = std::is_same_v<TypeParam, float> ? 1e-5 * full_scale<TypeParam>() : 1;
            for (int y = 0; y < a.height; ++y)
                for (int x = 0; x < a.width * channels; ++x)
                    ASSERT_NEAR(static_cast<double>(a.row(y)[x]), static_cast<double>(b.row(y)[x]), most)
                        << x << ", " << y;
        }
}

TEST_F(ConvolveCuda, HighDynamicRangeGoesThroughUnclipped) {
    TestImage<float> image(120, 80, 2, 3);
    image.fill([] { return 0.5; });
    for (int c = 0; c < 3; ++c)
        image.at(60 * 3 + c, 40) = 2e6F;
    ConvolveParams params;
    params.sigma = 4;
    const std::vector<Weights> planes = {plane_of(make_kernel(params, image.shape()), 0)};
    const Result result = run(image, params);
    EXPECT_LE(worst(result, image, planes, Border::replicate, 2e6), 1e-6);
    EXPECT_GT(result.image.host().as<float>().row(40)[180], 15000.0F);
}

TEST_F(ConvolveCuda, HandlesNonFiniteSamples) {
    auto image = random_image<float>(50, 40, 1, 10);
    image.at(7, 9) = std::numeric_limits<float>::quiet_NaN();
    image.at(30, 11) = std::numeric_limits<float>::infinity();
    run(image, ConvolveParams{});
    const auto clean = random_image<float>(50, 40, 1, 10);
    const Result result = run(clean, ConvolveParams{}); // the previous frame leaves no trace
    EXPECT_TRUE(std::isfinite(result.image.host().as<float>().row(9)[7]));
}

TEST_F(ConvolveCuda, TheSameFrameGivesTheSameBits) {
    const auto image = random_image<float>(700, 600, 3, 11);
    ConvolveParams params;
    params.kernel = ConvolveParams::Kernel::glare;
    const Result first = run(image, params);
    params.sigma = 5; // not used by glare, but rebuilds the stage
    const Result second = run(image, params);
    for (int y = 0; y < 600; ++y)
        ASSERT_EQ(std::memcmp(first.image.host().row(y), second.image.host().row(y), 700 * 12), 0) << y;
}

/// Allocates all free device memory except `left` bytes, like another program.
std::vector<cuda::Buffer> fill_device(std::size_t left) {
    std::vector<cuda::Buffer> held;
    std::size_t free = 0;
    std::size_t total = 0;
    for (std::size_t piece = std::size_t{1} << 40; piece >= std::size_t{2} << 20;) {
        cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        if (free < left + piece) {
            piece /= 2;
            continue;
        }
        try {
            held.emplace_back(piece, cuda::device_memory());
        } catch (const RunError&) { // no block of this size
            piece /= 2;
        }
    }
    return held;
}

TYPED_TEST(ConvolveCudaPixels, WorksInTilesOnABusyGpu) {
    auto random = test::test_random(14);
    const auto image = random_image<TypeParam>(1801, 1203, 1, 15);
    const std::vector<Weights> planes = {random_weights(402, 389, random)};
    const Result whole = this->run(image, planes);
    ASSERT_NE(whole.notes->at(0).find("whole"), std::string::npos) << whole.notes->at(0);
    ConvolveParams other;
    other.sigma = 2;
    this->run(image, other); // frees the large kernel's memory; slots stay
    const std::vector<cuda::Buffer> held = fill_device(std::size_t{64} << 20);
    const Result tiles = this->run(image, planes);
    ASSERT_NE(tiles.notes->at(0).find("tiles"), std::string::npos) << tiles.notes->at(0);
    const auto a = whole.image.host().template as<TypeParam>();
    const auto b = tiles.image.host().template as<TypeParam>();
    const double most = std::is_same_v<TypeParam, float> ? 1e-5 * full_scale<TypeParam>() : 1;
    for (int y = 0; y < a.height; ++y)
        for (int x = 0; x < a.width; ++x)
            ASSERT_NEAR(static_cast<double>(a.row(y)[x]), static_cast<double>(b.row(y)[x]), most)
                << x << ", " << y << " " << tiles.notes->at(0);
}

TEST_F(ConvolveCuda, RefusesTooLittleMemory) {
    const auto image = random_image<std::uint8_t>(3000, 2500, 3, 12);
    ConvolveParams params;
    params.kernel = ConvolveParams::Kernel::glare;
    params.memory = 16;
    try {
        run(image, params);
        FAIL() << "16 MB hold a kernel of 5999×4999";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("memory"), std::string::npos) << error.what();
    }
}

// --- method fft of stage gaussian ---

TYPED_TEST(ConvolveCudaPixels, GaussianByTransformsAgreesWithItsTaps) {
    const double full = full_scale<TypeParam>();
    for (const int channels : {1, 3})
        for (const double sigma : {0.3, 1.0, 6.5})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero,
                                        Border::omit, Border::crop}) {
                GaussianParams params;
                params.sigma = sigma;
                params.method = GaussianParams::Method::fft;
                params.border = border;
                const std::vector<double> taps = test::oracle_taps(params);
                const int radius = static_cast<int>(taps.size()) / 2;
                const auto image = random_image<TypeParam>(83, 61, channels, 13);
                const Result result = this->run(image, params);
                const auto got = result.image.host().template as<TypeParam>();
                const int margin = border == Border::crop ? radius : 0;
                ASSERT_EQ(got.width, 83 - 2 * margin);
                ASSERT_EQ(got.height, 61 - 2 * margin);
                for (int y = 0; y < got.height; ++y)
                    for (int x = 0; x < got.width * channels; ++x) {
                        double sum = 0;
                        double norm = 0;
                        for (int j = -radius; j <= radius; ++j)
                            for (int i = -radius; i <= radius; ++i) {
                                const int row = test::oracle_index(y + margin + j, 61, border);
                                const int column = test::oracle_index(x / channels + margin + i, 83, border);
                                if (row < 0 || column < 0)
                                    continue;
                                const double weight = taps[static_cast<std::size_t>(i + radius)] *
                                                      taps[static_cast<std::size_t>(j + radius)];
                                norm += weight;
                                sum += weight *
                                       static_cast<double>(image.at(column * channels + x % channels, row));
                            }
                        if (border == Border::omit)
                            sum /= norm;
                        double error = std::abs(static_cast<double>(got.row(y)[x]) - sum);
                        if (std::is_integral_v<TypeParam>)
                            error = std::max(0.0, error - 0.5);
                        ASSERT_LE(error, 1e-5 * full)
                            << x << ", " << y << " sigma " << sigma << " border " << static_cast<int>(border);
                    }
            }
}

TEST_F(ConvolveCuda, GaussianByTransformsKeepsAConstantWiderThanTheImage) {
    TestImage<float> image(300, 200, 0, 1);
    image.fill([] { return 123.25; });
    for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::omit}) {
        GaussianParams params;
        params.sigma = 150;
        params.method = GaussianParams::Method::fft;
        params.border = border;
        const Result result = run(image, params);
        for (int y = 0; y < 200; y += 7)
            for (int x = 0; x < 300; x += 3)
                ASSERT_NEAR(static_cast<double>(result.image.host().as<float>().row(y)[x]), 123.25, 123.25e-6)
                    << x << ", " << y << " border " << static_cast<int>(border);
    }
}

} // namespace specklescope::convolve_cuda_test
