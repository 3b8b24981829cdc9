#include "bench/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace specklescope::bench {

namespace {

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 72, kRight = 24, kTop = 44, kBottom = 56, kLegendLine = 17;

/// Told apart by colour-blind readers too (Wong, Nature Methods 8, 441, 2011).
constexpr std::array<const char*, 7> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

std::string shortest(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
}

std::string px(double value) { return shortest(std::round(10 * value) / 10); }

std::string label(double x, double y, const std::string& text, const char* more = "") {
    return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" " + more + ">" + escaped(text) + "</text>\n";
}

/// One logarithmic axis: values to pixels, and its ticks at 1, 2 and 5 times the powers of ten.
class Axis {
public:
    Axis(double low, double high, double from, double to) : from_(from), to_(to) {
        low_ = tick_at_or(low, false);
        high_ = std::max(tick_at_or(high, true), low_ * 2);
    }
    double at(double value) const {
        return from_ + (to_ - from_) * std::log(value / low_) / std::log(high_ / low_);
    }
    std::vector<double> ticks() const {
        std::vector<double> all;
        const int last = static_cast<int>(std::floor(std::log10(high_)));
        for (int power = static_cast<int>(std::floor(std::log10(low_))); power <= last; ++power)
            for (const double step : {1.0, 2.0, 5.0})
                if (const double tick = step * std::pow(10, power);
                    tick >= low_ * 0.999 && tick <= high_ * 1.001)
                    all.push_back(tick);
        return all;
    }

private:
    /// The nearest tick at or beyond the value.
    static double tick_at_or(double value, bool above) {
        const double decade = std::pow(10, std::floor(std::log10(value)));
        const std::array<double, 4> steps = {1, 2, 5, 10};
        double found = decade;
        for (const double step : steps) {
            if (above && decade * step >= value * 0.999)
                return decade * step;
            if (!above && decade * step <= value * 1.001)
                found = decade * step;
        }
        return found;
    }
    double low_ = 1, high_ = 10, from_, to_;
};

std::string frame(const Plot& plot, const Axis& x, const Axis& y) {
    std::string text = label(kWidth / 2, 24, plot.title, "text-anchor=\"middle\" font-weight=\"bold\"");
    for (const double tick : x.ticks())
        text += "<path d=\"M" + px(x.at(tick)) + " " + px(kTop) + "V" + px(kHeight - kBottom) +
                "\" stroke=\"#ddd\"/>\n" +
                label(x.at(tick), kHeight - kBottom + 18, shortest(tick), "text-anchor=\"middle\"");
    for (const double tick : y.ticks())
        text += "<path d=\"M" + px(kLeft) + " " + px(y.at(tick)) + "H" + px(kWidth - kRight) +
                "\" stroke=\"#ddd\"/>\n" +
                label(kLeft - 8, y.at(tick) + 4, shortest(tick), "text-anchor=\"end\"");
    text += label((kLeft + kWidth - kRight) / 2, kHeight - 14, plot.x, "text-anchor=\"middle\"");
    return text + label(0, 0, plot.y, "text-anchor=\"middle\" transform=\"translate(18 220) rotate(-90)\"");
}

std::string line(const Series& series, const Axis& x, const Axis& y, const char* color) {
    std::string path, marks;
    for (const auto& [a, b] : series.points) {
        path += (path.empty() ? "M" : "L") + px(x.at(a)) + " " + px(y.at(b));
        marks += "<circle cx=\"" + px(x.at(a)) + "\" cy=\"" + px(y.at(b)) + "\" r=\"3.5\" fill=\"" + color +
                 "\"/>\n";
    }
    return "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"2\"" +
           (series.dashed ? " stroke-dasharray=\"6 4\"" : "") + "/>\n" + (series.dashed ? "" : marks);
}

} // namespace

std::string svg(const Plot& plot) {
    double low_x = std::numeric_limits<double>::max(), high_x = 0, low_y = low_x, high_y = 0;
    for (const Series& series : plot.series)
        for (const auto& [a, b] : series.points) {
            low_x = std::min(low_x, a);
            high_x = std::max(high_x, a);
            low_y = std::min(low_y, b);
            high_y = std::max(high_y, b);
        }
    const Axis x(low_x, high_x, kLeft, kWidth - kRight), y(low_y, high_y, kHeight - kBottom, kTop);
    const double height = kHeight + kLegendLine * static_cast<double>(plot.series.size()) + 8;
    std::string text =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 " + px(height) +
        "\" width=\"720\" height=\"" + px(height) +
        "\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\">\n<rect width=\"720\" height=\"" +
        px(height) + "\" fill=\"#fff\"/>\n" + frame(plot, x, y);
    std::string legend;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
        const char* color = kColors[i % kColors.size()];
        text += line(plot.series[i], x, y, color);
        const double at = kHeight + kLegendLine * static_cast<double>(i) + 6;
        legend += "<path d=\"M" + px(kLeft) + " " + px(at - 4) + "h22\" stroke=\"" + color +
                  "\" stroke-width=\"2\"" + (plot.series[i].dashed ? " stroke-dasharray=\"6 4\"" : "") +
                  "/>\n" + label(kLeft + 30, at, plot.series[i].name);
    }
    return text + legend + "</svg>\n";
}

} // namespace specklescope::bench
