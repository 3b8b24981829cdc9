// Compiled once for every instruction set (Highway); the call takes the best that the processor has.
#include "stages/equalize_rows.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/equalize_rows.cpp"
#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void RowOfV(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t x = 0;
    for (; x + lanes <= pixels; x += lanes) {
        hn::Vec<decltype(d)> r, g, b;
        hn::LoadInterleaved3(d, rgb + 3 * x, r, g, b);
        hn::StoreU(hn::Max(hn::Max(r, g), b), d, v + x);
    }
    for (; x < pixels; ++x)
        v[x] = std::max({rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]});
}

/// Pixels that are worked on as planes, in the nearest cache.
constexpr std::size_t kBlock = 512;

struct Planes {
    HWY_ALIGN std::uint8_t channel[3][kBlock] = {};
    HWY_ALIGN std::uint8_t v[kBlock] = {};
};

/// A black pixel becomes (1, 1, 1), so that its factor alone makes it grey.
void split(const std::uint8_t* rgb, std::size_t pixels, Planes& planes) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto one = hn::Set(d, 1);
    std::size_t x = 0;
    for (; x + lanes <= pixels; x += lanes) {
        hn::Vec<decltype(d)> r, g, b;
        hn::LoadInterleaved3(d, rgb + 3 * x, r, g, b);
        const auto v = hn::Max(hn::Max(r, g), b);
        const auto lift = hn::And(hn::VecFromMask(d, hn::Eq(v, hn::Zero(d))), one);
        hn::Store(hn::Or(r, lift), d, planes.channel[0] + x);
        hn::Store(hn::Or(g, lift), d, planes.channel[1] + x);
        hn::Store(hn::Or(b, lift), d, planes.channel[2] + x);
        hn::Store(v, d, planes.v + x);
    }
    for (; x < pixels; ++x) {
        planes.v[x] = std::max({rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]});
        for (std::size_t c = 0; c < 3; ++c)
            planes.channel[c][x] = planes.v[x] == 0 ? 1 : rgb[3 * x + c];
    }
}

/// Ties are told exactly: products that are none stay 1/510 away, so rounding to 2⁻¹⁰ first (by adding 2¹³)
/// takes the factor's own rounding away.
void scale(Planes& planes, std::size_t pixels, const float* factors) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> db;
    const auto grid = hn::Set(d, 8192.0F);
    for (std::size_t x = 0; x < pixels; x += hn::Lanes(d)) {
        const auto factor = hn::GatherIndex(d, factors, hn::PromoteTo(di, hn::Load(db, planes.v + x)));
        for (auto& channel : planes.channel) {
            const auto value = hn::ConvertTo(d, hn::PromoteTo(di, hn::Load(db, channel + x)));
            const auto product = hn::Sub(hn::Add(hn::Mul(value, factor), grid), grid);
            hn::Store(hn::DemoteTo(db, hn::NearestInt(product)), db, channel + x);
        }
    }
}

void merge(const Planes& planes, std::size_t pixels, std::uint8_t* rgb) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t x = 0;
    for (; x + lanes <= pixels; x += lanes)
        hn::StoreInterleaved3(hn::Load(d, planes.channel[0] + x), hn::Load(d, planes.channel[1] + x),
                              hn::Load(d, planes.channel[2] + x), d, rgb + 3 * x);
    for (; x < pixels; ++x)
        for (std::size_t c = 0; c < 3; ++c)
            rgb[3 * x + c] = planes.channel[c][x];
}

void ScaleRow(const std::uint8_t* rgb, std::size_t pixels, const float* factors, std::uint8_t* out) {
    Planes planes;
    for (std::size_t x = 0; x < pixels; x += kBlock) {
        const std::size_t count = std::min(kBlock, pixels - x);
        split(rgb + 3 * x, count, planes);
        scale(planes, count, factors);
        merge(planes, count, out + 3 * x);
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RowOfV);
HWY_EXPORT(ScaleRow);

void row_of_v(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v) {
    HWY_DYNAMIC_DISPATCH(RowOfV)(rgb, pixels, v);
}

void scale_row(const std::uint8_t* rgb, std::size_t pixels, const float* factors, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(ScaleRow)(rgb, pixels, factors, out);
}

} // namespace specklescope
#endif
