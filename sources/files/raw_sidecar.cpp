#include "sources/files/raw_sidecar.hpp"

#include <vector>

namespace specklescope {

bool RawSidecar::open(const std::string& raw_path) {
    close();
    file_.open(raw_path + ".jsonl", std::ios::binary);
    std::string line;
    if (file_.is_open() && std::getline(file_, line) && text_.begin(line))
        return true;
    close();
    return false;
}

const Recorded& RawSidecar::next() {
    std::string line;
    if (file_.is_open()) {
        std::getline(file_, line); // what a killed program left of its last line is no object
        text_.next(line);
    }
    return text_.now();
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
