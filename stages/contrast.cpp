#include "stages/contrast.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

ChoiceNames contrast_output_names() {
    return {{"sfi", "Flow index (SFI)"},      {"contrast", "Contrast K"}, {"contrast2", "K²"},
            {"tau", "Correlation time τc"},   {"bfi", "Flow index 1/K²"}, {"mean", "Mean intensity"},
            {"error", "Standard error of K²"}};
}

const ParamTable& contrast_extras_table(bool spatial) {
    static const auto shared = [] {
        Declare<ContrastExtras> declare("contrast");
        declare
            .several("also", &ContrastExtras::also, contrast_output_names(),
                     {.label = "More images",
                      .cost = Cost::rebuild,
                      .doc = "Further images from the same pass, joined by '+'"})
            .real("gain", &ContrastExtras::gain,
                  {.unit = "DN/e",
                   .min = 0,
                   .max = 10000,
                   .least = 1e-6,
                   .doc = "Camera gain, DN per electron, for subtracting shot noise from K². 0: off"})
            .real("read_noise", &ContrastExtras::read_noise,
                  {.label = "Read noise",
                   .unit = "DN",
                   .min = 0,
                   .max = 100000,
                   .least = 1e-6,
                   .doc = "Read noise, standard deviation without light, subtracted from K². 0: off"})
            .real("black", &ContrastExtras::black,
                  {.label = "Black level",
                   .unit = "DN",
                   .min = 0,
                   .max = 65535,
                   .least = 1e-6,
                   .doc = "Black level, subtracted from the mean. 0 after a dark frame (stage background)"});
        return declare;
    };
    static const ParamTable temporal = shared().table();
    static const ParamTable all =
        shared()
            .real("speckle_size", &ContrastExtras::speckle_size,
                  {.label = "Speckle size",
                   .unit = "px",
                   .min = 0,
                   .max = 20,
                   .least = 0.5,
                   .cost = Cost::rebuild,
                   .doc = "Speckle size, full width at half maximum of the intensity's autocovariance, for "
                          "correcting the bias of K² in small windows. 0: off"})
            .table();
    return spatial ? all : temporal;
}

std::vector<ContrastOutput> named_contrasts(const ContrastExtras& extras) {
    std::vector<ContrastOutput> named;
    for (unsigned i = 0; extras.also >> i != 0; ++i)
        if ((extras.also >> i & 1U) != 0)
            named.push_back(static_cast<ContrastOutput>(i));
    return named;
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
    case ContrastOutput::mean:
        return {"mean intensity", "⟨I⟩", "DN", Measure::intensity};
    case ContrastOutput::error:
        return {"relative standard error of K²", "σ(K²)/K²", "1", Measure::other};
    case ContrastOutput::sfi:
        break;
    }
    return {"speckle flow index 1/(2TK²)", "SFI", "1/s", Measure::flow};
}

Quantity contrast_quantity(ContrastOutput output, const ContrastExtras& extras) {
    Quantity quantity = contrast_quantity(output);
    if (extras.black > 0)
        quantity.name += ", black level " + to_string(ParamValue(extras.black)) + " DN";
    if (extras.removes_noise() && output != ContrastOutput::mean)
        quantity.name += ", noise subtracted";
    if (extras.speckle_size > 0 && output != ContrastOutput::mean)
        quantity.name += ", corrected for speckle of " + to_string(ParamValue(extras.speckle_size)) + " px";
    return quantity;
}

std::vector<NamedOutput> contrast_also(const ContrastExtras& extras) {
    const ChoiceNames names = contrast_output_names();
    std::vector<NamedOutput> also;
    for (const ContrastOutput output : named_contrasts(extras))
        also.push_back({names[static_cast<std::size_t>(output)].key, contrast_quantity(output, extras)});
    return also;
}

double exposure_seconds(double exposure_ms, const FrameInfo& info) {
    return (std::isfinite(info.exposure_ms) ? info.exposure_ms : exposure_ms) * info.summed * 1e-3;
}

bool needs_exposure(ContrastOutput output) {
    return output == ContrastOutput::sfi || output == ContrastOutput::tau;
}

bool needs_exposure(ContrastOutput output, const ContrastExtras& extras) {
    const std::vector<ContrastOutput> named = named_contrasts(extras);
    return needs_exposure(output) ||
           std::any_of(named.begin(), named.end(), [](ContrastOutput one) { return needs_exposure(one); });
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
    case ContrastOutput::mean:
        return {ContrastForm::mean, 1};
    case ContrastOutput::error:
        return {ContrastForm::error, n / (n - 1)};
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
