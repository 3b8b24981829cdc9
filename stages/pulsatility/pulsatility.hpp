// Pulsatility of each pixel: parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/history.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// (max − min)/mean of each pixel over a beat of `frames` frames, averaged over the last `beats` complete
/// beats (Gosling, King 1974, with the mean of the beat): f32, a pure number. A window as long as a beat
/// contains one maximum and one minimum wherever it begins, so that beats follow each other without gaps and
/// without a trigger; the result changes with the last frame of each. Before the first beat is complete, the
/// frames so far are used. Undefined samples are omitted. A beat with only undefined samples, or with an
/// infinite one, is undefined and omitted from the mean; without a beat the result is undefined.
struct PulsatilityParams {
    static constexpr int kMaxFrames = 1000, kMaxBeats = 16;

    int frames = 60;
    int beats = 3;
};

/// Position of a run in its beat.
struct BeatStep {
    bool take = false;   ///< add the frame
    bool begins = false; ///< first frame of a beat: memory contents of this beat are undefined
    bool ends = false;   ///< last frame of a beat, added
    int slot = 0;        ///< for the index of the beat, if it ends
    int held = 0;        ///< complete beats, including this one
};
BeatStep beat_step(const HistoryStep& step, const PulsatilityParams& params);

/// For this number of samples as laid out in memory; `frame`: a beat.
HistoryBytes pulsatility_bytes(std::size_t samples);

/// Samples of a beat so far.
struct BeatSamples {
    float low = HUGE_VALF, high = -HUGE_VALF;
    double sum = 0;
    std::uint16_t count = 0; ///< defined samples

    SPECKLESCOPE_BOTH void take(float sample) {
        low = sample < low ? sample : low;
        high = sample > high ? sample : high;
        sum += sample == sample ? static_cast<double>(sample) : 0.0;
        count = static_cast<std::uint16_t>(count + (sample == sample ? 1 : 0));
    }
    /// Undefined without samples, with an infinite sample, and for a mean not above 0.
    SPECKLESCOPE_BOTH float index() const {
        const double mean = sum / count;
        return mean > 0 ? static_cast<float>((static_cast<double>(high) - static_cast<double>(low)) / mean)
                        : NAN;
    }
};

/// Mean of the defined beats among `held`; at(k) is one of them.
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
