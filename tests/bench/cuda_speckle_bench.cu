// The speckle stage on the device beside a copy of the same bytes inside the device, measured in the same
// run; then frames through the whole executor beside the copy engines.
//   cuda_speckle_bench [--json FILE] — FILE for tests/bench/report.py
#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "pipeline/executor.hpp"
#include "stages/speckle.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace specklescope;
using namespace specklescope::cuda;

namespace {

constexpr std::size_t kBeyondCache = std::size_t{400} << 20; ///< rotate over more than any L2 holds
constexpr int kRounds = 15;

/// What was measured, as JSON texts.
struct Report {
    std::string machine, copy_engines;
    std::vector<std::string> kernels, executor;
};

std::string printed(const char* format, auto... values) {
    std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
    std::snprintf(text.data(), text.size() + 1, format, values...);
    return text;
}

/// The rest of the first line of `path` that begins with `start`, from the first letter after it; empty if
/// there is none.
std::string after(const char* path, const std::string& start) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(start)) {
            const std::size_t at = line.find_first_not_of(" \t:", start.size());
            return at == std::string::npos ? "" : line.substr(at);
        }
    return "";
}

std::string machine(const cudaDeviceProp& gpu) {
    int driver = 0;
    int runtime = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    char date[32] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    const auto version = [](int v) { return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10); };
    return printed(R"({"date": "%s", "gpu": "%s", "multiprocessors": %d, "memory_bytes": %zu, )"
                   R"("kernel_module": "%s", "driver_cuda": "%s", "runtime_cuda": "%s", "nvcc": "%d.%d.%d", )"
                   R"("compiler": "g++ %s", "cpu": "%s"})",
                   date, gpu.name, gpu.multiProcessorCount, gpu.totalGlobalMem,
                   after("/proc/driver/nvidia/version", "NVRM version").c_str(), version(driver).c_str(),
                   version(runtime).c_str(), __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__,
                   __VERSION__, after("/proc/cpuinfo", "model name").c_str());
}

void write_json(const Report& report, const char* path) {
    const auto list = [](const std::vector<std::string>& items) {
        std::string text = "[";
        for (const std::string& item : items)
            text += (text.size() > 1 ? ",\n    " : "\n    ") + item;
        return text + "\n  ]";
    };
    std::ofstream file(path);
    file << "{\n  \"machine\": " << report.machine << ",\n  \"rounds\": " << kRounds
         << ",\n  \"copy_engines\": " << report.copy_engines << ",\n  \"kernels\": " << list(report.kernels)
         << ",\n  \"executor\": " << list(report.executor) << "\n}\n";
    if (!file.flush())
        throw RunError(std::string("Cannot write ") + path + ": check the folder and the space left.");
}

/// Median over rounds of the time of one call, µs; `calls` of them between two events.
template <class F> double median_us(const Stream& stream, int calls, F&& call) {
    const Event begin;
    const Event end;
    std::vector<double> times;
    for (int round = -2; round < kRounds; ++round) {
        begin.record(stream);
        for (int i = 0; i < calls; ++i)
            call(i);
        end.record(stream);
        end.synchronize();
        if (round >= 0)
            times.push_back(end.ms_since(begin) * 1000 / calls);
    }
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    return times[kRounds / 2];
}

/// Speckle-like samples: mean a tenth of the range, contrast 0.2, never at full scale.
std::vector<std::byte> samples(const Shape& shape, std::size_t pitch) {
    std::vector<std::byte> bytes(pitch * static_cast<std::size_t>(shape.height));
    std::mt19937 random(1);
    dispatch(shape.type, [&](auto zero) {
        using T = decltype(zero);
        const double mean = shape.type == PixelType::u8 ? 100 : 6000;
        std::normal_distribution<float> normal(static_cast<float>(mean), static_cast<float>(mean / 5));
        for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
            const T value =
                static_cast<T>(std::clamp(normal(random), 1.0F, 254.0F * (sizeof(T) == 1 ? 1 : 256)));
            std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
        }
    });
    return bytes;
}

