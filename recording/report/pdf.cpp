#include "recording/report/pdf.hpp"

#include "base/error.hpp"
#include "have_cairo.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "base/one_line.hpp"
#include "base/tick_scale.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "pipeline/scale/scale_bar.hpp"
#include "recording/draw/legend.hpp"
#include "recording/record_file.hpp"
#include "recording/report/content.hpp"
#include "recording/report/sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#endif

namespace specklescope {

#ifndef SPECKLESCOPE_HAVE_CAIRO

bool can_draw_pdf() { return false; }
std::string draw_pdf(const Report&) { throw RunError("This build draws no PDF."); }

#else

namespace {

constexpr TextStyle kSmall{.size = 7};
constexpr std::size_t kMostCurves = 40; ///< more tell nothing apart
constexpr double kPlotHigh = 150, kPlotRoom = kPlotHigh + 54;
constexpr int kMostPixels = 8192; ///< of a side, on paper
constexpr std::size_t kArea = 3;  ///< among the columns of the table
static_assert(RegionTable::kColumns[kArea] == "area_um2");

/// How a region's curve is drawn.
struct CurveStyle {
    Ink ink;
    std::vector<double> dashes;
};

/// The palette of regions is made for dark pictures. On paper each of its colours has a darker one in its
/// place, and the regions after the seventh are dashed. A region's own colour is darkened.
CurveStyle curve_style(const std::vector<Region>& regions, std::size_t at) {
    if (at >= regions.size())
        return {kGrey, {}};
    static const std::array<const char*, 7> kOnPaper = {"#d55e00", "#56b4e9", "#6b6b00", "#cc5599",
                                                        "#009e73", "#e0a800", "#1f3f9e"};
    static const std::array<std::vector<double>, 4> kDashes = {
        std::vector<double>{}, {5, 2}, {1.2, 1.6}, {6, 1.5, 1.2, 1.5}};
    const std::string& colour = region_colour(regions[at], at);
    const auto& palette = region_palette();
    const auto place =
        static_cast<std::size_t>(std::find(palette.begin(), palette.end(), colour) - palette.begin());
    const auto before = static_cast<std::size_t>(std::count_if(
        regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(at), [&](const Region& region) {
            return region_colour(region, static_cast<std::size_t>(&region - regions.data())) == colour;
        }));
    Ink ink = ink_of(place < kOnPaper.size() ? kOnPaper[place] : colour);
    if (place >= kOnPaper.size())
        ink = {ink.red * 0.75, ink.green * 0.75, ink.blue * 0.75};
    return {ink, kDashes[before % kDashes.size()]};
}

/// A picture, what its colours mean, and how it is drawn.
struct Shown {
    RecordedFrame frame;
    Mapping mapping; ///< with a fixed range: the one that is seen
    std::string title, symbol, unit;
    double um = 0; ///< a side of a pixel; 0: unknown
};

Shown shown(RecordedFrame frame, Mapping mapping) {
    if (mapping.automatic) {
        const ValueRange range =
            percentile_range(frame.pixels.host(), mapping.low_percentile, mapping.high_percentile);
        mapping.low = range.low;
        mapping.high = range.high;
        mapping.automatic = false;
    }
    return {std::move(frame), mapping, "", "", "", 0};
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

void draw_scale(Sheet& sheet, const PaperRect& area, double um) {
    const ScaleBar bar = scale_bar(um, area.width * 0.3);
    const TextStyle style{.size = 7, .ink = {1, 1, 1}, .align = TextStyle::Align::centre};
    const double wide = std::max(bar.length, sheet.text_width(bar.text, style)) + 8;
    const double x = area.x + 4, y = area.y + area.height - 20;
    if (wide + 8 > area.width || area.height < 28)
        return;
    sheet.fill({x, y, wide, 16}, {0, 0, 0, 0.75});
    sheet.line(x, y + 1, wide, bar.text, style);
    sheet.fill({x + (wide - bar.length) / 2, y + 11.5, bar.length, 1.8}, {1, 1, 1});
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
    if (what.um > 0)
        draw_scale(sheet, area, what.um / scale);
    if (bar)
        draw_bar(sheet, {area.x + area.width + 8, area.y, 10, area.height}, what);
    return head + area.height;
}

/// With a "*" where the exposure is assumed.
std::string unit_of(const Report& report) {
    const Result& result = report.result;
    return result.quantity.unit + (rests_on_assumption(result.quantity, result.exposure) ? " *" : "");
}

void draw_pictures(Sheet& sheet, const Report& report) {
    const Result& result = report.result;
    std::vector<Region> regions;
    if (result.regions && result.regions->placed->outlines)
        regions = regions_of(*result.regions->placed->outlines);
    Shown map = shown(recorded_frame(result, RecordWhat::processed), report.mapping);
    map.title = result.quantity.name;
    map.symbol = result.quantity.symbol;
    map.unit = unit_of(report);
    map.um = um_per_px(report.stream, result.chain.get());
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
        raw.um = um_per_px(report.stream, nullptr);
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
    std::array<double, RegionTable::kColumns.size()> wide = {82, 46, 38, 50, 36, 36, 46, 44,
                                                             54, 52, 54, 52, 52, 52, 50};
    if (!table.area) // its room is the name's
        wide[0] += std::exchange(wide[kArea], 0);
    const std::size_t columns = table.baseline ? wide.size() : wide.size() - 2;
    const double step = 10.5;
    const auto head = [&] {
        double x = sheet.left() + 16;
        for (std::size_t c = 0; c < columns; ++c) {
            if (wide[c] == 0)
                continue;
            std::string name(RegionTable::kColumns[c]);
            std::replace(name.begin(), name.end(), '_', ' ');
            sheet.line(
                x, sheet.y, wide[c] - 4,
                name == "baseline"         ? "F₀"
                : name == "change percent" ? "ΔF/F₀ %"
                : name == "area um2"       ? "area µm²"
                                           : name,
                {.size = 7, .bold = true, .align = c < 2 ? TextStyle::Align::left : TextStyle::Align::right});
            x += wide[c];
        }
        sheet.y += step;
        sheet.stroke({{sheet.left(), sheet.y}, {sheet.left() + sheet.width(), sheet.y}}, false, kGrey, 0.5);
        sheet.y += 2;
    };
    const std::string unit = unit_of(report);
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
            if (wide[c] == 0)
                continue;
            sheet.line(x, sheet.y, wide[c] - 4, table.rows[i][c],
                       {.size = 7, .align = c < 2 ? TextStyle::Align::left : TextStyle::Align::right});
            x += wide[c];
        }
        sheet.y += step;
    }
}

/// A sample of each curve with the name of its region, below the plot.
void draw_curve_names(Sheet& sheet, const PaperRect& area,
                      const std::vector<std::pair<CurveStyle, std::string>>& names) {
    constexpr double kSample = 22, kLine = 10, kMost = 130;
    double x = area.x;
    for (const auto& [style, name] : names) {
        const double wide = std::min(kMost, sheet.text_width(name, kSmall) + 2);
        if (x > area.x && x + kSample + wide > area.x + area.width) {
            x = area.x;
            sheet.y += kLine;
        }
        sheet.stroke({{x, sheet.y + 5}, {x + kSample - 4, sheet.y + 5}}, false, style.ink, 1.2, style.dashes);
        sheet.line(x + kSample, sheet.y, wide, name, kSmall);
        x += kSample + wide + 12;
    }
    sheet.y += kLine + 2;
}

/// One plot: the curves, or what `value` makes of each of their values.
template <class Value> void draw_plot(Sheet& sheet, const Report& report, const std::string& symbol,
                                      const std::string& unit, bool relative, const Value& value) {
    const ReportTraces& traces = *report.traces;
    const std::size_t count = std::min(kMostCurves, traces.curves.size());
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < count; ++i)
        if (const auto& extremes = (relative ? traces.compared : traces.extremes)[i])
            for (const double v : {value(i, extremes->low), value(i, extremes->high)})
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
    const std::string scaled = unit_text(unit, up);
    sheet.line(area.x, sheet.y, area.width, symbol + (scaled.empty() ? "" : " in " + scaled), kSmall);
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
            sheet.stroke({{x, area.y}, {x, area.y + area.height}}, false, kGrey, 0.5, {3, 3});
            sheet.line(x + 2, area.y + area.height - 9, 160, one_line(restart.what),
                       {.size = 6.5, .ink = kGrey});
        }
    const std::vector<Region> regions = regions_of(*report.result.regions->placed->outlines);
    std::vector<std::pair<CurveStyle, std::string>> names;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t at = regions.size();
        for (std::size_t r = 0; r < regions.size(); ++r)
            if (regions[r].name == traces.overview.regions[i].name)
                at = r;
        const CurveStyle style = curve_style(regions, at);
        names.emplace_back(style, one_line(traces.overview.regions[i].name));
        std::vector<std::pair<double, double>> points;
        const auto end = [&] {
            sheet.stroke(points, false, style.ink, 0.8, style.dashes);
            points.clear();
        };
        for (const TraceColumn& column : traces.curves[i]) {
            const double bottom = value(i, column.low), top = value(i, column.high);
            const bool left_out =
                !std::isfinite(bottom) || !std::isfinite(top) || (relative && !traces.comparable(column));
            if (column.broken || left_out)
                end();
            if (left_out)
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
    draw_curve_names(sheet, area, names);
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
    const std::string& symbol = traces.overview.quantity.symbol;
    draw_plot(sheet, report, symbol, unit_of(report), false, [](std::size_t, double v) { return v; });
    if (!traces.no_baseline.empty())
        sheet.paragraph("ΔF/F₀: " + traces.no_baseline + ".", kSmall);
    if (!traces.taken)
        return;
    sheet.heading("Change from the baseline, ΔF/F₀", kPlotRoom);
    draw_plot(sheet, report, "Δ" + symbol + "/" + symbol + "₀", "%", true, [&](std::size_t i, double v) {
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
    if (rests_on_assumption(report.result.quantity, report.result.exposure)) {
        sheet.paragraph(assumed_text(report.result.exposure),
                        {.size = 9, .bold = true, .ink = {0.7, 0.35, 0}});
        sheet.y += 6;
    }
    if (report.result.info.assumed.any()) {
        sheet.paragraph(
            "Assumed, since the source does not state it: " + to_string(report.result.info.assumed) + ".",
            {.size = 9, .bold = true, .ink = {0.7, 0.35, 0}});
        sheet.y += 6;
    }
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
