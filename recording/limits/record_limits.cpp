#include "recording/limits/record_limits.hpp"

#include "base/error.hpp"
#include "pipeline/source.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

double RecordLimits::thinned(double rate) const {
    if (rate <= 0 || !thins())
        return rate;
    return every_s > 0 ? std::min(rate, 1 / every_s) : rate / static_cast<double>(every);
}

const ParamTable& record_limits_table() {
    using L = RecordLimits;
    static const ParamTable table =
        Declare<L>("recording")
            .integer("record_frames", &L::frames,
                     {.label = "Frames, at most",
                      .min = 0,
                      .max = L::kMaxFrames,
                      .doc = "End a recording after this many frames, dropped ones included. 0: no limit"})
            .real("record_seconds", &L::seconds,
                  {.label = "Time, at most",
                   .unit = "s",
                   .min = 0,
                   .max = L::kMaxSeconds,
                   .doc = "End a recording after this many seconds of frame time. 0: no limit"})
            .integer("record_mib", &L::mib,
                     {.label = "Size, at most",
                      .unit = "MiB",
                      .min = 0,
                      .max = L::kMaxMib,
                      .doc = "End a recording before its files exceed this size in MiB. 0: no limit"})
            .integer("record_every", &L::every,
                     {.label = "One frame of",
                      .min = 1,
                      .max = L::kMaxFrames,
                      .doc = "Record one of this many frames"})
            .real("record_every_s", &L::every_s,
                  {.label = "One frame in",
                   .unit = "s",
                   .min = 0,
                   .max = L::kMaxSeconds,
                   .least = 1e-6,
                   .doc = "Record one frame in this many seconds. 0: every frame"})
            .integer("split_mib", &L::split_mib,
                     {.label = "Split by size",
                      .unit = "MiB",
                      .min = 0,
                      .max = L::kMaxMib,
                      .doc = "Start a new file before one exceeds this size in MiB. 0: one file"})
            .real("split_s", &L::split_s,
                  {.label = "Split by time",
                   .unit = "s",
                   .min = 0,
                   .max = L::kMaxSeconds,
                   .doc = "Start a new file after this many seconds. 0: one file"})
            .real("keep_free", &L::keep_free,
                  {.unit = "%",
                   .min = 0,
                   .max = 100,
                   .doc = "End a recording when less than this percentage of its disk is free"})
            .real("pre_trigger", &L::pre_trigger_s,
                  {.label = "Before trigger",
                   .unit = "s",
                   .min = 0,
                   .max = L::kMaxPreTrigger,
                   .doc = "Start raw recordings this many seconds before the trigger (the button; in run the "
                          "signal USR1). 0: off"})
            .integer("pre_trigger_mib", &L::pre_trigger_mib,
                     {.label = "Memory before",
                      .unit = "MiB",
                      .min = 1,
                      .max = L::kMaxMib,
                      .doc = "Memory for frames before the trigger, in MiB"})
            .text("subject", &L::subject,
                  {.doc = "Name of the subject, stored in recordings and used as {subject} in file names"})
            .text("note", &L::note, {.doc = "Note that is stored in recordings"})
            .text("record_name", &L::name,
                  {.label = "File names",
                   .doc = "Names of files recorded in the window, from {what}, {date}, {time}, {subject}, "
                          "{stem} and {count}"})
            .table();
    return table;
}

void check_limits(const RecordLimits& limits, const std::string& owner) {
    if (limits.every > 1 && limits.every_s > 0)
        throw UsageError(owner + ": record_every = " + std::to_string(limits.every) +
                         " and record_every_s = " + to_string(limits.every_s) +
                         " cannot be combined. Use one of them.");
}

void check_timed(const RecordLimits& limits, const SourceInfo& source) {
    if (limits.seconds > 0)
        need_seconds(source, "record_seconds");
    if (limits.every_s > 0)
        need_seconds(source, "record_every_s");
    if (limits.split_s > 0)
        need_seconds(source, "split_s");
}

bool FrameGate::due(const FrameInfo& info) const {
    if (!began_ns_)
        return true;
    return limits_.every_s > 0 ? info.capture_ns >= next_ns_ : info.sequence >= next_;
}

std::string FrameGate::reason() const {
    if (!ended_)
        return "";
    return taken_ == limits_.frames ? std::to_string(taken_) + (taken_ == 1 ? " frame" : " frames")
                                    : to_string(limits_.seconds) + " s";
}

FrameGate::Verdict FrameGate::judge(const FrameInfo& info) {
    constexpr double kNs = 1e9;
    if (began_ns_ && limits_.seconds > 0 &&
        static_cast<double>(info.capture_ns - *began_ns_) >= limits_.seconds * kNs)
        ended_ = true;
    if (ended_)
        return Verdict::end;
    if (!due(info))
        return Verdict::leave;
    if (!began_ns_) {
        began_ns_ = info.capture_ns;
        first_ = info.sequence;
    }
    ended_ = ++taken_ == limits_.frames;
    // The first frame defines the grid, so that a missing frame does not shift later ones.
    const auto every = static_cast<std::uint64_t>(limits_.every);
    next_ = first_ + ((info.sequence - first_) / every + 1) * every;
    if (limits_.every_s > 0) {
        const double steps =
            std::floor(static_cast<double>(info.capture_ns - *began_ns_) / (limits_.every_s * kNs));
        next_ns_ = *began_ns_ + static_cast<std::int64_t>(std::llround((steps + 1) * limits_.every_s * kNs));
    }
    return Verdict::take;
}

} // namespace specklescope
