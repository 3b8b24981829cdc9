// Shared code of both video containers: installed encoders, times of frames, the description of the file,
// and recovery of the complete frames of an interrupted file.
#pragma once

#include "files/whole_file.hpp"
#include "recording/record_file.hpp"
#include "recording/recorder.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace specklescope {

/// Also loads the element's library, to avoid a delay with the first frames. Throws RunError if it is
/// installed and cannot be loaded.
bool gst_element_exists(const char* element);

/// True for colours, which are encoded lossily; values are lossless.
bool shows_colors(RecordWhat what);

/// RecordFormat::refuses of .mkv and .mp4: sizes that an encoder or a muxer does not support or does not
/// preserve.
std::string mkv_refuses(RecordWhat what, const Shape& shape);
std::string mp4_refuses(RecordWhat what, const Shape& shape);

/// Presentation times that always increase: the camera's clock while it advances, otherwise one nominal
/// period.
class VideoClock {
public:
    /// `rate` > 0: constant distance of frames, independent of the camera. `nominal`: the source's rate, 0 if
    /// unknown.
    VideoClock(double rate, double nominal);
    std::int64_t next(std::int64_t capture_ns); ///< ns from the first frame
    std::int64_t period_ns() const { return static_cast<std::int64_t>(period_ns_); } ///< nominal

private:
    bool fixed_;
    double period_ns_;
    std::int64_t offset_ = 0, last_ = -1, last_capture_ = 0;
    std::uint64_t count_ = 0;
};

/// JSON text of a file and of its first frame. Other frames have their time from the container. Frames that
/// do not follow the previous one are listed under "changes", each as [frame, sequence, exposure_ms]. The
/// other facts of describe_frame() are given for all frames. Integers are under "frames", one list each, in
/// which [value, count] means several equal values ("arrival_ns" and "position": after the first, the
/// difference to the previous frame). The rest is under "facts" if it changes, each as [frame, JSON merge
/// patch (RFC 7396) of "frame"]. "measured_rate" is the camera's rate including lost frames; with thinning,
/// the rate of the frames in the file.
class VideoDescription {
public:
    VideoDescription(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream);
    void add(const RecordedFrame& frame);
    std::string text(const FileTotals& totals) const;

private:
    struct Change {
        std::uint64_t index, sequence;
        double exposure_ms;
    };
    /// Consecutive equal values.
    struct Run {
        std::int64_t value;
        std::uint64_t frames;
    };
    void add_facts(nlohmann::ordered_json facts);

    std::string start_; ///< everything except the frames and the last brace
    bool timed_;
    bool thinned_; ///< the rate does not follow from sequence numbers
    std::vector<Change> changes_;
    std::map<std::string, std::vector<Run>> columns_;
    nlohmann::ordered_json facts_; ///< of the last frame
    std::string patches_;          ///< "[3, {…}], [7, {…}]"
    std::int64_t last_arrival_ns_ = 0, last_position_ = 0;
    std::uint64_t frames_ = 0, next_sequence_ = 0, first_sequence_ = 0;
    std::int64_t first_ns_ = 0, last_ns_ = 0;
};

/// In the format of GStreamer's muxer for text tags: a backslash before characters other than letters and
/// digits.
std::string escaped_tag(const std::string& text);

struct CompleteFrames {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0; ///< to the end of the last complete frame
};

/// Counts the complete blocks of Matroska (RFC 9559).
CompleteFrames whole_matroska(const File& file);
/// Counts the samples of complete fragments of MP4 (ISO/IEC 14496-12).
CompleteFrames whole_mp4(const File& file);

/// Replaces the totals in the comment of an MP4: GStreamer's muxer writes tags at the beginning only. Returns
/// an error number, or 0.
int describe_mp4(const File& file, const std::string& totals);

} // namespace specklescope
