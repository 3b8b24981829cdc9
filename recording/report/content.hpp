// What stands in a report, as text: the same for its PDF and its CSV.
#pragma once

#include "recording/report/report.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// A row for each region of the result.
struct RegionTable {
    static constexpr std::array<std::string_view, 15> kColumns = {
        "region", "shape", "pixels",      "area_um2", "valid", "infinite", "undefined",     "saturated",
        "mean",   "std",   "mean_of_map", "min",      "max",   "baseline", "change_percent"};
    /// Numbers with seven significant digits; empty where there is none.
    std::vector<std::array<std::string, kColumns.size()>> rows;
    bool baseline = false; ///< the last two columns say something
    bool area = false;     ///< area_um2 does: it is known how large a pixel is
};
RegionTable region_table(const Report& report);

/// "Source", "vessels.tiff", …
using ReportRows = std::vector<std::pair<std::string, std::string>>;
ReportRows settings_rows(const Report& report);
/// Number, time, frame and label of each event that still is one.
std::vector<std::array<std::string, 4>> event_rows(const Report& report);

/// How the numbers were made: of each stage of the chain its declaration, and definition and source out of
/// docs/science.md, which is compiled in; of regions and baseline how their means are taken.
std::vector<std::string> methods(const Report& report);

std::string report_csv(const Report& report);

/// With seven significant digits; empty for NaN.
std::string report_number(double value);

} // namespace specklescope
