// Settings from a recording that is the source.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

struct SourceRecording {
    std::string path;          ///< empty: the source is no recording of this program
    std::string holds_results; ///< "results of speckle:radius=3": of whom; empty: raw frames, or a mask
};

/// Description of a recording of this program, a JSON object; empty for any other file.
std::string recording_text(const std::string& path);

/// Reads the file of the source.
SourceRecording look_at_source(const Settings& settings);

/// Chain that made the results in this recording; null: unknown. Throws UsageError if it was changed during
/// the recording.
std::shared_ptr<const Chain> chain_of_results(const std::string& path);

/// Takes the settings of a recording. Raw frames: chain and channel that processed them, colours, range and
/// regions. Results: no stages, colours and range of values, and regions. A remark lists them in one line.
/// Settings that are damaged, from another version, or read a file without trust are omitted, with a remark
/// on the reason; results then still have no stages. False: the source is not such a recording, or contains
/// no settings.
bool take_recording(Settings& settings);

/// Removes all stages for results unless a chain was requested; a remark reports either.
void show_as_they_are(Settings& settings, const SourceRecording& source);

} // namespace specklescope
