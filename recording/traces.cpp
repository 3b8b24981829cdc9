#include "recording/traces.hpp"

#include "analysis/baseline_image.hpp"
#include "analysis/pulse_table.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/batch_sink.hpp"
#include "recording/record_file.hpp"
#include "recording/table.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

/// Requires a finite F₀ other than 0, as in the window.
void add_change(std::string& text, double mean, const std::vector<double>& f0, std::size_t region) {
    const bool known = region < f0.size() && std::isfinite(f0[region]) && f0[region] != 0;
    text += ',';
    if (known)
        add_number(text, f0[region]);
    text += ',';
    if (known && !std::isnan(mean))
        add_number(text, relative_change(mean, f0[region]));
}

void add_motion(std::string& text, const FrameMotion& motion) {
    for (const double shift : {motion.x, motion.y}) {
        text += ',';
        if (!std::isnan(shift))
            add_number(text, shift);
    }
    text += motion.moved ? ",1" : ",0";
    text += motion.left_out ? ",1" : ",0";
}

std::string outline_text(std::uint64_t outline) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(outline));
    return text.data();
}

std::string in_brackets(const Quantity& quantity) {
    return one_line(quantity.name) + " " + quantity.symbol + " (" + quantity.unit + ")";
}

} // namespace

std::string traces_begin(const StreamInfo& stream, bool baseline) {
    std::string text = kTracesMark;
    const auto say = [&](const char* what, const std::string& value) {
        text += std::string("# ") + what + ": " + one_line(value) + "\n";
    };
    say("program", "Specklescope " SPECKLESCOPE_VERSION);
    say("source", stream.source_text);
    say("backend", stream.backend);
    say("sequence", "number of the frame; a missing one was dropped");
    say("capture_s, arrival_s", "s, on the source's clock and on this machine's steady one; capture_s empty "
                                "if the source has no times: set its rate with --rate");
    say("mean, std, min, max, mean_of_map, median",
        "in the unit of the map; std with n - 1; all but mean over the valid pixels only; median empty "
        "without --medians");
    say("valid, infinite", "finite and infinite pixels; the others of pixels are undefined");
    say("saturated", "pixels with a sample of the raw frame at full scale; of the result where a stage has "
                     "moved pixels; empty where neither can be told");
    say("version", "counts the edits that made the result");
    say("pixels", "area of the region in the image");
    say("outline", "another number when the region holds other pixels");
    say("area_um2", "that area in µm²; empty if the pixel size is unknown");
    say("position", "of the frame in its file, from 0; empty of no file");
    say("warming_up",
        "1: made while a stage filled its history or took a capture, now or when it was recorded");
    say("shift_x, shift_y",
        "motion of the scene in px, positive to the right and downwards, if a stage measured it at the first "
        "row; empty if none was found");
    say("moved, left_out", "1: the frame was moved back; 1: windows of later stages do not contain it");
    if (baseline)
        say("baseline, change_percent",
            "F0 of the region in the unit of the map, and 100·(mean/F0 − 1) %; empty "
            "where there is none");
    say("event",
        "number,sequence,capture_s,label: was marked at that frame; the last line of a number counts, "
        "and one without a label takes the event back");
    return text;
}

std::string traces_dates(const FrameInfo& first, const StreamInfo& stream) {
    const bool live = !stream.source.started;
    const std::string date = date_of(first, stream);
    std::string clock = " with arrival_s at ";
    add_seconds(clock, ns_of(live ? first.arrival : SteadyClock::now()));
    return "# started: " + (date.empty() ? "unknown" : date) + (live ? clock : "") + "\n" +
           (live ? "" : "# processed: " + utc_now() + clock + "\n");
}

std::string event_line(const EventMark& event) {
    std::string text = "# event: ";
    add_whole(text, event.number);
    text += ',';
    add_whole(text, event.sequence);
    text += ',';
    if (event.timed)
        add_seconds(text, event.capture_ns);
    return text + "," + (event.removed ? "" : csv_text(one_line(event.label))) + "\n";
}

std::string traces_columns(const TraceExtras& extras) {
    return std::string(
               "sequence,capture_s,arrival_s,region,mean,std,min,max,valid,infinite,saturated,version,"
               "mean_of_map,median,pixels,position,area_um2,warming_up") +
           (extras.motion ? ",shift_x,shift_y,moved,left_out" : "") +
           (extras.baseline ? ",baseline,change_percent\n" : "\n");
}

