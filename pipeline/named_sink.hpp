// Passes one named output of each result on to another sink, which sees it as the result.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// A result without this output is not passed on; the log tells of the first one.
std::shared_ptr<Sink> make_named_sink(std::string output, std::shared_ptr<Sink> to);

} // namespace specklescope
