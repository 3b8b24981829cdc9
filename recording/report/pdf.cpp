#include "recording/report/pdf.hpp"

#include "base/error.hpp"
#include "have_cairo.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "base/one_line.hpp"
#include "base/tick_scale.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/draw/legend.hpp"
#include "recording/record_file.hpp"
#include "recording/report/content.hpp"
#include "recording/report/sheet.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#endif

namespace specklescope {

#ifndef SPECKLESCOPE_HAVE_CAIRO

bool can_draw_pdf() { return false; }
std::string draw_pdf(const Report&) { throw RunError("This build draws no PDF."); }

#else

namespace {

constexpr TextStyle kSmall{.size = 7};
constexpr std::size_t kMostCurves = 40; ///< more tell nothing apart
constexpr double kPlotHigh = 150, kPlotRoom = kPlotHigh + 40;
constexpr int kMostPixels = 8192; ///< of a side, on paper

/// A picture, what its colours mean, and how it is drawn.
struct Shown {
    RecordedFrame frame;
    Mapping mapping; ///< with a fixed range: the one that is seen
    std::string title, symbol, unit;
};

Shown shown(RecordedFrame frame, Mapping mapping) {
    if (mapping.automatic) {
        const ValueRange range =
            percentile_range(frame.pixels.host(), mapping.low_percentile, mapping.high_percentile);
        mapping.low = range.low;
        mapping.high = range.high;
        mapping.automatic = false;
    }
    return {std::move(frame), mapping, "", "", ""};
}

void draw_bar(Sheet& sheet, const PaperRect& area, const Shown& what) {
    const ToneCurve curve = curve_in_effect(what.mapping, what.frame.pixels.shape().channels,
                                            is_picture(what.frame.info, what.frame.quantity));
    draw_color_bar(sheet, area,
                   {what.mapping.colormap,
                    exposed({what.mapping.low, what.mapping.high}, what.mapping.exposure_stops), curve,
                    what.symbol, what.unit},
                   {});
}

void draw_outlines(Sheet& sheet, const PaperRect& area, const Shape& shape,
                   const std::vector<Region>& regions) {
    sheet.clip(area);
    const OutlinePlace place{area.x, area.y, area.width / shape.width};
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto [x, y] = draw_outline(sheet, place, regions[i], ink_of(region_colour(regions[i], i)), 1);
        const std::string number = std::to_string(i + 1);
        const double wide = 4.5 * static_cast<double>(number.size()) + 2;
        sheet.fill({x + 1, y + 1, wide, 8}, kBlack);
        sheet.line(x + 2, y + 0.5, wide + 4, number, {.size = 7, .bold = true, .ink = {1, 1, 1}});
    }
    sheet.unclip();
}

/// In a box of this size at y, the colour bar included; returns the height that it took.
double draw_picture(Sheet& sheet, double x, double wide, double high, const Shown& what,
                    const std::vector<Region>& regions) {
    const Shape& shape = what.frame.pixels.shape();
    const bool bar = shape.channels == 1;
    const double head = bar ? 24 : 14, side = bar ? 62 : 0;
    const double scale = std::min((wide - side) / shape.width, high / shape.height);
    const PaperRect area{x, sheet.y + head, shape.width * scale, shape.height * scale};
    std::vector<std::byte> colours(Shape{shape.width, shape.height, 3, PixelType::u8}.bytes());
    const HostView rgb(colours.data(), Shape{shape.width, shape.height, 3, PixelType::u8});
    color_picture(what.frame, what.mapping, rgb);
    std::string title = what.title;
    if (const int step = (std::max(shape.width, shape.height) + kMostPixels - 1) / kMostPixels; step > 1) {
        const Shape fewer{shape.width / step, shape.height / step, 3, PixelType::u8};
        std::vector<std::byte> kept(fewer.bytes());
        const HostView few(kept.data(), fewer);
        for (int row = 0; row < fewer.height; ++row)
            for (int column = 0; column < fewer.width; ++column)
                std::copy_n(rgb.row(row * step) + std::ptrdiff_t{3} * column * step, 3,
                            few.row(row) + std::ptrdiff_t{3} * column);
        title += ", every " + std::to_string(step) + "th pixel of each row and column";
        sheet.picture(few, area);
    } else {
        sheet.picture(rgb, area);
    }
    sheet.line(x, sheet.y, wide, title, {.size = 8, .bold = true});
    sheet.frame(area, kGrey);
    draw_outlines(sheet, area, shape, regions);
    if (bar)
        draw_bar(sheet, {area.x + area.width + 8, area.y, 10, area.height}, what);
    return head + area.height;
}

void draw_pictures(Sheet& sheet, const Report& report) {
    const Result& result = report.result;
    std::vector<Region> regions;
    if (result.regions && result.regions->placed->outlines)
        regions = regions_of(*result.regions->placed->outlines);
    Shown map = shown(recorded_frame(result, RecordWhat::processed), report.mapping);
    map.title = result.quantity.name;
    map.symbol = result.quantity.symbol;
    map.unit = result.quantity.unit;
    constexpr double kHigh = 270, kGap = 16;
    const double wide = sheet.width() * 0.56;
    double used = draw_picture(sheet, sheet.left(), wide, kHigh, map, regions);
    if (result.raw) {
        Mapping grey;
        grey.colormap = ColorMap::grey;
        grey.low_percentile = 0;
        grey.high_percentile = 100;
        Shown raw = shown(recorded_frame(result, RecordWhat::raw), grey);
        raw.title = "raw frame";
        raw.symbol = raw.frame.quantity.symbol;
        raw.unit = raw.frame.quantity.unit;
        const bool moved = moves_pixels(*result.chain);
        const bool same = !moved && result.raw.shape().width == result.shape().width &&
                          result.raw.shape().height == result.shape().height;
        used = std::max(used, draw_picture(sheet, sheet.left() + wide + kGap, sheet.width() - wide - kGap,
                                           kHigh, raw, same ? regions : std::vector<Region>()));
    }
    sheet.y += used + 10;
}

void draw_table(Sheet& sheet, const Report& report) {
    const RegionTable table = region_table(report);
    if (table.rows.empty())
        return;
    const std::vector<Region> regions = regions_of(*report.result.regions->placed->outlines);
    constexpr std::array<double, RegionTable::kColumns.size()> kWide = {98, 48, 40, 38, 38, 50, 48,
                                                                        58, 56, 58, 56, 56, 54, 54};
    const std::size_t columns = table.baseline ? kWide.size() : kWide.size() - 2;
    const double step = 10.5;
    const auto head = [&] {
        double x = sheet.left() + 16;
        for (std::size_t c = 0; c < columns; ++c) {
            std::string name(RegionTable::kColumns[c]);
            std::replace(name.begin(), name.end(), '_', ' ');
            sheet.line(
                x, sheet.y, kWide[c] - 4,
                name == "baseline"         ? "F₀"
                : name == "change percent" ? "ΔF/F₀ %"
                                           : name,
                {.size = 7, .bold = true, .align = c < 2 ? TextStyle::Align::left : TextStyle::Align::right});
            x += kWide[c];
        }
        sheet.y += step;
        sheet.stroke({{sheet.left(), sheet.y}, {sheet.left() + sheet.width(), sheet.y}}, false, kGrey, 0.5);
        sheet.y += 2;
    };
    const std::string unit = report.result.quantity.unit;
    sheet.heading("Regions" + (unit == "1" ? std::string() : ", values in " + unit));
    head();
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        if (sheet.need(step))
            head();
        double x = sheet.left();
        if (i < regions.size())
            sheet.fill({x, sheet.y + 1.5, 4, 6}, ink_of(region_colour(regions[i], i)));
        sheet.line(x + 5, sheet.y, 14, std::to_string(i + 1), {.size = 6, .ink = kGrey});
        x += 16;
        for (std::size_t c = 0; c < columns; ++c) {
            sheet.line(x, sheet.y, kWide[c] - 4, table.rows[i][c],
                       {.size = 7, .align = c < 2 ? TextStyle::Align::left : TextStyle::Align::right});
            x += kWide[c];
        }
        sheet.y += step;
    }
}

