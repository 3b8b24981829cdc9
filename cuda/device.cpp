#include "cuda/device.hpp"

#include "base/log.hpp"
#include "cuda/devices.hpp"

#include <spdlog/spdlog.h>

namespace specklescope {

namespace {

/// Reason for a missing device: cudaGetDeviceCount's status as a message with a remedy.
std::string no_device_reason(cudaError_t status) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    if (driver == 0)
        return "no NVIDIA driver is installed here";
    if (status == cudaErrorInsufficientDriver)
        return "the NVIDIA driver serves CUDA " + std::to_string(driver / 1000) + "." +
               std::to_string(driver % 1000 / 10) + ", this build needs " +
               std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10) +
               "; update the driver";
    if (status == cudaSuccess || status == cudaErrorNoDevice)
        return "the NVIDIA driver finds no GPU";
    return std::string("CUDA error: ") + cudaGetErrorString(status);
}

} // namespace

std::string to_string(const GpuInfo& gpu) {
    return std::to_string(gpu.index) + ": " + gpu.name + ", " + std::to_string(gpu.memory_bytes >> 30) +
           " GiB, compute capability " + std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
}

std::vector<GpuInfo> list_gpus(std::string* reason) {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    std::vector<GpuInfo> gpus;
    for (int i = 0; status == cudaSuccess && i < count; ++i) {
        cudaDeviceProp found{};
        status = cudaGetDeviceProperties(&found, i);
        if (status == cudaSuccess)
            gpus.push_back({i, found.name, found.totalGlobalMem, found.major, found.minor});
    }
    static_cast<void>(cudaGetLastError()); // clear the error: a failed query must not affect the next call
    if (gpus.empty() && reason)
        *reason = no_device_reason(status);
    return gpus;
}

namespace cuda {

void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess)
        return;
    static_cast<void>(cudaGetLastError()); // reported here; sticky errors appear again
    throw DeviceError(std::string("The GPU failed in ") + call + ": " + cudaGetErrorString(status) + " (" +
                      cudaGetErrorName(status) + ").");
}

void log_failure(cudaError_t status, const char* call) noexcept {
    // At process exit static objects may be destroyed after CUDA: nothing is lost then.
    if (status == cudaSuccess || status == cudaErrorCudartUnloading)
        return;
    static_cast<void>(cudaGetLastError());
    try {
        run_log().error("The GPU failed in {}: {}", call, cudaGetErrorString(status));
    } catch (...) { // destructors must not throw
    }
}

Stream::Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
Stream::~Stream() {
    if (stream_)
        log_failure(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}
void Stream::synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

Event::Event(Use use) {
    const unsigned flags = use == Use::timing     ? cudaEventDefault
                           : use == Use::ordering ? cudaEventDisableTiming
                                                  : cudaEventDisableTiming | cudaEventBlockingSync;
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreate");
}
Event::~Event() {
    if (event_)
        log_failure(cudaEventDestroy(event_), "cudaEventDestroy");
}
void Event::record(const Stream& stream) const {
    check(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
}
void Event::hold(const Stream& stream) const {
    check(cudaStreamWaitEvent(stream.get(), event_, 0), "cudaStreamWaitEvent");
}
bool Event::done() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    check(status, "cudaEventQuery");
    return true;
}
void Event::synchronize() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
double Event::ms_since(const Event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(ms);
}

Buffer::Buffer(std::size_t bytes, std::shared_ptr<SlotMemory> memory)
    : memory_(std::move(memory)), data_(memory_->allocate(bytes)) {}
Buffer::~Buffer() {
    if (data_)
        memory_->release(data_);
}

namespace {

[[noreturn]] void no_room(std::size_t bytes, const char* where, cudaError_t status) {
    static_cast<void>(cudaGetLastError());
    throw DeviceError("No room for " + std::to_string(bytes >> 20) + " MiB of frames in " + where + " (" +
                      cudaGetErrorString(status) + "); use a smaller image or fewer slots.");
}

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

/// Stores its device, since any thread may allocate and release slots.
class DeviceMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        check(cudaSetDevice(device_), "cudaSetDevice");
        void* memory = nullptr;
        if (const cudaError_t status = cudaMalloc(&memory, bytes); status != cudaSuccess)
            no_room(bytes, "the GPU's memory", status);
        return memory;
    }
    void release(void* memory) noexcept override { log_failure(cudaFree(memory), "cudaFree"); }
    Space space() const override { return Space::device; }

private:
    int device_ = current_device();
};

class PageLockedMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        check(cudaSetDevice(device_), "cudaSetDevice");
        void* memory = nullptr;
        if (const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
            status != cudaSuccess)
            no_room(bytes, "page-locked memory", status);
        return memory;
    }
    void release(void* memory) noexcept override { log_failure(cudaFreeHost(memory), "cudaFreeHost"); }
    Space space() const override { return Space::host; }

private:
    int device_ = current_device();
};

} // namespace

std::shared_ptr<SlotMemory> device_memory() { return std::make_shared<DeviceMemory>(); }
std::shared_ptr<SlotMemory> page_locked_memory() { return std::make_shared<PageLockedMemory>(); }

cudaDeviceProp use_device(int index) {
    const std::string sorry = "No CUDA device can be used: ";
    std::string reason;
    const std::vector<GpuInfo> gpus = list_gpus(&reason);
    if (gpus.empty())
        throw RunError(sorry + reason + ".");
    if (index < 0 || index >= static_cast<int>(gpus.size()))
        throw RunError(sorry + "there is no device " + std::to_string(index) + "; allowed: 0 to " +
                       std::to_string(gpus.size() - 1) + ".");
    cudaDeviceProp properties{};
    cudaError_t status = cudaSetDevice(index);
    if (status == cudaSuccess)
        status = cudaFree(nullptr); // creates the context: a lost or busy device fails here
    if (status == cudaSuccess)
        status = cudaGetDeviceProperties(&properties, index);
    if (status != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        throw RunError(sorry + cudaGetErrorString(status) + ".");
    }
    return properties;
}

} // namespace cuda
} // namespace specklescope

namespace specklescope::cuda {

Buffer uploaded(const void* values, std::size_t bytes) {
    if (bytes == 0)
        return {};
    Buffer buffer(bytes, device_memory());
    check(cudaMemcpy(buffer.as<void>(), values, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return buffer;
}

} // namespace specklescope::cuda
