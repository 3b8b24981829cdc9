// Second pass of the recursive Gaussian: along a group of rows, one per lane.
#if defined(SPECKLESCOPE_GAUSSIAN_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_LINES_INL
#undef SPECKLESCOPE_GAUSSIAN_LINES_INL
#else
#define SPECKLESCOPE_GAUSSIAN_LINES_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>
#include <limits>

#include "stages/gaussian/gaussian_sweep.hpp"
#include "stages/gaussian/simd/gaussian_filter-inl.hpp"
#include "stages/gaussian/simd/gaussian_pixels-inl.hpp"
#include "stages/gaussian/simd/gaussian_transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> class LineSweep {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    using Between = BetweenOf<T>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    static constexpr std::size_t kStep = kLineChains * kLanes; ///< scratch samples per pixel

public:
    LineSweep(const GaussianSweep& sweep, int group, float* scratch)
        : sweep_(sweep), channels_(sweep.input.shape.channels), tile_(scratch),
          step_(kStep / static_cast<std::size_t>(channels_)), lines_(scratch + kMaxLanes * kTileStride),
          width_(sweep.width), y0_(group * kLanes * (kLineChains / channels_)) {}

    void run() {
        FilterState<kLineChains> state(sweep_.filter);
        V beyond[kLineChains];
        forward(state, beyond);
        for (int v = 0; v < kLineChains; ++v)
            state.begin_backward(v, beyond[v], sweep_.filter);
        backward(state);
        hwy::FlushStream();
    }

