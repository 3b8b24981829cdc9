#include "pipeline/counts.hpp"

#include "base/parallel.hpp"

#include <algorithm>

namespace specklescope {

std::optional<double> saturation_threshold(PixelType type, const FrameInfo& info) {
    const double full = info.full_scale > 0 ? info.full_scale : type_full_scale(type);
    if (!(full > 0) || (type != PixelType::f32 && full > type_full_scale(type)))
        return std::nullopt;
    return type == PixelType::f32 ? full : std::ceil(full);
}

namespace {

/// Sum of f(y, counts) over all rows, multithreaded.
template <class F> PixelCounts over_rows(int rows, F&& f) {
    constexpr int kLeast = 32; // rows of a band, an estimate
    std::vector<SlotCounts> slots(static_cast<std::size_t>(parallel_threads()));
    const int bands = band_count(rows, static_cast<int>(slots.size()), kLeast);
    run_bands(bands, static_cast<int>(slots.size()), [&](int band, int slot) {
        const Band part = band_rows(rows, bands, band);
        for (int y = part.begin; y < part.end; ++y)
            f(y, slots[static_cast<std::size_t>(slot)].counts);
    });
    PixelCounts sum;
    add_counts(slots, sum);
    return sum;
}

} // namespace

std::uint64_t count_saturated(ConstHostView image, double threshold) {
    return dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto view = image.as<T>();
        const PixelCounts sum = over_rows(view.height, [&](int y, PixelCounts& counts) {
            counts.saturated +=
                count_at_least(view.row(y), view.width * view.channels, static_cast<T>(threshold));
        });
        return sum.saturated;
    });
}

void count_undefined(ConstHostView image, PixelCounts& counts) {
    if (image.shape.type != PixelType::f32)
        return;
    const auto view = image.as<float>();
    const PixelCounts sum = over_rows(view.height, [&](int y, PixelCounts& row) {
        count_undefined(view.row(y), view.width, view.channels, row);
    });
    counts.undefined += sum.undefined;
    counts.infinite += sum.infinite;
}

} // namespace specklescope
