// Several images from the same sums of windows, with corrections for noise and for finite windows: the last
// step of the contrast stages, on host and device. Stages with one output that is_direct() and without
// corrections do not use it.
#pragma once

#include "base/host_device.hpp"
#include "stages/contrast.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace specklescope {

/// Means over the samples of a window of ρ, the correlation of intensity, and of μ, the correlation of the
/// field (ρ = μ²). Pairs and triples include a sample with itself.
struct WindowCorrelation {
    double pairs = 1;   ///< ρ of all pairs
    double squares = 1; ///< ρ² of all pairs
    double rows = 1;    ///< squared mean of ρ from one sample to all
    double triples = 1; ///< μ·μ·μ around all triples

    /// A square window on fully developed speckle of a round pupil, `size` px wide at half maximum.
    static WindowCorrelation of_speckle(int radius, double size);
    /// The same window in `count` independent frames. A single sample becomes `count` independent ones.
    WindowCorrelation over(double count) const {
        return {pairs / count, squares / count, rows / (count * count), triples / (count * count)};
    }
    /// Effective number of independent speckles.
    double speckles() const { return (1 - pairs) * (1 - pairs) / (squares - 2 * rows + pairs * pairs); }
};

/// of_speckle(), or independent samples if `speckle_size` is 0.
WindowCorrelation window_correlation(int radius, double speckle_size);

/// ΣI and N·ΣI² − (ΣI)² of a window.
struct WindowSums {
    double s, d;
};

/// Images that a stage makes from the sums of its windows. Sums come as float from integer samples if there
/// are no corrections; values then have the bits that the stage's loops would write. Otherwise they are
/// double, so that corrections do not enlarge rounding errors.
struct ContrastFinish {
    static constexpr int kMost = 8; ///< the stage's output and each of its named outputs
    struct Image {
        ContrastForm form = ContrastForm::inverse;
        double c = 0;      ///< contrast_scale() of a whole window
        double edge_c = 0; ///< the same without its factor of N, for omit_value()
        std::byte* data = nullptr;
        std::size_t pitch = 0;
    };
    int count = 0; ///< 0: the stage's own loop suffices
    Image images[kMost];
    double samples = 0; ///< of a whole window
    bool corrects = false;
    double black = 0, gain = 0, variance = 0; ///< variance: of read noise and quantisation, DN²
    double share = 0, bend = 0; ///< D/S² = share·K²/(1 + bend·K²) in the mean; share = 0: not corrected
    double speckles = 1;        ///< effective number of independent speckles in a window
    bool quotient = false;      ///< float: K is √(c·D/S²), otherwise √(c·D)/S

    SPECKLESCOPE_BOTH float* row(int image, int y) const {
        return reinterpret_cast<float*>(images[image].data +
                                        static_cast<std::size_t>(y) * images[image].pitch);
    }
    /// Adds `output`; `data` and `pitch` are the image's.
    void add(ContrastOutput output, double exposure_ms, const FrameInfo& info, std::byte* data,
             std::size_t pitch);
};

/// Corrections of windows of `samples` samples of `type`, of frames that may be sums; without images.
ContrastFinish contrast_corrections(const ContrastExtras& extras, double samples,
                                    const WindowCorrelation& correlation, PixelType type,
                                    const FrameInfo& info);

/// With the stage's output and its named outputs `also`, in the order of named_contrasts(). Params:
/// parameters of a contrast stage.
template <Space S, class Params>
ContrastFinish contrast_finish(const Params& params, double samples, const WindowCorrelation& correlation,
                               PixelType type, const FrameInfo& info, const ImageView<S>& output,
                               std::span<const ImageView<S>> also) {
    if (is_direct(params.output) && !params.extras.corrects() && also.empty())
        return {};
    ContrastFinish finish = contrast_corrections(params.extras, samples, correlation, type, info);
    finish.add(params.output, params.exposure_ms, info, output.data, output.pitch);
    const std::vector<ContrastOutput> named = named_contrasts(params.extras);
    for (std::size_t i = 0; i < also.size(); ++i)
        finish.add(named[i], params.exposure_ms, info, also[i].data, also[i].pitch);
    return finish;
}

