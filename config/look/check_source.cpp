#include "config/look/check_source.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
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

bool is_check(std::string_view text) {
    return text.starts_with("{\n \"program\": \"Specklescope ") &&
           text.substr(0, 256).find("\n \"content\": \"check\",\n") != std::string_view::npos;
}

} // namespace

std::uint64_t check_length(const Shape& shape) {
    return std::clamp<std::uint64_t>(50'000'000 / kCheckBursts / std::max<std::uint64_t>(1, shape.pixels()),
                                     6, 64);
}

CheckReport check_frames(const SourceInfo& info, const std::string& source, int bursts,
                         const CheckFrames& next) {
    if (info.quantity.measure != Measure::intensity)
        throw UsageError("'" + source + "' holds " + info.quantity.name +
                         ", and a check needs raw images. Give a recording of raw frames.");
    RecordingCheck check;
    const std::uint64_t length = check_length(info.shape) * kCheckBursts / static_cast<std::uint64_t>(bursts);
    for (int burst = 0; burst < bursts; ++burst) {
        check.begin_burst();
        for (std::uint64_t i = 0; i < length; ++i) {
            work_goes_on("the check",
                         (burst + static_cast<double>(i) / static_cast<double>(length)) / bursts);
            const std::optional<Frame> frame = next(burst, i);
            if (!frame)
                break;
            check.add(frame->host(), frame->info(), mosaic_ratio(frame->host()));
        }
    }
    CheckReport report = check.report(info.lossy);
    if (report.facts.frames == 0)
        throw RunError("'" + source + "' has no frames. Record some.");
    return report;
}

CheckReport check_source(const SourceArgument& source, const SourceDefaults& defaults) {
    FrameReader reader(source, defaults);
    const SourceInfo& info = reader.info();
    const std::uint64_t length = check_length(info.shape);
    const bool seeks = info.seekable && info.length > kCheckBursts * length;
    return check_frames(info, source.shown(), seeks ? kCheckBursts : 1, [&](int burst, std::uint64_t i) {
        if (burst > 0 && i == 0)
            reader.source().seek(
                (info.length - length) * static_cast<std::uint64_t>(burst) / (kCheckBursts - 1), length);
        return reader.next();
    });
}

std::string to_string(const Finding& finding) {
    return finding.text + " (" + to_string(finding.sure) + "). " + finding.effect + ". " + finding.advice +
           ".";
}

std::vector<std::pair<std::string, std::string>> fact_rows(const CheckFacts& facts) {
    std::vector<std::pair<std::string, std::string>> rows = {
        {"looked at",
         count_of(static_cast<std::uint64_t>(facts.frames), "frame") + " of " + to_string(facts.shape)},
        {"values", printed("%.5g to %.5g, mean %.4g DN", facts.least, facts.greatest, facts.mean) +
                       (facts.bits > 0 ? printed("; %d bits used", facts.bits) : "")}};
    if (facts.speckle_px > 0)
        rows.emplace_back("speckle", printed("%.2g px wide, β at most %.2g", facts.speckle_px, facts.beta));
    rows.emplace_back("contrast", printed("K %.3g in windows of 33 px", facts.contrast));
    if (facts.frames > 1)
        rows.emplace_back("change", printed("consecutive frames are correlated by %.2g", facts.correlation));
    if (facts.rate_hz > 0)
        rows.emplace_back("rate", printed("%.4g frames/s", facts.rate_hz));
    return rows;
}

std::string check_text(const CheckReport& report) {
    constexpr std::size_t kLeft = 10;
    std::string text;
    for (const auto& [name, value] : fact_rows(report.facts))
        text += row(name, value, kLeft);
    for (const Finding& finding : report.findings)
        text += row(finding.what, to_string(finding), kLeft);
    if (report.findings.empty())
        text += row("findings", "none", kLeft);
    return text;
}

std::string check_json(const CheckReport& report, const std::string& source) {
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
    return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

int report_check(const CheckSettings& settings) {
    if (!settings.json.empty())
        check_replaceable(settings.json, {.what = "check", .option = "--json", .holds = is_check});
    const CheckReport report = check_source(settings.source);
    std::string text = check_text(report);
    if (!settings.json.empty()) {
        write_atomically(settings.json, check_json(report, settings.source.shown()));
        text += row("wrote", settings.json, 10);
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 0;
}

} // namespace specklescope
