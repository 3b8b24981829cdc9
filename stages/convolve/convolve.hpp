// Linear convolution with a large kernel of any shape, by Fourier transforms (Johansson Bergström 2012):
// parameters and declaration shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/border.hpp"
#include "stages/filter_norm.hpp"

#include <cmath>

namespace specklescope {

struct ConvolveParams {
    enum class Kernel : std::uint8_t {
        gaussian,
        disk,  ///< defocus: a disk of real radius with a smooth edge
        line,  ///< motion: a bar one pixel wide
        glare, ///< scattered light in the eye: CIE 146:2002, general disability-glare equation
        file   ///< PNG, TIFF or NPY
    };

    Kernel kernel = Kernel::gaussian;
    double sigma = 10;     ///< gaussian, px
    double radius = 10;    ///< disk, px
    double length = 20;    ///< line, px
    double angle = 0;      ///< line, degrees, counterclockwise from the x axis
    double age = 40;       ///< glare, years
    double cataract = 0;   ///< glare: log10 of the lens's straylight above a clear eye of this age
    double pigment = 0.5;  ///< glare: 0 very dark … 0.5 brown … 1.0 light … 1.2 very light blue eyes
    double degrees = 0.05; ///< glare: visual angle of one pixel
    int size = 0;          ///< longest side of the kernel, px; 0: unlimited
    std::string file;      ///< kernel = file
    bool per_channel = false;
    bool normalize = true;
    Border border = Border::replicate; ///< not omit, not crop
    int memory = 0; ///< memory limit for spectra and workspace, MB; 0: free memory less a share for others
};

StageType convolve_stage();
/// The stage on the host; `free` returns the machine's free memory in bytes.
std::unique_ptr<HostStage> make_convolve_host(const Params& params, std::size_t (*free)());
std::unique_ptr<DeviceStage> make_convolve_device(const Params& params);

// Kernels of stage convolve: from formulas, pixel by pixel, in float64 on host and device, and from files.

/// Parameters of kernel_value() for a kernel by formula. Odd sides; the centre is the middle pixel.
struct KernelFormula {
    ConvolveParams::Kernel kind = ConvolveParams::Kernel::gaussian;
    int width = 1, height = 1;
    double sigma = 1;            ///< px
    double radius = 1;           ///< px
    double length = 1;           ///< px
    double cosine = 1, sine = 0; ///< direction of the line, y downwards
    double age = 0, pigment = 0; ///< years; 0…1.2
    double cataract = 0;         ///< log(s)
    double degrees = 1;          ///< degrees of visual angle per pixel
};

/// Range of angles for which CIE 146:2002 gives the equation, degrees.
inline constexpr double kGlareInner = 0.1, kGlareOuter = 100.0;

/// Equivalent veiling luminance per illuminance at the eye, 1/sr, at `theta` degrees from a glare source:
///   10/θ³ + (5/θ² + 0.1·p/θ)·(1 + (A/62.5)⁴)·10^c + 0.0025·p
/// for age A in years and pigmentation p (0 very dark, 0.5 brown, 1.0 light, 1.2 very light blue eyes). With
/// c = 0 it is the general disability-glare equation of CIE 146:2002 (from Vos and van den Berg, CIE
/// 135/1-6:1999) for healthy eyes, valid for 0.1° < θ < 100°. Below 0.1°, where it diverges, the value at
/// 0.1° is used; above 100° it is 0. A cataract's c is not from the CIE: the straylight parameter is s =
/// θ²·L/E, clinics measure log10 s, and the straylight of clouded lenses decreases with the angle like that
/// of ageing lenses (van den Berg 1995, Optom. Vis. Sci. 72:52; de Wit and others 2006, J. Cataract Refract.
/// Surg. 32:294), so that the lens term is multiplied as for age.
SPECKLESCOPE_BOTH inline double glare_veil(double theta, double age, double pigment, double cataract) {
    if (theta > kGlareOuter)
        return 0;
    if (theta < kGlareInner)
        theta = kGlareInner;
    const double years = age / 62.5;
    const double lens = (1 + years * years * years * years) * std::pow(10.0, cataract);
    return 10 / (theta * theta * theta) + (5 / (theta * theta) + 0.1 * pigment / theta) * lens +
           0.0025 * pigment;
}

/// Fraction of the light that the pixel at (x, y) pixels from the source receives as veil: glare_veil times
/// the pixel's solid angle. One pixel is `degrees` of visual angle everywhere (θ = r·degrees), so that its
/// solid angle in sr is (degrees·π/180)²·sin θ/θ. Near the source the pixel is averaged over n×n points,
/// which keeps the error of the integral below 0.5 %.
SPECKLESCOPE_BOTH inline double glare_pixel(int x, int y, const KernelFormula& f) {
    constexpr double kRadians = 3.14159265358979323846 / 180;
    const double r = std::sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y);
    const int n = r < 16 ? static_cast<int>(std::ceil(16 / (r > 1 ? r : 1))) : 1;
    double sum = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const double dx = x + (i + 0.5) / n - 0.5;
            const double dy = y + (j + 0.5) / n - 0.5;
            const double theta = std::sqrt(dx * dx + dy * dy) * f.degrees;
            const double angle = theta * kRadians;
            const double flat = angle > 1e-4 ? std::sin(angle) / angle : 1.0;
            sum += glare_veil(theta, f.age, f.pigment, f.cataract) * flat;
        }
    const double side = f.degrees * kRadians;
    return sum / (static_cast<double>(n) * n) * side * side;
}

