// Metadata of a headerless file, from a JSON file next to it.
#pragma once

#include "files/recorded.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace specklescope {

/// NAME.raw.jsonl next to a recording NAME.raw: a line of JSON for the file, then one per frame.
class RawSidecar {
public:
    /// False if there is none, or if it was not written by this program. Starts at the first frame.
    bool open(const std::string& raw_path);
    void close() { *this = RawSidecar{}; }
    bool is_open() const { return file_.is_open(); }
    const RecordedText& file() const { return text_; }
    /// Metadata of the next frame; unknown after the last line.
    const Recorded& next();
    /// Sets the next frame, from 0.
    void seek(std::uint64_t frame);
    /// Rate of the file, or of its first frames; reads ahead. 0: unknown.
    double measure_rate(const std::string& raw_path) const;
    /// Source::frame_at() for a file with `frames` frames; reads ahead.
    std::optional<std::uint64_t> frame_at(const std::string& raw_path, double seconds,
                                          std::uint64_t frames) const;

private:
    std::string line(std::uint64_t frame);
    void go_to(std::streamoff place);

    std::ifstream file_;
    RecordedText text_;
    std::vector<std::streamoff> lines_; ///< offsets of the complete lines of frames
    std::streamoff behind_ = 0;         ///< offset of the next of these lines
    std::streamoff here_ = -1;          ///< current read position
    std::uint64_t next_ = 0;            ///< frame
};

} // namespace specklescope
