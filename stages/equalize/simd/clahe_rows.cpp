// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/equalize/simd/clahe_rows.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/equalize/simd/clahe_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/equalize/simd/clahe_color-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// V of `count` pixels; grey integer pixels are returned directly.
template <class T, int kChannels>
const T* values_of(const T* HWY_RESTRICT pixels, int count, std::byte* memory) {
    if constexpr (kChannels == 1 && sizeof(T) < 4)
        return pixels;
    T* HWY_RESTRICT values = reinterpret_cast<T*>(memory);
    if constexpr (kChannels == 3)
        color_values(pixels, count, values);
    else
        for (int i = 0; i < count; ++i)
            values[i] = grey_value(pixels[i]);
    return values;
}

template <class T> void bins_of(const T* HWY_RESTRICT values, int count, const ClaheLevels& given,
                                std::uint32_t* HWY_RESTRICT bins) {
    const ClaheLevels levels = given;
    for (int i = 0; i < count; ++i)
        bins[i] = static_cast<std::uint32_t>(clahe_bin(static_cast<float>(values[i]), levels));
}

template <int kChannels> ClaheRange range_of(const View<const float>& image, int begin, int end) {
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto width = static_cast<std::size_t>(image.width);
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    auto low = infinity;
    auto high = hn::Neg(infinity);
    ClaheRange range;
    for (int y = begin; y < end; ++y) {
        const float* row = image.row(y);
        std::size_t x = 0;
        for (; x + lanes <= width; x += lanes) {
            hn::Vec<decltype(d)> value, rest;
            if constexpr (kChannels == 1) {
                value = hn::LoadU(d, row + x);
                rest = hn::Sub(value, value);
            } else {
                hn::Vec<decltype(d)> r, g, b;
                hn::LoadInterleaved3(d, row + 3 * x, r, g, b);
                value = hn::Max(hn::Max(hn::Max(r, g), b), hn::Zero(d));
                rest = hn::Add(hn::Sub(r, r), hn::Add(hn::Sub(g, g), hn::Sub(b, b)));
            }
            const auto finite = hn::Eq(rest, hn::Zero(d));
            low = hn::Min(low, hn::IfThenElse(finite, value, infinity));
            high = hn::Max(high, hn::IfThenElse(finite, value, hn::Neg(infinity)));
        }
        for (; x < width; ++x) {
            const float value =
                kChannels == 1 ? grey_value(row[x]) : hsv_value(row[3 * x], row[3 * x + 1], row[3 * x + 2]);
            range.low = value < range.low ? value : range.low;
            range.high = value > range.high ? value : range.high;
        }
    }
    range.low = std::min(range.low, hn::GetLane(hn::MinOfLanes(d, low)));
    range.high = std::max(range.high, hn::GetLane(hn::MaxOfLanes(d, high)));
    return range;
}

/// Adds one to `counts` at each index. Neighbours are often equal, so that they use separate histograms and
/// do not wait for each other.
template <class Index>
void count_row(const Index* HWY_RESTRICT indices, int count, std::uint32_t* const (&counts)[4]) {
    int i = 0;
    if constexpr (sizeof(Index) == 1) // eight per load
        for (; i + 8 <= count; i += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, indices + i, 8);
            for (int k = 0; k < 8; ++k)
                ++counts[k % 4][eight >> (8 * k) & 0xffU];
        }
    for (; i + 4 <= count; i += 4) {
        ++counts[0][indices[i]];
        ++counts[1][indices[i + 1]];
        ++counts[2][indices[i + 2]];
        ++counts[3][indices[i + 3]];
    }
    for (; i < count; ++i)
        ++counts[0][indices[i]];
}

template <class T, int kChannels> void count_tile(const View<const T>& image, const ClaheArea& tile,
                                                  const ClaheLevels& levels, const ClaheScratch& scratch) {
    const auto count_span = [&](const T* pixels, int count) {
        const T* values = values_of<T, kChannels>(pixels, count, scratch.values);
        if constexpr (sizeof(T) == 1) {
            count_row(values, count, scratch.tables);
        } else {
            bins_of(values, count, levels, scratch.bins);
            count_row(scratch.bins, count, scratch.tables);
        }
    };
    const int inside = std::min(tile.x1, image.width);
    for (int y = tile.y0; y < tile.y1; ++y) {
        const T* row = image.row(clahe_mirrored(y, image.height));
        if (tile.x0 < inside)
            count_span(row + static_cast<std::ptrdiff_t>(tile.x0) * kChannels, inside - tile.x0);
        for (int x = std::max(tile.x0, inside); x < tile.x1; ++x)
            count_span(row + static_cast<std::ptrdiff_t>(clahe_mirrored(x, image.width)) * kChannels, 1);
    }
}

