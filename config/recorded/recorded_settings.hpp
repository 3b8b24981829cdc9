// A recording that is the source: what it says of itself belongs to what is shown of it.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

struct SourceRecording {
    std::string path;          ///< empty: the source is no recording of this program
    std::string holds_results; ///< "results of speckle:radius=3": of whom; empty: raw frames, or a mask
};

/// Reads the file of the source.
SourceRecording look_at_source(const Settings& settings);

/// The chain that made the results in this recording of results; null: unknown. Throws UsageError if it was
/// changed in between.
std::shared_ptr<const Chain> chain_of_results(const std::string& path);

/// Of a recording of raw frames: chain and channel that ran over them, colours, range and regions. Of
/// results: that no stage runs over them, colours and range of numbers, and regions. A remark says it in one
/// line. What is damaged, of another version or reads a file without trust is left out, with a remark that
/// says why; of results still no stage runs then. False: the source is no such recording, or says nothing of
/// the kind.
bool take_recording(Settings& settings);

/// Results are not processed again unless a chain was asked for; a remark says either.
void show_as_they_are(Settings& settings, const SourceRecording& source);

} // namespace specklescope
