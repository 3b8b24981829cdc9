// Conversion between light and display values. Never part of the data: images are decoded when read
// (files/transfer.hpp) and encoded when shown (pipeline/mapping.hpp).
#pragma once

#include <array>
#include <cstdint>

namespace specklescope {

/// sRGB (IEC 61966-2-1): light of a code value, and the inverse; 0 and 1 are fixed points. Values below 0
/// mirror those above 0; values above 1 continue with the power.
double srgb_decode(double code);
double srgb_encode(double light);

/// Curve from t, the position of a value in the range (0: low end, 1: high end), to brightness. In the order
/// of the view's menu.
enum class ToneCurve : std::uint8_t {
    automatic, ///< srgb for images of light, linear for everything else
    linear,    ///< t
    srgb,      ///< encoded for the display; above 1 white
    reinhard,  ///< t/(1 + t), encoded: Reinhard and others 2002, eq. 3; nothing becomes white
    filmic ///< t·(2.51·t + 0.03)/(t·(2.43·t + 0.59) + 0.14), encoded: Narkowicz's fit (2015) of the ACES
           ///< film curve; dark a little darker, white from t = 7
};

/// 0…1 for any t; `curve` is not automatic. All are increasing.
double tone(ToneCurve curve, double t);

/// Values of t from which on tone(curve, t)·256 is at least 1, 2 … 255, as counted by map_colors. `curve` is
/// neither automatic nor linear.
const std::array<float, 255>& tone_steps(ToneCurve curve);

} // namespace specklescope