/// Adds the four histograms into tables[0], by bin.
template <class T> void gather_counts(const ClaheLevels& levels, int entries, const ClaheScratch& scratch) {
    std::uint32_t* counts = scratch.tables[0];
    for (int k = 1; k < 4; ++k)
        for (int i = 0; i < entries; ++i)
            counts[i] += scratch.tables[k][i];
    if constexpr (sizeof(T) == 1)
        for (int i = 0; i < entries; ++i) { // a value's bin is not above the value
            const std::uint32_t here = counts[i];
            counts[i] = 0;
            counts[clahe_bin(static_cast<float>(i), levels)] += here;
        }
}

template <class T>
void map_counts(const std::uint32_t* counts, const ClaheLevels& levels, int limit, T* mapping) {
    int clipped = 0;
    for (int i = 0; i < levels.bins; ++i)
        clipped += std::max(0, static_cast<int>(counts[i]) - limit);
    const ClaheShare share = clahe_share(limit > 0 ? clipped : 0, levels.bins);
    int below = 0;
    int next = 0; // next bin that gets one of the remainder
    int rest = share.rest;
    for (int i = 0; i < levels.bins; ++i) {
        int height = static_cast<int>(counts[i]);
        if (limit > 0)
            height = std::min(height, limit) + share.each;
        if (i == next && rest > 0) {
            ++height;
            --rest;
            next += share.step;
        }
        below += height;
        mapping[i] = clahe_mapped<T>(below, levels);
    }
}

template <class T, int kChannels> void map_tile(const ConstHostView& image, const ClaheArea& tile,
                                                const ClaheLevels& levels, int limit, std::byte* mapping,
                                                const ClaheScratch& scratch) {
    const int entries = clahe_table_entries(image.shape.type, levels.bins);
    for (std::uint32_t* counts : scratch.tables)
        std::fill_n(counts, entries, 0U);
    count_tile<T, kChannels>(image.as<T>(), tile, levels, scratch);
    gather_counts<T>(levels, entries, scratch);
    map_counts(scratch.tables[0], levels, limit, reinterpret_cast<T*>(mapping));
}

template <class T> class CellMapper {
    static constexpr int kTables = sizeof(T);     // of words
    static constexpr int kInWord = 4 / sizeof(T); // corners per word
    static constexpr int kBits = 8 * sizeof(T);
    using DF = hn::ScalableTag<float>;
    using DI = hn::RebindToSigned<DF>;
    using DU = hn::RebindToUnsigned<DF>;
    using V = hn::Vec<DF>;

public:
    CellMapper(const ClaheCell& cell, const ClaheLevels& levels, const ClaheScratch& scratch)
        : cell_(cell), levels_(levels), scratch_(scratch) {
        const int entries = clahe_table_entries(cell.input.shape.type, levels.bins);
        for (int i = 0; i < entries; ++i) {
            const int bin =
                sizeof(T) == 1 ? clahe_bin(static_cast<float>(i), levels) : std::min(i, levels.bins - 1);
            for (int table = 0; table < kTables; ++table) {
                std::uint32_t word = 0;
                for (int k = kInWord - 1; k >= 0; --k) {
                    const T value = reinterpret_cast<const T*>(cell.mappings[table * kInWord + k])[bin];
                    if constexpr (kInWord == 1)
                        std::memcpy(&word, &value, 4);
                    else
                        word = word << kBits | static_cast<std::uint32_t>(value);
                }
                scratch.tables[table][i] = word;
            }
        }
    }

    template <int kChannels> void run() const {
        const ClaheArea& area = cell_.area;
        const int count = area.x1 - area.x0;
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(area.x0) * kChannels;
        for (int y = area.y0; y < area.y1; ++y) {
            const T* in = cell_.input.as<T>().row(y) + first;
            T* out = cell_.output.as<T>().row(y) + first;
            const T* values = values_of<T, kChannels>(in, count, scratch_.values);
            look_up(values, count);
            T* results = kChannels == 1 ? out : reinterpret_cast<T*>(scratch_.results);
            blend(count, cell_.below[y], results);
            put<kChannels>(in, values, results, count, out);
        }
    }

private:
    void look_up(const T* HWY_RESTRICT values, int count) const {
        if constexpr (sizeof(T) > 1)
            bins_of(values, count, levels_, scratch_.bins);
        for (int table = 0; table < kTables; ++table) {
            std::uint32_t* HWY_RESTRICT words = scratch_.words[table];
            const std::uint32_t* HWY_RESTRICT entries = scratch_.tables[table];
            for (int i = 0; i < count; ++i) {
                if constexpr (sizeof(T) == 1)
                    words[i] = entries[values[i]];
                else
                    words[i] = entries[scratch_.bins[i]];
            }
        }
    }

    template <int kCorner> HWY_INLINE V corner(int i) const {
        const DF df;
        const DU du;
        const auto word = hn::LoadU(du, scratch_.words[kCorner / kInWord] + i);
        if constexpr (kInWord == 1)
            return hn::BitCast(df, word);
        else {
            const auto shifted = hn::ShiftRight<(kCorner % kInWord) * kBits>(word);
            const auto value = hn::And(shifted, hn::Set(du, (1U << (kInWord == 1 ? 0 : kBits)) - 1));
            return hn::ConvertTo(df, hn::BitCast(DI(), value));
        }
    }

    /// Vector form of clahe_blend.
    void blend(int count, float below, T* HWY_RESTRICT results) const {
        const DF df;
        const int lanes = static_cast<int>(hn::Lanes(df));
        const float* weights = cell_.right + cell_.area.x0;
        const V lower = hn::Set(df, below);
        const V one = hn::Set(df, 1.0F);
        const V upper = hn::Sub(one, lower);
        int i = 0;
        for (; i + lanes <= count; i += lanes) {
            const V right = hn::LoadU(df, weights + i);
            const V left = hn::Sub(one, right);
            const V first = hn::Add(hn::Mul(corner<0>(i), left), hn::Mul(corner<1>(i), right));
            const V second = hn::Add(hn::Mul(corner<2>(i), left), hn::Mul(corner<3>(i), right));
            const V value = hn::Add(hn::Mul(first, upper), hn::Mul(second, lower));
            if constexpr (sizeof(T) == 4) {
                hn::StoreU(value, df, results + i);
            } else {
                const hn::Rebind<T, DF> dt;
                hn::StoreU(hn::DemoteTo(dt, hn::NearestInt(value)), dt, results + i);
            }
        }
        for (; i < count; ++i) {
            float corners[4];
            for (int k = 0; k < 4; ++k) {
                const std::uint32_t word = scratch_.words[k / kInWord][i];
                if constexpr (kInWord == 1)
                    std::memcpy(&corners[k], &word, 4);
                else
                    corners[k] = static_cast<float>(static_cast<T>(word >> ((k % kInWord) * kBits)));
            }
            const float value = clahe_blend(corners, weights[i], below);
            if constexpr (sizeof(T) == 4)
                results[i] = value;
            else
                results[i] = static_cast<T>(rintf(value));
        }
    }

    /// Colour from V; non-finite pixels stay unchanged.
    template <int kChannels> static void put(const T* HWY_RESTRICT in, const T* HWY_RESTRICT values,
                                             const T* results, int count, T* out) {
        if constexpr (kChannels == 1 && sizeof(T) == 4)
            for (int i = 0; i < count; ++i)
                out[i] = counts(values[i]) ? results[i] : in[i];
        if constexpr (kChannels == 3)
            scale_colors(in, values, results, count, out);
    }

    const ClaheCell& cell_;
    const ClaheLevels& levels_;
    const ClaheScratch& scratch_;
};

