// Options of the source aravis.
#pragma once

#include "pipeline/param.hpp"

namespace specklescope {

const ParamTable& aravis_table();

} // namespace specklescope
