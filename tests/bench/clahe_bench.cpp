// Contrast-limited adaptive equalisation of 1920×1080: ours beside OpenCV's createCLAHE on as many threads;
// colour beside cvtColor, CLAHE of V and cvtColor back. Geometry beside OpenCV's flip, rotate and resize.
// Each image is new to the caches' contents but for a ring of a few.
//   clahe_bench [--benchmark_filter=u8] — names: who/what/type/threads
#include "pipeline/parallel.hpp"
#include "random.hpp"
#include "stages/clahe.hpp"
#include "stages/geometry.hpp"

#include <benchmark/benchmark.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace specklescope::test {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;
constexpr std::size_t kFrames = 8;

template <class T> const std::vector<TestImage<T>>& frames(int channels) {
    static std::vector<TestImage<T>> images[2];
    std::vector<TestImage<T>>& list = images[channels / 2];
    std::mt19937_64 random = test_random(1);
    std::exponential_distribution<double> speckle(1 / 60.0);
    while (list.size() < kFrames)
        list.push_back(TestImage<T>(kWidth, kHeight, 0, channels).fill([&] {
            return std::min(255.0, speckle(random));
        }));
    return list;
}

/// The shortest run as well: on a machine that does other work the only time that says something.
template <class F> void time_each(benchmark::State& state, F&& run) {
    double least = 1e9;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        run();
        benchmark::ClobberMemory();
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
        least = std::min(least, taken.count());
    }
    state.counters["least_ms"] = least;
}

template <class T> void ours(benchmark::State& state, const std::function<std::unique_ptr<HostStage>()>& make,
                             int channels, int threads) {
    const ThreadLimit limit(threads);
    const std::unique_ptr<HostStage> stage = make();
    const std::vector<TestImage<T>>& images = frames<T>(channels);
    const Shape shape = stage->prepare(images[0].shape());
    TestImage<T> output(shape.width, shape.height, 0, channels);
    FrameInfo info;
    std::size_t next = 0;
    PixelCounts counts;
    time_each(state, [&] { stage->run(images[next++ % kFrames].view(), output.view(), {info, counts}); });
}

template <class T> void open_cv(benchmark::State& state,
                                const std::function<void(const cv::Mat&, cv::Mat&)>& run, int channels,
                                int threads) {
    cv::setNumThreads(threads);
    const int depth = sizeof(T) == 1 ? CV_8U : sizeof(T) == 2 ? CV_16U : CV_32F;
    std::vector<cv::Mat> images;
    for (const TestImage<T>& frame : frames<T>(channels))
        images.emplace_back(kHeight, kWidth, CV_MAKETYPE(depth, channels),
                            const_cast<std::byte*>(frame.view().data), frame.view().pitch);
    cv::Mat output;
    std::size_t next = 0;
    time_each(state, [&] { run(images[next++ % kFrames], output); });
}

/// Pixels of u8 that differ from OpenCV's, and by how much at most.
void compare() {
    for (const auto& [tiles, clip] : {std::pair{8, 2.0}, {7, 3.0}, {64, 40.0}}) {
        Params params(clahe_table());
        params.set("tiles", std::int64_t{tiles});
        params.set("clip", clip);
        const auto stage = make_clahe_host(params);
        const TestImage<std::uint8_t>& image = frames<std::uint8_t>(1)[0];
        stage->prepare(image.shape());
        TestImage<std::uint8_t> output(kWidth, kHeight);
        PixelCounts counts;
        stage->run(image.view(), output.view(), {FrameInfo{}, counts});
        const cv::Mat input(kHeight, kWidth, CV_8U, const_cast<std::byte*>(image.view().data));
        cv::Mat expected;
        cv::createCLAHE(clip, {tiles, tiles})->apply(input, expected);
        int differ = 0;
        int most = 0;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                const int distance = std::abs(int{output.at(x, y)} - int{expected.at<std::uint8_t>(y, x)});
                differ += distance > 0 ? 1 : 0;
                most = std::max(most, distance);
            }
        std::printf("%d tiles, clip %g: %d pixels differ from OpenCV's, by %d at most\n", tiles, clip, differ,
                    most);
    }
}

void add(const std::string& name, const std::function<void(benchmark::State&, int)>& run) {
    for (const int threads : {1, 2})
        benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(),
                                     [=](benchmark::State& state) { run(state, threads); })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
}

template <class T> void add_both(const std::string& what, const ParamTable& table, const char* name,
                                 const ParamValue& value, std::unique_ptr<HostStage> (*make)(const Params&),
                                 int channels, const std::function<void(const cv::Mat&, cv::Mat&)>& peer) {
    const std::string type = std::string(to_string(pixel_type_of<T>())) + (channels == 3 ? " RGB" : "");
    const ParamTable* declared = &table;
    const std::string key = name;
    add("ours/" + what + "/" + type, [=](benchmark::State& state, int threads) {
        ours<T>(
            state,
            [&] {
                Params params(*declared);
                params.set(key, value);
                return make(params);
            },
            channels, threads);
    });
    if (peer)
        add("opencv/" + what + "/" + type,
            [=](benchmark::State& state, int threads) { open_cv<T>(state, peer, channels, threads); });
}

template <class T> void add_type() {
    for (const int channels : {1, 3}) {
        std::function<void(const cv::Mat&, cv::Mat&)> peer;
        if (sizeof(T) < 4 && channels == 1)
            peer = [clahe = cv::createCLAHE(2, {8, 8})](const cv::Mat& in, cv::Mat& out) {
                clahe->apply(in, out);
            };
        if (sizeof(T) == 1 && channels == 3)
            peer = [clahe = cv::createCLAHE(2, {8, 8})](const cv::Mat& in, cv::Mat& out) {
                cv::Mat hsv, v;
                cv::cvtColor(in, hsv, cv::COLOR_RGB2HSV_FULL);
                cv::extractChannel(hsv, v, 2);
                clahe->apply(v, v);
                cv::insertChannel(v, hsv, 2);
                cv::cvtColor(hsv, out, cv::COLOR_HSV2RGB_FULL);
            };
        add_both<T>("clahe", clahe_table(), "bins", std::int64_t{256}, make_clahe_host, channels, peer);
        add_both<T>("flip", flip_table(), "direction", std::string("horizontal"), make_flip_host, channels,
                    [](const cv::Mat& in, cv::Mat& out) { cv::flip(in, out, 1); });
        add_both<T>("rotate90", rotate_table(), "turns", std::int64_t{1}, make_rotate_host, channels,
                    [](const cv::Mat& in, cv::Mat& out) { cv::rotate(in, out, cv::ROTATE_90_CLOCKWISE); });
        add_both<T>("crop", crop_table(), "x", std::int64_t{1}, make_crop_host, channels,
                    [](const cv::Mat& in, cv::Mat& out) { in.colRange(1, in.cols).copyTo(out); });
        for (const int factor : {2, 3})
            add_both<T>("mean " + std::to_string(factor), downsample_table(), "factor", std::int64_t{factor},
                        make_downsample_host, channels, [factor](const cv::Mat& in, cv::Mat& out) {
                            cv::resize(in, out, {in.cols / factor, in.rows / factor}, 0, 0, cv::INTER_AREA);
                        });
    }
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    specklescope::test::compare();
    specklescope::test::add_type<std::uint8_t>();
    specklescope::test::add_type<std::uint16_t>();
    specklescope::test::add_type<float>();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
