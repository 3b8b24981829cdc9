#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "files/image_file.hpp"
#include "files/npy_file.hpp"
#include "stages/convolve/convolve.hpp"

#include <algorithm>
#include <numeric>

namespace specklescope {

namespace {

using Kernel = ConvolveParams::Kernel;
constexpr double kRadians = 3.14159265358979323846 / 180;

constexpr const char* kMaking = "making the kernel of a convolution";

/// Calls each(i) for i < count, with regular progress reports.
void in_steps(std::size_t count, const auto& each) {
    constexpr std::size_t kStep = kFilledAtOnce / sizeof(float);
    for (std::size_t first = 0; first < count; first += kStep) {
        work_goes_on(kMaking);
        for (std::size_t i = first; i < std::min(count, first + kStep); ++i)
            each(i);
    }
}

int odd_side(double radius, int limit) {
    const double most = limit > 0 ? (limit - 1) / 2 : kMaxSide;
    return 2 * static_cast<int>(std::clamp(std::ceil(radius), 0.0, most)) + 1;
}

ConvolveKernel kernel_by_formula(const ConvolveParams& params, const Shape& image) {
    const KernelFormula formula = kernel_formula(params, image);
    ConvolveKernel kernel{formula.width, formula.height, 1, {}};
    const auto width = static_cast<std::size_t>(formula.width);
    fill_up(kernel.weights, width * static_cast<std::size_t>(formula.height), 0.0F, kMaking);
    std::vector<double> sums(static_cast<std::size_t>(formula.height));
    const int slots = parallel_threads();
    // Every formula is symmetric: the upper half is the lower half rotated by 180°.
    const int half = formula.height / 2;
    run_bands(half + 1, slots, [&](int y, int) {
        work_goes_on(kMaking, static_cast<double>(y) / half);
        float* row = kernel.weights.data() + static_cast<std::size_t>(y) * width;
        double sum = 0;
        for (int x = 0; x < formula.width; ++x) {
            const double value = kernel_value(formula, x, y);
            sum += value;
            row[x] = static_cast<float>(value);
        }
        sums[static_cast<std::size_t>(y)] = sum;
        const int turned = formula.height - 1 - y;
        if (turned == y)
            return;
        std::reverse_copy(row, row + width, kernel.weights.data() + static_cast<std::size_t>(turned) * width);
        sums[static_cast<std::size_t>(turned)] = sum;
    });
    const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    const double centre = kernel_centre(formula, sum);
    kernel.weights[static_cast<std::size_t>(half) * width + width / 2] += static_cast<float>(centre);
    const auto scale = static_cast<float>(kernel_scale(sum + centre, params.normalize));
    in_steps(kernel.weights.size(), [&](std::size_t i) { kernel.weights[i] *= scale; });
    return kernel;
}

/// Averages the kernel's channels unless they apply to the image's channels one by one.
void reduce_channels(ConvolveKernel& kernel, const ConvolveParams& params, const Shape& image) {
    if (kernel.channels == 1 || (params.per_channel && image.channels == 3))
        return;
    const std::size_t plane = kernel.weights.size() / 3;
    in_steps(plane, [&](std::size_t i) {
        kernel.weights[i] = static_cast<float>((static_cast<double>(kernel.weights[i]) +
                                                kernel.weights[plane + i] + kernel.weights[2 * plane + i]) /
                                               3);
    });
    kernel.weights.resize(plane);
    kernel.channels = 1;
}

ConvolveKernel kernel_of_file(const std::string& path) {
    try {
        return read_kernel(path);
    } catch (const RunError& error) { // a wrong name in an edit must not end the run
        throw UsageError(std::string("stage convolve: file: ") + error.what());
    }
}

void normalize_planes(ConvolveKernel& kernel, const std::string& path) {
    const std::size_t plane = kernel.weights.size() / static_cast<std::size_t>(kernel.channels);
    for (std::size_t first = 0; first < kernel.weights.size(); first += plane) {
        double sum = 0;
        double size = 0;
        in_steps(plane, [&](std::size_t i) {
            sum += kernel.weights[first + i];
            size += std::abs(static_cast<double>(kernel.weights[first + i]));
        });
        if (!(std::abs(sum) > 1e-6 * size))
            throw UsageError("stage convolve: the weights of '" + path +
                             "' sum to 0 and cannot be normalized; set normalize = false.");
        in_steps(plane, [&](std::size_t i) {
            kernel.weights[first + i] = static_cast<float>(kernel.weights[first + i] / sum);
        });
    }
}

} // namespace

double scattered_part(const KernelFormula& f) {
    const double last = std::min(std::hypot(f.width, f.height) / 2, kGlareOuter / f.degrees);
    constexpr double kFirst = 0.5; // extent of the source pixel
    constexpr int kSteps = 8000;
    const double ratio = std::log(last / kFirst) / kSteps;
    // Fraction of a circle of radius r inside a rectangle with half sides a and b.
    const auto arc = [](double r, double a, double b) {
        return 4 * std::max(0.0, std::asin(std::min(1.0, b / r)) - std::acos(std::min(1.0, a / r)));
    };
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
        const double r = kFirst * std::exp((i + 0.5) * ratio);
        const double angle = r * f.degrees * kRadians;
        sum += glare_veil(r * f.degrees, f.age, f.pigment, f.cataract) * std::sin(angle) / angle *
               (arc(r, f.width / 2.0, f.height / 2.0) - arc(r, 0.5, 0.5)) * r * r * ratio;
    }
    return sum * f.degrees * kRadians * f.degrees * kRadians;
}

