// Speckle contrast of u8 and u16, exact: running sums down the columns, prefix sums along the row, so that
// the cost does not depend on the radius. Only the last division is floating point.
#if defined(SPECKLESCOPE_SPECKLE_INTEGER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_INTEGER_INL
#undef SPECKLESCOPE_SPECKLE_INTEGER_INL
#else
#define SPECKLESCOPE_SPECKLE_INTEGER_INL
#endif

#include <hwy/highway.h>

#include "stages/speckle_columns.hpp"
#include "stages/speckle_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The value at S = ΣI and D = N·Q − S², in f32 lanes. IEEE division gives 0/0 = NaN and S²/0 = +∞ by itself.
template <SpeckleParams::Output kOutput, class V> HWY_INLINE V speckle_value(V sum, V determinant, V scale) {
    using Output = SpeckleParams::Output;
    if constexpr (kOutput == Output::sfi || kOutput == Output::bfi)
        return hn::Div(hn::Mul(hn::Mul(sum, scale), sum), determinant);
    const V squared = hn::Div(hn::Mul(determinant, scale), hn::Mul(sum, sum));
    return kOutput == Output::contrast ? hn::Sqrt(squared) : squared;
}

/// T: pixels; Square: sums of squares, u32 (narrow sums) or u64 (wide sums).
template <class T, class Square> class IntegerTile {
    static constexpr bool kWide = sizeof(Square) == 8;
    using Sum = std::uint32_t;
    using D32 = hn::ScalableTag<Sum>;
    using DF = hn::Rebind<float, D32>;
    using DFHalf = hn::Half<DF>;
    using D64 = hn::Rebind<double, DFHalf>;
    using DU64 = hn::Rebind<std::uint64_t, D64>;
    using DI32 = hn::Rebind<std::int32_t, D32>;
    using DI32Half = hn::Half<DI32>;
    using DU32Half = hn::Half<D32>;
    using DSquare = std::conditional_t<kWide, DU64, D32>;
    using V32 = hn::Vec<D32>;
    using VSquare = hn::Vec<DSquare>;
    static constexpr std::size_t kLanes = hn::MaxLanes(D32());
    static constexpr std::size_t kSquareLanes = hn::MaxLanes(DSquare());

public:
    IntegerTile(const SpeckleTile& tile, std::byte* scratch)
        : tile_(tile), columns_(tile), input_(tile.input.as<const T>()), window_(2 * tile.params.radius + 1),
          reference_(kWide ? 0 : tile.reference) {
        const std::size_t count = TileColumns::buffer_columns(tile.params.radius, tile.x1 - tile.x0);
        ScratchCutter cut(scratch);
        sums_ = start(cut.take<Sum>(count), count);
        squares_ = start(cut.take<Square>(count), count);
        sum_prefix_ = start(cut.take<Sum>(count), count);
        square_prefix_ = start(cut.take<Square>(count), count);
        const auto width = static_cast<std::size_t>(input_.width);
        zeros_ = cut.take<T>(width);
        references_ = cut.take<T>(width);
        std::fill_n(zeros_, width, T{0});
        std::fill_n(references_, width, static_cast<T>(reference_));
    }

    void run(PixelCounts& counts) {
        using Output = SpeckleParams::Output;
        switch (tile_.params.output) {
        case Output::sfi:
        case Output::bfi:
            return rows<Output::sfi>(counts);
        case Output::contrast:
            return rows<Output::contrast>(counts);
        case Output::contrast2:
        case Output::tau:
            return rows<Output::contrast2>(counts);
        }
    }

private:
    template <class U> static U* start(U* buffer, std::size_t count) {
        std::fill_n(buffer, count, U{0});
        return buffer + TileColumns::kLead;
    }

    const T* row_at(int y) const {
        const int row = border_index(y, input_.height, tile_.params.border);
        return row < 0 ? zeros_ : input_.row(row);
    }

    template <SpeckleParams::Output kOutput> void rows(PixelCounts& counts) {
        const int radius = tile_.params.radius;
        const int shift = tile_.params.border == SpeckleParams::Border::crop ? radius : 0;
        begin_zero_columns();
        // Replacing a row of the reference by the first rows adds them: the reference contributes nothing.
        for (int y = tile_.y0 + shift - radius; y < tile_.y0 + shift + radius; ++y)
            replace_row<false>(row_at(y), references_);
        const View<float> output = tile_.output.as<float>();
        for (int y = tile_.y0; y < tile_.y1; ++y) {
            const int centre = y + shift;
            replace_row<true>(row_at(centre + radius),
                              y == tile_.y0 ? references_ : row_at(centre - radius - 1));
            finish_row<kOutput>(output.row(y) + tile_.x0, counts);
        }
    }

    /// Border columns of zeros stay as they are for all rows.
    void begin_zero_columns() {
        if (tile_.params.border != SpeckleParams::Border::zero)
            return;
        const auto n = static_cast<Square>(window_);
        for_border([&](int index) {
            sums_[index] = static_cast<Sum>(0U - static_cast<Sum>(n) * reference_);
            squares_[index] = n * reference_ * reference_;
        });
    }

    template <class F> void for_border(F&& f) const {
        for (int i = -columns_.left; i < 0; ++i)
            f(i);
        for (int i = columns_.real; i < columns_.real + columns_.right; ++i)
            f(i);
    }

    /// Brings the column sums from one window row to the next; with kPrefix also their prefix sums along the
    /// row.
    template <bool kPrefix> void replace_row(const T* add, const T* sub) {
        add += columns_.first;
        sub += columns_.first;
        border_columns<kPrefix>(-columns_.left, 0, add, sub);
        const int whole = columns_.real / static_cast<int>(kLanes) * static_cast<int>(kLanes);
        replace_vectors<kPrefix>(add, sub, 0, whole);
        if (const int rest = columns_.real - whole; rest > 0) {
            HWY_ALIGN T add_rest[kLanes] = {};
            HWY_ALIGN T sub_rest[kLanes] = {};
            std::copy_n(add + whole, rest, add_rest);
            std::copy_n(sub + whole, rest, sub_rest);
            replace_vectors<kPrefix>(add_rest, sub_rest, whole, whole + 1);
        }
        border_columns<kPrefix>(columns_.real, columns_.real + columns_.right, add, sub);
    }

    template <bool kPrefix> void border_columns(int begin, int end, const T* add, const T* sub) {
        for (int i = begin; i < end; ++i) {
            if (const int from = columns_.source(i, tile_); from >= 0) {
                const Square difference = static_cast<Square>(add[from]) - sub[from];
                const Square total =
                    static_cast<Square>(add[from]) + sub[from] - 2 * static_cast<Square>(reference_);
                sums_[i] += static_cast<Sum>(difference);
                squares_[i] += difference * total;
            }
            if constexpr (kPrefix) {
                sum_prefix_[i] = sum_prefix_[i - 1] + sums_[i];
                square_prefix_[i] = square_prefix_[i - 1] + squares_[i];
            }
        }
    }

    /// Columns [begin, end), in whole vectors; add and sub point to the pixels of column `begin`.
    template <bool kPrefix> HWY_INLINE void replace_vectors(const T* add, const T* sub, int begin, int end) {
        const D32 d;
        const DSquare dq;
        const hn::Rebind<T, D32> dt;
        const Scan<D32> scan;
        const Scan<DSquare> scan_square;
        const V32 twice_reference = hn::Set(d, 2 * reference_);
        V32 sum_carry = hn::Set(d, sum_prefix_[begin - 1]);
        VSquare square_carry = hn::Set(dq, square_prefix_[begin - 1]);
        Sum* sums = sums_;
        Square* squares = squares_;
        Sum* sum_prefix = sum_prefix_;
        Square* square_prefix = square_prefix_;
        for (int i = begin; i < end; i += static_cast<int>(kLanes)) {
            const V32 a = hn::PromoteTo(d, hn::LoadU(dt, add + (i - begin)));
            const V32 b = hn::PromoteTo(d, hn::LoadU(dt, sub + (i - begin)));
            const V32 difference = hn::Sub(a, b);
            const V32 sum = hn::Add(hn::Load(d, sums + i), difference);
            hn::Store(sum, d, sums + i);
            if constexpr (kPrefix) {
                const V32 local = scan(sum);
                hn::Store(hn::Add(local, sum_carry), d, sum_prefix + i);
                sum_carry = hn::Add(sum_carry, scan.broadcast_last(local));
            }
            const auto put_squares = [&](int at, VSquare change) HWY_ATTR {
                const VSquare square = hn::Add(hn::Load(dq, squares + at), change);
                hn::Store(square, dq, squares + at);
                if constexpr (kPrefix) {
                    const VSquare local = scan_square(square);
                    hn::Store(hn::Add(local, square_carry), dq, square_prefix + at);
                    square_carry = hn::Add(square_carry, scan_square.broadcast_last(local));
                }
            };
            if constexpr (kWide) {
                const V32 aa = hn::Mul(a, a);
                const V32 bb = hn::Mul(b, b);
                const DU32Half half;
                put_squares(i, hn::Sub(hn::PromoteTo(dq, hn::LowerHalf(half, aa)),
                                       hn::PromoteTo(dq, hn::LowerHalf(half, bb))));
                if constexpr (kLanes > kSquareLanes)
                    put_squares(i + static_cast<int>(kSquareLanes),
                                hn::Sub(hn::PromoteTo(dq, upper_half(half, aa)),
                                        hn::PromoteTo(dq, upper_half(half, bb))));
            } else {
                put_squares(i, hn::Mul(difference, hn::Sub(hn::Add(a, b), twice_reference)));
            }
        }
    }

    HWY_INLINE hn::Vec<DF> determinant(int at, V32 sum) const {
        if constexpr (kWide)
            return wide_determinant(at, sum);
        else
            return narrow_determinant(at, sum);
    }

#if HWY_NATIVE_FMA
    /// In f32, where fused products make it exact: |S| < 2²¹ is (narrow sums), p + e = S², Q = 4096·a + b,
    /// and
    ///   D = (4096·N·a − p) + (N·b − e).
    /// The brackets are whole numbers: exact below 2²⁴, and where they are larger so is D: no cancellation.
    HWY_INLINE hn::Vec<DF> narrow_determinant(int at, V32 sum) const {
        const DF df;
        const D32 d;
        const DI32 di;
        const float n = static_cast<float>(window_) * static_cast<float>(window_);
        const auto s = hn::ConvertTo(df, hn::BitCast(di, sum));
        const auto p = hn::Mul(s, s);
        const auto e = hn::MulSub(s, s, p);
        const V32 q = hn::Sub(hn::LoadU(d, square_prefix_ + at + window_), hn::LoadU(d, square_prefix_ + at));
        const auto high = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<12>(q)));
        const auto low = hn::ConvertTo(df, hn::BitCast(di, hn::And(q, hn::Set(d, 4095U))));
        return hn::Add(hn::MulSub(high, hn::Set(df, 4096 * n), p), hn::MulSub(low, hn::Set(df, n), e));
    }
