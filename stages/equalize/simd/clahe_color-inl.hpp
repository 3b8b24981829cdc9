// Colour for stage clahe: V of rows of pixels, and pixels with changed V; vector forms of hsv_value() and
// with_value() with equal results.
#if defined(SPECKLESCOPE_CLAHE_COLOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_CLAHE_COLOR_INL
#undef SPECKLESCOPE_CLAHE_COLOR_INL
#else
#define SPECKLESCOPE_CLAHE_COLOR_INL
#endif

#include <hwy/highway.h>

#include "stages/equalize/clahe.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> void color_values(const T* HWY_RESTRICT rgb, int count, T* HWY_RESTRICT values) {
    const hn::ScalableTag<T> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    int i = 0;
    for (; i + lanes <= count; i += lanes) {
        hn::Vec<decltype(d)> r, g, b;
        hn::LoadInterleaved3(d, rgb + 3 * i, r, g, b);
        auto most = hn::Max(hn::Max(r, g), b);
        if constexpr (std::is_same_v<T, float>)
            most = hn::Add(hn::Max(most, hn::Zero(d)),
                           hn::Add(hn::Sub(r, r), hn::Add(hn::Sub(g, g), hn::Sub(b, b))));
        hn::StoreU(most, d, values + i);
    }
    for (; i < count; ++i)
        values[i] = hsv_value(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

/// Changes pixels from V `from` to V `to`.
template <class T> class ColorLanes {
    using DF = hn::ScalableTag<float>;
    using DI = hn::RebindToSigned<DF>;
    using DT = hn::Rebind<T, DF>;
    using VF = hn::Vec<DF>;
    using VI = hn::Vec<DI>;
    using VT = hn::Vec<DT>;

public:
    static constexpr int lanes() { return static_cast<int>(hn::MaxLanes(DF())); }

    ColorLanes(const T* from, const T* to) {
        const DF df;
        const DI di;
        const DT dt;
        if constexpr (std::is_same_v<T, float>) {
            from_ = hn::LoadU(df, from);
            to_ = hn::LoadU(df, to);
        } else {
            const VI level = hn::PromoteTo(di, hn::LoadU(dt, from));
            black_ = hn::Eq(level, hn::Zero(di));
            from_integer_ = hn::IfThenElse(black_, hn::Set(di, 1), level);
            to_integer_ = hn::PromoteTo(di, hn::LoadU(dt, to));
            factor_ = hn::Div(hn::ConvertTo(df, to_integer_), hn::ConvertTo(df, from_integer_));
        }
    }

    VT scaled(VT sample) const {
        if constexpr (std::is_same_v<T, float>)
            return scaled_real(sample);
        else
            return hn::DemoteTo(DT(), scaled_integer(sample));
    }

private:
    VF scaled_real(VF sample) const {
        const DF df;
        const VF share = hn::Div(hn::Max(sample, hn::Zero(df)), from_);
        const VF result = hn::IfThenElse(hn::Gt(from_, hn::Zero(df)), hn::Mul(to_, share), to_);
        return hn::IfThenElse(hn::Eq(from_, from_), result, sample);
    }

    VI scaled_integer(VT narrow) const {
        const DF df;
        const DI di;
        const VI one = hn::Set(di, 1);
        const VI sample = hn::IfThenElse(black_, one, hn::PromoteTo(di, narrow));
        const VF product = hn::Mul(hn::ConvertTo(df, sample), factor_);
        if constexpr (sizeof(T) == 1) {
            // Quotients that are not ties are at least 1/510 away from one; in steps of 2⁻¹⁰ ties are exact.
            const VF stepped = hn::Add(product, hn::Set(df, 8192.0F));
            return hn::Sub(hn::NearestInt(stepped), hn::Set(di, 8192));
        } else { // the quotient may differ by one
            VI quotient = hn::ConvertTo(di, product);
            VI rest = hn::Sub(hn::Mul(sample, to_integer_), hn::Mul(quotient, from_integer_));
            const auto low = hn::Lt(rest, hn::Zero(di));
            quotient = hn::IfThenElse(low, hn::Sub(quotient, one), quotient);
            rest = hn::IfThenElse(low, hn::Add(rest, from_integer_), rest);
            const auto high = hn::Gt(hn::Add(rest, one), from_integer_);
            quotient = hn::IfThenElse(high, hn::Add(quotient, one), quotient);
            rest = hn::IfThenElse(high, hn::Sub(rest, from_integer_), rest);
            const VI odd = hn::And(quotient, one);
            const auto up = hn::Gt(hn::Add(hn::Add(rest, rest), odd), from_integer_);
            return hn::IfThenElse(up, hn::Add(quotient, one), quotient);
        }
    }

    VF from_, to_, factor_;
    VI from_integer_, to_integer_;
    hn::Mask<DI> black_;
};

template <class T> void scale_colors(const T* HWY_RESTRICT rgb, const T* HWY_RESTRICT from,
                                     const T* HWY_RESTRICT to, int count, T* HWY_RESTRICT out) {
    const hn::Rebind<T, hn::ScalableTag<float>> dt;
    constexpr int lanes = ColorLanes<T>::lanes();
    int i = 0;
    for (; i + lanes <= count; i += lanes) {
        const ColorLanes<T> colors(from + i, to + i);
        hn::Vec<decltype(dt)> r, g, b;
        hn::LoadInterleaved3(dt, rgb + 3 * i, r, g, b);
        hn::StoreInterleaved3(colors.scaled(r), colors.scaled(g), colors.scaled(b), dt, out + 3 * i);
    }
    for (; i < count; ++i)
        for (int k = 3 * i; k < 3 * i + 3; ++k) // non-finite pixels stay unchanged
            out[k] = counts(from[i]) ? with_value(rgb[k], to[i], from[i]) : rgb[k];
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();
#endif
