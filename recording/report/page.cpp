// Layout of a report: pages of pictures, tables, plots and text.
#include "base/error.hpp"
#include "have_cairo.hpp"
#include "recording/report/report.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "base/text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/draw/legend.hpp"
#include "recording/record_file.hpp"

#include <cairo-pdf.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#endif

namespace specklescope {

#ifndef SPECKLESCOPE_HAVE_CAIRO

bool can_draw_pdf() { return false; }
std::string draw_pdf(const Report&) { throw RunError("This build cannot draw a PDF."); }

#else

namespace {

using Align = TextStyle::Align;
constexpr TextStyle kSmall{.size = 7}, kText{.size = 7.5};
constexpr TextStyle kWarning{.size = 9, .bold = true, .ink = {0.7, 0.35, 0}};

/// PDF pages, A4 landscape, in points from the upper left. Contents are added from top to bottom.
class Pages final : public Canvas {
public:
    static constexpr double kWidth = 841.89, kHeight = 595.28, kLeft = 40, kWide = kWidth - 2 * kLeft,
                            kBottom = kHeight - kLeft;

    /// The file is appended to `bytes`.
    Pages(std::string& bytes, const std::string& title)
        : Canvas(cairo_pdf_surface_create_for_stream(
                     [](void* to, const unsigned char* data, unsigned length) noexcept {
                         try { // no exception may pass through Cairo
                             static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data),
                                                                   length);
                             return CAIRO_STATUS_SUCCESS;
                         } catch (const std::bad_alloc&) {
                             return CAIRO_STATUS_NO_MEMORY;
                         }
                     },
                     &bytes, kWidth, kHeight),
                 "The pages of the report"),
          title_(title) {
        cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_TITLE, valid_utf8(title).c_str());
        cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_CREATOR,
                                       "Specklescope " SPECKLESCOPE_VERSION);
    }
    ~Pages() { cairo_surface_finish(surface()); } // the last that uses `bytes`
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    double y = kLeft; ///< top of the next item

    /// Begins another page if there is less room than this; true if it did.
    bool need(double height) {
        if (y + height <= kBottom - 10)
            return false;
        end_page();
        y = kLeft;
        return true;
    }
    void heading(const std::string& text, double room = 40) {
        need(24 + room);
        line(kLeft, y + 8, kWide, text, {.size = 10, .bold = true});
        y += 24;
    }
    void paragraph(const std::string& text, const TextStyle& style, double indent = 0) {
        const Layout made = layout(text, style);
        pango_layout_set_width(made.get(), static_cast<int>((kWide - indent) * PANGO_SCALE));
        pango_layout_set_wrap(made.get(), PANGO_WRAP_WORD_CHAR);
        for (int i = 0; i < pango_layout_get_line_count(made.get()) && !text.empty(); ++i) {
            need(style.size * 1.35);
            set(style.ink);
            cairo_move_to(context(), kLeft + indent, y + style.size);
            pango_cairo_show_layout_line(context(), pango_layout_get_line_readonly(made.get(), i));
            y += style.size * 1.35;
        }
    }
    void finish() {
        end_page();
        cairo_surface_finish(surface());
        check();
    }

private:
    void end_page() {
        const TextStyle foot{.size = 6.5, .ink = kGrey};
        line(kLeft, kBottom + 8, kWide - 80, title_, foot);
        line(kLeft + kWide - 80, kBottom + 8, 80, "page " + std::to_string(++page_),
             {.size = 6.5, .ink = kGrey, .align = Align::right});
        cairo_show_page(context());
        check();
    }

    std::string title_;
    int page_ = 0;
};

std::vector<Region> regions_of_report(const Report& report) {
    const RegionValues* values = report.result.regions.get();
    return values && values->placed->outlines ? regions_of(*values->placed->outlines) : std::vector<Region>();
}

/// With a "*" where it rests on an assumed exposure.
std::string unit_of(const Report& report) {
    const Result& result = report.result;
    return result.quantity.unit + (rests_on_assumption(result.quantity, result.exposure) ? " *" : "");
}

