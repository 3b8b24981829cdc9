// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/geometry/simd/geometry_rows.hpp"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/geometry/simd/geometry_rows.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The scalar target has no blocks: its loops process single pixels.
#if HWY_TARGET == HWY_SCALAR
inline constexpr bool kBlocks = false;
#else
inline constexpr bool kBlocks = true;
#endif
template <class T> using Block = hn::CappedTag<T, 16 / sizeof(T)>; // 16 bytes
template <class T> inline constexpr int kSide = 16 / sizeof(T);

template <class T> HWY_INLINE hn::Vec<Block<T>> reversed(hn::Vec<Block<T>> v) {
    const Block<T> d;
    if constexpr (kBlocks && sizeof(T) == 1) {
        const hn::CappedTag<std::uint16_t, 8> pairs;
        const auto swapped = hn::Reverse(pairs, hn::BitCast(pairs, v));
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(swapped), hn::ShiftRight<8>(swapped)));
    } else if constexpr (kBlocks) {
        return hn::Reverse(d, v);
    } else {
        return v;
    }
}

template <class T, int kChannels> void reverse(const T* from, T* to, int pixels) {
    constexpr int side = kSide<T>;
    const Block<T> d;
    int i = 0;
    for (; kBlocks && i + side <= pixels; i += side) {
        const T* in = from + static_cast<std::ptrdiff_t>(pixels - side - i) * kChannels;
        T* out = to + static_cast<std::ptrdiff_t>(i) * kChannels;
        if constexpr (kChannels == 1) {
            hn::StoreU(reversed<T>(hn::LoadU(d, in)), d, out);
        } else {
            hn::Vec<Block<T>> r, g, b;
            hn::LoadInterleaved3(d, in, r, g, b);
            hn::StoreInterleaved3(reversed<T>(r), reversed<T>(g), reversed<T>(b), d, out);
        }
    }
    for (; i < pixels; ++i)
        for (int c = 0; c < kChannels; ++c)
            to[i * kChannels + c] = from[(pixels - 1 - i) * kChannels + c];
}

#if HWY_TARGET != HWY_SCALAR
/// Turns the rows of a block into columns: each round halves the distance between samples to pair.
template <class T> HWY_INLINE void transpose(hn::Vec<Block<T>> (&rows)[16 / sizeof(T)]) {
    constexpr int side = kSide<T>;
    const Block<T> d;
    for (int round = 1; round < side; round *= 2) {
        hn::Vec<Block<T>> mixed[side];
        for (int i = 0; i < side / 2; ++i) {
            mixed[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + side / 2]);
            mixed[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + side / 2]);
        }
        for (int i = 0; i < side; ++i)
            rows[i] = mixed[i];
    }
}
#endif

