#include "bench/gpus.hpp"
#include "have_cuda.hpp"

#include "bench/stream.hpp"
#include "bench/timing.hpp"
#include "config/executor.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <array>
#include <cstdio>

namespace specklescope::bench {

namespace {

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
