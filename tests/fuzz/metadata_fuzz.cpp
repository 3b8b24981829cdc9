// The JSON of recordings: lines read as a file's and as its frames'; written numbers are read back.
// Parser: files/recorded.cpp
#include "files/recorded.hpp"
#include "recording/record_file.hpp"
#include "tests/fuzz/support.hpp"

#include <cmath>

namespace specklescope::fuzz {
namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_bounds(const RecordedText& text) {
    const Recorded& now = text.now();
    demand(text.width() >= 0 && text.height() >= 0, "a side is negative");
    demand(!(now.rate < 0) && !(now.full_scale < 0), "a rate or full scale is negative");
    constexpr std::int64_t kHalf = std::int64_t{1} << 62; // differences of two times do not overflow
    demand(!now.capture_ns || (*now.capture_ns <= kHalf && *now.capture_ns >= -kHalf), "a time can overflow");
}

/// Lines of a sidecar, and frames sought in and out of order.
void check_lines(std::string_view left) {
    RecordedText text;
    for (bool first = true; !left.empty(); first = false) {
        const std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(left.size(), line.size() + 1));
        if (first && !text.begin(line))
            demand(text.frames() == 0 && !text.raw() && text.format().empty(),
                   "a stranger's text is taken over");
        if (!first)
            text.next(line);
        check_bounds(text);
    }
    RecordedText ahead = text;
    RecordedText back = text;
    for (std::uint64_t i = 0; i < 8; ++i)
        ahead.seek(i);
    for (std::uint64_t i = 9; i-- > 7;)
        back.seek(i);
    demand(ahead.now().counts == back.now().counts, "a count is another when it is reached from behind");
    demand(ahead.now().sequence == back.now().sequence &&
               same(ahead.now().exposure_ms, back.now().exposure_ms),
           "a frame is another when it is reached from behind");
}

/// RecordedText reads the output of describe_frame().
void check_written(Bytes bytes) {
    RecordedFrame frame;
    frame.info.sequence = bytes.take<std::uint64_t>();
    frame.info.capture_ns = bytes.take<std::int64_t>() / 4; // up to 73 years
    frame.info.exposure_ms = bytes.take<double>();
    frame.dropped = bytes.take<std::uint64_t>();
    frame.counts.raw_saturated = bytes.take<std::uint64_t>();
    RecordedText text;
    demand(text.begin(R"({"program": "Specklescope", "content": "raw"})"), "our own file is not ours");
    text.next(describe_frame(frame));
    demand(text.now().sequence == frame.info.sequence, "a sequence number comes back as another");
    demand(text.now().capture_ns == frame.info.capture_ns, "a capture time comes back as another");
    demand(text.now().counts == frame.counts, "a count comes back as another");
    const double expected = std::isfinite(frame.info.exposure_ms) ? frame.info.exposure_ms : std::nan("");
    demand(same(text.now().exposure_ms, expected), "an exposure comes back as another");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const std::string_view text = specklescope::fuzz::text_of(data, bytes);
    specklescope::fuzz::check_lines(text);
    specklescope::fuzz::check_written(specklescope::fuzz::Bytes(text));
    return 0;
}