/// One quarter turn clockwise, or three: output (x, y) is input (y, height − 1 − x), or (width − 1 − y, x).
template <class T, int kChannels> class Turn {
    using V = hn::Vec<Block<T>>;
    static constexpr int side = kSide<T>;

public:
    Turn(const ConstHostView& input, const HostView& output, int turns)
        : in_(input.as<T>()), out_(output.as<T>()), once_(turns == 1) {}

    /// Pixels [x, x1) of the output rows made from input columns [column, column1).
    void rows(int x, int x1, int column, int column1) const {
#if HWY_TARGET != HWY_SCALAR
        for (; column + side <= column1; column += side) {
            int at = x;
            for (; at + side <= x1; at += side)
                block(at, column);
            single(at, x1, column, column + side);
        }
#endif
        single(x, x1, column, column1);
    }

private:
    const T* from(int x, int column) const {
        return in_.row(once_ ? in_.height - 1 - x : x) + static_cast<std::ptrdiff_t>(column) * kChannels;
    }
    T* to(int x, int column) const {
        return out_.row(once_ ? column : in_.width - 1 - column) + static_cast<std::ptrdiff_t>(x) * kChannels;
    }

#if HWY_TARGET != HWY_SCALAR
    void block(int x, int column) const {
        const Block<T> d;
        V planes[kChannels][side];
        for (int i = 0; i < side; ++i) {
            if constexpr (kChannels == 1)
                planes[0][i] = hn::LoadU(d, from(x + i, column));
            else
                hn::LoadInterleaved3(d, from(x + i, column), planes[0][i], planes[1][i], planes[2][i]);
        }
        for (int c = 0; c < kChannels; ++c)
            transpose<T>(planes[c]);
        for (int i = 0; i < side; ++i) {
            if constexpr (kChannels == 1)
                hn::StoreU(planes[0][i], d, to(x, column + i));
            else
                hn::StoreInterleaved3(planes[0][i], planes[1][i], planes[2][i], d, to(x, column + i));
        }
    }
#endif

    void single(int x, int x1, int column, int column1) const {
        for (int k = column; k < column1; ++k)
            for (int i = x; i < x1; ++i)
                for (int c = 0; c < kChannels; ++c)
                    to(i, k)[c] = from(i, k)[c];
    }

    View<const T> in_;
    View<T> out_;
    bool once_;
};

template <class T, int kChannels>
void turn(const ConstHostView& input, const HostView& output, int turns, int begin, int end) {
    // A tile is one cache line wide in the input, and its rows stay in the L1 cache.
    constexpr int tile = 64;
    const Turn<T, kChannels> turned(input, output, turns);
    const int column0 = turns == 1 ? begin : input.shape.width - end;
    const int column1 = turns == 1 ? end : input.shape.width - begin;
    for (int column = column0; column < column1; column += tile)
        for (int x = 0; x < output.shape.width; x += tile)
            turned.rows(x, std::min(x + tile, output.shape.width), column, std::min(column + tile, column1));
}

/// 16 rows of u8 fit 16 bits, a block of u16 fits 32.
template <class T> using SumOfBlock = std::conditional_t<std::is_same_v<T, float>, double, std::uint32_t>;
template <class T> using SumOfColumn = std::conditional_t<sizeof(T) == 1, std::uint16_t, SumOfBlock<T>>;

/// kFactor 0: use `factor`.
template <class T, int kChannels, int kFactor, class Sum>
void block_means(const Sum* sums, T* out, int width, int factor) {
    const int f = kFactor > 0 ? kFactor : factor;
    for (int x = 0; x < width; ++x)
        for (int c = 0; c < kChannels; ++c) {
            const Sum* block = sums + static_cast<std::ptrdiff_t>(x) * f * kChannels + c;
            SumOfBlock<T> sum = block[0];
            for (int i = 1; i < f; ++i)
                sum += block[i * kChannels];
            if constexpr (std::is_same_v<T, float>)
                out[x * kChannels + c] = static_cast<float>(sum / (f * f));
            else
                out[x * kChannels + c] = static_cast<T>(mean_even(sum, f * f));
        }
}

