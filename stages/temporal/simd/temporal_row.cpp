// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/temporal/simd/temporal_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/temporal/simd/temporal_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

// --- a sample enters, one leaves ---

template <class T, bool kLeaves>
void replace_packed(const T* newest, T* slot, std::uint64_t* sums, int width) {
    for (int x = 0; x < width; ++x) {
        const std::uint64_t leave = kLeaves ? packed_sample(slot[x]) : 0;
        sums[x] += packed_sample(newest[x]) - leave;
        slot[x] = newest[x];
    }
}

template <bool kLeaves> void replace_wide(const std::uint16_t* newest, std::uint16_t* slot,
                                          std::uint64_t* squares, std::uint32_t* sums, int width) {
    for (int x = 0; x < width; ++x) {
        const std::uint32_t enter = newest[x];
        const std::uint32_t leave = kLeaves ? slot[x] : 0;
        squares[x] += std::uint64_t{enter * enter} - std::uint64_t{leave * leave};
        sums[x] += enter - leave;
        slot[x] = newest[x];
    }
}

template <class T> void replace_integers(const TemporalRow& row, const T* newest, T* slot) {
    const int width = row.width;
    if (row.wide) {
        if constexpr (sizeof(T) == 2)
            row.step.leaves ? replace_wide<true>(newest, slot, row.packed, row.wide, width)
                            : replace_wide<false>(newest, slot, row.packed, row.wide, width);
    } else if (row.step.leaves) {
        replace_packed<T, true>(newest, slot, row.packed, width);
    } else {
        replace_packed<T, false>(newest, slot, row.packed, width);
    }
}

/// add_sample, remove_sample and needs_resummation without a branch; 1 if the sums must be recomputed.
template <bool kLeaves>
int replace_real(const TemporalRow& row, const float* newest, float* slot, int begin, int count, int* anew) {
    const double n = row.step.held;
    int any = 0;
    for (int i = 0; i < count; ++i) {
        const int x = begin + i;
        const double reference = row.reference[x];
        const double enter = newest[x] - reference;
        double s = row.real_s[x] + enter;
        double q = row.real_q[x] + enter * enter;
        const auto size = static_cast<float>(std::abs(enter));
        const float peak = size > row.peak[x] ? size : row.peak[x];
        int lost = 0;
        if constexpr (kLeaves) {
            const double leave = slot[x] - reference;
            s -= leave;
            q -= leave * leave;
            lost = leave - leave == 0 ? 0 : 1; // not finite
        }
        const double most = n * static_cast<double>(peak);
        anew[i] = lost | (n * q - s * s < 1e-6 * most * most ? 1 : 0);
        any |= anew[i];
        row.real_s[x] = s;
        row.real_q[x] = q;
        row.peak[x] = peak;
        slot[x] = newest[x];
    }
    return any;
}

void resum(const TemporalRow& row, int x) {
    const RealSums sums = summed_anew(row.step.held, [&](int k) {
        const int slot = row.step.slot - k + (k > row.step.slot ? row.frames : 0);
        return reinterpret_cast<const float*>(row.ring + static_cast<std::size_t>(slot) * row.slot_bytes)[x];
    });
    row.real_s[x] = sums.s;
    row.real_q[x] = sums.q;
    row.reference[x] = sums.reference;
    row.peak[x] = sums.peak;
}

void replace_reals(const TemporalRow& row, const float* newest, float* slot) {
    if (row.step.first || renewed(row.y, row.step.tick)) {
        std::copy_n(newest, row.width, slot);
        for (int x = 0; x < row.width; ++x)
            resum(row, x);
        return;
    }
    constexpr int kChunk = 64;
    int anew[kChunk];
    for (int begin = 0; begin < row.width; begin += kChunk) {
        const int count = std::min(kChunk, row.width - begin);
        const int any = row.step.leaves ? replace_real<true>(row, newest, slot, begin, count, anew)
                                        : replace_real<false>(row, newest, slot, begin, count, anew);
        for (int i = 0; any != 0 && i < count; ++i)
            if (anew[i] != 0)
                resum(row, begin + i);
    }
}

void TakeRow(const TemporalRow& row, const std::byte* newest) {
    std::byte* const slot = row.ring + static_cast<std::size_t>(row.step.slot) * row.slot_bytes;
    if (row.type == PixelType::f32)
        return replace_reals(row, reinterpret_cast<const float*>(newest), reinterpret_cast<float*>(slot));
    if (row.step.first) {
        std::fill_n(row.packed, row.width, std::uint64_t{0});
        if (row.wide)
            std::fill_n(row.wide, row.width, 0U);
    }
    if (row.type == PixelType::u8)
        replace_integers(row, reinterpret_cast<const std::uint8_t*>(newest),
                         reinterpret_cast<std::uint8_t*>(slot));
    else
        replace_integers(row, reinterpret_cast<const std::uint16_t*>(newest),
                         reinterpret_cast<std::uint16_t*>(slot));
}

// --- results ---

