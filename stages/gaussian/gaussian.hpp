// Gaussian blur: parameters, declaration, taps and recursive coefficients shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/border.hpp"
#include "stages/filter_norm.hpp"

#include <cstdint>
#include <vector>

namespace specklescope {

/// G(x, y) = exp(−(x² + y²)/2σ²)/(2πσ²), by one of several methods. Keeps shape and type; integers are
/// rounded to nearest, ties to even, then clamped.
struct GaussianParams {
    enum class Method : std::uint8_t {
        automatic, ///< direct or recursive, by sigma, type and backend: gaussian_method()
        direct,    ///< separable taps; equals scipy.ndimage.gaussian_filter
        recursive, ///< Young & van Vliet 1995: cost independent of sigma, an approximation (docs/gaussian.md)
        fft,       ///< the taps of direct by fast Fourier transform
        binomial3, ///< [1 2 1]/4 along each axis
        binomial5  ///< [1 4 6 4 1]/16 along each axis
    };

    double sigma = 2; ///< px
    Method method = Method::automatic;
    int radius = 0; ///< px; 0: from sigma, see gaussian_radius()
    Border border = Border::replicate;
};

inline constexpr int kMaxGaussianRadius = 1000;

/// Kernel radius: ⌊4σ + ½⌋ like scipy's truncate = 4 if `radius` is 0. The recursive filter is unbounded, but
/// its crop uses this radius too.
int gaussian_radius(const GaussianParams& params);

/// The 2·radius + 1 weights along one axis, sum 1: samples of exp(−i²/2σ²), or the binomial preset.
std::vector<double> gaussian_taps(const GaussianParams& params);

/// The input's shape; smaller by 2·radius with border = crop. Throws UsageError if the window is then larger
/// than the image.
Shape gaussian_shape(const GaussianParams& params, const Shape& input);

/// `params.method`, or the choice for automatic, by crossovers measured on each backend. A radius set by the
/// user requests a truncated Gaussian, which the recursive filter cannot compute.
GaussianParams::Method gaussian_method(const GaussianParams& params, const Shape& input, Space space);

/// `method` is the effective one.
FilterNorm gaussian_norm(const GaussianParams& params, GaussianParams::Method method);

/// "recursive", "direct (auto)": Stage::note().
std::string gaussian_note(const GaussianParams& params, GaussianParams::Method method);

/// Young & van Vliet 1995, eqs. 8–11, in differences. With ∇u[n] = u[n] − u[n−1] their filter is
///   u + k1·∇u + k2·∇²u + k3·∇³u = x,  k1 = 2.44413q/c, k2 = 1.4281q²/c, k3 = 0.422205q³/c, c = 1.57825,
/// equal to u[n] = B·x[n] + b1·u[n−1] + b2·u[n−2] + b3·u[n−3]. With the b's, single precision fails from
/// sigma 10 on (B is 5e-7 at sigma 200). With w = u, d = ∇u, e = ∇²u it does not, and a constant stays
/// exactly constant:
///   e ← gain·(x − w) − slope·d + curve·e,   d ← d + e,   w ← w + d.
/// The backward pass is the same over the forward result. Each direction has gain 1 at frequency 0. The
/// printed 2.85619 and 1.26661 are roundings of 2·1.4281 and 3·0.422205, which turn sigma = 200 into 165
/// instead of 215 (root of the response's second moment), so that the exact products are used.
struct RecursiveGaussian {
    double gain = 0;  ///< B = 1/(1 + k1 + k2 + k3)
    double slope = 0; ///< (1 + k1)·B
    double curve = 0; ///< k3·B
    /// Backward initialisation (Triggs & Sdika 2006): exact start of the backward pass if all samples from n
    /// = N on are `x`. From the forward state s = (w − x, d, e) after sample N−1, the backward state "after
    /// sample N" is (x, 0, 0) + backward_start·s, with d = v[N] − v[N+1], e = v[N] − 2v[N+1] + v[N+2]; the
    /// next step computes v[N−1].
    double backward_start[3][3] = {};
    /// Number of samples after which less than 1e-7 of a response remains: the warm-up over a mirrored or
    /// wrapped line.
    int reach = 0;
};

/// Throws UsageError for sigma < 0.5, where the formula for q is not defined.
///
/// Borders of the recursive method, along each axis:
///   replicate, zero  exact: the forward pass starts from the state of an infinite border, (x[0], 0, 0) or
///                    (0, 0, 0), the backward pass from `backward_start`;
///   reflect, wrap    warm-up of both passes over `reach` mirrored or wrapped samples (several times
///                    through a short line): error 1e-7;
///   omit             the zero result divided by the zero result of ones: gaussian_recursive_norms();
///   crop             the interior of replicate.
/// NaN and ∞ would spread over the whole image: see FilterNorm.
RecursiveGaussian recursive_gaussian(double sigma);

/// The recursive filter with border = zero along a line of `size` ones, the divisor of omit; float64.
std::vector<double> gaussian_recursive_norms(const RecursiveGaussian& filter, int size);
/// The same for taps: sum of the taps inside the line, at each position.
std::vector<double> gaussian_tap_norms(const std::vector<double>& taps, int size);

StageType gaussian_stage();
/// Stage for method = fft, also chosen by automatic.
std::unique_ptr<HostStage> make_gaussian_fft_host(const GaussianParams& params);
std::unique_ptr<DeviceStage> make_gaussian_device(const Params& params);
std::unique_ptr<DeviceStage> make_gaussian_fft_device(const GaussianParams& params);

/// Separable taps: method = direct, binomial3, binomial5, or chosen by automatic.
std::unique_ptr<HostStage> make_gaussian_direct_host(const GaussianParams& params);
/// method = recursive, or chosen by automatic.
std::unique_ptr<HostStage> make_gaussian_recursive_host(const GaussianParams& params);

/// The middle weight and the weights to its right times 2¹⁵, rounded; the middle one makes the sum 2¹⁵ again,
/// so that a constant stays constant. `taps`: 2·radius + 1 weights with sum 1.
std::vector<std::int16_t> gaussian_fixed_taps(const std::vector<double>& taps);

/// Factors of omit: 1/norm, each `repeat` times, once per channel.
inline std::vector<float> gaussian_scale(const std::vector<double>& norms, int repeat) {
    std::vector<float> scale;
    for (const double norm : norms)
        scale.insert(scale.end(), static_cast<std::size_t>(repeat), static_cast<float>(1 / norm));
    return scale;
}

/// Rows of f32 scratch are aligned to this number of samples: 64 bytes.
inline constexpr std::size_t kGaussianAlign = 16;
constexpr std::size_t gaussian_stride(std::size_t samples) {
    return (samples + kGaussianAlign - 1) / kGaussianAlign * kGaussianAlign;
}

} // namespace specklescope