/// Means of 2 × 2 for as many pixels as fill vectors; returns their number.
template <class T, int kChannels>
int halve([[maybe_unused]] const T* HWY_RESTRICT first, [[maybe_unused]] const T* HWY_RESTRICT second,
          [[maybe_unused]] T* HWY_RESTRICT out, [[maybe_unused]] int width) {
    int x = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<T> d;
    const hn::RepartitionToWide<decltype(d)> wide;
    const hn::RebindToSigned<decltype(wide)> whole;
    constexpr int kBits = 8 * sizeof(T);
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto pairs = [&](auto v) HWY_ATTR {
        const auto both = hn::BitCast(wide, v);
        return hn::Add(hn::ShiftRight<kBits>(both), hn::ShiftRight<kBits>(hn::ShiftLeft<kBits>(both)));
    };
    const auto means = [&](auto above, auto below) HWY_ATTR {
        const auto one = hn::Set(wide, 1);
        const auto sum = hn::Add(pairs(above), pairs(below));
        const auto odd = hn::And(hn::ShiftRight<2>(sum), one); // ties to even
        const auto mean = hn::ShiftRight<2>(hn::Add(sum, hn::Add(one, odd)));
        return hn::DemoteTo(hn::Half<decltype(d)>(), hn::BitCast(whole, mean));
    };
    using V = hn::Vec<decltype(d)>;
    const auto load = [&](const T* from, V* v) HWY_ATTR {
        if constexpr (kChannels == 1)
            v[0] = hn::LoadU(d, from);
        else
            hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    };
    for (; x + lanes <= width; x += lanes) {
        V rows[4][kChannels]; // above and below, of the left and the right half
        for (int i = 0; i < 4; ++i)
            load((i % 2 == 0 ? first : second) +
                     static_cast<std::ptrdiff_t>(2 * x + i / 2 * lanes) * kChannels,
                 rows[i]);
        V v[kChannels];
        for (int c = 0; c < kChannels; ++c)
            v[c] = hn::Combine(d, means(rows[2][c], rows[3][c]), means(rows[0][c], rows[1][c]));
        T* to = out + static_cast<std::ptrdiff_t>(x) * kChannels;
        if constexpr (kChannels == 1)
            hn::StoreU(v[0], d, to);
        else
            hn::StoreInterleaved3(v[0], v[1], v[2], d, to);
    }
#endif
    return x;
}

/// The same for grey f32, with the sums of block_means().
int halve_reals([[maybe_unused]] const float* HWY_RESTRICT first,
                [[maybe_unused]] const float* HWY_RESTRICT second, [[maybe_unused]] float* HWY_RESTRICT out,
                [[maybe_unused]] int width) {
    int x = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> f;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (; x + lanes <= width; x += lanes) {
        hn::Vec<decltype(f)> above[2], below[2]; // left and right samples
        hn::LoadInterleaved2(f, first + static_cast<std::ptrdiff_t>(2) * x, above[0], above[1]);
        hn::LoadInterleaved2(f, second + static_cast<std::ptrdiff_t>(2) * x, below[0], below[1]);
        const auto left = hn::Add(hn::PromoteTo(d, above[0]), hn::PromoteTo(d, below[0]));
        const auto right = hn::Add(hn::PromoteTo(d, above[1]), hn::PromoteTo(d, below[1]));
        hn::StoreU(hn::DemoteTo(f, hn::Mul(hn::Add(left, right), hn::Set(d, 0.25))), f, out + x);
    }
#endif
    return x;
}

template <class T, int kChannels>
void mean(const ConstHostView& input, const HostView& output, int factor, int row, std::byte* scratch) {
    using Sum = SumOfColumn<T>;
    const auto in = input.as<T>();
    const auto out = output.as<T>();
    Sum* HWY_RESTRICT sums = reinterpret_cast<Sum*>(scratch);
    int done = 0;
    if constexpr (!std::is_same_v<T, float>) {
        if (factor == 2)
            done = halve<T, kChannels>(in.row(2 * row), in.row(2 * row + 1), out.row(row), out.width);
    } else if constexpr (kChannels == 1) {
        if (factor == 2)
            done = halve_reals(in.row(2 * row), in.row(2 * row + 1), out.row(row), out.width);
    }
    const std::ptrdiff_t skipped = static_cast<std::ptrdiff_t>(done) * kChannels;
    const int samples = (out.width - done) * factor * kChannels;
    const T* HWY_RESTRICT first = in.row(row * factor) + skipped * factor;
    for (int i = 0; i < samples; ++i)
        sums[i] = static_cast<Sum>(first[i]);
    for (int line = 1; line < factor; ++line) {
        const T* HWY_RESTRICT next = in.row(row * factor + line) + skipped * factor;
        for (int i = 0; i < samples; ++i)
            sums[i] = static_cast<Sum>(sums[i] + static_cast<Sum>(next[i]));
    }
    if (factor == 2)
        block_means<T, kChannels, 2>(sums, out.row(row) + skipped, out.width - done, factor);
    else if (factor == 4)
        block_means<T, kChannels, 4>(sums, out.row(row) + skipped, out.width - done, factor);
    else
        block_means<T, kChannels, 0>(sums, out.row(row) + skipped, out.width - done, factor);
    if constexpr (std::is_same_v<T, float>) {
        int odd = 0; // a loop without branches uses vectors
        for (int i = 0; i < out.width * kChannels; ++i)
            odd |= is_sample(out.row(row)[i]) ? 0 : 1;
        for (int i = 0; odd != 0 && i < out.width * kChannels; ++i)
            if (float& result = out.row(row)[i]; !is_sample(result))
                result = mean_of_numbers(factor, [&](int line, int column) {
                    return in.row(row * factor +
                                  line)[(i / kChannels * factor + column) * kChannels + i % kChannels];
                });
    }
}