namespace {

void check_light(const KernelFormula& f) {
    const double part = f.width * f.height > 1 ? scattered_part(f) : 0;
    if (part > 1)
        throw UsageError(
            "stage convolve: an eye of age " + to_string(ParamValue(f.age)) + " with cataract = " +
            to_string(ParamValue(f.cataract)) + " would scatter " + std::to_string(std::lround(100 * part)) +
            " % of the light over this field of view, more than there is: the equation does not hold "
            "so far; set a smaller cataract or age.");
}

} // namespace

KernelFormula kernel_formula(const ConvolveParams& params, const Shape& image) {
    KernelFormula f;
    f.kind = params.kernel;
    f.sigma = params.sigma;
    f.radius = params.radius;
    f.length = params.length;
    f.cosine = std::cos(params.angle * kRadians);
    f.sine = -std::sin(params.angle * kRadians);
    f.age = params.age;
    f.pigment = params.pigment;
    f.cataract = params.cataract;
    f.degrees = params.degrees;
    double across = 0;
    double down = 0;
    switch (params.kernel) {
    case Kernel::gaussian:
        across = down = 4 * params.sigma;
        break;
    case Kernel::disk:
        across = down = params.radius - 0.5;
        break;
    case Kernel::line: // half the bar minus half of the last pixel; rounding must not add a column
        across = (std::abs(f.cosine) * params.length + std::abs(f.sine) - 1) / 2 - 1e-9;
        down = (std::abs(f.sine) * params.length + std::abs(f.cosine) - 1) / 2 - 1e-9;
        break;
    case Kernel::glare:
        across = std::min(image.width - 1.0, std::floor(kGlareOuter / params.degrees));
        down = std::min(image.height - 1.0, std::floor(kGlareOuter / params.degrees));
        break;
    case Kernel::file:
        break;
    }
    f.width = odd_side(across, params.size);
    f.height = odd_side(down, params.size);
    if (params.kernel == Kernel::glare)
        check_light(f);
    return f;
}

ConvolveKernel make_kernel(const ConvolveParams& params, const Shape& image) {
    if (params.kernel != Kernel::file)
        return kernel_by_formula(params, image);
    if (params.file.empty())
        throw UsageError("stage convolve: kernel = file needs the name of one, as file = \"kernel.npy\"; "
                         "allowed: PNG, TIFF and NPY.");
    ConvolveKernel kernel = kernel_of_file(params.file);
    in_steps(kernel.weights.size(), [&](std::size_t i) {
        if (!std::isfinite(kernel.weights[i]))
            throw UsageError("stage convolve: '" + params.file +
                             "' holds a weight that is not a finite number; every weight must be one.");
    });
    reduce_channels(kernel, params, image);
    if (params.normalize)
        normalize_planes(kernel, params.file);
    return kernel;
}

