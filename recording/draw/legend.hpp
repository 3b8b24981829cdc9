// What a picture needs beside it: the scale of its colours, and the outlines of regions.
#pragma once

#include "analysis/region.hpp"
#include "base/tick_scale.hpp"
#include "pipeline/mapping.hpp"
#include "recording/draw/canvas.hpp"

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// "0.25": a figure with so many digits behind the point.
std::string figure(double value, int decimals);
/// "×1e3  1/s".
std::string unit_text(const std::string& unit, const TickScale& scale);
/// The values of a scale that have a tick.
std::vector<double> ticks_of(double low, double high, const TickScale& scale);

struct ColorScale {
    ColorMap map = ColorMap::turbo;
    ValueRange range; ///< as it is seen
    ToneCurve curve = ToneCurve::linear;
    std::string symbol, unit;
};
struct BarStyle {
    double size = 7; ///< of its text; lengths of ticks and gaps follow it
    Ink symbol = kBlack, figures = kBlack, lines = kGrey;
};
/// The bar fills `area`; symbol and unit stand up to 2.9 sizes above it, figures up to 7.3 sizes on its
/// right.
void draw_color_bar(Canvas& canvas, const PaperRect& area, const ColorScale& scale, const BarStyle& style);

/// Where a picture lies: the upper left corner of its first pixel, and how large a pixel is.
struct OutlinePlace {
    double x = 0, y = 0, pixel = 1;
};
/// Through the centres of pixels, on a dark rim; returns where its first point is.
std::pair<double, double> draw_outline(Canvas& canvas, const OutlinePlace& place, const Region& region,
                                       const Ink& ink, double thick);

} // namespace specklescope