std::vector<Frame> frames(FrameRing& ring) {
    std::vector<Frame> all;
    while (Frame frame = ring.try_acquire())
        all.push_back(std::move(frame));
    return all;
}

void bench_kernel(const Shape& shape, const std::vector<int>& radii, Report& report) {
    const Stream stream;
    const Shape result{shape.width, shape.height, 1, PixelType::f32};
    const std::size_t bytes = shape.bytes() + result.bytes();
    const int sets = static_cast<int>(std::max<std::size_t>(2, kBeyondCache / bytes));
    const auto memory = device_memory();
    FrameRing input_ring(shape, sets, memory);
    FrameRing output_ring(result, sets, memory);
    const std::vector<Frame> inputs = frames(input_ring);
    const std::vector<Frame> outputs = frames(output_ring);
    const std::vector<std::byte> pixels = samples(shape, inputs[0].device().pitch);
    for (const Frame& input : inputs)
        check(cudaMemcpy(input.device().data, pixels.data(), pixels.size(), cudaMemcpyHostToDevice),
              "cudaMemcpy");
    Buffer counts(sizeof(PixelCounts), memory);
    check(cudaMemset(counts.as<void>(), 0, sizeof(PixelCounts)), "cudaMemset");

    // The same number of bytes read and written: half of them copied.
    Buffer from(bytes / 2 * static_cast<std::size_t>(sets), memory);
    Buffer to(bytes / 2 * static_cast<std::size_t>(sets), memory);
    check(cudaMemset(from.as<void>(), 1, bytes / 2 * static_cast<std::size_t>(sets)), "cudaMemset");
    const int calls = std::max(sets, 20);
    const double copy = median_us(stream, calls, [&](int i) {
        const std::size_t at = bytes / 2 * static_cast<std::size_t>(i % sets);
        check(cudaMemcpyAsync(to.as<std::byte>() + at, from.as<std::byte>() + at, bytes / 2,
                              cudaMemcpyDeviceToDevice, stream.get()),
              "cudaMemcpyAsync");
    });
    for (const int radius : radii) {
        Params params(speckle_table());
        params.as<SpeckleParams>().radius = radius;
        const auto stage = make_speckle_device(params);
        stage->prepare(shape);
        const FrameInfo info;
        const double kernel = median_us(stream, calls, [&](int i) {
            const auto set = static_cast<std::size_t>(i % sets);
            stage->run(inputs[set].device(), outputs[set].device(),
                       {.info = info, .counts = counts.as<PixelCounts>(), .stream = stream.get()});
        });
        std::printf("%-16s radius %2d  kernel %7.2f us  copy %7.2f us (%4.2f TB/s)  fraction %.3f\n",
                    to_string(shape).c_str(), radius, kernel, copy, static_cast<double>(bytes) / copy * 1e-6,
                    copy / kernel);
        report.kernels.push_back(printed(
            R"({"type": "%s", "width": %d, "height": %d, "radius": %d, "kernel_us": %.3f, "copy_us": %.3f, )"
            R"("bytes": %zu})",
            std::string(to_string(shape.type)).c_str(), shape.width, shape.height, radius, kernel, copy,
            bytes));
    }
}

