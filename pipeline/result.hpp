// What the executor makes of a frame, and the mailbox that holds the newest.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/regions/regions.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <string_view>

namespace specklescope {

struct StageTiming {
    std::string_view
        name; ///< static: a stage's registered name, "upload", "convert", "saturation", "regions" …
    double ms = 0;
    int stage = -1; ///< place in the chain; −1: no stage of it
};

struct Timings {
    static constexpr std::size_t kCapacity = 2 * kMaxStages + 5;
    std::array<StageTiming, kCapacity> entries{};
    std::size_t count = 0;
    void add(std::string_view name, double ms, int stage = -1) {
        if (count < kCapacity)
            entries[count++] = {name, ms, stage};
    }
};

/// What the stages chose, one text a stage of the chain; empty where there is nothing to say.
using StageNotes = std::vector<std::string>;

/// Memory of a device that a result leaves the executor in: the holder's as long as a handle is held, also
/// when the executor has ended. Any thread.
class ResultMemory {
public:
    virtual ~ResultMemory() = default;
    virtual int device() const = 0; ///< in CUDA's order
    /// It goes to somebody with streams of his own: unless used_on() names them, it is written again behind
    /// what the default stream holds at its end.
    virtual void give() = 0;
    /// It is written again behind what this stream (cudaStream_t) holds now, and behind any named before.
    /// Throws UsageError where it is none of that device.
    virtual void used_on(void* stream) = 0;
};

/// Cheap to copy: pixels are shared.
struct Result {
    Frame raw;                            ///< what the source gave, on the host
    Frame image;                          ///< the result on the host; empty if no one asked for host pixels
    Frame device_image;                   ///< the result on the device; empty on the host backend
    std::shared_ptr<ResultMemory> memory; ///< of device_image; null: a slot of the executor's
    FrameInfo info;                       ///< raw's, with the parameter version that made the result
    std::shared_ptr<const Chain> chain;   ///< the parameters that made it
    Quantity quantity;
    Exposure exposure; ///< that the numbers rest on: exposure_used()
    PixelCounts counts;
    std::shared_ptr<const RegionValues> regions; ///< null: none are set
    bool to_grey = false;                        ///< a stage got of colour what the chain's channel() says
    Warmup warmup;          ///< of the first stage that still fills its history; done() when none does
    std::uint64_t seek = 0; ///< the number of the seek that it came behind (Pipeline::seek); 0: of none
    std::shared_ptr<const StageNotes> notes; ///< may be null
    Timings timings; ///< empty where the frame was not timed: with CUDA about 100 a second are
    SteadyClock::time_point ready{}; ///< when it could have been shown
    bool repeated =
        false; ///< the same frame again, after an edit while paused: for the eye only, not for recorders

    /// Made while a stage filled its history or took a capture: now, or when what is played back was
    /// recorded.
    bool warming_up() const { return !warmup.done() || info.recorded_in_warmup; }
    const Shape& shape() const { return image ? image.shape() : device_image.shape(); }
};

/// All that is not pixels, timings and notes: for a sink that writes lines of it later.
Result without_pixels(const Result& result);

/// "red": what grey stages got of colour; empty where none got any.
std::string grey_channel_of(const Result& result);

/// Newest wins; never blocks the one who posts for longer than a copy of handles.
class Mailbox {
public:
    void post(Result result);
    /// The newest result not yet taken; false if there is none.
    bool take(Result& out);
    void clear();
    /// Called (from the posting thread) after each post; used to wake an event loop. Set before start.
    void on_post(void (*notify)()) { notify_ = notify; }
    std::uint64_t replaced() const; ///< results overwritten before anyone took them

private:
    mutable std::mutex mutex_;
    Result newest_;
    bool fresh_ = false;
    std::uint64_t replaced_ = 0;
    void (*notify_)() = nullptr;
};

} // namespace specklescope
