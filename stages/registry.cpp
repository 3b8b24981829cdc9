// All stages, in the order of help and menus. The first is the default.
#include "stages/average/average.hpp"
#include "stages/background/background.hpp"
#include "stages/convolve/convolve.hpp"
#include "stages/equalize/clahe.hpp"
#include "stages/equalize/equalize.hpp"
#include "stages/flow/flow.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/mesi/mesi.hpp"
#include "stages/pulsatility/pulsatility.hpp"
#include "stages/register/register.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/static/static.hpp"
#include "stages/sum/sum.hpp"
#include "stages/temporal/spatiotemporal.hpp"
#include "stages/temporal/temporal.hpp"
#include "stages/tone/gamma.hpp"

namespace specklescope {

const std::vector<StageType>& stage_types() {
    // clang-format off
    static const std::vector<StageType> types = {
        speckle_stage(),
        temporal_stage(),
        spatiotemporal_stage(),
        static_stage(),
        background_stage(),
        register_stage(),
        average_stage(),
        sum_stage(),
        flow_stage(),
        mesi_stage(),
        pulsatility_stage(),
        gaussian_stage(),
        convolve_stage(),
        equalize_stage(),
        clahe_stage(),
        gamma_stage(),
        crop_stage(),
        flip_stage(),
        rotate_stage(),
        downsample_stage(),
    };
    // clang-format on
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
