#include "sources/synthetic/speckle_field.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace specklescope {

double lorentzian_contrast2(double x) {
    if (x < 0.05) // the closed form cancels; Taylor: Σ (−2x)ⁿ·2/(n+2)!
        return 1 + x * (-2.0 / 3 + x * (1.0 / 3 + x * (-2.0 / 15 + x * (2.0 / 45 - x * 4.0 / 315))));
    return (std::expm1(-2 * x) + 2 * x) / (2 * x * x);
}

double expected_contrast(double x, double beta) { return std::sqrt(beta * lorentzian_contrast2(x)); }

// --- optics
// ---------------------------------------------------------------------------------------------------

SpeckleOptics::SpeckleOptics(double speckle) {
    // |μ(Δ)|² = e^{−Δ²/2σ²} for a Gaussian pupil filter with standard deviation σ: FWHM = 2.3548 σ; two steps
    // per pixel.
    const double sigma = 2 * speckle / 2.3548;
    const int radius = std::max(1, static_cast<int>(std::ceil(3.5 * sigma)));
    std::vector<double> taps;
    for (int i = -radius; i <= radius; ++i)
        taps.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    const double energy = std::inner_product(taps.begin(), taps.end(), taps.begin(), 0.0);
    for (const double tap : taps)
        taps_.push_back(static_cast<float>(tap / std::sqrt(energy)));
}

double SpeckleOptics::field_correlation(int half_pixels) const {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(half_pixels); i < taps_.size(); ++i)
        sum += static_cast<double>(taps_[i]) *
               static_cast<double>(taps_[i - static_cast<std::size_t>(half_pixels)]);
    return sum;
}

double SpeckleOptics::axis_covariance(int pixels) const {
    // Points 2p and 2p+1 of one pixel and 2q and 2q+1 of the other: lags 2Δ−1, 2Δ (twice), 2Δ+1.
    const auto power = [this](int lag) { return std::pow(field_correlation(std::abs(lag)), 2); };
    return (power(2 * pixels - 1) + 2 * power(2 * pixels) + power(2 * pixels + 1)) / 4;
}

// --- patterns
// --------------------------------------------------------------------------------------------------

namespace {

constexpr int kBandRows = 64; ///< pixel rows per task

/// Adds taps[t]·from(t)[x] to sums[0 … n − 1], which stay in registers if n is known at compile time.
template <class From, class Count>
void add_weighted(const std::vector<float>& taps, const From& from, int x, Count n, float* sums) {
    for (std::size_t t = 0; t < taps.size(); ++t) {
        const float* in = from(static_cast<int>(t)) + x;
        const float tap = taps[t];
        for (int i = 0; i < n; ++i)
            sums[i] += tap * in[i];
    }
}

/// to[x] = Σ taps[t]·from(t)[x] for x < count.
template <class From>
void weighted_sum(const std::vector<float>& taps, const From& from, int count, float* to) {
    constexpr int kPieceOfSums = 32;
    int x = 0;
    for (; x + kPieceOfSums <= count; x += kPieceOfSums) {
        float sums[kPieceOfSums] = {};
        add_weighted(taps, from, x, std::integral_constant<int, kPieceOfSums>(), sums);
        std::copy_n(sums, kPieceOfSums, to + x);
    }
    std::fill(to + x, to + count, 0.0F);
    add_weighted(taps, from, x, count - x, to + x);
}

/// Filters bands of one field component on the torus; noise is generated row by row.
class FieldBand {
public:
    FieldBand(int width, int height, const std::vector<float>& taps)
        : points_(2 * width), rows_(2 * height), radius_(static_cast<int>(taps.size()) / 2), taps_(taps),
          noise_(static_cast<std::size_t>(points_ + 2 * radius_)),
          filtered_(static_cast<std::size_t>(2 * kBandRows + 2 * radius_) *
                    static_cast<std::size_t>(points_)) {}

    /// Prepares half-pixel rows first … first + count − 1 of the field of stream `seed`.
    void prepare(std::uint64_t seed, int first, int count) {
        for (int i = 0; i < count + 2 * radius_; ++i)
            filter_noise(seed, ((first + i - radius_) % rows_ + rows_) % rows_, filtered(i));
    }

    /// Adds |component|² of prepared row i to `power`.
    void add_power(int i, std::vector<float>& power, std::vector<float>& sum) const {
        weighted_sum(
            taps_, [&](int t) { return filtered(i + t); }, points_, sum.data());
        for (std::size_t x = 0; x < sum.size(); ++x)
            power[x] += sum[x] * sum[x];
    }

private:
    float* filtered(int i) {
        return filtered_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(points_);
    }
    const float* filtered(int i) const {
        return filtered_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(points_);
    }

    void filter_noise(std::uint64_t seed, int row, float* to) {
        const std::uint64_t base = static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(points_);
        float* middle = noise_.data() + radius_;
        for (int x = 0; x < points_; ++x)
            middle[x] = random_normal(seed, base + static_cast<std::uint64_t>(x));
        for (int i = 1; i <= radius_; ++i) { // narrow images wrap more than once
            middle[-i] = middle[((-i) % points_ + points_) % points_];
            middle[points_ + i - 1] = middle[(i - 1) % points_];
        }
        weighted_sum(
            taps_, [&](int t) { return noise_.data() + t; }, points_, to);
    }

