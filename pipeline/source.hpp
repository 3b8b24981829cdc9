// Where frames come from. A source fills slots that the pipeline lends it; it never owns frame memory.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/param.hpp"
#include "pipeline/quantity.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Frames/s that a source may be asked for, where it is not 0: one in 32 years at least, so that the time
/// from one to the next is a number of ns.
inline constexpr double kMinRate = 1e-9;
inline constexpr double kMaxRate = 100000;

/// Known once a source is open; the shape may still change from frame to frame.
struct SourceInfo {
    std::string name; ///< what the user would call it: file name, camera model and serial
    Shape shape;
    double full_scale = 0;                       ///< 255, 4095, …; 0 for f32
    double rate = 0;                             ///< nominal frames/s; 0 if unknown
    TimeOrigin time_origin = TimeOrigin::source; ///< of the capture times of its frames
    std::uint64_t frames = 0;                    ///< how many there are; 0 if unknown or endless
    int lends = 0;        ///< slots that it will ask FramePort::ring for beyond the pipeline's
    bool live = false;    ///< live sources drop when no slot is free, files wait
    bool patient = false; ///< live, and its silence is no failure: it waits for triggers
    /// Whose clock capture times are of, where it is not this machine's: "camera", "camera, PTP Slave".
    std::string clock{};
    std::string lossy{};  ///< codec that has changed the pixels, "H.264"; empty: none is known
    std::string coding{}; ///< how pictures were coded and who says so: "sRGB (its sRGB chunk)"; empty: none
    /// Of what is played back, when the first recording of it began ("2026-11-22T23:04:05Z"); empty where its
    /// file does not say. Nothing: it is being taken now.
    std::optional<std::string> started{};
    double um_per_px = 0; ///< µm a side of a pixel, where what is played back says it; 0: unknown
    /// Of its pixels: intensities, unless what is played back are results that say what they are.
    Quantity quantity{};
    bool seekable = false;    ///< Source::seek() works
    std::uint64_t length = 0; ///< Source::length()
};

/// Lent to Source::next by the acquisition thread.
class FramePort {
public:
    virtual ~FramePort() = default;
    /// A slot of this shape to fill, or an empty frame: then the incoming frame is to be thrown away (a live
    /// source found no free slot; already counted) or the pipeline is stopping.
    virtual Frame acquire(const Shape& shape) = 0;
    /// The ring behind acquire(), with at least `more` slots than the pipeline itself needs, for a source
    /// whose frames are written on other threads: those take slots with FrameRing::lend, never more than
    /// `more` at a time that are not frames yet. Null where there is no room for a ring of this shape now.
    virtual std::shared_ptr<FrameRing> ring(const Shape& shape, int more) = 0;
    /// The frame submitted next had to be copied into its slot, because `why`: for the statistics.
    virtual void copied(std::string_view why) = 0;
    /// Hands a filled frame on. The source has set info().capture_ns, exposure_ms and full_scale, a file
    /// position too; the port sets sequence and arrival.
    virtual void submit(Frame frame) = 0;
    /// Frames that the source knows were lost before they reached us (camera or network); they leave a gap in
    /// the sequence numbers. `why`: for the statistics; empty where it does not know.
    virtual void lost(std::uint64_t frames, std::string_view why) = 0;
    /// The next frame submitted does not follow the last one: after a seek, or at the start of a new round.
    virtual void discontinuity() = 0;
    virtual bool stopping() const = 0;
};

class Source {
public:
    /// end: all that the source was asked for is delivered; it is not opened again. One that was cut off
    /// throws.
    enum class Status : std::uint8_t { frame, idle, end };

    virtual ~Source() = default;
    /// Opens; called on the acquisition thread's behalf before it starts, and again after close() when a live
    /// source is reopened. Throws UsageError (bad option) or RunError (missing file, no such camera).
    virtual SourceInfo open() = 0;
    /// Whether what open() tells may be another quantity than intensities.
    virtual bool may_hold_results() const { return false; }
    /// Delivers at most one frame through the port, waiting no longer than about 100 ms (idle: nothing came).
    /// Throws RunError when the source broke: a live one is then reopened, a file ends the run.
    virtual Status next(FramePort& port) = 0;
    /// Frames of one round, which seek() reaches, as far as is known now: a file may have grown since it was
    /// opened. 0: unknown, or there is no end.
    virtual std::uint64_t length() { return 0; }
    /// The next frame delivered will be number `frame` of the file, counted from 0; also after the end. That
    /// one and those up to `at_once` behind it are due at once. Throws UsageError where there is no such
    /// frame or none can be chosen, and goes on as if it had not been asked; RunError where the file cannot
    /// be read.
    virtual void seek(std::uint64_t frame, std::uint64_t at_once);
    /// Must be safe to call at any time after open(), also twice; never waits long for a dead camera.
    virtual void close() = 0;
    /// Applies an edit between two frames; throws UsageError and keeps the old value.
    virtual void set(std::string_view name, const ParamValue& value);
    /// Frames come at this rate (frames/s) where neither the user nor the file says one; no capture time
    /// rests on it.
    virtual void pace(double rate) { set("rate", rate); }
    /// Called between two frames when the first recorder is there to take them, and when the last has gone.
    virtual void recording(bool /*on*/) {}
    /// Declared options with their present values; table() may be null if it has none.
    const Params& params() const { return params_; }

protected:
    Params params_;
};

/// Throws UsageError where the frames of `source` have no times. `what`: needs seconds, "record_seconds".
void need_seconds(const SourceInfo& source, const std::string& what);

/// For Source::seek(): the sentence for a frame that `name`, which has `length` of them, does not have.
[[noreturn]] void refuse_frame(const std::string& name, std::uint64_t frame, std::uint64_t length);

} // namespace specklescope
