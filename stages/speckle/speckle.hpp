// Spatial speckle contrast and flow: parameters, declaration and coefficients shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace specklescope {

/// K = s/⟨I⟩ over (2·radius+1)² pixels, sample standard deviation (Yang, Cuccia, Choi 2011, eq. 1). `border`:
/// one of contrast_borders(), or omit.
struct SpeckleParams {
    using Output = ContrastOutput;
    static constexpr int kMaxRadius = 15;

    int radius = 3;
    double exposure_ms = 10;
    Output output = Output::sfi;
    Border border = Border::replicate; ///< or omit: windows of the existing pixels
};

/// Shape of the result: f32, one channel; smaller by 2·radius with border = crop. Throws UsageError if the
/// radius (crop: the window) is larger than the image.
Shape speckle_shape(const SpeckleParams& params, const Shape& input);

/// contrast_scale() for the (2·radius+1)² samples of a window.
ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info);

StageType speckle_stage();
std::unique_ptr<DeviceStage> make_speckle_device(const Params& params);

// border = omit: windows of the existing pixels, fewer at the edges. The stage computes the whole image with
// border = replicate, whose inner windows are equal, and then replaces the edges, which need not be fast.
// Saturation does not change: replicated samples are in the same window.

/// Border used in the stage's loops.
constexpr Border speckle_inner_border(Border border) {
    return border == Border::omit ? Border::replicate : border;
}

/// Result for N samples with S = ΣI and D = N·ΣI² − S²; `c`: contrast_scale() without its factor of N.
SPECKLESCOPE_BOTH inline double omit_value(ContrastForm form, double c, double n, double sum,
                                           double determinant) {
    if (n < 2 || sum <= 0)
        return NAN;
    const double d = determinant < 0 ? 0 : determinant; // NaN stays NaN
    switch (form) {
    case ContrastForm::square:
        return c * (n / (n - 1)) * d / (sum * sum);
    case ContrastForm::root:
        return std::sqrt(c * (n / (n - 1)) * d) / sum;
    case ContrastForm::inverse:
        break;
    }
    return c * ((n - 1) / n) * sum * sum / d;
}

/// c of omit_value(): contrast_scale() without its factor of N.
inline ContrastScale omit_scale(const SpeckleParams& params, const FrameInfo& info) {
    ContrastScale scale = contrast_scale(params.output, 2, params.exposure_ms, info);
    scale.c *= scale.form == ContrastForm::inverse ? 2.0 : 0.5; // N/(N − 1) for 2 samples
    return scale;
}

/// Edges of a result on the host.
class SpeckleEdges {
public:
    /// Allocates for images of this shape.
    void prepare(const Shape& input, int threads);
    /// Writes the results within radius of an edge, and replaces their undefined and infinite pixels in
    /// `counts`.
    void run(ConstHostView input, HostView output, const SpeckleParams& params, const FrameInfo& info,
             PixelCounts& counts);

private:
    struct Group { ///< a group of samples: sum and Σ(I − ⟨I⟩)²
        double sum = 0, deviation = 0;
    };
    struct alignas(64) Slot {
        std::vector<Group> columns;
        std::uint64_t undefined = 0, infinite = 0; ///< added; modulo 2⁶⁴
    };
    /// Columns [begin, end) of the rows [first, last).
    template <class T>
    static void sum_columns(View<const T> input, int first, int last, int begin, int end, Slot& slot);
    template <class T> void run_row(View<const T> input, View<float> output, int y, int radius,
                                    const ContrastScale& scale, Slot& slot) const;
    std::vector<Slot> slots_;
};

} // namespace specklescope
