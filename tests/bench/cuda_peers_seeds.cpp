// Methods of earlier systems (seeds/) compared with ours.
#include "tests/bench/cuda_peers.hpp"

#include "tests/bench/seeds/fft_c2c.hpp"
#include "tests/bench/seeds/seeds.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace specklescope::bench {

namespace {

using namespace cuda;

constexpr int kWidth = 3840, kHeight = 2160;

seeds::Size size_of(const Shape& shape) { return {shape.width, shape.height}; }

using Weights = std::shared_ptr<Buffer>;

/// The outer product of [1 4 6 4 1]/16, in device memory and in constant memory.
Weights binomial_weights() {
    constexpr std::array kLine = {1.0F, 4.0F, 6.0F, 4.0F, 1.0F};
    std::vector<float> weights;
    for (const float a : kLine)
        for (const float b : kLine)
            weights.push_back(a * b / 256);
    auto buffer = std::make_shared<Buffer>(weights.size() * sizeof(float), device_memory());
    check(cudaMemcpy(buffer->as<void>(), weights.data(), weights.size() * sizeof(float),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    seeds::seed_constant_weights(weights.data());
    return buffer;
}

template <class T> void add_convolve5(std::vector<Comparison>& all, int width, int height, int channels) {
    const Shape shape{width, height, channels, pixel_type_of<T>()};
    const std::array<std::pair<const char*, seeds::Memory>, 3> methods = {
        {{"5×5 from global memory, a thread a pixel", seeds::Memory::global},
         {"5×5, weights in constant memory", seeds::Memory::constant},
         {"5×5, tiles in shared memory, weights in constant memory", seeds::Memory::shared}}};
    for (const auto& [name, memory] : methods)
        all.push_back(
            {"gaussian:method=binomial5", shape, [name = name, memory = memory](const Ours& ours) {
                 const Shape& of = ours.inputs().front().shape();
                 const auto padded = std::make_shared<Packed>(ours.inputs(), 2);
                 const auto results = std::make_shared<Packed>(of, ours.sets());
                 return Peer{name, [padded, results, memory, of, weights = binomial_weights(), &ours](int i) {
                                 seeds::seed_convolve(memory, padded->at<T>(i), weights->template as<float>(),
                                                      results->at<T>(i), of.channels, size_of(of),
                                                      ours.stream().get());
                             }};
             }});
}

Peer recursive(const Ours& ours) {
    const Shape& shape = ours.inputs().front().shape();
    const std::size_t samples =
        static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height);
    const auto inputs = std::make_shared<Packed>(ours.inputs(), 0);
    const auto results = std::make_shared<Packed>(shape, ours.sets());
    const auto scratch = std::make_shared<Buffer>(2 * samples * sizeof(double), device_memory());
    return {"recursive in float64, a thread a row, transposed between",
            [inputs, results, scratch, size = size_of(shape), &ours](int i) {
                seeds::seed_recursive(inputs->at<float>(i), scratch->as<double>(), results->at<float>(i), 10,
                                      size, ours.stream().get());
            }};
}

/// Two results: writes one and a half times as much as ours.
template <class T> Peer speckle(const Ours& ours) {
    constexpr float kExposure = 0.01F;
    const Shape& shape = ours.inputs().front().shape();
    const auto inputs = std::make_shared<Packed>(ours.inputs(), 0);
    const auto contrasts = std::make_shared<Packed>(ours.outputs().front().shape(), ours.sets());
    const auto flows = std::make_shared<Packed>(ours.outputs().front().shape(), ours.sets());
    return {"separable through shared memory, contrast and flow index written",
            [inputs, contrasts, flows, size = size_of(shape), &ours](int i) {
                seeds::seed_speckle(inputs->at<T>(i), contrasts->at<float>(i), flows->at<float>(i), kExposure,
                                    size, ours.stream().get());
            }};
}

/// Arbitrary weights: they do not affect the time.
Peer convolve_c2c(const Ours& ours) {
    constexpr int kSide = 63;
    Shape result = ours.inputs().front().shape();
    result.type = PixelType::f32;
    const auto ring = std::make_shared<FrameRing>(result, 2, device_memory());
    return {"complex-to-complex transforms; kernel and plans computed for each image",
            [outputs = std::array{ring->try_acquire(), ring->try_acquire()},
             weights = std::vector<float>(kSide * kSide, 1.0F / (kSide * kSide)), &ours](int i) {
                seeds::seed_convolve_c2c(ours.inputs()[static_cast<std::size_t>(i)].device(),
                                         outputs[static_cast<std::size_t>(i % 2)].device(), weights, kSide,
                                         kSide);
            },
            true};
}

Peer equalize(const Ours& ours) {
    constexpr int kBins = 256;
    const Shape& shape = ours.inputs().front().shape();
    const auto inputs = std::make_shared<Packed>(ours.inputs(), 0);
    const auto results = std::make_shared<Packed>(shape, ours.sets());
    const auto planes = std::make_shared<Buffer>(shape.samples() * sizeof(float), device_memory());
    const auto histogram = std::make_shared<Buffer>(2 * kBins * sizeof(int), device_memory());
    return {"HSV images between five kernels, histogram by atomics in shared memory",
            [inputs, results, planes, histogram, size = size_of(shape), &ours](int i) {
                seeds::seed_equalize(inputs->at<std::uint8_t>(i), results->at<std::uint8_t>(i),
                                     planes->as<float>(), histogram->as<int>(), kBins, size,
                                     ours.stream().get());
            }};
}

} // namespace

void add_seeds(std::vector<Comparison>& all) {
    const Shape colour{kWidth, kHeight, 3, PixelType::u8};
    const Shape real{kWidth, kHeight, 1, PixelType::f32};
    add_convolve5<std::uint8_t>(all, kWidth, kHeight, 3);
    add_convolve5<float>(all, kWidth, kHeight, 1);
    for (const auto& [width, height] : {std::pair{640, 480}, {1280, 720}, {1920, 1080}, {kWidth, kHeight}})
        add_convolve5<float>(all, width, height, 3);
    for (const auto& [width, height] : {std::pair{1920, 1440}, {kWidth, kHeight}})
        all.push_back({"gaussian:method=recursive,sigma=10", {width, height, 1, PixelType::f32}, recursive});
    for (const auto& [width, height] : {std::pair{1392, 1040}, {kWidth, kHeight}}) {
        all.push_back({"speckle:radius=2", {width, height, 1, PixelType::u16}, speckle<std::uint16_t>});
        all.push_back({"speckle:radius=2", {width, height, 1, PixelType::u8}, speckle<std::uint8_t>});
    }
    for (const Shape& shape : {colour, real})
        all.push_back({"convolve:kernel=disk,radius=30.9,size=63", shape, convolve_c2c});
    for (const auto& [width, height] : {std::pair{961, 640}, {kWidth, kHeight}})
        all.push_back({"equalize:bins=256", {width, height, 3, PixelType::u8}, equalize});
}

} // namespace specklescope::bench
