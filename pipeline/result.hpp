// Result of the chain for one frame, and the mailbox that holds the newest one.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/regions/regions.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct StageTiming {
    /// static: a registered stage name, "upload", "convert", "saturation", "regions" …
    std::string_view name;
    double ms = 0;
    int stage = -1; ///< place in the chain; −1: not a stage
};

using Timings = std::vector<StageTiming>;

/// Choices made by the stages, one text per stage of the chain, empty without one.
using StageNotes = std::vector<std::string>;

/// Device memory of a result that is passed to a caller. Valid while a handle exists, also after the executor
/// has ended. Any thread.
class ResultMemory {
public:
    virtual ~ResultMemory() = default;
    virtual int device() const = 0; ///< CUDA device index
    /// Passes the memory to a caller with own streams. Unless used_on() names them, it is reused after the
    /// work that the default stream holds at release.
    virtual void give() = 0;
    /// Reuse waits for the work that this stream (cudaStream_t) holds now, besides that of earlier calls.
    /// Throws UsageError if the stream belongs to another device.
    virtual void used_on(void* stream) = 0;
};

/// A further image of a stage (StageType::also), as a Result has its image.
struct NamedImage {
    std::string name;
    Quantity quantity;
    Frame image, device_image; ///< f32, one channel
    PixelCounts counts;
    std::shared_ptr<const RegionValues>
        regions;                        ///< null: none, or the image has not the size of the last one
    std::shared_ptr<const Chain> chain; ///< the stages that made it
    Warmup warmup;                      ///< of the first of them that is not complete
};

/// Cheap to copy: pixels are shared.
struct Result {
    Frame raw;                            ///< the source's frame, on the host
    Frame image;                          ///< the result on the host; empty unless host pixels were requested
    Frame device_image;                   ///< the result on the device; empty on the host backend
    std::shared_ptr<ResultMemory> memory; ///< of device_image; null: a slot of the executor
    FrameInfo info;                       ///< of raw, with the parameter version of the result
    std::shared_ptr<const Chain> chain;   ///< the parameters that made it
    Quantity quantity;
    Exposure exposure; ///< from exposure_used()
    PixelCounts counts;
    std::shared_ptr<const RegionValues> regions; ///< null: none are set
    bool to_grey = false;                        ///< a stage got the grey channel() of a colour image
    Warmup warmup;                           ///< of the first stage that is not complete; done() if all are
    std::uint64_t seek = 0;                  ///< number of the last seek before it (Pipeline::seek); 0: none
    std::shared_ptr<const StageNotes> notes; ///< may be null
    std::shared_ptr<const std::vector<NamedImage>> also; ///< null: none
    Timings timings; ///< empty if the frame was not timed: with CUDA about 100 frames per second are
    SteadyClock::time_point ready{}; ///< when the result was ready for display
    bool repeated = false; ///< computed again after an edit while paused: for display, not for recorders

    /// Takes what the stages found or changed; `last`: after the last of them.
    void describe(const Chain& stages, const FrameInfo& last);
    /// Made during a warm-up or a capture, now or when the played-back frame was recorded.
    bool warming_up() const { return !warmup.done() || info.recorded_in_warmup; }
    const Shape& shape() const { return image ? image.shape() : device_image.shape(); }
};

/// The further image `name` as a result of its own; nothing if the result has none of this name.
std::optional<Result> named_result(const Result& result, std::string_view name);

/// The result without pixels, timings and notes, for a sink that writes text later.
Result without_pixels(const Result& result);
std::shared_ptr<const std::vector<NamedImage>>
without_pixels(const std::shared_ptr<const std::vector<NamedImage>>& also);

/// "red": grey channel used by a stage; empty if none was.
std::string grey_channel_of(const Result& result);

/// Holds the newest result. post() only blocks for a copy of handles.
class Mailbox {
public:
    void post(Result result);
    /// Takes the newest result; false if it was taken already.
    bool take(Result& out);
    void clear();
    /// Called on the posting thread after each post, to wake an event loop. Set before start.
    void on_post(void (*notify)()) { notify_ = notify; }
    std::uint64_t replaced() const; ///< results overwritten before they were taken

private:
    mutable std::mutex mutex_;
    Result newest_;
    bool fresh_ = false;
    std::uint64_t replaced_ = 0;
    void (*notify_)() = nullptr;
};

} // namespace specklescope
