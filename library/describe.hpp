// Declarations as structs of C.
#pragma once

#include "library/guard.hpp"
#include "pipeline/param.hpp"

namespace specklescope::library {

/// Points to texts that stay for good: of tables that do. Throws UsageError where there is no such parameter.
specklescope_parameter_info info_of_parameter(const ParamTable& table, std::size_t index);

} // namespace specklescope::library
