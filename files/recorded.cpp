#include "files/recorded.hpp"

#include "base/text.hpp"
#include "files/json_object.hpp"
#include "pipeline/source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace specklescope {

namespace {
using Json = nlohmann::json;

constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 40; ///< 127 days at kMaxRate
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double number(const Json& json, const char* key, double otherwise) {
    const auto at = json.find(key);
    return at != json.end() && at->is_number() ? at->get<double>() : otherwise;
}

std::string text(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

/// Also nothing if the value does not fit: a sequence number is not negative.
template <class T> std::optional<T> integer(const Json& json, const char* key) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer())
        return std::nullopt;
    const bool fits = at->is_number_unsigned() ? std::in_range<T>(at->get<std::uint64_t>())
                                               : std::in_range<T>(at->get<std::int64_t>());
    return fits ? std::optional<T>(at->get<T>()) : std::nullopt;
}

/// True if the number exists but was not used.
bool is_invalid(const Json& json, const char* key, bool taken) {
    const auto at = json.find(key);
    return !taken && at != json.end() && at->is_number();
}

/// A side of an image, or its channels; invalid values are unknown.
int side(const Json& json, const char* key) {
    const double value = number(json, key, 0);
    return value >= 1 && value <= 1e9 ? static_cast<int>(value) : 0;
}

bool believable(double rate) { return rate >= kMinRate && rate <= kMaxRate; }
constexpr std::string_view kNoRate = "a rate outside 1e-9 to 100000 frames/s";
constexpr std::string_view kNoSequence = "a sequence number that is not a whole number from 0";
constexpr std::string_view kTooManyLost = "more than 2^40 frames lost at once";
static_assert(kMinRate == 1e-9 && kMaxRate == 100000 && kTooLate == std::int64_t{1} << 62 &&
                  kMostFrames == std::uint64_t{1} << 40,
              "the doubts that are told name them");

/// Number of frames missing after sequence number `before`, plausible or not.
std::uint64_t missing_between(std::optional<std::uint64_t> before, const Recorded& frame) {
    if (!before || !frame.sequence || *frame.sequence <= *before)
        return 0;
    const std::uint64_t missing = *frame.sequence - *before - 1;
    return missing - std::min(missing, frame.decimated);
}

struct NamedCount {
    const char* name;
    std::uint64_t PixelCounts::*count;
};
constexpr std::array<NamedCount, 6> kCounts = {{{"undefined", &PixelCounts::undefined},
                                                {"infinite", &PixelCounts::infinite},
                                                {"saturated", &PixelCounts::saturated},
                                                {"windows", &PixelCounts::windows},
                                                {"raw_saturated", &PixelCounts::raw_saturated},
                                                {"raw_samples", &PixelCounts::raw_samples}}};

/// A name from an untrusted file.
std::string word(const Json& json, const char* key, const std::string& otherwise) {
    constexpr std::size_t kMost = 64; // bytes
    const std::string found = text(json, key);
    return found.empty() || found.size() > kMost ? otherwise : one_line(found);
}

/// Recordings before the key "measure" contain only the light.
Quantity read_quantity(const Json& json) {
    Quantity light;
    const std::string name = word(json, "quantity", light.name);
    if (name == light.name)
        return light;
    return {name, word(json, "symbol", name), word(json, "unit", "1"), measure_named(text(json, "measure"))};
}

std::uint64_t natural(const Json& json) { return json.is_number_unsigned() ? json.get<std::uint64_t>() : 0; }

/// A date in ISO 8601 format; any other text is rejected.
std::string date(const std::string& text) {
    constexpr std::size_t kMost = 40;
    return text.size() <= kMost && text.find_first_not_of("0123456789-:.+TZ") == std::string::npos ? text
                                                                                                   : "";
}

/// Ignores a capture time that is too late.
void read_one(const Json& json, Recorded& frame) {
    for (const NamedCount& named : kCounts) {
        const auto at = json.find(named.name);
        frame.counts.*named.count = at != json.end() ? natural(*at) : 0;
    }
    frame.capture_ns = integer<std::int64_t>(json, "capture_ns");
    if (frame.capture_ns && (*frame.capture_ns >= kTooLate || *frame.capture_ns <= -kTooLate))
        frame.capture_ns.reset();
    frame.sequence = integer<std::uint64_t>(json, "sequence");
    frame.exposure_ms = number(json, "exposure_ms", kUnknown);
    frame.exposure_origin = ExposureOrigin::unknown;
    if (frame.quantity.measure != Measure::intensity) { // results depend on an exposure, from any origin
        frame.exposure_ms = number(json, "exposure_used_ms", kUnknown);
        for (const ExposureOrigin origin : {ExposureOrigin::parameter, ExposureOrigin::assumed})
            if (text(json, "exposure_origin") == to_string(origin))
                frame.exposure_origin = origin;
    }
    frame.in_warmup = json.value("complete", Json()) == false;
    const auto skipped = json.find("left_out");
    frame.decimated = skipped != json.end() ? natural(*skipped) : 0;
}
} // namespace

