// How light becomes what a display is sent, and back. Never part of the data: pictures are decoded where they
// are read (files/transfer.hpp), and encoded where they are shown (pipeline/mapping.hpp).
#pragma once

#include <array>
#include <cstdint>

namespace specklescope {

/// sRGB (IEC 61966-2-1): light of a code value, and back; 0 and 1 are their own counterparts. Values below 0
/// are those above 0 turned round, values above 1 go on with the power.
double srgb_decode(double code);
double srgb_encode(double light);

/// What is shown of a value that lies at t of the range: 0 its low end, 1 its high end. In the order in which
/// the view offers them.
enum class ToneCurve : std::uint8_t {
    automatic, ///< srgb for pictures of light, linear for everything else
    linear,    ///< t
    srgb,      ///< encoded for the display; above 1 white
    reinhard,  ///< t/(1 + t), encoded: Reinhard and others 2002, eq. 3; nothing becomes white
    filmic ///< t·(2.51·t + 0.03)/(t·(2.43·t + 0.59) + 0.14), encoded: Narkowicz's fit (2015) of the ACES
           ///< film curve; dark a little darker, white from t = 7
};

/// 0…1 for any t; `curve` is not automatic. All grow with t.
double tone(ToneCurve curve, double t);

/// The values of t from which on tone(curve, t)·256 is at least 1, 2 … 255: what map_colors counts.
/// `curve` is neither automatic nor linear.
const std::array<float, 255>& tone_steps(ToneCurve curve);

} // namespace specklescope
