// Owners of CUDA objects, and error checks. For .cu files and cuda/ only; the rest of the program uses
// devices.hpp.
#pragma once

#include "base/error.hpp"
#include "pipeline/frame.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::cuda {

/// Throws RunError naming the call and CUDA's error text. Active in every build.
void check(cudaError_t status, const char* call);
/// The same for destructors: logs the error instead.
void log_failure(cudaError_t status, const char* call) noexcept;

/// Call after a kernel launch.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

/// Alignment of rows in device images in bytes (also used by FrameRing and image()): kernels load 16 bytes at
/// once.
inline constexpr std::size_t kRowAlignment = 256;

/// Value for __launch_bounds__, at most `wanted`: a multiprocessor of compute capability 7.5 holds 1024
/// threads.
constexpr int blocks_held(int threads, int wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    constexpr int kMost = 1024;
#else
    constexpr int kMost = 2048;
#endif
    return wanted * threads > kMost ? kMost / threads : wanted;
}

class Stream {
public:
    Stream();
    ~Stream();
    Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }
    cudaStream_t get() const { return stream_; }
    void synchronize() const;

private:
    cudaStream_t stream_ = nullptr;
};

class Event {
public:
    enum class Use : std::uint8_t {
        timing,   ///< records the time. Costs the copy engine 1.4 µs between two copies
        ordering, ///< makes another stream wait; almost free
        waiting,  ///< like ordering; synchronize() puts the thread to sleep instead of spinning
    };
    explicit Event(Use use = Use::timing);
    ~Event();
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(event_, other.event_);
        return *this;
    }
    cudaEvent_t get() const { return event_; }
    void record(const Stream& stream) const;
    /// Later work on `stream` waits for this event.
    void hold(const Stream& stream) const;
    bool done() const;
    void synchronize() const;
    /// Milliseconds since `start`; both must be timing events and complete.
    double ms_since(const Event& start) const;

private:
    cudaEvent_t event_ = nullptr;
};

/// Bytes from a SlotMemory, released on destruction.
class Buffer {
public:
    Buffer() = default;
    Buffer(std::size_t bytes, std::shared_ptr<SlotMemory> memory);
    ~Buffer();
    Buffer(Buffer&& other) noexcept
        : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(data_, other.data_);
        return *this;
    }
    template <class T> T* as() const { return static_cast<T*>(data_); }

private:
    std::shared_ptr<SlotMemory> memory_;
    void* data_ = nullptr;
};

/// Memory of the current device, and page-locked host memory for its copy engines. Any thread may release
/// both.
std::shared_ptr<SlotMemory> device_memory();
std::shared_ptr<SlotMemory> page_locked_memory();

/// Makes `index` the calling thread's device. Throws RunError "No CUDA device can be used: …" with the
/// reason.
cudaDeviceProp use_device(int index);

/// Device memory with a copy of these values (empty for none), valid for all streams: a plain cudaMemcpy may
/// return while pageable memory is still being transferred, and the frames' streams do not wait for the
/// default stream.
Buffer uploaded(const void* values, std::size_t bytes);
template <class T> Buffer uploaded(const std::vector<T>& values) {
    return uploaded(values.data(), values.size() * sizeof(T));
}

} // namespace specklescope::cuda
