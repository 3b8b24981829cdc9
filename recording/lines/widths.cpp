#include "recording/lines/lines.hpp"

#include "analysis/vessel_width.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/lines/line_sink.hpp"
#include "recording/table.hpp"

#include <limits>
#include <optional>

namespace specklescope {

namespace {

constexpr std::string_view kMark = "# Specklescope widths, version 1\n";
constexpr ReplaceableKind kWidthsKind{.what = "widths",
                                      .option = "--widths",
                                      .holds = [](std::string_view text) { return text.starts_with(kMark); }};
constexpr const char* kColumns = "sequence,capture_s,region,width,width_std,centre,depth,fit,centre_std,"
                                 "baseline,edge,r2,arrival_s,version,width_um,width_std_um\n";

std::string said(const std::string& what, const std::string& value) {
    return "# " + what + ": " + one_line(value) + "\n";
}

std::string head_of(const StreamInfo& stream, int band) {
    return said("program", "Specklescope " SPECKLESCOPE_VERSION) + said("source", stream.source_text) +
           said("backend", stream.backend) +
           said("profile", "mean over " + std::to_string(band) + " px across the line") +
           said("width, width_std", "px, full width at half depth of the fitted curve (docs/science.md)") +
           said("centre, centre_std, edge",
                "px along the line; edge: standard deviation of the edges' blur") +
           said("depth, baseline",
                "in the unit of the map; depth is below 0 for a vessel darker than its surroundings") +
           said("width_um, width_std_um", "µm; nan if the pixel size is unknown") +
           said("fit", "ok, or why there are no numbers") +
           said("r2", "part of the variance along the line that the curve explains");
}

/// Settings of the values from this frame on.
std::string settings_of(const LineFrame& frame, const std::string& scale) {
    std::string text;
    const auto say = [&](const char* what, const std::string& value) {
        text += setting_line(frame.info.version, what, value);
    };
    if (frame.chain)
        say("chain", to_string(*frame.chain));
    say("map",
        one_line(frame.quantity.name) + " " + frame.quantity.symbol + " (" + frame.quantity.unit + ")");
    if (!scale.empty())
        say("scale", scale);
    say("fitted to", frame.mean == RegionMean::plain ? "the map" : "K²");
    if (frame.exposure.known())
        text += exposure_line(frame.info.version, frame.exposure);
    if (frame.info.assumed.any())
        say("assumed", to_string(frame.info.assumed));
    for (const PlacedRegion& region : frame.placed->regions)
        if (region.line) {
            std::string ends;
            for (const double at : {region.line->x0, region.line->y0, region.line->x1, region.line->y1}) {
                ends += ends.empty() ? "" : ", ";
                add_number(ends, at);
            }
            say("line", region.name + ": " + ends);
        }
    return text;
}

/// Value of the fitted curve in the unit of the map. For a vessel of very low contrast it may be below 0,
/// where K² is undefined.
double in_map(double average, RegionMean mean) {
    return from_average(mean != RegionMean::plain && average < 0 ? 0 : average, mean);
}

/// `um`: size of a pixel; 0: unknown.
void add_row(const LineFrame& frame, const MeasuredLine& line, const VesselWidth& vessel, double um,
             std::string& text) {
    const auto add = [&](double value) {
        add_number(text, value);
        text += ',';
    };
    const double baseline = in_map(vessel.baseline, frame.mean);
    add_whole(text, frame.info.sequence);
    text += ',';
    add_capture(text, frame.info);
    text += ',' + csv_text(frame.placed->regions[line.region].name) + ',';
    add(vessel.width);
    add(vessel.width_std);
    add(vessel.centre);
    add(in_map(vessel.baseline + vessel.depth, frame.mean) - baseline);
    text += to_string(vessel.fit);
    text += ',';
    add(vessel.centre_std);
    add(baseline);
    add(vessel.edge);
    add(vessel.r2);
    add_seconds(text, ns_of(frame.info.arrival));
    text += ',';
    add_whole(text, frame.info.version);
    const double scale = um > 0 ? um : std::numeric_limits<double>::quiet_NaN();
    text += ',';
    add(vessel.width * scale);
    add_number(text, vessel.width_std * scale);
    text += '\n';
}

class Widths final : public LineSink {
public:
    using LineSink::LineSink;
    ~Widths() override { close(); }

protected:
    std::uint64_t begin(const StreamInfo& stream) override {
        check_widths(path());
        table_ = TableFile(path(), std::string(kMark) + head_of(stream, band()));
        stream_ = stream;
        told_.reset();
        placed_.reset();
        return table_.bytes();
    }

    void write(const Items& frames, Written& written) override {
        struct Task {
            const LineFrame* frame;
            const MeasuredLine* line;
        };
        std::vector<Task> tasks;
        for (const LineFrame& frame : frames)
            for (const MeasuredLine& line : frame.lines)
                tasks.push_back({&frame, &line});
        std::vector<VesselWidth> vessels(tasks.size());
        constexpr int kLeast = 4; // minimum number of fits per thread, a guess
        const int slots = parallel_threads(), count = static_cast<int>(tasks.size());
        if (count > 0)
            for_bands(count, band_count(count, slots, kLeast), slots, [&](Band part, int) {
                for (auto i = static_cast<std::size_t>(part.begin); i < static_cast<std::size_t>(part.end);
                     ++i)
                    vessels[i] = fit_vessel_width(tasks[i].line->averages, tasks[i].line->spacing);
            });
        FrameLines lines;
        std::size_t next = 0;
        for (const LineFrame& frame : frames) {
            tell_settings(frame, lines.text);
            for (const MeasuredLine& line : frame.lines)
                add_row(frame, line, vessels[next++], um_per_px(stream_, frame.chain.get()), lines.text);
            lines.ends.push_back(lines.text.size());
        }
        table_.append(lines, written);
    }

    void finish_file(bool well) override {
        if (well && !told_)
            table_.append(kColumns);
        table_.close();
    }

private:
    /// Before the first rows, and again after a change.
    void tell_settings(const LineFrame& frame, std::string& text) {
        if (!frame.placed)
            return;
        const std::string exposure = to_string(frame.exposure);
        if (told_ != frame.info.version || placed_ != frame.placed) {
            text += settings_of(frame, scale_text(stream_, frame.chain.get()));
            if (!told_)
                text += kColumns;
            told_ = frame.info.version;
            placed_ = frame.placed;
        } else if (exposure != exposure_) { // changed by the camera, without an edit
            text += exposure_line(frame.info.version, frame.exposure);
        }
        exposure_ = exposure;
    }

    TableFile table_;
    StreamInfo stream_;
    std::optional<std::uint64_t> told_; ///< version of the settings written last
    std::shared_ptr<const PlacedRegions> placed_;
    std::string exposure_;
};

} // namespace

void check_widths(const std::string& path) { check_table(path, kWidthsKind); }

std::shared_ptr<Sink> make_widths(const std::string& path, int band) {
    return std::make_shared<Widths>(path, band);
}

} // namespace specklescope
