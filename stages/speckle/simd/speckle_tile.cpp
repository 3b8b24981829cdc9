// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/speckle/simd/speckle_tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/speckle/simd/speckle_tile.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_integer-inl.hpp"
#include "stages/speckle/simd/speckle_real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

template <class T> SampleRange range_of(const ConstHostView& image, InputRows rows) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto width = static_cast<std::size_t>(image.shape.width);
    const View<const T> view = image.as<T>();
    auto low = hn::Set(d, std::numeric_limits<T>::max());
    auto high = hn::Zero(d);
    T min = std::numeric_limits<T>::max();
    T max = 0;
    for (int y = rows.begin; y < rows.end; ++y) {
        const T* row = view.row(y);
        std::size_t x = 0;
        for (; x + lanes <= width; x += lanes) {
            const auto v = hn::LoadU(d, row + x);
            low = hn::Min(low, v);
            high = hn::Max(high, v);
        }
        for (; x < width; ++x) {
            min = std::min(min, row[x]);
            max = std::max(max, row[x]);
        }
    }
    HWY_ALIGN T lane[2][HWY_MAX_BYTES / sizeof(T)];
    hn::Store(low, d, lane[0]);
    hn::Store(high, d, lane[1]);
    min = std::min(min, *std::min_element(lane[0], lane[0] + lanes));
    max = std::max(max, *std::max_element(lane[1], lane[1] + lanes));
    return {min, max};
}

SampleRange SampleRangeOf(const ConstHostView& image, InputRows rows) {
    return image.shape.type == PixelType::u8 ? range_of<std::uint8_t>(image, rows)
                                             : range_of<std::uint16_t>(image, rows);
}

/// NaN is not saturated.
void FindSaturatedRows(const ConstHostView& image, InputRows rows, double threshold,
                       std::uint8_t* saturated) {
    const hn::ScalableTag<float> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto limit = static_cast<float>(threshold);
    for (int y = rows.begin; y < rows.end; ++y) {
        const float* row = image.as<float>().row(y);
        auto any = hn::Zero(d);
        bool found = false;
        int x = 0;
        for (; x + lanes <= image.shape.width; x += lanes)
            any = hn::Or(any, hn::VecFromMask(d, hn::Ge(hn::LoadU(d, row + x), hn::Set(d, limit))));
        for (; x < image.shape.width; ++x)
            found |= row[x] >= limit;
        if (found || !hn::AllFalse(d, hn::MaskFromVec(any)))
            saturated[y - rows.begin] = 1;
    }
}

bool RunTile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts) {
    switch (tile.input.shape.type) {
    case PixelType::u8:
        return IntegerTile<std::uint8_t, std::uint32_t>(tile, scratch).run(counts);
    case PixelType::u16:
        if (tile.sums == SpeckleSums::narrow)
            return IntegerTile<std::uint16_t, std::uint32_t>(tile, scratch).run(counts);
        return IntegerTile<std::uint16_t, std::uint64_t>(tile, scratch).run(counts);
    case PixelType::f32:
        if (tile.history)
            RealTile<GroupRows>(tile, scratch).run(counts);
        else
            RealTile<ImageRows>(tile, scratch).run(counts);
    }
    return true;
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(SampleRangeOf);
HWY_EXPORT(FindSaturatedRows);
HWY_EXPORT(RunTile);

InputRows input_rows(const SpeckleTile& tile) {
    const int radius = tile.params.radius;
    const int shift = tile.params.border == Border::crop ? radius : 0;
    return {std::max(0, tile.y0 + shift - radius),
            std::min(tile.input.shape.height, tile.y1 + shift + radius)};
}

SampleRange sample_range(ConstHostView image, InputRows rows) {
    return HWY_DYNAMIC_DISPATCH(SampleRangeOf)(image, rows);
}

void find_saturated_rows(ConstHostView image, InputRows rows, double threshold, std::uint8_t* saturated) {
    HWY_DYNAMIC_DISPATCH(FindSaturatedRows)(image, rows, threshold, saturated);
}

bool run_speckle_tile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts) {
    return HWY_DYNAMIC_DISPATCH(RunTile)(tile, scratch, counts);
}

// Smaller tiles took 8 to 25 % longer: docs/performance.md, Host.
int speckle_tile_width(PixelType type) { return type == PixelType::f32 ? 512 : 1536; }

std::size_t speckle_scratch_bytes(PixelType type, int radius, int width, int input_width) {
    const auto columns = TileColumns::buffer_columns(radius, width);
    if (type == PixelType::f32)
        return real_scratch_bytes(radius, columns, static_cast<std::size_t>(input_width));
    return integer_scratch_bytes(columns, static_cast<std::size_t>(input_width));
}

} // namespace specklescope
#endif
