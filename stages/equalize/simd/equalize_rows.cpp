// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/equalize/simd/equalize_rows.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/equalize/simd/equalize_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Largest of each byte and the two after it: V where a pixel begins, without shuffles.
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

/// sample·factor + 8192, where f32 has steps of 2⁻¹⁰. Products that are not ties stay 1/510 away from one, so
/// that this rounding removes the factor's own and keeps ties exact, fused or not. It also removes
/// kBlackFactor's addition to other pixels, at most 2⁻¹².
constexpr float kGrid = 8192.0F;
/// Adding it rounds to integers, ties to even; the last byte is the result.
constexpr float kRound = 8388608.0F; // 2²³

std::uint8_t scaled(std::uint8_t sample, float factor) {
    const float product = static_cast<float>(sample) * factor + (factor / kBlackFactor + kGrid);
    const float rounded = product + kRound;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &rounded, sizeof bits);
    return static_cast<std::uint8_t>(bits);
}

/// Pixels after a vector that are read with it and overwritten.
constexpr std::size_t kBeyond = 2;

#if HWY_TARGET != HWY_SCALAR
/// Pixels in 32-bit lanes, R lowest: 128 bits hold four pixels, which are 12 bytes in memory.
class PixelLanes {
public:
    using D = hn::ScalableTag<std::uint32_t>;
    using V = hn::Vec<D>;
    static constexpr std::size_t kCount = hn::MaxLanes(D());
    static HWY_INLINE V load(const std::uint8_t* rgb) {
        return hn::BitCast(D(), hn::TableLookupBytesOr0(load_blocks(Bytes(), rgb), places(kSpread)));
    }
    /// The highest byte of a lane is ignored.
    static HWY_INLINE void store(V pixels, std::uint8_t* rgb) {
        store_blocks(Bytes(), hn::TableLookupBytesOr0(hn::BitCast(Bytes(), pixels), places(kPacked)), rgb);
    }

private:
    using Bytes = hn::Repartition<std::uint8_t, D>;
    HWY_ALIGN static constexpr std::uint8_t kSpread[16] = {0, 1, 2, 255, 3, 4,  5,  255,
                                                           6, 7, 8, 255, 9, 10, 11, 255};
    HWY_ALIGN static constexpr std::uint8_t kPacked[16] = {0,  1,  2,  4,  5,   6,   8,   9,
                                                           10, 12, 13, 14, 255, 255, 255, 255};

    static HWY_INLINE hn::Vec<Bytes> places(const std::uint8_t* of_block) {
        return hn::LoadDup128(Bytes(), of_block);
    }
    template <class D8> static HWY_INLINE hn::Vec<D8> load_blocks(D8 d, const std::uint8_t* rgb) {
        if constexpr (hn::MaxLanes(d) <= 16) {
            return hn::LoadU(d, rgb);
        } else {
            const hn::Half<D8> half;
            return hn::Combine(d, load_blocks(half, rgb + 3 * hn::MaxLanes(half) / 4),
                               load_blocks(half, rgb));
        }
    }
    /// In order: a block overwrites what the previous one wrote beyond its pixels.
    template <class D8> static HWY_INLINE void store_blocks(D8 d, hn::Vec<D8> v, std::uint8_t* rgb) {
        if constexpr (hn::MaxLanes(d) <= 16) {
            hn::StoreU(v, d, rgb);
        } else {
            const hn::Half<D8> half;
            store_blocks(half, hn::LowerHalf(half, v), rgb);
            store_blocks(half, hn::UpperHalf(half, v), rgb + 3 * hn::MaxLanes(half) / 4);
        }
    }
};

/// Looks up a multiple of 4 factors, one by one (forced by volatile): gathers are slower.
void look_up(const ByteFactors& factors, const std::uint32_t* v, std::size_t count, float* to) {
    volatile float* const out = to;
    for (std::size_t i = 0; i < count; i += 4) {
        out[i] = factors[v[i]];
        out[i + 1] = factors[v[i + 1]];
        out[i + 2] = factors[v[i + 2]];
        out[i + 3] = factors[v[i + 3]];
    }
}

