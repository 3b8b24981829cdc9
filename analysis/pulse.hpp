// The pulse in a trace: its spectrum, the heart's rate, how much each beat changes the value.
#pragma once

#include "analysis/spectrum.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

/// Where a heart may beat, from man to mouse.
inline constexpr double kLeastPulse_hz = 0.5, kMostPulse_hz = 15;
inline constexpr double kSegment_s = 10; ///< of the spectrum, where the trace is as long
/// Periods of the slowest pulse that is looked for in a segment: slower ones look like drift.
inline constexpr double kLeastPeriods = 5;
/// Of a peak over the density beside it, for a spectrum of that many segments. From simulations: of noise
/// that is white, 1/f, of 1 Hz or a random walk fewer than one trace in a hundred has such a peak.
inline double least_peak(std::size_t segments) { return 4 + 16 / static_cast<double>(segments); }
/// Frames that may be missing in a row; across more of them the trace is cut.
inline constexpr int kBridgedFrames = 3;

/// From one foot of the trace to the next.
struct Beat {
    double begin_s, seconds; ///< `begin_s` on the clock of the trace
    double pulsatility;      ///< (max − min)/mean
};

/// NaN where there is nothing to tell; `why` says why there is no pulse.
struct Pulse {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t samples = 0;                ///< with a value
    std::size_t left_out = 0;               ///< without
    std::size_t bridged = 0;                ///< frames that were missing and are interpolated
    std::size_t runs = 0;                   ///< parts of the trace without a longer gap
    double seconds = 0;                     ///< of all runs
    double rate_hz = kNone;                 ///< frames/s
    double mean = kNone;                    ///< of the trace
    double low_hz = kNone, high_hz = kNone; ///< where a peak was looked for
    Spectrum spectrum;
    /// Of the largest peak that stands out, by a parabola through three logarithms, or of the fundamental of
    /// which it is a harmonic.
    double pulse_hz = kNone;
    int harmonic = 1;    ///< of pulse_hz that the peak is, up to 5
    double peak = kNone; ///< its height over the density beside it; without a pulse the highest there is
    std::vector<Beat> beats;
    double pulsatility = kNone, pulsatility_std = kNone; ///< of the beats
    double beat_s = kNone, beat_s_std = kNone;           ///< length of a beat
    std::string why;
};

/// Of values at times (s) in the order of the frames. Values that are not finite are left out. Times need not
/// be even: missing frames are interpolated, the trace is cut at longer gaps and where the time goes back.
/// The density beside a peak at f is the larger of the medians of about f/2 on either side of it, its skirts
/// and second harmonic left out: a drift, whose density falls with f, has no peak.
/// Beats lie between the feet of the fundamental (minima of the trace behind a band-pass about pulse_hz);
/// their extremes and means are of the trace behind a low-pass (Gaussian, half of the amplitude at 9.4
/// pulse_hz).
Pulse find_pulse(std::span<const double> times, std::span<const double> values);

/// "1.200 Hz (72.0 beats/min), …; pulsatility index 0.34 ± 0.02, …", or "no pulse: …".
std::string to_string(const Pulse& pulse);

} // namespace specklescope
