#include "recording/video/video.hpp"

#include "base/error.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "recording/record_file.hpp"

#include <gst/gst.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string_view>

namespace specklescope {

bool gst_element_exists(const char* element) {
    init_gstreamer();
    const GstHandle<GstElementFactory> factory(gst_element_factory_find(element));
    if (!factory)
        return false;
    const GstHandle<GstPluginFeature> loaded(gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory.get())));
    if (!loaded)
        throw RunError(std::string("GStreamer's element '") + element + "' " + did_not_start());
    return true;
}

bool shows_colors(RecordWhat what) { return what == RecordWhat::processed || what == RecordWhat::screen; }

namespace {

/// Text of the supported sizes; empty if both sides are supported.
std::string other_than(const Shape& shape, int least, int most) {
    if (std::min(shape.width, shape.height) >= least && std::max(shape.width, shape.height) <= most)
        return "";
    return "pictures have " + std::to_string(least) + " to " + std::to_string(most) + " pixels a side there";
}

constexpr int kMostH264 = 16384; ///< limit of x264

} // namespace

std::string mkv_refuses(RecordWhat what, const Shape& shape) {
    if (shows_colors(what) && gst_element_exists("x264enc"))
        return other_than(shape, 1, kMostH264);
    // FFV1 of FFmpeg 5.1 in four slices is not lossless if a side has one or two pixels.
    constexpr int kLeastFfv1 = 3;
    return other_than(shape, kLeastFfv1, kMaxSide);
}

std::string mp4_refuses(RecordWhat, const Shape& shape) {
    constexpr int kLeast = 16; // limit of GStreamer's mp4mux
    return other_than(shape, kLeast, kMostH264);
}

namespace {
void check_muxer() {
    if (!gst_element_exists("matroskamux"))
        throw RunError(
            "No Matroska writer is installed. Install gstreamer1.0-plugins-good, or record as .tiff.");
}
} // namespace

void check_video_encoder(RecordWhat what) {
    if (shows_colors(what) && gst_element_exists("x264enc"))
        return check_muxer();
    if (shows_colors(what) && !gst_element_exists("avenc_ffv1"))
        throw RunError(
            "No H.264 encoder for .mkv is installed. Install gstreamer1.0-plugins-ugly, or record as .tiff.");
    if (!gst_element_exists("avenc_ffv1"))
        throw RunError(
            "No FFV1 encoder for .mkv is installed. Install gstreamer1.0-libav, or record as .tiff.");
    check_muxer();
}

void check_mp4_encoder(RecordWhat what) {
    if (!shows_colors(what))
        throw UsageError("An .mp4 cannot store raw frames exactly. Record them as .mkv.");
    if (!gst_element_exists("x264enc"))
        throw RunError(
            "No H.264 encoder for .mp4 is installed. Install gstreamer1.0-plugins-ugly, or record as .tiff.");
    if (!gst_element_exists("mp4mux"))
        throw RunError("No MP4 writer is installed. Install gstreamer1.0-plugins-good, or record as .mkv.");
}

namespace {
constexpr std::int64_t kLast = std::int64_t{1} << 61; ///< in ns, 73 years: the sum of two is still valid
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
    else // the first frame, or a clock that stopped or was set back: continue from here
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
    if (frames_ > 0 && !patch.empty()) // "frame" has the facts of the first frame
        patches_ += (patches_.empty() ? "[" : ", [") + std::to_string(frames_) + ", " + to_ascii(patch) + "]";
    facts_ = std::move(facts);
}

