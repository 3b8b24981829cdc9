// The pulse in a trace: its spectrum, the heart rate, and the change of the value in each beat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

/// One-sided power density; `density` in unit²/Hz at frequencies k·step_hz.
struct Spectrum {
    double step_hz = 0;
    std::vector<double> density;
    std::size_t length = 0;   ///< samples per segment
    std::size_t segments = 0; ///< number of averaged segments
};

/// Welch 1967: the mean over segments of `length` samples that overlap by half, each minus its mean and with
/// a periodic Hann window. The rest at the end of a run is not used. No segment: no density. `rate` in
/// samples/s. Equals scipy.signal.welch(window="hann", nperseg=length) of each run, weighted by their
/// segments.
Spectrum welch_spectrum(const std::vector<std::vector<double>>& runs, double rate, std::size_t length);

/// Range of heart rates, from human to mouse.
inline constexpr double kLeastPulse_hz = 0.5, kMostPulse_hz = 15;
inline constexpr double kSegment_s = 10; ///< of the spectrum, if the trace is long enough
/// Minimum number of periods of the slowest pulse in a segment: slower ones resemble drift.
inline constexpr double kLeastPeriods = 5;
/// Minimum height of a peak relative to the neighbouring density, for a spectrum of `segments` segments. From
/// simulations: in white noise, 1/f noise, noise of 1 Hz or a random walk, fewer than one trace in a hundred
/// has such a peak.
inline double least_peak(std::size_t segments) { return 4 + 16 / static_cast<double>(segments); }
/// Maximum number of missing frames in a row; longer gaps split the trace.
inline constexpr int kBridgedFrames = 3;

/// From one foot of the trace to the next.
struct Beat {
    double begin_s, seconds; ///< `begin_s` on the clock of the trace
    double pulsatility;      ///< (max − min)/mean
};

/// NaN where undefined; `why` explains a missing pulse.
struct Pulse {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t samples = 0;                ///< with a value
    std::size_t undefined = 0;              ///< without a value
    std::size_t bridged = 0;                ///< missing frames that were interpolated
    std::size_t runs = 0;                   ///< parts of the trace without longer gaps
    double seconds = 0;                     ///< of all runs
    double rate_hz = kNone;                 ///< frames/s
    double mean = kNone;                    ///< of the trace
    double low_hz = kNone, high_hz = kNone; ///< searched range
    Spectrum spectrum;
    /// Frequency of the largest significant peak, by a parabola through three logarithms, or of the
    /// fundamental if the peak is a harmonic.
    double pulse_hz = kNone;
    int harmonic = 1;    ///< which harmonic of pulse_hz the peak is, up to 5
    double peak = kNone; ///< height relative to the neighbouring density; without a pulse the largest one
    std::vector<Beat> beats;
    double pulsatility = kNone, pulsatility_std = kNone; ///< of the beats
    double beat_s = kNone, beat_s_std = kNone;           ///< length of a beat
    std::string why;
};

/// Values at times (s) in the order of the frames. Values that are not finite are omitted. Times may be
/// uneven: missing frames are interpolated; the trace is split at longer gaps and where time goes back.
///
/// The neighbouring density of a peak at f is the larger of the medians of about f/2 on either side, without
/// its skirts and second harmonic: a drift, whose density decreases with f, has no peak. Beats are between
/// the feet of the fundamental (minima of the trace after a band-pass around pulse_hz); their extremes and
/// means use the trace after a low-pass (Gaussian, half of the amplitude at 9.4 pulse_hz).
Pulse find_pulse(std::span<const double> times, std::span<const double> values);

/// "1.200 Hz (72.0 beats/min), …; pulsatility index 0.34 ± 0.02, …", or "no pulse: …".
std::string to_string(const Pulse& pulse);

} // namespace specklescope
