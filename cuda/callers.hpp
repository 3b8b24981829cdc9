// Memory of a device and streams that belong to somebody else: a caller of the library.
#pragma once

#include "cuda/device.hpp"
#include "pipeline/executor.hpp"

#include <array>

namespace specklescope::cuda {

/// For a guest: the thread's current device, which is that again at the end.
class GivenBack {
public:
    explicit GivenBack(bool guest);
    ~GivenBack();
    GivenBack(const GivenBack&) = delete;
    GivenBack& operator=(const GivenBack&) = delete;

private:
    int before_ = -1; ///< −1: nothing is given back
};

/// Makes `device` the thread's, as long as a guest's call lasts.
class DeviceScope {
public:
    DeviceScope(int device, bool guest) : before_(guest) { check(cudaSetDevice(device), "cudaSetDevice"); }

private:
    GivenBack before_;
};

/// Long rows go as rows, so that their padding does not cross the bus; the copy engines take both alike. Of a
/// caller's memory, `ours` false, what lies between rows is not to be written.
template <Space To, Space From, class Byte>
void copy_rows(const BasicImageView<To, std::byte>& to, const BasicImageView<From, Byte>& from,
               cudaMemcpyKind kind, const Stream& stream, bool ours = To != From) {
    constexpr std::size_t kLongRow = 2048; // bytes, a guess
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

/// Kernels can read and write it as it lies. What they read or write of a row at once is up to 32 bytes,
/// aligned to 16: beyond its end lies memory of somebody else here, where our own images have padding.
bool fits_kernels(const ConstDeviceView& pixels);

/// Throws UsageError where a caller's stream cannot be waited for: it is none, or is being captured into a
/// graph.
void check_stream(cudaStream_t stream);
/// What it holds now. Throws UsageError where it is of another device than the event.
void record_on(const Event& event, cudaStream_t stream);

/// The order of one frame among what its caller has on the device.
class CallersOrder {
public:
    /// Throws UsageError where a stream cannot be waited for.
    void set(const CallersStreams& streams);
    void forget() noexcept { count_ = 0; }
    bool any() const { return count_ > 0; }
    /// `stream` waits for what the caller's hold now.
    void hold(const Stream& stream) const;
    /// The caller's streams wait for `done`; each frame sets them anew.
    void release(const Event& done);

private:
    std::array<cudaStream_t, 2> streams_{};
    std::array<Event, 2> reached_{Event(Event::Use::ordering), Event(Event::Use::ordering)};
    std::size_t count_ = 0;
};

/// What an executor of a device owes to callers with memory there. It is made on its device, which it chooses
/// first.
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
    Frame lent_;           ///< where the result of the next submit goes; none: a slot
    Frame lent_on_host_;   ///< where it is downloaded to, page-locked; none: a slot
    CallersOrder callers_; ///< of the next submit
};

} // namespace specklescope::cuda
