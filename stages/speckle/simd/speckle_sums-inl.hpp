// Contrast of f32 from running sums of samples and of their squares, for rows in which these are exact
// enough; speckle_real-inl.hpp computes the others. A tile is cut into four segments of columns, and a vector
// holds one column of each. Neighbours of a column are then in the next vector: windows are running sums
// along the segments, too, at nearly the same cost for every radius.
#if defined(SPECKLESCOPE_SPECKLE_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_SUMS_INL
#undef SPECKLESCOPE_SPECKLE_SUMS_INL
#else
#define SPECKLESCOPE_SPECKLE_SUMS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/speckle/simd/speckle_lanes-inl.hpp"

#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

class RealSums {
    static constexpr int kSegments = 4; // eight with AVX-512: 5 to 8 % faster, not worth the code
    using D = hn::CappedTag<double, kSegments>;
    using DF = hn::ScalableTag<float>;
    using DU = hn::RebindToUnsigned<DF>;
    using V = hn::Vec<D>;
    using VF = hn::Vec<DF>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    static constexpr int kFloats = static_cast<int>(hn::MaxLanes(DF()));
    static_assert(kFloats <= 16);

public:
    RealSums(const SpeckleTile& tile, const TileColumns& columns, ScratchCutter& cut)
        : tile_(tile), columns_(columns), window_(2 * tile.params.radius + 1),
          length_((tile.x1 - tile.x0 + kSegments - 1) / kSegments), all_(length_ + window_ - 1) {
        const int width = tile.x1 - tile.x0;
        for (int k = 0; k < kSegments; ++k) // the last ones overlap
            starts_[k] = std::min(k * length_, width - length_);
        const auto floats = static_cast<std::size_t>(kSegments * (all_ + kFloats));
        for (int k = 0; k <= window_; ++k)
            samples_[k] = cut.take<float>(floats);
        no_samples_ = cut.take<float>(floats);
        std::fill_n(no_samples_, floats, 0.0F);
        const std::size_t line = TileColumns::buffer_columns(tile.params.radius, width);
        line_ = cut.take<float>(line);
        std::fill_n(line_, line, 0.0F);
        sums_ = cut.take<double>(floats) + kSegments;
        squares_ = cut.take<double>(floats) + kSegments;
    }

    /// True if segments fill whole vectors. The limit is that of the widest instruction set, so that results
    /// do not depend on the processor.
    bool usable() const { return length_ >= 16; }
    /// Number of results in a row; overlapping segments repeat some.
    int count() const { return length_ * kSegments; }

    void clear() {
        rows_ = 0;
        largest_ = 0;
        for (double* sums : {sums_, squares_}) // and a column before the first
            std::fill_n(sums - kSegments, kSegments * (all_ + 1), 0.0);
    }

    /// Takes another row. From the (2·radius + 1)th on, s and d become S and D of its windows, in the order
    /// of segments. False if they are not exact enough.
    template <class Real> bool take(const float* row, const float* ahead, Real* s, Real* d) {
        float* const fresh = samples_[rows_ % (window_ + 1)];
        const float* const old = rows_ < window_ ? no_samples_ : samples_[(rows_ + 1) % (window_ + 1)];
        copy_to_line(row, ahead);
        interleave(fresh);
        const double most = window_ * window_ * static_cast<double>(std::bit_cast<float>(largest_));
        if (!(most <= kLargest)) // or NaN
            return false;
        ++rows_;
        bool exact = rows_ < window_ || most >= kSmallest;
        for (int v = 0; v < kSegments; v += kLanes)
            exact &= add_row(fresh + v, old + v, sums_ + v, squares_ + v, most, s + v, d + v);
        return exact;
    }

    /// Puts results into the order of columns.
    void deinterleave(const float* from, float* to) const {
        for (int j = 0; j < length_; j += kFloats) {
            const int at = std::min(j, length_ - kFloats);
            VF v[kSegments];
            hn::LoadInterleaved4(DF(), from + at * kSegments, v[0], v[1], v[2], v[3]);
            for (int k = 0; k < kSegments; ++k)
                hn::StoreU(v[k], DF(), to + starts_[k] + at);
        }
    }

private:
    /// Copies the tile's part of a row and completes the border.
    void copy_to_line(const float* row, const float* ahead) {
        float* const line = line_ + columns_.left;
        std::copy_n(row + columns_.first, columns_.real, line);
        for (int i = 0; i < columns_.real; i += 16) // a cache line
            hwy::Prefetch(ahead + columns_.first + i);
        columns_.for_border([&](int index) {
            const int from = columns_.source(index, tile_);
            line[index] = from < 0 ? 0 : line[from];
        });
    }

