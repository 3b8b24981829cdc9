// From settings to a run: log, secrets, pipeline, look and last snapshot.
#pragma once

#include "config/settings.hpp"
#include "sources/registry.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Sends the log to standard error at the requested level. `before` comes before each line.
void set_up_log(const Settings& settings, const std::string& before = "");

/// Prompts at the terminal, without echo, for unset variables in the source, and sets them; does nothing
/// without a terminal.
void ask_for_secrets(const SourceArgument& source);
/// Writes the file of --snapshot; returns its path, as files are never replaced.
std::string write_last_snapshot(const Settings& settings, const Result& result, const StreamInfo& stream);

/// Defaults of a source that is opened with these settings, without a loop.
SourceDefaults source_defaults(const Settings& settings);
/// Makes the pipeline of the settings, not started. Files play at their own rate in `view`, and at full
/// speed in `run`; --rate sets the rate in both. `callers`: choices that no setting covers.
/// `regions`: instead of those of the settings; null: those.
std::unique_ptr<Pipeline> make_pipeline(const Settings& settings, const ExecutorChoice& callers = {},
                                        std::shared_ptr<const RegionOutlines> regions = nullptr);
/// View of these settings, without a window.
ScreenLook look_of(const ViewSettings& view);
ScreenLook look_of(const Settings& settings); ///< with their baseline

/// The window is drawn in memory and takes no requests, so it ends with its source or its recordings.
bool ends_by_itself(const Settings& settings);

} // namespace specklescope
