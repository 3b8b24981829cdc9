// Outputs of the contrast stages, with names, coefficients and corrections. Shared by speckle, temporal and
// spatiotemporal, on host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/border.hpp"

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

enum class ContrastOutput : std::uint8_t {
    sfi,       ///< speckle flow index 1/(2·T·K²), 1/s (Yang 2011, eq. 3)
    contrast,  ///< K
    contrast2, ///< K²
    tau,       ///< correlation time 2·T·K², s (Yang 2011, eq. 2)
    bfi,       ///< blood flow index 1/K²
    mean,      ///< ⟨I⟩ above the black level, DN
    error      ///< relative standard error of K², and of its inverse
};

/// Names in the order of the enumeration.
ChoiceNames contrast_output_names();
inline constexpr const char* kContrastOutputDoc =
    "Output: sfi 1/(2TK²) in 1/s, contrast K, contrast2 K², tau 2TK² in s, bfi 1/K², mean ⟨I⟩ in DN, or "
    "error, the relative standard error of K²";
/// Border modes offered by the contrast stages.
std::vector<std::pair<ChoiceName, Border>> contrast_borders();
inline constexpr const char* kContrastBorderDoc =
    "Values outside the image. zero: false high contrast at the edge";
inline constexpr const char* kExposureDoc = "Exposure time T, used if the camera or file reports none";
Quantity contrast_quantity(ContrastOutput output);

/// Input of a stage that converts contrast.
enum class ContrastInput : std::uint8_t {
    automatic, ///< from the chain before the stage; settled before a stage is made
    contrast,
    contrast2
};
ChoiceNames contrast_input_names();
inline constexpr const char* kContrastInputDoc =
    "Quantity of the input: K or K². auto: as the contrast stage before";
/// Replaces automatic with contrast or contrast2. Throws UsageError naming `stage` ("stage flow") for other
/// inputs.
ContrastInput settled_input(const std::string& stage, ContrastInput given, const Quantity& input);
/// Throws UsageError for an input that is not settled.
void check_settled(const std::string& stage, ContrastInput input);

/// Parameters that every contrast stage has. Everything is off by default. With a gain or read noise
///   K² = K²raw − gain/⟨I⟩ − (read_noise² + q)/⟨I⟩²,  q = 1/12 for integer samples (quantisation), else 0,
/// and with a speckle size K² is divided by the mean that a window of this size would give of 1
/// (docs/science.md, Noise and Finite windows).
struct ContrastExtras {
    double gain = 0;         ///< DN per electron
    double read_noise = 0;   ///< DN
    double black = 0;        ///< DN, subtracted from ⟨I⟩
    double speckle_size = 0; ///< px, full width at half maximum of the intensity's autocovariance; 0: unknown
    unsigned also = 0;       ///< named outputs: bit i for ContrastOutput i

    bool removes_noise() const { return gain > 0 || read_noise > 0; }
    bool corrects() const { return removes_noise() || black > 0 || speckle_size > 0; }
};
/// With speckle_size for the stages whose windows are wider than a pixel.
const ParamTable& contrast_extras_table(bool spatial);
/// The named outputs, in the order of the enumeration.
std::vector<ContrastOutput> named_contrasts(const ContrastExtras& extras);
/// The name states the corrections.
Quantity contrast_quantity(ContrastOutput output, const ContrastExtras& extras);
/// For StageType::also.
std::vector<NamedOutput> contrast_also(const ContrastExtras& extras);

/// Results for S = ΣI, D = N·ΣI² − S² of N samples and coefficient c. S ≤ 0 → NaN; D = 0 with S > 0 → K = 0,
/// SFI = +∞.
enum class ContrastForm : int {
    inverse, ///< c·S²/D: sfi, bfi
    square,  ///< c·D/S²: contrast2, tau
    root,    ///< √(c·D)/S: contrast
    mean,    ///< S/N; by ContrastFinish only
    error    ///< likewise
};

struct ContrastScale {
    ContrastForm form = ContrastForm::inverse;
    double c = 0;
};
/// Form and coefficient of `output` for K² = N·D/((N−1)·S²); every result is NaN with fewer than 2 samples.
/// Uses exposure_seconds().
ContrastScale contrast_scale(ContrastOutput output, double samples, double exposure_ms,
                             const FrameInfo& info);

/// True if the loops of the stage write this output directly; otherwise stages/contrast_finish.hpp.
SPECKLESCOPE_BOTH constexpr bool is_direct(ContrastForm form) { return form <= ContrastForm::root; }
constexpr bool is_direct(ContrastOutput output) { return output <= ContrastOutput::bfi; }

/// Exposure time T in s: the camera's (info.exposure_ms) if known, otherwise `exposure_ms`, times the frames
/// in a sum.
double exposure_seconds(double exposure_ms, const FrameInfo& info);
/// True if `output` depends on the exposure.
bool needs_exposure(ContrastOutput output);
/// True if `output` or a named output does.
bool needs_exposure(ContrastOutput output, const ContrastExtras& extras);

/// Shape of a result over square windows: f32, one channel; smaller by 2·radius with `crop`. Throws
/// UsageError naming `stage` ("stage speckle") if the radius (crop: the window) is larger than the image.
Shape contrast_window_shape(const std::string& stage, int radius, bool crop, const Shape& input);

} // namespace specklescope
