#include "sources/files/raw_sidecar.hpp"

#include "base/long_work.hpp"
#include "sources/playback_clock.hpp"

#include <filesystem>
#include <vector>

namespace specklescope {

namespace {

struct Line {
    std::string text;
    bool whole = false; ///< it has a line end
};

/// The next line; lines longer than ours are truncated, so they are no valid JSON.
Line next_line(std::ifstream& file) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    Line line;
    int c = file.get();
    for (; c != std::ifstream::traits_type::eof() && c != '\n' && line.text.size() < kMost; c = file.get())
        line.text += static_cast<char>(c);
    line.whole = c != std::ifstream::traits_type::eof();
    return line;
}

} // namespace

bool RawSidecar::open(const std::string& raw_path) {
    close();
    const std::string beside = raw_path + ".jsonl";
    std::error_code none;
    if (std::filesystem::is_regular_file(beside, none)) // a pipe would block
        file_.open(beside, std::ios::binary);
    if (file_.is_open() && text_.begin(next_line(file_).text)) {
        behind_ = file_.tellg();
        return true;
    }
    close();
    return false;
}

const Recorded& RawSidecar::next() {
    if (file_.is_open())
        text_.next(line(next_++)); // an incomplete last line of a killed program is no JSON
    return text_.now();
}

void RawSidecar::seek(std::uint64_t frame) { next_ = frame; }

/// Line of this frame; searched again each time, since lines may be written after their frames.
std::string RawSidecar::line(std::uint64_t frame) {
    std::string last;
    while (lines_.size() <= frame) {
        go_to(behind_);
        Line next = next_line(file_);
        if (!next.whole)
            return lines_.size() == frame ? next.text : "";
        lines_.push_back(behind_);
        here_ = behind_ = file_.tellg();
        last = std::move(next.text);
    }
    if (frame + 1 == lines_.size() && !last.empty())
        return last;
    go_to(lines_[static_cast<std::size_t>(frame)]);
    last = next_line(file_).text;
    here_ = file_.tellg();
    return last;
}

void RawSidecar::go_to(std::streamoff place) {
    if (here_ == place && file_.good())
        return;
    file_.clear();
    file_.seekg(place);
    here_ = place;
}

double RawSidecar::measure_rate(const std::string& raw_path) const {
    constexpr std::size_t kLooked = 33; // frames
    if (text_.now().rate > 0)
        return text_.now().rate;
    RawSidecar ahead;
    std::vector<std::int64_t> times;
    for (bool more = ahead.open(raw_path); more && times.size() < kLooked;) {
        const std::optional<std::int64_t> time = ahead.next().capture_ns;
        more = time.has_value();
        if (more)
            times.push_back(*time);
    }
    return rate_of(times);
}

std::optional<std::uint64_t> RawSidecar::frame_at(const std::string& raw_path, double seconds,
                                                  std::uint64_t frames) const {
    RawSidecar ahead;
    if (!is_open() || !ahead.open(raw_path))
        return std::nullopt;
    TimeSearch search(seconds);
    for (std::uint64_t i = 0; i < frames && search.add(ahead.next().capture_ns); ++i)
        work_goes_on("looking for a time in '" + raw_path + "'");
    return search.frame();
}

} // namespace specklescope
