// Pages of text, lines and pictures, over Cairo and Pango. Lengths are in points, from the upper left.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/mapping.hpp"

#include <pango/pangocairo.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

struct PaperRect {
    double x = 0, y = 0, width = 0, height = 0;
};
/// 0…1 each.
struct Ink {
    double red = 0, green = 0, blue = 0;
};
inline constexpr Ink kBlack{0.08, 0.08, 0.1}, kGrey{0.42, 0.42, 0.46}, kFaint{0.82, 0.82, 0.85};
/// Of "#rrggbb".
Ink ink_of(const std::string& colour);

struct TextStyle {
    double size = 8;
    bool bold = false;
    Ink ink = kBlack;
    enum class Align : std::uint8_t { left, centre, right } align = Align::left;
};

class Sheet {
public:
    static constexpr double kWidth = 841.89, kHeight = 595.28; ///< A4, landscape
    static constexpr double kMargin = 40;

    /// `title` stands in the file's own description. Throws RunError.
    explicit Sheet(const std::string& title);
    /// The whole file. Throws RunError if anything failed.
    std::string finish();

    double y = kMargin; ///< where the next thing begins
    static constexpr double left() { return kMargin; }
    static constexpr double width() { return kWidth - 2 * kMargin; }
    /// Begins another page unless there is room for this. True if it did.
    bool need(double height);

    /// One line in a column of this width, cut with "…" where it is longer; its top is at `top`.
    void line(double x, double top, double width, const std::string& text, const TextStyle& style);
    /// At y, over as many lines and pages as it takes; y is below it then.
    void paragraph(const std::string& text, const TextStyle& style, double indent = 0);
    /// With room below it for this much, so that it is not alone at the foot of a page.
    void heading(const std::string& text, double room = 40);

    void stroke(const std::vector<std::pair<double, double>>& points, bool closed, const Ink& ink,
                double thick);
    void fill(const PaperRect& area, const Ink& ink);
    void frame(const PaperRect& area, const Ink& ink, double thick = 0.5);
    /// `rgb`: u8, three channels; its pixels stay squares of one colour.
    void picture(ConstHostView rgb, const PaperRect& area);
    void clip(const PaperRect& area);
    void unclip();

private:
    template <auto release> struct Releaser {
        template <class T> void operator()(T* object) const { release(object); }
    };
    using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_destroy>>;
    using Context = std::unique_ptr<cairo_t, Releaser<cairo_destroy>>;
    using Layout = std::unique_ptr<PangoLayout, Releaser<g_object_unref>>;

    Layout layout(const std::string& text, const TextStyle& style) const;
    void set(const Ink& ink) const { cairo_set_source_rgb(context_.get(), ink.red, ink.green, ink.blue); }
    void foot();
    void check() const;

    std::string bytes_;
    Surface surface_;
    Context context_;
    std::string title_;
    int page_ = 1;
};

} // namespace specklescope
