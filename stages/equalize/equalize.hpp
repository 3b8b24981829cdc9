// Histogram equalisation: parameters and declaration. The arithmetic is in equalize_map.hpp.
#pragma once

#include "pipeline/stage.hpp"

namespace specklescope {

/// The value v of a pixel (grey: the sample; colour: V of HSV, the largest channel) becomes r(bin of v), the
/// cumulative histogram scaled to the range of the input (Gonzalez and Woods, Digital Image Processing, 4th
/// ed., section 3.3). Colour keeps hue and saturation: each channel is multiplied by new V / old V. HSV knows
/// no negative samples: in colour they count as 0, and as much of them is left as of the input (1 −
/// strength).
///
/// The range is [0, full scale] for u8 and u16 (the camera's where it is known; samples above count as full
/// scale) and [smallest, largest] finite value of the frame for f32. A pixel with a NaN or an infinity is not
/// counted and stays as it is. So does every pixel of a frame whose values all fall into one bin.
struct EqualizeParams {
    enum class Scaling : std::uint8_t {
        maxabs, ///< r/r_max: skimage.exposure.equalize_hist
        minmax  ///< (r − r_min)/(r_max − r_min), r_min of the darkest bin in use: cv::equalizeHist
    };
    static constexpr int kMaxBins = 65536;

    int bins = 4096;
    Scaling scaling = Scaling::maxabs;
    double strength = 1; ///< 0: the input, 1: the equalised V
};

/// What values are after an equalisation: of the input's range and in its order, but ranks of pixels and no
/// longer a measure: "SFI eq." in a.u.
Quantity equalized_quantity(const Quantity& input);

/// The input's own shape. Throws UsageError for 2³² pixels, which 32-bit counts do not hold.
Shape equalize_shape(const Shape& input);
/// Says where more bins were asked for than the pixel type has levels.
std::string equalize_note(int bins, PixelType type);

StageType equalize_stage();
std::unique_ptr<DeviceStage> make_equalize_device(const Params& params);

} // namespace specklescope
