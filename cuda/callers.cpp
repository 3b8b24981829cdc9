#include "cuda/callers.hpp"

#include <atomic>

namespace specklescope::cuda {

namespace {

std::string of_stream(const std::string& why) {
    return "The stream that came with the memory " + why +
           "; give the cudaStream_t of this GPU that the memory is used on, or 0 for the default stream.";
}

std::string size_text(std::size_t bytes) {
    return bytes < std::size_t{1} << 20 ? std::to_string(bytes) + " bytes"
                                        : std::to_string(bytes >> 20) + " MiB";
}

std::function<void(void*, void*)> order_on(int device) {
    return [device](void* earlier, void* later) {
        if (earlier == later)
            return;
        const ScopedDevice scope(device, true);
        const Event reached(Event::Use::ordering);
        check(cudaEventRecord(reached.get(), static_cast<cudaStream_t>(earlier)), "cudaEventRecord");
        check(cudaStreamWaitEvent(static_cast<cudaStream_t>(later), reached.get(), 0), "cudaStreamWaitEvent");
    };
}

template <Space S> const std::byte* last_byte(const ConstImageView<S>& pixels) {
    return pixels.row(pixels.shape.height - 1) + pixels.shape.row_bytes() - 1;
}

/// Otherwise CUDA copies through its own memory while the calling thread waits.
bool page_locked(const ConstHostView& pixels) {
    for (const std::byte* place : {pixels.data, last_byte(pixels)}) {
        cudaPointerAttributes found{};
        if (cudaPointerGetAttributes(&found, place) != cudaSuccess) {
            static_cast<void>(cudaGetLastError());
            return false;
        }
        if (found.type != cudaMemoryTypeHost)
            return false;
    }
    return true;
}

/// Page-locked memory for threads whose current device must not change. Allocated with its device current.
class GuestsMemory final : public SlotMemory {
public:
    explicit GuestsMemory(int device) : device_(device) {}
    void* allocate(std::size_t bytes) override {
        const ScopedDevice scope(device_, true);
        return memory_->allocate(bytes);
    }
    void release(void* memory) noexcept override {
        try {
            const ScopedDevice scope(device_, true);
            memory_->release(memory);
        } catch (const std::exception&) { // the device is lost, including its locked memory
        }
    }
    Space space() const override { return Space::host; }

private:
    int device_;
    std::shared_ptr<SlotMemory> memory_ = page_locked_memory();
};

void check_place(const std::byte* place, int device, const std::string& which, const char* part) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, place) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        found.type = cudaMemoryTypeUnregistered;
    }
    switch (found.type) {
    case cudaMemoryTypeManaged: // accessible from both sides
        return;
    case cudaMemoryTypeDevice:
        if (found.device == device)
            return;
        throw UsageError(which + " lies in memory of GPU " + std::to_string(found.device) +
                         ", and this chain runs on GPU " + std::to_string(device) +
                         "; copy it there, or make the chain with gpus=" + std::to_string(found.device) +
                         ".");
    case cudaMemoryTypeHost:
        throw UsageError(
            which + " is said to lie on a GPU and lies in page-locked memory of the host; say that it is "
                    "host memory, or copy it to the GPU.");
    default:
        throw UsageError(
            which + " is said to lie on a GPU, and " + part +
            " is no address of one; give memory of cudaMalloc or of a pool, all of it in one block.");
    }
}

} // namespace

DeviceRestorer::DeviceRestorer(bool guest) {
    if (guest && cudaGetDevice(&before_) != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // no device: reported where it is needed
        before_ = -1;
    }
}

DeviceRestorer::~DeviceRestorer() {
    if (before_ >= 0)
        log_failure(cudaSetDevice(before_), "cudaSetDevice");
}

bool fits_kernels(const ConstDeviceView& pixels) {
    return reinterpret_cast<std::uintptr_t>(pixels.data) % 16 == 0 && pixels.pitch % 16 == 0 &&
           pixels.shape.row_bytes() % 32 == 0;
}

