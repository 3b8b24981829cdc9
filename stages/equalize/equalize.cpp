// Histogram equalisation on the host: one pass counts in bands of rows, one thread makes the table, another
// pass applies it. For f32 an earlier pass finds the range.
#include "stages/equalize/equalize.hpp"

#include "base/parallel.hpp"
#include "stages/equalize/simd/equalize_rows.hpp"
#include "stages/maker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

namespace specklescope {

namespace {

const ParamTable& equalize_table() {
    static const ParamTable table =
        Declare<EqualizeParams>("stage equalize")
            .integer("bins", &EqualizeParams::bins,
                     {.min = 2,
                      .max = EqualizeParams::kMaxBins,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of histogram bins, at most one per level of an integer image"})
            .choice("scaling", &EqualizeParams::scaling,
                    {{"maxabs", "To the maximum"}, {"minmax", "Minimum to maximum"}},
                    {.doc = "Scaling of ranks r. maxabs: r/r_max. minmax: (r−r_min)/(r_max−r_min), the "
                            "darkest value becomes black"})
            .real("strength", &EqualizeParams::strength,
                  {.min = 0, .max = 1, .doc = "Strength: 0 leaves the image unchanged, 1 equalises it fully"})
            .table();
    return table;
}

Quantity equalize_quantity(const Params& params, const Quantity& input) {
    if (params.as<EqualizeParams>().strength == 0)
        return input;
    return equalized_quantity(input);
}

} // namespace

Quantity equalized_quantity(const Quantity& input) {
    const std::string mark = " eq.";
    if (input.symbol.ends_with(mark))
        return input;
    return {"equalised " + input.name, input.symbol + mark, "a.u.", Measure::other};
}

Shape equalize_shape(const Shape& input) {
    if (input.pixels() > std::numeric_limits<std::uint32_t>::max())
        throw UsageError("stage equalize: an image of " + std::to_string(input.width) + "×" +
                         std::to_string(input.height) +
                         " pixels is too large; allowed: fewer than 2³² pixels.");
    return input;
}

std::string equalize_note(int bins, PixelType type) {
    const bool each = type != PixelType::f32 && bins > static_cast<int>(type_full_scale(type));
    return each ? "a bin for each level" : "";
}

namespace {

/// Interleaved histograms: neighbouring pixels are often equal and would wait for each other's counter.
/// Measured: docs/performance.md, Constants.
constexpr std::size_t kCopies = 8;
constexpr std::size_t kMostCounters = 32768; ///< 128 KiB per thread; an estimate
std::size_t copies_of(std::size_t bins) {
    return std::bit_floor(std::clamp<std::size_t>(kMostCounters / bins, 1, kCopies));
}

/// Memory of one slot, on its own cache lines.
struct alignas(64) Slot {
    std::vector<std::uint32_t> counts; ///< copies one after the other
    float low = 0, high = 0;
};

/// Samples `Step` bytes apart.
template <int Step> void count_bytes(const std::uint8_t* v, std::size_t pixels, std::uint32_t* counts) {
    std::size_t x = 0;
    for (; x + kCopies <= pixels; x += kCopies)
        for (std::size_t i = 0; i < kCopies; ++i)
            ++counts[256 * i + v[Step * (x + i)]];
    for (; x < pixels; ++x)
        ++counts[v[Step * x]];
}

/// Pixels with bin(pixel) < 0 are not counted.
template <class T, class F>
void count_row(const T* row, int width, int channels, std::size_t bins, std::uint32_t* counts, F&& bin) {
    const std::size_t mask = copies_of(bins) - 1;
    for (int x = 0; x < width; ++x, row += channels) {
        const std::int64_t index = bin(row);
        if (index >= 0)
            ++counts[(static_cast<std::size_t>(x) & mask) * bins + static_cast<std::size_t>(index)];
    }
}

class EqualizeHost final : public HostStage {
public:
    explicit EqualizeHost(const Params& params) : params_(params.as<EqualizeParams>()) {}

    void set_params(const Params& params) override { params_ = params.as<EqualizeParams>(); }

    std::string note() const override { return equalize_note(most_bins_, type_); }

    Shape prepare(const Shape& input) override {
        const Shape output = equalize_shape(input);
        most_bins_ = params_.bins;
        auto bins = static_cast<std::size_t>(most_bins_);
        if (input.type == PixelType::u8)
            bins = 256; // count levels and combine them to bins afterwards
        cumulative_.resize(bins);
        if (input.type == PixelType::u16)
            levels_.resize(65536);
        if (input.type == PixelType::f32)
            values_.resize(bins);
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        for (Slot& slot : slots_) {
            // A camera's full scale may reduce the bins, with more copies of them.
            slot.counts.resize(std::min(bins * kCopies, std::max(bins, kMostCounters)));
        }
        type_ = input.type;
        bands_ = band_count(output.height, static_cast<int>(slots_.size()), 8);
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        weight_ = equalize_weight(params_.strength);
        const LevelBins bins = level_bins(most_bins_, input.shape.type, context.info.full_scale);
        const bool colour = input.shape.channels == 3;
        switch (input.shape.type) {
        case PixelType::u8:
            return run_u8(input, output, bins);
        case PixelType::u16:
            return colour ? run_u16<3>(input, output, bins) : run_u16<1>(input, output, bins);
        case PixelType::f32:
            return colour ? run_f32<3>(input, output) : run_f32<1>(input, output);
        }
    }

private:
    /// Calls f(row, slot) for every row, in parallel.
    template <class F> void for_rows(int height, F&& f) {
        for_bands(height, bands_, static_cast<int>(slots_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; ++y)
                f(y, slots_[static_cast<std::size_t>(slot)]);
        });
    }

    /// Starts a histogram of `bins` bins.
    void clear_counts(std::size_t bins) {
        for (Slot& slot : slots_)
            std::fill_n(slot.counts.begin(), bins * copies_of(bins), 0U);
    }

    /// Cumulative counts of all slots.
    CumulativeScale accumulate(std::size_t bins) {
        std::fill_n(cumulative_.begin(), bins, 0U);
        for (const Slot& slot : slots_)
            for (std::size_t i = 0; i < bins * copies_of(bins); i += bins)
                for (std::size_t bin = 0; bin < bins; ++bin)
                    cumulative_[bin] += slot.counts[i + bin];
        return scan(bins);
    }

    CumulativeScale scan(std::size_t bins) {
        const auto end = cumulative_.begin() + static_cast<std::ptrdiff_t>(bins);
        std::partial_sum(cumulative_.begin(), end, cumulative_.begin());
        const auto first = std::find_if(cumulative_.begin(), end, [](std::uint32_t c) { return c > 0; });
        const std::uint32_t total = cumulative_[bins - 1];
        return cumulative_scale(params_.scaling, total, first == end ? 0 : *first);
    }

    void run_u8(ConstHostView input, HostView output, const LevelBins& bins) {
        const auto in = input.as<std::uint8_t>();
        const auto out = output.as<std::uint8_t>();
        const auto width = static_cast<std::size_t>(in.width);
        clear_counts(256);
        for_rows(in.height, [&](int y, Slot& slot) {
            if (in.channels == 1)
                return count_bytes<1>(in.row(y), width, slot.counts.data());
            std::array<std::uint8_t, 3 * kRowBlock> v; // NOLINT(cppcoreguidelines-pro-type-member-init)
            for (std::size_t x = 0; x < width; x += kRowBlock) {
                const std::size_t count = std::min(kRowBlock, width - x);
                spread_v(in.row(y) + 3 * x, count, v.data());
                count_bytes<3>(v.data(), count, slot.counts.data());
            }
        });
        accumulate_levels(bins);
        const CumulativeScale scale = scan(bins.bins);
        std::array<std::uint8_t, 256> levels{};
        for (std::uint32_t v = 0; v < 256; ++v)
            levels[v] = static_cast<std::uint8_t>(mapped_level(bins, scale, weight_, cumulative_.data(), v));
        if (in.channels == 1)
            return for_bands(in.height, bands_, static_cast<int>(slots_.size()),
                             [&](Band rows, int) { map_rows(in, levels, out, rows); });
        const ByteFactors factors = byte_factors(levels);
        for_rows(in.height, [&](int y, Slot&) { scale_row(in.row(y), width, factors, out.row(y)); });
    }

    /// Cumulative bin counts from the slots' counts of 256 levels.
    void accumulate_levels(const LevelBins& bins) {
        std::array<std::uint32_t, 256> sums{};
        for (const Slot& slot : slots_)
            for (std::size_t i = 0; i < 256 * kCopies; ++i)
                sums[i % 256] += slot.counts[i];
        std::fill_n(cumulative_.begin(), bins.bins, 0U);
        for (std::uint32_t level = 0; level < 256; ++level)
            cumulative_[bin_of(bins, level)] += sums[level];
    }

    template <int C> void run_u16(ConstHostView input, HostView output, const LevelBins& bins) {
        const auto in = input.as<std::uint16_t>();
        const auto out = output.as<std::uint16_t>();
        clear_counts(bins.bins);
        for_rows(in.height, [&](int y, Slot& slot) {
            count_row(in.row(y), in.width, C, bins.bins, slot.counts.data(), [&](const std::uint16_t* pixel) {
                return static_cast<std::int64_t>(bin_of(bins, pixel_v<C>(pixel)));
            });
        });
        const CumulativeScale scale = accumulate(bins.bins);
        for (std::uint32_t level = 0; level <= bins.full; ++level)
            levels_[level] =
                static_cast<std::uint16_t>(mapped_level(bins, scale, weight_, cumulative_.data(), level));
        for_rows(in.height, [&](int y, Slot&) {
            const std::uint16_t* from = in.row(y);
            std::uint16_t* to = out.row(y);
            if constexpr (C == 3)
                scale_row(from, static_cast<std::size_t>(in.width), levels_.data(), bins.full, to);
            else
                for (int x = 0; x < in.width; ++x)
                    map_pixel<1>(from + x, to + x, levels_.data(), bins.full);
        });
    }

    template <int C> void run_f32(ConstHostView input, HostView output) {
        const auto in = input.as<float>();
        const auto out = output.as<float>();
        const RealBins bins = range<C>(in);
        clear_counts(bins.bins);
        for_rows(in.height, [&](int y, Slot& slot) {
            count_row(in.row(y), in.width, C, bins.bins, slot.counts.data(), [&](const float* pixel) {
                return finite_pixel<C>(pixel) ? static_cast<std::int64_t>(bin_of(bins, pixel_v<C>(pixel)))
                                              : -1;
            });
        });
        const CumulativeScale scale = accumulate(bins.bins);
        if (scale.span == 0)
            return copy_pixels(input, output);
        for (std::size_t bin = 0; bin < bins.bins; ++bin)
            values_[bin] = equalized_value(bins, scale, cumulative_[bin]);
        for_rows(in.height, [&](int y, Slot&) {
            for (int x = 0; x < in.width * C; x += C)
                map_pixel<C>(in.row(y) + x, out.row(y) + x, values_.data(), bins, weight_);
        });
    }

    template <int C> RealBins range(const View<const float>& in) {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        for (Slot& slot : slots_) {
            slot.low = kInfinity;
            slot.high = -kInfinity;
        }
        for_rows(in.height, [&](int y, Slot& slot) {
            float low = slot.low;
            float high = slot.high;
            for (const float* pixel = in.row(y); pixel < in.row(y) + in.width * C; pixel += C)
                if (finite_pixel<C>(pixel)) {
                    low = std::min(low, pixel_v<C>(pixel));
                    high = std::max(high, pixel_v<C>(pixel));
                }
            slot.low = low;
            slot.high = high;
        });
        float low = kInfinity;
        float high = -kInfinity;
        for (const Slot& slot : slots_) {
            low = std::min(low, slot.low);
            high = std::max(high, slot.high);
        }
        return real_bins(low, high, static_cast<std::uint32_t>(most_bins_));
    }

    EqualizeParams params_;
    int most_bins_ = 2; ///< as prepared
    PixelType type_ = PixelType::u8;
    std::uint32_t weight_ = 0;
    int bands_ = 1;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> cumulative_;
    std::vector<std::uint16_t> levels_; ///< u16: output of each level
    std::vector<float> values_;         ///< f32: the equalised value of each bin
};

} // namespace

StageType equalize_stage() {
    return {.name = "equalize",
            .doc = "Histogram equalisation of grey, or of V of HSV; hue and saturation are kept",
            .title = "Equalise histogram",
            .group = StageGroup::brightness,
            .table = &equalize_table(),
            .tolerance = 0,
            .quantity = equalize_quantity,
            .make_host = host_maker<EqualizeHost>,
            .make_device = device_maker<make_equalize_device>,
            .science = "Equalisation"};
}

} // namespace specklescope
