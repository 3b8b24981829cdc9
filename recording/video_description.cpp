#include "recording/video_description.hpp"

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace specklescope {

namespace {
constexpr std::int64_t kLast = std::int64_t{1} << 61; ///< ns, 73 years: sums of two are numbers of ns
} // namespace

VideoClock::VideoClock(double rate, double nominal)
    : fixed_(rate > 0), period_ns_(std::min(static_cast<double>(kLast), 1e9 / (rate > 0      ? rate
                                                                               : nominal > 0 ? nominal
                                                                                             : 25.0))) {}

std::int64_t VideoClock::next(std::int64_t capture_ns) {
    std::int64_t time = 0;
    if (fixed_)
        time = std::llround(std::min(static_cast<double>(count_) * period_ns_, static_cast<double>(kLast)));
    else if (count_ > 0 && capture_ns > last_capture_)
        time = capture_ns + offset_;
    else // the first frame, or a clock that stands still or was set back: go on from here
        time = count_ == 0 ? 0
                           : std::min(std::min(last_, kLast) + std::int64_t{std::llround(period_ns_)}, kLast);
    time = std::max(time, last_ + 1);
    if (count_ == 0)
        time = 0;
    offset_ = time - capture_ns;
    last_ = time;
    last_capture_ = capture_ns;
    ++count_;
    return time;
}

namespace {
bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
} // namespace

VideoDescription::VideoDescription(const RecordedFrame& first, const RecordOptions& options,
                                   const StreamInfo& stream)
    : start_(describe_file(first, options, stream, {})), timed_(first.info.has_time()),
      thinned_(options.limits.thins()) {
    start_.back() = ',';
    start_ += " \"frame\": " + describe_frame(first);
}

void VideoDescription::add(const RecordedFrame& frame) {
    const FrameInfo& next = frame.info;
    add_facts(nlohmann::ordered_json::parse(describe_frame(frame)));
    if (changes_.empty() || next.sequence != next_sequence_ ||
        !equal(next.exposure_ms, changes_.back().exposure_ms))
        changes_.push_back({frames_, next.sequence, next.exposure_ms});
    if (frames_ == 0) {
        first_sequence_ = next.sequence;
        first_ns_ = next.capture_ns;
    }
    last_ns_ = next.capture_ns;
    next_sequence_ = next.sequence + 1;
    ++frames_;
}

void VideoDescription::add_facts(nlohmann::ordered_json facts) {
    for (const char* elsewhere : {"sequence", "capture_ns", "exposure_ms"})
        facts.erase(elsewhere);
    for (auto at = facts.begin(); at != facts.end();) {
        if (!at->is_number_integer()) {
            ++at;
            continue;
        }
        auto value = at->get<std::int64_t>();
        if (at.key() == "arrival_ns")
            value -= std::exchange(last_arrival_ns_, value);
        if (at.key() == "position")
            value -= std::exchange(last_position_, value);
        std::vector<Run>& column = columns_[at.key()];
        if (column.empty() || column.back().value != value)
            column.push_back({value, 0});
        ++column.back().frames;
        at = facts.erase(at);
    }
    nlohmann::ordered_json patch = nlohmann::ordered_json::object();
    for (const auto& [key, value] : facts.items())
        if (!facts_.contains(key) || facts_[key] != value)
            patch[key] = value;
    for (const auto& [key, value] : facts_.items())
        if (!facts.contains(key))
            patch[key] = nullptr;
    if (frames_ > 0 && !patch.empty()) // "frame" has those of the first
        patches_ += (patches_.empty() ? "[" : ", [") + std::to_string(frames_) + ", " + to_ascii(patch) + "]";
    facts_ = std::move(facts);
}

std::string VideoDescription::text(const FileTotals& totals) const {
    std::string text = start_;
    text.replace(1, kTotalsChars, totals_text(totals));
    const std::int64_t span = last_ns_ - first_ns_;
    const double steps = static_cast<double>(thinned_ ? frames_ - 1 : next_sequence_ - 1 - first_sequence_);
    // A file that was read as fast as possible may have times that are those of no camera.
    if (const double rate = 1e9 * steps / static_cast<double>(span);
        timed_ && span > 0 && rate >= kMinRate && rate <= kMaxRate) {
        char measured[32];
        std::snprintf(measured, sizeof measured, "%.9g", rate);
        text += std::string(", \"measured_rate\": ") + measured;
    }
    text += ", \"changes\": [";
    for (const Change& change : changes_) {
        char exposure[32] = "null";
        if (std::isfinite(change.exposure_ms))
            std::snprintf(exposure, sizeof exposure, "%.17g", change.exposure_ms);
        text += (&change == changes_.data() ? "[" : ", [") + std::to_string(change.index) + ", " +
                std::to_string(change.sequence) + ", " + exposure + "]";
    }
    text += "], \"frames\": {";
    for (const auto& [name, column] : columns_) {
        text += (name == columns_.begin()->first ? "\"" : ", \"") + name + "\": [";
        for (const Run& run : column) {
            const std::string value = std::to_string(run.value);
            text += (&run == column.data() ? "" : ",") +
                    (run.frames == 1 ? value : "[" + value + "," + std::to_string(run.frames) + "]");
        }
        text += ']';
    }
    return text + "}, \"facts\": [" + patches_ + "]}";
}

std::string escaped_tag(const std::string& text) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_STRING);
    g_value_set_string(&value, text.c_str());
    const std::unique_ptr<gchar, void (*)(gpointer)> written(gst_value_serialize(&value), g_free);
    g_value_unset(&value);
    return written ? written.get() : "";
}

} // namespace specklescope