    int points_, rows_, radius_;
    const std::vector<float>& taps_;
    std::vector<float> noise_, filtered_;
};

} // namespace

SpeckleBank::SpeckleBank(int width, int height, const SpeckleOptics& optics, std::uint64_t seed)
    : width_(std::min(width, kMaxSide)), height_(std::min(height, kMaxSide)) {
    fill_up(data_,
            static_cast<std::size_t>(kPatterns) * static_cast<std::size_t>(width_) *
                static_cast<std::size_t>(height_),
            0.0F, "making room for the simulated scene");
    const int bands = (height_ + kBandRows - 1) / kBandRows;
    run_bands(bands * kPatterns, parallel_threads(), [&](int task, int) {
        work_goes_on("making the speckle of the simulated scene",
                     static_cast<double>(task) / (bands * kPatterns));
        const int pattern = task / bands;
        const int first = task % bands * kBandRows;
        const int rows = std::min(kBandRows, height_ - first);
        FieldBand real(width_, height_, optics.taps());
        FieldBand imaginary(width_, height_, optics.taps());
        real.prepare(random_bits(seed, 2 * static_cast<std::uint64_t>(pattern)), 2 * first, 2 * rows);
        imaginary.prepare(random_bits(seed, 2 * static_cast<std::uint64_t>(pattern) + 1), 2 * first,
                          2 * rows);
        std::vector<float> power(static_cast<std::size_t>(2 * width_));
        std::vector<float> scratch(power.size());
        for (int y = 0; y < rows; ++y) {
            std::fill(power.begin(), power.end(), 0.0F);
            for (const int half : {2 * y, 2 * y + 1}) {
                real.add_power(half, power, scratch);
                imaginary.add_power(half, power, scratch);
            }
            float* to =
                const_cast<float*>(row(pattern, first + y)); // NOLINT(cppcoreguidelines-pro-type-const-cast)
            // Each component has variance 1 at every point: 4 points of mean power 2.
            for (std::size_t x = 0; x < static_cast<std::size_t>(width_); ++x)
                to[x] = (power[2 * x] + power[2 * x + 1]) * 0.125F;
        }
    });
}

// --- exposures
// -------------------------------------------------------------------------------------------------

ModeWeights mode_weights(double contrast2) {
    if (contrast2 * kModes <= 1) { // more patterns would be needed: the rest is constant
        const double part = std::sqrt(contrast2 * kModes);
        return {1.0F, static_cast<float>(part / kModes), static_cast<float>(1 - part)};
    }
    const auto sum = [](double r, double count) { return (1 - std::pow(r, count)) / (1 - r); };
    double low = 0;
    double high = 1 - 1e-9;
    for (int i = 0; i < 60; ++i) {
        const double r = (low + high) / 2;
        const double total = sum(r, kModes);
        (sum(r * r, kModes) > contrast2 * total * total ? low : high) = r;
    }
    return {static_cast<float>(low), static_cast<float>(1 / sum(low, kModes)), 0.0F};
}

namespace {

/// mode_weights over x = T/τc on a grid that is linear within each 1/32 of an octave, so that the index is
/// taken from the bits of x.
class WeightTable {
public:
    static const WeightTable& instance() {
        static const WeightTable table;
        return table;
    }
    ModeWeights at(float x) const {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(std::clamp(x, kLowest, kHighest)) - kFirst;
        const std::size_t i = bits >> kShift;
        const float part = static_cast<float>(bits & ((1U << kShift) - 1)) * (1.0F / (1U << kShift));
        const ModeWeights& a = grid_[i];
        const ModeWeights& b = grid_[i + 1];
        return {a.ratio + part * (b.ratio - a.ratio), a.scale + part * (b.scale - a.scale),
                a.offset + part * (b.offset - a.offset)};
    }

private:
    static constexpr float kLowest = 0x1p-14F, kHighest = 0x1p20F;
    static constexpr int kShift = 23 - 5;
    static constexpr std::uint32_t kFirst = std::bit_cast<std::uint32_t>(kLowest);
    static constexpr std::size_t kSize = ((std::bit_cast<std::uint32_t>(kHighest) - kFirst) >> kShift) + 2;

