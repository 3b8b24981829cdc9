// Frames: counted handles on slots of a ring that is allocated once. A slot is never refilled while anyone
// holds it.
#pragma once

#include "pipeline/image.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace specklescope {

using SteadyClock = std::chrono::steady_clock;

/// Who says how long a frame was exposed.
enum class ExposureOrigin : std::uint8_t {
    unknown,
    camera,
    file,
    parameter, ///< the user, by a stage's parameter
    assumed    ///< nobody: a stage's default
};
/// "unknown", "camera", "file", "parameter", "default".
const char* to_string(ExposureOrigin origin);

/// Who states when a frame was taken.
enum class TimeOrigin : std::uint8_t {
    source,    ///< a camera, a file, a simulated scene
    parameter, ///< the user, by the rate of a file
    none       ///< nobody: capture_ns counts frames, one a second, and no number in seconds rests on it
};
/// "source", "parameter", "none".
const char* to_string(TimeOrigin origin);

/// What the values of a picture are, as far as anyone has said. All are taken as proportional to light.
enum class Light : std::uint8_t {
    counts,  ///< of a camera, or of who knows what: as they came
    decoded, ///< a picture made for a display, as the light that it stands for; its white is at full scale
    radiance ///< light of a scene: a picture of high dynamic range, which has no white
};
/// "counts", "decoded", "radiance".
const char* to_string(Light light);

/// Facts that neither the source nor the user states, and that numbers of a frame rest on.
struct Assumptions {
    bool full_scale = false; ///< estimated from the samples
    bool range = false;      ///< of video: 16…235
    bool matrix = false;     ///< of video: BT.601 or BT.709, by the number of rows
    bool coding = false;     ///< of an image: sRGB
    bool any() const { return full_scale || range || matrix || coding; }
    bool operator==(const Assumptions&) const = default;
};
/// "full scale, video range"; empty if nothing is assumed.
std::string to_string(const Assumptions& assumed);
/// The inverse; unknown names are ignored.
Assumptions parse_assumptions(std::string_view text);

/// What needs a word beside the picture. Pixels of colour count by any of their channels. A stage adds to the
/// first three; the executor makes of them, and of the raw frame, what belongs to a result.
struct PixelCounts {
    std::uint64_t undefined = 0; ///< pixels of the final image that are NaN: mean 0
    std::uint64_t infinite = 0;  ///< … that are ±infinity: variance 0 with mean > 0
    /// Windows with a sample at full scale, as the last stage saw them that looked; kept through any behind
    /// it.
    std::uint64_t saturated = 0;
    std::uint64_t windows = 0;       ///< that this stage looked at; 0: none looked, or there is no full scale
    std::uint64_t raw_saturated = 0; ///< samples of the raw frame at full scale
    std::uint64_t raw_samples = 0;   ///< all of them; 0: they have no full scale
    bool operator==(const PixelCounts&) const = default;
};

/// What travels with the pixels to every sink.
struct FrameInfo {
    std::uint64_t sequence = 0;                  ///< counts what the source produced, drops included
    std::optional<std::uint64_t> position{};     ///< of the frame in its file, from 0; nothing: of no file
    std::int64_t capture_ns = 0;                 ///< capture time on the source's clock, ns
    TimeOrigin time_origin = TimeOrigin::source; ///< of capture_ns
    bool has_time() const { return time_origin != TimeOrigin::none; }
    SteadyClock::time_point arrival{};                             ///< when the pixels were complete here
    double exposure_ms = std::numeric_limits<double>::quiet_NaN(); ///< as the source reports it; NaN: unknown
    /// Of exposure_ms: unknown, camera or file. Where a source leaves it, a live one's is the camera's and
    /// any other's is the file's.
    ExposureOrigin exposure_origin = ExposureOrigin::unknown;
    /// As the source reports it, in the camera's unit; NaN: unknown.
    double gain = std::numeric_limits<double>::quiet_NaN();
    double full_scale = 0; ///< largest value the camera can give; 0: none (f32)
    Light light = Light::counts;
    Assumptions assumed{};
    std::uint64_t version = 0; ///< parameter version that made a result
    /// Of a frame that is played back, as it was counted when it was recorded; else 0. What cannot be counted
    /// again in what was recorded is taken from here (counts_of()).
    PixelCounts recorded{};
    /// The first frame after an opening, a seek or the end of a loop: it does not follow the one before it.
    bool discontinuity = false;
    /// Of a frame that is played back: it was recorded while a stage filled its history or took a capture.
    bool recorded_in_warmup = false;
};

/// Where slots live. Implementations: aligned host memory (here), page-locked and device memory (cuda/).
class SlotMemory {
public:
    virtual ~SlotMemory() = default;
    virtual void*
    allocate(std::size_t bytes) = 0; ///< throws RunError with the number of bytes when there is no room
    virtual void release(void* memory) noexcept = 0;
    virtual Space space() const = 0;
    virtual bool page_locked() const = 0;
};
std::shared_ptr<SlotMemory> host_memory();

namespace detail {
struct RingState;
struct Slot;
} // namespace detail

/// Counted handle on one slot. Copies share it; the last one gone returns the slot to its ring. The ring's
/// memory outlives the FrameRing object for as long as any handle exists.
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
    /// Made by LentSlot::frame: its pixels were written here by others, not copied.
    bool lent() const;
    /// Pixels. Only whoever acquired the frame writes, and only before handing it on.
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

/// A frame on pixels of somebody else, rows as far apart as they are there: nothing is copied, and no slot is
/// taken. They stay where they are until the last handle is gone, which lets go of `owner`.
Frame borrowed_frame(const HostView& pixels, std::shared_ptr<void> owner = nullptr);

/// A slot in the hands of others, who fill it on their own threads (a driver, a decoder). It goes home when
/// this object ends, whether it became a frame or not.
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
    /// The slot as a frame; once at most. `owner` keeps this object alive and is held by the frame's handles:
    /// the last one gone lets go of it.
    Frame frame(std::shared_ptr<void> owner) const;

private:
    friend class FrameRing;
    explicit LentSlot(detail::Slot* slot) : slot_(slot) {}
    detail::Slot* slot_ = nullptr;
};

/// Bytes from one row of a slot to the next: rows start on 64 bytes (host) or 256 bytes (device).
std::size_t slot_pitch(const Shape& shape, Space space);

/// A fixed number of equal slots. Taking one is safe from any thread.
class FrameRing {
public:
    /// Throws RunError when the memory cannot be had. Rows lie slot_pitch() apart.
    FrameRing(const Shape& shape, int slots, const std::shared_ptr<SlotMemory>& memory);
    ~FrameRing();
    FrameRing(FrameRing&&) noexcept = default;
    FrameRing& operator=(FrameRing&&) noexcept = default;

    /// An empty frame when every slot is held; never waits.
    Frame try_acquire();
    /// Waits up to `timeout`; an empty frame when none came free.
    Frame acquire(std::chrono::milliseconds timeout);
    /// As acquire(), for those who fill it elsewhere.
    LentSlot lend(std::chrono::milliseconds timeout);

    const Shape& shape() const;
    int slots() const;
    int free_slots() const;

private:
    std::shared_ptr<detail::RingState> state_;
};

/// One on show, one in the mailbox, one kept for edits, one coming in, two in work: with fewer the flow
/// stands still.
inline constexpr int kMinSlots = 6;

/// 16 slots, fewer for large frames (about `budget` bytes in all), never fewer than kMinSlots.
int default_slots(const Shape& shape, std::size_t budget = std::size_t{512} << 20);

} // namespace specklescope