/// One plot: the curves, or what `value` makes of each of their values.
template <class Value>
void draw_plot(Sheet& sheet, const Report& report, const std::string& unit, const Value& value) {
    const ReportTraces& traces = *report.traces;
    const std::size_t count = std::min(kMostCurves, traces.curves.size());
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < count; ++i)
        if (traces.extremes[i])
            for (const double v : {value(i, traces.extremes[i]->low), value(i, traces.extremes[i]->high)})
                if (std::isfinite(v)) {
                    low = std::min(low, v);
                    high = std::max(high, v);
                }
    if (!(low <= high))
        return;
    const double room = std::max((high - low) * 0.05, std::abs(high) * 1e-6 + 1e-12);
    low -= room;
    high += room;
    constexpr double kSide = 52, kBelow = 24;
    const PaperRect area{sheet.left() + kSide, sheet.y + 12, sheet.width() - kSide, kPlotHigh};
    const double span = static_cast<double>(traces.to_ns - traces.from_ns) * 1e-9;
    const auto x_of = [&](std::int64_t ns) {
        return area.x + area.width * static_cast<double>(ns - traces.from_ns) * 1e-9 / span;
    };
    const auto y_of = [&](double v) { return area.y + area.height * (1 - (v - low) / (high - low)); };
    const TickScale up = tick_scale(low, high, 6), along = tick_scale(0, span, 12);
    for (const double v : ticks_of(low, high, up)) {
        sheet.stroke({{area.x, y_of(v)}, {area.x + area.width, y_of(v)}}, false, kFaint, 0.4);
        sheet.line(sheet.left(), y_of(v) - 4.5, kSide - 4, figure(v * up.factor, up.decimals),
                   {.size = 7, .align = TextStyle::Align::right});
    }
    for (const double t : ticks_of(0, span, along)) {
        const double x = area.x + area.width * t / span;
        sheet.stroke({{x, area.y + area.height}, {x, area.y + area.height + 3}}, false, kGrey, 0.5);
        sheet.line(x - 30, area.y + area.height + 4, 60, figure(t * along.factor, along.decimals),
                   {.size = 7, .align = TextStyle::Align::centre});
    }
    sheet.line(area.x, sheet.y, area.width, unit_text(unit, up), kSmall);
    sheet.line(area.x, area.y + area.height + 13, area.width,
               traces.overview.newest && !traces.overview.newest->timed
                   ? "frames since the first"
                   : "time since the first frame, " + unit_text("s", along),
               {.size = 7, .ink = kGrey, .align = TextStyle::Align::centre});
    sheet.clip(area);
    for (const TimedEvent& event : report.events)
        if (!event.mark.removed && event.time_ns >= traces.from_ns && event.time_ns <= traces.to_ns) {
            const double x = x_of(event.time_ns);
            sheet.stroke({{x, area.y}, {x, area.y + area.height}}, false, kGrey, 0.7);
            sheet.line(x + 2, area.y + 1, 60, std::to_string(event.mark.number), {.size = 6.5, .ink = kGrey});
        }
    for (const TraceRestart& restart : traces.overview.restarts)
        if (restart.time_ns > traces.from_ns &&
            restart.time_ns <= traces.to_ns) { // what follows is of something else
            const double x = x_of(restart.time_ns);
            constexpr double kDash = 3;
            for (int i = 0; 2 * i * kDash < area.height; ++i) {
                const double y = area.y + 2 * i * kDash;
                sheet.stroke({{x, y}, {x, y + kDash}}, false, kGrey, 0.5);
            }
            sheet.line(x + 2, area.y + area.height - 9, 160, one_line(restart.what),
                       {.size = 6.5, .ink = kGrey});
        }
    const std::vector<Region> regions = regions_of(*report.result.regions->placed->outlines);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t at = regions.size();
        for (std::size_t r = 0; r < regions.size(); ++r)
            if (regions[r].name == traces.overview.regions[i].name)
                at = r;
        const Ink full = at < regions.size() ? ink_of(region_colour(regions[at], at)) : kGrey;
        const Ink ink{full.red * 0.75, full.green * 0.75, full.blue * 0.75}; // palettes are made for black
        std::vector<std::pair<double, double>> points;
        const auto end = [&] {
            sheet.stroke(points, false, ink, 0.8);
            points.clear();
        };
        for (const TraceColumn& column : traces.curves[i]) {
            const double bottom = value(i, column.low), top = value(i, column.high);
            if (column.broken || !std::isfinite(bottom) || !std::isfinite(top))
                end();
            if (!std::isfinite(bottom) || !std::isfinite(top))
                continue;
            points.emplace_back(x_of(column.time_ns), y_of(bottom));
            if (top != bottom)
                points.emplace_back(x_of(column.time_ns), y_of(top));
        }
        end();
    }
    sheet.unclip();
    sheet.frame(area, kGrey);
    sheet.y = area.y + area.height + kBelow;
}

