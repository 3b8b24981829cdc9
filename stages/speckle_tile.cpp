// Compiled once for every instruction set (Highway); the call takes the best that the processor has.
#include "stages/speckle_tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/speckle_tile.cpp"
#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/speckle_integer-inl.hpp"
#include "stages/speckle_real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

template <class T> SampleRange range_of(ConstHostView image, int begin, int end) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto width = static_cast<std::size_t>(image.shape.width);
    const View<const T> view = image.as<T>();
    auto low = hn::Set(d, static_cast<T>(~T{0}));
    auto high = hn::Zero(d);
    std::uint32_t min = static_cast<T>(~T{0});
    std::uint32_t max = 0;
    for (int y = begin; y < end; ++y) {
        const T* row = view.row(y);
        std::size_t x = 0;
        for (; x + lanes <= width; x += lanes) {
            const auto v = hn::LoadU(d, row + x);
            low = hn::Min(low, v);
            high = hn::Max(high, v);
        }
        for (; x < width; ++x) {
            min = std::min<std::uint32_t>(min, row[x]);
            max = std::max<std::uint32_t>(max, row[x]);
        }
    }
    HWY_ALIGN T lane[2][HWY_MAX_BYTES / sizeof(T)];
    hn::Store(low, d, lane[0]);
    hn::Store(high, d, lane[1]);
    for (std::size_t i = 0; i < lanes; ++i) {
        min = std::min<std::uint32_t>(min, lane[0][i]);
        max = std::max<std::uint32_t>(max, lane[1][i]);
    }
    return {min, max};
}

SampleRange SampleRangeOf(const ConstHostView& image, int begin, int end) {
    return image.shape.type == PixelType::u8 ? range_of<std::uint8_t>(image, begin, end)
                                             : range_of<std::uint16_t>(image, begin, end);
}

void RunTile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts) {
    switch (tile.input.shape.type) {
    case PixelType::u8:
        return IntegerTile<std::uint8_t, std::uint32_t>(tile, scratch).run(counts);
    case PixelType::u16:
        if (tile.sums == SpeckleSums::narrow)
            return IntegerTile<std::uint16_t, std::uint32_t>(tile, scratch).run(counts);
        return IntegerTile<std::uint16_t, std::uint64_t>(tile, scratch).run(counts);
    case PixelType::f32:
        return RealTile(tile, scratch).run(counts);
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(SampleRangeOf);
HWY_EXPORT(RunTile);

SampleRange sample_range(ConstHostView image, int begin, int end) {
    return HWY_DYNAMIC_DISPATCH(SampleRangeOf)(image, begin, end);
}

void run_speckle_tile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts) {
    HWY_DYNAMIC_DISPATCH(RunTile)(tile, scratch, counts);
}

int speckle_tile_width(PixelType type) { return type == PixelType::f32 ? 512 : 1536; }

std::size_t speckle_scratch_bytes(PixelType type, int radius, int width, int input_width) {
    const auto columns = TileColumns::buffer_columns(radius, width);
    if (type == PixelType::f32)
        return real_scratch_bytes(radius, columns, static_cast<std::size_t>(input_width));
    return integer_scratch_bytes(columns, static_cast<std::size_t>(input_width));
}

} // namespace specklescope
#endif
