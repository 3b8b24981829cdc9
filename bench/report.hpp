// Tables from what was measured: for the terminal, and the page docs/benchmarks.md.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

/// Markdown that also reads well in a terminal: columns of even width, all but the first to the right. The
/// first row is the head.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// One table: `columns` of the report's rows, in order.
std::string kernel_table(const nlohmann::ordered_json& rows);
std::string simd_table(const nlohmann::ordered_json& rows);
std::string stream_table(const nlohmann::ordered_json& rows);
std::string region_table(const nlohmann::ordered_json& rows);
std::string feed_table(const nlohmann::ordered_json& rows);
std::string gpus_table(const nlohmann::ordered_json& rows);
std::string pipeline_table(const nlohmann::ordered_json& rows);
std::string doors_table(const nlohmann::ordered_json& rows);
std::string traces_table(const nlohmann::ordered_json& rows);
std::string startup_table(const nlohmann::ordered_json& rows);
std::string peer_table(const nlohmann::ordered_json& rows);
std::string facts_list(const nlohmann::ordered_json& facts);

/// Everything of one machine, with charts from files beside the page.
std::string machine_page(const nlohmann::ordered_json& report, const std::vector<std::string>& charts);

struct MachinePage {
    nlohmann::ordered_json report;
    std::string path;                ///< of its page, from the overview
    std::vector<std::string> charts; ///< paths of those that the overview shows
};
/// One screen for the reader in a hurry, with the way to the pages of the machines.
/// `others`: items of the list of pages, for those that are of no one machine.
std::string overview_page(const std::vector<MachinePage>& pages, const std::string& others = "");

} // namespace specklescope::bench
