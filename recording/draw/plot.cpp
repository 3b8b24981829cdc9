#include "recording/draw/plot.hpp"

#include "analysis/baseline_image.hpp"
#include "analysis/region_editor.hpp"
#include "base/error.hpp"
#include "files/whole_file.hpp"
#include "have_cairo.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "recording/draw/canvas.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#endif

namespace specklescope {

PlotCurve curve_of(const std::vector<Region>& regions, const std::string& name) {
    const std::size_t colours = region_palette().size();
    for (std::size_t i = 0; i < regions.size(); ++i)
        if (regions[i].name == name)
            return {name, region_colour(regions[i], i), static_cast<int>(i / colours), {}};
    return {name, "", 0, {}};
}

#ifndef SPECKLESCOPE_HAVE_CAIRO

PlotFiles write_plot(const std::string&, const TracePlot&) {
    throw UsageError("Plots are not available: built without Pango and Cairo. Install libpango1.0-dev and "
                     "build again.");
}

#else

namespace {

using Align = TextStyle::Align;
constexpr double kSide = 52; ///< width of the figures on the left
constexpr TextStyle kSmall{.size = 7}, kFoot{.size = 6.5, .ink = kGrey};
constexpr Ink kBaseline{0.26, 0.65, 0.77, 0.18}, kResponse{0.35, 0.70, 0.35, 0.18};

struct CurveStyle {
    Ink ink = kGrey;
    std::vector<double> dashes{};
};
CurveStyle style_of(const PlotCurve& curve) {
    static const std::array<std::vector<double>, 4> dashes = {{{}, {5, 2}, {1.2, 1.6}, {6, 1.5, 1.2, 1.5}}};
    if (curve.colour.empty())
        return {};
    const Ink ink = ink_of(curve.colour);
    return {{ink.red * 0.75, ink.green * 0.75, ink.blue * 0.75},
            dashes[static_cast<std::size_t>(curve.repeat) % dashes.size()]};
}

/// Places on the page.
struct PlotFrame {
    const TracePlot& plot;
    PaperRect area; ///< between the axes
    double right() const { return area.x + area.width; }
    double bottom() const { return area.y + area.height; }
    double x(std::int64_t ns) const {
        return area.x + area.width * static_cast<double>(ns - plot.from_ns) /
                            static_cast<double>(plot.to_ns - plot.from_ns);
    }
    double y(double value) const {
        return area.y + area.height * (1 - (value - plot.low) / (plot.high - plot.low));
    }
    bool shows(std::int64_t ns) const { return ns >= plot.from_ns && ns <= plot.to_ns; }
};

void draw_axes(Canvas& canvas, const PlotFrame& frame) {
    const TracePlot& plot = frame.plot;
    const PaperRect& area = frame.area;
    const double from = static_cast<double>(plot.from_ns - plot.zero_ns) * 1e-9,
                 to = static_cast<double>(plot.to_ns - plot.zero_ns) * 1e-9;
    const TickScale up = tick_scale(plot.low, plot.high, 6), along = tick_scale(from, to, 12);
    for (const double v : ticks_of(plot.low, plot.high, up)) {
        canvas.stroke({{area.x, frame.y(v)}, {frame.right(), frame.y(v)}}, false, kFaint, 0.4);
        canvas.line(area.x - kSide, frame.y(v) - 4.5, kSide - 4, figure(v * up.factor, up.decimals),
                    {.size = 7, .align = Align::right});
    }
    for (const double t : ticks_of(from, to, along)) {
        const double x = area.x + area.width * (t - from) / (to - from);
        canvas.stroke({{x, frame.bottom()}, {x, frame.bottom() + 3}}, false, kGrey, 0.5);
        canvas.line(x - 30, frame.bottom() + 4, 60, figure(t * along.factor, along.decimals),
                    {.size = 7, .align = Align::centre});
    }
    const std::string scaled = unit_text(plot.unit, up);
    canvas.line(area.x, area.y - 12, area.width, plot.symbol + (scaled.empty() ? "" : " in " + scaled),
                kSmall);
    canvas.line(area.x, frame.bottom() + 13, area.width,
                plot.time_title + (plot.timed ? ", " + unit_text("s", along) : ""),
                {.size = 7, .ink = kGrey, .align = Align::centre});
}

void draw_marks(Canvas& canvas, const PlotFrame& frame) {
    const TracePlot& plot = frame.plot;
    const PaperRect& area = frame.area;
    for (const Interval& interval : plot.intervals) {
        const double left = std::max(frame.x(interval.from_ns), area.x),
                     right = std::min(frame.x(interval.to_ns), frame.right());
        if (right <= left)
            continue;
        canvas.fill({left, area.y, right - left, area.height}, interval.baseline ? kBaseline : kResponse);
        canvas.line(left + 2, frame.bottom() - 10, right - left - 4, label_of(interval), kFoot);
    }
    const auto mark = [&](const PlotMark& each, double y, const std::vector<double>& dashes) {
        if (!frame.shows(each.time_ns))
            return;
        const double x = frame.x(each.time_ns);
        canvas.stroke({{x, area.y}, {x, frame.bottom()}}, false, kGrey, 0.6, dashes);
        canvas.line(x + 2, y, 160, each.text, kFoot);
    };
    for (const PlotMark& event : plot.events)
        mark(event, area.y + 1, {});
    for (const PlotMark& restart : plot.restarts)
        mark(restart, frame.bottom() - 9, {3, 3});
}

void draw_curve(Canvas& canvas, const PlotFrame& frame, const PlotCurve& curve) {
    const CurveStyle style = style_of(curve);
    const auto value = [&](double v) { return curve.f0 ? relative_change(v, *curve.f0) : v; };
    std::vector<std::pair<double, double>> points;
    for (const TraceColumn& column : curve.columns) {
        const double least = value(column.low), most = value(column.high);
        const bool shown = std::isfinite(least) && std::isfinite(most);
        if (column.broken || !shown)
            canvas.stroke(std::exchange(points, {}), false, style.ink, 0.8, style.dashes);
        if (shown)
            points.emplace_back(frame.x(column.time_ns), frame.y(least));
        if (shown && most != least)
            points.emplace_back(frame.x(column.time_ns), frame.y(most));
    }
    canvas.stroke(points, false, style.ink, 0.8, style.dashes);
}

/// Names, each after a sample of its curve.
double draw_legend(Canvas& canvas, const PlotFrame& frame) {
    double x = frame.area.x, y = frame.bottom() + 24;
    for (const PlotCurve& curve : frame.plot.curves) {
        const CurveStyle style = style_of(curve);
        const double wide = std::min(130.0, canvas.text_width(curve.name, kSmall) + 2);
        if (x > frame.area.x && x + 22 + wide > frame.right()) {
            x = frame.area.x;
            y += 10;
        }
        canvas.stroke({{x, y + 5}, {x + 18, y + 5}}, false, style.ink, 1.2, style.dashes);
        canvas.line(x + 22, y, wide, curve.name, kSmall);
        x += 34 + wide;
    }
    return y + 12;
}

} // namespace

double draw_trace_plot(Canvas& canvas, const PaperRect& area, const TracePlot& plot) {
    const PlotFrame frame{plot, {area.x + kSide, area.y + 12, area.width - kSide, area.height}};
    draw_axes(canvas, frame);
    canvas.clip(frame.area);
    draw_marks(canvas, frame);
    for (const PlotCurve& curve : plot.curves)
        draw_curve(canvas, frame, curve);
    canvas.unclip();
    canvas.frame(frame.area, kGrey);
    return draw_legend(canvas, frame);
}

// Files.

namespace {

constexpr double kPage = 480, kMargin = 12, kHigh = 190; ///< points: the width of a printed page
constexpr int kPixels = 4;                               ///< of the PNG for a point

/// A plot that is the only item of its page.
class PlotCanvas : public Canvas {
public:
    explicit PlotCanvas(cairo_surface_t* surface) : Canvas(surface, "The plot") {}
    /// Height of the page.
    double draw(const TracePlot& plot) {
        return draw_trace_plot(*this, {kMargin, kMargin, kPage - 2 * kMargin, kHigh}, plot) + kMargin;
    }
    void scale(double by) { cairo_scale(context(), by, by); }
    void paper(double height) { fill({0, 0, kPage, height}, {1, 1, 1}); }
    void finish() {
        cairo_surface_finish(surface());
        check();
    }
    void write_png(std::string& bytes) {
        if (cairo_surface_write_to_png_stream(surface(), &append_to_text, &bytes) != CAIRO_STATUS_SUCCESS)
            throw RunError("The plot cannot be drawn as PNG.");
    }
};

/// Texts stay texts, which Cairo would draw as outlines: they can be searched and edited.
class SvgCanvas final : public PlotCanvas {
public:
    using PlotCanvas::PlotCanvas;
    void line(double x, double top, double width, const std::string& text, const TextStyle& style) override {
        if (text.empty())
            return;
        if (text_width(text, style) > width) // cut with "…"
            return PlotCanvas::line(x, top, width, text, style);
        const Layout made = layout(text, style);
        const double down = static_cast<double>(pango_layout_get_baseline(made.get())) / PANGO_SCALE;
        const auto byte = [](double part) { return static_cast<int>(std::lround(part * 255)); };
        const std::unique_ptr<char, decltype(&g_free)> escaped(
            g_markup_escape_text(valid_utf8(text).c_str(), -1), &g_free);
        const bool right = style.align == Align::right, centre = style.align == Align::centre;
        char begin[256];
        std::snprintf(
            begin, sizeof begin,
            "<text x=\"%.2f\" y=\"%.2f\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"%.2f\" "
            "text-anchor=\"%s\" fill=\"#%02x%02x%02x\">",
            x + (right    ? width
                 : centre ? width / 2
                          : 0),
            top + down, style.size,
            right    ? "end"
            : centre ? "middle"
                     : "start",
            byte(style.ink.red), byte(style.ink.green), byte(style.ink.blue));
        texts_ += begin + std::string(escaped.get()) + "</text>\n";
    }
    /// Adds the texts to the finished file.
    void add_texts(std::string& svg) const { svg.insert(std::min(svg.rfind("</svg>"), svg.size()), texts_); }

private:
    std::string texts_;
};

double page_height(const TracePlot& plot) {
    return PlotCanvas(cairo_recording_surface_create(CAIRO_CONTENT_COLOR, nullptr)).draw(plot);
}

std::string plot_png(const TracePlot& plot, double height) {
    std::string bytes;
    PlotCanvas canvas(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kPage * kPixels),
                                                 static_cast<int>(std::ceil(height * kPixels))));
    canvas.scale(kPixels);
    canvas.paper(height + 1);
    canvas.draw(plot);
    canvas.write_png(bytes);
    return bytes;
}

std::string plot_pdf(const TracePlot& plot, double height) {
    std::string bytes;
    PlotCanvas canvas(cairo_pdf_surface_create_for_stream(&append_to_text, &bytes, kPage, height));
    canvas.draw(plot);
    canvas.finish();
    return bytes;
}

std::string plot_svg(const TracePlot& plot, double height) {
    std::string bytes;
    SvgCanvas canvas(cairo_svg_surface_create_for_stream(&append_to_text, &bytes, kPage, height));
    canvas.paper(height);
    canvas.draw(plot);
    canvas.finish();
    canvas.add_texts(bytes);
    return bytes;
}

} // namespace

PlotFiles write_plot(const std::string& path, const TracePlot& plot) {
    const double height = page_height(plot);
    const std::vector<std::string> files =
        write_together(path, {".pdf", ".png", ".svg"},
                       {plot_pdf(plot, height), plot_png(plot, height), plot_svg(plot, height)}, "plot");
    return {files[0], files[1], files[2]};
}

#endif

} // namespace specklescope
