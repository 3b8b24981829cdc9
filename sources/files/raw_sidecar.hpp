// What is known of a file that has no header from the lines beside it.
#pragma once

#include "files/recorded.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace specklescope {

/// NAME.raw.jsonl beside a recording NAME.raw: a line of JSON about the file, then a line for each frame.
class RawSidecar {
public:
    /// False if there is none, or if it was not written by this program. Begins at the first frame.
    bool open(const std::string& raw_path);
    void close() { *this = RawSidecar{}; }
    bool is_open() const { return file_.is_open(); }
    const RecordedText& file() const { return text_; }
    /// Of the next frame; unknown behind the last line.
    const Recorded& next();
    /// The next frame is this one, from 0.
    void seek(std::uint64_t frame);
    /// The file's rate, or that of its first frames; reads ahead. 0: unknown.
    double measure_rate(const std::string& raw_path) const;
    /// Source::frame_at(), of so many frames; reads ahead.
    std::optional<std::uint64_t> frame_at(const std::string& raw_path, double seconds,
                                          std::uint64_t frames) const;

private:
    std::string line(std::uint64_t frame);
    void go_to(std::streamoff place);

    std::ifstream file_;
    RecordedText text_;
    std::vector<std::streamoff> lines_; ///< where those of the frames begin, as far as they are whole
    std::streamoff behind_ = 0;         ///< where the next of them will
    std::streamoff here_ = -1;          ///< where the file is read next
    std::uint64_t next_ = 0;            ///< frame
};

} // namespace specklescope
