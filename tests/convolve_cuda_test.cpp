// Convolution on the device against sums in float64, the host, and itself: whole and in tiles.
#include <gtest/gtest.h>

#ifndef SPECKLESCOPE_HAVE_CUDA

TEST(ConvolveCuda, Backend) { GTEST_SKIP() << "this build has no CUDA backend"; }

#else

#include "bench/seeds/fft_c2c.hpp"
#include "cuda/convolve_kernel.hpp"
#include "cuda/devices.hpp"
#include "file_tools.hpp"
#include "pipeline/executor.hpp"
#include "random.hpp"
#include "stages/convolve.hpp"
#include "stages/convolve_kernel.hpp"
#include "stages/gaussian.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

namespace specklescope {
namespace {

using test::TestImage;

// --- the truth ---

/// Weights of one channel as doubles, plain to read.
struct Weights {
    int width = 1, height = 1;
    std::vector<double> values = {1};
    double at(int x, int y) const {
        return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)];
    }
};

Weights random_weights(int width, int height, std::mt19937_64& random) {
    Weights weights{width, height, {}};
    std::uniform_real_distribution<double> value(0, 1);
    double sum = 0;
    for (int i = 0; i < width * height; ++i) {
        weights.values.push_back(static_cast<double>(static_cast<float>(value(random))));
        sum += weights.values.back();
    }
    for (double& weight : weights.values)
        weight = static_cast<double>(static_cast<float>(weight / sum));
    return weights;
}

Weights plane_of(const ConvolveKernel& kernel, int channel) {
    Weights weights{kernel.width, kernel.height, {}};
    const float* first = kernel.row(channel, 0);
    weights.values.assign(first, first + static_cast<std::ptrdiff_t>(kernel.width) * kernel.height);
    return weights;
}

/// scipy.ndimage.convolve's sum for one pixel.
template <class T>
double truth_at(const TestImage<T>& image, const Weights& weights, int x, int y, int channel, Border border) {
    const Shape& shape = image.shape();
    double sum = 0;
    for (int j = 0; j < weights.height; ++j) {
        const int row = border_index(y + weights.height / 2 - j, shape.height, border);
        for (int i = 0; row >= 0 && i < weights.width; ++i) {
            const int column = border_index(x + weights.width / 2 - i, shape.width, border);
            if (column >= 0)
                sum +=
                    weights.at(i, j) * static_cast<double>(image.at(column * shape.channels + channel, row));
        }
    }
    return sum;
}

/// Height × width, or channel × height × width, of float32.
void write_npy(const std::string& path, const std::vector<Weights>& planes) {
    const Weights& first = planes.front();
    std::string shape = std::to_string(first.height) + ", " + std::to_string(first.width);
    if (planes.size() > 1)
        shape = std::to_string(planes.size()) + ", " + shape;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    for (const Weights& plane : planes)
        for (const double value : plane.values) {
            const auto weight = static_cast<float>(value);
            bytes.append(reinterpret_cast<const char*>(&weight), sizeof weight);
        }
    test::write_file(path, bytes);
}

// --- what needs no device ---

/// The device's way of placing pixels, weights and results along one axis, with the cyclic sum written out.
void check_axis(int size, int kernel, Border border, std::size_t points) {
    const Shape shape{size, 8, 1, PixelType::f32};
    ConvolutionLimits limits;
    limits.space = Space::device;
    limits.bytes = points;
    limits.memory = [](int width, int) { return static_cast<std::size_t>(width); };
    const ConvolutionAxis axis = plan_convolution(shape, kernel, 1, border, limits).x;
    auto random = test::test_random(static_cast<std::uint64_t>(size * 1000 + kernel));
    const Weights weights = random_weights(kernel, 1, random);
    const auto image = test::uniform_image<float>(size, 1, 0, 1, random);
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
                        ASSERT_EQ(pixel, border_index(axis.shift + result - (k - kernel / 2), size, border));
                    }
            }
        }
}

