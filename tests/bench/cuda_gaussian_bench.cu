// The Gaussian stage on the device beside a copy of the same bytes inside the device, in the same run; and
// the one-pass kernels by the number of rows that a warp walks down.
#include "cuda/device.hpp"
#include "cuda/devices.hpp"
#include "cuda/gaussian_launch.hpp"
#include "pipeline/executor.hpp"
#include "stages/gaussian.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

using namespace specklescope;
using namespace specklescope::cuda;

namespace {

constexpr std::size_t kBeyondCache = std::size_t{400} << 20; ///< rotate over more than any L2 holds
constexpr int kRounds = 15;

using Method = GaussianParams::Method;

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

/// Enough images of one shape that none of them is in the cache when its turn comes.
struct Images {
    Shape shape;
    std::size_t pitch;
    std::size_t count;
    Buffer memory;

    Images(const Shape& of, const std::shared_ptr<SlotMemory>& on)
        : shape(of), pitch((of.row_bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment),
          count(std::max<std::size_t>(3, kBeyondCache / 2 / bytes() + 1)), memory(count * bytes(), on) {
        std::vector<std::byte> noise(bytes());
        std::mt19937 random(1);
        std::normal_distribution<float> normal(100, 20);
        dispatch(shape.type, [&](auto zero) {
            using T = decltype(zero);
            for (std::size_t i = 0; i < noise.size() / sizeof(T); ++i)
                reinterpret_cast<T*>(noise.data())[i] =
                    static_cast<T>(std::clamp(normal(random), 1.0F, 254.0F));
        });
        for (std::size_t i = 0; i < count; ++i)
            check(cudaMemcpy(at(i), noise.data(), noise.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    std::size_t bytes() const { return pitch * static_cast<std::size_t>(shape.height); }
    std::byte* at(std::size_t i) const { return memory.as<std::byte>() + i % count * bytes(); }
};

struct Bench {
    std::shared_ptr<SlotMemory> memory = device_memory();
    Stream stream;
    int calls = 0;

    double copy_us(const Images& in, const Images& out) {
        return median_us(stream, calls, [&](int i) {
            check(cudaMemcpyAsync(out.at(static_cast<std::size_t>(i)), in.at(static_cast<std::size_t>(i)),
                                  in.bytes(), cudaMemcpyDeviceToDevice, stream.get()),
                  "cudaMemcpyAsync");
        });
    }

    void stage(const Images& in, const Images& out, double copy, const char* text) {
        Chain chain;
        chain.add(std::string("gaussian:") + text);
        const std::unique_ptr<DeviceStage> stage = make_gaussian_device(chain.stages().front().params);
        const Shape shape = stage->prepare(in.shape);
        const FrameInfo info;
        const double us = median_us(stream, calls, [&](int i) {
            const RunContext<Space::device> context{info, nullptr, stream.get()};
            stage->run(ConstDeviceView(in.at(static_cast<std::size_t>(i)), in.shape, in.pitch),
                       DeviceView(out.at(static_cast<std::size_t>(i)), shape, out.pitch), context);
        });
        std::printf("  %-40s %8.2f µs  %.3f of the copy  (%s)\n", text, us, copy / us, stage->note().c_str());
    }

    void strips(const Images& in, const Images& out, double copy, int radius, bool binomial) {
        const int channels = in.shape.channels;
        const WalkKernels& kernels = in.shape.type == PixelType::u8    ? walk_kernels_u8(channels)
                                     : in.shape.type == PixelType::u16 ? walk_kernels_u16(channels)
                                                                       : walk_kernels_f32(channels);
        const WalkKernel kernel =
            binomial ? binomial_kernel(radius, channels) : kernels[static_cast<std::size_t>(radius - 1)];
        for (const int rows : {0, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96}) {
            WalkArgs args{};
            args.images = {nullptr,
                           nullptr,
                           static_cast<int>(in.pitch),
                           static_cast<int>(out.pitch),
                           in.shape.width,
                           in.shape.height,
                           in.shape.width,
                           in.shape.height,
                           0,
                           Border::replicate,
                           nullptr,
                           nullptr};
            for (int i = 0; i <= radius; ++i)
                args.taps[i] = 1.0F / static_cast<float>(2 * radius + 1);
            place_strips(args, kernel, channels, rows);
            const double us = median_us(stream, calls, [&](int i) {
                args.images.input = in.at(static_cast<std::size_t>(i));
                args.images.output = out.at(static_cast<std::size_t>(i));
                launch_walk(args, kernel, stream.get());
            });
            std::printf("  radius %d%s, %3d rows%s: %8.2f µs  %.3f of the copy\n", radius,
                        binomial ? " binomial" : "", args.strip_rows, rows == 0 ? " (chosen)" : "", us,
                        copy / us);
        }
    }

    void shape(const Shape& of) {
        const Images in(of, memory);
        const Images out(of, memory);
        calls = std::max(4, static_cast<int>(in.count));
        const double copy = copy_us(in, out);
        std::printf("%s: copy %.2f µs\n", to_string(of).c_str(), copy);
        for (const char* text :
             {"method=binomial3", "method=binomial5", "method=direct,sigma=0.5", "method=direct,sigma=0.75",
              "method=direct,sigma=1", "method=direct,sigma=1.5", "method=direct,sigma=2",
              "method=direct,sigma=3", "method=direct,sigma=10", "method=recursive,sigma=1",
              "method=recursive,sigma=10", "method=recursive,sigma=200",
              "method=recursive,sigma=10,border=reflect", "method=binomial5,border=wrap",
              "method=binomial5,border=omit", "method=direct,sigma=1,border=omit"})
            stage(in, out, copy, text);
        if (of.type == PixelType::u8)
            strips(in, out, copy, 2, true);
        strips(in, out, copy, 2, false);
        strips(in, out, copy, 4, false);
        strips(in, out, copy, 8, false);
    }
};

} // namespace

int main() {
    std::string reason;
    const std::vector<GpuInfo> gpus = list_gpus(&reason);
    if (gpus.empty()) {
        std::printf("No GPU: %s.\n", reason.c_str());
        return 0;
    }
    std::printf("%s\n", to_string(gpus.front()).c_str());
    Bench bench;
    for (const int channels : {3, 1})
        for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
            bench.shape({3840, 2160, channels, type});
    bench.shape({1392, 1040, 1, PixelType::u16});
}