/// Exact below 2⁵²; unlike a cast it is a vector instruction on every target.
double whole_number(std::uint64_t value) {
    return std::bit_cast<double>(value | 0x4330000000000000U) - 4503599627370496.0;
}

/// S and D of one pixel. Real: float or double.
template <bool kWide, class Real> void integer_sums(const TemporalRow& row, int x, Real& s, Real& d) {
    IntegerSums sums = unpacked(row.packed[x]);
    if constexpr (kWide)
        sums = {row.packed[x], row.wide[x]};
    s = static_cast<Real>(static_cast<std::int32_t>(sums.s));
    d = static_cast<Real>(whole_number(determinant(sums, static_cast<std::uint32_t>(row.step.held))));
}

template <ContrastForm kForm, bool kWide>
void write_integers(const TemporalRow& row, float c, float* output) {
    for (int x = 0; x < row.width; ++x) {
        float s = 0, d = 0;
        integer_sums<kWide>(row, x, s, d);
        output[x] = contrast_value(kForm, c, s, d);
    }
}

template <ContrastForm kForm> void write_reals(const TemporalRow& row, double c, float* output) {
    for (int x = 0; x < row.width; ++x)
        output[x] = contrast_of({row.real_s[x], row.real_q[x], row.reference[x], row.peak[x]}, kForm, c,
                                row.step.held);
}

template <ContrastForm kForm> void write_form(const TemporalRow& row, double c, float* output) {
    if (row.type == PixelType::f32)
        write_reals<kForm>(row, c, output);
    else if (row.wide)
        write_integers<kForm, true>(row, static_cast<float>(c), output);
    else
        write_integers<kForm, false>(row, static_cast<float>(c), output);
}

void CountRow(const float* values, int width, PixelCounts& counts) {
    int undefined = 0;
    int infinite = 0;
    for (int x = 0; x < width; ++x) {
        undefined += values[x] != values[x] ? 1 : 0;
        infinite += std::abs(values[x]) > std::numeric_limits<float>::max() ? 1 : 0;
    }
    counts.undefined += static_cast<std::uint64_t>(undefined);
    counts.infinite += static_cast<std::uint64_t>(infinite);
}

void WriteRow(const TemporalRow& row, const ContrastScale& scale, float* output, PixelCounts& counts) {
    switch (scale.form) {
    case ContrastForm::inverse:
        write_form<ContrastForm::inverse>(row, scale.c, output);
        break;
    case ContrastForm::square:
        write_form<ContrastForm::square>(row, scale.c, output);
        break;
    case ContrastForm::root:
        write_form<ContrastForm::root>(row, scale.c, output);
        break;
    default:
        break; // only by ContrastFinish
    }
    CountRow(output, row.width, counts);
}

template <class Real> void sum_row(const TemporalRow& row, Real* s, Real* d) {
    if (row.type == PixelType::f32)
        for (int x = 0; x < row.width; ++x) {
            const WindowSums sums =
                window_sums({row.real_s[x], row.real_q[x], row.reference[x], row.peak[x]}, row.step.held);
            s[x] = static_cast<Real>(sums.s);
            d[x] = static_cast<Real>(sums.d);
        }
    else if (row.wide)
        for (int x = 0; x < row.width; ++x)
            integer_sums<true>(row, x, s[x], d[x]);
    else
        for (int x = 0; x < row.width; ++x)
            integer_sums<false>(row, x, s[x], d[x]);
}

void SumFloats(const TemporalRow& row, float* s, float* d) { sum_row(row, s, d); }
void SumDoubles(const TemporalRow& row, double* s, double* d) { sum_row(row, s, d); }

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(TakeRow);
HWY_EXPORT(WriteRow);
HWY_EXPORT(SumFloats);
HWY_EXPORT(SumDoubles);
HWY_EXPORT(CountRow);

void take_temporal_row(const TemporalRow& row, const std::byte* newest) {
    HWY_DYNAMIC_DISPATCH(TakeRow)(row, newest);
}

void write_temporal_row(const TemporalRow& row, const ContrastScale& scale, float* output,
                        PixelCounts& counts) {
    HWY_DYNAMIC_DISPATCH(WriteRow)(row, scale, output, counts);
}

void write_temporal_row(const TemporalRow& row, const ContrastFinish& finish, SumRows& sums,
                        PixelCounts& counts) {
    if (finish.corrects || row.type == PixelType::f32) {
        HWY_DYNAMIC_DISPATCH(SumDoubles)(row, sums.s<double>(), sums.d<double>());
        finish_contrast_row(finish, sums.s<double>(), sums.d<double>(), row.width, 0, row.y);
    } else {
        HWY_DYNAMIC_DISPATCH(SumFloats)(row, sums.s<float>(), sums.d<float>());
        finish_contrast_row(finish, sums.s<float>(), sums.d<float>(), row.width, 0, row.y);
    }
    HWY_DYNAMIC_DISPATCH(CountRow)(finish.row(0, row.y), row.width, counts);
}

} // namespace specklescope
#endif
