// The engine of stage convolve, compared with references.
#include <gtest/gtest.h>

#include "cuda/convolve/convolution.hpp"
#include "cuda/devices.hpp"
#include "tests/bench/seeds/fft_c2c.hpp"
#include "tests/stages/convolve/convolve_sums.hpp"
#include "tests/support/gpu.hpp"

#include <array>
#include <cmath>

namespace specklescope::test::convolution_cuda_test {

class ConvolutionCuda : public testing::Test {
protected:
    void SetUp() override { static_cast<void>(needs_gpu()); }
};

TestImage<float> random_image(int width, int height, int channels, std::uint64_t stream) {
    auto random = test_random(stream);
    std::uniform_real_distribution<double> value(0, 1000);
    return TestImage<float>(width, height, 1, channels).fill([&] { return value(random); });
}

/// Input and output images on the device.
class OnDevice {
public:
    OnDevice(ConstHostView image, const Shape& result)
        : inputs_(image.shape, 1, cuda::device_memory()), outputs_(result, 1, cuda::device_memory()),
          input_(inputs_.try_acquire()), output_(outputs_.try_acquire()) {
        cuda::check(cudaMemcpy2D(input().data, input().pitch, image.data, image.pitch,
                                 image.shape.row_bytes(), static_cast<std::size_t>(image.shape.height),
                                 cudaMemcpyHostToDevice),
                    "cudaMemcpy2D");
        cuda::check(cudaStreamSynchronize(nullptr),
                    "cudaStreamSynchronize"); // pageable memory may still be transferred
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

TEST_F(ConvolutionCuda, MatchesTheDefinition) {
    auto random = test_random(14);
    for (const int channels : {1, 3})
        for (const auto& [width, height, side] :
             {std::array{61, 47, 13}, {20, 31, 64}, {130, 3, 8}, {1, 1, 1}, {9, 40, 7}})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
                const auto image = random_image(width, height, channels, 15);
                const Weights weights = random_weights(side, side, random);
                cuda::ConvolutionTask task;
                task.image = image.shape();
                task.kernel_width = task.kernel_height = side;
                task.border = border;
                task.bytes = std::size_t{1} << 28;
                const cuda::Convolution convolution(task);
                const ConvolveKernel kernel{side, side, 1, {weights.values.begin(), weights.values.end()}};
                const cuda::Stream stream;
                cuda::make_weight_spectra(kernel, convolution, stream.get());
                const OnDevice device(image.view(), image.shape());
                convolution.run(device.input(), device.output(), stream.get());
                stream.synchronize();
                EXPECT_LE(worst_difference(device.fetched(), image, weights, border), 1e-2)
                    << width << "x" << height << " kernel " << side << " border " << static_cast<int>(border);
            }
}

TEST_F(ConvolutionCuda, TheEarlierMethodIsRightForZeroBorders) {
    auto random = test_random(16);
    for (const int channels : {1, 3}) {
        const auto image = random_image(57, 41, channels, 17);
        const Weights weights = random_weights(12, 9, random);
        const OnDevice device(image.view(), image.shape());
        seeds::seed_convolve_c2c(device.input(), device.output(),
                                 {weights.values.begin(), weights.values.end()}, 12, 9);
        EXPECT_LE(worst_difference(device.fetched(), image, weights, Border::zero), 1e-2);
    }
}

} // namespace specklescope::test::convolution_cuda_test
