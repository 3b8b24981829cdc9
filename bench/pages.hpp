// Pages from reports of `specklescope bench --json`.
#pragma once

#include "config/settings.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

/// The overview at `path`, and in the folder of the same name a page a machine with its charts.
void write_pages(const std::string& path,
                 const std::vector<std::pair<std::string, nlohmann::ordered_json>>& reports);

/// Of runs made before (settings.bench.files): into settings.bench.markdown, or to standard output. Throws
/// RunError. The exit status.
int write_pages_of_before(const Settings& settings);

} // namespace specklescope::bench
