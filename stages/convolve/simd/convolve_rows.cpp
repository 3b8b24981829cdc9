// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/convolve/host_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/convolve/simd/convolve_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Loops over rows are vectorised by the compiler, with a constant number of channels.
template <class T, int kChannels> void load_row(const T* from, std::size_t count, float* HWY_RESTRICT to) {
    for (std::size_t i = 0; i < count; ++i)
        to[i] = static_cast<float>(from[i * kChannels]);
}

template <class T, int kChannels>
void store_row(const float* HWY_RESTRICT from, std::size_t count, SampleGains gains, T* HWY_RESTRICT to) {
    const auto store = [to](std::size_t i, float value) {
        if constexpr (std::is_integral_v<T>) {
            constexpr auto kFull = static_cast<float>(type_full_scale(pixel_type_of<T>()));
            // With this order of arguments NaN becomes 0.
            to[i * kChannels] =
                static_cast<T>(static_cast<int>(std::rint(std::min(kFull, std::max(0.0F, value)))));
        } else {
            to[i * kChannels] = value;
        }
    };
    if (gains.across)
        for (std::size_t i = 0; i < count; ++i)
            store(i, from[i] * gains.across[i] * gains.down);
    else
        for (std::size_t i = 0; i < count; ++i)
            store(i, from[i]);
}

void LoadSamples(const ConstHostView& image, int y, int channel, Band pixels, float* to) {
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto count = static_cast<std::size_t>(pixels.end - pixels.begin);
        const T* from = image.as<T>().row(y) + pixels.begin * image.shape.channels + channel;
        if (image.shape.channels == 1)
            load_row<T, 1>(from, count, to);
        else
            load_row<T, 3>(from, count, to);
    });
}

void PickSamples(const ConstHostView& image, int y, int channel, Band positions, const int* columns,
                 float* to) {
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const T* from = image.as<T>().row(y) + channel;
        for (int p = positions.begin; p < positions.end; ++p)
            to[p] = columns[p] < 0 ? 0.0F : static_cast<float>(from[columns[p] * image.shape.channels]);
    });
}

void StoreSamples(const float* from, const HostView& image, int y, int channel, Band pixels,
                  SampleGains gains) {
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto count = static_cast<std::size_t>(pixels.end - pixels.begin);
        T* to = image.as<T>().row(y) + pixels.begin * image.shape.channels + channel;
        if (image.shape.channels == 1)
            store_row<T, 1>(from, count, gains, to);
        else
            store_row<T, 3>(from, count, gains, to);
    });
}

void MultiplyComplex(float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t count) {
#if HWY_TARGET == HWY_SCALAR // has no neighbouring lanes
    for (std::size_t i = 0; i < 2 * count; i += 2) {
        const float real = a[i] * b[i] - a[i + 1] * b[i + 1];
        a[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];
        a[i] = real;
    }
#else
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < 2 * count; i += lanes) {
        const auto x = hn::Load(d, a + i);
        const auto k = hn::Load(d, b + i);
        const auto straight = hn::Mul(x, hn::DupEven(k));
        const auto crossed = hn::Mul(hn::Reverse2(d, x), hn::DupOdd(k));
        hn::Store(hn::OddEven(hn::Add(straight, crossed), hn::Sub(straight, crossed)), d, a + i);
    }
#endif
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(LoadSamples);
HWY_EXPORT(PickSamples);
HWY_EXPORT(StoreSamples);
HWY_EXPORT(MultiplyComplex);

void load_samples(ConstHostView image, int y, int channel, Band pixels, float* to) {
    HWY_DYNAMIC_DISPATCH(LoadSamples)(image, y, channel, pixels, to);
}

void pick_samples(ConstHostView image, int y, int channel, Band positions, const int* columns, float* to) {
    HWY_DYNAMIC_DISPATCH(PickSamples)(image, y, channel, positions, columns, to);
}

void store_samples(const float* from, HostView image, int y, int channel, Band pixels, SampleGains gains) {
    HWY_DYNAMIC_DISPATCH(StoreSamples)(from, image, y, channel, pixels, gains);
}

void multiply_complex(float* a, const float* b, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(MultiplyComplex)(a, b, count);
}

} // namespace specklescope
#endif