    WeightTable() {
        for (std::size_t i = 0; i < kSize; ++i) {
            const auto bits = static_cast<std::uint32_t>(kFirst + (i << kShift));
            grid_[i] = mode_weights(lorentzian_contrast2(std::bit_cast<float>(bits)));
        }
    }
    std::array<ModeWeights, kSize> grid_{};
};

constexpr std::size_t kNoiseTable = 1 << 16;

/// Never destroyed: a program may exit while a stream still makes frames.
const std::vector<float>& noise_table() {
    static const std::vector<float>& table = *[] {
        auto* values = new std::vector<float>(kNoiseTable + SpeckleBank::kMaxSide); // NOLINT: never destroyed
        for (std::size_t i = 0; i < values->size(); ++i)
            (*values)[i] = random_normal(0x5eed, i);
        return values;
    }();
    return table;
}

/// Columns per piece, each a contiguous part of the noise table.
constexpr int kPiece = 1024;

struct Piece {
    std::array<float, kPiece> ratio{}, scale{}, offset{}, sum{};
};

/// Rows of one exposure, piece by piece.
class RowMaker {
public:
    RowMaker(const SpeckleBank& bank, const SpeckleExposure& exposure) : bank_(bank), exposure_(exposure) {
        const auto width = static_cast<std::uint64_t>(bank.width());
        const auto height = static_cast<std::uint64_t>(bank.height());
        for (std::uint64_t j = 0; j < kModes; ++j) {
            dx_[j] = static_cast<int>(random_bits(exposure.pattern_seed, 2 * j) % width);
            dy_[j] = static_cast<int>(random_bits(exposure.pattern_seed, 2 * j + 1) % height);
        }
    }

    template <class T> void make(const float* rates, const float* mean, int y, int width, T* to) const {
        Piece piece;
        for (int x = 0; x < width; x += kPiece) {
            const int count = std::min(kPiece, width - x);
            const int modes = weigh(rates + x, count, piece);
            mix(piece, modes, x, y, count);
            const auto stream = static_cast<std::uint64_t>(y) * 64 + static_cast<std::uint64_t>(x / kPiece);
            digitise(piece, mean + x, count, random_bits(exposure_.seed, stream) % kNoiseTable, to + x);
        }
    }

private:
    /// Computes the weights of each pixel; returns the number of patterns that matter in this piece.
    int weigh(const float* rates, int count, Piece& piece) const {
        const auto& table = WeightTable::instance();
        const auto time = static_cast<float>(exposure_.time_s);
        float largest = 0;
        for (int i = 0; i < count; ++i) {
            const ModeWeights w = table.at(rates[i] * time);
            piece.ratio[static_cast<std::size_t>(i)] = w.ratio;
            piece.scale[static_cast<std::size_t>(i)] = w.scale;
            piece.offset[static_cast<std::size_t>(i)] = w.offset;
            largest = std::max(largest, w.ratio);
        }
        if (largest >= 0.85F)
            return kModes;
        return std::clamp(static_cast<int>(std::ceil(std::log(1e-4F) / std::log(std::max(largest, 1e-5F)))),
                          1, kModes);
    }

    /// Σ ratioʲ·patternⱼ by Horner's rule, the last pattern first.
    void mix(Piece& piece, int modes, int x, int y, int count) const {
        std::fill_n(piece.sum.begin(), count, 0.0F);
        const int width = bank_.width();
        for (int j = modes - 1; j >= 0; --j) {
            const auto mode = static_cast<std::size_t>(j);
            const float* row = bank_.row(j % SpeckleBank::kPatterns, (y + dy_[mode]) % bank_.height());
            int column = (x + dx_[mode]) % width;
            for (int done = 0; done < count;) {
                const int run = std::min(count - done, width - column);
                float* sum = piece.sum.data() + done;
                const float* ratio = piece.ratio.data() + done;
                const float* pattern = row + column;
                for (int i = 0; i < run; ++i)
                    sum[i] = sum[i] * ratio[i] + pattern[i];
                done += run;
                column = 0;
            }
        }
    }

    template <class T>
    void digitise(const Piece& piece, const float* mean, int count, std::size_t noise_at, T* to) const {
        const float* noise = noise_table().data() + noise_at;
        const auto gain = static_cast<float>(exposure_.noise.gain);
        const auto floor = static_cast<float>(exposure_.noise.floor);
        const auto top = static_cast<float>(exposure_.full_scale);
        for (int i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const float light = (piece.offset[at] + piece.scale[at] * piece.sum[at]) * mean[i];
            const float value = light + noise[i] * std::sqrt(gain * light + floor) + 0.5F;
            to[i] = static_cast<T>(static_cast<int>(std::clamp(value, 0.0F, top)));
        }
    }

    const SpeckleBank& bank_;
    const SpeckleExposure& exposure_;
    std::array<int, kModes> dx_{}, dy_{};
};

} // namespace

void expose(const SpeckleBank& bank, const float* rates, const float* mean, const SpeckleExposure& exposure,
            HostView to) {
    const RowMaker maker(bank, exposure);
    const int width = to.shape.width;
    const int slots = parallel_threads();
    const int bands = band_count(to.shape.height, slots, 16);
    for_bands(to.shape.height, bands, slots, [&](Band rows, int) {
        for (int y = rows.begin; y < rows.end; ++y) {
            work_goes_on("exposing the simulated scene", static_cast<double>(y) / to.shape.height);
            const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
            if (to.shape.type == PixelType::u8)
                maker.make(rates + at, mean + at, y, width, to.as<std::uint8_t>().row(y));
            else
                maker.make(rates + at, mean + at, y, width, to.as<std::uint16_t>().row(y));
        }
    });
}

} // namespace specklescope
