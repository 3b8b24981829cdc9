// Every stage, in the order in which help and menus show them. The first is the default.
#include "stages/gaussian.hpp"
#include "stages/speckle.hpp"

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
        {.name = "gaussian",
         .doc = "Gaussian blur: direct, recursive (Young & van Vliet 1995), FFT or small binomial kernels",
         .table = &gaussian_table(),
         .types = {PixelType::u8, PixelType::u16, PixelType::f32},
         .channels = {1, 3},
         .tolerance = 1e-5,
         .quantity = same_quantity,
         .make_host = make_gaussian_host,
         .make_device = SPECKLESCOPE_DEVICE(make_gaussian_device)},
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
