#include "stages/speckle/speckle.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

void SpeckleEdges::prepare(const Shape& input, int threads) {
    slots_.resize(static_cast<std::size_t>(threads));
    for (Slot& slot : slots_)
        slot.columns.resize(static_cast<std::size_t>(input.width));
}

void SpeckleEdges::run(ConstHostView input, int radius, const ContrastFinish& finish, PixelCounts& counts) {
    run_bands(input.shape.height, static_cast<int>(slots_.size()), [&](int y, int slot) {
        dispatch(input.shape.type, [&](auto zero) {
            using T = decltype(zero);
            run_row<T>(input.as<T>(), y, radius, finish, slots_[static_cast<std::size_t>(slot)]);
        });
    });
    for (Slot& slot : slots_) {
        counts.undefined += std::exchange(slot.undefined, 0);
        counts.infinite += std::exchange(slot.infinite, 0);
    }
}

// Groups are only merged, never subtracted (Chan, Golub, LeVeque 1979), as inside the image
// (simd/speckle_real-inl.hpp), so that a sample affects only the windows that contain it and a flat window
// has a deviation of exactly 0.
template <class T>
void SpeckleEdges::sum_columns(View<const T> input, int first, int last, int begin, int end, Slot& slot) {
    std::fill(slot.columns.begin() + begin, slot.columns.begin() + end, Group());
    for (int v = first; v < last; ++v) {
        const double k = v - first, part = k > 0 ? 1 / (k * (k + 1)) : 0;
        for (int x = begin; x < end; ++x) {
            Group& column = slot.columns[static_cast<std::size_t>(x)];
            const auto value = static_cast<double>(input.row(v)[x]);
            const double delta = column.sum - k * value;
            column.deviation += k > 0 ? delta * delta * part : 0;
            column.sum += value;
        }
    }
}

template <class T> void SpeckleEdges::run_row(View<const T> input, int y, int radius,
                                              const ContrastFinish& finish, Slot& slot) const {
    const int width = input.width;
    const int first = std::max(0, y - radius);
    const int last = std::min(input.height, y + radius + 1);
    const bool whole = last - first < 2 * radius + 1; // every window of the row is incomplete
    const double rows = last - first;
    const auto write = [&](int begin, int end) {
        for (int x = begin; x < end; ++x) {
            const int left = std::max(0, x - radius);
            const int right = std::min(width, x + radius + 1);
            Group window = slot.columns[static_cast<std::size_t>(left)];
            for (int u = left + 1; u < right; ++u) {
                const Group& column = slot.columns[static_cast<std::size_t>(u)];
                const double k = u - left, delta = window.sum - k * column.sum;
                window.deviation += column.deviation + delta * delta / (rows * k * (k + 1));
                window.sum += column.sum;
            }
            const double n = static_cast<double>(right - left) * rows;
            const float& result = finish.row(0, y)[x];
            slot.undefined -= std::isnan(result) ? 1 : 0;
            slot.infinite -= std::isinf(result) ? 1 : 0;
            write_edge(finish, n, {window.sum, n * std::max(window.deviation, 0.0)}, x, y);
            slot.undefined += std::isnan(result) ? 1 : 0;
            slot.infinite += std::isinf(result) ? 1 : 0;
        }
    };
    if (whole || 2 * radius >= width) {
        sum_columns(input, first, last, 0, width, slot);
        return write(0, width);
    }
    sum_columns(input, first, last, 0, std::min(width, 2 * radius), slot);
    sum_columns(input, first, last, std::max(0, width - 2 * radius), width, slot);
    write(0, radius);
    write(width - radius, width);
}

} // namespace specklescope