void draw_traces(Sheet& sheet, const Report& report) {
    if (!report.traces || !report.result.regions)
        return;
    const ReportTraces& traces = *report.traces;
    sheet.heading("Traces: mean of each region" + (traces.curves.size() > kMostCurves
                                                       ? ", the first " + std::to_string(kMostCurves) +
                                                             " of " + std::to_string(traces.curves.size())
                                                       : std::string()),
                  kPlotRoom);
    draw_plot(sheet, report, traces.overview.quantity.unit, [](std::size_t, double v) { return v; });
    if (!traces.taken)
        return;
    sheet.heading("Change from the baseline, ΔF/F₀", kPlotRoom);
    draw_plot(sheet, report, "%", [&](std::size_t i, double v) {
        const std::optional<double>& f0 = traces.baseline[i];
        return f0 ? relative_change(v, *f0) : NAN;
    });
    const TraceMeans& means = *traces.taken;
    sheet.paragraph(means.from_picture.empty()
                        ? "F₀ is of " + std::to_string(means.frames) + " frames, number " +
                              std::to_string(means.from.sequence) + " to " +
                              std::to_string(means.to.sequence) + "."
                        : "F₀ is the mean over each region of the picture " + means.from_picture + ".",
                    kSmall);
}

void draw_events(Sheet& sheet, const Report& report) {
    const auto rows = event_rows(report);
    if (rows.empty())
        return;
    sheet.heading("Events");
    for (const auto& row : rows)
        sheet.paragraph(row[0] + "   " + row[1] + "   frame " + row[2] + "   " + row[3], {.size = 7.5});
}

} // namespace

bool can_draw_pdf() { return true; }

std::string draw_pdf(const Report& report) {
    const std::string title = report.subject.empty() ? report.stream.source_text
                                                     : report.subject + " – " + report.stream.source_text;
    Sheet sheet(title);
    sheet.line(sheet.left(), sheet.y, sheet.width(), title, {.size = 14, .bold = true});
    sheet.y += 26;
    draw_pictures(sheet, report);
    draw_table(sheet, report);
    draw_traces(sheet, report);
    draw_events(sheet, report);
    sheet.heading("Settings");
    for (const auto& [what, value] : settings_rows(report)) {
        sheet.need(10.5);
        sheet.line(sheet.left(), sheet.y, 80, what, {.size = 7.5, .ink = kGrey});
        sheet.paragraph(value, {.size = 7.5}, 84);
    }
    sheet.heading("Methods");
    for (const std::string& line : methods(report)) {
        sheet.paragraph(line, {.size = 7.5});
        sheet.y += 3;
    }
    return sheet.finish();
}

#endif

} // namespace specklescope
