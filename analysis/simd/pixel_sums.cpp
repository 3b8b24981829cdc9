// Two images in one pass over the sums, whose memory limits the speed. Compiled for every instruction set
// (Highway).
#include "analysis/simd/pixel_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/simd/pixel_sums.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

auto load(Doubles d, const float* from) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Doubles>(), from));
}
template <class Integer> auto load(Doubles d, const Integer* from) {
    const hn::Rebind<std::int32_t, Doubles> wide;
    return hn::PromoteTo(d, hn::PromoteTo(wide, hn::LoadU(hn::Rebind<Integer, Doubles>(), from)));
}

template <RegionMean mean> bool counts(float value) {
    return mean == RegionMean::of_inverses ? value == value : value - value == 0;
}

template <RegionMean mean, int images, class T> void add_row(const PixelSums& row) {
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    std::array<const T*, 2> values{};
    for (std::size_t i = 0; i < images; ++i)
        values[i] = reinterpret_cast<const T*>(row.rows[i]);
    const auto one_by_one = [&](std::size_t x, std::size_t end, bool add) {
        for (; x < end; ++x)
            for (std::size_t i = 0; i < images; ++i) {
                const auto value = static_cast<float>(values[i][x]);
                const auto v = static_cast<double>(value);
                row.left_out[x] += counts<mean>(value) ? 0 : 1;
                if (add && counts<mean>(value))
                    row.sums[x] += mean == RegionMean::of_inverses  ? 1 / v
                                   : mean == RegionMean::of_squares ? v * v
                                                                    : v;
            }
    };
    std::size_t x = 0;
    for (; x + lanes <= row.width; x += lanes) {
        auto sum = hn::LoadU(d, row.sums + x);
        auto all = hn::FirstN(d, lanes);
        for (std::size_t i = 0; i < images; ++i) {
            const auto v = load(d, values[i] + x);
            const auto ok =
                mean == RegionMean::of_inverses ? hn::Eq(v, v) : hn::Eq(hn::Sub(v, v), hn::Zero(d));
            const auto term = mean == RegionMean::of_inverses  ? hn::Div(hn::Set(d, 1.0), v)
                              : mean == RegionMean::of_squares ? hn::Mul(v, v)
                                                               : v;
            all = hn::And(all, ok);
            sum = hn::Add(sum, hn::IfThenElseZero(ok, term));
        }
        hn::StoreU(sum, d, row.sums + x);
        if (!hn::AllTrue(d, all))
            one_by_one(x, x + lanes, false);
    }
    one_by_one(x, row.width, true);
}

template <RegionMean mean> void add_rows(const PixelSums& row) {
    const bool two = row.rows[1] != nullptr;
    switch (row.type) {
    case PixelType::u8:
        return two ? add_row<mean, 2, std::uint8_t>(row) : add_row<mean, 1, std::uint8_t>(row);
    case PixelType::u16:
        return two ? add_row<mean, 2, std::uint16_t>(row) : add_row<mean, 1, std::uint16_t>(row);
    case PixelType::f32:
        return two ? add_row<mean, 2, float>(row) : add_row<mean, 1, float>(row);
    }
}

void AddPixels(const PixelSums& row, RegionMean mean) {
    switch (mean) {
    case RegionMean::plain:
        return add_rows<RegionMean::plain>(row);
    case RegionMean::of_squares:
        return add_rows<RegionMean::of_squares>(row);
    case RegionMean::of_inverses:
        return add_rows<RegionMean::of_inverses>(row);
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(AddPixels);

void add_pixels(const PixelSums& row, RegionMean mean) { HWY_DYNAMIC_DISPATCH(AddPixels)(row, mean); }

} // namespace specklescope
#endif