/// The result from S and D; 0/0 is NaN and c·S²/0 is +∞, as defined by ContrastForm.
template <class Real>
SPECKLESCOPE_BOTH inline Real contrast_value(ContrastForm form, Real c, Real s, Real d) {
    if (form == ContrastForm::inverse)
        return c * s * s / d;
    if (form == ContrastForm::square)
        return c * d / (s * s);
    return std::sqrt(c * d) / s;
}

/// Sums of n samples without black level, noise and bias. D becomes negative where the noise was estimated
/// larger than the fluctuations, so that means of K² stay unbiased.
SPECKLESCOPE_BOTH inline WindowSums corrected(const ContrastFinish& finish, double n, WindowSums sums) {
    const double s = sums.s - n * finish.black;
    double d = sums.d - (n - 1) * (finish.gain * s + n * finish.variance);
    if (finish.share > 0) {
        const double rest = 1 - finish.bend / finish.share * (d / (s * s));
        d *= (n - 1) / n / (finish.share * (rest < 0.5 ? 0.5 : rest));
    }
    return {s, d};
}

/// Relative variance of K² from a number of independent speckles (docs/science.md, Standard errors).
SPECKLESCOPE_BOTH inline double speckle_variance(double k2, double speckles) {
    const double bounded = 1 + 4 * k2 / speckles;
    return 2 * (1 + k2) / (speckles * bounded * bounded);
}

/// Relative standard error of K² ≥ 0 from corrected sums of n samples.
SPECKLESCOPE_BOTH inline double standard_error(const ContrastFinish& finish, double n, double s, double d) {
    const double k2 = n / (n - 1) * d / (s * s);
    const double added = n * (finish.gain * s + n * finish.variance) / (s * s); // to K² by noise
    const double noise = added / (k2 + 1e-300); // 0 without noise, for K² = 0 too
    const double speckles = finish.speckles * (n - 1) / (finish.samples - 1);
    return std::sqrt(speckle_variance(k2, speckles) + (4 + 2 * noise) * noise / (n - 1));
}

/// A pixel of an image from corrected sums of n samples, with c for n samples. Without branches, for vectors.
SPECKLESCOPE_BOTH inline float finished(const ContrastFinish& finish, ContrastForm form, double c, double n,
                                        WindowSums sums) {
    if (form == ContrastForm::mean)
        return static_cast<float>(sums.s / n);
    const double value = form == ContrastForm::error ? standard_error(finish, n, sums.s, sums.d)
                                                     : contrast_value(form, c, sums.s, sums.d);
    const bool undefined = n < 2 || sums.s <= 0 || (sums.d < 0 && form != ContrastForm::square);
    return static_cast<float>(value) + (undefined ? NAN : 0.0F); // a choice of values would not be a vector
}

/// The same from float sums.
SPECKLESCOPE_BOTH inline float finished(const ContrastFinish& finish, ContrastForm form, float c, double n,
                                        float s, float d) {
    if (form == ContrastForm::mean || form == ContrastForm::error)
        return finished(finish, form, static_cast<double>(c), n, {s, d});
    if (form == ContrastForm::root && finish.quotient)
        return std::sqrt(c * d / (s * s));
    return contrast_value(form, c, s, d);
}

/// Writes row y of every image from column x on, host. `s` and `d` are changed.
void finish_contrast_row(const ContrastFinish& finish, float* s, float* d, int width, int x, int y);
void finish_contrast_row(const ContrastFinish& finish, double* s, double* d, int width, int x, int y);

/// Memory of one row of sums, host.
class SumRows {
public:
    void prepare(int width) { memory_.resize(2 * sizeof(double) * static_cast<std::size_t>(width)); }
    template <class Real> Real* s() { return reinterpret_cast<Real*>(memory_.data()); }
    template <class Real> Real* d() { return reinterpret_cast<Real*>(memory_.data() + memory_.size() / 2); }

private:
    std::vector<std::byte> memory_;
};

} // namespace specklescope
