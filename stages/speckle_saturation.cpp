#include "stages/speckle_saturation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {

constexpr int kMaxRadius = 15;
constexpr std::size_t kPad = 2 * kMaxRadius + 2; ///< zeros on either side of a row of ages

template <class T> bool has_saturated(const T* row, int width, T limit) {
    bool any = false;
    for (int x = 0; x < width; ++x)
        any |= row[x] >= limit;
    return any;
}

/// age: for how many rows more a window on this column holds a saturated sample.
template <class T>
void advance_ages(const T* row, int width, T limit, std::uint8_t window, std::uint8_t* ages) {
    for (int x = 0; x < width; ++x) {
        const auto older = static_cast<std::uint8_t>(ages[x] - (ages[x] != 0));
        ages[x] = row[x] >= limit ? window : older;
    }
}

void pair_maxima(const std::uint8_t* from, std::size_t step, std::size_t count, std::uint8_t* to) {
    for (std::size_t i = 0; i < count; ++i)
        to[i] = std::max(from[i], from[i + step]);
}

/// How many of `outputs` windows of `window` columns hold an age above 0; the first begins at ages[0].
/// Maxima over 2, 4, 8, … columns, of which two overlapping ones make up the window.
std::uint64_t count_windows(const std::uint8_t* ages, std::size_t window, std::size_t outputs,
                            std::uint8_t* scratch, std::size_t stride) {
    const std::uint8_t* from = ages;
    std::uint8_t* to = scratch;
    std::uint8_t* other = scratch + stride;
    std::size_t size = 1;
    for (; 2 * size <= window; size *= 2) {
        pair_maxima(from, size, outputs + window - 2 * size, to);
        from = to;
        std::swap(to, other);
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < outputs; ++i)
        count += (from[i] | from[i + window - size]) != 0;
    return count;
}

template <class T>
std::uint64_t count_rows(const SpeckleTile& tile, double threshold, std::uint8_t* scratch) {
    const View<const T> input = tile.input.as<T>();
    const int radius = tile.params.radius;
    const int window = 2 * radius + 1;
    const int shift = tile.params.border == SpeckleParams::Border::crop ? radius : 0;
    const auto limit = static_cast<T>(threshold);
    const std::size_t stride = saturation_scratch_bytes(input.width) / 3;
    std::fill_n(scratch, stride, std::uint8_t{0});
    std::uint8_t* ages = scratch + kPad;
    std::uint64_t count = 0;
    int until = -1; // the last row whose window holds a saturated sample
    int next = std::max(0, tile.y0 + shift - radius);
    for (int y = tile.y0; y < tile.y1; ++y) {
        const int bottom = y + shift + radius;
        for (; next <= bottom; ++next) {
            const T* row =
                next < input.height ? input.row(next) : nullptr; // rows past the image age the columns too
            if (row && has_saturated(row, input.width, limit)) {
                until = next + window - 1;
                advance_ages(row, input.width, limit, static_cast<std::uint8_t>(window), ages);
            } else if (next <= until + 1) {
                std::transform(ages, ages + input.width, ages,
                               [](std::uint8_t age) { return static_cast<std::uint8_t>(age - (age != 0)); });
            }
        }
        if (bottom <= until)
            count +=
                count_windows(ages + shift - radius, static_cast<std::size_t>(window),
                              static_cast<std::size_t>(tile.output.shape.width), scratch + stride, stride);
    }
    return count;
}

} // namespace

std::optional<double> saturation_threshold(PixelType type, const FrameInfo& info) {
    const double full = info.full_scale > 0 ? info.full_scale : type_full_scale(type);
    if (!(full > 0) || (type != PixelType::f32 && full > type_full_scale(type)))
        return std::nullopt;
    return type == PixelType::f32 ? full : std::ceil(full);
}

bool any_saturated(ConstHostView image, int begin, int end, double threshold) {
    const View<const float> view = image.as<float>();
    const auto limit = static_cast<float>(threshold);
    for (int y = begin; y < end; ++y) {
        bool any = false;
        for (int x = 0; x < view.width; ++x)
            any |= view.row(y)[x] >= limit;
        if (any)
            return true;
    }
    return false;
}

std::size_t saturation_scratch_bytes(int width) { return 3 * (static_cast<std::size_t>(width) + 2 * kPad); }

std::uint64_t count_saturated(const SpeckleTile& rows, double threshold, std::uint8_t* scratch) {
    return dispatch(rows.input.shape.type,
                    [&](auto zero) { return count_rows<decltype(zero)>(rows, threshold, scratch); });
}

} // namespace specklescope
