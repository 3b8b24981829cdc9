// Pixel conversions that the executors insert where a stage does not accept what it is given. One rule for
// host and device: luma after ITU-R BT.601, rounded to nearest for integers; integers become the same number
// in f32.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/host_device.hpp"

#include <cstdint>

namespace specklescope {

/// 0.299 R + 0.587 G + 0.114 B in 16-bit fixed point; the weights add up to 65536, so grey stays grey.
template <class T> SPECKLESCOPE_BOTH inline T luma(T r, T g, T b) {
    return static_cast<T>((19595U * r + 38470U * g + 7471U * b + 32768U) >> 16);
}
template <> SPECKLESCOPE_BOTH inline float luma(float r, float g, float b) {
    return g + 0.299F * (r - g) + 0.114F * (b - g); // exact where r = g = b
}

/// The shape a stage gets for this input: the input's own where accepted, else luma and/or f32.
/// Throws UsageError if no conversion leads there.
Shape accepted_shape(const StageType& stage, const Shape& input);

/// from → to of the same size, types and channels as accepted_shape gives them.
void convert(ConstHostView from, HostView to);

} // namespace specklescope
