// Settings of callers: options with the names, ranges and messages of the command line.
#pragma once

#include "base/long_work.hpp"
#include "config/settings.hpp"
#include "library/guard.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope::library {

enum class For { chain, stream };

/// Options of streams that the program does not have.
struct StreamOptions {
    enum class Memory : std::uint8_t { host, device };
    Memory memory = Memory::host;
};
/// Owner "stream": a key for each member.
const ParamTable& stream_table();

/// `given` may be null. Throws UsageError for an option that is unknown or does not apply to `what`. `own`:
/// of stream_table(), never null for a stream.
Settings settings_of(const specklescope_settings* given, For what, Params* own = nullptr);

/// Parses and checks regions; null or "": none. Throws UsageError.
std::vector<Region> regions_from_text(const char* json);

/// Parses the colour options of --view; null: the defaults.
Mapping mapping_from_text(const char* text);

/// Callbacks of the caller; null: none.
struct Watcher {
    specklescope_goes_on goes_on = nullptr;
    specklescope_agrees agrees = nullptr;
    void* user = nullptr;
};
Watcher watcher_of(const specklescope_settings* given);

/// Calls goes_on during long work on this thread.
class Asking {
public:
    explicit Asking(const Watcher& watcher);

private:
    std::optional<WatchWork> watch_;
};

/// Suppresses the progress callback for its lifetime (used during rollback).
class Unasked {
    WatchWork watch_{[](std::string_view, double) { return true; }};
};

} // namespace specklescope::library
