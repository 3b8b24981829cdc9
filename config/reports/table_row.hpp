// What a command says of the table of traces that it read.
#pragma once

#include "analysis/pulse_table.hpp"

#include <cstddef>
#include <string>

namespace specklescope {

/// "file    t.csv: 400 rows of 2 regions, column mean over capture_s".
std::string table_row(const std::string& file, const TraceTable& table, std::size_t left);

} // namespace specklescope
