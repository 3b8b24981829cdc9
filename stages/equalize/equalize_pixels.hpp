// Equalisation of one pixel of any type and channel count, for host and device.
#pragma once

#include "stages/equalize/equalize_map.hpp"

namespace specklescope {

/// V of HSV: the largest channel, at least 0. Grey: the sample.
template <int C, class T> SPECKLESCOPE_BOTH inline T pixel_v(const T* pixel) {
    T v = C == 1 ? pixel[0] : T{0};
    for (int c = C == 1 ? 1 : 0; c < C; ++c)
        v = pixel[c] > v ? pixel[c] : v;
    return v;
}

template <int C> SPECKLESCOPE_BOTH inline bool finite_pixel(const float* pixel) {
    bool finite = true;
    for (int c = 0; c < C; ++c)
        finite = finite && is_finite(pixel[c]);
    return finite;
}

/// u16 through its table for the levels 0…full.
template <int C> SPECKLESCOPE_BOTH inline void map_pixel(const std::uint16_t* in, std::uint16_t* out,
                                                         const std::uint16_t* levels, std::uint32_t full) {
    const std::uint32_t v = pixel_v<C>(in);
    const std::uint32_t new_v = levels[v < full ? v : full];
    for (int c = 0; c < C; ++c)
        out[c] = static_cast<std::uint16_t>(C == 1 ? new_v : scaled_channel(in[c], new_v, v));
}

/// f32 through its table: the equalised value of each bin.
template <int C> SPECKLESCOPE_BOTH inline void map_pixel(const float* in, float* out, const float* values,
                                                         const RealBins& bins, std::uint32_t weight) {
    if (!finite_pixel<C>(in)) {
        for (int c = 0; c < C; ++c)
            out[c] = in[c];
        return;
    }
    const float v = pixel_v<C>(in);
    const float new_v = mixed_value(v, values[bin_of(bins, v)], weight);
    for (int c = 0; c < C; ++c)
        out[c] = C == 1 ? new_v : with_negative(scaled_channel(in[c], new_v, v), in[c], weight);
}

} // namespace specklescope
