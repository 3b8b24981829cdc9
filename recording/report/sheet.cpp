#include "have_cairo.hpp"
#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "recording/report/sheet.hpp"

#include "base/error.hpp"

#include <cairo-pdf.h>

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

} // namespace

Sheet::Sheet(const std::string& title) : Sheet(std::make_unique<std::string>(), title) {}

Sheet::Sheet(std::unique_ptr<std::string> bytes, const std::string& title)
    : Canvas(cairo_pdf_surface_create_for_stream(append, bytes.get(), kWidth, kHeight),
             "The pages of the report"),
      bytes_(std::move(bytes)), title_(title) {
    cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_TITLE, valid_utf8(title).c_str());
    cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_CREATOR,
                                   "Specklescope " SPECKLESCOPE_VERSION);
    check();
}

std::string Sheet::finish() {
    foot();
    cairo_show_page(context());
    check();
    cairo_surface_finish(surface());
    if (const cairo_status_t status = cairo_surface_status(surface()); status != CAIRO_STATUS_SUCCESS)
        throw RunError(std::string("The pages of the report cannot be drawn: ") +
                       cairo_status_to_string(status) + ".");
    return std::move(*bytes_);
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
    cairo_show_page(context());
    ++page_;
    y = kMargin;
    return true;
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
        cairo_move_to(context(), left() + indent, y + style.size);
        pango_cairo_show_layout_line(context(), pango_layout_get_line_readonly(made.get(), i));
        y += step;
    }
}

void Sheet::heading(const std::string& text, double room) {
    need(24 + room);
    y += 8;
    line(left(), y, width(), text, {.size = 10, .bold = true});
    y += 16;
}

} // namespace specklescope
#endif
