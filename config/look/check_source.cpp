#include "config/look/check_source.hpp"

#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/look/frame_reader.hpp"
#include "config/text.hpp"
#include "sources/bayer.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace specklescope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kBursts = 3;

/// Frames of a burst: about 50 million pixels in all, for two seconds on two cores.
std::uint64_t burst_length(const Shape& shape) {
    return std::clamp<std::uint64_t>(50'000'000 / kBursts / std::max<std::uint64_t>(1, shape.pixels()), 6,
                                     64);
}

void read_burst(FrameReader& reader, std::uint64_t length, RecordingCheck& check) {
    check.begin_burst();
    for (std::uint64_t i = 0; i < length; ++i) {
        const std::optional<Frame> frame = reader.next();
        if (!frame)
            return;
        check.add(frame->host(), frame->info(), mosaic_ratio(frame->host()));
    }
}

std::string facts_text(const CheckFacts& facts) {
    const std::size_t left = 10;
    std::string text = row(
        "looked at",
        count_of(static_cast<std::uint64_t>(facts.frames), "frame") + " of " + to_string(facts.shape), left);
    text += row("values",
                printed("%.5g to %.5g, mean %.4g DN", facts.least, facts.greatest, facts.mean) +
                    (facts.bits > 0 ? printed("; %d bits used", facts.bits) : ""),
                left);
    if (facts.speckle_px > 0)
        text += row("speckle", printed("%.2g px wide, β at most %.2g", facts.speckle_px, facts.beta), left);
    text += row("contrast", printed("K %.3g in windows of 33 px", facts.contrast), left);
    if (facts.frames > 1)
        text += row("change", printed("consecutive frames are correlated by %.2g", facts.correlation), left);
    if (facts.rate_hz > 0)
        text += row("rate", printed("%.4g frames/s", facts.rate_hz), left);
    return text;
}

Json to_json(const CheckReport& report, const std::string& source) {
    const CheckFacts& facts = report.facts;
    Json json;
    json["program"] = "Specklescope " SPECKLESCOPE_VERSION;
    json["content"] = "check";
    json["source"] = source;
    json["facts"] = {{"width", facts.shape.width},
                     {"height", facts.shape.height},
                     {"channels", facts.shape.channels},
                     {"pixel_type", to_string(facts.shape.type)},
                     {"frames", facts.frames},
                     {"mean", facts.mean},
                     {"least", facts.least},
                     {"greatest", facts.greatest},
                     {"bits", facts.bits},
                     {"contrast", facts.contrast},
                     {"speckle_px", facts.speckle_px},
                     {"beta_bound", facts.beta},
                     {"correlation", facts.correlation},
                     {"rate_hz", facts.rate_hz}};
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings)
        json["findings"].push_back({{"what", finding.what},
                                    {"sure", to_string(finding.sure)},
                                    {"value", finding.value},
                                    {"text", finding.text},
                                    {"effect", finding.effect},
                                    {"advice", finding.advice}});
    return json;
}

bool is_check(std::string_view text) {
    return text.starts_with("{\n \"program\": \"Specklescope ") &&
           text.substr(0, 256).find("\n \"content\": \"check\",\n") != std::string_view::npos;
}

} // namespace

CheckReport check_source(const SourceArgument& source) {
    FrameReader reader(source);
    const SourceInfo& info = reader.info();
    if (info.quantity.measure != Measure::intensity)
        throw UsageError("'" + source.shown() + "' holds " + info.quantity.name +
                         ", and a check needs raw images. Give a recording of raw frames.");
    RecordingCheck check;
    const std::uint64_t burst = burst_length(info.shape);
    if (!info.seekable || info.length <= kBursts * burst) {
        read_burst(reader, kBursts * burst, check);
    } else {
        for (std::uint64_t i = 0; i < kBursts; ++i) {
            if (i > 0)
                reader.source().seek((info.length - burst) * i / (kBursts - 1), burst);
            read_burst(reader, burst, check);
        }
    }
    CheckReport report = check.report(info.lossy);
    if (report.facts.frames == 0)
        throw RunError("'" + source.shown() + "' has no frames. Record some.");
    return report;
}

std::string to_string(const Finding& finding) {
    return finding.text + " (" + to_string(finding.sure) + "). " + finding.effect + ". " + finding.advice +
           ".";
}

int report_check(const CheckSettings& settings) {
    if (!settings.json.empty())
        check_replaceable(settings.json, {.what = "check", .option = "--json", .holds = is_check});
    const CheckReport report = check_source(settings.source);
    std::string text = facts_text(report.facts);
    for (const Finding& finding : report.findings)
        text += row(finding.what, to_string(finding), 10);
    if (report.findings.empty())
        text += row("findings", "none", 10);
    if (!settings.json.empty()) {
        write_atomically(
            settings.json,
            to_json(report, settings.source.shown()).dump(1, ' ', true, Json::error_handler_t::replace) +
                "\n");
        text += row("wrote", settings.json, 10);
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 0;
}

} // namespace specklescope
