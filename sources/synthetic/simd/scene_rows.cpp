// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "sources/synthetic/scene_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sources/synthetic/simd/scene_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

constexpr int kMost = LightRow::kMost;

/// Calls f(from, first, n) for the parts of columns x … x + count − 1 that are contiguous on the torus.
template <class F> void runs(const TorusRow& torus, int x, int count, F&& f) {
    int column = (torus.at + x) % torus.period;
    for (int done = 0; done < count;) {
        const int n = std::min(count - done, torus.period - column);
        f(torus.row + column, done, n);
        done += n;
        column = 0;
    }
}

/// The values of a law's part for these pixels; null: 0.
const float* pick(const std::vector<float>& part, const std::int32_t* classes, int count, float* to) {
    if (part.empty())
        return nullptr;
    if (classes == nullptr) {
        std::fill_n(to, count, part[0]);
        return to;
    }
    const float* table = part.data();
    for (int i = 0; i < count; ++i)
        to[i] = table[classes[i]];
    return to;
}

void add_scaled(const float* HWY_RESTRICT from, const float* HWY_RESTRICT by, int n, float* HWY_RESTRICT to) {
    for (int i = 0; i < n; ++i)
        to[i] += by[i] * from[i];
}

/// Adds by·|re + i·im|².
void add_power(const float* HWY_RESTRICT re, const float* HWY_RESTRICT im, const float* HWY_RESTRICT by,
               int n, float* HWY_RESTRICT to) {
    for (int i = 0; i < n; ++i)
        to[i] += by[i] * (re[i] * re[i] + im[i] * im[i]);
}

struct Complex {
    alignas(64) float re[kMost], im[kMost];
};

void copy(const std::array<TorusRow, 2>& from, int x, int count, Complex& to) {
    runs(from[0], x, count, [&](const float* in, int first, int n) { std::copy_n(in, n, to.re + first); });
    runs(from[1], x, count, [&](const float* in, int first, int n) { std::copy_n(in, n, to.im + first); });
}

void add_terms(const LightRow& row, int x, int count, Complex& sum, Complex& difference) {
    alignas(64) float s[kMost], d[kMost];
    std::fill_n(sum.re, count, 0.0F);
    std::fill_n(sum.im, count, 0.0F);
    std::fill_n(difference.re, count, 0.0F);
    std::fill_n(difference.im, count, 0.0F);
    for (const FieldTerm& term : row.fields) {
        for (int i = 0; i < count; ++i) {
            const std::int32_t at = row.classes == nullptr ? 0 : row.classes[i];
            s[i] = term.sum[at];
            d[i] = term.difference[at];
        }
        runs(term.real, x, count, [&](const float* in, int first, int n) {
            add_scaled(in, s + first, n, sum.re + first);
            add_scaled(in, d + first, n, difference.re + first);
        });
        runs(term.imaginary, x, count, [&](const float* in, int first, int n) {
            add_scaled(in, s + first, n, sum.im + first);
            add_scaled(in, d + first, n, difference.im + first);
        });
    }
}

void add_fields(const LightRow& row, int x, int count, float* light) {
    const auto& law = row.law->of;
    Complex sum, difference, other;
    alignas(64) float a[kMost], b[kMost];
    add_terms(row, x, count, sum, difference);
    if (const float* by = pick(law[PixelLaw::sum], row.classes, count, a))
        add_power(sum.re, sum.im, by, count, light);
    if (const float* by = pick(law[PixelLaw::difference], row.classes, count, a))
        add_power(difference.re, difference.im, by, count, light);
    Complex& y = difference; // no longer needed
    copy(row.bridge, x, count, y);
    if (pick(law[PixelLaw::mode], row.classes, count, a) != nullptr) {
        pick(law[PixelLaw::bridge], row.classes, count, b);
        for (int i = 0; i < count; ++i) {
            const float re = a[i] * sum.re[i] + b[i] * y.re[i];
            const float im = a[i] * sum.im[i] + b[i] * y.im[i];
            light[i] += re * re + im * im;
        }
    }
    if (law[PixelLaw::still].empty())
        return;
    copy(row.still, x, count, other);
    add_power(other.re, other.im, pick(law[PixelLaw::still], row.classes, count, a), count, light);
    pick(law[PixelLaw::cross_sum], row.classes, count, a);
    pick(law[PixelLaw::cross_bridge], row.classes, count, b);
    for (int i = 0; i < count; ++i)
        light[i] += other.re[i] * (a[i] * sum.re[i] + b[i] * y.re[i]) +
                    other.im[i] * (a[i] * sum.im[i] + b[i] * y.im[i]);
}

