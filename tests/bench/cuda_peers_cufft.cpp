// Time of cuFFT for the transforms that a convolution needs.
#include "tests/bench/cuda_peers.hpp"

#include "tests/bench/cufft.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace specklescope::bench {

namespace {

using namespace cuda;

/// Both transforms in one buffer, for stages that do not keep the spectrum.
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

/// The smallest even size with factors 2, 3, 5, 7, and the next power of two: cuFFT is fastest at one of
/// them.
std::array<int, 2> sizes(int needed) {
    const auto is_smooth = [](int n) {
        for (const int prime : {2, 3, 5, 7})
            while (n % prime == 0)
                n /= prime;
        return n == 1;
    };
    int smooth = std::max(2, needed + needed % 2);
    while (!is_smooth(smooth))
        smooth += 2;
    int power = 2;
    while (power < needed)
        power *= 2;
    return {smooth, power};
}

double measured_ms(const FftShape& shape) {
    const Transforms transforms(shape);
    const Stream stream;
    const Event start;
    const Event end;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) { // the first one warms up
        start.record(stream);
        transforms.forward.forward(transforms.data.as<void>(), stream.get());
        transforms.backward.backward(transforms.data.as<void>(), stream.get());
        end.record(stream);
        end.synchronize();
        if (i > 0)
            least = std::min(least, end.ms_since(start));
    }
    return least;
}

/// The whole image with its border, at the size that measures fastest.
FftShape padded_shape(const Shape& image, int kernel) {
    FftShape best;
    double least = std::numeric_limits<double>::infinity();
    for (const int width : sizes(image.width + kernel - 1))
        for (const int height : sizes(image.height + kernel - 1)) {
            const FftShape shape{width, height, image.channels};
            if (!shape.possible())
                continue;
            if (const double ms = measured_ms(shape); ms < least) {
                least = ms;
                best = shape;
            }
        }
    return best;
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

/// The Gaussian, truncated near 4 sigma, has exactly `kernel` pixels per side (an odd number).
void add(std::vector<Comparison>& all, const Shape& shape, int kernel) {
    const std::string side = std::to_string(kernel);
    all.push_back({"convolve:kernel=gaussian,sigma=" + std::to_string((kernel + 7) / 8) + ",size=" + side,
                   shape, [kernel](const Ours& ours) { return cufft_alone(ours, kernel); }});
}

} // namespace

void add_cufft(std::vector<Comparison>& all) {
    for (const int kernel : {63, 255})
        for (const PixelType type : {PixelType::u8, PixelType::f32})
            for (const int channels : {1, 3})
                add(all, {3840, 2160, channels, type}, kernel);
    for (const PixelType type : {PixelType::u8, PixelType::f32}) {
        add(all, {4750, 4750, 3, type}, 4751);
        add(all, {5661, 5661, 3, type}, 5661);
        add(all, {2376, 2376, 3, type}, 2375); // 4750 with its border
        add(all, {2831, 2831, 3, type}, 2831); // 5661
    }
}

} // namespace specklescope::bench