std::string traces_settings(const Result& result, const TraceExtras& extras) {
    std::string text;
    const auto say = [&](const char* what, const std::string& value) {
        text += setting_line(result.info.version, what, value);
    };
    if (result.chain)
        say("chain", to_string(*result.chain));
    if (const std::string channel = grey_channel_of(result); !channel.empty())
        say("channel", channel);
    if (result.info.full_scale > 0) {
        std::string full_scale;
        add_number(full_scale, result.info.full_scale);
        say("full scale", full_scale);
    }
    if (result.info.assumed.any())
        say("assumed", to_string(result.info.assumed));
    const PlacedRegions& placed = *result.regions->placed;
    say("map", in_brackets(result.quantity) + " of " + std::to_string(placed.width) + "×" +
                   std::to_string(placed.height) + " pixels");
    if (!extras.scale.empty())
        say("scale", extras.scale);
    if (extras.baseline)
        say("baseline", extras.baseline_text);
    say("mean", std::string(mean_text(result.regions->mean)));
    if (result.exposure.known())
        text += exposure_line(result.info.version, result.exposure);
    for (const PlacedRegion& region : placed.regions)
        say("region", region.name + ": " + region.shape + ", " + std::to_string(region.pixels) + " pixels" +
                          (region.fit == RegionFit::whole     ? ""
                           : region.fit == RegionFit::clipped ? ", clipped at the edge of the image"
                                                              : ", outside the image") +
                          ", outline " + outline_text(outline_of(placed, region)));
    return text;
}

void add_rows(const Result& result, const TraceExtras& extras, std::string& text) {
    std::string times;
    add_whole(times, result.info.sequence);
    times += ',';
    add_capture(times, result.info);
    times += ',';
    add_seconds(times, ns_of(result.info.arrival));
    times += ',';
    const RegionValues& values = *result.regions;
    for (std::size_t i = 0; i < values.statistics.size(); ++i) {
        const RegionStatistics& region = values.statistics[i];
        text += times;
        text += csv_text(values.placed->regions[i].name);
        for (const double value : {region.mean, region.std, region.min, region.max}) {
            text += ',';
            add_number(text, value);
        }
        text += ',';
        add_whole(text, region.valid);
        text += ',';
        add_whole(text, region.infinite);
        text += ',';
        if (region.saturated >= 0)
            add_whole(text, region.saturated);
        text += ',';
        add_whole(text, result.info.version);
        text += ',';
        add_number(text, region.mean_of_map);
        text += ',';
        if (values.placed->medians)
            add_number(text, region.median);
        text += ',';
        add_whole(text, region.pixels);
        text += ',';
        if (result.info.position)
            add_whole(text, *result.info.position);
        text += ',';
        if (extras.um > 0)
            add_number(text, static_cast<double>(region.pixels) * extras.um * extras.um);
        text += result.warming_up() ? ",1" : ",0";
        if (extras.motion)
            add_motion(text, result.info.motion.value_or(FrameMotion()));
        if (extras.baseline)
            add_change(text, region.mean, extras.f0, i);
        text += '\n';
    }
}

namespace {

constexpr ReplaceableKind kTracesKind{
    .what = "traces", .option = "--traces", .holds = [](std::string_view text) {
        return text.starts_with(kTracesMark);
    }};

/// A result without its pixels, or an event.
struct TraceItem {
    Result result;
    std::optional<EventMark> event;
};

class Traces final : public BatchSink<TraceItem> {
public:
    Traces(std::string path, TableFile::Taken taken, FindBaseline baseline)
        : BatchSink(std::size_t{1} << 20, 4096), // rows: 100 MB at most
          wanted_(std::move(path)), taken_(taken), baseline_(std::move(baseline)) {
        extras_.baseline = static_cast<bool>(baseline_);
    }
    ~Traces() override { close(); }

    void open(const StreamInfo& stream) override {
        close();
        if (taken_ == TableFile::Taken::is_replaced)
            check_traces_file(wanted_);
        table_ = TableFile(wanted_, traces_begin(stream, extras_.baseline), taken_);
        path_ = table_.path();
        stream_ = stream;
        told_.reset();
        placed_.reset();
        SinkStatus status;
        status.path = path_;
        status.bytes = table_.bytes();
        start(std::move(status));
    }

    void push(const Result& result, bool may_wait) override {
        if (!result.repeated && has_room(may_wait))
            add({.result = without_pixels(result), .event = {}},
                1 + (result.regions ? result.regions->statistics.size() : 0), true);
    }

    void mark(const EventMark& event) override { add({.result = {}, .event = event}, 1, false); }
    bool wants_host_image() const override { return false; }

private:
    bool is_frame(const TraceItem& item) const override { return !item.event; }

    void write(const Items& items, Written& written) override { table_.append(lines_of(items), written); }

    void finish_file(bool well) override {
        if (well && !told_)
            table_.append(traces_columns(extras_));
        table_.close();
    }

