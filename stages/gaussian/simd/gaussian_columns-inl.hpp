// First pass of the recursive Gaussian: down and up a strip of columns.
#if defined(SPECKLESCOPE_GAUSSIAN_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_COLUMNS_INL
#undef SPECKLESCOPE_GAUSSIAN_COLUMNS_INL
#else
#define SPECKLESCOPE_GAUSSIAN_COLUMNS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/gaussian/gaussian_sweep.hpp"
#include "stages/gaussian/simd/gaussian_filter-inl.hpp"
#include "stages/gaussian/simd/gaussian_pixels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> class ColumnSweep {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    using Between = BetweenOf<T>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    static constexpr int kVectors = 4; ///< fills whole cache lines, as streaming stores require

public:
    ColumnSweep(const GaussianSweep& sweep, float* scratch)
        : sweep_(sweep), input_(sweep.input.as<const T>()), forward_(scratch), height_(input_.height) {}

    void run(int begin_strip, int end_strip) {
        const int samples = input_.width * input_.channels;
        const int first = gaussian_strip_begin(samples, begin_strip);
        if (sizeof(T) < sizeof(float))
            stage(first, gaussian_strip_begin(samples, end_strip - 1) + kGaussianStrip);
        for (strip_ = begin_strip; strip_ < end_strip; ++strip_)
            for (int x = 0; x < kGaussianStrip; x += kVectors * kLanes)
                sweep_block(gaussian_strip_begin(samples, strip_) - origin_ + x, x);
        hwy::FlushStream();
    }

private:
    /// Prefetch distance in rows: each row is on its own page, where the hardware does not prefetch.
    /// Measured: docs/performance.md, Constants.
    static constexpr int kAhead = 24;

    /// Copies the columns [begin, end): the rows' pages are looked up once for several strips.
    void stage(int begin, int end) {
        T* staged = reinterpret_cast<T*>(forward_ + column_sweep_samples(height_, sweep_.warmup));
        const auto width = static_cast<std::size_t>(end - begin);
        for (int y = 0; y < height_; ++y) {
            const T* ahead = input_.row(std::min(y + kAhead, height_ - 1)) + begin;
            for (std::size_t x = 0; x < width; x += 64 / sizeof(T))
                hwy::Prefetch(ahead + x);
            std::copy_n(input_.row(y) + begin, width, staged + static_cast<std::size_t>(y) * width);
        }
        input_ = {staged, input_.width, height_, input_.channels, width * sizeof(T)};
        origin_ = begin;
    }

    V sample(int y, int x, int v) const {
        const int row =
            border_index(y, height_, sweep_.border == Border::crop ? Border::replicate : sweep_.border);
        return row < 0 ? hn::Zero(D()) : load_pixels(D(), input_.row(row) + x + v * kLanes);
    }

    /// Columns from x on, at position `at` of the strip.
    void sweep_block(int x, int at) {
        const D d;
        FilterState<kVectors> state(sweep_.filter);
        const int end = height_ + sweep_.warmup;
        for (int v = 0; v < kVectors; ++v)
            state.settle(v, sample(-1 - sweep_.warmup, x, v));
        for (int y = -sweep_.warmup; y < 0; ++y)
            for (int v = 0; v < kVectors; ++v)
                state.step(v, sample(y, x, v));
        float* to = forward_ + at;
        for (int y = 0; y < height_; ++y, to += kGaussianStrip) {
            const T* from = input_.row(y) + x;
            for (int v = 0; v < kVectors; ++v)
                hn::Store(state.step(v, load_pixels(d, from + v * kLanes)), d, to + v * kLanes);
        }
        for (int y = height_; y < end; ++y, to += kGaussianStrip)
            for (int v = 0; v < kVectors; ++v)
                hn::Store(state.step(v, sample(y, x, v)), d, to + v * kLanes);
        for (int v = 0; v < kVectors; ++v)
            state.begin_backward(v, sample(end, x, v), sweep_.filter);
        sweep_back(state, at);
    }

    void sweep_back(FilterState<kVectors>& state, int at) {
        const D d;
        const int first = sweep_.margin;
        const int last = height_ - sweep_.margin;
        for (int y = height_ + sweep_.warmup - 1; y >= first; --y) {
            const float* from = forward_ + static_cast<std::size_t>(y) * kGaussianStrip + at;
            if (y >= last) {
                for (int v = 0; v < kVectors; ++v)
                    state.step(v, hn::Load(d, from + v * kLanes));
                continue;
            }
            Between* to = between_row<Between>(sweep_, strip_, y - first) + at;
            const V scale = hn::Set(d, sweep_.row_scale ? sweep_.row_scale[y] : 1.0F);
            for (int v = 0; v < kVectors; ++v)
                store_between(hn::Mul(state.step(v, hn::Load(d, from + v * kLanes)), scale), to + v * kLanes);
        }
    }

    /// Streaming store, since it is read only after all columns are done.
    static HWY_INLINE void store_between(V v, Between* to) {
        const D d;
        if constexpr (std::is_same_v<Between, float>) {
            hn::Stream(v, d, to);
        } else {
            const V fixed = hn::MulSub(v, hn::Set(d, 128.0F), hn::Set(d, 16384.0F));
            const hn::Rebind<std::int16_t, D> narrow;
            const auto fixed16 = hn::DemoteTo(narrow, rounded(d, fixed));
            if constexpr (kLanes >= 8)
                hn::Stream(fixed16, narrow, to);
            else // half a vector cannot be streamed
                hn::Store(fixed16, narrow, to);
        }
    }

    const GaussianSweep& sweep_;
    View<const T> input_; ///< the image, or columns copied from it starting at sample origin_
    int origin_ = 0;
    int strip_ = 0;
    float* forward_; ///< result of the forward pass, row by row
    int height_;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
