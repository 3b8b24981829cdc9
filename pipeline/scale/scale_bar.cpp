#include "pipeline/scale/scale_bar.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace specklescope {

namespace {

std::string length_text(double um) {
    constexpr std::array<std::pair<double, const char*>, 5> kUnits = {
        {{1e6, " m"}, {1e4, " cm"}, {1e3, " mm"}, {1, " µm"}, {1e-3, " nm"}}};
    for (const auto& [size, name] : kUnits)
        if (um >= size * (1 - 1e-9))
            return std::to_string(std::lround(um / size)) + name;
    char text[32];
    std::snprintf(text, sizeof text, "%.1g nm", um * 1e3);
    return text;
}

} // namespace

ScaleBar scale_bar(double um, double room) {
    const double most = um * room;
    const double power = std::pow(10, std::floor(std::log10(most)));
    double length = power;
    for (const double part : {2.0, 5.0, 10.0}) // 10: for logarithms just below an integer
        if (part * power <= most * (1 + 1e-12))
            length = part * power;
    return {length, length / um, length_text(length)};
}

} // namespace specklescope