    /// Throws RunError without memory.
    FrameLines lines_of(const Items& items) {
        FrameLines lines;
        try {
            for (const TraceItem& item : items)
                if (item.event) {
                    lines.text += event_line(*item.event);
                } else {
                    add_frame(item.result, lines.text);
                    lines.ends.push_back(lines.text.size());
                }
        } catch (const std::exception& thrown) {
            throw RunError("Traces into " + path_ + " stopped. " + sentence_of(thrown));
        }
        return lines;
    }

    /// Writes the settings before the first rows, and again after a change.
    void add_frame(const Result& result, std::string& text) {
        if (!result.regions)
            return;
        const std::string exposure = to_string(result.exposure);
        const bool other_scale =
            std::exchange(full_scale_, result.info.full_scale) != result.info.full_scale ||
            !(assumed_ == result.info.assumed);
        assumed_ = result.info.assumed;
        if (told_ != result.info.version || other_scale ||
            !same_places(placed_.get(), result.regions->placed.get())) {
            tell_extras(result);
            if (!told_)
                text += traces_dates(result.info, stream_);
            text += traces_settings(result, extras_);
            if (!told_) {
                extras_.motion = result.info.motion.has_value();
                text += traces_columns(extras_);
            }
            told_ = result.info.version;
            placed_ = result.regions->placed;
        } else if (exposure != exposure_) { // changed by the camera, without an edit
            text += exposure_line(result.info.version, result.exposure);
            const std::string before = extras_.baseline_text;
            tell_extras(result);
            if (before != extras_.baseline_text)
                text += setting_line(result.info.version, "baseline", extras_.baseline_text);
        }
        exposure_ = exposure;
        add_rows(result, extras_, text);
    }

    void tell_extras(const Result& result) {
        extras_.um = um_per_px(stream_, result.chain.get());
        extras_.scale = scale_text(stream_, result.chain.get());
        extras_.f0.clear();
        if (baseline_)
            extras_.f0 = baseline_(result, extras_.baseline_text);
    }

    const std::string wanted_;
    const TableFile::Taken taken_;
    const FindBaseline baseline_; ///< null: none

    // Used by the writing thread, while it runs.
    std::string path_;
    TableFile table_;
    StreamInfo stream_;
    TraceExtras extras_;
    std::optional<std::uint64_t> told_; ///< version of the settings written last
    std::shared_ptr<const PlacedRegions> placed_;
    std::string exposure_;
    double full_scale_ = 0;
    Assumptions assumed_;
};

} // namespace

void check_traces_file(const std::string& path) { check_table(path, kTracesKind); }

FindBaseline baseline_over(std::shared_ptr<const BaselineImage> image) {
    if (!image)
        return nullptr;
    return [image = std::move(image)](const Result& result, std::string& text) {
        text = image->text();
        const PlacedRegions& placed = *result.regions->placed;
        const MadeWith with = made_with(result);
        const std::string misfit =
            image->misfit({placed.width, placed.height, 1, PixelType::f32}, result.quantity, &with);
        if (misfit.empty())
            return image->over(result.regions->placed);
        text += "; not used: " + misfit;
        return std::vector<double>();
    };
}

std::shared_ptr<Sink> make_traces(const std::string& path, std::shared_ptr<const BaselineImage> baseline) {
    return std::make_shared<Traces>(path, TableFile::Taken::is_replaced, baseline_over(std::move(baseline)));
}

std::shared_ptr<Sink> make_new_traces(const std::string& wanted, FindBaseline baseline) {
    return std::make_shared<Traces>(wanted, TableFile::Taken::stays, std::move(baseline));
}

std::string traces_table(const StreamInfo& stream, const TraceOverview& about,
                         const std::vector<TraceValues>& frames, const std::vector<TimedEvent>& events) {
    std::string text = kTracesMark;
    text += "# program: Specklescope " SPECKLESCOPE_VERSION "\n# source: " + one_line(stream.source_text) +
            "\n# map: " + in_brackets(about.quantity) + "\n# mean: " + std::string(mean_text(about.mean)) +
            "\n";
    for (const TimedEvent& event : events)
        text += event_line(event.mark);
    text += "sequence,capture_s,region,mean\n";
    for (const TraceValues& frame : frames) {
        std::string begin;
        add_whole(begin, frame.moment.sequence);
        begin += ',';
        if (frame.moment.timed)
            add_seconds(begin, frame.moment.capture_ns);
        for (std::size_t i = 0; i < std::min(frame.values.size(), about.regions.size()); ++i) {
            text += begin + ',' + csv_text(about.regions[i].name) + ',';
            add_number(text, frame.values[i]);
            text += '\n';
        }
    }
    return text;
}

} // namespace specklescope
