#include "recording/traces_text.hpp"

#include "base/one_line.hpp"
#include "recording/record_file.hpp"

#include <charconv>
#include <chrono>

namespace specklescope {

namespace {

/// As short as reads back the same; nan, inf, -inf.
void add(std::string& text, double value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

template <class Whole> void add_whole(std::string& text, Whole value) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// All nine digits of it, which no float64 would hold.
void add_seconds(std::string& text, std::int64_t ns) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    if (ns < 0)
        text += '-';
    add_whole(text, size / kSecond);
    std::string part = std::to_string(size % kSecond);
    text += "." + std::string(9 - part.size(), '0') + part;
}

std::int64_t ns_of(SteadyClock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// A comment, which is no longer than a line may be (recording/line_pages.hpp): the rest of a long one
/// follows in lines of its own.
std::string comment(std::string text) {
    constexpr std::size_t kMost = 2000;
    std::string lines;
    while (text.size() > kMost) {
        std::size_t cut = kMost;
        while (cut > 1 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80) // within a letter of UTF-8
            --cut;
        lines += text.substr(0, cut) + "\n";
        text = "#   " + text.substr(cut);
    }
    return lines + text + "\n";
}

std::string in_brackets(const Quantity& quantity) {
    return one_line(quantity.name) + " " + quantity.symbol + " (" + quantity.unit + ")";
}

std::string setting(const Result& result, const char* what, const std::string& value) {
    return comment("# version " + std::to_string(result.info.version) + ", " + what + ": " + one_line(value));
}

std::string mean_text(const Result& result) {
    switch (result.regions->mean) {
    case RegionMean::of_squares:
        return "the root of the mean of K²";
    case RegionMean::of_inverses:
        return "of the mean of K², converted as the map is: 1/⟨1/value⟩";
    case RegionMean::plain:
        break;
    }
    return "of the values, as mean_of_map";
}

} // namespace

std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n#") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string traces_begin(const StreamInfo& stream) {
    std::string text = kTracesMark;
    const auto say = [&](const char* what, const std::string& value) {
        text += comment(std::string("# ") + what + ": " + one_line(value));
    };
    say("program", "Specklescope " SPECKLESCOPE_VERSION);
    say("source", stream.source_text);
    say("backend", stream.backend);
    std::string now = utc_now() + " with arrival_s at ";
    add_seconds(now, ns_of(SteadyClock::now()));
    const std::optional<std::string>& started = stream.source.started;
    say("started", !started ? now : started->empty() ? "unknown" : *started);
    if (started)
        say("processed", now);
    say("sequence", "number of the frame; one that is missing was dropped");
    say("capture_s, arrival_s", "s, on the source's clock and on this machine's steady one");
    say("mean, std, min, max, mean_of_map, median", "in the unit of the map; std with n - 1; all but mean "
                                                    "over the valid pixels alone; median empty where "
                                                    "it was not asked for");
    say("valid, infinite", "finite and infinite pixels; the others of pixels are undefined");
    say("saturated", "pixels with a sample of the raw frame at full scale; of the result where a stage has "
                     "moved pixels; empty where neither can be told");
    say("version", "counts the edits that made the result");
    say("pixels", "area of the region on the picture");
    say("position", "of the frame in its file, from 0; empty of no file");
    say("event",
        "number,sequence,capture_s,label: was marked at that frame; the last line of a number counts, "
        "and one without a label takes the event back");
    return text;
}

std::string event_line(const EventMark& event) {
    std::string text = "# event: ";
    add_whole(text, event.number);
    text += ',';
    add_whole(text, event.sequence);
    text += ',';
    add_seconds(text, event.capture_ns);
    return text + "," + (event.removed ? "" : csv_text(one_line(event.label))) + "\n";
}

std::string traces_columns() {
    return "sequence,capture_s,arrival_s,region,mean,std,min,max,valid,infinite,saturated,version,"
           "mean_of_map,median,pixels,position\n";
}

std::string traces_exposure(const Result& result) {
    return setting(result, "exposure", result.exposure.known() ? to_string(result.exposure) : "unknown");
}

std::string traces_settings(const Result& result) {
    std::string text;
    const auto say = [&](const char* what, const std::string& value) {
        text += setting(result, what, value);
    };
    if (result.chain)
        say("chain", to_string(*result.chain));
    const PlacedRegions& placed = *result.regions->placed;
    say("map", in_brackets(result.quantity) + " of " + std::to_string(placed.width) + "×" +
                   std::to_string(placed.height) + " pixels");
    say("mean", mean_text(result));
    if (result.exposure.known())
        text += traces_exposure(result);
    for (const PlacedRegion& region : placed.regions)
        say("region", region.name + ": " + region.shape + ", " + std::to_string(region.pixels) + " pixels" +
                          (region.fit == RegionFit::whole     ? ""
                           : region.fit == RegionFit::clipped ? ", clipped at the picture's edge"
                                                              : ", none of it on the picture"));
    return text;
}

void add_rows(const Result& result, std::string& text) {
    std::string times;
    add_whole(times, result.info.sequence);
    times += ',';
    add_seconds(times, result.info.capture_ns);
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
            add(text, value);
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
        add(text, region.mean_of_map);
        text += ',';
        if (values.placed->medians)
            add(text, region.median);
        text += ',';
        add_whole(text, region.pixels);
        text += ',';
        if (result.info.position)
            add_whole(text, *result.info.position);
        text += '\n';
    }
}

} // namespace specklescope
