// Metadata of our recordings besides the pixels, so that playback has the same meaning as the live run.
#pragma once

#include "pipeline/frame.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// Largest plausible µm per pixel: a pixel of 1 m.
inline constexpr double kMaxUmPerPx = 1e6;
/// Limit of capture times, about 146 years in ns: sums and differences of two do not overflow.
inline constexpr std::int64_t kTooLate = std::int64_t{1} << 62;

/// Metadata of one frame.
struct Recorded {
    double exposure_ms = std::numeric_limits<double>::quiet_NaN(); ///< NaN: unknown
    ExposureOrigin exposure_origin = ExposureOrigin::unknown;      ///< unknown: from the source
    double full_scale = 0;                                         ///< 0: unknown, and for results
    double rate = 0;                                               ///< of the file, frames/s; 0: unknown
    std::optional<std::int64_t> capture_ns;                        ///< on the clock of the recorded source
    bool untimed = false;       ///< of the file: its frames had no times when recorded
    bool foreign = false;       ///< capture_ns is from another program: a rate of the user overrides it
    Assumptions assumed{};      ///< of the file
    std::optional<Light> light; ///< of the file; nothing if not stated
    std::optional<std::uint64_t> sequence; ///< counts the frames of that source, drops included
    std::uint64_t decimated = 0;           ///< decimated frames among the sequence numbers before it
    PixelCounts counts{};                  ///< 0 if not stated
    bool raw = false;                      ///< of the file: its pixels are unprocessed
    bool in_warmup = false;                ///< made during a warm-up or a capture
    double um_per_px = 0;                  ///< of the file, side of a pixel in µm; 0: unknown
    Quantity quantity{};                   ///< of the file's pixels as recorded
    Shape shape{};                         ///< of the first frame; without a width: unknown
    std::string started{}; ///< of the file: start of the original recording, UTC; empty: unknown

    /// For FrameInfo::recorded: empty for raw pixels, which are counted again.
    PixelCounts counts_to_keep() const { return raw ? PixelCounts{} : counts; }
};

/// Quantity of pixels read with this shape: as recorded, unless type or channels differ (a colour image of
/// it).
Quantity quantity_of(const Recorded& file, const Shape& read);

/// Number of frames lost between sequence number `before` and this frame; 0 if either has none, or if the
/// number is implausible.
std::uint64_t lost_between(std::optional<std::uint64_t> before, const Recorded& frame);

/// Reads the JSON texts of a file in order. Texts of other programs leave everything unknown.
class RecordedText {
public:
    /// Description of the file, including its first frame; skips text before the first brace. False if it is
    /// not ours.
    bool begin(std::string_view text);
    /// Description of the next frame.
    void next(std::string_view text);
    /// Sets all that another program states for the current frame.
    void state(Recorded stated);
    /// Sets the time that another program states for the current frame.
    void state_time(std::optional<std::int64_t> capture_ns);
    /// Moves to frame number `index` of a file with all descriptions in one place, such as a video:
    /// everything except the capture time.
    void seek(std::uint64_t index);
    const Recorded& now() const { return now_; }

    // Facts about the file; 0 and empty if not stated.
    bool ours() const { return ours_; }
    /// Invalid values that were ignored so far, each kind once: "more than 2^40 frames lost at once".
    const std::vector<std::string_view>& doubts() const { return doubts_; }
    bool raw() const { return now_.raw; }
    std::uint64_t frames() const { return frames_; } ///< 0 also while it is not finished
    int width() const { return width_; }
    int height() const { return height_; }
    const std::string& format() const { return format_; } ///< of headerless pixels: "gray16le"

private:
    struct Change { ///< from this frame on
        std::uint64_t index = 0, sequence = 0;
        double exposure_ms = 0;
    };
    /// One member of PixelCounts for all frames: values and the frames from which they apply.
    struct Column {
        std::uint64_t PixelCounts::*count = nullptr;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> runs{};
        std::uint64_t frames = 0;
    };
    void doubt(std::string_view what);
    void read_rate(const nlohmann::json& description);
    void read_frame(const nlohmann::json& description);
    void read_columns(const nlohmann::json& columns);
    static Column read_column(const nlohmann::json& runs);
    static std::uint64_t value_at(const Column& column, std::uint64_t index);
    void read_warmups(const nlohmann::json& facts, bool first);
    void seek_counts(std::uint64_t index);
    Recorded now_;
    PixelCounts first_; ///< of the first frame
    bool first_in_warmup_ = false;
    std::vector<Column> columns_;
    Column decimated_;
    std::vector<std::pair<std::uint64_t, bool>>
        warmups_; ///< of a video, in order: warm-up starts or ends with this frame
    std::vector<Change> changes_;
    std::vector<std::string_view> doubts_; ///< static texts
    std::size_t change_ = 0;               ///< the one after the change in effect
    bool ours_ = false;
    std::uint64_t frames_ = 0;
    int width_ = 0, height_ = 0;
    std::string format_;
};

/// Frames per second from the median distance of capture times in ns, each less than kTooLate. 0 with fewer
/// than two times, and for rates above kMaxRate.
double rate_of(const std::vector<std::int64_t>& capture_ns);

} // namespace specklescope
