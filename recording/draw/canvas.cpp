#include "have_cairo.hpp"
#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "recording/draw/canvas.hpp"

#include "analysis/region_editor.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace specklescope {

cairo_status_t append_to_text(void* to, const unsigned char* data, unsigned length) noexcept {
    try {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
        return CAIRO_STATUS_SUCCESS;
    } catch (const std::exception&) {
        return CAIRO_STATUS_NO_MEMORY;
    }
}

std::string valid_utf8(const std::string& text) {
    const std::string line = one_line(text);
    const std::unique_ptr<char, decltype(&g_free)> made(
        g_utf8_make_valid(line.data(), static_cast<gssize>(line.size())), &g_free);
    return made.get();
}

Ink ink_of(const std::string& colour) {
    const unsigned long rgb = std::stoul(colour.substr(1), nullptr, 16);
    const auto part = [&](int shift) { return static_cast<double>((rgb >> shift) & 255) / 255; };
    return {part(16), part(8), part(0)};
}

Canvas::Canvas(cairo_surface_t* surface, std::string what)
    : what_(std::move(what)), surface_(surface), context_(cairo_create(surface)) {
    check();
}

void Canvas::check() const {
    cairo_status_t status = cairo_status(context_.get());
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface_.get());
    if (status != CAIRO_STATUS_SUCCESS)
        throw RunError(what_ + " cannot be drawn: " + cairo_status_to_string(status) + ".");
}

void Canvas::set(const Ink& ink) const {
    cairo_set_source_rgba(context_.get(), ink.red, ink.green, ink.blue, ink.opacity);
}

Canvas::Layout Canvas::layout(const std::string& text, const TextStyle& style) const {
    Layout made(pango_cairo_create_layout(context_.get()));
    const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> font(
        pango_font_description_from_string("DejaVu Sans, Sans"), &pango_font_description_free);
    pango_font_description_set_absolute_size(font.get(), style.size * PANGO_SCALE);
    if (style.bold)
        pango_font_description_set_weight(font.get(), PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(made.get(), font.get());
    const std::string whole = valid_utf8(text);
    pango_layout_set_text(made.get(), whole.c_str(), static_cast<int>(whole.size())); // no markup
    return made;
}

void Canvas::line(double x, double top, double wide, const std::string& text, const TextStyle& style) {
    if (text.empty())
        return;
    const Layout made = layout(text, style);
    pango_layout_set_width(made.get(), static_cast<int>(wide * PANGO_SCALE));
    pango_layout_set_ellipsize(made.get(), PANGO_ELLIPSIZE_END);
    pango_layout_set_single_paragraph_mode(made.get(), 1);
    pango_layout_set_alignment(made.get(), style.align == TextStyle::Align::right    ? PANGO_ALIGN_RIGHT
                                           : style.align == TextStyle::Align::centre ? PANGO_ALIGN_CENTER
                                                                                     : PANGO_ALIGN_LEFT);
    set(style.ink);
    cairo_move_to(context_.get(), x, top);
    pango_cairo_show_layout(context_.get(), made.get());
}

double Canvas::text_width(const std::string& text, const TextStyle& style) const {
    int width = 0, height = 0;
    pango_layout_get_pixel_size(layout(text, style).get(), &width, &height);
    return width;
}

void Canvas::stroke(const std::vector<std::pair<double, double>>& points, bool closed, const Ink& ink,
                    double thick, const std::vector<double>& dashes) {
    if (points.empty())
        return;
    set(ink);
    cairo_set_line_width(context_.get(), thick);
    cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(context_.get());
    for (const auto& [x, at] : points)
        cairo_line_to(context_.get(), x, at);
    if (closed)
        cairo_close_path(context_.get());
    cairo_set_dash(context_.get(), dashes.data(), static_cast<int>(dashes.size()), 0);
    cairo_stroke(context_.get());
}

void Canvas::fill(const PaperRect& area, const Ink& ink) {
    set(ink);
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_fill(context_.get());
}

void Canvas::frame(const PaperRect& area, const Ink& ink, double thick) {
    set(ink);
    cairo_set_line_width(context_.get(), thick);
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_stroke(context_.get());
}

void Canvas::picture(ConstHostView rgb, const PaperRect& area) {
    const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, rgb.shape.width, rgb.shape.height));
    unsigned char* data = cairo_image_surface_get_data(image.get());
    if (!data || cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS)
        throw RunError("An image of " + to_string(rgb.shape) +
                       " is too large to draw. Make it smaller with --stage downsample.");
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
    for (int row = 0; row < rgb.shape.height; ++row) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(rgb.row(row));
        unsigned char* to = data + static_cast<std::size_t>(row) * stride;
        for (int x = 0; x < rgb.shape.width; ++x, from += 3, to += 4) {
            const std::uint32_t value =
                (std::uint32_t{from[0]} << 16) | (std::uint32_t{from[1]} << 8) | from[2];
            std::memcpy(to, &value, sizeof value);
        }
    }
    cairo_surface_mark_dirty(image.get());
    cairo_save(context_.get());
    cairo_translate(context_.get(), area.x, area.y);
    cairo_scale(context_.get(), area.width / rgb.shape.width, area.height / rgb.shape.height);
    cairo_set_source_surface(context_.get(), image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context_.get()), CAIRO_FILTER_NEAREST);
    cairo_rectangle(context_.get(), 0, 0, rgb.shape.width, rgb.shape.height);
    cairo_fill(context_.get());
    cairo_restore(context_.get());
}

