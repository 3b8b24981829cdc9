// Exposures of frames that change in turn: lists given by the user, and file names that state them.
#pragma once

#include "files/recorded.hpp"
#include "pipeline/frame.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// "0.5,2,8" in ms; empty text: an empty list. Throws UsageError that begins with `owner` for other texts and
/// times outside 0.001…10000 ms.
std::vector<double> exposure_cycle(const std::string& owner, const std::string& text);
inline constexpr const char* kExposureCycleDoc =
    "Exposure times of consecutive frames, as 0.5,2,8, repeated, for a file that does not state them. Empty: "
    "as the file says, or the names of its images";

/// Exposures in the names of images.
struct NamedExposures {
    std::vector<double> ms{}; ///< per file; empty: not used
    std::string refused{};    ///< why, if some names state an exposure; a sentence
};
/// A name states an exposure by a number and us, µs, ms or s between separators, once: scan_0.5ms_001.tif.
/// Used if each file states one and there are at least two different ones; not for names that may count time
/// (100ms, 200ms, 300ms), or where an underscore may be a decimal point (1_5ms).
NamedExposures exposures_of_names(const std::vector<std::string>& files);

/// The exposure of each frame of a file. An exposure in one of our recordings cannot be replaced; one of
/// another program has priority over the names, and the option over both, with a warning.
class FileExposures {
public:
    /// Throws UsageError for an invalid list.
    FileExposures(const std::string& owner, const std::string& list)
        : owner_(owner), cycle_(exposure_cycle(owner, list)) {}
    void restart() { warned_ = false; }
    bool given() const { return !cycle_.empty(); }
    /// Sets the exposure of frame `frame` of a file. `ours`: the file is one of our recordings. `named`:
    /// exposure in its name, NaN: none. Throws UsageError for a list that contradicts a recording.
    void apply(FrameInfo& info, const Recorded& stated, bool ours, const std::string& file,
               std::uint64_t frame, double named = std::numeric_limits<double>::quiet_NaN());

private:
    void warn_once(const std::string& text);

    std::string owner_;
    std::vector<double> cycle_; ///< ms; empty: not given
    bool warned_ = false;
};

} // namespace specklescope
