// The earlier methods used as references in benchmarks are right where they claim to be.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "tests/bench/seeds/seeds.hpp"
#include "tests/stages/gaussian/gaussian_oracle.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/oracle.hpp"

#include <algorithm>
#include <numeric>

namespace specklescope::test::seeds_test {

using seeds::Size;

class SeedsCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!needs_gpu())
            return;
        memory_ = cuda::device_memory();
    }

    template <class T> cuda::Buffer upload(const std::vector<T>& values) {
        cuda::Buffer buffer(values.size() * sizeof(T), memory_);
        cuda::check(cudaMemcpy(buffer.as<T>(), values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
                    "cudaMemcpy");
        return buffer;
    }
    template <class T> cuda::Buffer room(std::size_t count) {
        return cuda::Buffer(count * sizeof(T), memory_);
    }
    template <class T> std::vector<T> fetched(const cuda::Buffer& buffer, std::size_t count) {
        std::vector<T> values(count);
        cuda::check(cudaGetLastError(), "a seed's kernel");
        cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        cuda::check(cudaMemcpy(values.data(), buffer.as<T>(), count * sizeof(T), cudaMemcpyDefault),
                    "cudaMemcpy");
        return values;
    }

    template <class T> void convolutions_agree(const TestImage<T>& image, double tolerance);

    std::shared_ptr<SlotMemory> memory_;
};

template <class T> std::vector<T> flat(const TestImage<T>& image, int frame = 0) {
    const Shape& shape = image.shape();
    std::vector<T> values;
    for (int y = -frame; y < shape.height + frame; ++y)
        for (int x = -frame * shape.channels; x < (shape.width + frame) * shape.channels; ++x) {
            const bool inside = y >= 0 && y < shape.height && x >= 0 && x < shape.width * shape.channels;
            values.push_back(inside ? image.at(x, y) : T{});
        }
    return values;
}

template <class T> void SeedsCuda::convolutions_agree(const TestImage<T>& image, double tolerance) {
    const GaussianParams params{.method = GaussianParams::Method::binomial5, .border = Border::zero};
    const std::vector<double> taps = oracle_taps(params);
    std::vector<float> weights;
    for (const double down : taps)
        for (const double across : taps)
            weights.push_back(static_cast<float>(down * across));
    const cuda::Buffer padded = upload(flat(image, 2));
    const cuda::Buffer on_device = upload(weights);
    const Size size{image.shape().width, image.shape().height};
    const OraclePlane want = oracle_gaussian(image, params);
    seeds::seed_constant_weights(weights.data());
    for (const auto memory : {seeds::Memory::global, seeds::Memory::constant, seeds::Memory::shared}) {
        const cuda::Buffer output = room<T>(want.values.size());
        seeds::seed_convolve(memory, padded.as<T>(), on_device.as<float>(), output.as<T>(),
                             image.shape().channels, size, nullptr);
        const std::vector<T> got = fetched<T>(output, want.values.size());
        double worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
            worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want.values[i]));
        EXPECT_LE(worst, tolerance) << static_cast<int>(memory);
    }
}

TEST_F(SeedsCuda, ConvolutionsOfRgbAgree) {
    auto random = test_random(1);
    std::uniform_int_distribution<int> value(0, 255);
    convolutions_agree(TestImage<std::uint8_t>(117, 43, 0, 3).fill([&] { return value(random); }), 0.5);
}

TEST_F(SeedsCuda, ConvolutionsOfRealPixelsAgree) {
    auto random = test_random(2);
    std::uniform_real_distribution<float> value(0, 1);
    convolutions_agree(TestImage<float>(131, 50).fill([&] { return value(random); }), 1e-6);
    convolutions_agree(TestImage<float>(61, 47, 0, 3).fill([&] { return value(random); }), 1e-6);
}

