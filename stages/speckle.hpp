// Spatial speckle contrast and flow: parameters, declaration and coefficients shared by host and device.
#pragma once

#include "pipeline/stage.hpp"

namespace specklescope {

/// K = s/⟨I⟩ over (2·radius+1)² pixels, sample standard deviation (Yang, Cuccia, Choi 2011, eq. 1).
struct SpeckleParams {
    enum class Output : std::uint8_t {
        sfi,       ///< speckle flow index 1/(2·T·K²), 1/s (Yang 2011, eq. 3)
        contrast,  ///< K
        contrast2, ///< K²
        tau,       ///< correlation time 2·T·K², s (Yang 2011, eq. 2)
        bfi        ///< blood flow index 1/K²
    };
    enum class Border : std::uint8_t { replicate, reflect, crop, zero };

    int radius = 3;
    double exposure_ms = 10;
    Output output = Output::sfi;
    Border border = Border::replicate;
};

const ParamTable& speckle_table();
Quantity speckle_quantity(const Params& params, const Quantity& input);

/// Shape of the result: f32, one channel; smaller by 2·radius with border = crop. Throws UsageError if the
/// radius is larger than the image (crop: the window is).
Shape speckle_shape(const SpeckleParams& params, const Shape& input);

/// K² = N·(N·Q − S²)/((N−1)·S²) with S = ΣI, Q = ΣI². With D = N·Q − S², every output is one of
///   contrast √(k2·D)/S · contrast2 k2·D/S² · tau flow·D/S² · sfi, bfi flow·S²/D.
/// S = 0 → NaN; D = 0 with S > 0 → K = 0, SFI = +∞.
struct SpeckleCoefficients {
    double k2 = 0;   ///< N/(N−1)
    double flow = 0; ///< tau: 2·T·N/(N−1); sfi: (N−1)/(2·T·N); bfi: (N−1)/N
};
/// The exposure is the camera's (info.exposure_ms) where it is known, otherwise the parameter.
SpeckleCoefficients speckle_coefficients(const SpeckleParams& params, const FrameInfo& info);

std::unique_ptr<HostStage> make_speckle_host(const Params& params);
#ifdef SPECKLESCOPE_HAVE_CUDA
std::unique_ptr<DeviceStage> make_speckle_device(const Params& params);
#endif

} // namespace specklescope
