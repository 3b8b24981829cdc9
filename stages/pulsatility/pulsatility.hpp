// Pulsatility of each pixel: parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/history.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// (max − min)/mean of each pixel over a beat of `frames` frames, the mean over the last `beats` whole beats
/// (Gosling, King 1974, with the mean of the beat): f32, a pure number. A window as long as a beat holds one
/// maximum and one minimum wherever it begins, so beats follow each other without a gap and need no trigger;
/// the result changes with the last frame of each. Before the first is whole, the frames so far are taken.
/// Undefined samples are left out; a beat without any other, or with an infinite one, is undefined and left
/// out of the mean; without a beat the result is undefined.
struct PulsatilityParams {
    static constexpr int kMaxFrames = 1000, kMaxBeats = 16;

    int frames = 60;
    int beats = 3;
};

/// Where a run stands in its beat.
struct BeatStep {
    bool take = false;   ///< the frame enters
    bool begins = false; ///< it is the first of a beat: what the memory says of this beat means nothing
    bool ends = false;   ///< it is the last, and enters
    int slot = 0;        ///< of the beat's index, where it ends
    int held = 0;        ///< whole beats, this one among them
};
BeatStep beat_step(const HistoryStep& step, const PulsatilityParams& params);

/// For so many samples as laid out in memory; `frame`: a beat.
HistoryBytes pulsatility_bytes(std::size_t samples);

/// Of the samples of a beat so far.
struct BeatSamples {
    float low = HUGE_VALF, high = -HUGE_VALF;
    double sum = 0;
    std::uint16_t count = 0; ///< not undefined

    SPECKLESCOPE_BOTH void take(float sample) {
        low = sample < low ? sample : low;
        high = sample > high ? sample : high;
        sum += sample == sample ? static_cast<double>(sample) : 0.0;
        count = static_cast<std::uint16_t>(count + (sample == sample ? 1 : 0));
    }
    /// Undefined without a sample, with an infinite one, and where the mean is not above 0.
    SPECKLESCOPE_BOTH float index() const {
        const double mean = sum / count;
        return mean > 0 ? static_cast<float>((static_cast<double>(high) - static_cast<double>(low)) / mean)
                        : NAN;
    }
};

/// Of those of `held` beats that are defined; at(k) is one of them.
template <class At> SPECKLESCOPE_BOTH inline float mean_of_beats(int held, const At& at) {
    double sum = 0;
    int defined = 0;
    for (int k = 0; k < held; ++k) {
        const float index = at(k);
        sum += index == index ? static_cast<double>(index) : 0.0;
        defined += index == index ? 1 : 0;
    }
    return static_cast<float>(sum / defined);
}

StageType pulsatility_stage();
std::unique_ptr<DeviceStage> make_pulsatility_device(const Params& params);

} // namespace specklescope
