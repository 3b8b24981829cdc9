#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace specklescope {

double source_pixels_per_pixel(const Chain& chain) {
    double side = 1;
    for (const ChainStage& stage : chain.stages())
        if (stage.type->pixel_side && !stage.bypassed)
            side *= stage.type->pixel_side(stage.params);
    return side;
}

bool moves_pixels(const Chain& chain) {
    return std::any_of(chain.stages().begin(), chain.stages().end(),
                       [](const ChainStage& stage) { return stage.type->moves_pixels && !stage.bypassed; });
}

double um_per_px(const StreamInfo& stream, const Chain* chain) {
    return stream.um_per_source_px * (chain ? source_pixels_per_pixel(*chain) : 1);
}

std::string_view scale_origin(const StreamInfo& stream) {
    constexpr double kSame = 1e-9; // rounding error of dividing by a chain's factor and back
    const double um = stream.um_per_source_px, said = stream.source.um_per_px;
    return um <= 0 ? "unknown" : std::abs(um - said) <= kSame * um ? "file" : "given";
}

std::string scale_text(const StreamInfo& stream, const Chain* chain) {
    const double um = um_per_px(stream, chain), said = stream.source.um_per_px;
    if (um <= 0)
        return "";
    const std::string text = to_string(um) + " µm per pixel, as ";
    if (scale_origin(stream) == "file")
        return text + "the file says";
    return text + "given" +
           (said > 0 ? "; the file states " + to_string(said * um / stream.um_per_source_px) : "");
}

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

/// 1, 2 or 5 times a power of ten, at most `most`.
double round_length(double most) {
    const double power = std::pow(10, std::floor(std::log10(most)));
    double length = power;
    for (const double part : {2.0, 5.0, 10.0}) // 10: for logarithms just below an integer
        if (part * power <= most * (1 + 1e-12))
            length = part * power;
    return length;
}

} // namespace

ScaleBar scale_bar(double um, double room) {
    const double length = round_length(um * room);
    return {length, length / um, length_text(length)};
}

ScaleBar pixel_bar(double pixels, double room) {
    if (pixels * room < 1)
        return {};
    const double length = round_length(pixels * room);
    return {0, length / pixels, std::to_string(std::lround(length)) + " px"};
}

} // namespace specklescope