void bench_executor(const Shape& shape, bool want_host, Report& report) {
    const auto executor = make_cuda_executor(0);
    auto chain = std::make_shared<Chain>();
    constexpr int kRadius = 2;
    chain->add("speckle:radius=" + std::to_string(kRadius));
    executor->set_chain(chain, 1);
    FrameRing ring(shape, 8, executor->slot_memory());
    {
        const std::vector<std::byte> pixels = samples(shape, shape.row_bytes());
        for (const Frame& frame : frames(ring))
            copy_pixels(ConstHostView(pixels.data(), shape), frame.host());
    }
    constexpr int kFrames = 400;
    auto begin = SteadyClock::now();
    double latency = 0;
    const auto take = [&] {
        const auto result = executor->collect(true);
        latency += std::chrono::duration<double, std::micro>(result->ready - result->info.arrival).count();
    };
    for (int i = -20; i < kFrames; ++i) {
        if (i == 0) {
            while (executor->in_flight() > 0)
                take();
            latency = 0;
            begin = SteadyClock::now();
        }
        while (executor->in_flight() == executor->capacity())
            take();
        executor->wait_slot(std::chrono::seconds(1));
        Frame frame = ring.acquire(std::chrono::seconds(1));
        frame.info().arrival = SteadyClock::now();
        executor->submit(std::move(frame), want_host);
    }
    while (executor->in_flight() > 0)
        take();
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    const auto bytes = static_cast<double>(shape.bytes());
    std::printf("executor %-16s %-13s %7.0f frames/s  up %5.1f GB/s  down %5.1f GB/s  latency %.0f us\n",
                to_string(shape).c_str(), want_host ? "with download" : "on the device", kFrames / seconds,
                bytes * kFrames / seconds * 1e-9,
                want_host ? static_cast<double>(shape.pixels()) * 4 * kFrames / seconds * 1e-9 : 0.0,
                latency / kFrames);
    report.executor.push_back(
        printed(R"({"type": "%s", "width": %d, "height": %d, "radius": %d, "download": %s, "frames": %d, )"
                R"("frames_per_s": %.1f, "mean_latency_us": %.1f})",
                std::string(to_string(shape.type)).c_str(), shape.width, shape.height, kRadius,
                want_host ? "true" : "false", kFrames, kFrames / seconds, latency / kFrames));
}

void bench_copy_engines(Report& report) {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    const Stream stream;
    Buffer host(kBytes, page_locked_memory());
    Buffer device(kBytes, device_memory());
    std::memset(host.as<void>(), 1, kBytes);
    const double up = median_us(stream, 8, [&](int) {
        check(
            cudaMemcpyAsync(device.as<void>(), host.as<void>(), kBytes, cudaMemcpyHostToDevice, stream.get()),
            "copy");
    });
    const double down = median_us(stream, 8, [&](int) {
        check(
            cudaMemcpyAsync(host.as<void>(), device.as<void>(), kBytes, cudaMemcpyDeviceToHost, stream.get()),
            "copy");
    });
    std::printf("copy engines: host to device %.1f GB/s, device to host %.1f GB/s\n",
                static_cast<double>(kBytes) / up * 1e-3, static_cast<double>(kBytes) / down * 1e-3);
    report.copy_engines =
        printed(R"({"up_gb_per_s": %.2f, "down_gb_per_s": %.2f})", static_cast<double>(kBytes) / up * 1e-3,
                static_cast<double>(kBytes) / down * 1e-3);
}

} // namespace

int main(int argc, char** argv) try {
    const bool json = argc == 3 && std::string(argv[1]) == "--json";
    if (argc > 1 && !json) {
        std::fprintf(stderr, "cuda_speckle_bench takes nothing, or --json FILE.\n");
        return 2;
    }
    const cudaDeviceProp gpu = use_device(0);
    std::printf("%s\n", gpu.name);
    Report report;
    report.machine = machine(gpu);
    constexpr int sizes[][2] = {{1392, 1040}, {1920, 1080}, {3840, 2160}, {7680, 4320}};
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
        for (const auto& size : sizes)
            bench_kernel({size[0], size[1], 1, type}, {2, 3, 7, 15}, report);
    bench_copy_engines(report);
    for (const auto& size : sizes)
        for (const bool want_host : {false, true})
            bench_executor({size[0], size[1], 1, PixelType::u16}, want_host, report);
    if (json)
        write_json(report, argv[2]);
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