TEST(ConvolveIndex, TapSpectrumIsTheTransformOfTheTaps) {
    GaussianParams params;
    params.sigma = 2.3;
    const std::vector<double> taps = gaussian_taps(params);
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

// --- running things ---

std::unique_ptr<DeviceStage> gaussian_fft(const Params& params) {
    return make_gaussian_fft_device(params.as<GaussianParams>());
}

/// The stage in hand, whatever else stage gaussian would choose.
const StageType& gaussian_fft_type() {
    static const StageType type = {.name = "gaussian",
                                   .doc = "by transforms",
                                   .table = &gaussian_table(),
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
        std::string reason;
        if (list_gpus(&reason).empty())
            GTEST_SKIP() << reason;
        executor = make_cuda_executor(0);
        try {
            run(TestImage<float>(8, 8), ConvolveParams{});
        } catch (const RunError& error) {
            if (std::string(error.what()).find("libcufft") == std::string::npos)
                throw;
            GTEST_SKIP() << error.what();
        }
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
        ChainStage stage{&find_stage("convolve"), Params(convolve_table())};
        stage.params.as<ConvolveParams>() = params;
        return stage;
    }
    template <class T> Result run(const TestImage<T>& image, const ConvolveParams& params) {
        return run_chain(image, stage_of(params), *executor);
    }
    template <class T> Result run(const TestImage<T>& image, const GaussianParams& params) {
        ChainStage stage{&gaussian_fft_type(), Params(gaussian_table())};
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

    /// Largest difference over the image in units of `full`, integers less the half that rounding may cost.
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

    test::TempFolder folder;
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
            for (const auto border : {ConvolveParams::Border::replicate, ConvolveParams::Border::reflect,
                                      ConvolveParams::Border::wrap, ConvolveParams::Border::zero}) {
                const auto image = random_image<TypeParam>(c.width, c.height, channels, 2);
                const std::vector<Weights> planes = {random_weights(c.kernel_width, c.kernel_height, random)};
                ConvolveParams params;
                params.border = border;
                SCOPED_TRACE(std::to_string(c.kernel_width) + "x" + std::to_string(c.kernel_height) +
                             " border " + std::to_string(static_cast<int>(border)));
                EXPECT_LE(this->worst(this->run(image, planes, params), image, planes,
                                      convolve_border(border), full_scale<TypeParam>()),
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

TYPED_TEST(ConvolveCudaPixels, ColourKernelsAreOneForEachChannelOnRequest) {
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

TEST_F(ConvolveCuda, KernelsByFormulaAreThoseOfTheHost) {
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
            params.border = ConvolveParams::Border::reflect;
            SCOPED_TRACE(to_string(stage_of(params)));
            const std::vector<Weights> planes = {plane_of(make_kernel(params, image.shape()), 0)};
            EXPECT_LE(worst(run(image, params), image, planes, Border::reflect, 1000), 1e-5);
        }
}

TYPED_TEST(ConvolveCudaPixels, TilesGiveThePixelsOfTheWhole) {
    const double rounding = std::is_same_v<TypeParam, float> ? 0 : 0.5;
    auto random = test::test_random(7);
    for (const int channels : {1, 3}) {
        const auto image = random_image<TypeParam>(channels == 1 ? 1501 : 901, 1003, channels, 8);
        // So large that tiles do not pay where there is memory for the whole.
        const std::vector<Weights> planes = {random_weights(402 / channels, 389 / channels, random)};
        for (const auto border : {ConvolveParams::Border::replicate, ConvolveParams::Border::zero}) {
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
                ASSERT_NEAR(
                    static_cast<double>(b.row(y)[x]),
                    truth_at(image, planes[0], x / channels, y, x % channels, convolve_border(border)),
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
            params.border = ConvolveParams::Border::reflect;
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

TEST_F(ConvolveCuda, SamplesThatAreNoNumbersDoNotStopIt) {
    auto image = random_image<float>(50, 40, 1, 10);
    image.at(7, 9) = std::numeric_limits<float>::quiet_NaN();
    image.at(30, 11) = std::numeric_limits<float>::infinity();
    run(image, ConvolveParams{});
    const auto clean = random_image<float>(50, 40, 1, 10);
    const Result result = run(clean, ConvolveParams{}); // nothing of it is left behind
    EXPECT_TRUE(std::isfinite(result.image.host().as<float>().row(9)[7]));
}

TEST_F(ConvolveCuda, TheSameFrameGivesTheSameBits) {
    const auto image = random_image<float>(700, 600, 3, 11);
    ConvolveParams params;
    params.kernel = ConvolveParams::Kernel::glare;
    const Result first = run(image, params);
    params.sigma = 5; // not used by glare, but the stage is made anew
    const Result second = run(image, params);
    for (int y = 0; y < 600; ++y)
        ASSERT_EQ(std::memcmp(first.image.host().row(y), second.image.host().row(y), 700 * 12), 0) << y;
}

TEST_F(ConvolveCuda, RefusesTooLittleMemoryInOneSentence) {
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

// --- below the stage ---

/// Two images on the device: what comes in, and room for the result.
class OnDevice {
public:
    OnDevice(ConstHostView image, const Shape& result)
        : inputs_(image.shape, 1, cuda::device_memory()), outputs_(result, 1, cuda::device_memory()),
          input_(inputs_.try_acquire()), output_(outputs_.try_acquire()) {
        cuda::check(cudaMemcpy2D(input().data, input().pitch, image.data, image.pitch,
                                 image.shape.row_bytes(), static_cast<std::size_t>(image.shape.height),
                                 cudaMemcpyHostToDevice),
                    "cudaMemcpy2D");
    }
    DeviceView input() const { return input_.device(); }
    DeviceView output() const { return output_.device(); }
    TestImage<float> fetched() const {
        const Shape& shape = output().shape;
        TestImage<float> image(shape.width, shape.height, 0, shape.channels);
        cuda::check(cudaMemcpy2D(image.view().data, image.view().pitch, output().data, output().pitch,
                                 shape.row_bytes(), static_cast<std::size_t>(shape.height),
                                 cudaMemcpyDeviceToHost),
                    "cudaMemcpy2D");
        return image;
    }

private:
    FrameRing inputs_, outputs_;
    Frame input_, output_;
};

double worst_difference(const TestImage<float>& got, const TestImage<float>& image, const Weights& weights,
                        Border border) {
    double largest = 0;
    const Shape& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x)
            largest = std::max(largest, std::abs(static_cast<double>(got.at(x, y)) -
                                                 truth_at(image, weights, x / shape.channels, y,
                                                          x % shape.channels, border)));
    return largest;
}

TEST_F(ConvolveCuda, TransformsOfTheImagesOwnRowsGiveTheSamePixels) {
    auto random = test::test_random(14);
    for (const int channels : {1, 3})
        for (const auto& [width, height, side] :
             {std::array{61, 47, 13}, {20, 31, 64}, {130, 3, 8}, {1, 1, 1}, {9, 40, 7}})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero})
                for (const bool own_rows : {false, true}) {
                    const auto image = random_image<float>(width, height, channels, 15);
                    const Weights weights = random_weights(side, side, random);
                    cuda::ConvolutionTask task;
                    task.image = image.shape();
                    task.kernel_width = task.kernel_height = side;
                    task.border = border;
                    task.bytes = std::size_t{1} << 28;
                    task.own_rows = own_rows;
                    const cuda::Convolution convolution(task);
                    ASSERT_EQ(convolution.own_rows(), own_rows && convolution.geometry().whole());
                    const ConvolveKernel kernel{
                        side, side, 1, {weights.values.begin(), weights.values.end()}};
                    const cuda::Stream stream;
                    cuda::make_weight_spectra(kernel, convolution, stream.get());
                    const OnDevice device(image.view(), image.shape());
                    convolution.run(device.input(), device.output(), stream.get());
                    stream.synchronize();
                    EXPECT_LE(worst_difference(device.fetched(), image, weights, border), 1e-2)
                        << width << "x" << height << " kernel " << side << " border "
                        << static_cast<int>(border) << " own rows " << own_rows;
                }
}

TEST_F(ConvolveCuda, TheSeedsMethodIsRightForZerosOutside) {
    auto random = test::test_random(16);
    for (const int channels : {1, 3}) {
        const auto image = random_image<float>(57, 41, channels, 17);
        const Weights weights = random_weights(12, 9, random);
        const OnDevice device(image.view(), image.shape());
        seeds::seed_convolve_c2c(device.input(), device.output(),
                                 {weights.values.begin(), weights.values.end()}, 12, 9);
        EXPECT_LE(worst_difference(device.fetched(), image, weights, Border::zero), 1e-2);
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
                const std::vector<double> taps = gaussian_taps(params);
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
                                const int row = border_index(y + margin + j, 61, border);
                                const int column = border_index(x / channels + margin + i, 83, border);
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

} // namespace
} // namespace specklescope

#endif
