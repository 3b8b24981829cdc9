// Convolution of a 1024×1024 image with a kernel that is not separable: ours against OpenCV's filter2D, which
// takes transforms of its own for kernels of this size, on as many threads and in turn.
//   convolve_bench [--benchmark_filter=f32] — names: who/type/kernel side/threads
#include "pipeline/parallel.hpp"
#include "random.hpp"
#include "stages/host_convolution.hpp"

#include <benchmark/benchmark.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <string>

namespace specklescope::test {
namespace {

constexpr int kSide = 1024;
constexpr std::size_t kFrames = 4;

template <class T> const std::vector<TestImage<T>>& frames(int channels) {
    static std::vector<TestImage<T>> images[2];
    std::vector<TestImage<T>>& list = images[channels == 3 ? 1 : 0];
    std::mt19937_64 random = test_random(1);
    std::uniform_real_distribution<double> value(0, sizeof(T) == 4 ? 1 : 255);
    while (list.size() < kFrames)
        list.push_back(TestImage<T>(kSide, kSide, 0, channels).fill([&] { return value(random); }));
    return list;
}

ConvolveKernel random_kernel(int side) {
    ConvolveKernel kernel{side, side, 1, {}};
    std::mt19937_64 random = test_random(2);
    std::uniform_real_distribution<float> value(0, 2.0F / static_cast<float>(side * side));
    kernel.weights.resize(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
    for (float& weight : kernel.weights)
        weight = value(random);
    return kernel;
}

template <class T> void ours(benchmark::State& state, int side, int channels, int threads) {
    const ThreadLimit limit(threads);
    const auto& images = frames<T>(channels);
    HostConvolution convolution(images[0].shape(), random_kernel(side), Border::replicate, 1U << 31);
    TestImage<T> output(kSide, kSide, 0, channels);
    std::size_t next = 0;
    for (auto _ : state)
        convolution.run(images[next++ % kFrames].view(), output.view());
    state.SetLabel(convolution.note());
}

template <class T> void open_cv(benchmark::State& state, int side, int channels, int threads) {
    cv::setNumThreads(threads);
    const auto& images = frames<T>(channels);
    ConvolveKernel kernel = random_kernel(side);
    std::vector<cv::Mat> list;
    const int depth = sizeof(T) == 1 ? CV_8U : CV_32F;
    for (const TestImage<T>& image : images)
        list.emplace_back(kSide, kSide, CV_MAKETYPE(depth, channels),
                          const_cast<std::byte*>(image.view().data), image.view().pitch);
    const cv::Mat weights(side, side, CV_32F, kernel.weights.data());
    cv::Mat output;
    std::size_t next = 0;
    for (auto _ : state)
        cv::filter2D(list[next++ % kFrames], output, -1, weights, {-1, -1}, 0, cv::BORDER_REPLICATE);
}

/// What a change of size or kernel costs, without the kernel's own making.
void prepare(benchmark::State& state, int side) {
    const ConvolveKernel kernel = random_kernel(side);
    for (auto _ : state)
        HostConvolution({kSide, kSide, 1, PixelType::f32}, kernel, Border::replicate, 1U << 31);
}

template <class T> void add(const char* type, int channels) {
    for (const int threads : {1, 2})
        for (const int side : {31, 63, 127, 255, 511}) {
            const std::string name = std::string("/") + type + "/side:" + std::to_string(side) +
                                     "/threads:" + std::to_string(threads);
            const auto register_one = [&](const std::string& who, auto run) {
                benchmark::RegisterBenchmark((who + name).c_str(), run)
                    ->UseRealTime()
                    ->MeasureProcessCPUTime()
                    ->ComputeStatistics(
                        "min",
                        [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
                    ->Unit(benchmark::kMillisecond);
            };
            register_one("ours", [=](benchmark::State& s) { ours<T>(s, side, channels, threads); });
            register_one("opencv", [=](benchmark::State& s) { open_cv<T>(s, side, channels, threads); });
        }
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    using namespace specklescope::test;
    add<float>("f32", 1);
    add<std::uint8_t>("u8-rgb", 3);
    for (const int side : {31, 255, 1023})
        benchmark::RegisterBenchmark(("prepare/side:" + std::to_string(side)).c_str(),
                                     [=](benchmark::State& s) { prepare(s, side); })
            ->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
