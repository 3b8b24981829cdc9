#include "recording/screen/burn.hpp"

#include "base/error.hpp"
#include "have_cairo.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "base/log.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/draw/legend.hpp"

#include <spdlog/spdlog.h>

#include <set>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

namespace specklescope {

namespace {

/// Each pixel `zoom` × `zoom` times, into the upper left of `to`.
void enlarge(ConstHostView from, int zoom, HostView to) {
    const auto times = static_cast<std::size_t>(zoom);
    const std::size_t bytes = from.shape.row_bytes() * times;
    for (int y = 0; y < from.shape.height; ++y) {
        const std::byte* in = from.row(y);
        std::byte* out = to.row(y * zoom);
        if (zoom == 1) {
            std::memcpy(out, in, bytes);
            continue;
        }
        for (int x = 0; x < from.shape.width; ++x)
            for (std::size_t i = 0; i < times; ++i)
                std::memcpy(out + (static_cast<std::size_t>(x) * times + i) * 3, in + std::ptrdiff_t{3} * x,
                            3);
        for (int i = 1; i < zoom; ++i)
            std::memcpy(to.row(y * zoom + i), out, bytes);
    }
}

} // namespace

int Burner::text_size(const ScreenPicture& picture) const {
    return std::clamp(picture.shape.height * marks_.zoom / 30, 9, 32);
}

int Burner::strip(const ScreenPicture& picture) const {
    return marks_.bar && picture.legend.shown ? 10 * text_size(picture) : 0;
}

Shape Burner::shape(const ScreenPicture& picture) const {
    return {picture.shape.width * marks_.zoom + strip(picture), picture.shape.height * marks_.zoom, 3,
            PixelType::u8};
}

#ifndef SPECKLESCOPE_HAVE_CAIRO

bool can_burn() { return false; }

struct Burner::Drawing {};
Burner::Burner(const ScreenMarks& marks) : marks_(marks) { check_marks(marks, "Movies of the screen"); }
Burner::~Burner() = default;

void Burner::burn(const ScreenPicture& picture, const BurnedText&, HostView rgb) {
    enlarge({picture.rgb.data(), picture.shape}, marks_.zoom, rgb);
}

#else

bool can_burn() { return true; }

namespace {
constexpr Ink kLight{0.92, 0.94, 0.96}, kDim{0.6, 0.65, 0.7}, kAccent{1, 0.78, 0.3};
constexpr Ink kBehind{0.04, 0.05, 0.063, 0.75};
constexpr Ink kStrip{0.04, 0.05, 0.063};
} // namespace

struct Burner::Drawing {
    std::unique_ptr<ImageCanvas> canvas;
    std::set<std::string> left_out; ///< that has been said

    void leave_out(const std::string& what) {
        if (left_out.insert(what).second)
            run_log().warn("A movie of the screen has no room for {}, which is left out; --screen-zoom "
                           "enlarges the picture.",
                           what);
    }

    /// On a dark box; false where it is wider than the room.
    bool boxed(double x, double y, double room, const std::string& text, const TextStyle& style,
               const std::string& what) {
        const double pad = style.size * 0.4, wide = canvas->text_width(text, style);
        if (wide + 2 * pad > room) {
            leave_out(what);
            return false;
        }
        canvas->fill({x, y, wide + 2 * pad, style.size * 1.7}, kBehind);
        canvas->line(x + pad, y + style.size * 0.15, wide + 2, text, style);
        return true;
    }

    void bar(const ScreenPicture& picture, double x, double high, double wide, double size) {
        canvas->fill({x, 0, wide, high}, kStrip);
        const PaperRect area{x + size, size * 3.5, size * 1.2, high - size * 5};
        if (area.height < size * 4)
            return leave_out("the colour bar");
        const ScreenLegend& legend = picture.legend;
        draw_color_bar(*canvas, area, {legend.map, legend.range, legend.curve, legend.symbol, legend.unit},
                       {size, kLight, kLight, kDim});
    }

