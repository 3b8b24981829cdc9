// Frames that the recorder computes from others: the change against a baseline, and the saturated samples.
// The pixels of a returned frame are overwritten by the next call.
#pragma once

#include "recording/record_file.hpp"

#include <optional>

namespace specklescope {

/// 100·(F/F₀ − 1) of each pixel in 32-bit floats, with its own quantity and pixel statistics.
class ChangePicture {
public:
    /// Throws RunError if the baseline has another size or quantity.
    RecordedFrame of(const RecordedFrame& result, const BaselineImage& baseline);

private:
    std::optional<FrameRing> ring_; ///< one slot
};

/// 8-bit frames of the same size and channels: 255 where saturation_threshold() counts a raw sample as
/// saturated, 0 elsewhere.
class SaturationMask {
public:
    RecordedFrame of(const RecordedFrame& raw);

private:
    std::optional<FrameRing> ring_; ///< one slot
};

} // namespace specklescope
