#include "config/reports/table_row.hpp"

#include "config/text.hpp"

namespace specklescope {

std::string table_row(const std::string& file, const TraceTable& table, std::size_t left) {
    return row("file",
               file + ": " + std::to_string(table.rows) + " rows of " +
                   count_of(table.regions.size(), "region") + ", column mean over " + table.clock +
                   (table.in_warmup > 0
                        ? "; " + std::to_string(table.in_warmup) + " made during a warm-up left out"
                        : "") +
                   (table.other_settings > 0 ? "; " + std::to_string(table.other_settings) +
                                                   " made with other settings or outlines left out"
                                             : "") +
                   (table.cut_off ? "; the last line is not whole and left out" : ""),
               left);
}

} // namespace specklescope