struct Picture {
    RecordedFrame frame;
    Mapping mapping; ///< with a fixed range
    std::string title, unit;
    double um = 0; ///< side of a pixel; 0: unknown
    std::vector<Region> regions{};
};

/// In colours; of a very large picture every nth row and column, which the title says.
void draw_pixels(Pages& page, const PaperRect& area, const Picture& picture, std::string& title) {
    const Shape& shape = picture.frame.pixels.shape();
    Shape rgb{shape.width, shape.height, 3, PixelType::u8};
    std::vector<std::byte> colours(rgb.bytes());
    color_picture(picture.frame, picture.mapping, HostView(colours.data(), rgb));
    constexpr int kMost = 8192; // pixels of a side
    if (const int step = (std::max(shape.width, shape.height) + kMost - 1) / kMost; step > 1) {
        rgb = {shape.width / step, shape.height / step, 3, PixelType::u8};
        auto to = colours.begin();
        for (std::ptrdiff_t row = 0; row < rgb.height; ++row)
            for (std::ptrdiff_t column = 0; column < rgb.width; ++column, to += 3)
                std::copy_n(colours.begin() + 3 * step * (row * shape.width + column), 3, to);
        title += ", every " + std::to_string(step) + "th pixel of each row and column";
    }
    page.picture(HostView(colours.data(), rgb), area);
}

void draw_scale_bar(Pages& page, const PaperRect& area, double um) {
    const ScaleBar bar = scale_bar(um, area.width * 0.3);
    const TextStyle style{.size = 7, .ink = {1, 1, 1}, .align = Align::centre};
    const double wide = std::max(bar.length, page.text_width(bar.text, style)) + 8;
    const double x = area.x + 4, y = area.y + area.height - 20;
    if (wide + 8 > area.width || area.height < 28)
        return;
    page.fill({x, y, wide, 16}, {0, 0, 0, 0.75});
    page.line(x, y + 1, wide, bar.text, style);
    page.fill({x + (wide - bar.length) / 2, y + 11.5, bar.length, 1.8}, {1, 1, 1});
}

/// With outlines, scale bar and colour bar, at most this wide; returns the height.
double draw_picture(Pages& page, double x, double wide, const Picture& picture) {
    const Shape& shape = picture.frame.pixels.shape();
    const bool bar = shape.channels == 1;
    const double head = bar ? 24 : 14,
                 scale = std::min((wide - (bar ? 62 : 0)) / shape.width, 270.0 / shape.height);
    const PaperRect area{x, page.y + head, shape.width * scale, shape.height * scale};
    std::string title = picture.title;
    draw_pixels(page, area, picture, title);
    page.line(x, page.y, wide, title, {.size = 8, .bold = true});
    page.frame(area, kGrey);
    page.clip(area);
    for (std::size_t i = 0; i < picture.regions.size(); ++i) {
        const Region& region = picture.regions[i];
        const auto [left, top] =
            draw_outline(page, {area.x, area.y, scale}, region, ink_of(region_colour(region, i)), 1);
        const std::string number = std::to_string(i + 1);
        const double room = 4.5 * static_cast<double>(number.size()) + 2;
        page.fill({left + 1, top + 1, room, 8}, kBlack);
        page.line(left + 2, top + 0.5, room + 4, number, {.size = 7, .bold = true, .ink = {1, 1, 1}});
    }
    page.unclip();
    if (picture.um > 0)
        draw_scale_bar(page, area, picture.um / scale);
    const Mapping& m = picture.mapping;
    if (bar)
        draw_color_bar(page, {area.x + area.width + 8, area.y, 10, area.height},
                       {m.colormap, exposed({m.low, m.high}, m.exposure_stops),
                        curve_in_effect(m, 1, is_picture(picture.frame.info, picture.frame.quantity)),
                        picture.frame.quantity.symbol, picture.unit},
                       {});
    return head + area.height;
}

