#include "bench/sections.hpp"

#include "base/error.hpp"
#include "bench/cases.hpp"
#include "bench/report.hpp"
#include "config/executor.hpp"
#include "have_cuda.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <array>
#include <cstdio>
#include <deque>

namespace specklescope::bench {

namespace {

double ms_since(SteadyClock::time_point begin) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
}

/// Accumulates values while frames pass through.
class Stream {
public:
    Stream(Executor& executor, bool want_host) : executor_(executor), want_host_(want_host) {}

    void run(const std::vector<Frame>& frames, double length) {
        const auto begin = SteadyClock::now();
        for (std::size_t i = 0; ms_since(begin) < length * 1e3; ++i) {
            while (executor_.in_flight() >= executor_.capacity() ||
                   !executor_.wait_slot(std::chrono::milliseconds(0)))
                if (!collect())
                    throw RunError("The executor has no slot and nothing in flight.");
            submitted_.push_back(SteadyClock::now());
            executor_.submit(frames[i % frames.size()], want_host_);
            submitting_ms_ += ms_since(submitted_.back());
        }
        while (executor_.in_flight() > 0)
            collect();
        seconds_ = ms_since(begin) * 1e-3;
    }

    StreamRun result(const Shape& shape) const {
        StreamRun run;
        run.frames = frames_;
        run.frames_per_s = frames_ / seconds_;
        run.up_gb_per_s = run.frames_per_s * static_cast<double>(shape.bytes()) * 1e-9;
        run.down_gb_per_s = want_host_ ? run.frames_per_s * static_cast<double>(output_.bytes()) * 1e-9 : 0;
        run.latency_ms = waited_ms_ / frames_;
        run.submit_us = submitting_ms_ * 1e3 / frames_;
        run.kernels_ms = timed_ > 0 ? kernels_ms_ / timed_ : 0;
        return run;
    }

private:
    bool collect() {
        const std::optional<Result> result = executor_.collect(true);
        if (!result)
            return false;
        if (result->image || result->device_image)
            output_ = result->shape();
        waited_ms_ += ms_since(submitted_.front());
        submitted_.pop_front();
        ++frames_;
        const Timings& timings = result->timings;
        timed_ += timings.empty() ? 0 : 1;
        for (const StageTiming& timing : timings)
            if (timing.name != "upload" && timing.name != "download")
                kernels_ms_ += timing.ms;
        return true;
    }

    Executor& executor_;
    bool want_host_;
    std::deque<SteadyClock::time_point> submitted_;
    Shape output_;
    double waited_ms_ = 0, submitting_ms_ = 0, kernels_ms_ = 0, seconds_ = 0;
    int frames_ = 0, timed_ = 0;
};

using Json = nlohmann::ordered_json;

int gpus_here() {
#ifdef SPECKLESCOPE_HAVE_CUDA
    return static_cast<int>(list_gpus(nullptr).size());
#else
    return 0;
#endif
}

/// 1, 2, 4 … and all.
std::vector<int> numbers_up_to(int count) {
    std::vector<int> numbers;
    for (int n = 1; n < count; n *= 2)
        numbers.push_back(n);
    if (count > 0)
        numbers.push_back(count);
    return numbers;
}

std::string first_gpus(int number) {
    std::string text = "0";
    for (int i = 1; i < number; ++i)
        text += "," + std::to_string(i);
    return text;
}

} // namespace

StreamRun run_stream(Executor& executor, const std::vector<std::string>& stages, const Shape& shape,
                     bool want_host, double seconds) {
    auto chain = std::make_shared<Chain>();
    for (const std::string& stage : stages)
        chain->add(stage);
    executor.set_chain(chain, 1);
    executor.prepare(shape, want_host);
    const std::vector<Frame> frames = speckle_frames(shape, rotation(shape, shape), executor.slot_memory());
    Stream(executor, want_host).run(frames, 0.2 * seconds); // warm-up
    Stream stream(executor, want_host);
    stream.run(frames, seconds);
    return stream.result(shape);
}

Json run_gpus() {
    const std::vector<std::string> stages = {"speckle:radius=7", "gaussian:method=recursive,sigma=10",
                                             "convolve:kernel=disk,radius=15"};
    constexpr std::array<Shape, 2> kShapes = {
        {{1392, 1040, 1, PixelType::u16}, {3840, 2160, 1, PixelType::u16}}};
    Json rows = Json::array();
    for (const Shape& shape : kShapes) {
        double one = 0;
        for (const int number : numbers_up_to(gpus_here())) {
            const auto executor =
                make_executor({.backend = Backend::cuda, .threads = 0, .gpus = first_gpus(number)}, nullptr);
            const StreamRun run = run_stream(*executor, stages, shape, false);
            one = number == 1 ? run.frames_per_s : one;
            const double times = run.frames_per_s / one;
            std::fprintf(stderr, "%s, %d GPUs: %s frames/s\n", to_string(shape).c_str(), number,
                         digits(run.frames_per_s).c_str());
            rows.push_back({{"work", "speckle radius 7, recursive gaussian, convolve"},
                            {"image", to_string(shape)},
                            {"gpus", number},
                            {"frames_per_s", run.frames_per_s},
                            {"times", times},
                            {"fraction", times / number},
                            {"kernels_ms", run.kernels_ms},
                            {"submit_us", run.submit_us},
                            {"up_gb_per_s", run.up_gb_per_s}});
        }
    }
    return rows;
}

} // namespace specklescope::bench