    /// `taken` is the height at the top where other marks stand: names keep below it.
    void regions(const std::vector<Region>& outlines, const ScreenPane& pane, int zoom, double size,
                 double taken) {
        const double thick = std::max<double>(zoom, std::round(size / 14));
        canvas->clip({static_cast<double>(pane.x * zoom), static_cast<double>(pane.y * zoom),
                      static_cast<double>(pane.width * zoom), static_cast<double>(pane.height * zoom)});
        const OutlinePlace place{static_cast<double>(pane.result_x * zoom),
                                 static_cast<double>(pane.result_y * zoom), static_cast<double>(zoom)};
        for (std::size_t i = 0; i < outlines.size(); ++i) {
            const Ink ink = ink_of(region_colour(outlines[i], i));
            draw_outline(*canvas, place, outlines[i], ink, thick);
            double left = outlines[i].points.front().x, top = outlines[i].points.front().y;
            for (const RegionPoint& point : region_corners(outlines[i]))
                top = std::min(top, point.y), left = std::min(left, point.x);
            const TextStyle style{.size = size * 0.8, .bold = true, .ink = ink};
            const double x = place.x + left * zoom, y = place.y + top * zoom - size * 1.3 - thick;
            canvas->line(x + thick, std::max(y, place.y + taken), 20 * size, outlines[i].name, style);
        }
        canvas->unclip();
    }

    void scale(const ScreenPane& pane, double um, int zoom, double size) {
        const double wide = pane.width * zoom, high = pane.height * zoom;
        if (wide < 3 * size || high < 5 * size)
            return leave_out("the scale bar");
        const ScaleBar bar = scale_bar(um / zoom, wide * 0.3);
        const TextStyle style{.size = size, .ink = kLight, .align = TextStyle::Align::centre};
        const double text = canvas->text_width(bar.text, style), pad = size * 0.5;
        const double box = std::max(bar.length, text) + 2 * pad;
        if (box + size > wide)
            return leave_out("the scale bar");
        const double x = pane.x * zoom + std::floor(size * 0.5);
        const double y = pane.y * zoom + high - std::floor(size * 2.7);
        canvas->fill({x, y, std::ceil(box), std::floor(size * 2.2)}, kBehind);
        canvas->line(x, y + size * 0.1, box, bar.text, style);
        const double thick = std::max(2.0, std::round(size / 5));
        canvas->fill({std::floor(x + (box - bar.length) / 2), y + std::floor(size * 1.6), bar.length, thick},
                     kLight);
    }
};

Burner::Burner(const ScreenMarks& marks) : marks_(marks), drawing_(std::make_unique<Drawing>()) {}
Burner::~Burner() = default;

void Burner::burn(const ScreenPicture& picture, const BurnedText& text, HostView rgb) {
    if (!marks_.any())
        return enlarge({picture.rgb.data(), picture.shape}, marks_.zoom, rgb);
    const Shape size = shape(picture);
    Drawing& d = *drawing_;
    if (!d.canvas || d.canvas->width() != size.width || d.canvas->height() != size.height)
        d.canvas = std::make_unique<ImageCanvas>(size.width, size.height);
    const int zoom = marks_.zoom;
    const double high = size.height, wide = static_cast<double>(picture.shape.width) * zoom;
    const double letters = text_size(picture);
    d.canvas->picture({picture.rgb.data(), picture.shape}, {0, 0, wide, high});
    if (const int right = strip(picture); right > 0)
        d.bar(picture, wide, high, right, letters);
    if (marks_.regions)
        for (const ScreenPane& pane : picture.panes)
            if (pane.regions)
                d.regions(text.regions, pane, zoom, letters, marks_.time ? letters * 2.3 : 0);
    if (marks_.scale)
        for (const ScreenPane& pane : picture.panes)
            if (const double um = pane.raw ? text.um_per_raw_px : text.um_per_px; um > 0)
                d.scale(pane, um, zoom, letters);
    const double gap = std::floor(letters * 0.5);
    double y = gap;
    if (marks_.time && !text.time.empty() &&
        d.boxed(gap, y, wide - 2 * gap, text.time, {.size = letters, .ink = kLight}, "the time stamp"))
        y += letters * 2;
    if (marks_.events)
        for (const std::string& label : text.events) {
            if (y + letters * 2 > high ||
                !d.boxed(gap, y, wide - 2 * gap, label, {.size = letters, .bold = true, .ink = kAccent},
                         "the label of an event"))
                break;
            y += letters * 2;
        }
    d.canvas->read(rgb);
}

#endif

} // namespace specklescope
