// How the clock of a camera runs beside ours.
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

class ClockWatch;

struct ClockReport {
    std::uint64_t frames = 0;
    double span_s = 0; ///< from the first of them to the last
    /// By how much the source's clock runs fast, in parts per million of ours; with one standard error.
    double skew_ppm = 0, skew_error_ppm = 0;
    /// The same over the first and the second half alone: their difference is drift.
    double first_half_ppm = 0, second_half_ppm = 0;
    std::int64_t at_capture_ns = 0; ///< on the source's clock, the last frame: there …
    /// … our steady clock was ahead by this much when that frame was here, had nothing held it up. It holds
    /// what every frame takes: exposure, readout, transfer.
    std::int64_t offset_ns = 0;
    double offset_error_ns = 0; ///< one standard error, without that constant
    double delay_ms = 0;        ///< by which frames came later than the quickest, on the average
};

/// One JSON object on one line.
std::string to_json(const ClockReport& report);
/// "fast by 50 ± 0.03 ppm beside ours over 60 s (first half +50, second +50); frames came …".
std::string to_string(const ClockReport& report);

} // namespace specklescope
