// Contrast of f32 over square windows of samples, or of groups of earlier samples. Samples may span any range
// and hold NaN and ∞, so nothing is ever subtracted from a running sum: groups of samples carry their count,
// sum S and squared deviation M = Σ(I − ⟨I⟩)², and only merge,
//   M = Ma + Mb + (nb·Sa − na·Sb)²/(na·nb·(na+nb))    (Chan, Golub, LeVeque 1979).
// Down the columns blocks of 2w+1 rows have suffix and prefix groups (van Herk's scheme), so that a window is
// one merge; along the row 2w+1 columns are at most five groups of 1, 3 and 9, merged at once. A constant
// window has M = 0 exactly, D = N·M. Running sums (speckle_sums-inl.hpp) compute the rows of samples for
// which they are exact enough.
#if defined(SPECKLESCOPE_SPECKLE_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_REAL_INL
#undef SPECKLESCOPE_SPECKLE_REAL_INL
#else
#define SPECKLESCOPE_SPECKLE_REAL_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/speckle/simd/speckle_lanes-inl.hpp"
#include "stages/speckle/simd/speckle_sums-inl.hpp"
#include "stages/streamed-inl.hpp"

#include <array>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Groups of samples, a vector of them.
struct RealGroups {
    using D = hn::ScalableTag<double>;
    hn::Vec<D> sum, deviation;
};

/// Rows of an image: groups of one sample.
class ImageRows {
public:
    static constexpr bool kSamples = true;
    using Row = const float*;
    ImageRows(const SpeckleTile& tile, const float* zeros)
        : input_(tile.input.as<const float>()), border_(tile.params.border), zeros_(zeros) {}
    Row row(int y) const {
        const int row = border_index(y, input_.height, border_);
        return row < 0 ? zeros_ : input_.row(row);
    }
    /// Pixels from x on, at most `count`; others are undefined.
    static HWY_INLINE RealGroups load(Row row, int x, int count) {
        const RealGroups::D d;
        const hn::Rebind<float, RealGroups::D> df;
        constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
        if (count >= kLanes)
            return {hn::PromoteTo(d, hn::LoadU(df, row + x)), hn::Zero(d)};
        HWY_ALIGN float rest[kLanes] = {};
        std::copy_n(row + x, count, rest);
        return {hn::PromoteTo(d, hn::Load(df, rest)), hn::Zero(d)};
    }
    static HWY_INLINE void prefetch(Row row, int x) { hwy::Prefetch(row + x); }

private:
    View<const float> input_;
    Border border_;
    const float* zeros_;
};

/// Rows of the running sums of pixels: groups of the samples that they hold.
class GroupRows {
public:
    static constexpr bool kSamples = false;
    struct Row {
        const double *s, *q; ///< null: zeros
        const float* reference;
        double n, part; ///< and 1/n
    };
    GroupRows(const SpeckleTile& tile, const float*) : tile_(tile) {}
    Row row(int y) const {
        const int row = border_index(y, tile_.input.shape.height, tile_.params.border);
        if (row < 0)
            return {};
        const TemporalRow sums = tile_.history->row(row, tile_.step);
        return {sums.real_s, sums.real_q, sums.reference, static_cast<double>(tile_.held), 1.0 / tile_.held};
    }
    /// Reads past the row, but within the memory of its window.
    static HWY_INLINE RealGroups load(const Row& row, int x, int) {
        const RealGroups::D d;
        if (!row.s)
            return {hn::Zero(d), hn::Zero(d)};
        const auto s = hn::LoadU(d, row.s + x);
        const auto deviation = hn::NegMulAdd(hn::Mul(s, s), hn::Set(d, row.part), hn::LoadU(d, row.q + x));
        const auto reference =
            hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, RealGroups::D>(), row.reference + x));
        return {hn::MulAdd(hn::Set(d, row.n), reference, s), hn::Max(deviation, hn::Zero(d))};
    }
    static HWY_INLINE void prefetch(const Row& row, int x) {
        hwy::Prefetch(row.s + x);
        hwy::Prefetch(row.q + x);
        hwy::Prefetch(row.reference + x);
    }

private:
    const SpeckleTile& tile_;
};

