// Speckle flow index of a 1392×1040 image: ours against OpenCV's boxFilter + sqrBoxFilter on as many threads,
// every image new to the caches' contents but for a ring of a few, as frames of a camera are. Median of the
// repetitions.
//   speckle_bench [--benchmark_filter=u16] — names: who/type/radius/threads; SPECKLESCOPE_BENCH_TARGET=AVX2
//   takes that instruction set.
#include "pipeline/parallel.hpp"
#include "random.hpp"
#include "stages/speckle.hpp"

#include <benchmark/benchmark.h>
#include <hwy/targets.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <fstream>
#include <string>

namespace specklescope::test {
namespace {

constexpr int kWidth = 1392;
constexpr int kHeight = 1040;
constexpr double kExposure = 0.01;
constexpr std::size_t kFrames = 8;

/// 12-bit speckle for u16 and f32, 8-bit for u8.
template <class T> const std::vector<TestImage<T>>& frames() {
    static const std::vector<TestImage<T>> images = [] {
        std::mt19937_64 random = test_random(1);
        std::vector<TestImage<T>> list;
        const double full = sizeof(T) == 1 ? 255 : 4095;
        for (std::size_t i = 0; i < kFrames; ++i)
            list.push_back(speckle_image<T>(kWidth, kHeight, full / 4, full, random));
        return list;
    }();
    return images;
}

template <class T> void ours(benchmark::State& state, int radius, int threads) {
    const ThreadLimit limit(threads);
    Params params(speckle_table());
    params.set("radius", std::int64_t{radius});
    const std::unique_ptr<HostStage> stage = make_speckle_host(params);
    stage->prepare(frames<T>()[0].shape());
    TestImage<float> output(kWidth, kHeight);
    FrameInfo info;
    std::size_t next = 0;
    for (auto _ : state) {
        PixelCounts counts;
        stage->run(frames<T>()[next++ % kFrames].view(), output.view(), {info, counts});
        benchmark::DoNotOptimize(counts);
    }
}

/// Means in f32 (f64 where the library needs it), then one pass of arithmetic over the threads.
class OpenCvSfi {
public:
    OpenCvSfi(int radius)
        : side_(2 * radius + 1), n_(static_cast<float>(side_) * static_cast<float>(side_)) {}

    void run(const cv::Mat& image, cv::Mat& sfi) {
        cv::boxFilter(image, mean_, CV_32F, {side_, side_}, {-1, -1}, true, cv::BORDER_REPLICATE);
        cv::sqrBoxFilter(image, square_, CV_32F, {side_, side_}, {-1, -1}, true, cv::BORDER_REPLICATE);
        const float factor = (n_ - 1) / n_ / static_cast<float>(2 * kExposure);
        cv::parallel_for_({0, image.rows}, [&](const cv::Range& rows) {
            for (int y = rows.start; y < rows.end; ++y) {
                const auto* mean = mean_.ptr<float>(y);
                const auto* square = square_.ptr<float>(y);
                auto* out = sfi.ptr<float>(y);
                for (int x = 0; x < image.cols; ++x) {
                    const float squared_mean = mean[x] * mean[x];
                    out[x] = factor * squared_mean / (square[x] - squared_mean);
                }
            }
        });
    }

private:
    int side_;
    float n_;
    cv::Mat mean_, square_;
};

/// The filters run on one thread each: `split` gives each thread a band of the image, with its border rows.
template <class T> void open_cv(benchmark::State& state, int radius, int threads, bool split) {
    cv::setNumThreads(threads);
    const int type = sizeof(T) == 1 ? CV_8U : sizeof(T) == 2 ? CV_16U : CV_32F;
    std::vector<cv::Mat> images;
    for (const TestImage<T>& frame : frames<T>())
        images.emplace_back(kHeight, kWidth, type, const_cast<std::byte*>(frame.view().data),
                            frame.view().pitch);
    cv::Mat sfi(kHeight, kWidth, CV_32F);
    const int bands = split ? threads : 1;
    std::vector<OpenCvSfi> filters(static_cast<std::size_t>(bands), OpenCvSfi(radius));
    std::size_t next = 0;
    for (auto _ : state) {
        const cv::Mat& image = images[next++ % kFrames];
        if (!split) {
            filters[0].run(image, sfi);
            continue;
        }
        cv::parallel_for_({0, bands}, [&](const cv::Range& range) {
            for (int i = range.start; i < range.end; ++i) { // a view of the image keeps the rows beside it
                const cv::Range rows(kHeight * i / bands, kHeight * (i + 1) / bands);
                cv::Mat part = sfi.rowRange(rows);
                filters[static_cast<std::size_t>(i)].run(image.rowRange(rows), part);
            }
        });
    }
}

template <class T> void add(const char* type) {
    for (const int threads : {1, 2})
        for (const int radius : {1, 2, 3, 7, 15}) {
            const std::string name = std::string("/") + type + "/radius:" + std::to_string(radius) +
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
            register_one("ours", [=](benchmark::State& state) { ours<T>(state, radius, threads); });
            register_one("opencv",
                         [=](benchmark::State& state) { open_cv<T>(state, radius, threads, false); });
            if (threads > 1)
                register_one("opencv-split",
                             [=](benchmark::State& state) { open_cv<T>(state, radius, threads, true); });
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

/// Into the JSON output, for tests/bench/report.py.
void describe_machine() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
            benchmark::AddCustomContext("cpu", line.substr(line.find(": ") + 2));
            break;
        }
#ifdef __clang__
    benchmark::AddCustomContext("compiler", __VERSION__);
#else
    benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
    benchmark::AddCustomContext("opencv", CV_VERSION);
    std::int64_t best = 0; // bits of the best targets are the lowest
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        best = best == 0 ? target : std::min(best, target);
    benchmark::AddCustomContext("simd", hwy::TargetName(best));
    benchmark::AddCustomContext("image", std::to_string(kWidth) + "×" + std::to_string(kHeight));
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    specklescope::test::take_target();
    specklescope::test::describe_machine();
    specklescope::test::add<std::uint8_t>("u8");
    specklescope::test::add<std::uint16_t>("u16");
    specklescope::test::add<float>("f32");
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
