// Second pass of the recursive Gaussian: along a group of rows, one in each lane.
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

#include "stages/gaussian_between.hpp"
#include "stages/gaussian_filter-inl.hpp"
#include "stages/gaussian_pixels-inl.hpp"
#include "stages/gaussian_transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> class LineSweep {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    using Between = BetweenOf<T>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    static constexpr std::size_t kStep = kLineChains * kLanes; ///< samples of scratch for a pixel

public:
    LineSweep(const GaussianSweep& sweep, int group, float* scratch)
        : sweep_(sweep), channels_(sweep.input.shape.channels), tile_(scratch),
          lines_(scratch + kMaxLanes * kTileStride), width_(sweep.width),
          y0_(group * kLanes * (kLineChains / channels_)) {}

    void run() {
        const int samples = sweep_.input.shape.width * channels_;
        for (int g = 0; g < kLineChains / channels_; ++g)
            for (int strip = 0; strip < gaussian_strips(samples); ++strip)
                take_in(g, strip, gaussian_strip_begin(samples, strip));
        sweep_lines();
        const int begin = sweep_.margin * channels_;
        const int count = sweep_.output.shape.width * channels_;
        for (int g = 0; g < kLineChains / channels_; ++g)
            for (int x = 0; x < count; x += kGaussianStrip)
                give_out(g, begin, x, std::min(kGaussianStrip, count - x));
    }

private:
    /// Where sample `s` of the rows of group g lies; the next sample is `sample_step()` further.
    float* lane(int s, int g) const {
        return lines_ + static_cast<std::size_t>(s) * sample_step() + static_cast<std::size_t>(g * kLanes);
    }
    std::size_t sample_step() const { return kStep / static_cast<std::size_t>(channels_); }

    void take_in(int g, int strip, int begin) {
        constexpr int kPerWord = 4 / static_cast<int>(sizeof(Between));
        constexpr int kLine = 64 / sizeof(Between);
        constexpr std::size_t kStride = kGaussianStrip / kPerWord;
        const Between* rows = between_row<Between>(sweep_, strip, y0_ + g * kLanes);
        const int strips = gaussian_strips(sweep_.input.shape.width * channels_);
        const Between* next = between_row<Between>(sweep_, std::min(strip + 1, strips - 1), y0_ + g * kLanes);
        for (int x = 0; x < kGaussianStrip; x += 4 * kPerWord) {
            // Strips lie too far apart for the hardware to see what comes next.
            for (int i = 0; i < kLanes * 4 * kPerWord; i += kLine)
                hwy::Prefetch(next + x * kLanes + i);
            Words words;
            load_words(reinterpret_cast<const float*>(rows + x), kStride, words);
            for (int j = 0; j < 4; ++j)
                unpack(words[j], lane(begin + x + j * kPerWord, g));
        }
    }

    /// One word's samples of all rows.
    HWY_INLINE void unpack(V word, float* to) const {
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
            hn::Store(sample(hn::ShiftRight<16>(both)), d, to + sample_step());
        }
    }

    const float* pixel(int x) const { return lines_ + static_cast<std::size_t>(x) * kStep; }

    /// What the border says lies at x: zeros, or a place in the lines, which must not be swept yet.
    V outside(int x, int v) const {
        const int from =
            border_index(x, width_, sweep_.border == Border::crop ? Border::replicate : sweep_.border);
        return from < 0 ? hn::Zero(D()) : hn::Load(D(), pixel(from) + v * kLanes);
    }

    void sweep_lines() {
        const D d;
        FilterState<kLineChains> state(sweep_.filter);
        const int end = width_ + sweep_.warmup;
        V beyond[kLineChains];
        for (int v = 0; v < kLineChains; ++v) {
            beyond[v] = outside(end, v);
            state.settle(v, outside(-1 - sweep_.warmup, v));
        }
        for (int x = width_; x < end; ++x)
            for (int v = 0; v < kLineChains; ++v)
                hn::Store(outside(x, v), d, lines_ + static_cast<std::size_t>(x) * kStep + v * kLanes);
        for (int x = -sweep_.warmup; x < 0; ++x)
            for (int v = 0; v < kLineChains; ++v)
                state.step(v, outside(x, v));
        float* at = lines_;
        for (int x = 0; x < end; ++x, at += kStep)
            step_all(state, at);
        for (int v = 0; v < kLineChains; ++v)
            state.turn(v, beyond[v], sweep_.filter);
        for (int x = 0; x < end; ++x)
            step_all(state, at -= kStep);
    }

    static HWY_INLINE void step_all(FilterState<kLineChains>& state, float* at) {
        const D d;
        for (int v = 0; v < kLineChains; ++v)
            hn::Store(state.step(v, hn::Load(d, at + v * kLanes)), d, at + v * kLanes);
    }

    /// `count` samples from x on of every output row of the group.
    void give_out(int g, int begin, int x, int count) {
        const int y0 = y0_ + g * kLanes;
        const int rows = std::min(kLanes, sweep_.output.shape.height - y0);
        if (rows <= 0)
            return;
        constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
        for (int i = 0; i < kGaussianStrip; i += 4 * kPerWord) {
            Words words;
            for (int j = 0; j < 4; ++j)
                words[j] = pack(g, begin, x + i + j * kPerWord);
            store_words(words, tile_ + i / kPerWord, kTileStride);
        }
        for (int i = 0; i < rows; ++i) {
            const float* from = tile_ + static_cast<std::size_t>(i) * kTileStride;
            T* to = sweep_.output.as<T>().row(y0 + i) + x;
            if (count == kGaussianStrip)
                std::memcpy(to, from, kGaussianStrip * sizeof(T)); // of known size: a few vectors
            else
                std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
        }
    }

    /// Sample `x` of the output and those beside it that fill a word, rounded.
    HWY_INLINE V pack(int g, int begin, int x) const {
        const D d;
        const auto sample = [&](int i) HWY_ATTR {
            const V value = hn::Load(d, lane(begin + x + i, g));
            return sweep_.column_scale ? hn::Mul(value, hn::Set(d, sweep_.column_scale[x + i])) : value;
        };
        if constexpr (std::is_same_v<T, float>) {
            return sample(0);
        } else {
            const auto integer = [&](int i) HWY_ATTR {
                constexpr auto kMost = static_cast<float>(std::numeric_limits<T>::max());
                return hn::NearestInt(hn::Min(hn::Max(sample(i), hn::Zero(d)), hn::Set(d, kMost)));
            };
            auto word = integer(0);
            if constexpr (sizeof(T) == 1) {
                const auto low = hn::Or(word, hn::ShiftLeft<8>(integer(1)));
                word = hn::Or(low, hn::Or(hn::ShiftLeft<16>(integer(2)), hn::ShiftLeft<24>(integer(3))));
            } else {
                word = hn::Or(word, hn::ShiftLeft<16>(integer(1)));
            }
            return hn::BitCast(d, word);
        }
    }

    const GaussianSweep& sweep_;
    int channels_;
    float* tile_;
    float* lines_; ///< a pixel's kLineChains vectors, then the next pixel's
    int width_;
    int y0_;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
