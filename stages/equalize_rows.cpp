// Compiled once for every instruction set (Highway); the call takes the best that the processor has.
#include "stages/equalize_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/equalize_rows.cpp"
#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The largest of each byte and the two behind it: V where a pixel begins, and no shuffling.
void SpreadV(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t bytes = 3 * pixels;
    for (std::size_t ahead = bytes; ahead < 2 * bytes; ahead += 64)
        __builtin_prefetch(rgb + ahead, 0);
    std::size_t i = 0;
    for (; i + lanes + 2 <= bytes; i += lanes)
        hn::StoreU(
            hn::Max(hn::Max(hn::LoadU(d, rgb + i), hn::LoadU(d, rgb + i + 1)), hn::LoadU(d, rgb + i + 2)), d,
            v + i);
    for (i += (3 - i % 3) % 3; i < bytes; i += 3)
        v[i] = std::max({rgb[i], rgb[i + 1], rgb[i + 2]});
}

/// sample·factor + 8192, where f32 goes in steps of 2⁻¹⁰. Products that are no tie stay 1/510 away from one,
/// so this rounding takes the factor's own away and leaves ties exact, fused or not. What kBlackFactor adds
/// to other pixels, 2⁻¹² at most, goes with it.
constexpr float kGrid = 8192.0F;

std::uint8_t scaled(std::uint8_t sample, float factor) {
    const float product = static_cast<float>(sample) * factor + (factor / kBlackFactor + kGrid);
    return static_cast<std::uint8_t>(std::nearbyint(product - kGrid));
}

void ScaleRow(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors, std::uint8_t* out) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> db;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto grid = hn::Set(d, kGrid);
    const auto black = hn::Set(d, 1 / kBlackFactor);
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN std::uint8_t v[3 * kRowBlock];
    HWY_ALIGN float factor[3 * kRowBlock + 1];
    while (pixels > 0) {
        const std::size_t count = std::min(kRowBlock, pixels);
        SpreadV(rgb, count, v);
        for (std::size_t i = 3 * kRowBlock; i < 6 * kRowBlock; i += 64)
            __builtin_prefetch(out + i, 1);
        for (std::size_t i = 0; i < 3 * count; i += 3)
            std::memcpy(factor + i, factors.factor[v[i]], sizeof factors.factor[0]);
        std::size_t i = 0;
        for (; i + lanes <= 3 * count; i += lanes) {
            const auto sample = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, rgb + i)));
            const auto f = hn::LoadU(d, factor + i);
            const auto value = hn::NearestInt(hn::MulAdd(sample, f, hn::MulAdd(f, black, grid)));
            // 8192 is a multiple of 256: it does not show in the low byte, nor in what is even
            hn::StoreU(hn::TruncateTo(db, hn::BitCast(du, value)), db, out + i);
        }
        for (; i < 3 * count; ++i)
            out[i] = scaled(rgb[i], factor[i]);
        rgb += 3 * count;
        out += 3 * count;
        pixels -= count;
    }
}

/// As for bytes, in float64: sample·factor + 2³² goes in steps of 2⁻²⁰, products that are no tie stay 2⁻¹⁷
/// away from one, and what kBlackWordFactor adds is 2⁻²² at most.
constexpr double kWordGrid = 4294967296.0;
constexpr double kBlackWordFactor = 274877906944.0; // 2³⁸
/// Adding it leaves an even integer in ties; what was added for the grid is part of it.
constexpr double kWordRound = 4503599627370496.0; // 2⁵²

std::uint16_t scaled(std::uint16_t sample, double factor) {
    const double product = static_cast<double>(sample) * factor + (factor / kBlackWordFactor + kWordGrid);
    return static_cast<std::uint16_t>((product + (kWordRound - kWordGrid)) - kWordRound);
}

/// V'/V three times a pixel; V = 0: kBlackWordFactor·V'.
void WordFactors(const std::uint16_t* rgb, std::size_t pixels, const std::uint16_t* levels,
                 std::uint32_t full, double* factors) {
    for (std::size_t i = 0; i < 3 * pixels; i += 3) {
        const std::uint32_t v = std::max({rgb[i], rgb[i + 1], rgb[i + 2]});
        const auto new_v = static_cast<double>(levels[std::min(v, full)]);
        const double factor = v == 0 ? new_v * kBlackWordFactor : new_v / static_cast<double>(v);
        factors[i] = factor;
        factors[i + 1] = factor;
        factors[i + 2] = factor;
    }
}

