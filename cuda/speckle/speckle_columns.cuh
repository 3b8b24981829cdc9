// The four columns of one lane: their sums as the window moves down, and the results of a row.
#pragma once

#include "cuda/speckle/speckle_pixels.cuh"

namespace specklescope::cuda {

/// Largest sample of some rows, computed in the cheapest way for the type.
template <class T> struct Peak;
template <> struct Peak<std::uint8_t> {
    std::uint32_t high = 0; ///< bytes 1 and 3, each with the byte below it
    std::uint32_t low = 0;  ///< bytes 0 and 2
    __device__ void see(const Quad<std::uint8_t>& quad) {
        high = __vmaxu2(high, quad.bits);
        low = __vmaxu2(low, quad.bits & 0x00ff00ffU);
    }
    __device__ bool reaches(std::uint32_t full) const {
        return max(max(high >> 24, high >> 8 & 0xffU), max(low >> 16, low & 0xffffU)) >= full;
    }
};
template <> struct Peak<std::uint16_t> {
    std::uint32_t bits = 0;
    __device__ void see(const Quad<std::uint16_t>& quad) {
        bits = __vmaxu2(bits, __vmaxu2(quad.bits.x, quad.bits.y));
    }
    __device__ bool reaches(std::uint32_t full) const { return max(bits >> 16, bits & 0xffffU) >= full; }
};
template <> struct Peak<float> {
    float most = 0;
    __device__ void see(const Quad<float>& quad) {
        most = fmaxf(fmaxf(most, fmaxf(quad.bits.x, quad.bits.y)), fmaxf(quad.bits.z, quad.bits.w));
    }
    __device__ bool reaches(float full) const { return most >= full; }
};
template <class T> using FullScale = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;

/// Column sums of integer samples.
template <class T, int R> struct Columns {
    using Sums = typename SumsOf<T, R>::Type;
    Sums c[kColumns] = {};
    int lowest = 1; ///< bits of D of all windows since it was set to 1; 0: a result is undefined or infinite

    template <class Reader>
    __device__ void replace_row(const Quad<T>& enter, const Quad<T>& leave, const Reader&, int) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            replace(c[j], enter.get(j), leave.get(j));
    }
    /// Adds rows in order, the first of them row `first` of the image; zeros change nothing.
    template <int Rows, class Reader>
    __device__ void enter_rows(const Quad<T> (&rows)[Rows], const Reader&, int /*first*/) {
        std::uint32_t rest[kColumns] = {};
#pragma unroll
        for (int i = 0; i < Rows; ++i) // in order
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                add_sample(c[j], rows[i].get(j), rest[j]);
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            add_rest(c[j], rest[j]);
    }
    __device__ void results(const SpeckleArgs& args, float (&out)[kColumns]) {
        const Windows<R, Sums> windows(c);
        Moments m[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            m[j] = moments<R>(windows.w[j]);
            lowest = min(lowest, __float_as_int(m[j].d));
        }
        results_of(m, args.form, args.coefficient, out);
    }
    /// Calls write(image, out) for every image.
    template <class F> __device__ void images(const ContrastFinish& finish, F&& write) {
        constexpr double n = (2 * R + 1) * (2 * R + 1);
        const Windows<R, Sums> windows(c);
        Moments m[kColumns];
        WindowSums sums[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            m[j] = moments<R>(windows.w[j]);
            sums[j] = finish.corrects ? corrected(finish, n, exact_sums<R>(windows.w[j]))
                                      : WindowSums{m[j].s, m[j].d};
        }
#pragma unroll 1
        for (int i = 0; i < finish.count; ++i) {
            const ContrastForm form = finish.images[i].form;
            const double coefficient = finish.images[i].c;
            float out[kColumns];
            if (!finish.corrects && is_direct(form)) {
                results_of(m, form, static_cast<float>(coefficient), out);
            } else {
#pragma unroll
                for (int j = 0; j < kColumns; ++j)
                    out[j] = finished(finish, form, coefficient, n, sums[j]);
            }
            write(i, out);
        }
    }
};

