// The pictures of a look side by side, over or through one another, in colours: what the window shows,
// without one. Pixel for pixel that of a snapshot where the result alone is shown.
#pragma once

#include "recording/record_file.hpp"
#include "recording/screen/look.hpp"

#include <cstddef>
#include <vector>

namespace specklescope {

/// A part of a screen picture, in its pixels.
struct ScreenPane {
    int x = 0, y = 0, width = 0, height = 0;
    bool raw = false;               ///< the raw picture alone
    bool regions = false;           ///< those of the result lie on it,
    int result_x = 0, result_y = 0; ///< and its first pixel here
};

/// What the numbers in the colour bar mean.
struct ScreenLegend {
    ColorMap map = ColorMap::turbo;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear;
    std::string symbol, unit;
    bool shown = false; ///< a grey result is seen
};

struct ScreenPicture {
    Shape shape; ///< u8, three channels
    std::vector<std::byte> rgb;
    std::vector<ScreenPane> panes;
    ScreenLegend legend;
    std::vector<float> change; ///< room for one against a baseline

    HostView view() { return {rgb.data(), shape}; }
};

/// What a frame shows in this look: frame.pixels is the result, frame.raw the raw picture (none where the
/// look shows the result alone). Makes `picture` anew in its own memory.
void draw_screen(const RecordedFrame& frame, const ScreenLook& look, ScreenPicture& picture);

} // namespace specklescope