void ScaleWords(const std::uint16_t* rgb, std::size_t pixels, const std::uint16_t* levels, std::uint32_t full,
                std::uint16_t* out) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    const hn::Rebind<std::uint16_t, decltype(d)> dw;
    const auto grid = hn::Set(d, kWordGrid);
    const auto black = hn::Set(d, 1 / kBlackWordFactor);
    const auto round = hn::Set(d, kWordRound - kWordGrid);
    const auto unround = hn::Set(d, kWordRound);
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN double factors[3 * kRowBlock];
    while (pixels > 0) {
        const std::size_t count = std::min(kRowBlock, pixels);
        WordFactors(rgb, count, levels, full, factors);
        std::size_t i = 0;
        for (; i + lanes <= 3 * count; i += lanes) {
            const auto sample = hn::PromoteTo(d, hn::PromoteTo(di, hn::LoadU(dw, rgb + i)));
            const auto factor = hn::LoadU(d, factors + i);
            const auto product = hn::MulAdd(sample, factor, hn::MulAdd(factor, black, grid));
            const auto value = hn::Sub(hn::Add(product, round), unround);
            hn::StoreU(hn::DemoteTo(dw, hn::DemoteTo(di, value)), dw, out + i);
        }
        for (; i < 3 * count; ++i)
            out[i] = scaled(rgb[i], factors[i]);
        rgb += 3 * count;
        out += 3 * count;
        pixels -= count;
    }
}

#if HWY_TARGET != HWY_SCALAR
/// Look-up in a table of 256 by shuffles, which look up 16 and give 0 for an index with its highest bit set.
/// Bytes − 16·k, saturated, show that bit from the first k on that is too large, so that differences (xor) of
/// neighbouring parts of the table add up to the part that a byte wants; for either half of the table.
class ByteTable {
    using D = hn::ScalableTag<std::uint8_t>;
    using DI = hn::RebindToSigned<D>;
    using V = hn::Vec<D>;
    static constexpr std::size_t kPart = 16;
    static constexpr std::size_t kParts = 16;

public:
    explicit ByteTable(const std::uint8_t* levels) {
        for (std::size_t k = 0; k < kParts; ++k)
            for (std::size_t i = 0; i < kPart; ++i) {
                const int before = k % (kParts / 2) == 0 ? 0 : levels[kPart * (k - 1) + i];
                differences_[kPart * k + i] = static_cast<std::uint8_t>(levels[kPart * k + i] ^ before);
            }
    }

    HWY_INLINE V operator()(V bytes) const {
        const V low = half(bytes, differences_);
        const V high = half(hn::Xor(bytes, hn::Set(D(), 0x80)), differences_ + kPart * kParts / 2);
        return hn::Or(low, high);
    }

private:
    /// The index without the bits between its lowest four and its highest, which shuffles of x86 do not look
    /// at.
    static HWY_INLINE V place(hn::Vec<DI> index) {
        const V bytes = hn::BitCast(D(), index);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
        return bytes;
#else
        return hn::And(bytes, hn::Set(D(), 0x8f));
#endif
    }
    static HWY_INLINE V half(V bytes, const std::uint8_t* differences) {
        auto index = hn::BitCast(DI(), bytes);
        V found = hn::Zero(D());
        for (std::size_t k = 0; k < kParts / 2; ++k) {
            const V part = hn::LoadDup128(D(), differences + kPart * k);
            found = hn::Xor(found, hn::TableLookupBytesOr0(part, place(index)));
            index = hn::SaturatedSub(index, hn::Set(DI(), kPart));
        }
        return found;
    }

    HWY_ALIGN std::uint8_t differences_[kPart * kParts];
};
#endif

void MapRows(const View<const std::uint8_t>& in, const ByteLevels& levels, const View<std::uint8_t>& out,
             Band rows) {
    const auto width = static_cast<std::size_t>(in.width);
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> d;
    const ByteTable table(levels.data());
#endif
    for (int y = rows.begin; y < rows.end; ++y) {
        const std::uint8_t* from = in.row(y);
        std::uint8_t* to = out.row(y);
        std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
        for (; x + hn::Lanes(d) <= width; x += hn::Lanes(d))
            hn::StoreU(table(hn::LoadU(d, from + x)), d, to + x);
#endif
        for (; x < width; ++x)
            to[x] = levels[from[x]];
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(SpreadV);
HWY_EXPORT(MapRows);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(ScaleWords);

void spread_v(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* v) {
    HWY_DYNAMIC_DISPATCH(SpreadV)(rgb, pixels, v);
}

void scale_row(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(ScaleRow)(rgb, pixels, factors, out);
}

void scale_row(const std::uint16_t* rgb, std::size_t pixels, const std::uint16_t* levels, std::uint32_t full,
               std::uint16_t* out) {
    HWY_DYNAMIC_DISPATCH(ScaleWords)(rgb, pixels, levels, full, out);
}

void map_rows(const View<const std::uint8_t>& in, const ByteLevels& levels, const View<std::uint8_t>& out,
              Band rows) {
    HWY_DYNAMIC_DISPATCH(MapRows)(in, levels, out, rows);
}

} // namespace specklescope
#endif
