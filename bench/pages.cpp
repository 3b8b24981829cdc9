#include "bench/pages.hpp"

#include "base/error.hpp"
#include "bench/newest.hpp"
#include "bench/plot.hpp"
#include "bench/published.hpp"
#include "bench/report.hpp"
#include "bench/summary.hpp"
#include "config/atomic_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace specklescope::bench {

using Json = nlohmann::ordered_json;

void write_pages(const std::string& path, const std::vector<std::pair<std::string, Json>>& reports) {
    const std::filesystem::path overview(path);
    const std::filesystem::path folder = overview.parent_path() / overview.stem();
    std::filesystem::create_directories(folder);
    std::vector<MachinePage> pages;
    for (const auto& [name, report] : reports) {
        const std::string beside = overview.stem().string() + "/";
        MachinePage page{report, beside + name + ".md", {}};
        std::vector<std::string> charts;
        for (const auto& [kind, plot] : plots(report)) {
            charts.push_back(name + "-" + kind + ".svg");
            page.charts.push_back(beside + charts.back());
            write_atomically((folder / charts.back()).string(), svg(plot));
        }
        write_atomically((folder / (name + ".md")).string(), machine_page(report, charts));
        pages.push_back(std::move(page));
    }
    std::vector<Json> bare;
    bare.reserve(reports.size());
    for (const auto& [name, report] : reports)
        bare.push_back(report);
    std::string others;
    if (const std::string page = published_page(bare); !page.empty()) {
        write_atomically((folder / "published.md").string(), page);
        others =
            "- [what was published, and what it takes here](" + overview.stem().string() + "/published.md)\n";
    }
    write_atomically(path, overview_page(pages, others));
}

int write_pages_of_before(const Settings& settings) {
    std::vector<std::pair<std::string, Json>> reports;
    for (const std::string& path : settings.bench.files) {
        std::ifstream file(path);
        if (!file)
            throw RunError("'" + path + "' cannot be read.");
        try {
            reports.emplace_back(std::filesystem::path(path).stem().string(), Json::parse(file));
            reports.back().second.at("machine").at("name");
        } catch (const nlohmann::json::exception&) {
            throw RunError("'" + path + "' is no report of specklescope bench --json.");
        }
    }
    if (!settings.bench.markdown.empty()) {
        keep_newest(reports);
        write_pages(settings.bench.markdown, reports);
        return 0;
    }
    for (const auto& [name, report] : reports)
        std::fputs(machine_page(report, {}).c_str(), stdout);
    return 0;
}

} // namespace specklescope::bench