void check_stream(cudaStream_t stream) {
    cudaStreamCaptureStatus capture{};
    if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        throw UsageError(of_stream("cannot be used here"));
    }
    if (capture != cudaStreamCaptureStatusNone)
        throw UsageError(of_stream("is being captured into a graph, which a chain cannot be part of"));
}

void record_on(const Event& event, cudaStream_t stream) {
    const cudaError_t status = cudaEventRecord(event.get(), stream);
    if (status == cudaErrorInvalidResourceHandle) {
        static_cast<void>(cudaGetLastError());
        throw UsageError(of_stream("is of another GPU, or has ended"));
    }
    check(status, "cudaEventRecord");
}

void CallersOrder::set(const CallersStreams& streams) {
    count_ = 0;
    for (const std::optional<void*>& given : {streams.of_input, streams.of_output}) {
        if (!given)
            continue;
        const auto stream = static_cast<cudaStream_t>(*given);
        if (count_ == 1 && streams_[0] == stream)
            continue;
        check_stream(stream);
        streams_[count_++] = stream;
    }
}

void CallersOrder::hold(const Stream& stream) const {
    for (std::size_t i = 0; i < count_; ++i) {
        check(cudaEventRecord(reached_[i].get(), streams_[i]), "cudaEventRecord");
        reached_[i].hold(stream);
    }
}

void CallersOrder::release(const Event& done) {
    const std::size_t count = std::exchange(count_, 0);
    for (std::size_t i = 0; i < count; ++i)
        check(cudaStreamWaitEvent(streams_[i], done.get(), 0), "cudaStreamWaitEvent");
}

CallersExecutor::CallersExecutor(int device, bool guest)
    : device_(device), guest_(guest), name_(use_device(device).name) {}

void CallersExecutor::lend_result(const Frame& into) {
    lent_.reset();
    lent_on_host_.reset();
    if (!into)
        return;
    const ScopedDevice scope(device_, guest_);
    if (into.space() == Space::device)
        lent_ = into;
    else if (page_locked(into.host()))
        lent_on_host_ = into;
}

std::shared_ptr<SlotMemory> CallersExecutor::callers_memory() const {
    const ScopedDevice scope(device_, guest_);
    return std::make_shared<GuestsMemory>(device_);
}

void CallersExecutor::check_device(const ConstDeviceView& pixels, const std::string& which) const {
    const ScopedDevice scope(device_, guest_);
    check_place(pixels.data, device_, which, "its first byte");
    check_place(last_byte(pixels), device_, which, "its last byte");
}

void CallersExecutor::order_with(const CallersStreams& streams) {
    const ScopedDevice scope(device_, guest_);
    callers_.set(streams);
}

DeviceMemoryOfCaller CallersExecutor::allocate_device(std::size_t bytes, void* stream) {
    const ScopedDevice scope(device_, guest_);
    void* memory = nullptr;
    const auto order = static_cast<cudaStream_t>(stream);
    check_stream(order);
    if (const cudaError_t status = cudaMallocAsync(&memory, bytes, order); status != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        if (status != cudaErrorMemoryAllocation) // an invalid stream or a lost device
            check(status, "cudaMallocAsync");
        throw DeviceError("No room for " + size_text(bytes) +
                          " in the GPU's memory; free what is no longer needed, or give an output.");
    }
    const auto known = std::make_shared<std::atomic<bool>>(true);
    const auto give_back = [device = device_, order, known](void* given) {
        try {
            const ScopedDevice there(device, true);
            if (*known) {
                log_failure(cudaFreeAsync(given, order), "cudaFreeAsync");
                return;
            }
            log_failure(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            log_failure(cudaFree(given), "cudaFree");
        } catch (const std::exception&) { // the device is lost, including its memory
        }
    };
    return {.data = std::shared_ptr<void>(memory, give_back),
            .device = device_,
            .order = order_on(device_),
            .forget_stream = [known] { *known = false; }};
}

} // namespace specklescope::cuda
