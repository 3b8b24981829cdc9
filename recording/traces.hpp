// Table of region statistics: one row per region and frame.
#pragma once

#include "analysis/events.hpp"
#include "pipeline/sink.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

class BaselineImage;

/// Returns F₀ of each region of a result (NaN: none), or nothing if the baseline was made with other
/// settings. Sets `text` to the description of the baseline, with the reason if it is not used.
using FindBaseline = std::function<std::vector<double>(const Result& result, std::string& text)>;
/// F₀ over each region of the image. Null without an image.
FindBaseline baseline_over(std::shared_ptr<const BaselineImage> image);

/// Comma-separated values (RFC 4180, lines end in \n). Lines that begin with # give source, units, settings
/// and regions, and the chain again after an edit; then follows a line with the names of the columns:
/// sequence, capture_s, arrival_s, region, mean, std, min, max, valid, infinite, saturated, version, and
/// more. Needs no pixels on the host. A separate thread writes rows about five times a second. After a kill
/// the last row may be incomplete. open() throws RunError if the file cannot be created, or if a file of that
/// name is not a table of traces. Each open() starts a new file. With a motion
/// stage at its first row, the table has shift_x, shift_y (px; empty: not found), moved and left_out (1 or
/// 0). With a baseline two more columns: F₀ of the region (docs/science.md, Traces and their baseline) and
/// 100·(mean/F₀ − 1) %; empty while size or quantity of the results differ from it.
std::shared_ptr<Sink> make_traces(const std::string& path,
                                  std::shared_ptr<const BaselineImage> baseline = nullptr);

/// The same without replacing a table: `wanted`, or the first numbered name that is free.
std::shared_ptr<Sink> make_new_traces(const std::string& wanted, FindBaseline baseline = nullptr);

/// The table of a history: number, capture time and mean of each region and frame.
std::string traces_table(const StreamInfo& stream, const TraceOverview& about,
                         const std::vector<TraceValues>& frames, const std::vector<TimedEvent>& events);

/// Throws RunError as open() does.
void check_traces_file(const std::string& path);

/// First line of a file of traces.
inline constexpr const char* kTracesMark = "# Specklescope traces, version 1\n";

/// Further facts of rows.
struct TraceExtras {
    double um = 0;               ///< side of a pixel; 0: unknown
    std::string scale{};         ///< scale_text()
    bool motion = false;         ///< the table has its columns
    bool baseline = false;       ///< the table has its columns
    std::string baseline_text{}; ///< its description, or the reason why it is not used
    std::vector<double> f0{};    ///< of each region; empty if there is none
};

/// The first line, the source and the meaning of the columns.
std::string traces_begin(const StreamInfo& stream, bool baseline);
/// Date of the first frame, and of this run in a playback.
std::string traces_dates(const FrameInfo& first, const StreamInfo& stream);
/// The names of the columns.
std::string traces_columns(const TraceExtras& extras);
/// Settings from this result on: chain, unit, exposure, kind of mean, regions.
std::string traces_settings(const Result& result, const TraceExtras& extras);
/// A row for each region.
void add_rows(const Result& result, const TraceExtras& extras, std::string& text);

/// "# event: 1,120,4.000000000,stimulus": number, sequence, capture_s and label; without a label it is
/// removed.
std::string event_line(const EventMark& event);

} // namespace specklescope
