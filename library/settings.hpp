// What callers set: the options of the command line, with its names, ranges and sentences.
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

/// What a stream of the library is told beside the options of the program.
struct StreamOptions {
    enum class Memory : std::uint8_t { host, device };
    Memory memory = Memory::host;
};
/// Owner "stream": a key for each member.
const ParamTable& stream_table();

/// `given` may be null. Throws UsageError for an option that is unknown or says nothing to `what`. `own`: of
/// stream_table(), never null where `what` is a stream.
Settings settings_of(const specklescope_settings* given, For what, Params* own = nullptr);

/// Checked; null or "": none. Throws UsageError.
std::vector<Region> regions_from_text(const char* json);

/// Colours of results, as --view says them; null: its defaults. The rest of --view is the window's.
Mapping mapping_from_text(const char* text);

/// Callbacks of the caller; null: none.
struct Watcher {
    specklescope_goes_on goes_on = nullptr;
    specklescope_agrees agrees = nullptr;
    void* user = nullptr;
};
Watcher watcher_of(const specklescope_settings* given);

/// Asks it while long work is done on this thread.
class Asking {
public:
    explicit Asking(const Watcher& watcher);

private:
    std::optional<WatchWork> watch_;
};

/// As long as it lives nobody is asked: what was is put back, whatever was said before.
class Unasked {
    WatchWork watch_{[](std::string_view, double) { return true; }};
};

} // namespace specklescope::library