ClaheRange RangeOf(const ConstHostView& image, int begin, int end) {
    const auto view = image.as<float>();
    return view.channels == 1 ? range_of<1>(view, begin, end) : range_of<3>(view, begin, end);
}

void MapTile(const ConstHostView& image, const ClaheArea& tile, const ClaheLevels& levels, int limit,
             std::byte* mapping, std::byte* memory) {
    const ClaheScratch scratch(memory, image.shape, levels.bins);
    dispatch(image.shape.type, [&](auto zero) {
        if (image.shape.channels == 1)
            map_tile<decltype(zero), 1>(image, tile, levels, limit, mapping, scratch);
        else
            map_tile<decltype(zero), 3>(image, tile, levels, limit, mapping, scratch);
    });
}

void MapCell(const ClaheCell& cell, const ClaheLevels& levels, std::byte* memory) {
    const ClaheScratch scratch(memory, cell.input.shape, levels.bins);
    dispatch(cell.input.shape.type, [&](auto zero) {
        const CellMapper<decltype(zero)> mapper(cell, levels, scratch);
        if (cell.input.shape.channels == 1)
            mapper.template run<1>();
        else
            mapper.template run<3>();
    });
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RangeOf);
HWY_EXPORT(MapTile);
HWY_EXPORT(MapCell);

std::size_t clahe_scratch_bytes(const Shape& input, int bins) { return ClaheScratch::bytes(input, bins); }

ClaheRange clahe_range(ConstHostView image, int begin, int end) {
    return HWY_DYNAMIC_DISPATCH(RangeOf)(image, begin, end);
}

void clahe_map_tile(ConstHostView image, const ClaheArea& tile, const ClaheLevels& levels, int limit,
                    std::byte* mapping, std::byte* scratch) {
    HWY_DYNAMIC_DISPATCH(MapTile)(image, tile, levels, limit, mapping, scratch);
}

void clahe_map_cell(const ClaheCell& cell, const ClaheLevels& levels, std::byte* scratch) {
    HWY_DYNAMIC_DISPATCH(MapCell)(cell, levels, scratch);
}

} // namespace specklescope
#endif
