// Speckle contrast of f32. Samples may span any range and hold NaN and ∞, so nothing is ever subtracted from
// a running sum: groups of samples carry their count, sum S and squared deviation M = Σ(I − ⟨I⟩)², and only
// merge,
//   M = Ma + Mb + (nb·Sa − na·Sb)²/(na·nb·(na+nb))    (Chan, Golub, LeVeque 1979).
// Down the columns blocks of 2w+1 rows have suffix and prefix groups (van Herk's scheme), so that a window is
// one merge; along the row groups of 1, 2, 4, … columns make up 2w+1. A constant window has M = 0 exactly, D
// = N·M.
#if defined(SPECKLESCOPE_SPECKLE_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_REAL_INL
#undef SPECKLESCOPE_SPECKLE_REAL_INL
#else
#define SPECKLESCOPE_SPECKLE_REAL_INL
#endif

#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/speckle/simd/speckle_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

class RealTile {
    using D = hn::ScalableTag<double>;
    using DF = hn::Rebind<float, D>;
    using V = hn::Vec<D>;
    static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

    /// A group of samples per column; index 0 is the first image column.
    struct Groups {
        double* sum = nullptr;
        double* deviation = nullptr;
    };

public:
    RealTile(const SpeckleTile& tile, std::byte* scratch)
        : tile_(tile), columns_(tile), input_(tile.input.as<const float>()),
          window_(2 * tile.params.radius + 1) {
        const std::size_t count = TileColumns::buffer_columns(tile.params.radius, tile.x1 - tile.x0);
        ScratchCutter cut(scratch);
        const auto groups = [&] {
            Groups g{cut.take<double>(count), cut.take<double>(count)};
            std::fill_n(g.sum, count, 0.0);
            std::fill_n(g.deviation, count, 0.0);
            return Groups{g.sum + TileColumns::kLead, g.deviation + TileColumns::kLead};
        };
        prefix_ = groups();
        column_ = groups();
        window_groups_ = groups();
        for (int k = 0; k < window_; ++k)
            suffix_[k] = groups();
        zeros_ = cut.take<float>(static_cast<std::size_t>(input_.width));
        std::fill_n(zeros_, input_.width, 0.0F);
    }

    void run(PixelCounts& counts) {
        const int radius = tile_.params.radius;
        const int shift = tile_.params.border == Border::crop ? radius : 0;
        const View<float> output = tile_.output.as<float>();
        for (int y = tile_.y0; y < tile_.y1; ++y) {
            const int top = y + shift - radius;
            const int taken = (y - tile_.y0) % window_; // rows of the window in the next block
            if (taken == 0)
                begin_block(top);
            else
                push_row(row_at(top + window_ - 1), prefix_, prefix_, taken - 1);
            merge_column(suffix_[taken], window_ - taken, taken);
            fill_border();
            merge_along_row();
            if (tile_.finish)
                write_images(y, counts);
            else
                finish_row(output.row(y) + tile_.x0, counts);
        }
    }

private:
    const float* row_at(int y) const {
        const int row = border_index(y, input_.height, tile_.params.border);
        return row < 0 ? zeros_ : input_.row(row);
    }

    /// Suffix groups of the window_ rows from `top`: suffix_[k] contains row k and the rows after it.
    void begin_block(int top) {
        for (int k = window_ - 1; k >= 0; --k) {
            const int count = window_ - 1 - k;
            push_row(row_at(top + k), count == 0 ? prefix_ : suffix_[k + 1], suffix_[k], count);
        }
    }

    /// to = from (groups of `count` samples) plus one sample each; from is not read if count = 0.
    void push_row(const float* row, Groups from, Groups to, int count) {
        row += columns_.first;
        int i = 0;
        for (; i + kLanes <= columns_.real; i += kLanes)
            push_vector(row + i, i, from, to, count);
        if (i < columns_.real) {
            HWY_ALIGN float rest[kLanes] = {};
            std::copy_n(row + i, columns_.real - i, rest);
            push_vector(rest, i, from, to, count);
        }
    }

    HWY_INLINE void push_vector(const float* pixels, int i, Groups from, Groups to, int count) {
        const D d;
        const V value = hn::PromoteTo(d, hn::LoadU(DF(), pixels));
        if (count == 0) {
            hn::Store(value, d, to.sum + i);
            hn::Store(hn::Zero(d), d, to.deviation + i);
            return;
        }
        const double n = count;
        const V sum = hn::Load(d, from.sum + i);
        const V delta = hn::MulSub(value, hn::Set(d, n), sum);
        const V deviation = hn::Load(d, from.deviation + i);
        hn::Store(hn::MulAdd(hn::Mul(delta, delta), hn::Set(d, 1 / (n * (n + 1))), deviation), d,
                  to.deviation + i);
        hn::Store(hn::Add(sum, value), d, to.sum + i);
    }

