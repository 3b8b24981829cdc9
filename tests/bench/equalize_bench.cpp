// Histogram equalisation of a 3840×2160 image beside OpenCV on as many threads, every image new to the caches
// but for a ring of a few, as frames of a camera are. Colour: cvtColor to HSV, equalizeHist of V, cvtColor
// back. Median of the repetitions.
//   equalize_bench [--benchmark_filter=rgb8] — names: who/pixels/threads; SPECKLESCOPE_BENCH_TARGET=AVX2
//   takes that instruction set.
#include "equalize_cases.hpp"
#include "pipeline/parallel.hpp"

#include <benchmark/benchmark.h>
#include <hwy/targets.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdlib>
#include <string>

namespace specklescope::test {
namespace {

constexpr int kWidth = 3840;
constexpr int kHeight = 2160;
constexpr std::size_t kFrames = 3;

template <class T> const std::vector<TestImage<T>>& frames(int channels) {
    static std::map<int, std::vector<TestImage<T>>> all;
    std::vector<TestImage<T>>& images = all[channels];
    std::mt19937_64 random = test_random(1);
    const double full = sizeof(T) == 1 ? 255 : 4095;
    while (images.size() < kFrames)
        images.push_back(equalize_picture<T>(kWidth, kHeight, channels, full, random));
    return images;
}

template <class T> void ours(benchmark::State& state, int channels, int threads) {
    const ThreadLimit limit(threads);
    const auto& images = frames<T>(channels);
    const std::unique_ptr<HostStage> stage = make_equalize_host(Params(equalize_table()));
    stage->prepare(images[0].shape());
    TestImage<T> output(kWidth, kHeight, 0, channels);
    FrameInfo info;
    info.full_scale = sizeof(T) == 2 ? 4095 : 0;
    std::size_t next = 0;
    for (auto _ : state) {
        PixelCounts counts;
        stage->run(images[next++ % kFrames].view(), output.view(), {info, counts});
    }
}

void open_cv(benchmark::State& state, int channels, int threads) {
    cv::setNumThreads(threads);
    std::vector<cv::Mat> images;
    for (const TestImage<std::uint8_t>& frame : frames<std::uint8_t>(channels))
        images.emplace_back(kHeight, kWidth, channels == 3 ? CV_8UC3 : CV_8U,
                            const_cast<std::byte*>(frame.view().data), frame.view().pitch);
    cv::Mat hsv, v, out;
    std::size_t next = 0;
    for (auto _ : state) {
        const cv::Mat& image = images[next++ % kFrames];
        if (channels == 1) {
            cv::equalizeHist(image, out);
            continue;
        }
        cv::cvtColor(image, hsv, cv::COLOR_RGB2HSV);
        cv::extractChannel(hsv, v, 2);
        cv::equalizeHist(v, v);
        cv::insertChannel(v, hsv, 2);
        cv::cvtColor(hsv, out, cv::COLOR_HSV2RGB);
    }
}

void add(const std::string& name, auto run) {
    for (const int threads : {1, 2})
        benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(),
                                     [=](benchmark::State& state) { run(state, threads); })
            ->UseRealTime()
            ->MeasureProcessCPUTime()
            ->Unit(benchmark::kMillisecond);
}

template <class T> void add_type(const std::string& type) {
    for (const int channels : {1, 3}) {
        const std::string pixels = (channels == 3 ? "rgb" : "grey") + type;
        add("ours/" + pixels, [=](auto& state, int threads) { ours<T>(state, channels, threads); });
        if (sizeof(T) == 1)
            add("opencv/" + pixels, [=](auto& state, int threads) { open_cv(state, channels, threads); });
    }
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    using namespace specklescope::test;
    if (const char* wanted = std::getenv("SPECKLESCOPE_BENCH_TARGET"))
        for (std::int64_t bits = hwy::SupportedTargets(); bits != 0; bits &= bits - 1)
            if (hwy::TargetName(bits & -bits) == std::string(wanted)) {
                hwy::SetSupportedTargetsForTest(bits & -bits);
                hwy::GetChosenTarget().Update(bits & -bits);
                break;
            }
    add_type<std::uint8_t>("8");
    add_type<std::uint16_t>("16");
    add_type<float>("32f");
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
