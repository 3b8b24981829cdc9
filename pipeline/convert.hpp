// Pixel conversions that the executors insert where a stage does not accept its input. The rule is the same
// on host and device: one unchanged channel, or a mean of three in f32 without rounding; integers become the
// same number in f32.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/chain.hpp"

#include <cstdint>

namespace specklescope {

/// Integer types are summed exactly and converted to f32 last: the same bits on host and device.
template <class T> SPECKLESCOPE_BOTH inline float luma(T r, T g, T b) {
    // 16-bit fixed point; the weights add up to 65536, so that grey stays grey.
    return static_cast<float>(19595U * r + 38470U * g + 7471U * b) * (1.0F / 65536);
}
template <> SPECKLESCOPE_BOTH inline float luma(float r, float g, float b) {
    return g + 0.299F * (r - g) + 0.114F * (b - g); // exact where r = g = b
}
template <class T> SPECKLESCOPE_BOTH inline float mean_of(T r, T g, T b) {
    return static_cast<float>(static_cast<unsigned>(r) + g + b) / 3.0F;
}
template <> SPECKLESCOPE_BOTH inline float mean_of(float r, float g, float b) {
    return g + ((r - g) + (b - g)) * (1.0F / 3); // exact where r = g = b
}

/// Index of the channel that is used unchanged; −1 for a mean.
SPECKLESCOPE_BOTH inline int channel_index(GreyChannel channel) {
    return channel == GreyChannel::red     ? 0
           : channel == GreyChannel::green ? 1
           : channel == GreyChannel::blue  ? 2
                                           : -1;
}

/// One pixel of colour (RGB) as grey, in the sample type To.
template <class To, class From> SPECKLESCOPE_BOTH inline To grey_of(const From* rgb, GreyChannel channel) {
    if (const int index = channel_index(channel); index >= 0)
        return static_cast<To>(rgb[index]);
    return static_cast<To>(channel == GreyChannel::mean ? mean_of<From>(rgb[0], rgb[1], rgb[2])
                                                        : luma<From>(rgb[0], rgb[1], rgb[2]));
}

/// Shape that a stage gets for this input: the input's own if accepted, else grey and/or f32. A mean of three
/// channels is f32. Throws UsageError if no conversion fits.
Shape accepted_shape(const StageType& stage, const Shape& input, GreyChannel channel = GreyChannel::luma);

/// Converts between images of the same size, with types and channels from accepted_shape. Multithreaded.
void convert(ConstHostView from, HostView to, GreyChannel channel);

} // namespace specklescope
