#include "pipeline/source.hpp"

namespace specklescope {

void Source::set(std::string_view name, const ParamValue& value) {
    if (!params_.has_table())
        throw UsageError("This source has no options, so '" + std::string(name) + "' cannot be set.");
    params_.set(name, value);
}

} // namespace specklescope
