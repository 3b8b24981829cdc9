// Frames: reference-counted handles on slots of a ring that is allocated once. A slot is never refilled while
// a handle exists.
#pragma once

#include "pipeline/image.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// Kind of quantity, for the stages that follow.
enum class Measure : std::uint8_t {
    intensity, ///< of the source, also filtered
    contrast,  ///< K
    contrast2, ///< K²
    time,      ///< proportional to K²: a correlation time
    flow,      ///< proportional to 1/K²: a flow index
    other      ///< none of these
};
/// "contrast2"; used in recordings.
std::string_view to_string(Measure measure);
/// `other` for an unknown name.
Measure measure_named(std::string_view name);

/// For axes, colour bars and file metadata.
struct Quantity {
    std::string name = "intensity"; ///< "speckle flow index"
    std::string symbol = "I";       ///< "SFI"
    std::string unit = "DN";        ///< "1/s"; "1" for a pure number
    Measure measure = Measure::intensity;
    double speckles =
        0; ///< for StageType::settle: effective number of independent speckles in a sample; 0: unknown
    bool operator==(const Quantity&) const = default;
};

using SteadyClock = std::chrono::steady_clock;

/// Origin of a frame's exposure time.
enum class ExposureOrigin : std::uint8_t {
    unknown,
    camera,
    file,
    parameter, ///< the user, by a stage's parameter
    assumed    ///< default of a stage
};
/// "unknown", "camera", "file", "parameter", "default".
const char* to_string(ExposureOrigin origin);

/// Origin of a frame's capture time.
enum class TimeOrigin : std::uint8_t {
    source,    ///< a camera, a file, a simulated scene
    parameter, ///< the user, by the rate of a file
    none       ///< unknown: capture_ns counts frames, one per second; no result in seconds may use it
};
/// "source", "parameter", "none".
const char* to_string(TimeOrigin origin);

/// Coding of an image's values, as far as known. All are taken as proportional to light.
enum class Light : std::uint8_t {
    counts,  ///< sensor counts or unknown coding; not decoded
    decoded, ///< a display image, decoded to light; white is at full scale
    radiance ///< light of a scene (high dynamic range); has no white
};
/// "counts", "decoded", "radiance".
const char* to_string(Light light);

/// Facts that numbers of a frame depend on but that neither the source nor the user states.
struct Assumptions {
    bool full_scale = false; ///< estimated from the samples
    bool range = false;      ///< of video: assumed to be 16…235
    bool matrix = false;     ///< of video: BT.601 or BT.709, chosen by the number of rows
    bool coding = false;     ///< of an image: assumed to be sRGB
    bool any() const { return full_scale || range || matrix || coding; }
    bool operator==(const Assumptions&) const = default;
};
/// "full scale, video range"; empty if nothing is assumed.
std::string to_string(const Assumptions& assumed);
/// The inverse; unknown names are ignored.
Assumptions parse_assumptions(std::string_view text);

/// Counts shown next to the image. A colour pixel counts if any channel does. Stages add to the first three;
/// the executor combines them with the raw frame's.
struct PixelCounts {
    std::uint64_t undefined = 0; ///< pixels of the final image that are NaN: mean 0
    std::uint64_t infinite = 0;  ///< … that are ±infinity: variance 0 with mean > 0
    /// Windows with a sample at full scale, from the last stage that looked; later stages keep them.
    std::uint64_t saturated = 0;
    std::uint64_t windows = 0;       ///< windows that this stage examined; 0: none, or there is no full scale
    std::uint64_t raw_saturated = 0; ///< samples of the raw frame at full scale
    std::uint64_t raw_samples = 0;   ///< all samples of the raw frame; 0: no full scale
    bool operator==(const PixelCounts&) const = default;
};

/// Motion of the scene against a reference, as measured by a stage.
struct FrameMotion {
    /// px, positive: the scene moved to the right or downwards; NaN: not found
    double x = std::numeric_limits<double>::quiet_NaN(), y = std::numeric_limits<double>::quiet_NaN();
    bool moved = false;    ///< the frame was moved back
    bool left_out = false; ///< windows of later stages do not take this frame
};

/// Data that accompanies the pixels to every sink.
struct FrameInfo {
    std::uint64_t sequence = 0;              ///< counts the frames of the source, drops included
    std::optional<std::uint64_t> position{}; ///< frame number in its file, from 0; nothing: not from a file
    std::int64_t capture_ns = 0;             ///< capture time on the source's clock, ns
    TimeOrigin time_origin = TimeOrigin::source; ///< of capture_ns
    /// Time in the file since its first frame, ns, independent of what was played before: by the file's
    /// times, its rate or, without both, one second per frame. Nothing: not from a file.
    std::optional<std::int64_t> film_ns{};
    bool has_time() const { return time_origin != TimeOrigin::none; }
    SteadyClock::time_point arrival{}; ///< when the pixels were complete in host memory
    /// as reported by the source; NaN: unknown
    double exposure_ms = std::numeric_limits<double>::quiet_NaN();
    /// Origin of exposure_ms: unknown, camera or file. If the source leaves it unknown: camera for live
    /// sources, file for others.
    ExposureOrigin exposure_origin = ExposureOrigin::unknown;
    /// As reported by the source, in the camera's unit; NaN: unknown.
    double gain = std::numeric_limits<double>::quiet_NaN();
    double full_scale = 0; ///< largest value of the camera; 0: none (f32)
    Light light = Light::counts;
    Assumptions assumed{};
    std::uint64_t version = 0; ///< parameter version of a result
    /// Counts stored with a frame that is played back; otherwise 0. Used where they cannot be recounted
    /// (counts_of()).
    PixelCounts recorded{};
    /// First frame after an opening, a seek or the end of a loop: it does not follow the previous frame.
    bool discontinuity = false;
    /// The played-back frame was recorded during a warm-up or a capture.
    bool recorded_in_warmup = false;
    std::optional<FrameMotion> motion{}; ///< of a result with a stage that measures it
    /// Number of frames that a stage added up: exposure, black level and noise variance count as often.
    int summed = 1;
    bool summed_integers = false; ///< their samples were integers, each with its rounding error
    bool unfinished = false;      ///< a sum is not complete: the image is the last complete one
    /// Windows of later stages do not take this frame.
    bool left_out() const { return unfinished || (motion && motion->left_out); }
};