    /// out[i] = a[i] merged with b[i + shift], groups of na and nb samples.
    HWY_INLINE void merge(Groups a, double na, Groups b, double nb, int shift, Groups out, int begin,
                          int end) {
        const D d;
        const V weight_a = hn::Set(d, na);
        const V weight_b = hn::Set(d, nb);
        const V factor = hn::Set(d, 1 / (na * nb * (na + nb)));
        for (int i = begin; i < end; i += kLanes) {
            const V sum_a = hn::LoadU(d, a.sum + i);
            const V sum_b = hn::LoadU(d, b.sum + i + shift);
            const V delta = hn::MulSub(sum_a, weight_b, hn::Mul(sum_b, weight_a));
            const V both = hn::Add(hn::LoadU(d, a.deviation + i), hn::LoadU(d, b.deviation + i + shift));
            hn::StoreU(hn::MulAdd(hn::Mul(delta, delta), factor, both), d, out.deviation + i);
            hn::StoreU(hn::Add(sum_a, sum_b), d, out.sum + i);
        }
    }

    void merge_column(Groups suffix, int suffix_rows, int prefix_rows) {
        if (prefix_rows > 0)
            return merge(suffix, suffix_rows, prefix_, prefix_rows, 0, column_, 0, columns_.real);
        std::copy_n(suffix.sum, columns_.real, column_.sum);
        std::copy_n(suffix.deviation, columns_.real, column_.deviation);
    }

    void fill_border() {
        const auto fill = [&](int begin, int end) {
            for (int i = begin; i < end; ++i) {
                const int from = columns_.source(i, tile_);
                column_.sum[i] = from < 0 ? 0 : column_.sum[from];
                column_.deviation[i] = from < 0 ? 0 : column_.deviation[from];
            }
        };
        fill(-columns_.left, 0);
        fill(columns_.real, columns_.real + columns_.right);
    }

    /// window_groups_[i] = columns i … i + 2w, built from groups of 1, 2, 4, … columns.
    void merge_along_row() {
        const int begin = -columns_.left;
        const int end = columns_.real + columns_.right;
        std::copy(column_.sum + begin, column_.sum + end, window_groups_.sum + begin);
        std::copy(column_.deviation + begin, column_.deviation + end, window_groups_.deviation + begin);
        int done = 1;
        for (int size = 1; done < window_; size *= 2) {
            const double samples = static_cast<double>(size) * window_;
            if (size > 1 && (window_ & size) != 0) {
                merge(window_groups_, static_cast<double>(done) * window_, column_, samples, done,
                      window_groups_, begin, end);
                done += size;
            }
            if (done < window_) // in place: a vector is read before overlapping writes
                merge(column_, samples, column_, samples, size, column_, begin, end);
        }
    }

    void finish_row(float* output, PixelCounts& counts) {
        const int width = tile_.x1 - tile_.x0;
        const DF df;
        for (int i = 0; i < width; i += kLanes) {
            const auto values = narrow_floats(df, value(i - columns_.left));
            if (i + kLanes <= width) {
                hn::StoreU(values, df, output + i);
                continue;
            }
            HWY_ALIGN float rest[kLanes];
            hn::Store(values, df, rest);
            std::copy_n(rest, width - i, output + i);
        }
        count_non_finite({output, static_cast<std::size_t>(width)}, counts);
    }

    /// Changes window_groups_.
    void write_images(int y, PixelCounts& counts) {
        const int width = tile_.x1 - tile_.x0;
        double* const d = window_groups_.deviation - columns_.left;
        for (int i = 0; i < width; ++i)
            d[i] *= static_cast<double>(window_) * window_;
        finish_contrast_row(*tile_.finish, window_groups_.sum - columns_.left, d, width, tile_.x0, y);
        count_non_finite({tile_.finish->row(0, y) + tile_.x0, static_cast<std::size_t>(width)}, counts);
    }

    /// Samples may be negative after a dark frame: for S ≤ 0 there is no contrast, for any D.
    HWY_INLINE V value(int at) const {
        using Output = SpeckleParams::Output;
        const D d;
        const V scale = hn::Set(d, tile_.scale);
        const V sum = hn::LoadU(d, window_groups_.sum + at);
        const V determinant = hn::Mul(hn::LoadU(d, window_groups_.deviation + at),
                                      hn::Set(d, static_cast<double>(window_) * window_));
        const V undefined = hn::Set(d, std::nan(""));
        const Output output = tile_.params.output;
        V result = undefined;
        if (output == Output::sfi || output == Output::bfi)
            result = hn::Div(hn::Mul(hn::Mul(sum, scale), sum), determinant);
        else if (output == Output::contrast)
            result = hn::Div(hn::Sqrt(hn::Mul(determinant, scale)), sum);
        else
            result = hn::Div(hn::Mul(determinant, scale), hn::Mul(sum, sum));
        return hn::IfThenElse(hn::Le(sum, hn::Zero(d)), undefined, result);
    }

    const SpeckleTile& tile_;
    TileColumns columns_;
    View<const float> input_;
    int window_;
    Groups prefix_;        ///< rows of the next block so far
    Groups column_;        ///< the window's rows
    Groups window_groups_; ///< the window
    Groups suffix_[2 * SpeckleParams::kMaxRadius + 1];
    float* zeros_ = nullptr;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
