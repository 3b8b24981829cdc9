// Histogram equalisation: parameters and declaration. The arithmetic is in equalize_map.hpp.
#pragma once

#include "pipeline/stage.hpp"

namespace specklescope {

/// The value v of a pixel (grey: the sample; colour: V of HSV, the largest channel) becomes r(bin of v), the
/// cumulative histogram scaled to the range of the input (Gonzalez and Woods, Digital Image Processing, 4th
/// ed., section 3.3). Colour keeps hue and saturation: each channel is multiplied by new V / old V. HSV has
/// no negative samples: in colour they count as 0, and the input's fraction of them (1 − strength) is kept.
///
/// The range is [0, full scale] for u8 and u16 (the camera's if known; samples above count as full scale) and
/// [smallest, largest] finite value of the frame for f32. A pixel with a NaN or an infinity is not counted
/// and stays unchanged, as does every pixel of a frame whose values are all in one bin.
struct EqualizeParams {
    enum class Scaling : std::uint8_t {
        maxabs, ///< r/r_max: skimage.exposure.equalize_hist
        minmax  ///< (r − r_min)/(r_max − r_min), r_min of the darkest used bin: cv::equalizeHist
    };
    static constexpr int kMaxBins = 65536;

    int bins = 4096;
    Scaling scaling = Scaling::maxabs;
    double strength = 1; ///< 0: the input, 1: the equalised V
};

/// Quantity after an equalisation: the input's range and order, but ranks instead of measurements: "SFI eq."
/// in a.u.
Quantity equalized_quantity(const Quantity& input);

/// The input's shape. Throws UsageError for 2³² pixels or more, which exceed 32-bit counts.
Shape equalize_shape(const Shape& input);
/// Note if more bins were requested than the pixel type has levels.
std::string equalize_note(int bins, PixelType type);

StageType equalize_stage();
std::unique_ptr<DeviceStage> make_equalize_device(const Params& params);

} // namespace specklescope
