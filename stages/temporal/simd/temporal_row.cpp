// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/temporal/simd/temporal_row.hpp"

#include "pipeline/counts.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/temporal/simd/temporal_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/streamed-inl.hpp"
#include "stages/temporal/simd/temporal_integers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

// --- a sample enters, one leaves ---

template <class T, class Sums>
void replace_integers(const TemporalRow& row, const T* newest, T* slot, const Sums& sums) {
    const int width = row.width;
    if (row.step.first)
        sums.clear(width);
    if (row.step.leaves)
        for (int x = 0; x < width; ++x)
            sums.replace(x, newest[x], slot[x]);
    else
        for (int x = 0; x < width; ++x)
            sums.add(x, newest[x]);
    std::copy_n(newest, width, slot);
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
    with_integer_sums(row, [&](const auto& sums) HWY_ATTR {
        if (row.type == PixelType::u8)
            replace_integers(row, reinterpret_cast<const std::uint8_t*>(newest),
                             reinterpret_cast<std::uint8_t*>(slot), sums);
        else
            replace_integers(row, reinterpret_cast<const std::uint16_t*>(newest),
                             reinterpret_cast<std::uint16_t*>(slot), sums);
    });
}

// --- results ---

/// S and D of one pixel.
template <class Sums, class Real> HWY_INLINE void read(const Sums& sums, int x, Real& s, Real& d) {
    const auto of_pixel = sums.at(x);
    s = static_cast<Real>(of_pixel.s);
    d = static_cast<Real>(sums.n * of_pixel.q - of_pixel.s * of_pixel.s);
}

template <ContrastForm kForm, class Sums>
void write_integers(const Sums& sums, int begin, int count, float c, float* to) {
    for (int x = 0; x < count; ++x) {
        float s = 0, d = 0;
        read(sums, begin + x, s, d);
        to[x] = contrast_value(kForm, c, s, d);
    }
}

template <ContrastForm kForm>
void write_reals(const TemporalRow& row, int begin, int count, double c, float* to) {
    for (int x = begin; x < begin + count; ++x)
        to[x - begin] = contrast_of({row.real_s[x], row.real_q[x], row.reference[x], row.peak[x]}, kForm, c,
                                    row.step.held);
}

template <ContrastForm kForm>
void write_form(const TemporalRow& row, int begin, int count, double c, float* to) {
    if (row.type == PixelType::f32)
        write_reals<kForm>(row, begin, count, c, to);
    else
        with_integer_sums(row, [&](const auto& sums) HWY_ATTR {
            write_integers<kForm>(sums, begin, count, static_cast<float>(c), to);
        });
}

void write_values(const TemporalRow& row, const ContrastScale& scale, int begin, int count, float* to) {
    switch (scale.form) {
    case ContrastForm::inverse:
        return write_form<ContrastForm::inverse>(row, begin, count, scale.c, to);
    case ContrastForm::square:
        return write_form<ContrastForm::square>(row, begin, count, scale.c, to);
    case ContrastForm::root:
        return write_form<ContrastForm::root>(row, begin, count, scale.c, to);
    default:
        break; // only by ContrastFinish
    }
}

void CountRow(const float* values, int width, PixelCounts& counts) {
    count_undefined(values, width, 1, counts);
}

/// In pieces that are counted in the L1 cache, since streamed results are slow to read back.
void WriteRow(const TemporalRow& row, const ContrastScale& scale, float* output, PixelCounts& counts) {
    constexpr int kPiece = 1024;
    HWY_ALIGN float piece[kPiece];
    for (int begin = 0; begin < row.width; begin += kPiece) {
        const int count = std::min(kPiece, row.width - begin);
        float* const to = row.streamed ? piece : output + begin;
        write_values(row, scale, begin, count, to);
        CountRow(to, count, counts);
        if (row.streamed)
            stream_row(piece, count, output + begin);
    }
    hwy::FlushStream();
}

template <class Real> void sum_row(const TemporalRow& row, Real* s, Real* d) {
    if (row.type == PixelType::f32)
        for (int x = 0; x < row.width; ++x) {
            const WindowSums sums =
                window_sums({row.real_s[x], row.real_q[x], row.reference[x], row.peak[x]}, row.step.held);
            s[x] = static_cast<Real>(sums.s);
            d[x] = static_cast<Real>(sums.d);
        }
    else
        with_integer_sums(row, [&](const auto& sums) HWY_ATTR {
            for (int x = 0; x < row.width; ++x)
                read(sums, x, s[x], d[x]);
        });
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