/// Fraction of the pixel (x, y) covered by a disk around the origin, 0…1, from 32 lines, each exact along its
/// length. The lines cross the edge, so that the error is below 0.1 % of a pixel for radius ≥ 1.
SPECKLESCOPE_BOTH inline double disk_pixel(int x, int y, double radius) {
    const int near = std::abs(x) < std::abs(y) ? x : y;
    const int far = std::abs(x) < std::abs(y) ? y : x;
    const double ax = std::abs(static_cast<double>(near));
    const double ay = std::abs(static_cast<double>(far));
    if ((ax + 0.5) * (ax + 0.5) + (ay + 0.5) * (ay + 0.5) <= radius * radius)
        return 1;
    constexpr int kLines = 32;
    double sum = 0;
    for (int i = 0; i < kLines; ++i) {
        const double u = ax - 0.5 + (i + 0.5) / kLines;
        const double inside = radius * radius - u * u;
        if (inside <= 0)
            continue;
        const double half = std::sqrt(inside);
        const double top = half < ay + 0.5 ? half : ay + 0.5;
        const double bottom = -half > ay - 0.5 ? -half : ay - 0.5;
        sum += top > bottom ? top - bottom : 0;
    }
    return sum / kLines;
}

/// Fraction of the pixel (x, y) covered by a bar through the origin, one pixel wide and `length` long, 0…1,
/// from 16×16 points.
SPECKLESCOPE_BOTH inline double line_pixel(int x, int y, const KernelFormula& f) {
    constexpr int kPoints = 16;
    const double along = x * f.cosine + y * f.sine;
    const double across = y * f.cosine - x * f.sine;
    if (std::abs(along) > f.length / 2 + 0.75 || std::abs(across) > 1.25)
        return 0;
    int inside = 0;
    for (int j = 0; j < kPoints; ++j)
        for (int i = 0; i < kPoints; ++i) {
            const double dx = (i + 0.5) / kPoints - 0.5;
            const double dy = (j + 0.5) / kPoints - 0.5;
            const double u = along + dx * f.cosine + dy * f.sine;
            const double v = across + dy * f.cosine - dx * f.sine;
            inside += std::abs(u) <= f.length / 2 && std::abs(v) <= 0.5 ? 1 : 0;
        }
    return inside / static_cast<double>(kPoints * kPoints);
}

/// Weight of kernel pixel (column, row). Gaussian, disk and line are densities with a sum of about 1 over an
/// unlimited kernel. The centre of glare is 0 here; see kernel_centre().
SPECKLESCOPE_BOTH inline double kernel_value(const KernelFormula& f, int column, int row) {
    constexpr double kPi = 3.14159265358979323846;
    const int x = column - f.width / 2;
    const int y = row - f.height / 2;
    switch (f.kind) {
    case ConvolveParams::Kernel::gaussian: {
        const double s2 = 2 * f.sigma * f.sigma;
        return std::exp(-(static_cast<double>(x) * x + static_cast<double>(y) * y) / s2) / (kPi * s2);
    }
    case ConvolveParams::Kernel::disk:
        return disk_pixel(x, y, f.radius) / (kPi * f.radius * f.radius);
    case ConvolveParams::Kernel::line:
        return line_pixel(x, y, f) / f.length;
    case ConvolveParams::Kernel::glare:
        return x == 0 && y == 0 ? 0 : glare_pixel(x, y, f);
    case ConvolveParams::Kernel::file:
        break;
    }
    return 0;
}

/// Added to the centre pixel, given the sum of kernel_value() over the kernel: light that glare does not
/// scatter stays in its pixel, so that the kernel sums to 1 for any size; 0 for other kernels.
SPECKLESCOPE_BOTH inline double kernel_centre(const KernelFormula& f, double sum) {
    return f.kind == ConvolveParams::Kernel::glare ? 1 - sum : 0;
}

/// Common factor of all weights, given their sum.
SPECKLESCOPE_BOTH inline double kernel_scale(double sum, bool normalize) { return normalize ? 1 / sum : 1; }

/// Fraction of a pixel's light that glare scatters to the other pixels of the kernel: the sum of
/// kernel_value(), as an integral over circles around the source. A value above 1 is impossible.
double scattered_part(const KernelFormula& formula);

/// For every kernel except file. Sides: gaussian ±⌈4σ⌉, disk and line their extent, glare so large that every
/// pixel of the image reaches every other (at most 100° away); at most params.size, if that is not 0. Throws
/// UsageError for an eye that would scatter more light than there is.
KernelFormula kernel_formula(const ConvolveParams& params, const Shape& image);

/// Weights of a kernel, plane by plane, rows from top to bottom.
struct ConvolveKernel {
    int width = 0, height = 0;
    int channels = 1; ///< 1: for every channel of the image; 3: one per channel
    std::vector<float> weights;

    const float* row(int channel, int y) const {
        return weights.data() + (static_cast<std::size_t>(channel) * static_cast<std::size_t>(height) +
                                 static_cast<std::size_t>(y)) *
                                    static_cast<std::size_t>(width);
    }
};

/// The kernel as applied: from formula or file, channels reduced to those the image needs, normalised. Throws
/// UsageError for an unreadable file or invalid weights (not finite; normalize with a sum of 0).
ConvolveKernel make_kernel(const ConvolveParams& params, const Shape& image);

/// Normalisation of undefined samples, for DefinedFilter. Kernels by formula have no negative weights, so
/// that their sum suffices.
FilterNorm formula_norm(double sum, Border border);
FilterNorm filter_norm(const ConvolveKernel& kernel, Border border);

/// Kernel of a file, unscaled: PNG, TIFF (first page) or JPEG with integer values, or NPY (version 1…3, C or
/// Fortran order, either byte order, any integer or float; height × width, height × width × 3 or 3 × height ×
/// width). Throws RunError for anything else.
ConvolveKernel read_kernel(const std::string& path);

} // namespace specklescope