/// All except the last pixels of a block, at least kBeyond; returns their number. Writes up to kBeyond pixels
/// more.
std::size_t ScalePixels(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors,
                        std::uint8_t* out) {
    const PixelLanes::D du;
    const hn::RebindToSigned<PixelLanes::D> di;
    const hn::RebindToFloat<PixelLanes::D> d;
    constexpr std::size_t kStep = PixelLanes::kCount;
    if (pixels < kStep + kBeyond)
        return 0;
    const std::size_t end = (pixels - kBeyond) / kStep * kStep;
    const auto byte = hn::Set(du, 255);

    HWY_ALIGN std::uint32_t v[kRowBlock];
    for (std::size_t x = 0; x < end; x += kStep) {
        const auto pixel = PixelLanes::load(rgb + 3 * x);
        const auto g = hn::And(hn::ShiftRight<8>(pixel), byte);
        hn::Store(hn::Max(hn::Max(hn::And(pixel, byte), g), hn::ShiftRight<16>(pixel)), du, v + x);
    }
    HWY_ALIGN float factor[kRowBlock];
    look_up(factors, v, end, factor);

    const auto grid = hn::Set(d, kGrid);
    const auto black = hn::Set(d, 1 / kBlackFactor);
    const auto round = hn::Set(d, kRound);
    for (std::size_t x = 0; x < end; x += kStep) {
        const auto pixel = PixelLanes::load(rgb + 3 * x);
        const auto f = hn::Load(d, factor + x);
        const auto pedestal = hn::MulAdd(f, black, grid);
        const auto new_byte = [&](auto sample) HWY_ATTR {
            const auto product = hn::MulAdd(hn::ConvertTo(d, hn::BitCast(di, sample)), f, pedestal);
            return hn::BitCast(du, hn::Add(product, round));
        };
        const auto r = hn::And(new_byte(hn::And(pixel, byte)), byte);
        const auto g = hn::And(new_byte(hn::And(hn::ShiftRight<8>(pixel), byte)), byte);
        const auto b = new_byte(hn::ShiftRight<16>(pixel));
        PixelLanes::store(hn::Or(hn::Or(r, hn::ShiftLeft<8>(g)), hn::ShiftLeft<16>(b)), out + 3 * x);
    }
    return end;
}
#else
std::size_t ScalePixels(const std::uint8_t*, std::size_t, const ByteFactors&, std::uint8_t*) { return 0; }
#endif

/// Processes up to kRowBlock + kBeyond pixels.
void ScaleBlock(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors, std::uint8_t* out) {
    for (std::size_t x = ScalePixels(rgb, pixels, factors, out); x < pixels; ++x) {
        const std::uint8_t* pixel = rgb + 3 * x;
        const float factor = factors[std::max({pixel[0], pixel[1], pixel[2]})];
        for (std::size_t c = 0; c < 3; ++c)
            out[3 * x + c] = scaled(pixel[c], factor);
    }
}

void ScaleRow(const std::uint8_t* rgb, std::size_t pixels, const ByteFactors& factors, std::uint8_t* out) {
    constexpr std::size_t kBytes = 3 * kRowBlock;
    // Full blocks in vectors: the next block overwrites what they write beyond their end.
    for (; pixels >= kRowBlock + kBeyond; pixels -= kRowBlock, rgb += kBytes, out += kBytes) {
        for (std::size_t ahead = kBytes; ahead < 2 * kBytes; ahead += 64) {
            __builtin_prefetch(rgb + ahead, 0);
            __builtin_prefetch(out + ahead, 1);
        }
        ScaleBlock(rgb, kRowBlock + kBeyond, factors, out);
    }
    ScaleBlock(rgb, pixels, factors, out);
}

/// As for bytes, in float64: sample·factor + 2³² has steps of 2⁻²⁰, products that are not ties stay 2⁻¹⁷ away
/// from one, and kBlackWordFactor adds at most 2⁻²².
constexpr double kWordGrid = 4294967296.0;
constexpr double kBlackWordFactor = 274877906944.0; // 2³⁸
/// Adding it makes ties even; includes the grid constant.
constexpr double kWordRound = 4503599627370496.0; // 2⁵²

std::uint16_t scaled(std::uint16_t sample, double factor) {
    const double product = static_cast<double>(sample) * factor + (factor / kBlackWordFactor + kWordGrid);
    return static_cast<std::uint16_t>((product + (kWordRound - kWordGrid)) - kWordRound);
}

/// V'/V three times per pixel; V = 0: kBlackWordFactor·V'.
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
/// Look-up in a table of 256 by shuffles, which look up 16 entries and give 0 for an index with its highest
/// bit set. For bytes − 16·k, saturated, that bit is set from the first too large k on, so that xor
/// differences of neighbouring parts of the table add up to the wanted part; for either half of the table.
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
    /// The index without the bits between its lowest four and its highest, which shuffles of x86 ignore.
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
