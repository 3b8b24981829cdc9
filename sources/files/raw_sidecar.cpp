#include "sources/files/raw_sidecar.hpp"

#include <vector>

namespace specklescope {

namespace {

/// The next line; one that is longer than any of ours is cut, and then no object.
std::string next_line(std::ifstream& file) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    std::string line;
    for (int c = file.get(); c != std::ifstream::traits_type::eof() && c != '\n' && line.size() < kMost;
         c = file.get())
        line += static_cast<char>(c);
    return line;
}

} // namespace

bool RawSidecar::open(const std::string& raw_path) {
    close();
    file_.open(raw_path + ".jsonl", std::ios::binary);
    if (file_.is_open() && text_.begin(next_line(file_)))
        return true;
    close();
    return false;
}

const Recorded& RawSidecar::next() {
    if (file_.is_open())
        text_.next(line()); // what a killed program left of its last line is no object
    return text_.now();
}

std::string RawSidecar::line() {
    if (next_ == lines_.size())
        lines_.push_back(file_.tellg());
    ++next_;
    return next_line(file_);
}

void RawSidecar::seek(std::uint64_t frame) {
    if (!file_.is_open())
        return;
    file_.clear();
    if (frame < lines_.size()) {
        next_ = static_cast<std::size_t>(frame);
        file_.seekg(lines_[next_]);
        return;
    }
    if (!lines_.empty()) {
        next_ = lines_.size() - 1;
        file_.seekg(lines_[next_]);
    }
    while (next_ < frame && file_.good())
        (void)line();
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

} // namespace specklescope
