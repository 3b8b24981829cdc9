// Numbers, names and comments in tables of text.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

/// As short as reads back the same; nan, inf, -inf.
void add_number(std::string& text, double value);
void add_whole(std::string& text, std::uint64_t value);
/// Seconds with all nine digits, which no float64 would hold.
void add_seconds(std::string& text, std::int64_t ns);
/// The capture time in seconds; nothing where nobody states it.
void add_capture(std::string& text, const FrameInfo& info);
std::int64_t ns_of(SteadyClock::time_point time);

/// In quotes where it has to be (RFC 4180), and with a #, which readers take for the begin of a comment.
std::string csv_text(const std::string& text);

/// A comment, which is no longer than a line may be (recording/line_pages.hpp): the rest of a long one
/// follows in lines of its own.
std::string comment(std::string text);

/// "# version 3, chain: speckle:radius=3": what the rows behind it rest on.
std::string setting_line(std::uint64_t version, const char* what, const std::string& value);
/// The exposure as a setting, "unknown" where it is.
std::string exposure_line(std::uint64_t version, const Exposure& exposure);

} // namespace specklescope
