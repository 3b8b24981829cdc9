#include "net/metrics/metrics.hpp"

#include "pipeline/stage.hpp"

#include <algorithm>
#include <cstdio>

namespace specklescope {

namespace {

/// Of a label.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

class Page {
public:
    void begin(const std::string& name, const char* type, const char* help) {
        name_ = "specklescope_" + name;
        text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
    }
    void line(const std::string& value, const std::string& labels = "", const char* part = "") {
        text_ += name_ + part + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    }
    void counter(const std::string& name, const char* help, std::uint64_t value) {
        begin(name + "_total", "counter", help);
        line(std::to_string(value));
    }
    void gauge(const std::string& name, const char* help, double value) {
        begin(name, "gauge", help);
        line(number(value));
    }
    std::string text() { return std::move(text_); }

private:
    std::string name_, text_;
};

} // namespace

void LatencyCounts::add(double seconds) {
    ++counts[static_cast<std::size_t>(std::lower_bound(kEnds.begin(), kEnds.end(), seconds) - kEnds.begin())];
    sum_s += seconds;
}

std::string metrics_text(const StatsSnapshot& s, const LatencyCounts& latency,
                         const std::vector<DoorTotal>& doors) {
    Page page;
    page.begin("build_info", "gauge", "Version of the program and what it computes on.");
    page.line("1", "version=\"" SPECKLESCOPE_VERSION "\",backend=\"" + escaped(s.backend) + "\",device=\"" +
                       escaped(s.device) + "\"");
    page.gauge("run_seconds", "Time since the source was opened.", s.seconds);
    page.counter("frames_acquired", "Frames that the source gave.", s.acquired);
    page.counter("frames_processed", "Frames of which there is a result.", s.processed);
    page.counter("frames_failed", "Frames that could not be computed.", s.drops.failed);
    page.counter("frames_passed_over",
                 "Frames read and not shown: overtaken by a seek, or for histories alone.", s.passed_over);
    page.begin("frames_dropped_total", "counter",
               "Frames lost: in front of the program, for want of a free slot, or by recorders.");
    page.line(std::to_string(s.drops.source), "cause=\"source\"");
    page.line(std::to_string(s.drops.ring), "cause=\"slots\"");
    page.line(std::to_string(s.drops.recorder), "cause=\"recorder\"");
    page.counter("source_reopened", "Times that a live source was opened again.", s.reopened);
    page.gauge("acquisition_frames_per_second", "Frames from the source over the last second.",
               s.acquisition_rate);
    page.gauge("processing_frames_per_second", "Results over the last second.", s.processing_rate);
    page.gauge("display_frames_per_second", "Results drawn over the last second.", s.display_rate);
    page.gauge("queue_frames", "Frames that wait for processing.", s.queue_depth);
    page.gauge("slots", "Frames that the ring has room for.", s.slots);
    page.gauge("slots_free", "Those of them that nobody holds.", s.slots_free);
    page.counter("raw_samples", "Samples of raw frames that have a full scale.", s.counts.total.raw_samples);
    page.counter("raw_samples_saturated", "Those of them at full scale.", s.counts.total.raw_saturated);
    page.gauge("saturated_ratio", "Share of samples at full scale in the newest raw frame, 0 to 1.",
               saturated_share(s.counts.last));
    page.begin("latency_seconds", "histogram", "From the arrival of a frame's pixels to its result.");
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < latency.counts.size(); ++i) {
        below += latency.counts[i];
        page.line(std::to_string(below),
                  "le=\"" + (i < LatencyCounts::kEnds.size() ? number(LatencyCounts::kEnds[i]) : "+Inf") +
                      "\"",
                  "_bucket");
    }
    page.line(number(latency.sum_s), "", "_sum");
    page.line(std::to_string(below), "", "_count");
    const auto counted = [&](const char* name, const char* help, std::uint64_t DoorTotal::*count) {
        if (!doors.empty())
            page.begin(name, "counter", help);
        for (const DoorTotal& door : doors)
            page.line(std::to_string(door.*count), "door=\"" + escaped(door.door) + "\"");
    };
    counted("door_sent_total", "Answers, frames or pictures that went out through a door.", &DoorTotal::sent);
    counted("door_lost_total", "Those that found no room: somebody does not read.", &DoorTotal::lost);
    return page.text();
}

} // namespace specklescope