#else
    HWY_INLINE hn::Vec<DF> narrow_determinant(int at, V32 sum) const { return wide_determinant(at, sum); }
#endif

    HWY_INLINE hn::Vec<DF> wide_determinant(int at, V32 sum) const {
        const DI32Half half;
        const auto s = hn::BitCast(DI32(), sum);
        const int second = at + static_cast<int>(hn::MaxLanes(D64()));
        const auto upper = narrow_floats(DFHalf(), determinant_half(second, upper_half(half, s)));
        const auto lower = narrow_floats(DFHalf(), determinant_half(at, hn::LowerHalf(half, s)));
        return combine(DF(), upper, lower);
    }

    template <class V> HWY_INLINE static hn::Vec<DU64> as_u64(V v) {
        if constexpr (kWide)
            return v;
        else
            return hn::PromoteTo(DU64(), v);
    }

    /// D of half a vector, exact in double: everything stays under 2⁵³.
    HWY_INLINE hn::Vec<D64> determinant_half(int at, hn::Vec<DI32Half> sum) const {
        const hn::Rebind<Square, D64> dq;
        const DU64 du;
        const D64 d;
        const auto q =
            hn::Sub(hn::LoadU(dq, square_prefix_ + at + window_), hn::LoadU(dq, square_prefix_ + at));
        // A whole number under 2⁵² to double: as the fraction of 2⁵².
        const auto biased = hn::BitCast(d, hn::Or(as_u64(q), hn::Set(du, std::uint64_t{0x433} << 52)));
        const auto squares = hn::Sub(biased, hn::Set(d, 0x1p52));
        const auto n = hn::Set(d, static_cast<double>(window_) * window_);
        const auto s = hn::PromoteTo(d, sum);
        return hn::MulSub(squares, n, hn::Mul(s, s));
    }

    template <SpeckleParams::Output kOutput>
    HWY_INLINE void finish_row(float* output, PixelCounts& counts) const {
        const D32 d;
        const DF df;
        const int width = tile_.x1 - tile_.x0;
        const int before = -columns_.left - 1; // the window of output i is the columns after before + i
        const auto scale = hn::Set(df, static_cast<float>(tile_.scale));
        const V32 offset = hn::Set(d, static_cast<Sum>(window_) * static_cast<Sum>(window_) * reference_);
        const auto value = [&](int i) HWY_ATTR {
            const int at = before + i;
            const V32 sum = hn::Sub(hn::LoadU(d, sum_prefix_ + at + window_), hn::LoadU(d, sum_prefix_ + at));
            const auto intensity = hn::ConvertTo(df, hn::BitCast(DI32(), hn::Add(sum, offset)));
            return speckle_value<kOutput>(intensity, determinant(at, sum), scale);
        };
        V32 largest = hn::Zero(d); // as bits: NaN and ∞ are above every finite value
        int i = 0;
        for (; i + static_cast<int>(kLanes) <= width; i += static_cast<int>(kLanes)) {
            const auto v = value(i);
            largest = hn::Max(largest, hn::BitCast(d, v));
            hn::StoreU(v, df, output + i);
        }
        if (i < width) {
            HWY_ALIGN float rest[kLanes];
            hn::Store(value(i), df, rest);
            std::copy_n(rest, width - i, output + i);
            count_non_finite({output + i, static_cast<std::size_t>(width - i)}, counts);
        }
        if (!hn::AllTrue(d, hn::Lt(largest, hn::Set(d, 0x7f800000U))))
            count_non_finite({output, static_cast<std::size_t>(i)}, counts);
    }

    const SpeckleTile& tile_;
    TileColumns columns_;
    View<const T> input_;
    int window_;
    Sum reference_;
    Sum* sums_ = nullptr; ///< of a column over the window's rows; index 0 is the first real column
    Square* squares_ = nullptr;
    Sum* sum_prefix_ = nullptr; ///< of the columns up to and including the index
    Square* square_prefix_ = nullptr;
    T* zeros_ = nullptr;
    T* references_ = nullptr;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
