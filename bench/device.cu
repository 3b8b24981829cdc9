#include "bench/host.hpp"

#include "cuda/device.hpp"
#include "cuda/devices.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace specklescope::bench {

namespace {

std::unique_ptr<DeviceStage> device_stage(const ChainStage& link) {
    if (!link.type->make_device)
        throw UsageError("stage " + std::string(link.type->name) + " does not run on the GPU.");
    return link.type->make_device(link.params);
}

using namespace cuda;

/// Time of one call, with `calls` of them between two events.
template <class F> Spread time_on(const Stream& stream, int calls, F&& call) {
    constexpr int kWarmUp = 2;
    constexpr int kRounds = 15;
    const Event begin;
    const Event end;
    std::vector<double> times;
    int i = 0;
    for (int round = -kWarmUp; round < kRounds; ++round) {
        begin.record(stream);
        for (int k = 0; k < calls; ++k)
            call(i++);
        end.record(stream);
        end.synchronize();
        if (round >= 0)
            times.push_back(end.ms_since(begin) / calls);
    }
    return spread_of(std::move(times));
}

std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

class CudaBench final : public DeviceBench {
public:
    CudaBench() : gpu_(use_device(0)) {}

    Spread copy_inside(std::size_t bytes) override {
        if (const auto found = copies_.find(bytes); found != copies_.end())
            return found->second;
        const std::size_t half = bytes / 2 / 256 * 256;
        const std::size_t sets = std::max<std::size_t>(2, kBeyondCache / bytes);
        const Buffer from(half * sets, memory_);
        const Buffer to(half * sets, memory_);
        check(cudaMemset(from.as<void>(), 1, half * sets), "cudaMemset");
        const Spread time = time_on(stream_, static_cast<int>(std::max<std::size_t>(sets, 20)), [&](int i) {
            const std::size_t at = half * (static_cast<std::size_t>(i) % sets);
            check(cudaMemcpyAsync(to.as<std::byte>() + at, from.as<std::byte>() + at, half,
                                  cudaMemcpyDeviceToDevice, stream_.get()),
                  "cudaMemcpyAsync");
        });
        copies_[bytes] = time;
        return time;
    }

    double upload_rate() override { return bus_rate(cudaMemcpyHostToDevice); }
    double download_rate() override { return bus_rate(cudaMemcpyDeviceToHost); }

    KernelRun run(const KernelCase& work) override {
        Chain chain;
        chain.add(work.work);
        const ChainStage& link = chain.stages().front();
        const auto stage = device_stage(link);
        KernelRun result;
        result.output = stage->prepare(work.shape);
        result.note = stage->note();
        const std::size_t bytes = work.shape.bytes() + result.output.bytes();
        const int sets = std::max(static_cast<int>(std::clamp<std::size_t>(kBeyondCache / bytes, 2, 64)),
                                  least_frames(work));
        const int fresh = std::max(std::min(sets, kChecked), least_frames(work));
        const std::vector<Frame> pixels = speckle_frames(work, fresh, page_locked_memory());
        const std::vector<Frame> inputs = slots(work.shape, sets);
        const std::vector<Frame> outputs = slots(result.output, sets);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ConstHostView from = pixels[i % pixels.size()].host();
            const DeviceView to = inputs[i].device();
            check(cudaMemcpy2D(to.data, to.pitch, from.data, from.pitch, from.shape.row_bytes(),
                               static_cast<std::size_t>(from.shape.height), cudaMemcpyHostToDevice),
                  "cudaMemcpy2D");
            check(cudaMemset(outputs[i].device().data, 0xa5,
                             outputs[i].device().pitch * static_cast<std::size_t>(result.output.height)),
                  "cudaMemset");
        }
        const Buffer counts(sizeof(PixelCounts), memory_);
        check(cudaMemset(counts.as<void>(), 0, sizeof(PixelCounts)), "cudaMemset");
        // the stage's stream does not wait for these
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        const auto call = [&](int i) {
            const auto at = static_cast<std::size_t>(i % sets);
            stage->run(inputs[at].device(), outputs[at].device(),
                       {.info = pixels[at % pixels.size()].info(),
                        .counts = counts.as<PixelCounts>(),
                        .stream = stream_.get()});
        };
        for (int i = 0; i < fresh; ++i)
            call(i);
        compare(result, link, pixels, outputs[static_cast<std::size_t>(fresh - 1)]);
        int begun = fresh;
        while (!stage->warmup().done() && begun < kLongestHistory)
            call(begun++);
        stream_.synchronize();
        const Spread once = time_on(stream_, 1, call);
        const int calls =
            std::clamp(static_cast<int>(20.0 / std::max(once.median, 1e-3)), 2, std::max(sets, 20));
        result.time = time_on(stream_, calls, call);
        result.copy = copy_inside(bytes);
        return result;
    }

