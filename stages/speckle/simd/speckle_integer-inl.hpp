// Speckle contrast of u8 and u16, exact: running sums along the columns; along the row, sums of 3 and 9
// columns, of which at most five form a window, so that the cost hardly depends on the radius. Only the last
// division is floating point.
#if defined(SPECKLESCOPE_SPECKLE_INTEGER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_INTEGER_INL
#undef SPECKLESCOPE_SPECKLE_INTEGER_INL
#else
#define SPECKLESCOPE_SPECKLE_INTEGER_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/speckle/simd/speckle_window-inl.hpp"

#include <array>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// T: pixels; Square: sums of squares, u32 (narrow sums) or u64 (wide sums).
template <class T, class Square> class IntegerTile {
    using Math = WindowMath<Square>;
    using Sum = typename Math::Sum;
    using D32 = typename Math::D32;
    using DF = typename Math::DF;
    using DU32Half = typename Math::DU32Half;
    using DSquare = typename Math::DSquare;
    using V32 = typename Math::V32;
    using VSquare = typename Math::VSquare;
    using Windows = typename Math::Windows;
    static constexpr bool kWide = Math::kWide;
    static constexpr std::size_t kLanes = Math::kLanes;
    static constexpr std::size_t kSquareLanes = Math::kSquareLanes;

    using VF = hn::Vec<DF>;
    static constexpr int kVector = static_cast<int>(kLanes);
    /// Vectors of a row finished together, to reduce the overhead of the loop over the terms of a window
    /// (three or four did not help: docs/performance.md, Host).
    static constexpr int kBlock = 2;

    /// Sums per column, of samples and of their squares; index 0 is the first image column.
    struct Columns {
        Sum* sums = nullptr;
        Square* squares = nullptr;
    };

public:
    IntegerTile(const SpeckleTile& tile, std::byte* scratch)
        : tile_(tile), columns_(tile), input_(tile.input.as<const T>()), window_(2 * tile.params.radius + 1),
          reference_(kWide ? 0 : tile.reference) {
        const std::size_t count = TileColumns::buffer_columns(tile.params.radius, tile.x1 - tile.x0);
        ScratchCutter cut(scratch);
        for (int level = 0; level < kLevels; ++level)
            levels_[level] = {start(cut.take_in_page<Sum>(kPlace[level], count), count),
                              start(cut.take_in_page<Square>(kPlace[level] + kSquaresPlace, count), count)};
        const auto width = static_cast<std::size_t>(input_.width);
        zeros_ = cut.take<T>(width);
        references_ = cut.take<T>(width);
        std::fill_n(zeros_, width, T{0});
        std::fill_n(references_, width, static_cast<T>(reference_));
        for (double*& sums : sums_)
            sums = cut.take<double>(count);
        choose_terms();
        streamed_ = tile.streamed && tile.x0 % 16 == 0;
        columns_.for_border([&](int index) { sources_[borders_++] = {index, columns_.source(index, tile)}; });
    }

    /// False if samples were larger than declared by the tile.
    bool run(PixelCounts& counts) {
        using Output = SpeckleParams::Output;
        if (tile_.finish) {
            tile_.finish->corrects ? rows_of_sums<double>(counts) : rows_of_sums<float>(counts);
            return fits_;
        }
        switch (tile_.params.output) {
        case Output::sfi:
        case Output::bfi:
            rows<Output::sfi>(counts);
            break;
        case Output::contrast:
            rows<Output::contrast>(counts);
            break;
        case Output::contrast2:
        case Output::tau:
            rows<Output::contrast2>(counts);
            break;
        case Output::mean:
        case Output::error:
            break; // not without `finish`
        }
        return fits_;
    }

private:
    template <class U> static U* start(U* buffer, std::size_t count) {
        std::fill_n(buffer, count, U{0});
        return buffer + TileColumns::kLead;
    }

    const T* row_at(int y) const {
        const int row = border_index(y, input_.height, tile_.params.border);
        return row < 0 ? zeros_ : input_.row(row);
    }

    /// Chooses the columns of a window, from the widest groups down.
    void choose_terms() {
        top_ = WindowGroups::top_level(window_);
        int at = -columns_.left;
        const int end = at + window_;
        for (int level = top_; level >= 0; --level)
            for (; at + kGroup[level] <= end; at += kGroup[level])
                terms_[term_count_++] = {levels_[level].sums + at, levels_[level].squares + at};
    }

    template <SpeckleParams::Output kOutput> void rows(PixelCounts& counts) {
        const View<float> output = tile_.output.as<float>();
        each_row([&](int y) HWY_ATTR {
            if (term_count_ == 3)
                finish_row<kOutput, 3>(output.row(y) + tile_.x0, counts);
            else
                finish_row<kOutput, kMostTerms>(output.row(y) + tile_.x0, counts);
        });
        hwy::FlushStream();
    }

    /// Images from the sums of each row.
    template <class Real> void rows_of_sums(PixelCounts& counts) {
        const int width = tile_.x1 - tile_.x0;
        Real* const s = reinterpret_cast<Real*>(sums_[0]);
        Real* const d = reinterpret_cast<Real*>(sums_[1]);
        each_row([&](int y) HWY_ATTR {
            if (term_count_ == 3)
                sum_row<3>(s, d);
            else
                sum_row<kMostTerms>(s, d);
            finish_contrast_row(*tile_.finish, s, d, width, tile_.x0, y);
            count_non_finite({tile_.finish->row(0, y) + tile_.x0, static_cast<std::size_t>(width)}, counts);
        });
    }

    /// Calls f(y) with the sums of the windows of row y in terms_.
    template <class F> HWY_INLINE void each_row(F&& f) {
        const int radius = tile_.params.radius;
        const int shift = tile_.params.border == Border::crop ? radius : 0;
        begin_zero_columns();
        // Replacing a row of the reference by the first rows adds them: the reference contributes nothing.
        for (int y = tile_.y0 + shift - radius; y < tile_.y0 + shift + radius; ++y)
            replace_row(y, references_);
        for (int y = tile_.y0; y < tile_.y1; ++y) {
            const int centre = y + shift;
            replace_row(centre + radius, y == tile_.y0 ? references_ : row_at(centre - radius - 1));
            fill_border();
            for (int level = 0; level < top_; ++level)
                add_groups(levels_[level], kGroup[level], levels_[level + 1]);
            f(y);
        }
    }

    /// Border columns of zeros stay the same for all rows.
    void begin_zero_columns() {
        if (tile_.params.border != Border::zero)
            return;
        const auto n = static_cast<Square>(window_);
        columns_.for_border([&](int index) {
            levels_[0].sums[index] = static_cast<Sum>(0U - static_cast<Sum>(n) * reference_);
            levels_[0].squares[index] = n * reference_ * reference_;
        });
    }

    void fill_border() {
        for (int i = 0; i < borders_; ++i)
            if (const auto [to, from] = sources_[i]; from >= 0) {
                levels_[0].sums[to] = levels_[0].sums[from];
                levels_[0].squares[to] = levels_[0].squares[from];
            }
    }

    /// Moves the column sums to the next window row: row y enters, `sub` leaves.
    void replace_row(int y, const T* sub) {
        const T* add = row_at(y) + columns_.first;
        sub += columns_.first;
        ahead_ = row_at(std::min(y + kAhead, tile_.rows.end - 1)) + columns_.first;
        largest_ = hn::Zero(D32());
        const int whole = columns_.real / kVector * kVector;
        replace_vectors(add, sub, 0, whole);
        if (const int rest = columns_.real - whole; rest > 0) {
            HWY_ALIGN T add_rest[kLanes] = {};
            HWY_ALIGN T sub_rest[kLanes] = {};
            std::copy_n(add + whole, rest, add_rest);
            std::copy_n(sub + whole, rest, sub_rest);
            replace_vectors(add_rest, sub_rest, whole, whole + 1);
        }
        if (y >= 0 && y < input_.height)
            look_at_row(y);
    }

    /// Updates the largest samples with a row that entered.
    void look_at_row(int y) {
        const D32 d;
        const V32 limit = hn::Set(d, tile_.limit);
        if (!hn::AllFalse(d, hn::Eq(hn::Max(largest_, limit), largest_)))
            tile_.saturated[y - tile_.rows.begin] = 1;
        if (!hn::AllTrue(d, hn::Eq(hn::Max(largest_, hn::Set(d, tile_.largest)), hn::Set(d, tile_.largest))))
            fits_ = false;
    }

    /// Columns [begin, end), in whole vectors; add and sub point to the pixels of column `begin`.
    HWY_INLINE void replace_vectors(const T* add, const T* sub, int begin, int end) {
        const D32 d;
        const DSquare dq;
        const hn::Rebind<T, D32> dt;
        const V32 twice_reference = hn::Set(d, 2 * reference_);
        const auto [sums, squares] = levels_[0];
        const T* ahead = ahead_;
        V32 largest = largest_;
        for (int i = begin; i < end; i += kVector) {
            hwy::Prefetch(ahead + i);
            const V32 a = hn::PromoteTo(d, hn::LoadU(dt, add + (i - begin)));
            const V32 b = hn::PromoteTo(d, hn::LoadU(dt, sub + (i - begin)));
            largest = hn::Max(largest, a);
            const V32 difference = hn::Sub(a, b);
            hn::Store(hn::Add(hn::Load(d, sums + i), difference), d, sums + i);
            const auto change_squares = [&, to = squares](int at, VSquare change) HWY_ATTR {
                hn::Store(hn::Add(hn::Load(dq, to + at), change), dq, to + at);
            };
            if constexpr (kWide) {
                const V32 aa = hn::Mul(a, a);
                const V32 bb = hn::Mul(b, b);
                const DU32Half half;
                change_squares(i, hn::Sub(hn::PromoteTo(dq, hn::LowerHalf(half, aa)),
                                          hn::PromoteTo(dq, hn::LowerHalf(half, bb))));
                if constexpr (kLanes > kSquareLanes)
                    change_squares(i + static_cast<int>(kSquareLanes),
                                   hn::Sub(hn::PromoteTo(dq, upper_half(half, aa)),
                                           hn::PromoteTo(dq, upper_half(half, bb))));
            } else {
                change_squares(i, hn::Mul(difference, hn::Sub(hn::Add(a, b), twice_reference)));
            }
        }
        largest_ = largest;
    }

    /// to[i] = from[i] + from[i + step] + from[i + 2·step]. Values past the last column are not used by any
    /// window.
    void add_groups(Columns from, int step, Columns to) {
        const int lead = (columns_.left + kVector - 1) / kVector;
        const int begin = -lead * kVector;
        const int end = columns_.real + columns_.right - 2 * step;
        const D32 d;
        const DSquare dq;
        for (int i = begin; i < end; i += kVector) {
            hn::Store(three(d, from.sums + i, step), d, to.sums + i);
            for (int j = i; j < i + kVector; j += static_cast<int>(kSquareLanes))
                hn::Store(three(dq, from.squares + j, step), dq, to.squares + j);
        }
    }

    template <class D, class U> static HWY_INLINE hn::Vec<D> three(D d, const U* from, int step) {
        return hn::Add(hn::Add(hn::LoadU(d, from), hn::LoadU(d, from + step)), hn::LoadU(d, from + 2 * step));
    }

    /// kCount vectors of outputs from i on.
    template <int kCount, std::size_t kTerms>
    static HWY_INLINE void add_terms(const std::array<Columns, kTerms>& terms, int i, Windows* windows) {
        const D32 d;
        const DSquare dq;
        const auto load = [&, i](const Columns& term, int v) HWY_ATTR {
            const int at = i + v * kVector;
            Windows w{hn::LoadU(d, term.sums + at), {hn::LoadU(dq, term.squares + at)}};
            if constexpr (kWide && kLanes > kSquareLanes)
                w.square[1] = hn::LoadU(dq, term.squares + at + kSquareLanes);
            return w;
        };
        for (int v = 0; v < kCount; ++v) {
            windows[v] = load(terms[0], v);
            for (std::size_t t = 1; t < kTerms; ++t) {
                const Windows more = load(terms[t], v);
                windows[v].sum = hn::Add(windows[v].sum, more.sum);
                windows[v].square[0] = hn::Add(windows[v].square[0], more.square[0]);
                if constexpr (kWide && kLanes > kSquareLanes)
                    windows[v].square[1] = hn::Add(windows[v].square[1], more.square[1]);
            }
        }
    }

    HWY_INLINE typename Math::Constants constants_of_tile() const {
        const DF df;
        const auto samples = static_cast<Sum>(window_) * static_cast<Sum>(window_);
        return {hn::Set(D32(), samples * reference_), hn::Set(df, static_cast<float>(tile_.scale)),
                hn::Set(df, static_cast<float>(samples))};
    }

    /// S and D of a row, in whole vectors.
    template <std::size_t kTerms, class Real> void sum_row(Real* s, Real* d) const {
        const typename Math::Constants constants = constants_of_tile();
        const int width = tile_.x1 - tile_.x0;
        std::array<Columns, kTerms> terms;
        std::copy_n(terms_, kTerms, terms.begin());
        for (int i = 0; i < width; i += kVector) {
            Windows windows[1];
            add_terms<1>(terms, i, windows);
            Math::store_sums(windows[0], constants, s + i, d + i);
        }
    }

    template <SpeckleParams::Output kOutput, std::size_t kTerms>
    void finish_row(float* output, PixelCounts& counts) const {
        constexpr int kStep = kBlock * kVector;
        const DF df;
        const typename Math::Constants constants = constants_of_tile();
        const int width = tile_.x1 - tile_.x0;
        std::array<Columns, kTerms> terms;
        std::copy_n(terms_, kTerms, terms.begin());
        const bool streamed = streamed_;
        int i = 0;
        for (; i + kStep <= width; i += kStep) {
            Windows windows[kBlock];
            add_terms<kBlock>(terms, i, windows);
            const VF first = Math::template value<kOutput>(windows[0], constants);
            const VF second = Math::template value<kOutput>(windows[1], constants);
            if (streamed) {
                hn::Stream(first, df, output + i);
                hn::Stream(second, df, output + i + kVector);
            } else {
                hn::StoreU(first, df, output + i);
                hn::StoreU(second, df, output + i + kVector);
            }
            // As bits NaN and ∞ are above every finite value; no value is negative.
            const V32 largest = hn::Max(hn::BitCast(D32(), first), hn::BitCast(D32(), second));
            if (HWY_UNLIKELY(!hn::AllTrue(D32(), hn::Lt(largest, hn::Set(D32(), 0x7f800000U))))) {
                count_vector(first, kVector, counts);
                count_vector(second, kVector, counts);
            }
        }
        for (; i < width; i += kVector) {
            Windows windows[1];
            add_terms<1>(terms, i, windows);
            const int count = std::min(width - i, kVector);
            const VF result = Math::template value<kOutput>(windows[0], constants);
            HWY_ALIGN float rest[kLanes];
            hn::Store(result, df, rest);
            std::copy_n(rest, count, output + i);
            count_vector(result, count, counts);
        }
    }

    /// Does not read the output: streamed stores are slow to read back.
    static HWY_NOINLINE void count_vector(VF v, int count, PixelCounts& counts) {
        HWY_ALIGN float lanes[kLanes];
        hn::Store(v, DF(), lanes);
        count_non_finite({lanes, static_cast<std::size_t>(count)}, counts);
    }

    static constexpr int kLevels = WindowGroups::kLevels;
    static constexpr auto& kGroup = WindowGroups::kGroup;
    static constexpr std::size_t kMostTerms = WindowGroups::kMostTerms;
    /// Offset of the sums in a page, and of the squares from there: six arrays, each 512 bytes of a page from
    /// the next, so that no load waits for a store to another array. Unlucky placement cost up to 40 % on an
    /// EPYC (Zen 3): docs/performance.md, Host.
    static constexpr std::size_t kPlace[kLevels] = {0, 1536, 1024};
    static constexpr std::size_t kSquaresPlace = 2048;
    static constexpr int kMostBorders = 2 * SpeckleParams::kMaxRadius;
    struct BorderColumn {
        int to, from; ///< −1: zeros
    };

    const SpeckleTile& tile_;
    TileColumns columns_;
    View<const T> input_;
    int window_;
    Sum reference_;
    Columns levels_[kLevels];   ///< of the window's rows: single columns, and groups that begin at the index
    Columns terms_[kMostTerms]; ///< terms of the window of output 0
    int top_ = 0, term_count_ = 0;
    bool streamed_ = false; ///< streaming stores
    BorderColumn sources_[kMostBorders];
    int borders_ = 0;
    static constexpr int kAhead = 2; ///< prefetch distance in rows; measured: docs/performance.md, Constants
    const T* ahead_ = nullptr;       ///< row that enters soon
    V32 largest_;                    ///< of the row that entered last
    bool fits_ = true;
    T* zeros_ = nullptr;
    T* references_ = nullptr;
    double* sums_[2] = {}; ///< S and D of a row, float or double
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
