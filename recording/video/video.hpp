// What video files of both containers share: encoders that are installed, times of frames, the text that
// describes the file, and the complete frames of a file that was cut off.
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

/// Also brings the element's library into memory: not while the first frames wait. Throws RunError where it
/// is installed and cannot be loaded.
bool gst_element_exists(const char* element);

/// What is seen is encoded for the eye; numbers stay as they are.
bool shows_colors(RecordWhat what);

/// RecordFormat::refuses of .mkv and .mp4: sizes that an encoder or a muxer does not take, or does not give
/// back as they were.
std::string mkv_refuses(RecordWhat what, const Shape& shape);
std::string mp4_refuses(RecordWhat what, const Shape& shape);

/// Presentation times that always grow: the camera's clock where it moves, one nominal period where it does
/// not.
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

/// The JSON text of a file and of its first frame. Other frames have their time from the container; those
/// that do not follow from the one before them are listed under "changes", each as [frame, sequence,
/// exposure_ms]. The other facts of describe_frame() are given for all frames: whole numbers under
/// "frames", one list each, in which [value, count] means several equal values ("arrival_ns" and "position":
/// after the first the distance from the frame before); the rest under "facts" where it changes, each as
/// [frame, JSON merge patch (RFC 7396) of "frame"]. "measured_rate" is that of the camera, lost frames
/// included; of one frame of many, that of those in the file.
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
    /// Equal values that follow one another.
    struct Run {
        std::int64_t value;
        std::uint64_t frames;
    };
    void add_facts(nlohmann::ordered_json facts);

    std::string start_; ///< all but the frames and the last brace
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

/// As GStreamer's muxer writes a text tag: with a backslash before what is no letter or digit.
std::string escaped_tag(const std::string& text);

struct WholeFilm {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0; ///< to the end of the last complete frame
};

/// Counts the complete blocks of Matroska (RFC 9559).
WholeFilm whole_matroska(const File& file);
/// Counts the samples of complete fragments of MP4 (ISO/IEC 14496-12).
WholeFilm whole_mp4(const File& file);

/// Replaces the totals in the comment of an MP4: GStreamer's muxer writes tags at the beginning only. Returns
/// an error number, or 0.
int describe_mp4(const File& file, const std::string& totals);

} // namespace specklescope
