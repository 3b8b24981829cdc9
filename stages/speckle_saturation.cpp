#include "stages/speckle_saturation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {

constexpr int kNever = std::numeric_limits<int>::min();

/// Notes y in last_rows for every saturated sample of the row; true if there is one.
template <class T> bool mark_row(const T *row, int width, double threshold, int y, int *last_rows) {
    bool any = false;
    const auto limit = static_cast<T>(threshold);
    for (int x = 0; x < width; ++x)
        any |= row[x] >= limit;
    for (int x = 0; any && x < width; ++x)
        last_rows[x] = row[x] >= limit ? y : last_rows[x];
    return any;
}

/// Outputs in [0, width) whose columns [x + shift − radius, x + shift + radius] hold one marked at `oldest`
/// or later.
std::uint64_t count_row(const int *last_rows, int columns, int oldest, int radius, int shift, int width) {
    std::uint64_t count = 0;
    int next = 0; // outputs below are counted or known to be free
    for (int x = 0; x < columns && next < width; ++x) {
        if (last_rows[x] < oldest)
            continue;
        const int begin = std::max(next, x - shift - radius);
        const int end = std::min(width, x - shift + radius + 1);
        if (end > begin) {
            count += static_cast<std::uint64_t>(end - begin);
            next = end;
        }
    }
    return count;
}

template <class T> std::uint64_t count_rows(const SpeckleTile &tile, double threshold, int *last_rows) {
    const View<const T> input = tile.input.as<T>();
    const int radius = tile.params.radius;
    const int shift = tile.params.border == SpeckleParams::Border::crop ? radius : 0;
    std::fill_n(last_rows, input.width, kNever);
    std::uint64_t count = 0;
    int newest = kNever;
    int marked = std::max(0, tile.y0 + shift - radius);
    for (int y = tile.y0; y < tile.y1; ++y) {
        const int bottom = std::min(input.height - 1, y + shift + radius);
        for (; marked <= bottom; ++marked)
            if (mark_row(input.row(marked), input.width, threshold, marked, last_rows))
                newest = marked;
        const int oldest = y + shift - radius;
        if (newest >= oldest)
            count += count_row(last_rows, input.width, oldest, radius, shift, tile.output.shape.width);
    }
    return count;
}

} // namespace

std::optional<double> saturation_threshold(PixelType type, const FrameInfo &info) {
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

std::uint64_t count_saturated(const SpeckleTile &rows, double threshold, int *last_rows) {
    return dispatch(rows.input.shape.type,
                    [&](auto zero) { return count_rows<decltype(zero)>(rows, threshold, last_rows); });
}

} // namespace specklescope
