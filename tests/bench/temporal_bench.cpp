// Stages with a history on frames of a camera, 1392×1040: frames a second once the history is full.
//   temporal_bench [--benchmark_filter=temporal] — names: stage with its parameters/type/threads
#include "pipeline/parallel.hpp"
#include "random.hpp"
#include "stage_runner.hpp"

#include <benchmark/benchmark.h>

namespace specklescope::test {
namespace {

constexpr int kWidth = 1392;
constexpr int kHeight = 1040;
constexpr std::size_t kFrames = 8; // in turn, as new to the caches as frames of a camera

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

template <class T> void run(benchmark::State& state, const std::string& stage,
                            const std::vector<std::string>& texts, int threads) {
    const ThreadLimit limit(threads);
    StageRunner runner(stage, texts, frames<T>()[0].shape());
    std::size_t next = 0;
    do
        runner.run(frames<T>()[next++ % kFrames]);
    while (!runner.stage().warmup().done());
    for (auto _ : state) {
        runner.run(frames<T>()[next++ % kFrames]);
        benchmark::DoNotOptimize(runner.counts);
    }
    state.counters["frames/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T> void add(const char* type, const std::string& stage, std::vector<std::string> texts) {
    for (const int threads : {1, 2}) {
        std::string name = stage;
        for (const std::string& text : texts)
            name += ":" + text;
        name += std::string("/") + type + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) { run<T>(state, stage, texts, threads); })
            ->UseRealTime()
            ->MeasureProcessCPUTime()
            ->ComputeStatistics(
                "min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
            ->Unit(benchmark::kMillisecond);
    }
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    using specklescope::test::add;
    for (const char* frames : {"frames=25", "frames=300"}) {
        add<std::uint8_t>("u8", "temporal", {frames});
        add<std::uint16_t>("u16", "temporal", {frames});
        add<float>("f32", "temporal", {frames});
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
