// Blur of a u8 slab in 16-bit integers: the binomial kernels exactly, other taps in fixed point.
#if defined(SPECKLESCOPE_GAUSSIAN_BYTES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_BYTES_INL
#undef SPECKLESCOPE_GAUSSIAN_BYTES_INL
#else
#define SPECKLESCOPE_GAUSSIAN_BYTES_INL
#endif

#include <hwy/highway.h>

#include "stages/gaussian/gaussian_slab.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using ByteSum = hn::ScalableTag<std::uint16_t>;
using ByteSums = hn::Vec<ByteSum>;

/// [1 2 1] or [1 4 6 4 1] by shifts and additions: sums are at most 255·256.
template <int kRadius> struct BinomialTaps {
    static constexpr int radius() { return kRadius; }

    template <class F> HWY_INLINE ByteSums down(F&& at) const {
        if constexpr (kRadius == 1) {
            const ByteSums middle = at(1);
            return hn::Add(hn::Add(at(0), at(2)), hn::Add(middle, middle));
        } else {
            const ByteSums middle = at(2);
            const ByteSums near = hn::Add(hn::Add(at(1), at(3)), middle);
            return hn::Add(hn::Add(hn::Add(at(0), at(4)), hn::ShiftLeft<2>(near)), hn::Add(middle, middle));
        }
    }
    template <class F> HWY_INLINE ByteSums along(F&& at) const { return down(at); }

    /// To nearest, ties to even.
    static HWY_INLINE ByteSums rounded(ByteSums sum) {
        const ByteSum d;
        constexpr int kBits = 4 * kRadius;
        const ByteSums odd = hn::And(hn::ShiftRight<kBits>(sum), hn::Set(d, std::uint16_t{1}));
        const ByteSums half = hn::Set(d, std::uint16_t{(1 << (kBits - 1)) - 1});
        return hn::ShiftRight<kBits>(hn::Add(sum, hn::Add(odd, half)));
    }
};

/// Symmetric taps in 15 bits; between and after the passes sums are in units of 1/64. Each product is
/// rounded: with 12 taps on each side, including the weights' rounding, a result is off by less than 0.31
/// before the final rounding, typically by 0.03.
class FixedTaps {
    using Signed = hn::RebindToSigned<ByteSum>;
    static constexpr int kFraction = 6;

public:
    explicit FixedTaps(const GaussianSlab& slab) : radius_(slab.radius), weights_(slab.fixed) {}
    int radius() const { return radius_; }

    template <class F> HWY_INLINE ByteSums down(F&& at) const {
        return sum([&](int i) HWY_ATTR { return at(i); },
                   [](ByteSums v) HWY_ATTR { return hn::ShiftLeft<kFraction>(v); });
    }
    template <class F> HWY_INLINE ByteSums along(F&& at) const {
        return sum(at, [](ByteSums v) HWY_ATTR { return v; });
    }

    static HWY_INLINE ByteSums rounded(ByteSums sum) {
        return hn::ShiftRight<kFraction>(
            hn::Add(sum, hn::Set(ByteSum(), std::uint16_t{1 << (kFraction - 1)})));
    }

private:
    /// Pairs of samples are at most 2·255·64, which fits 15 bits.
    template <class At, class Scale> HWY_INLINE ByteSums sum(At&& at, Scale&& scale) const {
        const Signed d;
        const auto product = [&](ByteSums v, int i) HWY_ATTR {
            return hn::MulFixedPoint15(hn::BitCast(d, scale(v)), hn::Set(d, weights_[i]));
        };
        auto result = product(at(radius_), 0);
        for (int i = 1; i <= radius_; ++i)
            result = hn::Add(result, product(hn::Add(at(radius_ - i), at(radius_ + i)), i));
        return hn::BitCast(ByteSum(), result);
    }

    int radius_;
    const std::int16_t* weights_;
};

template <class Taps> class ByteSlab {
    using Byte = std::uint8_t;
    using Sum = std::uint16_t;
    using Bytes = hn::Rebind<Byte, ByteSum>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(ByteSum()));

public:
    ByteSlab(const GaussianSlab& slab, const Taps& taps, std::byte* scratch)
        : slab_(slab), taps_(taps), layout_(slab.input.shape, slab.radius),
          sums_(reinterpret_cast<Sum*>(scratch) + layout_.first()),
          zeros_(reinterpret_cast<const Byte*>(scratch + layout_.slab_bytes())),
          rows_(reinterpret_cast<const Byte**>(scratch + layout_.slab_bytes() + layout_.zero_bytes())),
          width_(static_cast<int>(layout_.width)) {}

    void run(int y0, int y1) {
        find_rows(slab_, y0, y1, zeros_, rows_);
        for (int y = y0; y < y1; ++y) { // one row of sums is enough
            sum_columns(rows_ + (y - y0));
            fill_sides(slab_, sums_);
            sum_along(slab_.output.as<Byte>().row(y));
        }
    }

private:
    void sum_columns(const Byte* const* rows) const {
        const ByteSum d;
        const auto block = [&](int x) HWY_ATTR {
            const auto at = [&](int i) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(Bytes(), rows[i] + x)); };
            hn::StoreU(taps_.down(at), d, sums_ + x);
        };
        int x = 0;
        for (; x + kLanes <= width_; x += kLanes)
            block(x);
        if (x == width_)
            return;
        if (width_ >= kLanes) // the last vector overlaps, to end with the row
            return block(width_ - kLanes);
        const auto at = [&](int i) HWY_ATTR {
            HWY_ALIGN Byte row[kLanes] = {};
            std::copy_n(rows[i], width_, row);
            return hn::PromoteTo(d, hn::Load(Bytes(), row));
        };
        hn::StoreU(taps_.down(at), d, sums_);
    }

    void sum_along(Byte* output) const {
        const int channels = slab_.input.shape.channels;
        const int count = slab_.output.shape.width * channels;
        const Sum* row = slab_.border == Border::crop ? sums_ : sums_ - layout_.margin;
        const auto block = [&](int x) HWY_ATTR {
            const ByteSum d;
            const auto at = [&](int i) HWY_ATTR { return hn::LoadU(d, row + x + i * channels); };
            const ByteSums result = Taps::rounded(taps_.along(at));
            return hn::DemoteTo(Bytes(), hn::BitCast(hn::RebindToSigned<ByteSum>(), result));
        };
        int x = 0;
        for (; x + kLanes <= count; x += kLanes)
            hn::StoreU(block(x), Bytes(), output + x);
        if (x < count) {
            HWY_ALIGN Byte rest[kLanes];
            hn::Store(block(x), Bytes(), rest);
            std::copy_n(rest, count - x, output + x);
        }
    }

    const GaussianSlab& slab_;
    Taps taps_;
    SlabLayout layout_;
    Sum* sums_; ///< first image sample in a row of column sums
    const Byte* zeros_;
    const Byte** rows_;
    int width_;
};

void RunBytes(const GaussianSlab& slab, int y0, int y1, std::byte* scratch) {
    if (slab.fixed)
        return ByteSlab(slab, FixedTaps(slab), scratch).run(y0, y1);
    if (slab.radius == 1)
        return ByteSlab(slab, BinomialTaps<1>(), scratch).run(y0, y1);
    ByteSlab(slab, BinomialTaps<2>(), scratch).run(y0, y1);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