FilterNorm formula_norm(double sum, Border border) {
    return {.sums = {sum, sum, sum},
            .sizes = {sum, sum, sum},
            .zeros_outside = border == Border::zero,
            .least = kLeastWeight};
}

FilterNorm filter_norm(const ConvolveKernel& kernel, Border border) {
    FilterNorm norm = formula_norm(0, border);
    for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < kernel.height; ++y)
            for (int x = 0; x < kernel.width; ++x) {
                const auto weight = static_cast<double>(kernel.row(kernel.channels == 3 ? c : 0, y)[x]);
                norm.sums[c] += weight;
                norm.sizes[c] += std::abs(weight);
                norm.negative = norm.negative || weight < 0;
            }
    }
    return norm;
}

namespace {

/// Splits interleaved pixels into planes.
template <class T> void take_planes(const T* pixels, ConvolveKernel& kernel, const std::string& path) {
    const auto channels = static_cast<std::size_t>(kernel.channels);
    const std::size_t plane =
        static_cast<std::size_t>(kernel.width) * static_cast<std::size_t>(kernel.height);
    const std::string work = "reading '" + path + "'";
    kernel.weights.reserve(plane * channels);
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < plane; ++i) {
            if (i % (kFilledAtOnce / sizeof(float)) == 0)
                work_goes_on(work);
            kernel.weights.push_back(static_cast<float>(pixels[i * channels + c]));
        }
}

constexpr std::size_t kMostPixels = std::size_t{1} << 26; ///< 8192²

ConvolveKernel from_npy(const std::string& path) {
    NpyFile file(path);
    std::vector<std::size_t> shape = file.shape();
    const bool side_by_side = shape.size() == 3 && shape[2] == 3;
    const bool planes = shape.size() == 3 && shape[0] == 3 && !side_by_side;
    if (side_by_side)
        shape.pop_back();
    if (planes)
        shape.erase(shape.begin());
    if (shape.size() != 2 || shape[0] > kMaxSide || shape[1] > kMaxSide) {
        std::string text;
        for (const std::size_t side : file.shape())
            text += (text.empty() ? "" : "×") + std::to_string(side);
        throw RunError("'" + path + "' holds an array of " + text +
                       "; allowed: height×width, height×width×3, 3×height×width, up to " +
                       std::to_string(kMaxSide) + " a side.");
    }
    file.check_count(3 * kMostPixels);
    ConvolveKernel kernel{
        static_cast<int>(shape[1]), static_cast<int>(shape[0]), side_by_side || planes ? 3 : 1, {}};
    if (!side_by_side) {
        kernel.weights = file.rest();
        return kernel;
    }
    check_memory(2 * file.count() * sizeof(float), "'" + path + "' as a kernel", "give a smaller one");
    take_planes(file.rest().data(), kernel, path);
    return kernel;
}

ConvolveKernel from_image(const std::string& path) {
    const std::unique_ptr<ImageReader> reader = open_image(path);
    const std::optional<Shape> shape = reader->next_page();
    if (!shape)
        throw RunError("'" + path + "' has no page that could be a kernel.");
    check_shape(*shape, "'" + path + "'");
    if (shape->pixels() > kMostPixels)
        throw RunError("'" + path + "' is " + to_string(*shape) +
                       ", too large for a kernel; allowed: up to " + std::to_string(kMostPixels) +
                       " pixels.");
    check_memory(shape->bytes() + shape->samples() * sizeof(float), "'" + path + "' as a kernel",
                 "give a smaller one");
    std::vector<std::byte> pixels(shape->bytes());
    const HostView view(pixels.data(), *shape);
    reader->read_rows(view);
    ConvolveKernel kernel{shape->width, shape->height, shape->channels, {}};
    dispatch(shape->type, [&](auto zero) { take_planes(view.as<decltype(zero)>().data, kernel, path); });
    return kernel;
}

} // namespace

ConvolveKernel read_kernel(const std::string& path) {
    return is_npy(path) ? from_npy(path) : from_image(path);
}

} // namespace specklescope