template <class Rows> class RealTile {
    using D = RealGroups::D;
    using V = hn::Vec<D>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

    /// A group of samples per column; index 0 is the first image column.
    struct Groups {
        double* sum = nullptr;
        double* deviation = nullptr;
        HWY_INLINE RealGroups load(int i) const {
            return {hn::LoadU(D(), sum + i), hn::LoadU(D(), deviation + i)};
        }
        HWY_INLINE void store(const RealGroups& groups, int i) const {
            hn::StoreU(groups.sum, D(), sum + i);
            hn::StoreU(groups.deviation, D(), deviation + i);
        }
    };

public:
    RealTile(const SpeckleTile& tile, std::byte* scratch)
        : tile_(tile), finish_(tile.finish ? *tile.finish : finish_of_output(tile)), columns_(tile),
          cut_(scratch), window_(2 * tile.params.radius + 1), sums_(tile, columns_, cut_) {
        const std::size_t count = TileColumns::buffer_columns(tile.params.radius, tile.x1 - tile.x0);
        const auto groups = [&] {
            Groups g{cut_.take<double>(count), cut_.take<double>(count)};
            return Groups{g.sum + TileColumns::kLead, g.deviation + TileColumns::kLead};
        };
        prefix_ = groups();
        results_ = groups();
        for (Groups& level : levels_)
            level = groups();
        for (int k = 0; k < window_; ++k)
            suffix_[k] = groups();
        const auto width = static_cast<std::size_t>(tile.input.shape.width);
        zeros_ = cut_.take<float>(width);
        std::fill_n(zeros_, width, 0.0F);
        for (int i = 0; i < finish_.count; ++i)
            finish_.images[i] = {finish_.images[i].form, finish_.images[i].c, 0,
                                 reinterpret_cast<std::byte*>(cut_.take<float>(count)), 0};
        finish_.samples = samples();
        choose_terms();
    }

    void run(PixelCounts& counts) {
        const Rows rows(tile_, zeros_);
        const int chunk = speckle_chunk(tile_.params.radius);
        for (int y = tile_.y0; y < tile_.y1;) {
            const int end = std::min(tile_.y1, (y / chunk + 1) * chunk);
            int merged = end; // without running sums, or if these fail at once
            if constexpr (Rows::kSamples)
                if (sums_.usable()) {
                    const int begin = y;
                    y = finish_.corrects ? sum_rows<double>(rows, y, end, counts)
                                         : sum_rows<float>(rows, y, end, counts);
                    merged = y == begin ? end : std::min(end, y + window_);
                }
            while (y < merged)
                y = merge_rows(rows, y, std::min(merged, y + window_), counts);
        }
        hwy::FlushStream();
    }

private:
    int top_of(int y) const { return tile_.params.border == Border::crop ? y : y - tile_.params.radius; }

    /// Results of the rows [y, end) as long as sums are exact enough; returns the next row.
    template <class Real> int sum_rows(const Rows& rows, int y, int end, PixelCounts& counts) {
        Real* const s = reinterpret_cast<Real*>(results_.sum);
        Real* const d = reinterpret_cast<Real*>(results_.deviation);
        const int first = top_of(y) + window_ - 1; // the row that completes a window
        sums_.clear();
        for (int next = top_of(y); y < end; ++next) {
            if (!sums_.take(rows.row(next), ahead(rows, next), s, d))
                break;
            if (next >= first)
                write_row<true>(y++, s, d, counts);
        }
        return y;
    }

    auto ahead(const Rows& rows, int y) const {
        return rows.row(std::min(y + kAhead, tile_.input.shape.height - 1));
    }

    /// Results of the rows [y, end), at most window_, from merged groups; returns end.
    int merge_rows(const Rows& rows, int y, int end, PixelCounts& counts) {
        for (int taken = 0; y < end; ++y, ++taken) {
            const int top = top_of(y);
            const int next = top + window_ - 1;
            // suffix_[k]: rows from number k of the block on
            if (taken > 0)
                push_row<true>(rows.row(next), ahead(rows, next), prefix_, taken - 1, prefix_,
                               suffix_ + taken);
            else
                for (int k = window_ - 1; k >= 0; --k)
                    push_row<false>(rows.row(top + k), ahead(rows, next),
                                    suffix_[std::min(k + 1, window_ - 1)], window_ - 1 - k,
                                    k == 0 ? levels_[0] : suffix_[k], nullptr);
            fill_border();
            for (int level = 0; level < top_; ++level)
                merge_three(level);
            constexpr std::size_t kMost = WindowGroups::kMostTerms;
            if (sizes_[0] == sizes_[term_count_ - 1])
                term_count_ == 3 ? merge_windows<3, true>() : merge_windows<kMost, true>();
            else
                term_count_ == 3 ? merge_windows<3, false>() : merge_windows<kMost, false>();
            write_row<false>(y, results_.sum, results_.deviation, counts);
        }
        return end;
    }

    /// Merges na rows with nb more, the latter of samples if kSample.
    template <bool kSample> struct Merge {
        V na, nb, factor;
        Merge(double a, double b, double part)
            : na(hn::Set(D(), a)), nb(hn::Set(D(), b)), factor(hn::Set(D(), part)) {}
        HWY_INLINE RealGroups operator()(const RealGroups& a, const RealGroups& b) const {
            const V delta = hn::MulSub(a.sum, nb, hn::Mul(b.sum, na));
            const V both = kSample ? a.deviation : hn::Add(a.deviation, b.deviation);
            return {hn::Add(a.sum, b.sum), hn::MulAdd(hn::Mul(delta, delta), factor, both)};
        }
    };
    using MergeRow = Merge<Rows::kSamples>;
    double merge_part(double a, double b) const { return 1 / (a * b * (a + b) * tile_.held); }

    /// to = from, groups of `count` rows, and one row more; `from` is not read if count = 0. If `rest` is not
    /// null, the window's rows are those in `rest` and those in `to`.
    template <bool kMerges> void push_row(const typename Rows::Row& row, const typename Rows::Row& ahead,
                                          Groups from, int count, Groups to, const Groups* rest) {
        const Groups column = levels_[0];
        const int first = columns_.first;
        const int real = columns_.real;
        const MergeRow push(count, 1, merge_part(count, 1));
        const Merge<false> merge(window_ - 1 - count, count + 1, merge_part(window_ - 1 - count, count + 1));
        for (int i = 0; i < real; i += kLanes) {
            Rows::prefetch(ahead, first + i);
            RealGroups groups = Rows::load(row, first + i, real - i);
            if (count > 0)
                groups = push(from.load(i), groups);
            to.store(groups, i);
            if constexpr (kMerges)
                column.store(merge(rest->load(i), groups), i);
        }
    }

    void fill_border() {
        columns_.for_border([&](int i) {
            const int from = columns_.source(i, tile_);
            levels_[0].sum[i] = from < 0 ? 0 : levels_[0].sum[from];
            levels_[0].deviation[i] = from < 0 ? 0 : levels_[0].deviation[from];
        });
    }

    /// Groups of the next level, of three neighbours each. Values past the last column are not used.
    void merge_three(int level) {
        const Groups from = levels_[level];
        const Groups to = levels_[level + 1];
        const int step = WindowGroups::kGroup[level];
        const V third = hn::Set(D(), -1.0 / 3);
        const V part = hn::Set(D(), 1.0 / (static_cast<double>(step) * window_ * tile_.held));
        for (int i = -columns_.left; i < columns_.real + columns_.right - 2 * step; i += kLanes) {
            const RealGroups a = from.load(i);
            const RealGroups b = from.load(i + step);
            const RealGroups c = from.load(i + 2 * step);
            const V db = hn::Sub(b.sum, a.sum);
            const V dc = hn::Sub(c.sum, a.sum);
            const V shift = hn::Add(db, dc);
            const V between = hn::MulAdd(db, db, hn::MulAdd(dc, dc, hn::Mul(hn::Mul(shift, shift), third)));
            const V within = hn::Add(hn::Add(a.deviation, b.deviation), c.deviation);
            to.store({hn::Add(hn::Add(a.sum, b.sum), c.sum), hn::MulAdd(between, part, within)}, i);
        }
    }

    /// Chooses the groups of a window, from the widest down.
    void choose_terms() {
        top_ = WindowGroups::top_level(window_);
        int at = -columns_.left;
        const int end = at + window_;
        for (int level = top_; level >= 0; --level)
            for (const int size = WindowGroups::kGroup[level]; at + size <= end; at += size) {
                sizes_[term_count_] = size;
                terms_[term_count_++] = {levels_[level].sum + at, levels_[level].deviation + at};
            }
    }

    /// Merges groups of different size into windows. With ρ the mean of the last, which is the narrowest, and
    /// γ the size of a group in its sizes,
    ///   δ = S − γ·Slast,   M = ΣM + (Σδ²/γ − (Σδ)²/Σγ)/nlast:
    /// at most a few bits cancel, since ρ is the mean of a part of the window.
    template <std::size_t kTerms, bool kEqual> class Windows {
    public:
        static constexpr std::size_t kOthers = kTerms - 1;
        explicit Windows(const RealTile& tile) {
            std::copy_n(tile.terms_, kTerms, terms_.begin());
            const double last = tile.sizes_[kOthers];
            for (std::size_t t = 0; t < kOthers; ++t) {
                size_[t] = hn::Set(D(), tile.sizes_[t] / last);
                part_[t] = hn::Set(D(), last / tile.sizes_[t]);
            }
            all_ = hn::Set(D(), last / tile.window_);
            samples_ = hn::Set(D(), 1 / (last * tile.window_ * tile.tile_.held));
        }
        HWY_INLINE RealGroups at(int i) const {
            const RealGroups last = terms_[kOthers].load(i);
            RealGroups all = last;
            V shift = hn::Zero(D());
            V squares = hn::Zero(D());
            for (std::size_t t = 0; t < kOthers; ++t) {
                const RealGroups one = terms_[t].load(i);
                const V delta =
                    kEqual ? hn::Sub(one.sum, last.sum) : hn::NegMulAdd(size_[t], last.sum, one.sum);
                shift = hn::Add(shift, delta);
                squares = hn::MulAdd(delta, kEqual ? delta : hn::Mul(delta, part_[t]), squares);
                all = {hn::Add(all.sum, one.sum), hn::Add(all.deviation, one.deviation)};
            }
            const V between = hn::NegMulAdd(hn::Mul(shift, shift), all_, squares);
            return {all.sum, hn::MulAdd(between, samples_, all.deviation)};
        }

    private:
        std::array<Groups, kTerms> terms_;
        V size_[kOthers], part_[kOthers];
        V all_, samples_;
    };

    template <std::size_t kTerms, bool kEqual> void merge_windows() {
        const Windows<kTerms, kEqual> windows(*this);
        const V n = hn::Set(D(), samples());
        for (int i = 0; i < tile_.x1 - tile_.x0; i += kLanes) {
            const RealGroups window = windows.at(i);
            results_.store({window.sum, hn::Mul(window.deviation, n)}, i);
        }
    }

    double samples() const { return static_cast<double>(window_) * window_ * tile_.held; }

    /// The images of row y from S and D, which are in the order of sums_ if kSums.
    template <bool kSums, class Real> void write_row(int y, Real* s, Real* d, PixelCounts& counts) {
        const int width = tile_.x1 - tile_.x0;
        finish_contrast_row(finish_, s, d, kSums ? sums_.count() : width, 0, 0);
        for (int i = 0; i < finish_.count; ++i) {
            float* const output =
                (tile_.finish ? tile_.finish->row(i, y) : tile_.output.as<float>().row(y)) + tile_.x0;
            const float* from = finish_.row(i, 0);
            const bool streamed = tile_.streamed && !tile_.finish;
            if constexpr (kSums) {
                float* const to = streamed ? reinterpret_cast<float*>(levels_[0].sum) : output;
                sums_.deinterleave(from, to);
                from = to;
            }
            if (i == 0 && (!kSums || finish_.corrects))
                count_non_finite({from, static_cast<std::size_t>(width)}, counts);
            if (streamed)
                stream_row(from, width, output);
            else if constexpr (!kSums)
                std::copy_n(from, width, output);
        }
    }

    /// The stage's output without others: the same loops, and so the same bits, as with them.
    static ContrastFinish finish_of_output(const SpeckleTile& tile) {
        using Output = SpeckleParams::Output;
        const Output kind = tile.params.output;
        ContrastFinish finish;
        finish.count = 1;
        finish.images[0].form = kind == Output::sfi || kind == Output::bfi ? ContrastForm::inverse
                                : kind == Output::contrast                 ? ContrastForm::root
                                                                           : ContrastForm::square;
        finish.images[0].c = tile.scale;
        finish.quotient = true;
        return finish;
    }

    static constexpr int kAhead = 2; ///< prefetch distance in rows
    static constexpr std::size_t kMostRows = 2 * SpeckleParams::kMaxRadius + 1;

    const SpeckleTile& tile_;
    ContrastFinish finish_; ///< of tile_ or its output, into rows of scratch memory
    TileColumns columns_;
    ScratchCutter cut_;
    int window_;
    RealSums sums_;
    Groups prefix_; ///< rows of the next block so far
    Groups suffix_[kMostRows];
    Groups
        levels_[WindowGroups::kLevels]; ///< of the window's rows: columns, and groups that begin at the index
    Groups results_;
    Groups terms_[WindowGroups::kMostTerms];   ///< groups of the window of output 0
    int sizes_[WindowGroups::kMostTerms] = {}; ///< their columns
    int top_ = 0, term_count_ = 0;
    float* zeros_ = nullptr;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