/// The map, and the raw frame on its right.
void draw_pictures(Pages& page, const Report& report) {
    const Result& result = report.result;
    const std::vector<Region> regions = regions_of_report(report);
    constexpr double kMap = Pages::kWide * 0.56, kGap = 16;
    double height = draw_picture(page, Pages::kLeft, kMap,
                                 {recorded_frame(result, RecordWhat::processed),
                                  with_fixed_range(report.mapping, result.image.host()), result.quantity.name,
                                  unit_of(report), um_per_px(report.stream, result.chain.get()), regions});
    if (result.raw) {
        RecordedFrame raw = recorded_frame(result, RecordWhat::raw);
        Mapping grey;
        grey.colormap = ColorMap::grey;
        grey.low_percentile = 0;
        grey.high_percentile = 100;
        const bool same = !moves_pixels(*result.chain) && result.raw.shape().width == result.shape().width &&
                          result.raw.shape().height == result.shape().height;
        const std::string unit = raw.quantity.unit;
        height = std::max(height, draw_picture(page, Pages::kLeft + kMap + kGap, Pages::kWide - kMap - kGap,
                                               {std::move(raw), with_fixed_range(grey, result.raw.host()),
                                                "raw frame", unit, um_per_px(report.stream, nullptr),
                                                same ? regions : std::vector<Region>()}));
    }
    page.y += height + 10;
}

void draw_table(Pages& page, const Report& report) {
    const RegionTable table = region_table(report);
    if (table.rows.empty())
        return;
    constexpr std::array kNames = {"region",      "shape",     "pixels",    "area µm²", "valid",
                                   "infinite",    "undefined", "saturated", "mean",     "std",
                                   "mean of map", "min",       "max",       "F₀",       "ΔF/F₀ %"};
    std::array<double, kNames.size()> widths = {78, 46, 38, 50, 36, 36, 46, 44, 54, 52, 58, 52, 52, 52, 50};
    static_assert(kNames.size() == RegionTable::kColumns.size());
    if (!table.area) // the names get its room
        widths[0] += std::exchange(widths[3], 0);
    const std::size_t count = table.baseline ? kNames.size() : kNames.size() - 2;
    constexpr double kStep = 10.5;
    const auto add_row = [&](const auto& text, bool bold) {
        double x = Pages::kLeft + 16;
        for (std::size_t c = 0; c < count; ++c) {
            if (widths[c] > 0)
                page.line(x, page.y, widths[c] - 4, text(c),
                          {.size = 7, .bold = bold, .align = c < 2 ? Align::left : Align::right});
            x += widths[c];
        }
        page.y += kStep;
    };
    const auto head = [&] {
        add_row([&](std::size_t c) { return kNames[c]; }, true);
        page.stroke({{Pages::kLeft, page.y}, {Pages::kLeft + Pages::kWide, page.y}}, false, kGrey, 0.5);
        page.y += 2;
    };
    const std::string unit = unit_of(report);
    page.heading("Regions" + (unit == "1" ? std::string() : ", values in " + unit));
    head();
    const std::vector<Region> regions = regions_of_report(report);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        if (page.need(kStep))
            head();
        if (i < regions.size())
            page.fill({Pages::kLeft, page.y + 1.5, 4, 6}, ink_of(region_colour(regions[i], i)));
        page.line(Pages::kLeft + 5, page.y, 14, std::to_string(i + 1), {.size = 6, .ink = kGrey});
        add_row([&](std::size_t c) { return table.rows[i][c]; }, false);
    }
}

/// How the curve of a region is drawn: its colour, darker for paper; once colours repeat, dashed.
struct CurveStyle {
    Ink ink = kGrey;
    std::vector<double> dashes{};
};
CurveStyle curve_style(const std::vector<Region>& regions, const std::string& name) {
    static const std::array<std::vector<double>, 4> kDashes = {
        std::vector<double>{}, {5, 2}, {1.2, 1.6}, {6, 1.5, 1.2, 1.5}};
    for (std::size_t i = 0; i < regions.size(); ++i)
        if (regions[i].name == name) {
            const Ink ink = ink_of(region_colour(regions[i], i));
            return {{ink.red * 0.75, ink.green * 0.75, ink.blue * 0.75},
                    kDashes[i / region_palette().size() % kDashes.size()]};
        }
    return {};
}

constexpr std::size_t kMostCurves = 40; ///< more cannot be distinguished
constexpr double kPlotHigh = 150;

