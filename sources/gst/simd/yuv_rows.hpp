// A row of YUV to RGB. Word, the type of a value, is std::uint8_t or std::uint16_t.
#pragma once

#include <cstdint>

namespace specklescope {

/// grey = (Y − black)·luma, red = grey + v_red·(V − neutral), blue = grey + u_blue·(U − neutral) and
/// green = grey − u_green·(U − neutral) − v_green·(V − neutral).
struct RgbOfYuv {
    float black, neutral, luma, v_red, u_blue, u_green, v_green;
};

/// Interleaved RGB, limited to the range of Word, and rounded once.
template <class Word>
void rgb_row(const RgbOfYuv& by, const Word* luma, const Word* u, const Word* v, int width, Word* to);

} // namespace specklescope
