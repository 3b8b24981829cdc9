// Text, lines and pictures over Cairo and Pango, on a page or in an image. Lengths are in points of a page or
// pixels of an image, from the upper left.
#pragma once

#include "analysis/region.hpp"
#include "base/tick_scale.hpp"
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
    double red = 0, green = 0, blue = 0, opacity = 1;
};
inline constexpr Ink kBlack{0.08, 0.08, 0.1}, kGrey{0.42, 0.42, 0.46}, kFaint{0.82, 0.82, 0.85};
/// Inks for dark boxes over an image.
inline constexpr Ink kLight{0.92, 0.94, 0.96}, kShade{0.04, 0.05, 0.063, 0.75};
/// Colour from "#rrggbb".
Ink ink_of(const std::string& colour);

struct TextStyle {
    double size = 8;
    bool bold = false;
    Ink ink = kBlack;
    enum class Align : std::uint8_t { left, centre, right } align = Align::left;
};

/// Markup in texts is not interpreted.
class Canvas {
public:
    virtual ~Canvas() = default;
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    /// One line in a column of this width, cut with "…" if it is longer; its top is at `top`.
    virtual void line(double x, double top, double width, const std::string& text, const TextStyle& style);
    double text_width(const std::string& text, const TextStyle& style) const;

    /// `dashes`: alternating lengths of strokes and gaps; none: a solid line.
    void stroke(const std::vector<std::pair<double, double>>& points, bool closed, const Ink& ink,
                double thick, const std::vector<double>& dashes = {});
    void fill(const PaperRect& area, const Ink& ink);
    void frame(const PaperRect& area, const Ink& ink, double thick = 0.5);
    /// `rgb`: u8, three channels; drawn without interpolation.
    virtual void picture(ConstHostView rgb, const PaperRect& area);
    void clip(const PaperRect& area);
    void unclip();

protected:
    template <auto release> struct Releaser {
        template <class T> void operator()(T* object) const { release(object); }
    };
    using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_destroy>>;
    using Context = std::unique_ptr<cairo_t, Releaser<cairo_destroy>>;
    using Layout = std::unique_ptr<PangoLayout, Releaser<g_object_unref>>;

    /// `what`: "the pages of the report", for error messages.
    Canvas(cairo_surface_t* surface, std::string what);
    Layout layout(const std::string& text, const TextStyle& style) const;
    void set(const Ink& ink) const;
    cairo_t* context() const { return context_.get(); }
    cairo_surface_t* surface() const { return surface_.get(); }
    /// Throws RunError if anything failed.
    void check() const;

private:
    std::string what_;
    Surface surface_;
    Context context_;
};

/// Draws into an image in memory.
class ImageCanvas final : public Canvas {
public:
    /// `scale`: pixels per unit of length, black at first. Throws RunError without memory.
    ImageCanvas(int width, int height, double scale = 1);
    int width() const { return width_; }
    int height() const { return height_; }
    /// Reads the whole image into u8 RGB of the same size. Throws RunError if anything failed.
    void read(HostView rgb) const;

private:
    int width_, height_;
};

/// Appends to the std::string at `to`: for surfaces that write into memory. No exception may pass through
/// Cairo, which reports the error later.
cairo_status_t append_to_text(void* to, const unsigned char* data, unsigned length) noexcept;

/// One line of valid UTF-8; invalid bytes (in file names) become U+FFFD.
std::string valid_utf8(const std::string& text);

// Marks of an image: the scale of its colours, a scale bar, and the outlines of regions.

/// "0.25": fixed number of decimals.
std::string figure(double value, int decimals);
/// "×1e3  1/s".
std::string unit_text(const std::string& unit, const TickScale& scale);
/// The values of a scale that have a tick.
std::vector<double> ticks_of(double low, double high, const TickScale& scale);

struct ColorScale {
    ColorMap map = ColorMap::turbo;
    ValueRange range; ///< as displayed
    ToneCurve curve = ToneCurve::linear;
    std::string symbol, unit;
};
struct BarStyle {
    double size = 7; ///< text size; lengths of ticks and gaps are proportional to it
    Ink symbol = kBlack, figures = kBlack, lines = kGrey;
};
/// The bar fills `area`. Symbol and unit extend up to 2.9 sizes above it, figures up to 7.3 sizes to its
/// right.
void draw_color_bar(Canvas& canvas, const PaperRect& area, const ColorScale& scale, const BarStyle& style);

/// A bar and its length, in text of this size, on a dark box in the lower left corner of `area`. `um`: µm
/// per unit of the canvas; 0: unknown, the bar is in pixels, `pixels` of them per unit. Draws nothing and
/// returns false if there is no room.
bool draw_scale_bar(Canvas& canvas, const PaperRect& area, double um, double size, double pixels = 0);

/// Place of an image: the upper left corner of its first pixel, and the size of a pixel.
struct OutlinePlace {
    double x = 0, y = 0, pixel = 1;
};
/// Draws through the centres of pixels, with a dark rim; returns the position of the first point.
std::pair<double, double> draw_outline(Canvas& canvas, const OutlinePlace& place, const Region& region,
                                       const Ink& ink, double thick);

} // namespace specklescope
