#include "config/unattended.hpp"

namespace specklescope {

bool ends_by_itself(const Settings& settings) {
    return settings.program.as<ProgramSettings>().offscreen && output_of(settings, "control").empty();
}

} // namespace specklescope
