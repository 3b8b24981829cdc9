// One recording that is begun while a run goes on.
#pragma once

#include "config/settings.hpp"
#include "recording/recorder.hpp"

#include <memory>
#include <optional>
#include <string>

namespace specklescope {

/// Into this file, or under the first numbered name that is free, with limits, marks and colours as the
/// settings say now; nothing: the traces of regions. Not open yet, but for a pipe, which somebody must read.
/// Throws UsageError or RunError.
std::shared_ptr<Sink> make_one_recording(std::optional<RecordWhat> what, const std::string& path,
                                         const Settings& settings, std::shared_ptr<const LiveLook> look,
                                         const std::shared_ptr<PreTrigger>& before);

} // namespace specklescope