void RunLight(const LightRow& row, int x, int count, const float* mean, float* HWY_RESTRICT light) {
    const auto& law = row.law->of;
    alignas(64) float weight[kMost];
    pick(law[PixelLaw::constant], row.classes, count, light);
    for (std::size_t k = 0; k < row.looks.size(); ++k)
        if (const float* by = pick(law[PixelLaw::look + k], row.classes, count, weight))
            runs(row.looks[k], x, count,
                 [&](const float* in, int first, int n) { add_scaled(in, by + first, n, light + first); });
    if (!row.fields.empty())
        add_fields(row, x, count, light);
    for (int i = 0; i < count; ++i)
        light[i] *= mean[i];
}

void RunClassify(const RateRow& rates, std::int32_t first, std::int32_t last, int shift, int count,
                 std::int32_t* HWY_RESTRICT classes) {
    for (int i = 0; i < count; ++i) {
        const float rate = rates.still[i] + rates.flow[i] * (1 + rates.pulse[i] * rates.wave);
        const std::int32_t bits = std::bit_cast<std::int32_t>(rate) >> shift;
        classes[i] = std::clamp(bits, first, last) - first;
    }
}

/// Poisson number of mean `light` at the quantile of the normal number g (Cornish–Fisher, rounded).
inline float poisson(float light, float g) {
    const float root = std::sqrt(light);
    const float value = light + root * g + (g * g - 1) * (1.0F / 6) - (g * g * g + 2 * g) / (72 * root);
    return static_cast<float>(static_cast<int>(std::max(value + 0.5F, 0.0F)));
}
constexpr float kFewElectrons = 12; ///< below: by the distribution itself

float few_electrons(float light, float g) {
    const double quantile = 0.5 * std::erfc(-static_cast<double>(g) * 0.70710678118654752);
    double term = std::exp(-static_cast<double>(light));
    double sum = term;
    int n = 0;
    while (sum < quantile && n < 100) {
        term *= static_cast<double>(light) / ++n;
        sum += term;
    }
    return static_cast<float>(n);
}

template <class T> void round_row(const CameraRow& camera, const float* values, int count, T* to) {
    const auto top = static_cast<float>(camera.full_scale);
    for (int i = 0; i < count; ++i)
        to[i] = static_cast<T>(static_cast<int>(std::clamp(values[i] + 0.5F, 0.0F, top)));
}

void RunRecord(const CameraRow& camera, const float* light, int count, PixelType type, std::byte* to) {
    alignas(64) float values[kMost];
    std::copy_n(light, count, values);
    if (camera.response != nullptr)
        for (int i = 0; i < count; ++i)
            values[i] *= camera.response[i];
    if (camera.gain > 0) {
        const auto gain = static_cast<float>(camera.gain);
        const auto electrons = static_cast<float>(1 / camera.gain);
        const auto read = static_cast<float>(camera.read);
        float fewest = kFewElectrons;
        for (int i = 0; i < count; ++i) {
            const float n = std::max(values[i] * electrons, 1e-6F);
            fewest = std::min(fewest, n);
            values[i] = gain * (poisson(n, camera.shot_noise[i]) + read * camera.read_noise[i]);
        }
        for (int i = 0; fewest < kFewElectrons && i < count; ++i) {
            const float n = light[i] * electrons * (camera.response == nullptr ? 1 : camera.response[i]);
            if (n < kFewElectrons)
                values[i] = gain * (few_electrons(std::max(n, 0.0F), camera.shot_noise[i]) +
                                    read * camera.read_noise[i]);
        }
    }
    const auto offset = static_cast<float>(camera.offset);
    for (int i = 0; i < count; ++i)
        values[i] += offset + (camera.columns == nullptr ? 0.0F : camera.columns[i]);
    if (type == PixelType::u8)
        round_row(camera, values, count, reinterpret_cast<std::uint8_t*>(to));
    else
        round_row(camera, values, count, reinterpret_cast<std::uint16_t*>(to));
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RunLight);
HWY_EXPORT(RunClassify);
HWY_EXPORT(RunRecord);

void light_row(const LightRow& row, int x, int count, const float* mean, float* light) {
    HWY_DYNAMIC_DISPATCH(RunLight)(row, x, count, mean, light);
}
void classify_row(const RateRow& rates, std::int32_t first, std::int32_t last, int shift, int count,
                  std::int32_t* classes) {
    HWY_DYNAMIC_DISPATCH(RunClassify)(rates, first, last, shift, count, classes);
}
void record_row(const CameraRow& camera, const float* light, int count, PixelType type, std::byte* to) {
    HWY_DYNAMIC_DISPATCH(RunRecord)(camera, light, count, type, to);
}

} // namespace specklescope
#endif
