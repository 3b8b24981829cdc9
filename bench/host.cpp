#include "bench/host.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace specklescope::bench {

namespace {

ChainStage link_of(const std::string& work) {
    Chain chain;
    chain.add(work);
    return chain.stages().front();
}

/// Maximum number of frames to fill a window.
constexpr int kLongestHistory = 64;

void run(HostStage& stage, const Frame& input, const Frame& output) {
    PixelCounts counts;
    stage.run(input.host(), output.host(), {.info = input.info(), .counts = counts});
}

bool same_pixels(ConstHostView a, ConstHostView b) {
    for (int y = 0; y < a.shape.height; ++y)
        if (std::memcmp(a.row(y), b.row(y), a.shape.row_bytes()) != 0)
            return false;
    return true;
}

double worst_of(double a, double b, double floor) {
    if (a == b || (std::isnan(a) && std::isnan(b)))
        return 0;
    if (!std::isfinite(a) || !std::isfinite(b))
        return std::numeric_limits<double>::infinity();
    return std::abs(a - b) / std::max(std::abs(b), floor);
}

/// Targets better than the one requested by the environment.
std::int64_t disabled_by_environment = 0;

void disable(std::int64_t targets) {
    hwy::DisableTargets(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

} // namespace

Spread copy_on_host(std::size_t bytes) {
    const int threads = parallel_threads();
    static std::map<std::pair<std::size_t, int>, Spread> known; // shared by all cases of a size
    const std::pair key(bytes, threads);
    if (const auto found = known.find(key); found != known.end())
        return found->second;
    const std::size_t half = bytes / 2;
    const std::size_t sets = std::clamp<std::size_t>((std::size_t{256} << 20) / bytes, 2, 16);
    const std::vector<std::byte> from(half * sets, std::byte{1});
    std::vector<std::byte> to(half * sets, std::byte{2});
    const Spread time = time_calls([&](int i) {
        const std::size_t at = half * (static_cast<std::size_t>(i) % sets);
        run_bands(threads, threads, [&](int band, int) {
            const std::size_t begin =
                half * static_cast<std::size_t>(band) / static_cast<std::size_t>(threads);
            const std::size_t end =
                half * static_cast<std::size_t>(band + 1) / static_cast<std::size_t>(threads);
            std::memcpy(to.data() + at + begin, from.data() + at + begin, end - begin);
        });
    });
    known[key] = time;
    return time;
}

KernelRun run_on_host(const KernelCase& work) {
    const ChainStage link = link_of(work.work);
    KernelRun result;
    const auto stage = link.type->make_host(link.params);
    result.output = stage->prepare(work.shape);
    result.note = stage->note();
    const int sets = std::max(rotation(work.shape, result.output), least_frames(work));
    const std::vector<Frame> inputs = speckle_frames(work, sets, host_memory());
    const std::vector<Frame> outputs = poisoned_frames(result.output, sets, std::byte{0xa5});
    const auto at = [sets](int i) { return static_cast<std::size_t>(i % sets); };
    int begun = 0;
    do
        run(*stage, inputs[at(begun)], outputs[at(begun)]);
    while (!stage->warmup().done() && ++begun < kLongestHistory);
    result.time = time_calls([&](int i) { run(*stage, inputs[at(i)], outputs[at(i)]); });
    result.copy = copy_on_host(work.shape.bytes() + result.output.bytes());

    stage->reset();
    const std::vector<Frame> other = poisoned_frames(result.output, 1, std::byte{0x5a});
    run(*stage, inputs[0], outputs[0]);
    stage->reset();
    run(*stage, inputs[0], other[0]);
    result.agrees = same_pixels(outputs[0].host(), other[0].host());
    result.difference = result.agrees ? 0 : std::numeric_limits<double>::infinity();
    return result;
}

SimdRuns run_with_each_simd(const KernelCase& work) {
    SimdRuns runs;
    for (const std::string& name : simd_to_compare()) {
        const SimdLimit limit(name);
        runs.emplace_back(name, run_on_host(work));
    }
    return runs;
}

Frame host_result(const ChainStage& link, const std::vector<Frame>& inputs) {
    const auto stage = link.type->make_host(link.params);
    const Shape shape = stage->prepare(inputs[0].shape());
    Frame output = poisoned_frames(shape, 1, std::byte{0x5a}).front();
    for (const Frame& input : inputs)
        run(*stage, input, output);
    return output;
}

double difference(ConstHostView a, ConstHostView b) {
    double worst = 0;
    dispatch(a.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto ours = a.as<T>();
        const auto theirs = b.as<T>();
        const int values = a.shape.width * a.shape.channels;
        double floor = type_full_scale(a.shape.type);
        if (floor == 0)
            for (int y = 0; y < ours.height; ++y)
                for (int x = 0; x < values; ++x)
                    if (const double size = std::abs(static_cast<double>(theirs.row(y)[x]));
                        std::isfinite(size))
                        floor = std::max(floor, size * 1e-3);
        for (int y = 0; y < ours.height; ++y)
            for (int x = 0; x < values; ++x)
                worst = std::max(worst, worst_of(static_cast<double>(ours.row(y)[x]),
                                                 static_cast<double>(theirs.row(y)[x]), floor));
    });
    return worst;
}

void use_simd_of_environment() {
    const char* wanted = std::getenv("SPECKLESCOPE_SIMD"); // NOLINT(concurrency-mt-unsafe)
    if (!wanted)
        return;
    std::string names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        if (std::string(wanted) == hwy::TargetName(target)) {
            disabled_by_environment = target - 1; // better targets have lower bits
            disable(disabled_by_environment);
            return;
        }
        names += (names.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
    }
    throw UsageError("SPECKLESCOPE_SIMD=" + std::string(wanted) + " is not possible here; allowed: " + names +
                     ".");
}

std::vector<std::string> simd_to_compare() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        if (target == HWY_AVX3 || target == HWY_AVX2)
            names.emplace_back(hwy::TargetName(target));
    return names;
}

SimdLimit::SimdLimit(const std::string& name) {
    for (const std::int64_t target : {HWY_AVX3, HWY_AVX2})
        if (name == hwy::TargetName(target))
            disable(target - 1);
}

SimdLimit::~SimdLimit() { disable(disabled_by_environment); }

} // namespace specklescope::bench
