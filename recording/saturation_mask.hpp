// Which samples of a raw frame are at full scale, as a picture.
#pragma once

#include "recording/record_file.hpp"

#include <optional>

namespace specklescope {

/// 8-bit frames of the size and the channels of the raw ones: 255 where saturation_threshold() counts a
/// sample as saturated, 0 elsewhere. One frame at a time.
class SaturationMask {
public:
    /// The returned frame's pixels are overwritten by the next call.
    RecordedFrame of(const RecordedFrame& raw);

private:
    std::optional<FrameRing> ring_; ///< of one slot
};

} // namespace specklescope
