// Device memory and streams of a caller of the library.
#pragma once

#include "cuda/device.hpp"
#include "pipeline/executor.hpp"

#include <array>

namespace specklescope::cuda {

/// For guests: restores the thread's current device on destruction.
class DeviceRestorer {
public:
    explicit DeviceRestorer(bool guest);
    ~DeviceRestorer();
    DeviceRestorer(const DeviceRestorer&) = delete;
    DeviceRestorer& operator=(const DeviceRestorer&) = delete;

private:
    int before_ = -1; ///< −1: nothing to restore
};

/// Makes `device` the thread's current device for its lifetime, for calls of guests.
class ScopedDevice {
public:
    ScopedDevice(int device, bool guest) : before_(guest) { check(cudaSetDevice(device), "cudaSetDevice"); }

private:
    DeviceRestorer before_;
};

/// Copies long rows one by one, so that padding is not transferred; the copy engines handle both forms. For a
/// caller's memory (`ours` false) the space between rows is not written.
template <Space To, Space From, class Byte>
void copy_rows(const BasicImageView<To, std::byte>& to, const BasicImageView<From, Byte>& from,
               cudaMemcpyKind kind, const Stream& stream, bool ours = To != From) {
    constexpr std::size_t kLongRow = 2048; // bytes, an estimate
    const Shape& shape = from.shape;
    const auto rows = static_cast<std::size_t>(shape.height);
    const bool padded = to.pitch != shape.row_bytes();
    if (to.pitch == from.pitch && (!padded || (ours && shape.row_bytes() < kLongRow)))
        check(cudaMemcpyAsync(to.data, from.data, to.pitch * (rows - 1) + shape.row_bytes(), kind,
                              stream.get()),
              "cudaMemcpyAsync");
    else
        check(cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, shape.row_bytes(), rows, kind,
                                stream.get()),
              "cudaMemcpy2DAsync");
}

/// True if kernels can access it directly. They read and write up to 32 bytes of a row at once, aligned to
/// 16: our images have padding there, a caller's memory may not.
bool fits_kernels(const ConstDeviceView& pixels);

/// Throws UsageError for streams of callers that are invalid or being captured into a graph.
void check_stream(cudaStream_t stream);
/// Records the event on the stream. Throws UsageError if they belong to different devices.
void record_on(const Event& event, cudaStream_t stream);

/// Orders one frame with the work of its caller on the device.
class CallersOrder {
public:
    /// Throws UsageError if a stream cannot be waited for.
    void set(const CallersStreams& streams);
    void forget() noexcept { count_ = 0; }
    bool any() const { return count_ > 0; }
    /// `stream` waits for the work queued on the caller's streams.
    void hold(const Stream& stream) const;
    /// The caller's streams wait for `done`; call set() again for each frame.
    void release(const Event& done);

private:
    std::array<cudaStream_t, 2> streams_{};
    std::array<Event, 2> reached_{Event(Event::Use::ordering), Event(Event::Use::ordering)};
    std::size_t count_ = 0;
};

/// Base of device executors for callers with device memory. Must be constructed with its device current,
/// which it selects first.
class CallersExecutor : public Executor {
public:
    CallersExecutor(int device, bool guest);
    std::string device_name() const final { return name_; }
    void lend_result(const Frame& into) final;
    std::shared_ptr<SlotMemory> callers_memory() const final;
    void check_device(const ConstDeviceView& pixels, const std::string& which) const final;
    void order_with(const CallersStreams& streams) final;
    void forget_caller() noexcept final {
        lent_.reset();
        lent_on_host_.reset();
        callers_.forget();
    }
    DeviceMemoryOfCaller allocate_device(std::size_t bytes, void* stream) final;

protected:
    const int device_;
    const bool guest_;
    const std::string name_;
    Frame lent_;           ///< destination of the next result; empty: a slot
    Frame lent_on_host_;   ///< its download destination, page-locked; empty: a slot
    CallersOrder callers_; ///< for the next submit
};

} // namespace specklescope::cuda