/// One plot: `value(i, v)` of curve i, in the range of `extremes`.
void draw_plot(Pages& page, const Report& report, const std::string& symbol, const std::string& unit,
               const std::vector<std::optional<TraceExtremes>>& extremes, bool comparable_only,
               const std::function<double(std::size_t, double)>& value) {
    const ReportTraces& traces = *report.traces;
    const std::size_t count = std::min(kMostCurves, traces.curves.size());
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < count; ++i)
        for (const double v : extremes[i]
                                  ? std::vector{value(i, extremes[i]->low), value(i, extremes[i]->high)}
                                  : std::vector<double>())
            if (std::isfinite(v)) {
                low = std::min(low, v);
                high = std::max(high, v);
            }
    if (!(low <= high))
        return;
    const double room = std::max((high - low) * 0.05, std::abs(high) * 1e-6 + 1e-12);
    low -= room;
    high += room;
    constexpr double kSide = 52;
    const PaperRect area{Pages::kLeft + kSide, page.y + 12, Pages::kWide - kSide, kPlotHigh};
    const double right = area.x + area.width, bottom = area.y + area.height;
    const double span = static_cast<double>(traces.to_ns - traces.from_ns) * 1e-9;
    const auto x_of = [&](std::int64_t ns) {
        return area.x + area.width * static_cast<double>(ns - traces.from_ns) * 1e-9 / span;
    };
    const auto y_of = [&](double v) { return area.y + area.height * (1 - (v - low) / (high - low)); };

    const TickScale up = tick_scale(low, high, 6), along = tick_scale(0, span, 12);
    for (const double v : ticks_of(low, high, up)) {
        page.stroke({{area.x, y_of(v)}, {right, y_of(v)}}, false, kFaint, 0.4);
        page.line(Pages::kLeft, y_of(v) - 4.5, kSide - 4, figure(v * up.factor, up.decimals),
                  {.size = 7, .align = Align::right});
    }
    for (const double t : ticks_of(0, span, along)) {
        const double x = area.x + area.width * t / span;
        page.stroke({{x, bottom}, {x, bottom + 3}}, false, kGrey, 0.5);
        page.line(x - 30, bottom + 4, 60, figure(t * along.factor, along.decimals),
                  {.size = 7, .align = Align::centre});
    }
    const std::string scaled = unit_text(unit, up);
    page.line(area.x, page.y, area.width, symbol + (scaled.empty() ? "" : " in " + scaled), kSmall);
    page.line(area.x, bottom + 13, area.width,
              traces.overview.newest && !traces.overview.newest->timed
                  ? "frames since the first"
                  : "time since the first frame, " + unit_text("s", along),
              {.size = 7, .ink = kGrey, .align = Align::centre});

    page.clip(area);
    const auto mark = [&](std::int64_t ns, double y, const std::string& text,
                          const std::vector<double>& dashes) {
        if (ns < traces.from_ns || ns > traces.to_ns)
            return;
        page.stroke({{x_of(ns), area.y}, {x_of(ns), bottom}}, false, kGrey, 0.6, dashes);
        page.line(x_of(ns) + 2, y, 160, text, {.size = 6.5, .ink = kGrey});
    };
    for (const TimedEvent& event : report.events)
        if (!event.mark.removed)
            mark(event.time_ns, area.y + 1, std::to_string(event.mark.number), {});
    for (const TraceRestart& restart : traces.overview.restarts)
        if (restart.time_ns > traces.from_ns)
            mark(restart.time_ns, bottom - 9, one_line(restart.what), {3, 3});
    const std::vector<Region> regions = regions_of_report(report);
    for (std::size_t i = 0; i < count; ++i) {
        const CurveStyle style = curve_style(regions, traces.overview.regions[i].name);
        std::vector<std::pair<double, double>> points;
        const auto end = [&] {
            page.stroke(points, false, style.ink, 0.8, style.dashes);
            points.clear();
        };
        for (const TraceColumn& column : traces.curves[i]) {
            const double least = value(i, column.low), most = value(i, column.high);
            const bool shown = std::isfinite(least) && std::isfinite(most) &&
                               !(comparable_only && !traces.comparable(column));
            if (column.broken || !shown)
                end();
            if (shown)
                points.emplace_back(x_of(column.time_ns), y_of(least));
            if (shown && most != least)
                points.emplace_back(x_of(column.time_ns), y_of(most));
        }
        end();
    }
    page.unclip();
    page.frame(area, kGrey);

    page.y = bottom + 24;
    double x = area.x;
    for (std::size_t i = 0; i < count; ++i) { // names, each after a sample of its curve
        const std::string name = one_line(traces.overview.regions[i].name);
        const CurveStyle style = curve_style(regions, traces.overview.regions[i].name);
        const double wide = std::min(130.0, page.text_width(name, kSmall) + 2);
        if (x > area.x && x + 22 + wide > right) {
            x = area.x;
            page.y += 10;
        }
        page.stroke({{x, page.y + 5}, {x + 18, page.y + 5}}, false, style.ink, 1.2, style.dashes);
        page.line(x + 22, page.y, wide, name, kSmall);
        x += 34 + wide;
    }
    page.y += 12;
}

