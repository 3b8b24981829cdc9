// Gaussian blur of 3840×2160 images: ours against OpenCV's GaussianBlur with the same sigma on as many
// threads, frames from a small ring as a camera gives them. OpenCV picks its own kernel size from sigma (3σ
// for u8, 4σ for others).
//   gaussian_bench [--benchmark_filter=u8x3] — names: who/type×channels/what/threads;
//   SPECKLESCOPE_BENCH_TARGET=AVX2 takes that instruction set.
#include "pipeline/parallel.hpp"
#include "random.hpp"
#include "stages/gaussian.hpp"

#include <benchmark/benchmark.h>
#include <hwy/targets.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <map>
#include <string>

namespace specklescope::test {
namespace {

constexpr int kWidth = 3840;
constexpr int kHeight = 2160;
constexpr std::size_t kFrames = 3;

/// Noise over the type's whole range.
template <class T> const std::vector<TestImage<T>>& frames(int channels) {
    static std::map<int, std::vector<TestImage<T>>> all;
    std::vector<TestImage<T>>& list = all[channels];
    const double full = sizeof(T) == 1 ? 255 : sizeof(T) == 2 ? 65535 : 1;
    while (list.size() < kFrames)
        list.emplace_back(kWidth, kHeight, 0, channels)
            .fill([&, random = static_cast<std::uint32_t>(list.size())]() mutable {
                random = random * 1664525U + 1013904223U;
                return full * (random >> 8) / (1 << 24);
            });
    return list;
}

struct Work {
    const char* method;
    double sigma;
    std::string name() const {
        const std::string text = method;
        return text.starts_with("binomial") ? text : text + "/sigma:" + std::to_string(sigma).substr(0, 4);
    }
};

template <class T> void ours(benchmark::State& state, int channels, Work work, int threads) {
    const ThreadLimit limit(threads);
    Params params(gaussian_table());
    params.set("method", std::string(work.method));
    params.set("sigma", work.sigma);
    const std::unique_ptr<HostStage> stage = make_gaussian_host(params);
    const auto& images = frames<T>(channels);
    stage->prepare(images[0].shape());
    TestImage<T> output(kWidth, kHeight, 0, channels);
    FrameInfo info;
    std::size_t next = 0;
    for (auto _ : state) {
        PixelCounts counts;
        stage->run(images[next++ % kFrames].view(), output.view(), {info, counts});
        benchmark::DoNotOptimize(output.view().data);
    }
    state.SetLabel(stage->note());
}

template <class T> void open_cv(benchmark::State& state, int channels, Work work, int threads) {
    cv::setNumThreads(threads);
    const int depth = sizeof(T) == 1 ? CV_8U : sizeof(T) == 2 ? CV_16U : CV_32F;
    std::vector<cv::Mat> images;
    for (const TestImage<T>& frame : frames<T>(channels))
        images.emplace_back(kHeight, kWidth, CV_MAKETYPE(depth, channels),
                            const_cast<std::byte*>(frame.view().data), frame.view().pitch);
    cv::Mat output(kHeight, kWidth, CV_MAKETYPE(depth, channels));
    const bool five = std::string(work.method) == "binomial5";
    std::size_t next = 0;
    for (auto _ : state) { // 5×5 with sigma 0 is OpenCV's [1 4 6 4 1]
        const cv::Mat& image = images[next++ % kFrames];
        if (five)
            cv::GaussianBlur(image, output, {5, 5}, 0, 0, cv::BORDER_REPLICATE);
        else
            cv::GaussianBlur(image, output, {}, work.sigma, work.sigma, cv::BORDER_REPLICATE);
    }
}

template <class T> void add(const char* type, int channels) {
    for (const int threads : {1, 2}) {
        const auto register_one = [&](const std::string& who, const Work& work, auto run) {
            const std::string name = who + "/" + type + "x" + std::to_string(channels) + "/" + work.name() +
                                     "/threads:" + std::to_string(threads);
            benchmark::RegisterBenchmark(name.c_str(), run)
                ->UseRealTime()
                ->MeasureProcessCPUTime()
                ->ComputeStatistics(
                    "min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
                ->Unit(benchmark::kMillisecond);
        };
        for (const Work work : {Work{"binomial5", 1}, Work{"auto", 1}, Work{"auto", 10}}) {
            register_one("ours", work,
                         [=](benchmark::State& state) { ours<T>(state, channels, work, threads); });
            register_one("opencv", work,
                         [=](benchmark::State& state) { open_cv<T>(state, channels, work, threads); });
        }
        // Where the methods cross.
        for (const double sigma : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
            for (const char* method : {"direct", "recursive"})
                register_one("cross", {method, sigma}, [=](benchmark::State& state) {
                    ours<T>(state, channels, {method, sigma}, threads);
                });
    }
}

void take_target() {
    const char* wanted = std::getenv("SPECKLESCOPE_BENCH_TARGET");
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        if (wanted && std::string(wanted) == hwy::TargetName(target)) {
            hwy::SetSupportedTargetsForTest(target);
            hwy::GetChosenTarget().Update(target);
        }
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    specklescope::test::take_target();
    for (const int channels : {1, 3}) {
        specklescope::test::add<std::uint8_t>("u8", channels);
        specklescope::test::add<std::uint16_t>("u16", channels);
        specklescope::test::add<float>("f32", channels);
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
