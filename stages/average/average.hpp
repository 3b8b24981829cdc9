// Running mean of each pixel over time: parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/history.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace specklescope {

/// Mean over the last frames, always f32, since the mean of n frames has finer steps than the frames. 1 or 3
/// channels. window: equal weights for the last `frames`. exponential: the newest weighs 1/frames, each older
/// frame (1 − 1/frames) times the next newer one; weights are normalised by their sum, so that the first
/// result is the first frame.
///
/// Non-finite samples (docs/science.md), for both kinds: undefined samples are omitted and the other weights
/// normalised by their own sum; the mean is undefined without samples. While an infinite sample is among the
/// last `frames`, the mean is infinite, or undefined with both +∞ and −∞; after that it counts as undefined.
struct AverageParams {
    enum class Kind : std::uint8_t { window, exponential };
    int frames = 10;
    Kind kind = Kind::window;
};

/// Memory for this number of samples (pixels × channels); `samples` as laid out in memory.
HistoryBytes average_bytes(const AverageParams& params, PixelType type, std::size_t samples);

/// Weight of the frame after `before` others in the exponential mean: α/(1 − (1 − α)^(before+1)), α =
/// 1/frames.
double exponential_weight(int frames, std::uint64_t before);

/// Sum of the weights of `held` frames, where the newest has weight 1: (1 − (1 − α)^held)·frames.
double exponential_weights(int frames, std::uint64_t held);

SPECKLESCOPE_BOTH inline bool is_number(float sample) { return sample - sample == 0; }
/// Contribution of a sample to a sum.
SPECKLESCOPE_BOTH inline double number_of(float sample) {
    return is_number(sample) ? static_cast<double>(sample) : 0;
}

/// Σ of finite f32 samples that are added and removed, in twice the precision of float64 (Knuth's two-sum),
/// so that removing a sample cancels it exactly.
struct LongSum {
    double high, low;

    SPECKLESCOPE_BOTH void add(double value) {
        const double sum = high + value;
        const double part = sum - high;
        low += (high - (sum - part)) + (value - part);
        high = sum;
    }
    SPECKLESCOPE_BOTH double value() const { return high + low; }
};

/// Sum of the finite ones of `held` samples; at(k) is the k-th newest.
template <class At> SPECKLESCOPE_BOTH inline LongSum long_sum(int held, const At& at) {
    LongSum sum{0, 0};
    for (int k = 0; k < held; ++k)
        sum.add(number_of(at(k)));
    return sum;
}

/// Mean of samples with +∞, −∞ or both.
SPECKLESCOPE_BOTH inline double infinite_mean(bool above, bool below) {
    const double infinity = HUGE_VAL;
    return above && below ? infinity - infinity : above ? infinity : -infinity;
}

/// Numbers of undefined, +∞ and −∞ samples in a window: 10 bits each, for up to 1000 frames.
using OddSamples = std::uint32_t;
SPECKLESCOPE_BOTH inline OddSamples odd_sample(float sample) {
    return is_number(sample) ? 0U : sample > 0 ? 1U << 10 : sample < 0 ? 1U << 20 : 1U;
}
/// Mean of `held` samples, given the sum of the finite ones.
SPECKLESCOPE_BOTH inline double window_mean(const LongSum& sum, OddSamples odd, int held) {
    if (odd == 0)
        return sum.value() / held;
    if (odd >> 10 != 0)
        return infinite_mean((odd >> 10 & 1023U) != 0, odd >> 20 != 0);
    const int defined = held - static_cast<int>(odd);
    return defined > 0 ? sum.value() / defined : NAN;
}

/// State of an exponential mean with non-finite samples.
struct FadingMean {
    double mean, weight;    ///< of the finite samples; weight of the newest: 1
    std::uint32_t infinite; ///< frames for which the newest +∞ still counts; −∞ in the upper half

    /// `keep`: 1 − α.
    SPECKLESCOPE_BOTH void take(float sample, double keep, int frames) {
        weight *= keep;
        infinite -= (infinite & 0xffffU) != 0 ? 1U : 0U;
        infinite -= infinite >> 16 != 0 ? 0x10000U : 0U;
        const auto last = static_cast<std::uint32_t>(frames);
        if (is_number(sample)) {
            weight += 1;
            mean += (static_cast<double>(sample) - mean) / weight;
        } else if (sample > 0) {
            infinite = (infinite & 0xffff0000U) | last;
        } else if (sample < 0) {
            infinite = (infinite & 0xffffU) | last << 16;
        }
    }
    SPECKLESCOPE_BOTH double value() const {
        if (infinite != 0)
            return infinite_mean((infinite & 0xffffU) != 0, infinite >> 16 != 0);
        return weight > 0 ? mean : NAN;
    }
    /// True if `weights`, the weights without missing samples, equal its own up to rounding.
    SPECKLESCOPE_BOTH bool as_if_all(double weights) const {
        return infinite == 0 && std::fabs(weight - weights) <= 1e-15 * weights;
    }
};

StageType average_stage();
std::unique_ptr<DeviceStage> make_average_device(const Params& params);

// Inner loops of the running mean: one row, in the best instruction set of the processor. Used only by
// stages/average/average.cpp.

/// State of one row; kind and pixel type determine the members in use.
struct AverageRow {
    std::uint32_t* sums = nullptr; ///< window, integers
    double* high = nullptr;        ///< window, f32: the members of LongSum
    double* low = nullptr;
    double* mean = nullptr;    ///< exponential
    double* weights = nullptr; ///< exponential, f32: the members of FadingMean
    std::uint32_t* infinite = nullptr;
    OddSamples* odd = nullptr; ///< window, f32
    /// f32: 0 while all samples in the window of this row are finite; odd, weights and infinite are then not
    /// valid.
    std::uint8_t* irregular = nullptr;
    PixelType type = PixelType::u8;
    int samples = 0; ///< pixels × channels
    int y = 0;
    std::byte* ring = nullptr;  ///< window: this row in slot 0
    std::size_t slot_bytes = 0; ///< distance to the row in slot 1
    int frames = 0;
    HistoryStep step;
};

/// Adds the row of the newest frame if step.take, and writes the means.
void run_average_row(const AverageRow& row, const std::byte* newest, float* output);

} // namespace specklescope