/// Memory for slots. Implementations: aligned host memory (here), page-locked and device memory (cuda/).
class SlotMemory {
public:
    virtual ~SlotMemory() = default;
    virtual void* allocate(std::size_t bytes) = 0; ///< throws RunError with the number of bytes
    virtual void release(void* memory) noexcept = 0;
    virtual Space space() const = 0;
};
std::shared_ptr<SlotMemory> host_memory();

namespace detail {
struct RingState;
struct Slot;
} // namespace detail

/// Reference-counted handle on one slot. The last copy to be destroyed releases the slot to its ring. The
/// ring's memory outlives the FrameRing object while any handle exists.
class Frame {
public:
    Frame() = default;
    Frame(const Frame& other) noexcept;
    Frame(Frame&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Frame& operator=(Frame other) noexcept {
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~Frame() { reset(); }

    void reset() noexcept;
    explicit operator bool() const { return slot_ != nullptr; }
    const Shape& shape() const;
    FrameInfo& info() const;
    Space space() const;
    /// True if made by LentSlot::frame: the pixels were written in place, not copied.
    bool lent() const;
    /// True if its slot is the next one of the same ring: their pixels are one block without a gap.
    bool follows(const Frame& before) const;
    /// Pixels. Only the code that acquired the frame may write, and only before passing it on.
    HostView host() const;
    DeviceView device() const;

private:
    friend class FrameRing;
    friend class LentSlot;
    friend Frame borrowed_frame(const HostView& pixels, std::shared_ptr<void> owner);
    friend Frame borrowed_device_frame(const DeviceView& pixels, std::shared_ptr<void> owner);
    explicit Frame(detail::Slot* slot) : slot_(slot) {}
    detail::Slot* slot_ = nullptr;
};

/// A frame on a caller's pixels with their row pitch: nothing is copied and no slot is used. `owner` is
/// released with the last handle; the pixels must stay valid until then.
Frame borrowed_frame(const HostView& pixels, std::shared_ptr<void> owner = nullptr);

/// A slot that others fill on their own threads (a driver, a decoder). It is released when this object is
/// destroyed, unless it became a frame.
class LentSlot {
public:
    LentSlot() = default;
    LentSlot(LentSlot&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    LentSlot& operator=(LentSlot&& other) noexcept {
        std::swap(slot_, other.slot_);
        return *this;
    }
    LentSlot(const LentSlot&) = delete;
    ~LentSlot();

    explicit operator bool() const { return slot_ != nullptr; }
    HostView host() const;
    /// The slot as a frame; call at most once. The frame's handles hold `owner`, which keeps this object
    /// alive and is released with the last handle.
    Frame frame(std::shared_ptr<void> owner) const;

private:
    friend class FrameRing;
    explicit LentSlot(detail::Slot* slot) : slot_(slot) {}
    detail::Slot* slot_ = nullptr;
};

/// Bytes from one row of a slot to the next: rows start on 64 bytes (host) or 256 bytes (device).
std::size_t slot_pitch(const Shape& shape, Space space);

/// A fixed number of equal slots. Any thread may take one.
class FrameRing {
public:
    /// Throws RunError if the memory cannot be allocated. Rows are slot_pitch() apart.
    FrameRing(const Shape& shape, int slots, const std::shared_ptr<SlotMemory>& memory);
    ~FrameRing();
    FrameRing(FrameRing&&) noexcept = default;
    FrameRing& operator=(FrameRing&&) noexcept = default;

    /// Returns an empty frame if all slots are held; never waits.
    Frame try_acquire();
    /// Waits up to `timeout`; an empty frame if no slot was released.
    Frame acquire(std::chrono::milliseconds timeout);
    /// At most `most` frames, while more than `left` slots are free; never waits.
    std::vector<Frame> try_acquire(int most, int left);
    /// acquire() for slots that are filled by others.
    LentSlot lend(std::chrono::milliseconds timeout);

    const Shape& shape() const;
    int slots() const;
    int free_slots() const;

private:
    std::shared_ptr<detail::RingState> state_;
};

/// One displayed, one in the mailbox, one kept for edits, one being filled, two being processed: fewer stall
/// the pipeline.
inline constexpr int kMinSlots = 6;

/// Frames up to this size run whole on one core, several at a time: bands of them would cost more to start
/// than to compute. An estimate between 256×256 and 512×512.
inline constexpr std::size_t kWholePixels = std::size_t{1} << 17;

/// 16 slots, 64 for frames of at most 4 · kWholePixels bytes, fewer for large frames (about `budget` bytes in
/// total), never fewer than kMinSlots.
int default_slots(const Shape& shape, std::size_t budget = std::size_t{512} << 20);

} // namespace specklescope
