#include "stages/contrast.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

ChoiceNames contrast_output_names() {
    return {{"sfi", "Flow index (SFI)"},
            {"contrast", "Contrast K"},
            {"contrast2", "K²"},
            {"tau", "Correlation time τc"},
            {"bfi", "Flow index 1/K²"}};
}

ChoiceNames contrast_input_names() {
    return {{"auto", "As the stage before"}, {"contrast", "Contrast K"}, {"contrast2", "K²"}};
}

namespace {

[[noreturn]] void refuse_input(const std::string& stage, const std::string& given) {
    throw UsageError(stage + ": input = auto needs K or K² from the stages before, which give " + given +
                     "; set output = contrast2 in a contrast stage before it, or input = contrast or "
                     "contrast2 if the source has it.");
}

} // namespace

ContrastInput settled_input(const std::string& stage, ContrastInput given, const Quantity& input) {
    if (given != ContrastInput::automatic)
        return given;
    if (input.measure != Measure::contrast && input.measure != Measure::contrast2)
        refuse_input(stage, input.symbol + " (" + input.name + ")");
    return input.measure == Measure::contrast ? ContrastInput::contrast : ContrastInput::contrast2;
}

void check_settled(const std::string& stage, ContrastInput input) {
    if (input == ContrastInput::automatic)
        refuse_input(stage, "nothing");
}

std::vector<std::pair<ChoiceName, Border>> contrast_borders() {
    return {{ChoiceName("replicate", "Repeat the edge"), Border::replicate},
            {ChoiceName("reflect"), Border::reflect},
            {ChoiceName("crop", "Smaller image"), Border::crop},
            {ChoiceName("zero", "Zeros"), Border::zero}};
}

Quantity contrast_quantity(ContrastOutput output) {
    switch (output) {
    case ContrastOutput::contrast:
        return {"speckle contrast", "K", "1", Measure::contrast};
    case ContrastOutput::contrast2:
        return {"speckle contrast squared", "K²", "1", Measure::contrast2};
    case ContrastOutput::tau:
        return {"correlation time 2TK²", "τ", "s", Measure::time};
    case ContrastOutput::bfi:
        return {"blood flow index 1/K²", "BFI", "1", Measure::flow};
    case ContrastOutput::sfi:
        break;
    }
    return {"speckle flow index 1/(2TK²)", "SFI", "1/s", Measure::flow};
}

double exposure_seconds(double exposure_ms, const FrameInfo& info) {
    return (std::isfinite(info.exposure_ms) ? info.exposure_ms : exposure_ms) * 1e-3;
}

bool needs_exposure(ContrastOutput output) {
    return output == ContrastOutput::sfi || output == ContrastOutput::tau;
}

ContrastScale contrast_scale(ContrastOutput output, double samples, double exposure_ms,
                             const FrameInfo& info) {
    const double exposure_s = exposure_seconds(exposure_ms, info);
    const double n = samples < 2 ? std::numeric_limits<double>::quiet_NaN() : samples;
    switch (output) {
    case ContrastOutput::contrast:
        return {ContrastForm::root, n / (n - 1)};
    case ContrastOutput::contrast2:
        return {ContrastForm::square, n / (n - 1)};
    case ContrastOutput::tau:
        return {ContrastForm::square, 2 * exposure_s * n / (n - 1)};
    case ContrastOutput::bfi:
        return {ContrastForm::inverse, (n - 1) / n};
    case ContrastOutput::sfi:
        break;
    }
    return {ContrastForm::inverse, (n - 1) / (2 * exposure_s * n)};
}

Shape contrast_window_shape(const std::string& stage, int radius, bool crop, const Shape& input) {
    const int side = std::min(input.width, input.height);
    if (crop ? 2 * radius + 1 > side : radius > side)
        throw UsageError(stage + ": radius = " + std::to_string(radius) + " is too large for an image of " +
                         std::to_string(input.width) + "×" + std::to_string(input.height) +
                         " pixels; allowed: up to " + std::to_string(crop ? (side - 1) / 2 : side) +
                         (crop ? " with border = crop." : "."));
    const int margin = crop ? 2 * radius : 0;
    return {input.width - margin, input.height - margin, 1, PixelType::f32};
}

} // namespace specklescope