std::string VideoDescription::text(const FileTotals& totals) const {
    std::string text = start_;
    text.replace(1, kTotalsChars, totals_text(totals));
    const std::int64_t span = last_ns_ - first_ns_;
    const double steps = static_cast<double>(thinned_ ? frames_ - 1 : next_sequence_ - 1 - first_sequence_);
    // A file read as fast as possible may have times that no camera had.
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

namespace {

/// The bytes at this position of the file, `bytes` at most.
std::string read_at(const File& file, std::uint64_t place, std::size_t bytes) {
    std::string read(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            ::pread(file.fd(), read.data() + done, bytes - done, static_cast<off_t>(place + done));
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    read.resize(done);
    return read;
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes)
        value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

/// An element of Matroska: an ID, a size with a length marker in its first byte, a payload.
struct Element {
    std::uint64_t id = 0, begin = 0, size = 0; ///< of the payload
    bool open = false;                         ///< the size is not known yet
};

bool element_at(const File& file, std::uint64_t place, Element& element) {
    const std::string head = read_at(file, place, 12);
    const auto length_at = [&](std::size_t at) {
        return at < head.size()
                   ? static_cast<std::size_t>(std::countl_zero(static_cast<unsigned char>(head[at]))) + 1
                   : head.size() + 1;
    };
    const std::size_t id = length_at(0), size = length_at(id);
    if (id > 4 || size > 8 || head.size() < id + size)
        return false;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * size)) - 1;
    element.id = big_endian(head.substr(0, id));
    element.size = big_endian(head.substr(id, size)) & mask;
    element.open = element.size == mask;
    element.begin = place + id + size;
    return true;
}

/// A box of MP4: size, type, payload.
struct Box {
    std::uint64_t begin = 0, end = 0; ///< of the payload
    std::string type;
};

/// False if the file does not contain the whole box.
bool box_at(const File& file, std::uint64_t place, std::uint64_t bytes, Box& box) {
    const std::string head = read_at(file, place, 16);
    if (head.size() < 8)
        return false;
    const bool wide = big_endian(head.substr(0, 4)) == 1;
    const std::uint64_t used = wide ? 16 : 8, size = big_endian(wide ? head.substr(8) : head.substr(0, 4));
    if (size < used || size > bytes - place) // 0: unknown size
        return false;
    box = {place + used, place + size, head.substr(4, 4)};
    return true;
}

/// Samples of a fragment: GStreamer writes one track with at least one run.
std::uint64_t samples_of(std::string_view moof) {
    std::uint64_t samples = 0;
    const auto walk = [&samples](std::string_view boxes, const auto& self) -> void {
        while (boxes.size() >= 8) {
            const std::uint64_t size = big_endian(boxes.substr(0, 4));
            if (size < 8 || size > boxes.size())
                return;
            const std::string_view type = boxes.substr(4, 4), payload = boxes.substr(8, size - 8);
            if (type == "traf")
                self(payload, self);
            else if (type == "trun" && payload.size() >= 8)
                samples += big_endian(payload.substr(4, 4));
            boxes.remove_prefix(size);
        }
    };
    walk(moof, walk);
    return samples;
}

} // namespace

CompleteFrames whole_matroska(const File& file) {
    constexpr std::uint64_t kSegment = 0x18538067, kCluster = 0x1f43b675, kBlock = 0xa3, kBlockGroup = 0xa0;
    CompleteFrames film;
    const std::uint64_t bytes = file.bytes();
    Element element;
    for (std::uint64_t place = 0; element_at(file, place, element);) {
        if (element.id == kSegment || element.id == kCluster) { // continue with its contents
            place = element.begin;
            continue;
        }
        if (element.open || element.begin > bytes || element.size > bytes - element.begin)
            break;
        place = element.begin + element.size;
        if (element.id == kBlock || element.id == kBlockGroup) {
            ++film.frames;
            film.bytes = place;
        }
    }
    return film;
}

CompleteFrames whole_mp4(const File& file) {
    CompleteFrames film;
    const std::uint64_t bytes = file.bytes();
    std::uint64_t samples = 0;
    Box box;
    for (std::uint64_t place = 0; box_at(file, place, bytes, box); place = box.end) {
        if (box.type == "moof")
            samples = samples_of(read_at(file, box.begin, box.end - box.begin));
        if (box.type != "mdat" || samples == 0)
            continue;
        film.frames += samples;
        film.bytes = box.end;
        samples = 0;
    }
    return film;
}

int describe_mp4(const File& file, const std::string& totals) {
    const std::uint64_t bytes = file.bytes();
    Box box;
    for (std::uint64_t place = 0; box_at(file, place, bytes, box); place = box.end)
        if (box.type == "moov") {
            const std::size_t at = read_at(file, box.begin, box.end - box.begin).find("{\"finished\": ");
            return at == std::string::npos ? 0
                                           : file.write_at(box.begin + at + 1, totals.data(), totals.size());
        }
    return 0;
}

} // namespace specklescope