Quantity quantity_of(const Recorded& file, const Shape& read) {
    const bool same =
        file.shape.width > 0 && file.shape.channels == read.channels && file.shape.type == read.type;
    return same ? file.quantity : Quantity{};
}

std::uint64_t lost_between(std::optional<std::uint64_t> before, const Recorded& frame) {
    const std::uint64_t lost = missing_between(before, frame);
    return lost <= kMostFrames ? lost : 0;
}

void RecordedText::doubt(std::string_view what) {
    if (std::find(doubts_.begin(), doubts_.end(), what) == doubts_.end())
        doubts_.push_back(what);
}

void RecordedText::read_rate(const Json& json) {
    for (const bool measured : {false, true}) {
        const double rate = number(json, measured ? "measured_rate" : "rate", 0);
        // 0: unknown. A rate measured over frames that were read as fast as possible is no camera's rate, but
        // valid.
        const bool honest = rate == 0 || (measured && rate > kMaxRate);
        if (believable(rate))
            now_.rate = rate;
        else if (!honest)
            doubt(kNoRate);
        if (now_.rate > 0)
            return;
    }
}

void RecordedText::read_frame(const Json& json) {
    const std::optional<std::uint64_t> before = now_.sequence;
    read_one(json, now_);
    if (is_invalid(json, "capture_ns", now_.capture_ns.has_value()))
        doubt("a capture time that is not a whole number of ns within 146 years");
    if (is_invalid(json, "sequence", now_.sequence.has_value()))
        doubt(kNoSequence);
    if (missing_between(before, now_) > kMostFrames)
        doubt(kTooManyLost);
}

bool RecordedText::begin(std::string_view description) {
    *this = {};
    const Json json = json_object_in(description);
    if (!json.is_object() || !text(json, "program").starts_with("Specklescope"))
        return false;
    ours_ = true;
    now_.raw = text(json, "content") == "raw";
    format_ = text(json, "format");
    width_ = side(json, "width");
    height_ = side(json, "height");
    const auto finished = json.find("finished");
    if (finished != json.end() && finished->is_boolean() && finished->get<bool>())
        frames_ = integer<std::uint64_t>(json, "written").value_or(0);
    if (frames_ > kMostFrames) {
        frames_ = 0;
        doubt("more than 2^40 frames written");
    }
    now_.full_scale = now_.raw ? std::max(0.0, number(json, "full_scale", 0)) : 0;
    read_rate(json);
    now_.exposure_ms = number(json, "exposure_ms", kUnknown);
    for (const Light light : {Light::counts, Light::decoded, Light::radiance})
        if (text(json, "light") == to_string(light))
            now_.light = light;
    if (const double um = number(json, "um_per_px", 0); um > 0 && um <= kMaxUmPerPx)
        now_.um_per_px = um;
    if (text(json, "content") != "mask") {
        now_.quantity = read_quantity(json);
        now_.shape = {side(json, "width"), side(json, "height"), side(json, "channels"), PixelType::u8};
        for (const auto& [key, taken] : {std::pair("width", now_.shape.width),
                                         {"height", now_.shape.height},
                                         {"channels", now_.shape.channels}})
            if (is_invalid(json, key, taken > 0))
                doubt("a width, a height or channels outside 1 to 1e9");
        for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
            if (text(json, "pixel_type") == to_string(type))
                now_.shape.type = type;
    }
    now_.assumed = parse_assumptions(text(json, "assumed"));
    now_.untimed = text(json, "time_origin") == to_string(TimeOrigin::none);
    now_.started = date(text(json, "started"));
    if (const auto frame = json.find("frame"); frame != json.end() && frame->is_object())
        read_frame(*frame);
    first_ = now_.counts;
    first_in_warmup_ = now_.in_warmup;
    if (const auto columns = json.find("frames"); columns != json.end() && columns->is_object())
        read_columns(*columns);
    if (const auto facts = json.find("facts"); facts != json.end() && facts->is_array())
        read_warmups(*facts, now_.in_warmup);
    if (const auto changes = json.find("changes"); changes != json.end() && changes->is_array())
        for (const Json& row : *changes) {
            if (!row.is_array() || row.size() != 3 || !row[0].is_number_unsigned())
                continue;
            if (row[1].is_number_unsigned())
                changes_.push_back({row[0].get<std::uint64_t>(), row[1].get<std::uint64_t>(),
                                    row[2].is_number() ? row[2].get<double>() : kUnknown});
            else if (row[1].is_number())
                doubt(kNoSequence);
        }
    // Between two changes, each frame follows the one before.
    Recorded at = now_;
    std::uint64_t before = 0;
    for (const Change& change : changes_) {
        if (at.sequence && change.index > before) {
            const std::uint64_t last = *at.sequence + (change.index - before - 1);
            at.sequence = change.sequence;
            at.decimated = value_at(decimated_, change.index);
            if (missing_between(last, at) > kMostFrames)
                doubt(kTooManyLost);
        }
        at.sequence = change.sequence;
        before = change.index;
    }
    return true;
}