template <class F> void by_kind(const Shape& shape, F&& f) {
    dispatch(shape.type, [&](auto zero) {
        if (shape.channels == 1)
            f(zero, std::integral_constant<int, 1>());
        else
            f(zero, std::integral_constant<int, 3>());
    });
}

void ReverseRow(const std::byte* from, std::byte* to, int pixels, int channels, PixelType type) {
    by_kind({pixels, 1, channels, type}, [&](auto zero, auto count) {
        using T = decltype(zero);
        reverse<T, decltype(count)::value>(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to),
                                           pixels);
    });
}

void RotateRows(const ConstHostView& input, const HostView& output, int turns, int begin, int end) {
    by_kind(input.shape, [&](auto zero, auto count) {
        turn<decltype(zero), decltype(count)::value>(input, output, turns, begin, end);
    });
}

void MeanRow(const ConstHostView& input, const HostView& output, int factor, int row, std::byte* sums) {
    by_kind(input.shape, [&](auto zero, auto count) {
        mean<decltype(zero), decltype(count)::value>(input, output, factor, row, sums);
    });
}

void NearestRow(const ConstHostView& input, const HostView& output, int factor, int row) {
    by_kind(input.shape, [&](auto zero, auto count) {
        using T = decltype(zero);
        constexpr int channels = decltype(count)::value;
        const T* in = input.as<T>().row(row * factor);
        T* out = output.as<T>().row(row);
        for (int x = 0; x < output.shape.width; ++x)
            for (int c = 0; c < channels; ++c)
                out[x * channels + c] = in[static_cast<std::ptrdiff_t>(x) * factor * channels + c];
    });
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(ReverseRow);
HWY_EXPORT(RotateRows);
HWY_EXPORT(MeanRow);
HWY_EXPORT(NearestRow);

void reverse_row(const std::byte* from, std::byte* to, int pixels, int channels, PixelType type) {
    HWY_DYNAMIC_DISPATCH(ReverseRow)(from, to, pixels, channels, type);
}

void rotate_rows(ConstHostView input, HostView output, int turns, int begin, int end) {
    HWY_DYNAMIC_DISPATCH(RotateRows)(input, output, turns, begin, end);
}

std::size_t mean_scratch_bytes(const Shape& input) {
    const std::size_t sum = input.type == PixelType::f32 ? sizeof(double) : sizeof(std::uint32_t);
    return static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.channels) * sum;
}

void mean_row(ConstHostView input, HostView output, int factor, int row, std::byte* sums) {
    HWY_DYNAMIC_DISPATCH(MeanRow)(input, output, factor, row, sums);
}

void nearest_row(ConstHostView input, HostView output, int factor, int row) {
    HWY_DYNAMIC_DISPATCH(NearestRow)(input, output, factor, row);
}

} // namespace specklescope
#endif
