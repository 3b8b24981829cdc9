// Tables from what was measured: for the terminal, and the page docs/benchmarks.md.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

/// One table: `columns` of the report's rows, in order.
std::string kernel_table(const nlohmann::ordered_json& rows);
std::string simd_table(const nlohmann::ordered_json& rows);
std::string stream_table(const nlohmann::ordered_json& rows);
std::string feed_table(const nlohmann::ordered_json& rows);
std::string gpus_table(const nlohmann::ordered_json& rows);
std::string pipeline_table(const nlohmann::ordered_json& rows);
std::string startup_table(const nlohmann::ordered_json& rows);
std::string peer_table(const nlohmann::ordered_json& rows);
std::string facts_list(const nlohmann::ordered_json& facts);

/// The whole page from reports of one or more machines.
std::string markdown_page(const std::vector<nlohmann::ordered_json>& reports);

} // namespace specklescope::bench
