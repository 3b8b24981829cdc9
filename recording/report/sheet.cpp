#include "have_cairo.hpp"
#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "recording/report/sheet.hpp"

#include "base/error.hpp"
#include "base/one_line.hpp"

#include <cairo-pdf.h>

#include <cstdint>
#include <cstring>

namespace specklescope {

namespace {

constexpr double kFoot = 20;

cairo_status_t append(void* to, const unsigned char* data, unsigned length) {
    try {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
    } catch (const std::exception&) { // Cairo's code is C
        return CAIRO_STATUS_NO_MEMORY;
    }
    return CAIRO_STATUS_SUCCESS;
}

/// Bytes of file names need not be UTF-8: what is none becomes U+FFFD.
std::string valid(const std::string& text) {
    const std::string line = one_line(text);
    const std::unique_ptr<char, decltype(&g_free)> made(
        g_utf8_make_valid(line.data(), static_cast<gssize>(line.size())), &g_free);
    return made.get();
}

} // namespace

Ink ink_of(const std::string& colour) {
    const unsigned long rgb = std::stoul(colour.substr(1), nullptr, 16);
    const auto part = [&](int shift) { return static_cast<double>((rgb >> shift) & 255) / 255; };
    return {part(16), part(8), part(0)};
}

Sheet::Sheet(const std::string& title)
    : surface_(cairo_pdf_surface_create_for_stream(append, &bytes_, kWidth, kHeight)),
      context_(cairo_create(surface_.get())), title_(title) {
    cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_TITLE, valid(title).c_str());
    cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATOR,
                                   "Specklescope " SPECKLESCOPE_VERSION);
    check();
}

void Sheet::check() const {
    cairo_status_t status = cairo_status(context_.get());
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface_.get());
    if (status != CAIRO_STATUS_SUCCESS)
        throw RunError(std::string("The pages of the report cannot be drawn: ") +
                       cairo_status_to_string(status) + ".");
}

std::string Sheet::finish() {
    foot();
    cairo_show_page(context_.get());
    check();
    cairo_surface_finish(surface_.get());
    if (const cairo_status_t status = cairo_surface_status(surface_.get()); status != CAIRO_STATUS_SUCCESS)
        throw RunError(std::string("The pages of the report cannot be drawn: ") +
                       cairo_status_to_string(status) + ".");
    return std::move(bytes_);
}

void Sheet::foot() {
    const TextStyle small{.size = 6.5, .ink = kGrey};
    const double top = kHeight - kMargin + 8;
    line(left(), top, width() - 80, title_, small);
    line(left() + width() - 80, top, 80, "page " + std::to_string(page_),
         {.size = 6.5, .ink = kGrey, .align = TextStyle::Align::right});
}

bool Sheet::need(double height) {
    if (y + height <= kHeight - kMargin - kFoot / 2)
        return false;
    foot();
    cairo_show_page(context_.get());
    ++page_;
    y = kMargin;
    return true;
}

Sheet::Layout Sheet::layout(const std::string& text, const TextStyle& style) const {
    Layout made(pango_cairo_create_layout(context_.get()));
    const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> font(
        pango_font_description_from_string("DejaVu Sans, Sans"), &pango_font_description_free);
    pango_font_description_set_absolute_size(font.get(), style.size * PANGO_SCALE);
    if (style.bold)
        pango_font_description_set_weight(font.get(), PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(made.get(), font.get());
    const std::string whole = valid(text);
    pango_layout_set_text(made.get(), whole.c_str(), static_cast<int>(whole.size())); // no markup is read
    return made;
}

void Sheet::line(double x, double top, double wide, const std::string& text, const TextStyle& style) {
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

void Sheet::paragraph(const std::string& text, const TextStyle& style, double indent) {
    if (text.empty())
        return;
    const Layout made = layout(text, style);
    pango_layout_set_width(made.get(), static_cast<int>((width() - indent) * PANGO_SCALE));
    pango_layout_set_wrap(made.get(), PANGO_WRAP_WORD_CHAR);
    set(style.ink);
    const double step = style.size * 1.35;
    for (int i = 0; i < pango_layout_get_line_count(made.get()); ++i) {
        if (need(step))
            set(style.ink);
        cairo_move_to(context_.get(), left() + indent, y + style.size);
        pango_cairo_show_layout_line(context_.get(), pango_layout_get_line_readonly(made.get(), i));
        y += step;
    }
}

void Sheet::heading(const std::string& text, double room) {
    need(24 + room);
    y += 8;
    line(left(), y, width(), text, {.size = 10, .bold = true});
    y += 16;
}

void Sheet::stroke(const std::vector<std::pair<double, double>>& points, bool closed, const Ink& ink,
                   double thick) {
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
    cairo_stroke(context_.get());
}

void Sheet::fill(const PaperRect& area, const Ink& ink) {
    set(ink);
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_fill(context_.get());
}

void Sheet::frame(const PaperRect& area, const Ink& ink, double thick) {
    set(ink);
    cairo_set_line_width(context_.get(), thick);
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_stroke(context_.get());
}

void Sheet::picture(ConstHostView rgb, const PaperRect& area) {
    const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, rgb.shape.width, rgb.shape.height));
    unsigned char* data = cairo_image_surface_get_data(image.get());
    if (!data || cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS)
        throw RunError("The picture of the report, " + to_string(rgb.shape) +
                       ", finds no memory; make a smaller one with --stage downsample.");
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

void Sheet::clip(const PaperRect& area) {
    cairo_save(context_.get());
    cairo_rectangle(context_.get(), area.x, area.y, area.width, area.height);
    cairo_clip(context_.get());
}

void Sheet::unclip() { cairo_restore(context_.get()); }

} // namespace specklescope
#endif
