// From settings to a run: log, secrets, pipeline, look and last snapshot.
#pragma once

#include "config/settings.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Sends the log to standard error at the level asked for. `before` comes before each line.
void set_up_log(const Settings& settings, const std::string& before = "");

/// Asks at the terminal, without echo, for the variables that the source refers to and that are not set, and
/// sets them; does nothing where there is no terminal.
void ask_for_secrets(const SourceArgument& source);
/// Writes the file of --snapshot; returns its path, as files are never replaced.
std::string write_last_snapshot(const Settings& settings, const Result& result, const StreamInfo& stream);

/// Makes the pipeline that the settings describe; not started. Files go at their own pace in `view`, and as
/// fast as they are processed in `run`; --rate sets the pace of both. Of `callers` counts what no setting
/// says.
std::unique_ptr<Pipeline> make_pipeline(const Settings& settings, const ExecutorChoice& callers = {});
/// View of these settings, without a window.
ScreenLook look_of(const ViewSettings& view);
ScreenLook look_of(const Settings& settings); ///< with their baseline

/// The window is drawn in memory and takes no requests: it ends with its source or its recordings.
bool ends_by_itself(const Settings& settings);

} // namespace specklescope
