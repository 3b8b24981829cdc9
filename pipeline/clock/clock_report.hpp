// Report on a camera's clock compared to ours.
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

class ClockWatch;

struct ClockReport {
    std::uint64_t frames = 0;
    double span_s = 0; ///< from the first frame to the last
    /// Skew of the source's clock in parts per million of ours, positive if it runs fast; with one standard
    /// error.
    double skew_ppm = 0, skew_error_ppm = 0;
    /// The same over each half; their difference is drift.
    double first_half_ppm = 0, second_half_ppm = 0;
    std::int64_t at_capture_ns = 0; ///< on the source's clock, of the last frame
    /// Lead of our steady clock at that capture, if the frame had arrived without extra delay. Includes the
    /// constant part: exposure, readout, transfer.
    std::int64_t offset_ns = 0;
    double offset_error_ns = 0; ///< one standard error, without the constant part
    double delay_ms = 0;        ///< mean delay compared to the fastest frame
};

/// One JSON object on one line.
std::string to_json(const ClockReport& report);
/// "fast by 50 ± 0.03 ppm beside ours over 60 s (first half +50, second +50); frames came …".
std::string to_string(const ClockReport& report);

} // namespace specklescope
