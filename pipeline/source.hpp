// Sources of frames. A source fills slots lent by the pipeline; it never owns frame memory.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/param.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Limits of a frame rate in frames/s, where it is not 0; the interval fits into ns.
inline constexpr double kMinRate = 1e-9;
inline constexpr double kMaxRate = 100000;

/// Known once a source is open; the shape may still change from frame to frame.
struct SourceInfo {
    std::string name; ///< for the user: file name, or camera model and serial
    Shape shape;
    double full_scale = 0;                       ///< 255, 4095, …; 0 for f32
    double rate = 0;                             ///< nominal frames/s; 0 if unknown
    TimeOrigin time_origin = TimeOrigin::source; ///< of its frames' capture times
    std::uint64_t frames = 0;                    ///< number of frames; 0 if unknown or endless
    int lends = 0;        ///< slots that it requests with FramePort::ring in addition to the pipeline's
    bool live = false;    ///< live sources drop frames when no slot is free, files wait
    bool patient = false; ///< live, and silence is no failure: it waits for triggers
    /// Clock of the capture times if it is not this machine's: "camera", "camera, PTP Slave".
    std::string clock{};
    std::string lossy{};  ///< lossy codec, "H.264"; empty: none known
    std::string coding{}; ///< coding of the images and its origin: "sRGB (its sRGB chunk)"; empty: none
    double stored_full_scale = 0; ///< of the file's samples, if its coding is undone in the frames; else 0
    /// For playback: start of the original recording ("2026-11-22T23:04:05Z"), empty if unknown. Nothing: a
    /// live recording.
    std::optional<std::string> started{};
    std::string camera{}; ///< for playback: name of the camera that made the recording; empty: unknown
    double um_per_px = 0; ///< side of a pixel in µm, if the played-back file contains it; 0: unknown
    /// Quantity of its pixels: intensities, or the stored quantity of recorded results.
    Quantity quantity{};
    bool seekable = false;    ///< Source::seek() works
    std::uint64_t length = 0; ///< Source::length()
};

/// Interface to the pipeline for Source::next.
class FramePort {
public:
    virtual ~FramePort() = default;
    /// A slot of this shape to fill. An empty frame: discard the incoming frame, since a live source found no
    /// free slot (already counted) or the pipeline is stopping.
    virtual Frame acquire(const Shape& shape) = 0;
    /// The ring of acquire() with at least `more` slots beyond the pipeline's needs, for sources whose frames
    /// are written on other threads. They take slots with FrameRing::lend, at most `more` at a time that are
    /// not frames yet. Null if the memory is not available now.
    virtual std::shared_ptr<FrameRing> ring(const Shape& shape, int more) = 0;
    /// The next submitted frame was copied into its slot because of `why`; for the statistics.
    virtual void copied(std::string_view why) = 0;
    /// Passes a filled frame on. The source sets info().capture_ns, exposure_ms and full_scale, and position
    /// for files; the port sets sequence and arrival.
    virtual void submit(Frame frame) = 0;
    /// Frames lost before they reached us (camera or network); they leave a gap in the sequence numbers.
    /// `why`: for the statistics; empty if unknown.
    virtual void lost(std::uint64_t frames, std::string_view why) = 0;
    /// Frames discarded because the camera may have made them with the exposure before: not lost, and no gap
    /// in the sequence numbers.
    virtual void settling(std::uint64_t /*frames*/) {}
    /// The next submitted frame does not follow the last one: after a seek, or at the start of a new round.
    virtual void discontinuity() = 0;
    virtual bool stopping() const = 0;
};

class Source {
public:
    /// end: all requested frames are delivered; the source is not reopened. A source that was cut off throws.
    enum class Status : std::uint8_t { frame, idle, end };

    virtual ~Source() = default;
    /// Opens the source before the acquisition thread starts, and again after close() when a live source is
    /// reopened. Throws UsageError (bad option) or RunError (missing file, no such camera).
    virtual SourceInfo open() = 0;
    /// True if open() may return another quantity than intensity.
    virtual bool may_hold_results() const { return false; }
    /// Delivers at most one frame through the port and waits at most about 100 ms (idle: none). Throws
    /// RunError when the source broke: a live one is then reopened, a file ends the run.
    virtual Status next(FramePort& port) = 0;
    /// Number of frames that seek() can reach, as far as known now: a file may grow. 0: unknown or endless.
    virtual std::uint64_t length() { return 0; }
    /// The next delivered frame will be number `frame` of the file, counted from 0; also after the end. This
    /// frame and the `at_once` frames after it are due immediately. Throws UsageError, and continues
    /// unchanged, if the frame does not exist or the source cannot seek; RunError if the file cannot be read.
    virtual void seek(std::uint64_t frame, std::uint64_t at_once);
    /// May be called at any time after open(), also twice; never waits long for a dead camera.
    virtual void close() = 0;
    /// Applies an edit between two frames; throws UsageError and keeps the old value.
    virtual void set(std::string_view name, const ParamValue& value);
    /// Sets the playback rate (frames/s) when neither the user nor the file gives one; capture times stay
    /// unknown.
    virtual void pace(double rate) { set("rate", rate); }
    /// Called between two frames when the first recorder is added and when the last is removed.
    virtual void recording(bool /*on*/) {}
    /// Declared options with their current values; table() may be null if it has none.
    const Params& params() const { return params_; }

protected:
    Params params_;
};

/// Throws UsageError if the frames of `source` have no times. `what`: the option that needs seconds,
/// "record_seconds".
void need_seconds(const SourceInfo& source, const std::string& what);

/// For Source::seek(): throws the error for a frame beyond the `length` frames of `name`.
[[noreturn]] void refuse_frame(const std::string& name, std::uint64_t frame, std::uint64_t length);

class TimedFrames {
public:
    TimedFrames() = default;
    TimedFrames(const TimedFrames&) = delete;
    TimedFrames& operator=(const TimedFrames&) = delete;
    virtual ~TimedFrames() = default;
    /// Frame shown `seconds` after the first frame of a file, by the frames' own times; the number of frames
    /// if all end earlier. Nothing if they have no times. Call between Source::open() and the first seek; may
    /// read the whole file, with progress (WorkWatch). Throws RunError.
    virtual std::optional<std::uint64_t> frame_at(double seconds) = 0;

    /// The same for any source.
    template <class Source> static std::optional<std::uint64_t> find(Source& source, double seconds) {
        auto* timed = dynamic_cast<TimedFrames*>(&source);
        return timed ? timed->frame_at(seconds) : std::nullopt;
    }
};

/// Frame shown at this time in a file with a constant rate; throws UsageError if the rate is unknown.
std::uint64_t frame_at(double seconds, const SourceInfo& source);

/// Seeks a newly opened source to frame `from`, or to `seconds` if not 0, and updates the length in `info`.
/// Uses the frames' own times or, without them, the rate (logged). Throws UsageError if there is no such
/// frame.
std::uint64_t begin_at(Source& source, std::uint64_t from, double seconds, SourceInfo& info);

} // namespace specklescope
