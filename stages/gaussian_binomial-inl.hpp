// A slab of the binomial 3×3 and 5×5 blur of u8 by shifts and additions of 16-bit integers, exact up to the
// one rounding: sums reach 255·256.
#if defined(SPECKLESCOPE_GAUSSIAN_BINOMIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_BINOMIAL_INL
#undef SPECKLESCOPE_GAUSSIAN_BINOMIAL_INL
#else
#define SPECKLESCOPE_GAUSSIAN_BINOMIAL_INL
#endif

#include <hwy/highway.h>

#include "stages/gaussian_layout.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

class BinomialSlab {
    using Byte = std::uint8_t;
    using Sum = std::uint16_t;
    using D = hn::ScalableTag<Sum>;
    using DB = hn::Rebind<Byte, D>;
    using V = hn::Vec<D>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

public:
    BinomialSlab(const GaussianSlab& slab, std::byte* scratch)
        : slab_(slab), layout_(slab.input.shape, slab.radius), sums_(reinterpret_cast<Sum*>(scratch)),
          zeros_(reinterpret_cast<const Byte*>(scratch + layout_.slab_bytes())),
          rows_(reinterpret_cast<const Byte**>(scratch + layout_.slab_bytes() + layout_.zero_bytes())),
          width_(static_cast<int>(layout_.width)) {}

    void run(int y0, int y1) {
        find_rows(slab_, y0, y1, zeros_, rows_);
        Sum* row = sums_ + layout_.first(); // one row is enough
        for (int y = y0; y < y1; ++y) {
            Byte* output = slab_.output.as<Byte>().row(y);
            const Byte* const* rows = rows_ + (y - y0);
            if (slab_.radius == 1) {
                sum_rows<1>(rows, row);
                fill_sides(slab_, row);
                sum_along<1>(row, output);
            } else {
                sum_rows<2>(rows, row);
                fill_sides(slab_, row);
                sum_along<2>(row, output);
            }
        }
    }

private:
    /// [1 2 1] or [1 4 6 4 1] by at(0) … at(2·kRadius).
    template <int kRadius, class F> static HWY_INLINE V binomial(F&& at) {
        if constexpr (kRadius == 1) {
            const V middle = at(1);
            return hn::Add(hn::Add(at(0), at(2)), hn::Add(middle, middle));
        } else {
            const V middle = at(2);
            const V near = hn::Add(hn::Add(at(1), at(3)), middle);
            return hn::Add(hn::Add(hn::Add(at(0), at(4)), hn::ShiftLeft<2>(near)), hn::Add(middle, middle));
        }
    }

    template <int kRadius> void sum_rows(const Byte* const* rows, Sum* sums) const {
        const D d;
        const auto block = [&](int x) HWY_ATTR {
            hn::StoreU(binomial<kRadius>(
                           [&](int i) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(DB(), rows[i] + x)); }),
                       d, sums + x);
        };
        int x = 0;
        for (; x + kLanes <= width_; x += kLanes)
            block(x);
        if (x == width_)
            return;
        if (width_ >= kLanes)
            return block(width_ - kLanes);
        for (; x < width_; ++x) {
            int sum = kRadius == 1 ? 2 * rows[1][x] : 4 * (rows[1][x] + rows[3][x]) + 6 * rows[2][x];
            sum += rows[0][x] + rows[2 * kRadius][x];
            sums[x] = static_cast<Sum>(sum);
        }
    }

    template <int kRadius> void sum_along(const Sum* row, Byte* output) const {
        const int channels = slab_.input.shape.channels;
        const int count = slab_.output.shape.width * channels;
        if (slab_.border != Border::crop)
            row -= layout_.margin;
        const auto block = [&](int x) HWY_ATTR {
            const D d;
            const V sum =
                binomial<kRadius>([&](int i) HWY_ATTR { return hn::LoadU(d, row + x + i * channels); });
            return hn::DemoteTo(DB(), hn::BitCast(hn::RebindToSigned<D>(), rounded<4 * kRadius>(sum)));
        };
        int x = 0;
        for (; x + kLanes <= count; x += kLanes)
            hn::StoreU(block(x), DB(), output + x);
        if (x < count) {
            HWY_ALIGN Byte rest[kLanes];
            hn::StoreU(block(x), DB(), rest);
            std::copy_n(rest, count - x, output + x);
        }
    }

    /// v/2^kBits to nearest, ties to even.
    template <int kBits> static HWY_INLINE V rounded(V v) {
        const D d;
        const V odd = hn::And(hn::ShiftRight<kBits>(v), hn::Set(d, Sum{1}));
        return hn::ShiftRight<kBits>(hn::Add(v, hn::Add(odd, hn::Set(d, Sum{(1 << (kBits - 1)) - 1}))));
    }

    const GaussianSlab& slab_;
    SlabLayout layout_;
    Sum* sums_;
    const Byte* zeros_;
    const Byte** rows_;
    int width_;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
