// What a Matroska file says beside its pictures: the times of its frames and the text of its tags.
#pragma once

#include "recording/record_file.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace specklescope {

/// Presentation times that always grow: the camera's clock where it moves, one nominal period where it does
/// not.
class VideoClock {
public:
    /// `rate` > 0: frames are that far apart whatever the camera says. `nominal`: the source's rate, 0 if
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
/// exposure_ms]. What describe_frame() says besides is there for all frames: its whole numbers under
/// "frames", a list for each, in which [value, count] stands for several that are equal ("arrival_ns" and
/// "position": behind the first the distance from the frame before); the rest under "facts" where it changes,
/// each as [frame, JSON merge patch (RFC 7396) of "frame"]. "measured_rate" is that of the camera, lost
/// frames included; of one frame of many, that of those in the file.
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
    bool thinned_; ///< sequence numbers do not tell the rate
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

} // namespace specklescope
