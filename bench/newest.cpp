#include "bench/newest.hpp"

#include "bench/summary.hpp"

#include <set>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

/// Work, image and processor of a row; what a stage chose and how many threads were tried are no part of it.
std::string identity(const Json& row) {
    const std::string work = row.at("work"), image = row.at("image");
    if (row.contains("on")) // published: "GPU" or so many threads
        return work + image + (row.at("on") == "GPU" ? "GPU" : "CPU");
    return bare_work(row) + image + work.substr(0, work.find(' '));
}

} // namespace

void keep_newest(std::vector<std::pair<std::string, Json>>& reports) {
    for (auto& [name, report] : reports) {
        Json& machine = report.at("machine");
        for (const auto& [other_name, other] : reports) {
            const Json& later = other.at("machine");
            if (later.at("name") != machine.at("name") ||
                later.value("measured", "") <= machine.value("measured", ""))
                continue;
            std::size_t gone = 0;
            for (const char* section : {"kernels", "peers", "published"}) {
                std::set<std::string> again;
                for (const Json& row : other.value(section, Json::array()))
                    again.insert(identity(row));
                Json kept = Json::array();
                for (const Json& row : report.value(section, Json::array()))
                    if (!again.contains(identity(row)))
                        kept.push_back(row);
                gone += report.value(section, Json::array()).size() - kept.size();
                if (report.contains(section))
                    report[section] = std::move(kept);
            }
            if (gone > 0)
                machine["measured again since, " + other_name] =
                    std::to_string(gone) + " rows, " + later.value("measured", "");
        }
    }
}

} // namespace specklescope::bench