TEST_F(SeedsCuda, RecursiveGaussianAgreesAwayFromTheStartOfItsBackwardPass) {
    auto random = test_random(3);
    std::uniform_real_distribution<float> value(0, 1);
    const auto image = TestImage<float>(301, 203).fill([&] { return value(random); });
    const double sigma = 4;
    const OraclePlane want =
        oracle_gaussian(image, {.sigma = sigma, .method = GaussianParams::Method::recursive});
    const std::size_t pixels = want.values.size();
    const cuda::Buffer input = upload(flat(image));
    const cuda::Buffer scratch = room<double>(2 * pixels);
    const cuda::Buffer output = room<float>(pixels);
    seeds::seed_recursive(input.as<float>(), scratch.as<double>(), output.as<float>(), sigma,
                          {want.width, want.height}, nullptr);
    const std::vector<float> got = fetched<float>(output, pixels);
    const int beside = static_cast<int>(20 * sigma);
    double worst = 0;
    for (int y = 0; y < want.height - beside; ++y)
        for (int x = 0; x < want.width - beside; ++x)
            worst = std::max(worst,
                             std::abs(static_cast<double>(got[static_cast<std::size_t>(y * want.width + x)]) -
                                      want.at(x, y, 0)));
    EXPECT_LE(worst, 1e-6);
}

TEST_F(SeedsCuda, SpeckleAgreesAtSmallIntensities) {
    auto random = test_random(4);
    const auto image = uniform_image<std::uint16_t>(157, 61, 200, 1800, random);
    SpeckleParams params{.radius = 2, .exposure_ms = 5, .output = SpeckleParams::Output::contrast};
    const OracleResult contrast = oracle_speckle(image, params);
    params.output = SpeckleParams::Output::sfi;
    const OracleResult flow = oracle_speckle(image, params);
    const std::size_t pixels = flow.values.size();
    const cuda::Buffer input = upload(flat(image));
    const cuda::Buffer k = room<float>(pixels);
    const cuda::Buffer sfi = room<float>(pixels);
    seeds::seed_speckle(input.as<std::uint16_t>(), k.as<float>(), sfi.as<float>(), 0.005F, {157, 61},
                        nullptr);
    const std::vector<float> got_k = fetched<float>(k, pixels);
    const std::vector<float> got_sfi = fetched<float>(sfi, pixels);
    double worst = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
        worst = std::max(worst, contrast_error(static_cast<double>(got_k[i]), contrast.values[i],
                                               SpeckleParams::Output::contrast));
        worst = std::max(worst, contrast_error(static_cast<double>(got_sfi[i]), flow.values[i],
                                               SpeckleParams::Output::sfi));
    }
    EXPECT_LE(worst, 1e-6);
}

TEST_F(SeedsCuda, EqualisationAgreesWithItsDefinition) {
    auto random = test_random(5);
    std::uniform_int_distribution<int> sample(0, 255);
    std::uniform_int_distribution<int> dark(0, 7); // so that most pixels share a few bins
    constexpr int kWidth = 203, kHeight = 77, kPixels = kWidth * kHeight;
    for (const int bins : {256, 31, 1000}) {
        std::vector<std::uint8_t> rgb;
        for (int i = 0; i < 3 * kPixels; ++i)
            rgb.push_back(static_cast<std::uint8_t>(i < 2 * kPixels ? dark(random) : sample(random)));
        const auto value_of = [&](int i) {
            return *std::max_element(rgb.begin() + 3 * i, rgb.begin() + 3 * i + 3);
        };
        const auto bin_of = [bins](int value) { return std::min(value * bins / 255, bins - 1); };
        std::vector<double> cumulative(static_cast<std::size_t>(bins));
        for (int i = 0; i < kPixels; ++i)
            cumulative[static_cast<std::size_t>(bin_of(value_of(i)))] += 1.0 / kPixels;
        std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
        const cuda::Buffer input = upload(rgb);
        const cuda::Buffer output = room<std::uint8_t>(rgb.size());
        const cuda::Buffer planes = room<float>(rgb.size());
        const cuda::Buffer histogram = room<int>(2 * static_cast<std::size_t>(bins));
        seeds::seed_equalize(input.as<std::uint8_t>(), output.as<std::uint8_t>(), planes.as<float>(),
                             histogram.as<int>(), bins, {kWidth, kHeight}, nullptr);
        const std::vector<std::uint8_t> got = fetched<std::uint8_t>(output, rgb.size());
        for (int i = 0; i < 3 * kPixels; ++i) {
            const int value = value_of(i / 3);
            const double share =
                value > 0 ? static_cast<double>(rgb[static_cast<std::size_t>(i)]) / value : 1;
            const double want = 255 * share * cumulative[static_cast<std::size_t>(bin_of(value))];
            ASSERT_NEAR(static_cast<double>(got[static_cast<std::size_t>(i)]), want, 0.5 + 1e-3)
                << i << " of " << bins << " bins";
        }
    }
}

} // namespace specklescope::test::seeds_test
