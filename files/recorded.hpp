// What a recording of this program says beside its pixels, so that one played back means what it meant live.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/quantity.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// The largest µm per pixel that is taken for one: a pixel of 1 m.
inline constexpr double kMaxUmPerPx = 1e6;
/// Capture times are less than this from 0, about 146 years in ns: sums and differences of two do not
/// overflow.
inline constexpr std::int64_t kTooLate = std::int64_t{1} << 62;

/// Of one frame.
struct Recorded {
    double exposure_ms = std::numeric_limits<double>::quiet_NaN(); ///< NaN: unknown
    ExposureOrigin exposure_origin = ExposureOrigin::unknown;      ///< unknown as well: as the source says
    double full_scale = 0;                                         ///< 0: unknown, and for results
    double rate = 0;                                               ///< of the file, frames/s; 0: unknown
    std::optional<std::int64_t> capture_ns;                        ///< on the clock of the source recorded
    bool untimed = false;  ///< of the file: its frames had no times when they were recorded
    bool foreign = false;  ///< another program states capture_ns: a rate that the user gives overrides it
    Assumptions assumed{}; ///< of the file
    std::optional<Light> light;            ///< of the file; nothing where it does not say
    std::optional<std::uint64_t> sequence; ///< counts what that source produced, drops included
    std::uint64_t left_out = 0; ///< of the sequence numbers before it, those that were not to be recorded
    PixelCounts counts{};       ///< 0 where it does not say
    bool raw = false;           ///< of the file: its pixels are as they came
    bool in_warmup = false;     ///< made while a stage filled its history or took a capture
    double um_per_px = 0;       ///< of the file, µm a side of its pixels; 0: unknown
    Quantity quantity{};        ///< of the file's pixels as they were recorded
    Shape shape{};              ///< of the first of them; without a width: unknown
    std::string started{};      ///< of the file: when the first recording of it began, UTC; empty: unknown

    /// For FrameInfo::recorded: none of raw pixels, which are counted again.
    PixelCounts counts_to_keep() const { return raw ? PixelCounts{} : counts; }
};

/// What pixels that are read in this shape mean: what was recorded, unless they are pictures of it.
Quantity quantity_of(const Recorded& file, const Shape& read);

/// Frames that were lost between the one of sequence number `before` and this one; 0 where either has none,
/// and where there are more than any recording has.
std::uint64_t lost_between(std::optional<std::uint64_t> before, const Recorded& frame);

/// Reads the JSON texts of a file in order. What is not of this program leaves everything unknown.
class RecordedText {
public:
    /// The description of the file, which holds that of its first frame; what stands before the first brace
    /// is passed over. False if it is not ours.
    bool begin(std::string_view text);
    /// The description of the frame after the one before.
    void next(std::string_view text);
    /// What another program states of the present frame.
    void state_time(std::optional<std::int64_t> capture_ns);
    /// The frame number `index` of a file that describes its frames in one place, as video does: all but the
    /// capture time.
    void seek(std::uint64_t index);
    const Recorded& now() const { return now_; }

    // Of the file; 0 and empty where it does not say.
    bool ours() const { return ours_; }
    /// What it has said so far that cannot be and was left out, each sort once: "more than 2^40 frames lost
    /// at once".
    const std::vector<std::string_view>& doubts() const { return doubts_; }
    bool raw() const { return now_.raw; }
    std::uint64_t frames() const { return frames_; } ///< 0 as well while it is not finished
    int width() const { return width_; }
    int height() const { return height_; }
    const std::string& format() const { return format_; } ///< of headerless pixels: "gray16le"

private:
    struct Change { ///< from this frame on
        std::uint64_t index = 0, sequence = 0;
        double exposure_ms = 0;
    };
    /// One of PixelCounts for all frames: from which frame on it has which value.
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
    Column left_out_;
    std::vector<std::pair<std::uint64_t, bool>>
        warmups_; ///< of a film, in order: from this frame on, or no more
    std::vector<Change> changes_;
    std::vector<std::string_view> doubts_; ///< of texts that stay
    std::size_t change_ = 0;               ///< the one after that in effect
    bool ours_ = false;
    std::uint64_t frames_ = 0;
    int width_ = 0, height_ = 0;
    std::string format_;
};

/// Frames a second from capture times in ns, each less than kTooLate: of their median distance. 0 where there
/// are not two, and where it is beyond kMaxRate.
double rate_of(const std::vector<std::int64_t>& capture_ns);

} // namespace specklescope
