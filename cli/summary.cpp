#include "cli/summary.hpp"

#include "config/text.hpp"
#include "pipeline/chain.hpp"
#include "session/recordings.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kLeft = kReportLeft;

std::string size_text(std::uint64_t bytes) {
    const auto value = static_cast<double>(bytes);
    return value < 1e6   ? printed("%.1f kB", value / 1e3)
           : value < 1e9 ? printed("%.1f MB", value / 1e6)
                         : printed("%.2f GB", value / 1e9);
}

/// Reasons of frames lost at the source: "12 came without some of their packets, 3 …".
std::string reasons_text(const std::vector<CopyCount>& reasons) {
    std::string text;
    for (const CopyCount& reason : reasons)
        text += (text.empty() ? "" : ", ") + std::to_string(reason.frames) + " " + reason.why;
    return text;
}

std::string drops_text(const DropCounts& drops) {
    if (drops.total() == 0)
        return "none dropped";
    return printed(
        "dropped %llu (at the source %llu, no free slot %llu, not processable %llu, by recorders %llu)",
        static_cast<unsigned long long>(drops.total()), static_cast<unsigned long long>(drops.source),
        static_cast<unsigned long long>(drops.ring), static_cast<unsigned long long>(drops.failed),
        static_cast<unsigned long long>(drops.recorder));
}

std::string file_text(const SinkFile& file) {
    return file.path + ": " + std::to_string(file.written) + (file.written == 1 ? " frame, " : " frames, ") +
           size_text(file.bytes);
}