void draw_traces(Pages& page, const Report& report) {
    if (!report.traces || !report.result.regions)
        return;
    const ReportTraces& traces = *report.traces;
    const std::string all = std::to_string(traces.curves.size()), &symbol = traces.overview.quantity.symbol;
    page.heading("Traces: mean of each region" +
                     (traces.curves.size() > kMostCurves
                          ? ", the first " + std::to_string(kMostCurves) + " of " + all
                          : ""),
                 kPlotHigh + 54);
    draw_plot(page, report, symbol, unit_of(report), traces.extremes, false,
              [](std::size_t, double v) { return v; });
    if (!traces.no_baseline.empty())
        page.paragraph("ΔF/F₀: " + traces.no_baseline + ".", kSmall);
    if (!traces.taken)
        return;
    page.heading("Change from the baseline, ΔF/F₀", kPlotHigh + 54);
    draw_plot(page, report, "Δ" + symbol + "/" + symbol + "₀", "%", traces.compared, true,
              [&](std::size_t i, double v) {
                  return traces.baseline[i] ? relative_change(v, *traces.baseline[i]) : NAN;
              });
    const TraceMeans& means = *traces.taken;
    page.paragraph(means.from_picture.empty()
                       ? "F₀: mean of " + std::to_string(means.frames) + " frames, number " +
                             std::to_string(means.from.sequence) + " to " +
                             std::to_string(means.to.sequence) + "."
                       : "F₀: mean over each region of the picture " + means.from_picture + ".",
                   kSmall);
}

} // namespace

bool can_draw_pdf() { return true; }

std::string draw_pdf(const Report& report) {
    const Result& result = report.result;
    const std::string title =
        (report.subject.empty() ? "" : report.subject + " – ") + report.stream.source_text;
    std::string bytes;
    Pages page(bytes, title);
    page.line(Pages::kLeft, page.y, Pages::kWide, title, {.size = 14, .bold = true});
    page.y += 26;
    if (rests_on_assumption(result.quantity, result.exposure))
        page.paragraph(assumed_text(result.exposure), kWarning);
    if (result.info.assumed.any())
        page.paragraph("Assumed, since the source does not state it: " + to_string(result.info.assumed) + ".",
                       kWarning);
    draw_pictures(page, report);
    draw_table(page, report);
    draw_traces(page, report);
    if (const auto rows = event_rows(report); !rows.empty()) {
        page.heading("Events");
        for (const auto& row : rows)
            page.paragraph(row[0] + "   " + row[1] + "   frame " + row[2] + "   " + row[3], kText);
    }
    page.heading("Settings");
    for (const auto& [name, value] : settings_rows(report)) {
        page.need(10.5);
        page.line(Pages::kLeft, page.y, 80, name, {.size = 7.5, .ink = kGrey});
        page.paragraph(value, kText, 84);
    }
    page.heading("Methods");
    for (const std::string& text : methods(report)) {
        page.paragraph(text, kText);
        page.y += 3;
    }
    page.finish();
    return bytes;
}

#endif

} // namespace specklescope
