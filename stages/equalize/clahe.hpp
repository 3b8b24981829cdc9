// Contrast-limited adaptive histogram equalisation: K. Zuiderveld, "Contrast Limited Adaptive Histogram
// Equalization", Graphics Gems IV (1994), VIII.5.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"

#include <vector>

namespace specklescope {

/// Each tile's clipped histogram defines the mapping at the tile's centre; between centres pixels blend the
/// mappings of the four surrounding tiles. Grey images, or V = max(R, G, B) of HSV for colour, keeping hue
/// and saturation; negative colour samples count as 0. Integers are mapped from [0, full scale] to [0, full
/// scale], f32 within the smallest and largest finite value of the frame; a pixel that is not finite is not
/// counted and stays unchanged. For u8 with 256 bins this equals OpenCV's createCLAHE.
struct ClaheParams {
    static constexpr int kMaxBins = 4096;

    int tiles = 8;
    /// In mean bin heights, like OpenCV's clipLimit: a bin holds at most max(1, ⌊clip·pixels of a
    /// tile/bins⌋); the excess is distributed over all bins. 0: no limit.
    double clip = 2;
    int bins = 256; ///< integer images have at most one per level
};

/// Tiles are equal. If they do not divide the image, it is extended to the right and below, mirrored at its
/// last pixel, by `tiles` minus the remainder of each axis (like OpenCV: by `tiles` if only one axis
/// divides).
struct ClaheTiling {
    int tiles = 1;
    int width = 1, height = 1; ///< of a tile
    SPECKLESCOPE_BOTH int area() const { return width * height; }
};
/// Throws UsageError for tiles of 2³¹ pixels or more, which exceed an int.
ClaheTiling clahe_tiling(const ClaheParams& params, const Shape& input);

/// Cell c of an axis is between the centres of tiles c − 1 and c; the first and last cell have one neighbour.
/// Pixels [cells[c], cells[c + 1]) are in cell c; tiles + 2 numbers.
std::vector<int> clahe_cells(int pixels, int tile_side, int tiles);

/// Largest value of an integer image: the camera's if known.
int clahe_full_scale(PixelType type, const FrameInfo& info);
/// Limit of a bin's height; 0: none.
int clahe_clip_limit(double clip, int area, int bins);

StageType clahe_stage();
std::unique_ptr<DeviceStage> make_clahe_device(const Params& params);

} // namespace specklescope
