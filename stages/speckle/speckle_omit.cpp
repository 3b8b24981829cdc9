#include "stages/speckle/speckle_omit.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace specklescope {

void SpeckleEdges::prepare(const Shape& input, int threads) {
    slots_.resize(static_cast<std::size_t>(threads));
    for (Slot& slot : slots_)
        slot.columns.resize(static_cast<std::size_t>(input.width));
}

void SpeckleEdges::run(ConstHostView input, HostView output, const SpeckleParams& params,
                       const FrameInfo& info, PixelCounts& counts) {
    const ContrastScale scale = omit_scale(params, info);
    const View<float> to = output.as<float>();
    run_bands(input.shape.height, static_cast<int>(slots_.size()), [&](int y, int slot) {
        dispatch(input.shape.type, [&](auto zero) {
            using T = decltype(zero);
            run_row<T>(input.as<T>(), to, y, params.radius, scale, slots_[static_cast<std::size_t>(slot)]);
        });
    });
    for (Slot& slot : slots_) {
        counts.undefined += std::exchange(slot.undefined, 0);
        counts.infinite += std::exchange(slot.infinite, 0);
    }
}

template <class T> void SpeckleEdges::run_row(View<const T> input, View<float> output, int y, int radius,
                                              const ContrastScale& scale, Slot& slot) const {
    const int width = input.width;
    const int first = std::max(0, y - radius);
    const int last = std::min(input.height, y + radius + 1);
    const bool whole = last - first < 2 * radius + 1; // every window of the row lacks some
    // Of integers the sums are exact in any case. Of floats a sample of the row is subtracted, so that little
    // is lost where the contrast is small.
    const int centre = width / 2;
    const auto middle = static_cast<double>(input.row(y)[centre]);
    const double reference = std::is_integral_v<T> || !std::isfinite(middle) ? 0 : middle;
    const auto sum_columns = [&](int begin, int end) {
        std::fill(slot.columns.begin() + begin, slot.columns.begin() + end, Sums());
        for (int v = first; v < last; ++v)
            for (int x = begin; x < end; ++x) {
                const double value = static_cast<double>(input.row(v)[x]) - reference;
                slot.columns[static_cast<std::size_t>(x)].sum += value;
                slot.columns[static_cast<std::size_t>(x)].squares += value * value;
            }
    };
    const auto write = [&](int begin, int end) {
        for (int x = begin; x < end; ++x) {
            const int left = std::max(0, x - radius);
            const int right = std::min(width, x + radius + 1);
            Sums window;
            for (int u = left; u < right; ++u) {
                window.sum += slot.columns[static_cast<std::size_t>(u)].sum;
                window.squares += slot.columns[static_cast<std::size_t>(u)].squares;
            }
            const double n = static_cast<double>(right - left) * (last - first);
            const double determinant = n * window.squares - window.sum * window.sum;
            float& result = output.row(y)[x];
            slot.undefined -= std::isnan(result) ? 1 : 0;
            slot.infinite -= std::isinf(result) ? 1 : 0;
            result = static_cast<float>(
                omit_value(scale.form, scale.c, n, window.sum + n * reference, determinant));
            slot.undefined += std::isnan(result) ? 1 : 0;
            slot.infinite += std::isinf(result) ? 1 : 0;
        }
    };
    if (whole || 2 * radius >= width) {
        sum_columns(0, width);
        return write(0, width);
    }
    sum_columns(0, std::min(width, 2 * radius));
    sum_columns(std::max(0, width - 2 * radius), width);
    write(0, radius);
    write(width - radius, width);
}

} // namespace specklescope