    /// Puts the line into the order of segments.
    void interleave(float* to) {
        auto largest = hn::Zero(DU()); // magnitude, as bits: those of ∞ and NaN are above all others
        for (int j = 0; j < all_; j += kFloats) {
            VF v[kSegments];
            for (int k = 0; k < kSegments; ++k) {
                v[k] = hn::LoadU(DF(), line_ + starts_[k] + j);
                largest = hn::Max(largest, hn::BitCast(DU(), hn::Abs(v[k])));
            }
            hn::StoreInterleaved4(v[0], v[1], v[2], v[3], DF(), to + j * kSegments);
        }
        largest_ = std::max(largest_, hn::GetLane(hn::MaxOfLanes(DU(), largest)));
    }

    /// Moves the sums of columns in some segments to the next row, and writes its results if it has any.
    /// False if they are not exact enough.
    template <class Real> bool add_row(const float* fresh, const float* old, double* sums, double* squares,
                                       double most, Real* to_s, Real* to_d) const {
        const D d;
        const hn::Rebind<float, D> df;
        const hn::Rebind<Real, D> dr;
        V s = hn::Zero(d), q = hn::Zero(d); // of the window
        const auto add = [&](std::ptrdiff_t at, V leaving_s, V leaving_q) HWY_ATTR {
            const V a = hn::PromoteTo(d, hn::LoadU(df, fresh + at));
            const V b = hn::PromoteTo(d, hn::LoadU(df, old + at));
            const V sum = hn::Add(hn::Load(d, sums + at), hn::Sub(a, b));
            const V square = hn::NegMulAdd(b, b, hn::MulAdd(a, a, hn::Load(d, squares + at)));
            hn::Store(sum, d, sums + at);
            hn::Store(square, d, squares + at);
            s = hn::Add(s, hn::Sub(sum, leaving_s));
            q = hn::Add(q, hn::Sub(square, leaving_q));
        };
        const std::ptrdiff_t results = rows_ < window_ ? 0 : kSegments * length_;
        const std::ptrdiff_t before = kSegments * all_ - results;
        for (std::ptrdiff_t at = 0; at < before; at += kSegments)
            add(at, hn::Zero(d), hn::Zero(d));
        const V n = hn::Set(d, static_cast<double>(window_) * window_);
        V least_s = hn::Set(d, kLargest), least_d = hn::Set(d, kLargest * kLargest);
        for (std::ptrdiff_t at = 0; at < results; at += kSegments) { // zeros leave before the first column
            add(before + at, hn::Load(d, sums + at - kSegments), hn::Load(d, squares + at - kSegments));
            const V det = hn::NegMulAdd(s, s, hn::Mul(q, n));
            least_s = hn::Min(least_s, s);
            least_d = hn::Min(least_d, det);
            hn::StoreU(narrow(dr, s), dr, to_s + at);
            hn::StoreU(narrow(dr, det), dr, to_d + at);
        }
        return hn::GetLane(hn::MinOfLanes(d, least_s)) >= kLeastS * most &&
               hn::GetLane(hn::MinOfLanes(d, least_d)) >= kLeastD * most * most;
    }
    static HWY_INLINE V narrow(D, V v) { return v; }
    static HWY_INLINE hn::Vec<hn::Rebind<float, D>> narrow(hn::Rebind<float, D> d, V v) {
        return narrow_floats(d, v);
    }

    // With L the largest magnitude, N·L = `most` and u = 2⁻⁵³, a sum of a column of m = 2·radius + 1 rows is
    // wrong by at most R·(m + 2)·u·L after R rows, one of squares by R·(2m + 1)·u·L². After J columns those
    // of a window are wrong by
    //   (1 + 2/m)·(R + J)·u·N·L   and   ((2 + 1/m)·R + (1 + 2/m)·J)·u·N·L²,
    // and D = N·Q − S² by N times the second, 2·N·L times the first, and 3u·(N·L)². R is at most 5m − 1
    // (speckle_chunk()), J 158: S is wrong by 332u·N·L, D by 1150u·(N·L)². Above these limits K is exact to
    // 10⁻⁷, before it is rounded to f32:
    static constexpr double kLeastS = 0x1p-18, kLeastD = 0x1p-20; // of N·L and its square
    // Results are computed in f32, where S² and D must neither overflow nor lose digits. All are finite.
    static constexpr double kSmallest = 0x1p-32, kLargest = 0x1p44;

    const SpeckleTile& tile_;
    const TileColumns& columns_;
    int window_;
    int length_;                                        ///< results of a segment
    int all_;                                           ///< its columns
    int starts_[kSegments];                             ///< first columns
    int rows_ = 0;                                      ///< taken since clear()
    std::uint32_t largest_ = 0;                         ///< bits of the largest magnitude since clear()
    float* line_;                                       ///< columns of a row
    float* samples_[2 * SpeckleParams::kMaxRadius + 2]; ///< of the last rows
    float* no_samples_;
    double *sums_, *squares_; ///< of columns
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