/// Column sums of f32 samples, in f64. Non-finite samples are counted separately, so that only their windows
/// become NaN. When a sample leaves that is much larger than the rest, the column is summed again, to recover
/// the lost digits.
template <int R> struct Columns<float, R> {
    SumsReal c[kColumns] = {};
    unsigned bad[kColumns] = {};
    int lowest = 1;

    template <class Reader> __device__ void replace_row(const Quad<float>& enter, const Quad<float>& leave,
                                                        const Reader& reader, int newest) {
        unsigned dwarfed = 0; // one bit per column
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const float e = enter.get(j);
            const float l = leave.get(j);
            const bool e_good = isfinite(e);
            const bool l_good = isfinite(l);
            const double ed = e_good ? static_cast<double>(e) : 0.0;
            const double ld = l_good ? static_cast<double>(l) : 0.0;
            bad[j] += (e_good ? 0U : 1U) - (l_good ? 0U : 1U);
            c[j].s += ed - ld;
            c[j].q = fma(ed, ed, fma(-ld, ld, c[j].q));
            dwarfed |= (ld * ld > kDwarfs * c[j].q ? 1U : 0U) << j;
        }
        if (dwarfed != 0)
            resum(reader, dwarfed, newest);
    }
    template <int Rows, class Reader>
    __device__ void enter_rows(const Quad<float> (&rows)[Rows], const Reader& reader, int first) {
#pragma unroll
        for (int i = 0; i < Rows; ++i)
            replace_row(rows[i], Quad<float>{}, reader, first + i);
    }
    __device__ void results(const SpeckleArgs& args, float (&out)[kColumns]) {
        constexpr double n = (2 * R + 1) * (2 * R + 1);
        const Windows<R, SumsReal> windows(c);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const WindowSums sums = window_sums(windows.w[j], n);
            lowest = sums.d == 0 || sums.s <= 0 ? 0 : lowest;
            out[j] = real_result(sums, args.form, args.coefficient);
        }
        if (__any_sync(kAllLanes, (bad[0] | bad[1] | bad[2] | bad[3]) != 0)) {
            const Windows<R, unsigned> holes(bad);
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (holes.w[j] != 0) {
                    out[j] = __int_as_float(0x7fffffff);
                    lowest = 0;
                }
        }
    }

    template <class F> __device__ void images(const ContrastFinish& finish, F&& write) {
        constexpr double n = (2 * R + 1) * (2 * R + 1);
        const Windows<R, SumsReal> windows(c);
        const Windows<R, unsigned> holes(bad);
        WindowSums sums[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            sums[j] = window_sums(windows.w[j], n);
            if (finish.corrects)
                sums[j] = corrected(finish, n, sums[j]);
            if (holes.w[j] != 0)
                sums[j] = {static_cast<double>(NAN), static_cast<double>(NAN)};
        }
#pragma unroll 1
        for (int i = 0; i < finish.count; ++i) {
            const ContrastForm form = finish.images[i].form;
            const double coefficient = finish.images[i].c;
            const bool direct = !finish.corrects && is_direct(form);
            float out[kColumns];
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                out[j] = direct ? real_result(sums[j], form, static_cast<float>(coefficient))
                                : finished(finish, form, coefficient, n, sums[j]);
            write(i, out);
        }
    }

private:
    __device__ static WindowSums window_sums(const SumsReal& window, double n) {
        const double nq = n * window.q;
        const double d = fma(-window.s, window.s, nq);
        return {window.s, d > kNothing * nq ? d : 0};
    }

    static constexpr double kDwarfs = 256;
    /// D below this fraction of N·ΣI² (contrast below 5e-7, a few units in the last place of f32 samples) is
    /// rounding.
    static constexpr double kNothing = 1.0 / (std::uint64_t{1} << 42);

    /// Rare: one copy of the loop for all columns.
    template <class Reader> __device__ void resum(const Reader& reader, unsigned dwarfed, int newest) {
#pragma unroll 1
        for (int column = 0; column < kColumns; ++column) {
            if ((dwarfed >> column & 1U) == 0)
                continue;
            SumsReal sum{};
#pragma unroll 1
            for (int y = newest - 2 * R; y <= newest; ++y) {
                const float v = reader.sample(y, column);
                const double d = isfinite(v) ? static_cast<double>(v) : 0.0;
                sum.s += d;
                sum.q = fma(d, d, sum.q);
            }
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (j == column)
                    c[j] = sum;
        }
    }
};

} // namespace specklescope::cuda