void Canvas::clip(const PaperRect& area) {
    cairo_save(context_.get());
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_clip(context_.get());
}

void Canvas::unclip() { cairo_restore(context_.get()); }

ImageCanvas::ImageCanvas(int width, int height, double scale)
    : Canvas(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), "An image with marks"),
      width_(width), height_(height) {
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY); // without subpixels
    cairo_set_font_options(context(), options);
    cairo_font_options_destroy(options);
    cairo_scale(context(), scale, scale);
}

void ImageCanvas::read(HostView rgb) const {
    check();
    cairo_surface_flush(surface());
    const unsigned char* data = cairo_image_surface_get_data(surface());
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface()));
    for (int y = 0; y < height_; ++y) {
        const unsigned char* from = data + static_cast<std::size_t>(y) * stride;
        auto* to = rgb.as<std::uint8_t>().row(y);
        for (int x = 0; x < width_; ++x, from += 4, to += 3) {
            std::uint32_t value = 0;
            std::memcpy(&value, from, sizeof value);
            to[0] = static_cast<std::uint8_t>(value >> 16);
            to[1] = static_cast<std::uint8_t>(value >> 8);
            to[2] = static_cast<std::uint8_t>(value);
        }
    }
}

std::string figure(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value + 0.0);
    return text;
}

/// "×10³  1/s".
std::string unit_text(const std::string& unit, const TickScale& scale) {
    std::string text = scale.exponent == 0 ? "" : "×1e" + std::to_string(scale.exponent) + "  ";
    return text + (unit == "1" ? "" : unit);
}

std::vector<double> ticks_of(double low, double high, const TickScale& scale) {
    std::vector<double> ticks;
    for (auto i = static_cast<std::int64_t>(std::ceil(low / scale.step - 1e-9));
         static_cast<double>(i) * scale.step <= high + scale.step * 1e-9; ++i)
        ticks.push_back(static_cast<double>(i) * scale.step);
    return ticks;
}

void draw_color_bar(Canvas& canvas, const PaperRect& area, const ColorScale& scale, const BarStyle& style) {
    const auto& [low, high] = scale.range;
    if (!(high > low))
        return;
    std::vector<std::byte> colours;
    for (int i = 255; i >= 0; --i)
        for (const std::uint8_t part : color_table(scale.map)[static_cast<std::size_t>(i)])
            colours.push_back(static_cast<std::byte>(part));
    canvas.picture(HostView(colours.data(), Shape{1, 256, 3, PixelType::u8}), area);
    canvas.frame(area, style.lines);
    const double size = style.size, right = area.x + area.width;
    const TickScale ticks =
        tick_scale(low, high, std::clamp(static_cast<int>(area.height / (4.6 * size)), 2, 10));
    for (const double value : ticks_of(low, high, ticks)) {
        const double part = tone(scale.curve, (value - low) / (high - low));
        const double at = area.y + area.height * (1 - part);
        canvas.stroke({{right, at}, {right + size * 0.43, at}}, false, style.lines, size * 0.07);
        canvas.line(right + size * 0.71, at - size * 0.64, size * 6.57,
                    figure(value * ticks.factor, ticks.decimals), {.size = size, .ink = style.figures});
    }
    const double wide = size * 8.57;
    canvas.line(area.x - size * 0.29, area.y - size * 2.86, wide, scale.symbol,
                {.size = size, .bold = true, .ink = style.symbol});
    canvas.line(area.x - size * 0.29, area.y - size * 1.57, wide, unit_text(scale.unit, ticks),
                {.size = size * 0.93, .ink = style.lines});
}

bool draw_scale_bar(Canvas& canvas, const PaperRect& area, double um, double size, double pixels) {
    if (area.width < 3 * size || area.height < 5 * size)
        return false;
    const double room = area.width * 0.3;
    const ScaleBar bar = um > 0 ? scale_bar(um, room) : pixel_bar(pixels, room);
    const TextStyle style{.size = size, .ink = kLight, .align = TextStyle::Align::centre};
    const double box = std::max(bar.length, canvas.text_width(bar.text, style)) + size;
    if (bar.length <= 0 || box + size > area.width)
        return false;
    const double x = area.x + std::floor(size * 0.5);
    const double y = area.y + area.height - std::floor(size * 2.7);
    canvas.fill({x, y, std::ceil(box), std::floor(size * 2.2)}, kShade);
    canvas.line(x, y + size * 0.1, box, bar.text, style);
    canvas.fill({std::floor(x + (box - bar.length) / 2), y + std::floor(size * 1.6), bar.length,
                 std::max(2.0, std::round(size / 5))},
                kLight);
    return true;
}

std::pair<double, double> draw_outline(Canvas& canvas, const OutlinePlace& place, const Region& region,
                                       const Ink& ink, double thick) {
    std::vector<std::pair<double, double>> points;
    for (const RegionPoint& corner : region_corners(region))
        points.emplace_back(place.x + (corner.x + 0.5) * place.pixel,
                            place.y + (corner.y + 0.5) * place.pixel);
    const bool closed = region.shape != RegionShape::line;
    canvas.stroke(points, closed, kBlack, thick * 2);
    canvas.stroke(points, closed, ink, thick);
    return points.front();
}

} // namespace specklescope
#endif
