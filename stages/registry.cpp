// Every stage, in the order in which help and menus show them. The first is the default.
#include "stages/average.hpp"
#include "stages/background.hpp"
#include "stages/spatiotemporal.hpp"
#include "stages/speckle.hpp"
#include "stages/temporal.hpp"

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
         .stateful = true},
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