void RecordedText::next(std::string_view description) {
    if (!ours_)
        return;
    const Json json = json_object_in(description);
    read_frame(json.is_object() ? json : Json::object());
}

void RecordedText::state(Recorded stated) {
    now_ = std::move(stated);
    now_.foreign = true;
}

void RecordedText::state_time(std::optional<std::int64_t> capture_ns) {
    now_.capture_ns = capture_ns;
    now_.foreign = true;
}

/// Runs of equal values: a number for one frame, [number, frames] for several.
RecordedText::Column RecordedText::read_column(const Json& runs) {
    Column column;
    for (const Json& run : runs) {
        const bool several = run.is_array() && run.size() == 2;
        column.runs.emplace_back(column.frames, natural(several ? run[0] : run));
        column.frames += std::min(several ? natural(run[1]) : 1, kMostFrames - column.frames);
    }
    return column;
}

/// 0 after its end.
std::uint64_t RecordedText::value_at(const Column& column, std::uint64_t index) {
    if (index >= column.frames)
        return 0;
    const auto next = std::upper_bound(column.runs.begin(), column.runs.end(), index,
                                       [](std::uint64_t at, const auto& run) { return at < run.first; });
    return std::prev(next)->second;
}

void RecordedText::read_columns(const Json& columns) {
    const auto column = [&](const char* name) {
        const auto found = columns.find(name);
        return found != columns.end() && found->is_array() ? read_column(*found) : Column{};
    };
    for (const NamedCount& named : kCounts) {
        columns_.push_back(column(named.name));
        columns_.back().count = named.count;
    }
    decimated_ = column("left_out");
}

/// Rows of [frame, changed values from there on].
void RecordedText::read_warmups(const Json& facts, bool first) {
    warmups_.emplace_back(0, first);
    for (const Json& row : facts) {
        if (!row.is_array() || row.size() != 2 || !row[1].is_object() || !row[1].contains("complete"))
            continue;
        if (const std::uint64_t index = natural(row[0]); index > warmups_.back().first)
            warmups_.emplace_back(index, row[1]["complete"] == false);
    }
}

/// For a file without its end, only the first frame has known counts.
void RecordedText::seek_counts(std::uint64_t index) {
    const auto next = std::upper_bound(warmups_.begin(), warmups_.end(), index,
                                       [](std::uint64_t at, const auto& row) { return at < row.first; });
    now_.in_warmup = next != warmups_.begin() ? std::prev(next)->second : first_in_warmup_ && index == 0;
    now_.counts = index == 0 ? first_ : PixelCounts{};
    for (const Column& column : columns_)
        if (index < column.frames)
            now_.counts.*column.count = value_at(column, index);
    now_.decimated = value_at(decimated_, index);
}

void RecordedText::seek(std::uint64_t index) {
    if (!ours_)
        return;
    seek_counts(index);
    if (changes_.empty())
        return;
    if (change_ > 0 && changes_[change_ - 1].index > index)
        change_ = 0;
    while (change_ < changes_.size() && changes_[change_].index <= index)
        ++change_;
    if (change_ == 0)
        return;
    const Change& change = changes_[change_ - 1];
    now_.sequence = change.sequence + (index - change.index);
    now_.exposure_ms = change.exposure_ms;
}

double rate_of(const std::vector<std::int64_t>& capture_ns) {
    std::vector<std::int64_t> steps;
    for (std::size_t i = 1; i < capture_ns.size(); ++i)
        if (capture_ns[i] > capture_ns[i - 1])
            steps.push_back(capture_ns[i] - capture_ns[i - 1]);
    if (steps.empty())
        return 0;
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    const double rate = 1e9 / static_cast<double>(*middle);
    return believable(rate) ? rate : 0;
}

} // namespace specklescope
