// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "sources/gst/simd/yuv_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sources/gst/simd/yuv_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Word>
void rgb_vectors(const RgbOfYuv& by, const Word* luma, const Word* us, const Word* vs, int width, Word* to) {
    const hn::ScalableTag<float> df;
    const hn::Rebind<std::int32_t, decltype(df)> di;
    const hn::Rebind<Word, decltype(df)> dw;
    const int lanes = static_cast<int>(hn::Lanes(df));
    if (width < lanes) { // one vector, of which `width` pixels are kept
        constexpr std::size_t kMost = hn::MaxLanes(decltype(df)());
        std::array<Word, kMost> y{}, u{}, v{};
        std::array<Word, 3 * kMost> rgb{};
        std::copy_n(luma, width, y.data());
        std::copy_n(us, width, u.data());
        std::copy_n(vs, width, v.data());
        rgb_vectors(by, y.data(), u.data(), v.data(), lanes, rgb.data());
        std::copy_n(rgb.data(), std::size_t{3} * static_cast<std::size_t>(width), to);
        return;
    }
    const auto read = [&](const Word* from, float zero) {
        return hn::Sub(hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(dw, from))), hn::Set(df, zero));
    };
    const auto times = [&](auto value, float factor) { return hn::Mul(value, hn::Set(df, factor)); };
    const auto most = hn::Set(df, static_cast<float>(std::numeric_limits<Word>::max()));
    const auto rounded = [&](auto value) {
        const auto inside = hn::Min(hn::Max(value, hn::Zero(df)), most);
        return hn::DemoteTo(dw, hn::ConvertTo(di, hn::Add(inside, hn::Set(df, 0.5F))));
    };
    for (int next = 0; next < width; next += lanes) {
        const int x = std::min(next, width - lanes); // the last vector ends at the end of the row
        const auto grey = times(read(luma + x, by.black), by.luma);
        const auto u = read(us + x, by.neutral), v = read(vs + x, by.neutral);
        const auto green = hn::Sub(hn::Sub(grey, times(u, by.u_green)), times(v, by.v_green));
        hn::StoreInterleaved3(rounded(hn::Add(grey, times(v, by.v_red))), rounded(green),
                              rounded(hn::Add(grey, times(u, by.u_blue))), dw, to + std::ptrdiff_t{3} * x);
    }
}

void Rgb8(const RgbOfYuv& by, const std::uint8_t* luma, const std::uint8_t* u, const std::uint8_t* v,
          int width, std::uint8_t* to) {
    rgb_vectors(by, luma, u, v, width, to);
}
void Rgb16(const RgbOfYuv& by, const std::uint16_t* luma, const std::uint16_t* u, const std::uint16_t* v,
           int width, std::uint16_t* to) {
    rgb_vectors(by, luma, u, v, width, to);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(Rgb8);
HWY_EXPORT(Rgb16);

template <> void rgb_row(const RgbOfYuv& by, const std::uint8_t* luma, const std::uint8_t* u,
                         const std::uint8_t* v, int width, std::uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(Rgb8)(by, luma, u, v, width, to);
}
template <> void rgb_row(const RgbOfYuv& by, const std::uint16_t* luma, const std::uint16_t* u,
                         const std::uint16_t* v, int width, std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(Rgb16)(by, luma, u, v, width, to);
}

} // namespace specklescope
#endif