private:
    /// Sample `s` of the rows of group g; the next sample is at distance step_.
    float* lane(int s, int g) const {
        return lines_ + static_cast<std::size_t>(s) * step_ + static_cast<std::size_t>(g * kLanes);
    }

    HWY_NOINLINE void load_strip(int g, int strip, int begin) {
        constexpr int kPerWord = 4 / static_cast<int>(sizeof(Between));
        constexpr int kLine = 64 / sizeof(Between);
        constexpr std::size_t kStride = kGaussianStrip / kPerWord;
        const Between* rows = between_row<Between>(sweep_, strip, y0_ + g * kLanes);
        const int strips = gaussian_strips(sweep_.input.shape.width * channels_);
        const Between* next = between_row<Between>(sweep_, std::min(strip + 1, strips - 1), y0_ + g * kLanes);
        const std::size_t step = step_; // local copy: no store can change it
        float* to = lane(begin, g);
        for (int x = 0; x < kGaussianStrip; x += 4 * kPerWord) {
            // Strips are too far apart for the hardware prefetcher.
            for (int i = 0; i < kLanes * 4 * kPerWord; i += kLine)
                hwy::Prefetch(next + x * kLanes + i);
            Words words;
            load_words(reinterpret_cast<const float*>(rows + x), kStride, words);
            for (int j = 0; j < 4; ++j, to += kPerWord * step)
                unpack(words[j], to, step);
        }
    }

    /// Samples of one word, for all rows.
    static HWY_INLINE void unpack(V word, float* to, [[maybe_unused]] std::size_t step) {
        const D d;
        if constexpr (std::is_same_v<Between, float>) {
            hn::Store(word, d, to);
        } else {
            const hn::RebindToSigned<D> di;
            const auto both = hn::BitCast(di, word);
            const auto sample = [&](auto fixed) HWY_ATTR {
                return hn::MulAdd(hn::ConvertTo(d, fixed), hn::Set(d, 1 / 128.0F), hn::Set(d, 128.0F));
            };
            hn::Store(sample(hn::ShiftRight<16>(hn::ShiftLeft<16>(both))), d, to);
            hn::Store(sample(hn::ShiftRight<16>(both)), d, to + step);
        }
    }

    float* pixel(int x) const { return lines_ + static_cast<std::size_t>(x) * kStep; }

    /// Border value at x: zeros, or a place in the lines, which must not be processed yet.
    V outside(int x, int v) const {
        const int from =
            border_index(x, width_, sweep_.border == Border::crop ? Border::replicate : sweep_.border);
        return from < 0 ? hn::Zero(D()) : hn::Load(D(), pixel(from) + v * kLanes);
    }

    /// Loads and processes strip by strip, while they are in the L1 cache; `beyond`: border values past the
    /// end.
    HWY_INLINE void forward(FilterState<kLineChains>& state, V* beyond) {
        const int samples = sweep_.input.shape.width * channels_;
        const int strips = gaussian_strips(samples);
        const int last = gaussian_strip_begin(samples, strips - 1);
        int swept = 0;
        for (int strip = 0; strip < strips; ++strip) {
            const int begin = gaussian_strip_begin(samples, strip);
            for (int g = 0; g < kLineChains / channels_; ++g)
                load_strip(g, strip, begin);
            const bool all = strip + 1 == strips;
            if (sweep_.warmup > 0 && !all)
                continue; // the border repeats unprocessed samples from any place
            if (swept == 0)
                enter(state);
            if (all)
                leave(beyond);
            // The last strip contains some samples again.
            const int end = all ? width_ + sweep_.warmup : std::min(begin + kGaussianStrip, last) / channels_;
            sweep(state, pixel(swept), static_cast<std::ptrdiff_t>(kStep), end - swept);
            swept = end;
        }
    }

    HWY_INLINE void enter(FilterState<kLineChains>& state) const {
        for (int v = 0; v < kLineChains; ++v)
            state.settle(v, outside(-1 - sweep_.warmup, v));
        for (int x = -sweep_.warmup; x < 0; ++x)
            for (int v = 0; v < kLineChains; ++v)
                state.step(v, outside(x, v));
    }

    HWY_NOINLINE void leave(V* beyond) {
        const int end = width_ + sweep_.warmup;
        for (int v = 0; v < kLineChains; ++v)
            beyond[v] = outside(end, v);
        for (int x = width_; x < end; ++x)
            for (int v = 0; v < kLineChains; ++v)
                hn::Store(outside(x, v), D(), pixel(x) + v * kLanes);
    }

    /// Processes and stores output strips one after the other; a left margin is not processed.
    HWY_INLINE void backward(FilterState<kLineChains>& state) {
        const int begin = sweep_.margin * channels_;
        const int count = sweep_.output.shape.width * channels_;
        int swept = width_ + sweep_.warmup;
        for (int x = (count - 1) / kGaussianStrip * kGaussianStrip; x >= 0; x -= kGaussianStrip) {
            const int end = (begin + x) / channels_;
            sweep(state, pixel(swept - 1), -static_cast<std::ptrdiff_t>(kStep), swept - end);
            swept = end;
            for (int g = 0; g < kLineChains / channels_; ++g)
                give_out(g, begin, x, std::min(kGaussianStrip, count - x));
        }
    }

    /// Processes `pixels` pixels of the lines, `step` samples apart.
    static HWY_INLINE void sweep(FilterState<kLineChains>& state, float* at, std::ptrdiff_t step,
                                 int pixels) {
        const D d;
        for (int i = 0; i < pixels; ++i, at += step)
            for (int v = 0; v < kLineChains; ++v)
                hn::Store(state.step(v, hn::Load(d, at + v * kLanes)), d, at + v * kLanes);
    }

    /// Stores `count` samples from x on of every output row of the group.
    HWY_NOINLINE void give_out(int g, int begin, int x, int count) {
        const int y0 = y0_ + g * kLanes;
        const int rows = std::min(kLanes, sweep_.output.shape.height - y0);
        if (rows <= 0)
            return;
        constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
        const std::size_t step = step_; // local copies: no store can change them
        const float* scale = sweep_.column_scale ? sweep_.column_scale + x : nullptr;
        const float* from = lane(begin + x, g);
        for (int i = 0; i < kGaussianStrip; i += 4 * kPerWord) {
            Words words;
            for (int j = 0; j < 4; ++j, from += kPerWord * step)
                words[j] = pack(from, step, scale ? scale + i + j * kPerWord : nullptr);
            store_words(words, tile_ + i / kPerWord, kTileStride);
        }
        for (int i = 0; i < rows; ++i) {
            const float* row = tile_ + static_cast<std::size_t>(i) * kTileStride;
            T* to = sweep_.output.as<T>().row(y0 + i) + x;
            if (count == kGaussianStrip && reinterpret_cast<std::uintptr_t>(to) % 64 == 0)
                stream(row, to);
            else
                std::memcpy(to, row, static_cast<std::size_t>(count) * sizeof(T));
        }
    }

    /// Streaming stores of whole cache lines, since large images do not fit the caches.
    static HWY_INLINE void stream(const float* from, T* to) {
        const D d;
        auto* words = reinterpret_cast<float*>(to);
        for (std::size_t i = 0; i < kGaussianStrip * sizeof(T) / sizeof(float); i += kLanes)
            hn::Stream(hn::Load(d, from + i), d, words + i);
    }

    /// Samples of one word, rounded; `scale`: factors applied first, if not null.
    static HWY_INLINE V pack(const float* from, std::size_t step, const float* scale) {
        const D d;
        const auto sample = [&](std::size_t i) HWY_ATTR {
            const V value = hn::Load(d, from + i * step);
            return scale ? hn::Mul(value, hn::Set(d, scale[i])) : value;
        };
        if constexpr (std::is_same_v<T, float>) {
            return sample(0);
        } else {
            const auto bits = [&](std::size_t i) HWY_ATTR {
                constexpr auto kMost = static_cast<float>(std::numeric_limits<T>::max());
                return rounded_bits(d, hn::Min(hn::Max(sample(i), hn::Zero(d)), hn::Set(d, kMost)));
            };
            // The left shift removes all other bits.
            auto word = hn::And(bits(0), hn::Set(hn::RebindToSigned<D>(), std::numeric_limits<T>::max()));
            if constexpr (sizeof(T) == 1) {
                const auto low = hn::Or(word, hn::ShiftLeft<16>(bits(2)));
                const auto second =
                    hn::And(hn::ShiftLeft<8>(bits(1)), hn::Set(hn::RebindToSigned<D>(), 0xff00));
                word = hn::Or(hn::Or(low, second), hn::ShiftLeft<24>(bits(3)));
            } else {
                word = hn::Or(word, hn::ShiftLeft<16>(bits(1)));
            }
            return hn::BitCast(d, word);
        }
    }

    const GaussianSweep& sweep_;
    int channels_;
    float* tile_;
    std::size_t step_;
    float* lines_; ///< the kLineChains vectors of a pixel, then the next pixel's
    int width_;
    int y0_;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
