// What cuFFT alone takes for the transforms that a convolution cannot do without.
#include "tests/bench/cuda_peers.hpp"

#include "cuda/convolve/convolution_index.hpp"
#include "cuda/fft_tune.hpp"

#include <algorithm>

namespace specklescope::bench {

namespace {

using namespace cuda;

/// Both transforms in one buffer, as a stage has them that need not keep the spectrum.
struct Transforms {
    explicit Transforms(const FftShape& shape)
        : forward(shape, CUFFT_R2C), backward(shape, CUFFT_C2R), data(shape.bytes(), device_memory()),
          work(std::max<std::size_t>(1, std::max(forward.work_bytes(), backward.work_bytes())),
               device_memory()) {
        forward.set_work_area(work.as<void>());
        backward.set_work_area(work.as<void>());
        check(cudaMemset(data.as<void>(), 0, shape.bytes()), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    FftPlan forward, backward;
    Buffer data, work;
};

ConvolutionAxis axis(int size, int kernel) {
    ConvolutionAxis a;
    a.size = a.results = size;
    a.kernel = kernel;
    return whole_axis(a, fast_size(size + kernel - 1, Space::device), Border::replicate);
}

/// The whole image with its border, at the size that measures fastest.
FftShape padded_shape(const Shape& image, int kernel) {
    constexpr std::size_t kAll = std::size_t{1} << 40; // bytes: no limit
    const ConvolutionGeometry whole{axis(image.width, kernel), axis(image.height, kernel), Border::replicate};
    const ConvolutionGeometry fastest = tuned(whole, image.channels, kAll);
    return {fastest.x.fft, fastest.y.fft, image.channels};
}

Peer cufft_alone(const Ours& ours, int kernel) {
    const FftShape shape = padded_shape(ours.inputs().front().shape(), kernel);
    const auto transforms = std::make_shared<Transforms>(shape);
    return {"cuFFT R2C + C2R alone, " + std::to_string(shape.width) + "×" + std::to_string(shape.height),
            [transforms, &ours](int) {
                transforms->forward.forward(transforms->data.as<void>(), ours.stream().get());
                transforms->backward.backward(transforms->data.as<void>(), ours.stream().get());
            }};
}

/// The Gaussian, cut off near 4 sigma, has exactly `kernel` pixels a side (an odd number).
void add(std::vector<Comparison>& all, const Shape& shape, int kernel) {
    const std::string side = std::to_string(kernel);
    all.push_back({"convolve:kernel=gaussian,sigma=" + std::to_string((kernel + 7) / 8) + ",size=" + side +
                       ",memory=16384",
                   shape, [kernel](const Ours& ours) { return cufft_alone(ours, kernel); }});
}

} // namespace

void add_cufft(std::vector<Comparison>& all) {
    for (const int kernel : {63, 255})
        for (const PixelType type : {PixelType::u8, PixelType::f32})
            for (const int channels : {1, 3})
                add(all, {3840, 2160, channels, type}, kernel);
    for (const PixelType type : {PixelType::u8, PixelType::f32})
        add(all, {4750, 4750, 3, type}, 4751);
}

} // namespace specklescope::bench
