// `specklescope check`: reads some frames spread over a source and reports what makes their contrast wrong.
#pragma once

#include "analysis/recording_check.hpp"
#include "config/settings.hpp"
#include "sources/registry.hpp"

#include <functional>
#include <optional>
#include <string>

namespace specklescope {

/// Up to three bursts of consecutive frames (begin, middle, end) of a source that can seek; the first frames
/// of others. Throws UsageError, RunError, and Cancelled (base/long_work.hpp).
CheckReport check_source(const SourceArgument& source, const SourceDefaults& defaults = {});

inline constexpr int kCheckBursts = 3;
/// Frames for a check: frame `i` of a burst of consecutive frames; nothing ends the burst.
using CheckFrames = std::function<std::optional<Frame>(int burst, std::uint64_t i)>;
/// Length of each of kCheckBursts bursts: about 50 million pixels in all, for two seconds on two cores.
std::uint64_t check_length(const Shape& shape);
/// Checks the frames of `bursts` bursts of equal length. `source`: its name. Throws as check_source().
CheckReport check_frames(const SourceInfo& info, const std::string& source, int bursts,
                         const CheckFrames& next);

/// "contrast", "K 0.31 in windows of 33 px": rows for a reader.
std::vector<std::pair<std::string, std::string>> fact_rows(const CheckFacts& facts);
/// One line: "0.8 % of the samples are at 255 (certain). …".
std::string to_string(const Finding& finding);
/// Facts and findings, in lines.
std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report, const std::string& source);

/// Prints the report, and writes it to --json. Returns the exit status: findings are no failure.
int report_check(const CheckSettings& settings);

} // namespace specklescope
