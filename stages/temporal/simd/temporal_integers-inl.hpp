// Sums of integers of the pixels of a row: a sample enters, one leaves; ΣI and ΣI².
#if defined(SPECKLESCOPE_TEMPORAL_INTEGERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_TEMPORAL_INTEGERS_INL
#undef SPECKLESCOPE_TEMPORAL_INTEGERS_INL
#else
#define SPECKLESCOPE_TEMPORAL_INTEGERS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/temporal/simd/temporal_row.hpp"

#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

/// ΣI and ΣI² of a pixel; n·q and s² fit into Number.
template <class Number> struct PixelSums { Number s, q; };

/// Exact below 2⁵²; unlike a cast it is a vector instruction on every target.
HWY_INLINE double whole_number(std::uint64_t value) {
    return std::bit_cast<double>(value | 0x4330000000000000U) - 4503599627370496.0;
}

struct NarrowSums {
    using Number = std::int32_t;
    std::uint32_t* sums;
    Number n;

    explicit NarrowSums(const TemporalRow& row) : sums(row.narrow), n(row.step.held) {}
    void prefetch(int x) const { hwy::Prefetch(sums + x); }
    void clear(int width) const { std::fill_n(sums, width, 0U); }
    void add(int x, std::uint32_t sample) const { sums[x] += narrow_sample(sample); }
    void replace(int x, std::uint32_t enter, std::uint32_t leave) const {
        sums[x] += narrow_sample(enter) - narrow_sample(leave);
    }
    PixelSums<Number> at(int x) const {
        const Number moved = static_cast<Number>(sums[x]) >> kNarrowBits;
        const auto q = static_cast<Number>(sums[x] & ((1U << kNarrowBits) - 1));
        const Number s = moved + n * kNarrowOrigin;
        return {s, q + (s + moved) * kNarrowOrigin};
    }
};

struct PackedSums {
    using Number = double;
    std::uint64_t* sums;
    Number n;

    explicit PackedSums(const TemporalRow& row) : sums(row.packed), n(row.step.held) {}
    void prefetch(int x) const { hwy::Prefetch(sums + x); }
    void clear(int width) const { std::fill_n(sums, width, std::uint64_t{0}); }
    void add(int x, std::uint32_t sample) const { sums[x] += packed_sample(sample); }
    void replace(int x, std::uint32_t enter, std::uint32_t leave) const {
        sums[x] += (std::uint64_t{enter - leave} << 40) + (std::uint64_t{enter * enter} - leave * leave);
    }
    PixelSums<Number> at(int x) const {
        return {whole_number(sums[x] >> 40), whole_number(sums[x] & ((std::uint64_t{1} << 40) - 1))};
    }
};

struct WideSums {
    using Number = double;
    std::uint64_t* squares;
    std::uint32_t* sums;
    Number n;

    explicit WideSums(const TemporalRow& row) : squares(row.packed), sums(row.wide), n(row.step.held) {}
    void prefetch(int x) const {
        hwy::Prefetch(squares + x);
        hwy::Prefetch(sums + x);
    }
    void clear(int width) const {
        std::fill_n(squares, width, std::uint64_t{0});
        std::fill_n(sums, width, 0U);
    }
    void add(int x, std::uint32_t sample) const { replace(x, sample, 0); }
    void replace(int x, std::uint32_t enter, std::uint32_t leave) const {
        squares[x] += std::uint64_t{enter * enter} - leave * leave;
        sums[x] += enter - leave;
    }
    PixelSums<Number> at(int x) const {
        return {static_cast<double>(static_cast<std::int32_t>(sums[x])), whole_number(squares[x])};
    }
};

/// Calls f with the row's kind of sums.
template <class F> HWY_INLINE void with_integer_sums(const TemporalRow& row, F&& f) {
    if (row.narrow)
        f(NarrowSums(row));
    else if (row.wide)
        f(WideSums(row));
    else
        f(PackedSums(row));
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
