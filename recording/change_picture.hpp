// Results as the change against a baseline, in %, as pictures of their own.
#pragma once

#include "recording/record_file.hpp"

#include <optional>

namespace specklescope {

/// 100·(F/F₀ − 1) of each pixel in 32-bit floats, with its own quantity and counts. One frame at a time.
class ChangePicture {
public:
    /// The returned frame's pixels are overwritten by the next call. Throws RunError where the baseline is of
    /// another size or quantity.
    RecordedFrame of(const RecordedFrame& result, const BaselineImage& baseline);

private:
    std::optional<FrameRing> ring_; ///< of one slot
};

} // namespace specklescope
