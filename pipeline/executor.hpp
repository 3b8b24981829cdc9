// Runs a chain on one backend. Owned and called by the processing thread alone.
#pragma once

#include "base/error.hpp"
#include "pipeline/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// Memory of a device for somebody else; it goes back in the order of the stream that it was made for.
struct DeviceMemoryOfCaller {
    std::shared_ptr<void> data;
    int device = 0;
    /// The second stream goes on behind what the first holds now.
    std::function<void(void*, void*)> order;
    /// `data` goes back when the device has done all that it was given, whatever has become of its stream.
    std::function<void()> forget_stream;
};

/// What histories rest on. Frames of another exposure, gain, full scale or kind of light are never put
/// together.
class FrameBasis {
public:
    /// What differs from the frames before it: "exposure", "gain", "full scale", "kind of light"; empty:
    /// nothing.
    std::string_view change(const FrameInfo& info);

private:
    std::optional<FrameInfo> first_; ///< of the present basis
};

/// As borrowed_frame(), on pixels in memory of a device.
Frame borrowed_device_frame(const DeviceView& pixels, std::shared_ptr<void> owner = nullptr);

/// Two streams of CUDA (cudaStream_t) in whose order somebody else uses memory of a device; they may be one.
/// No value: that side lies on the host.
struct CallersStreams {
    std::optional<void*> of_input, of_output;
};

class Executor {
public:
    virtual ~Executor() = default;
    virtual std::string backend() const = 0;     ///< "cpu" or "cuda"
    virtual std::string device_name() const = 0; ///< "AVX3, 2 threads", "NVIDIA H200"
    /// Memory for the ring of raw frames (page-locked on the device backend).
    virtual std::shared_ptr<SlotMemory> slot_memory() const = 0;

    /// Memory of the host for frames and results of somebody else, whose threads allocate and release it: at
    /// any moment, also when the executor has ended.
    virtual std::shared_ptr<SlotMemory> callers_memory() const { return host_memory(); }

    /// Takes effect for the next submit. Throws UsageError if the chain cannot run on this input shape; then
    /// the old one stays.
    virtual void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) = 0;
    /// `agree` gets the output before a new chain replaces the one in effect on the same input; what it
    /// throws keeps the old chain and its histories. Null: nothing is asked.
    void set_agreement(std::function<void(const Shape& output)> agree) { agree_ = std::move(agree); }
    /// Takes effect for the next submit; null: no regions. Throws UsageError where they are too many
    /// (place_regions()); then the old ones stay. Those that do not fit are marked.
    virtual void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) = 0;
    /// Of results; nothing before prepare() or the first submit.
    virtual std::optional<Shape> output() const = 0;
    /// Makes and warms up what the chain needs for frames of this shape before the first one comes, so that
    /// it is not slower than the others; `want_host` as in submit. Throws UsageError if the chain cannot run
    /// on it.
    virtual void prepare(const Shape& input, bool want_host) = 0;
    /// The result of the next submit goes into this frame where results can be written there and have its
    /// shape, and into memory of the executor's own otherwise: whoever lends it looks whether Result::image
    /// holds it.
    virtual void lend_result(const Frame& /*into*/) {}

    // Memory of a device that somebody else has. Executors of the host refuse it.
    /// Throws UsageError that begins with `which` unless frames may lie there, and results go there.
    virtual void check_device(const ConstDeviceView& /*pixels*/, const std::string& which) const {
        throw UsageError(
            which + " lies in memory of a GPU, and this chain runs on the CPU; copy it to the host, or make "
                    "the chain with backend=cuda where there is a GPU.");
    }
    /// The frame of the next submit, or what lend_result() was given, lies in memory of a device: work on it
    /// begins behind what these streams hold at the submit, and they go on behind it. Nobody waits for that
    /// on the host.
    virtual void order_with(const CallersStreams& /*streams*/) {}
    /// What lend_result() and order_with() were given is of no frame any more, whatever has become of the
    /// device.
    virtual void forget_caller() noexcept {}
    /// In the order of `stream`.
    virtual DeviceMemoryOfCaller allocate_device(std::size_t /*bytes*/, void* /*stream*/) {
        throw UsageError("This chain runs on the CPU and has no memory of a GPU; make it with backend=cuda "
                         "where there is one.");
    }

    /// Begins work on a frame; may return before it is done. Never called with in_flight() == capacity().
    /// Throws UsageError if the chain cannot run on this frame's shape, NoSlot if results are held for too
    /// long (then this frame alone is lost). `want_host`: download the result. `again`: the frame of the last
    /// submit once more, after an edit.
    virtual void submit(Frame frame, bool want_host, bool again = false) = 0;
    /// The oldest result, in order of submission. With `wait` false: nothing if it is not ready yet. Throws
    /// NoSlot in place of a result that submit began elsewhere and that found none.
    virtual std::optional<Result> collect(bool wait) = 0;
    virtual int in_flight() const = 0;
    virtual int capacity() const = 0;
    /// Waits until a submit would find a free slot for its result; false when the time is over.
    virtual bool wait_slot(std::chrono::milliseconds timeout) = 0;

protected:
    std::function<void(const Shape& output)> agree_; ///< set_agreement()
};

/// `threads` 0: all cores.
std::unique_ptr<Executor> make_host_executor(int threads);
/// Makes the executor of a run; may say in `note` (never null) why it is another than the one asked for.
/// Throws RunError with the reason.
using ExecutorMaker = std::function<std::unique_ptr<Executor>(std::string* note)>;

} // namespace specklescope
