#include "recording/screen/painter.hpp"

#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace specklescope {

namespace {

/// "2026-11-23 10:31:05.123", local time.
std::string time_of_day(SteadyClock::time_point moment) {
    using namespace std::chrono;
    const auto wall =
        system_clock::now() + duration_cast<system_clock::duration>(moment - SteadyClock::now());
    const std::time_t seconds = system_clock::to_time_t(wall);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 40> date{};
    std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S", &local);
    const std::string ms =
        std::to_string(duration_cast<milliseconds>(wall.time_since_epoch()).count() % 1000);
    return std::string(date.data()) + "." + std::string(3 - std::min<std::size_t>(ms.size(), 3), '0') + ms;
}

} // namespace

void ScreenPainter::begin(const StreamInfo& stream) {
    stream_ = stream;
    first_ns_.reset();
    events_.clear();
}

/// The last word on a number counts.
void ScreenPainter::take(const EventMark& event) {
    std::erase_if(events_, [&](const EventMark& known) { return known.number == event.number; });
    if (!event.removed)
        events_.push_back(event);
}

std::vector<std::string> ScreenPainter::labels(std::int64_t capture_ns) {
    constexpr auto kSeen = static_cast<std::int64_t>(kEventSeconds * 1e9);
    std::erase_if(events_, [&](const EventMark& event) { return event.capture_ns + kSeen <= capture_ns; });
    std::vector<std::string> seen;
    for (auto event = events_.rbegin(); event != events_.rend() && seen.size() < kMostEvents; ++event)
        seen.push_back(event->label.empty() ? "event " + std::to_string(event->number) : event->label);
    return seen;
}

std::string ScreenPainter::time_text(const FrameInfo& info) {
    if (!first_ns_)
        first_ns_ = info.capture_ns;
    std::array<char, 80> text{};
    const auto frame = static_cast<unsigned long long>(info.position.value_or(info.sequence));
    if (info.has_time())
        std::snprintf(text.data(), text.size(), "%.3f s   frame %llu",
                      static_cast<double>(info.capture_ns - *first_ns_) * 1e-9, frame);
    else
        std::snprintf(text.data(), text.size(), "frame %llu", frame);
    return (stream_.source.live ? time_of_day(info.arrival) + "   " : "") + text.data();
}

RecordedFrame ScreenPainter::of(const RecordedFrame& frame) {
    draw_screen(frame, *frame.look, picture_);
    if (rests_on_assumption(frame.quantity, frame.exposure) && picture_.legend.unit != "%")
        picture_.legend.unit += " *"; // nobody gave the exposure that they scale with
    for (const EventMark& event : frame.events)
        take(event);
    BurnedText text;
    text.time = time_text(frame.info);
    text.events = labels(frame.info.capture_ns);
    if (frame.regions && marks_.regions)
        text.regions = regions_of(*frame.regions);
    text.um_per_px = um_per_px(stream_, frame.chain.get());
    text.um_per_raw_px = um_per_px(stream_, nullptr);
    const Shape shape = burner_.shape(picture_);
    check_shape(shape, "A movie of the screen");
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, 1, host_memory());
    RecordedFrame painted = frame;
    painted.raw.reset();
    painted.quantity = {}; // colours, not the numbers that they stand for
    painted.pixels = ring_->acquire(std::chrono::seconds(10));
    burner_.burn(picture_, text, painted.pixels.host());
    return painted;
}

} // namespace specklescope
