// border = omit: windows of the existing pixels, fewer at the edges. The stage computes the whole image with
// border = replicate, whose inner windows are equal, and then replaces the edges, which need not be fast.
// Saturation does not change: replicated samples are in the same window.
#pragma once

#include "base/host_device.hpp"
#include "stages/speckle/speckle.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace specklescope {

/// Border used in the stage's loops.
constexpr Border speckle_inner_border(Border border) {
    return border == Border::omit ? Border::replicate : border;
}

/// Result for N samples with S = ΣI and D = N·ΣI² − S²; `c`: contrast_scale() without its factor of N.
SPECKLESCOPE_BOTH inline double omit_value(ContrastForm form, double c, double n, double sum,
                                           double determinant) {
    if (n < 2 || sum <= 0)
        return std::numeric_limits<double>::quiet_NaN();
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
