// Every stage, in the order in which help and menus show them. The first is the default.
#include "have_cuda.hpp"
#include "stages/average/average.hpp"
#include "stages/background/background.hpp"
#include "stages/equalize/clahe.hpp"
#include "stages/convolve/convolve.hpp"
#include "stages/equalize/equalize.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/temporal/spatiotemporal.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/temporal/temporal.hpp"

#include <algorithm>

namespace specklescope {

namespace {
#ifdef SPECKLESCOPE_HAVE_CUDA
#define SPECKLESCOPE_DEVICE(make) make
#else
#define SPECKLESCOPE_DEVICE(make) nullptr
#endif
} // namespace

const std::vector<StageType>& stage_types() {
    static const std::vector<StageType> types = {
        {.name = "speckle",
         .doc = "spatial speckle contrast and flow over a square window (Yang 2011)",
         .table = &speckle_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1},
         .tolerance = 1e-6,
         .quantity = speckle_quantity,
         .make_host = make_speckle_host,
         .make_device = SPECKLESCOPE_DEVICE(make_speckle_device)},
        {.name = "temporal",
         .doc = "contrast and flow of each pixel over its last frames (Duncan and Kirkpatrick 2008)",
         .table = &temporal_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1},
         .tolerance = 1e-6,
         .quantity = temporal_quantity,
         .make_host = make_temporal_host,
         .make_device = SPECKLESCOPE_DEVICE(make_temporal_device),
         .stateful = true},
        {.name = "spatiotemporal",
         .doc = "contrast and flow over a square window of the last frames (Qiu 2010)",
         .table = &spatiotemporal_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1},
         .tolerance = 1e-6,
         .quantity = spatiotemporal_quantity,
         .make_host = make_spatiotemporal_host,
         .make_device = SPECKLESCOPE_DEVICE(make_spatiotemporal_device),
         .stateful = true},
        {.name = "background",
         .doc = "dark frame and flat field, from files or captured",
         .table = &background_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 1e-6,
         .quantity = same_quantity,
         .make_host = make_background_host,
         .make_device = SPECKLESCOPE_DEVICE(make_background_device),
         .stateful = true,
         .passes = background_passes},
        {.name = "average",
         .doc = "running mean over the last frames, against noise",
         .table = &average_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 1e-6,
         .quantity = same_quantity,
         .make_host = make_average_host,
         .make_device = SPECKLESCOPE_DEVICE(make_average_device),
         .stateful = true},
        {.name = "gaussian",
         .doc = "Gaussian blur: direct, recursive (Young, van Vliet 1995), by FFT, or small binomial",
         .table = &gaussian_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 1e-5,
         .quantity = same_quantity,
         .make_host = make_gaussian_host,
         .make_device = SPECKLESCOPE_DEVICE(make_gaussian_device)},
        {.name = "convolve",
         .doc = "convolution with a large kernel by FFT: blur, defocus, motion, glare, a file",
         .table = &convolve_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 1e-5,
         .quantity = same_quantity,
         .make_host = make_convolve_host,
         .make_device = SPECKLESCOPE_DEVICE(make_convolve_device)},
        {.name = "equalize",
         .doc = "histogram equalisation of grey, or of V of HSV: hue and saturation are kept",
         .table = &equalize_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = equalize_quantity,
         .make_host = make_equalize_host,
         .make_device = SPECKLESCOPE_DEVICE(make_equalize_device)},
        {.name = "clahe",
         .doc = "contrast-limited adaptive histogram equalisation over tiles (Zuiderveld 1994)",
         .table = &clahe_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = clahe_quantity,
         .make_host = make_clahe_host,
         .make_device = SPECKLESCOPE_DEVICE(make_clahe_device)},
        {.name = "crop",
         .doc = "a rectangle of the image",
         .table = &crop_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = same_quantity,
         .make_host = make_crop_host,
         .make_device = SPECKLESCOPE_DEVICE(make_crop_device),
         .moves_pixels = true},
        {.name = "flip",
         .doc = "the image mirrored",
         .table = &flip_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = same_quantity,
         .make_host = make_flip_host,
         .make_device = SPECKLESCOPE_DEVICE(make_flip_device),
         .moves_pixels = true},
        {.name = "rotate90",
         .doc = "the image turned by quarter turns, clockwise",
         .table = &rotate_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = same_quantity,
         .make_host = make_rotate_host,
         .make_device = SPECKLESCOPE_DEVICE(make_rotate_device),
         .moves_pixels = true},
        {.name = "downsample",
         .doc = "blocks of pixels become one pixel, as binning in a camera",
         .table = &downsample_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 0,
         .quantity = same_quantity,
         .make_host = make_downsample_host,
         .make_device = SPECKLESCOPE_DEVICE(make_downsample_device),
         .moves_pixels = true},
    };
    return types;
}

const StageType& find_stage(std::string_view name) {
    std::string names;
    for (const StageType& type : stage_types()) {
        if (type.name == name)
            return type;
        names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
    throw UsageError("There is no stage '" + std::string(name) + "'; allowed: " + names + ", none.");
}

} // namespace specklescope