    Spread with_copies(const KernelCase& work) override {
        Chain chain;
        chain.add(work.work);
        const ChainStage& link = chain.stages().front();
        const auto stage = device_stage(link);
        const Shape result = stage->prepare(work.shape);
        const std::vector<Frame> from = speckle_frames(work, kChecked, page_locked_memory());
        const std::vector<Frame> to = ring(result, kChecked, page_locked_memory());
        const Frame input = slots(work.shape, 1).front();
        const Frame output = slots(result, 1).front();
        const Buffer counts(sizeof(PixelCounts), memory_);
        check(cudaMemset(counts.as<void>(), 0, sizeof(PixelCounts)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        return time_on(stream_, 1, [&](int i) {
            const auto at = static_cast<std::size_t>(i % kChecked);
            const ConstHostView raw = from[at].host();
            const HostView done = to[at].host();
            const DeviceView in = input.device();
            const DeviceView out = output.device();
            check(cudaMemcpy2DAsync(in.data, in.pitch, raw.data, raw.pitch, raw.shape.row_bytes(),
                                    static_cast<std::size_t>(raw.shape.height), cudaMemcpyHostToDevice,
                                    stream_.get()),
                  "cudaMemcpy2DAsync");
            stage->run(
                in, out,
                {.info = from[at].info(), .counts = counts.as<PixelCounts>(), .stream = stream_.get()});
            check(cudaMemcpy2DAsync(done.data, done.pitch, out.data, out.pitch, done.shape.row_bytes(),
                                    static_cast<std::size_t>(done.shape.height), cudaMemcpyDeviceToHost,
                                    stream_.get()),
                  "cudaMemcpy2DAsync");
        });
    }

    std::vector<std::pair<std::string, std::string>> facts() const override {
        int driver = 0;
        int runtime = 0;
        check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
        check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
        std::string module;
        std::ifstream file("/proc/driver/nvidia/version");
        std::getline(file, module);
        return {{"GPU", gpu_.name},
                {"multiprocessors", std::to_string(gpu_.multiProcessorCount)},
                {"GPU memory", std::to_string(gpu_.totalGlobalMem >> 30) + " GiB"},
                {"kernel module", module},
                {"CUDA", "driver " + version(driver) + ", runtime " + version(runtime)}};
    }

private:
    static constexpr std::size_t kBeyondCache = std::size_t{400} << 20; ///< larger than any L2 cache
    static constexpr int kChecked = 3; ///< consecutive frames compared with the host
    static constexpr int kLongestHistory = 64;

    std::vector<Frame> slots(const Shape& shape, int count) const { return ring(shape, count, memory_); }
    static std::vector<Frame> ring(const Shape& shape, int count, const std::shared_ptr<SlotMemory>& memory) {
        FrameRing slots(shape, count, memory);
        std::vector<Frame> all;
        while (Frame frame = slots.try_acquire())
            all.push_back(std::move(frame));
        return all;
    }

    void compare(KernelRun& result, const ChainStage& link, const std::vector<Frame>& pixels,
                 const Frame& output) const {
        stream_.synchronize();
        const Frame ours = poisoned_frames(result.output, 1, std::byte{0x5a}).front();
        const HostView to = ours.host();
        const DeviceView from = output.device();
        check(cudaMemcpy2D(to.data, to.pitch, from.data, from.pitch, to.shape.row_bytes(),
                           static_cast<std::size_t>(to.shape.height), cudaMemcpyDeviceToHost),
              "cudaMemcpy2D");
        const Frame theirs = host_result(link, pixels);
        result.difference = difference(ours.host(), theirs.host());
        const double full =
            type_full_scale(result.output.type); // a tolerance below one step allows that step
        result.agrees = result.difference <= std::max(link.type->tolerance, full > 0 ? 1.0 / full : 0.0);
    }

    double bus_rate(cudaMemcpyKind kind) {
        constexpr std::size_t kBytes = std::size_t{64} << 20;
        const Buffer device(kBytes, memory_);
        const Buffer host(kBytes, page_locked_memory());
        std::memset(host.as<void>(), 1, kBytes);
        const bool up = kind == cudaMemcpyHostToDevice;
        const Spread time = time_on(stream_, 4, [&](int) {
            check(cudaMemcpyAsync(up ? device.as<void>() : host.as<void>(),
                                  up ? host.as<void>() : device.as<void>(), kBytes, kind, stream_.get()),
                  "cudaMemcpyAsync");
        });
        return static_cast<double>(kBytes) / time.median * 1e-6;
    }

    cudaDeviceProp gpu_;
    std::shared_ptr<SlotMemory> memory_ = device_memory();
    Stream stream_;
    std::map<std::size_t, Spread> copies_;
};

} // namespace

std::unique_ptr<DeviceBench> make_device_bench(std::string* reason) {
    if (list_gpus(reason).empty())
        return nullptr;
    return std::make_unique<CudaBench>();
}

} // namespace specklescope::bench
