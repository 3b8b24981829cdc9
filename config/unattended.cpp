#include "config/unattended.hpp"

namespace specklescope {

bool ends_by_itself(const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    return program.offscreen && program.control.empty();
}

} // namespace specklescope
