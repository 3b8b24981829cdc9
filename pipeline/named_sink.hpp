// Passes one named output of each result on to another sink, which sees it as the result.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// A result without this output is left out. The log has a warning for the first one.
std::shared_ptr<Sink> make_named_sink(std::string output, std::shared_ptr<Sink> to);

} // namespace specklescope
