// Blur of a slab in f32, for any taps, pixel type and border.
#if defined(SPECKLESCOPE_GAUSSIAN_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_REAL_INL
#undef SPECKLESCOPE_GAUSSIAN_REAL_INL
#else
#define SPECKLESCOPE_GAUSSIAN_REAL_INL
#endif

#include <hwy/highway.h>

#include "stages/gaussian/gaussian_slab.hpp"
#include "stages/gaussian/simd/gaussian_pixels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> class RealSlab {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    static constexpr int kManyRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4; ///< for 32 or 16 registers

public:
    RealSlab(const GaussianSlab& slab, std::byte* scratch)
        : slab_(slab), layout_(slab.input.shape, slab.radius), sums_(reinterpret_cast<float*>(scratch)),
          zeros_(reinterpret_cast<const T*>(scratch + layout_.slab_bytes())),
          rows_(reinterpret_cast<const T**>(scratch + layout_.slab_bytes() + layout_.zero_bytes())),
          width_(static_cast<int>(layout_.width)) {}

    void run(int y0, int y1) {
        find_rows(slab_, y0, y1, zeros_, rows_);
        for (int x = 0; x < width_; x += kTile)
            sum_columns(y1 - y0, x, std::min(width_, x + kTile));
        for (int y = y0; y < y1; ++y) {
            float* row = image_row(y - y0);
            if (slab_.row_scale)
                scale(row, slab_.row_scale[y]);
            fill_sides(slab_, row);
            sum_along(row, slab_.output.as<T>().row(y));
        }
    }

private:
    /// Columns of input rows that stay in the L2 cache. Measured: docs/performance.md, Constants.
    static constexpr int kTile = 512;

    float* image_row(int y) const {
        return sums_ + static_cast<std::size_t>(y) * layout_.stride + layout_.first();
    }

    /// Sums along the columns [x0, x1): `count` rows of sums.
    void sum_columns(int count, int x0, int x1) {
        int y = 0;
        if (slab_.radius >= kManyRows / 2)
            for (; y + kManyRows <= count; y += kManyRows)
                sum_rows<kManyRows>(y, x0, x1);
        if (slab_.radius >= 2)
            for (; y + 4 <= count; y += 4)
                sum_rows<4>(y, x0, x1);
        for (; y + 2 <= count; y += 2)
            sum_rows<2>(y, x0, x1);
        for (; y < count; ++y)
            sum_rows<1>(y, x0, x1);
    }

    /// kRows rows of sums from `y` on, reading each input sample once for all of them. radius ≥ kRows/2.
    template <int kRows> void sum_rows(int y, int x0, int x1) {
        int x = x0;
        for (; x + 2 * kLanes <= x1; x += 2 * kLanes)
            sum_block<kRows, 2>(y, x);
        for (; x + kLanes <= x1; x += kLanes)
            sum_block<kRows, 1>(y, x);
        if (x == x1)
            return;
        if (width_ >= kLanes) // the last vector overlaps, to end with the row
            return sum_block<kRows, 1>(y, x1 - kLanes);
        for (; x < x1; ++x)
            for (int k = 0; k < kRows; ++k) {
                float sum = 0;
                for (int t = 0; t <= 2 * slab_.radius; ++t)
                    sum += slab_.taps[t] * static_cast<float>(rows_[y + k + t][x]);
                image_row(y + k)[x] = sum;
            }
    }

    template <int kRows, int kVectors> struct Block { V sum[kRows][kVectors]; };

    /// Adds input row j of the block, counted from the first output row's first tap, to output rows [kBegin,
    /// kEnd).
    template <int kBegin, int kEnd, int kRows, int kVectors>
    HWY_INLINE void add_row(Block<kRows, kVectors>& block, const T* row, int j) const {
        const D d;
        V value[kVectors];
        for (int v = 0; v < kVectors; ++v)
            value[v] = load_pixels(d, row + v * kLanes);
        for (int k = kBegin; k < kEnd; ++k) {
            const V tap = hn::Set(d, slab_.taps[j - k]);
            for (int v = 0; v < kVectors; ++v)
                block.sum[k][v] = hn::MulAdd(tap, value[v], block.sum[k][v]);
        }
    }

    template <int kRows, int kVectors> HWY_INLINE void sum_block(int y, int x) {
        const D d;
        const T* const* rows = rows_ + y;
        const int last = 2 * slab_.radius;
        Block<kRows, kVectors> block;
        for (int k = 0; k < kRows; ++k)
            for (int v = 0; v < kVectors; ++v)
                block.sum[k][v] = hn::Zero(d);
        // Row counts at the block's ends are constants, so that the sums stay in registers.
        [&]<int... kHead>(std::integer_sequence<int, kHead...>) {
            (add_row<0, kHead + 1>(block, rows[kHead] + x, kHead), ...);
        }
        (std::make_integer_sequence<int, kRows - 1>());
        for (int j = kRows - 1; j <= last; ++j)
            add_row<0, kRows>(block, rows[j] + x, j);
        [&]<int... kTail>(std::integer_sequence<int, kTail...>) {
            (add_row<kTail + 1, kRows>(block, rows[last + 1 + kTail] + x, last + 1 + kTail), ...);
        }
        (std::make_integer_sequence<int, kRows - 1>());
        for (int k = 0; k < kRows; ++k)
            for (int v = 0; v < kVectors; ++v)
                hn::StoreU(block.sum[k][v], d, image_row(y + k) + x + v * kLanes);
    }

    void scale(float* row, float factor) const {
        for (int x = 0; x < width_; ++x)
            row[x] *= factor;
    }

    void sum_along(const float* row, T* output) const {
        const int count = slab_.output.shape.width * slab_.output.shape.channels;
        if (slab_.border != Border::crop)
            row -= layout_.margin;
        int x = 0;
        for (; x + 8 * kLanes <= count; x += 8 * kLanes)
            sum_span<8>(row, x, output, 8 * kLanes);
        for (; x < count; x += kLanes)
            sum_span<1>(row, x, output, std::min(kLanes, count - x));
    }

    /// `count` results from x on, in kVectors vectors.
    template <int kVectors> HWY_INLINE void sum_span(const float* row, int x, T* output, int count) const {
        const D d;
        const int channels = slab_.input.shape.channels;
        V sum[kVectors];
        for (int v = 0; v < kVectors; ++v)
            sum[v] = hn::Zero(d);
        const float* from = row + x;
        for (int t = 0; t <= 2 * slab_.radius; ++t, from += channels) {
            const V tap = hn::Set(d, slab_.taps[t]);
            for (int v = 0; v < kVectors; ++v)
                sum[v] = hn::MulAdd(tap, hn::LoadU(d, from + v * kLanes), sum[v]);
        }
        for (int v = 0; v < kVectors; ++v) {
            const int at = x + v * kLanes;
            const int n = std::min(kLanes, count - v * kLanes);
            if (slab_.column_scale)
                sum[v] = hn::Mul(sum[v], load_some(d, slab_.column_scale + at, n));
            if (n == kLanes)
                store_pixels(d, sum[v], output + at);
            else
                store_some(d, sum[v], output + at, n);
        }
    }

    const GaussianSlab& slab_;
    SlabLayout layout_;
    float* sums_;
    const T* zeros_;
    const T** rows_;
    int width_; ///< samples of a row
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
