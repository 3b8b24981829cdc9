// Runs a chain on one backend. Owned and called only by the processing thread.
#pragma once

#include "base/error.hpp"
#include "pipeline/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// Device memory for a caller, freed in the order of the stream it was allocated for.
struct DeviceMemoryOfCaller {
    std::shared_ptr<void> data;
    int device = 0;
    /// Makes the second stream wait for the work queued on the first.
    std::function<void(void*, void*)> order;
    /// Frees `data` after all device work instead, for a stream that no longer exists.
    std::function<void()> forget_stream;
};

/// Frame properties that the stages' windows depend on. Frames with another exposure, gain, full scale or
/// kind of light are never combined.
class FrameBasis {
public:
    /// Changed property since the previous frames: "exposure", "gain", "full scale", "kind of light"; empty:
    /// none. `chain`: processes the frames; exposures may change if it takes several.
    std::string_view change(const FrameInfo& info, const Chain& chain);

private:
    std::optional<FrameInfo> first_; ///< of the current basis
};

/// borrowed_frame() for pixels in device memory.
Frame borrowed_device_frame(const DeviceView& pixels, std::shared_ptr<void> owner = nullptr);

/// CUDA streams (cudaStream_t) in whose order the caller uses device memory; they may be equal. No value:
/// that side is on the host.
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

    /// Host memory for frames and results of callers. Any thread may allocate and free it at any time, also
    /// after the executor has ended.
    virtual std::shared_ptr<SlotMemory> callers_memory() const { return host_memory(); }

    /// Takes effect for the next submit. Throws UsageError if the chain cannot run on this input shape; the
    /// old chain then stays.
    virtual void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) = 0;
    /// Calls `agree` with the output before a new chain replaces the present one for the same input. If it
    /// throws, the old chain and its histories are kept. Null: no check.
    void set_agreement(std::function<void(const Shape& output)> agree) { agree_ = std::move(agree); }
    /// Takes effect for the next submit; null: no regions. Throws UsageError if there are too many
    /// (place_regions()); the old regions then stay. Regions outside the image are marked.
    virtual void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) = 0;
    /// Shape of results; nothing before prepare() or the first submit.
    virtual std::optional<Shape> output() const = 0;
    /// Allocates and warms up everything for frames of this shape, so that the first frame is as fast as the
    /// others; `want_host` as in submit. Throws UsageError if the chain cannot run on it.
    virtual void prepare(const Shape& input, bool want_host) = 0;
    /// Writes the result of the next submit into this frame if possible and if the shape fits, otherwise into
    /// the executor's memory. Compare Result::image to see which one was used.
    virtual void lend_result(const Frame& /*into*/) {}

    // Device memory of callers. Host executors refuse it.
    /// Throws a UsageError that starts with `which` unless frames and results may lie there.
    virtual void check_device(const ConstDeviceView& /*pixels*/, const std::string& which) const {
        throw UsageError(
            which + " lies in memory of a GPU, and this chain runs on the CPU; copy it to the host, or make "
                    "the chain with backend=cuda where there is a GPU.");
    }
    /// The frame of the next submit, or the frame of lend_result(), is in device memory. Work on it starts
    /// after the work queued on these streams at submit, and their later work follows it. The host does not
    /// wait.
    virtual void order_with(const CallersStreams& /*streams*/) {}
    /// Forgets the frame of lend_result() and the streams of order_with(), also after a device error.
    virtual void forget_caller() noexcept {}
    /// Allocates in the order of `stream`.
    virtual DeviceMemoryOfCaller allocate_device(std::size_t /*bytes*/, void* /*stream*/) {
        throw UsageError("This chain runs on the CPU and has no memory of a GPU; make it with backend=cuda "
                         "where there is one.");
    }

    /// Starts work on a frame, or keeps it until collect() waits, to process the frames kept by then
    /// together; may return before it is done. Never called with in_flight() ≥ capacity(). Throws UsageError
    /// if the chain cannot run on this frame's shape, NoSlot if results are held for too long (only this
    /// frame is lost). `want_host`: download the result. `again`: repeat the frame of the last submit after
    /// an edit.
    virtual void submit(Frame frame, bool want_host, bool again = false) = 0;
    /// Oldest result, in order of submission. With `wait` false: nothing if it is not ready. Throws LostFrame
    /// if a frame that was submitted without an error has no result.
    virtual std::optional<Result> collect(bool wait) = 0;
    virtual int in_flight() const = 0;
    virtual int capacity() const = 0; ///< may be less than in_flight() after an edit
    /// Waits until a slot for the next result is free; false at the timeout.
    virtual bool wait_slot(std::chrono::milliseconds timeout) = 0;

protected:
    std::function<void(const Shape& output)> agree_; ///< set_agreement()
};

/// `threads` 0: all cores.
std::unique_ptr<Executor> make_host_executor(int threads);
/// Makes the executor of a run; may explain a fallback in `note` (never null). Throws RunError with the
/// reason.
using ExecutorMaker = std::function<std::unique_ptr<Executor>(std::string* note)>;

/// For stateless chains only; set_chain() throws UsageError for others, since no member sees every frame.
/// Each member has its own thread. Results on the host have no device image, since those are on different
/// devices. An error names the member; its frames in flight are lost. `members` must not be empty and must
/// have one backend.
std::unique_ptr<Executor> make_round_robin_executor(std::vector<std::unique_ptr<Executor>> members);

/// "all" or "0,2": GPU indices below `count`, without duplicates. Throws UsageError.
std::vector<int> parse_gpus(std::string_view text, int count);

} // namespace specklescope
