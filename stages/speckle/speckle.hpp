// Spatial speckle contrast and flow: parameters, declaration and coefficients shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/contrast_finish.hpp"

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
    ContrastExtras extras{};
};

/// Shape of the result: f32, one channel; smaller by 2·radius with border = crop. Throws UsageError if the
/// radius (crop: the window) is larger than the image.
Shape speckle_shape(const SpeckleParams& params, const Shape& input);

/// contrast_scale() for the (2·radius+1)² samples of a window.
ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info);

/// contrast_finish() of a run. `correlation`: window_correlation() of the prepared stage.
template <Space S> ContrastFinish speckle_finish(const SpeckleParams& params,
                                                 const WindowCorrelation& correlation, PixelType type,
                                                 const FrameInfo& info, const ImageView<S>& output,
                                                 std::span<const ImageView<S>> also) {
    const double side = 2.0 * params.radius + 1;
    ContrastFinish finish = contrast_finish<S>(params, side * side, correlation, type, info, output, also);
    finish.quotient = true;
    return finish;
}

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
SPECKLESCOPE_BOTH inline double omit_value(ContrastForm form, double c, double n, double sum, double d) {
    if (n < 2 || sum <= 0)
        return NAN;
    switch (form) {
    case ContrastForm::square:
        return c * (n / (n - 1)) * d / (sum * sum);
    case ContrastForm::root:
        return std::sqrt(c * (n / (n - 1)) * d) / sum;
    default:
        return c * ((n - 1) / n) * sum * sum / d;
    }
}

/// Writes all images of a pixel at an edge, whose window has n samples.
SPECKLESCOPE_BOTH inline void write_edge(const ContrastFinish& finish, double n, WindowSums sums, int x,
                                         int y) {
    if (finish.corrects)
        sums = corrected(finish, n, sums);
    for (int i = 0; i < finish.count; ++i) {
        const ContrastForm form = finish.images[i].form;
        const bool own = form == ContrastForm::mean || form == ContrastForm::error ||
                         (sums.d < 0 && form != ContrastForm::square);
        finish.row(i, y)[x] =
            own ? finished(finish, form, 0.0, n, sums)
                : static_cast<float>(omit_value(form, finish.images[i].edge_c, n, sums.s, sums.d));
    }
}

/// Edges of a result on the host.
class SpeckleEdges {
public:
    /// Allocates for images of this shape.
    void prepare(const Shape& input, int threads);
    /// Writes the results within `radius` of an edge, and replaces the undefined and infinite pixels of the
    /// first image in `counts`.
    void run(ConstHostView input, int radius, const ContrastFinish& finish, PixelCounts& counts);

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
    template <class T>
    void run_row(View<const T> input, int y, int radius, const ContrastFinish& finish, Slot& slot) const;
    std::vector<Slot> slots_;
};

} // namespace specklescope
