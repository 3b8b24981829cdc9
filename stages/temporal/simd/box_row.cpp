// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/temporal/simd/temporal_row.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/temporal/simd/box_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/temporal/simd/temporal_integers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

void MoveColumns(const TemporalRow& row, bool enters, std::uint64_t* s, std::uint64_t* q) {
    with_integer_sums(row, [&](const auto& sums) HWY_ATTR {
        for (int x = 0; x < row.width; ++x) {
            const auto [sum, squares] = sums.at(x);
            s[x] += static_cast<std::uint64_t>(static_cast<std::int64_t>(enters ? sum : -sum));
            q[x] += static_cast<std::uint64_t>(static_cast<std::int64_t>(enters ? squares : -squares));
        }
    });
}

template <ContrastForm kForm> void write_windows(const std::uint64_t* s, const std::uint64_t* q, int width,
                                                 std::uint32_t n, float c, float* output) {
    const float part = 1.0F / static_cast<float>(n);
    for (int x = 0; x < width; ++x) {
        const auto moments = window_moments<float>(s[x], q[x], n, part);
        output[x] = contrast_value(kForm, c, moments.s, moments.d);
    }
}

template <class Real> void sum_windows(const std::uint64_t* s, const std::uint64_t* q, int width,
                                       std::uint32_t n, Real* to_s, Real* to_d) {
    const float part = 1.0F / static_cast<float>(n);
    for (int x = 0; x < width; ++x) {
        const auto moments = window_moments<Real>(s[x], q[x], n, part);
        to_s[x] = moments.s;
        to_d[x] = moments.d;
    }
}

void SumFloats(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n, SumRows& to) {
    sum_windows(s, q, width, n, to.s<float>(), to.d<float>());
}
void SumDoubles(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n, SumRows& to) {
    sum_windows(s, q, width, n, to.s<double>(), to.d<double>());
}

void WriteWindowRow(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                    const ContrastScale& scale, float* output) {
    const auto c = static_cast<float>(scale.c);
    switch (scale.form) {
    case ContrastForm::inverse:
        return write_windows<ContrastForm::inverse>(s, q, width, n, c, output);
    case ContrastForm::square:
        return write_windows<ContrastForm::square>(s, q, width, n, c, output);
    case ContrastForm::root:
        return write_windows<ContrastForm::root>(s, q, width, n, c, output);
    default:
        break; // only by ContrastFinish
    }
}

void MergeRow(const TemporalRow* row, int width, int held, int count, double* sums, double* deviations) {
    const double n = held;
    const double inverse = 1.0 / n;
    const double part = merge_part(n, count);
    for (int x = 0; x < width; ++x) {
        const RealGroup one = row ? RealGroup{n * static_cast<double>(row->reference[x]) + row->real_s[x],
                                              row->real_q[x] - row->real_s[x] * row->real_s[x] * inverse}
                                  : RealGroup{0, 0};
        const RealGroup all = count == 0 ? one : merged({sums[x], deviations[x]}, count, one, part);
        sums[x] = all.sum;
        deviations[x] = all.deviation;
    }
}

void MergeWindows(const double* sums, const double* deviations, int window, int width, double n,
                  double* const (&to)[2]) {
    std::array<double, MergeParts::kMost> parts{};
    for (int k = 1; k < window; ++k)
        parts[static_cast<std::size_t>(k)] = merge_part(n, k);
    for (int x = 0; x < width; ++x) {
        RealGroup all{sums[x], deviations[x]};
        for (int k = 1; k < window; ++k)
            all = merged(all, k, {sums[x + k], deviations[x + k]}, parts[static_cast<std::size_t>(k)]);
        to[0][x] = all.sum;
        to[1][x] = n * window * (all.deviation < 0 ? 0.0 : all.deviation);
    }
}

void WriteMergedRow(const double* const (&sums)[2], int width, const ContrastScale& scale, float* output) {
    for (int x = 0; x < width; ++x) {
        const double s = sums[0][x];
        output[x] = s <= 0 ? NAN : static_cast<float>(contrast_value(scale.form, scale.c, s, sums[1][x]));
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(MoveColumns);
HWY_EXPORT(WriteWindowRow);
HWY_EXPORT(MergeRow);
HWY_EXPORT(MergeWindows);
HWY_EXPORT(WriteMergedRow);
HWY_EXPORT(SumFloats);
HWY_EXPORT(SumDoubles);

void move_columns(const TemporalRow& row, bool enters, std::uint64_t* s, std::uint64_t* q) {
    HWY_DYNAMIC_DISPATCH(MoveColumns)(row, enters, s, q);
}

void sum_along_row(const std::uint64_t* from, int window, int width, std::uint64_t* to) {
    std::uint64_t sum = 0;
    for (int x = 0; x < window - 1; ++x)
        sum += from[x];
    for (int x = 0; x < width; ++x) {
        sum += from[x + window - 1];
        to[x] = sum;
        sum -= from[x];
    }
}

void write_window_row(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                      const ContrastScale& scale, float* output) {
    HWY_DYNAMIC_DISPATCH(WriteWindowRow)(s, q, width, n, scale, output);
}

void merge_row(const TemporalRow* row, int width, int held, int count, double* sums, double* deviations) {
    HWY_DYNAMIC_DISPATCH(MergeRow)(row, width, held, count, sums, deviations);
}

void merge_windows(const double* sums, const double* deviations, int window, int width, double n,
                   double* const (&to)[2]) {
    HWY_DYNAMIC_DISPATCH(MergeWindows)(sums, deviations, window, width, n, to);
}

void write_merged_row(const double* const (&sums)[2], int width, const ContrastScale& scale, float* output) {
    HWY_DYNAMIC_DISPATCH(WriteMergedRow)(sums, width, scale, output);
}

void write_window_row(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                      const ContrastFinish& finish, SumRows& sums, int y) {
    if (finish.corrects) {
        HWY_DYNAMIC_DISPATCH(SumDoubles)(s, q, width, n, sums);
        finish_contrast_row(finish, sums.s<double>(), sums.d<double>(), width, 0, y);
    } else {
        HWY_DYNAMIC_DISPATCH(SumFloats)(s, q, width, n, sums);
        finish_contrast_row(finish, sums.s<float>(), sums.d<float>(), width, 0, y);
    }
}

} // namespace specklescope
#endif
