// Kernels of stage convolve from files.
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/npy_file.hpp"
#include "stages/convolve/convolve_kernel.hpp"

namespace specklescope {

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