/// "3.2 %", "0.004 %".
std::string percent(std::uint64_t part, std::uint64_t of) {
    return printed("%.2g %%", of == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

/// Counts of the last frame, the worst frame, and all frames.
std::string counts_rows(const CountHistory& counts) {
    std::string out;
    const auto three = [](auto&& one, const CountHistory& c) {
        return one(c.last) + " in the last frame, " + one(c.worst) + " in the worst, " + one(c.total);
    };
    if (counts.total.raw_saturated > 0)
        out +=
            row("saturated",
                three([](const PixelCounts& c) { return percent(c.raw_saturated, c.raw_samples); }, counts) +
                    " of all samples",
                kLeft);
    if (counts.total.saturated > 0)
        out += row("windows",
                   three([](const PixelCounts& c) { return percent(c.saturated, c.windows); }, counts) +
                       " of all saw a saturated sample",
                   kLeft);
    const auto pixels = [&](const char* what, std::uint64_t PixelCounts::*count) {
        if (counts.total.*count == 0 && counts.last.*count > 0) // there was no frame after the warm-up
            out += row(what,
                       std::to_string(counts.last.*count) + " pixels of the last frame, made in the warm-up",
                       kLeft);
        else if (counts.total.*count > 0)
            out += row(what,
                       three([&](const PixelCounts& c) { return std::to_string(c.*count); }, counts) +
                           " pixels in all" +
                           (counts.in_warmup > 0 ? " (worst and all: after the warm-up)" : ""),
                       kLeft);
    };
    pixels("undefined", &PixelCounts::undefined); // mean 0
    pixels("infinite", &PixelCounts::infinite);   // no contrast
    return out;
}

std::string motion_row(const MotionHistory& motion) {
    if (motion.moved + motion.not_found + motion.too_far == 0)
        return "";
    std::string text = printed("largest shift %.2f px", motion.largest_px);
    if (motion.not_found > 0)
        text += ", no shift found in " + std::to_string(motion.not_found) + " frames";
    if (motion.too_far > 0)
        text += ", too far in " + std::to_string(motion.too_far) + " frames";
    if (motion.left_out > 0)
        text += ", " + std::to_string(motion.left_out) + " frames left out";
    return row("motion", text, kLeft);
}

std::string dropped(const SinkStatus& s) {
    return s.dropped > 0 ? ", " + std::to_string(s.dropped) + " dropped" : "";
}

std::string stopped(const SinkStatus& s) {
    return s.error.empty() ? "" : "; stopped: " + s.error + " " + saved_text(s);
}

} // namespace

std::string statistics_rows(const StatsSnapshot& s, const SourceInfo& source, const Chain& chain,
                            const std::string& scale) {
    const std::string own_rate = source.rate > 0 ? printed(", its own rate %.6g frames/s", source.rate) : "";
    std::string out = row("source", s.source + ", " + to_string(source.shape) + own_rate, kLeft) +
                      row("stages", text_in_effect(chain), kLeft);
    if (source.time_origin == TimeOrigin::none)
        out += row("time", "not stated: frames are counted; give the rate with --rate", kLeft);
    if (!scale.empty())
        out += row("scale", scale, kLeft);
    for (const std::string& line : advice_lines(chain))
        out += row("note", line, kLeft);
    if (s.newest.exposure.known())
        out += row("exposure", to_string(s.newest.exposure), kLeft);
    if (!source.coding.empty())
        out += row("light", source.coding, kLeft);
    if (s.newest.assumed.any())
        out += row("assumed", to_string(s.newest.assumed), kLeft);
    if (!s.newest.channel.empty())
        out += row("colour", "stages for grey images got " + s.newest.channel, kLeft);
    out += row("ran on",
               s.backend.name + " (" + s.backend.device + ")" +
                   (s.backend.note.empty() ? "" : "; " + s.backend.note),
               kLeft);
    out += row("frames",
               std::to_string(s.frames.acquired) + " in, " + std::to_string(s.frames.processed) +
                   " processed, " + drops_text(s.drops) +
                   (s.frames.settling > 0
                        ? ", " + std::to_string(s.frames.settling) + " discarded after changes of exposure"
                        : ""),
               kLeft);
    if (!s.lost_reasons.empty())
        out += row("lost", reasons_text(s.lost_reasons), kLeft);
    if (s.away.reopened > 0)
        out += row("away",
                   "opened again " + std::to_string(s.away.reopened) +
                       (s.away.reopened == 1 ? " time, " : " times, ") +
                       printed("away %.1f s; about %llu frames missed (estimate)", s.away.seconds,
                               static_cast<unsigned long long>(s.away.missed)),
                   kLeft);
    if (const std::string transfer = to_string(s.transfer); !transfer.empty())
        out += row("into slots", transfer, kLeft);
    out += row("rate", printed("%.1f frames/s over %.2f s", s.rate.mean, s.running_s), kLeft);
    if (s.clock)
        out += row("clock", s.clock_name + ": " + to_string(*s.clock), kLeft);
    for (const auto& [name, latency] : {std::pair{"latency", s.latency}, std::pair{"to screen", s.to_screen}})
        if (latency.count > 0)
            out += row(name,
                       printed("median %.2f ms, 95 %% %.2f ms, 99 %% %.2f ms", latency.median_ms,
                               latency.p95_ms, latency.p99_ms),
                       kLeft);
    std::string times;
    for (const StageStat& stage : s.stages)
        times += (times.empty() ? "" : ", ") + stage.name + printed(" %.3f ms", stage.mean_ms);
    if (!times.empty())
        out += row("time", times + " a frame", kLeft);
    out += counts_rows(s.counts) + motion_row(s.motion);
    if (s.counts.in_warmup > 0)
        out += row("warm-up",
                   std::to_string(s.counts.in_warmup) +
                       (s.counts.in_warmup == 1 ? " frame was made in it" : " frames were made in it"),
                   kLeft);
    return out;
}

std::string recorder_rows(const SinkStatus& s) {
    std::string text;
    std::uint64_t here = s.written;
    for (const SinkFile& file : s.before) {
        text += row("wrote", file_text(file), kLeft);
        here -= file.written;
    }
    if (s.path.empty())
        return text + row("recorder", s.error, kLeft);
    return text +
           row("wrote",
               file_text({s.path, here, s.bytes}) +
                   (s.complete.empty() ? "" : ", complete with " + s.complete) +
                   (s.left_out > 0 ? ", " + std::to_string(s.left_out) + " between them left out" : "") +
                   dropped(s) +
                   (s.lost_before > 0 ? ", " + std::to_string(s.lost_before) + " lost before the recorder"
                                      : "") +
                   stopped(s),
               kLeft);
}

std::string sent_row(const char* how, const SinkStatus& s, const std::string& where) {
    return row(how,
               std::to_string(s.written) + (s.written == 1 ? " frame at " : " frames at ") + where +
                   dropped(s) + stopped(s),
               kLeft);
}

std::string answered_row(const ControlCounts& counts, const std::string& where) {
    const auto clients = std::count_if(counts.clients.begin(), counts.clients.end(),
                                       [](const ControlClientCounts& client) { return client.lost > 0; });
    return row("answered",
               std::to_string(counts.answers) + " of " + std::to_string(counts.requests) + " requests at " +
                   where +
                   (counts.lost > 0
                        ? ", " + std::to_string(counts.lost) + " answers lost: " + std::to_string(clients) +
                              (clients == 1 ? " client does not read, or has gone"
                                            : " clients do not read, or have gone")
                        : ""),
               kLeft);
}

} // namespace specklescope
