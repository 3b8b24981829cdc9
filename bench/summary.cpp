#include "bench/summary.hpp"

#include "bench/report.hpp"
#include "bench/timing.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

struct Headline {
    const char* what;
    const char* work;
    const char* beside; ///< work of the rows of other libraries
    const char* image;
};

constexpr std::array<Headline, 7> kHeadlines = {{
    {"flow index, 5×5", "speckle:radius=2", "speckle:radius=2", "1392×1040 u16"},
    {"flow index, 5×5", "speckle:radius=2", "speckle:radius=2", "3840×2160 u16"},
    {"flow index, 15×15", "speckle:radius=7", "speckle:radius=7", "1392×1040 u16"},
    {"Gaussian 5×5", "gaussian:method=binomial5", "gaussian:method=binomial5", "3840×2160 u8 RGB"},
    {"Gaussian σ = 10", "gaussian:method=recursive,sigma=10", "gaussian:sigma=10", "3840×2160 u8 RGB"},
    {"equalisation in HSV", "equalize:bins=256", "equalize:bins=256,scaling=minmax", "3840×2160 u8 RGB"},
    {"disk of 255 px", "convolve:kernel=disk,radius=127", "convolve:kernel=disk,radius=127", "1392×1040 f32"},
}};

/// Work of "GPU" or of "CPU".
bool is_of(const Json& row, const std::string& processor) {
    return row.at("work").get<std::string>().starts_with(processor + " ");
}

/// A report of a machine with a GPU has rows of both.
bool has_both(const Json& report) {
    const Json rows = report.value("kernels", Json::array());
    const auto has = [&](const char* processor) {
        return std::any_of(rows.begin(), rows.end(), [&](const Json& row) { return is_of(row, processor); });
    };
    return has("GPU") && has("CPU");
}

const Json* find(const Json& report, const Headline& headline, const std::string& processor) {
    if (report.contains("kernels"))
        for (const Json& row : report.at("kernels"))
            if (is_of(row, processor) && bare_work(row) == headline.work && row.at("image") == headline.image)
                return &row;
    return nullptr;
}

double median(const Json& row, const char* key) { return row.at(key).at("median"); }

/// The quickest of the others; null if none was measured.
const Json* quickest(const Json& report, const Headline& headline, const std::string& processor) {
    const Json* best = nullptr;
    if (report.contains("peers"))
        for (const Json& row : report.at("peers"))
            if (is_of(row, processor) &&
                (bare_work(row) == headline.beside || bare_work(row) == headline.work) &&
                row.at("image") == headline.image &&
                (!best || median(row, "peer_ms") < median(*best, "peer_ms")))
                best = &row;
    return best;
}

/// The number behind `key` in "speckle:radius=7"; 0 if there is none.
double value_in(const std::string& work, const std::string& key) {
    const std::size_t at = work.find(key + "=");
    return at == std::string::npos ? 0 : std::strtod(work.c_str() + at + key.size() + 1, nullptr);
}

void add(Plot& plot, const std::string& name, double x, double y, bool dashed = false) {
    auto found = std::find_if(plot.series.begin(), plot.series.end(),
                              [&](const Series& series) { return series.name == name; });
    if (found == plot.series.end())
        found = plot.series.insert(plot.series.end(), {name, {}, dashed});
    found->points.emplace_back(x, y);
}

double megapixels(const std::string& image) {
    return std::strtod(image.c_str(), nullptr) * std::strtod(image.c_str() + image.find("×") + 2, nullptr) /
           1e6;
}

std::vector<std::pair<std::string, Headline>> works_on_each() {
    std::vector<std::pair<std::string, Headline>> all;
    for (const char* processor : {"GPU", "CPU"})
        for (const Headline& headline : kHeadlines)
            all.emplace_back(processor, headline);
    return all;
}

} // namespace

std::string bare_work(const Json& row) {
    std::string work = row.at("work");
    work = work.substr(work.find(' ') + 1); // "GPU …", "CPU …"
    return work.substr(0, work.find(" ("));
}

std::string summary_table(const std::vector<Json>& reports) {
    std::vector<std::vector<std::string>> lines = {{"work, frame", "on", "ours, ms", "quickest other, ms",
                                                    "factor", "copy, ms", "fraction of copy", "the other"}};
    for (const Json& report : reports)
        for (const auto& [processor, headline] : works_on_each()) {
            const Json* ours = find(report, headline, processor);
            const Json* other = quickest(report, headline, processor);
            if (!ours || (!other && !report.value("peers", Json::array()).empty()))
                continue;
            const Json& machine = report.at("machine");
            const std::string on = machine.at(processor == "CPU" && has_both(report) ? "CPU" : "name");
            const double ms = median(*ours, "ms"), copy = median(*ours, "copy_ms");
            lines.push_back({std::string(headline.what) + ", " + headline.image, on, digits(ms),
                             other ? digits(median(*other, "peer_ms")) : "–",
                             other ? digits(median(*other, "peer_ms") / median(*other, "ours_ms")) : "–",
                             digits(copy), digits(copy / ms),
                             other ? other->at("peer").get<std::string>() : "none measured"});
        }
    return lines.size() > 1 ? table(lines) : "";
}

std::vector<std::pair<std::string, Plot>> plots(const Json& report) {
    const std::string on = report.at("machine").at("name");
    Plot radius{
        "Flow index over the window's radius, 1392×1040 u16, " + on, "radius, px", "time a frame, ms", {}};
    Plot sigma{"Gaussian over σ, 3840×2160 u8 RGB, " + on, "σ, px", "time a frame, ms", {}};
    Plot size{
        "5×5 flow index over the size of the frame, u16, " + on, "million pixels", "time a frame, ms", {}};
    const bool both = has_both(report);
    for (const Json& row : report.value("kernels", Json::array())) {
        const std::string work = bare_work(row), image = row.at("image");
        const std::string where = !both ? "" : is_of(row, "CPU") ? ", CPU" : ", GPU";
        const double ms = median(row, "ms"), copy = median(row, "copy_ms");
        if (work.starts_with("speckle:radius=") && image == "1392×1040 u16") {
            add(radius, "this program" + where, value_in(work, "radius"), ms);
            add(radius, "a copy of the same bytes" + where, value_in(work, "radius"), copy, true);
        }
        if (work.starts_with("gaussian:") && value_in(work, "sigma") > 0 && image == "3840×2160 u8 RGB") {
            const std::size_t method = work.find("method=") + 7;
            add(sigma, work.substr(method, work.find(',', method) - method) + where, value_in(work, "sigma"),
                ms);
            add(sigma, "a copy of the same bytes" + where, value_in(work, "sigma"), copy, true);
        }
        if (work == "speckle:radius=2" && image.ends_with(" u16")) {
            add(size, "this program" + where, megapixels(image), ms);
            add(size, "a copy of the same bytes" + where, megapixels(image), copy, true);
        }
    }
    for (const Json& row : report.value("peers", Json::array())) {
        const std::string work = bare_work(row), image = row.at("image"), peer = row.at("peer");
        const double ms = median(row, "peer_ms");
        if (work.starts_with("speckle:radius=") && image == "1392×1040 u16")
            add(radius, peer, value_in(work, "radius"), ms);
        if (work.starts_with("gaussian:") && value_in(work, "sigma") > 0 && image == "3840×2160 u8 RGB")
            add(sigma, peer, value_in(work, "sigma"), ms);
        if (work == "speckle:radius=2" && image.ends_with(" u16"))
            add(size, peer, megapixels(image), ms);
    }
    std::vector<std::pair<std::string, Plot>> all;
    for (auto& [name, plot] :
         {std::pair<const char*, Plot&>{"radius", radius}, {"sigma", sigma}, {"size", size}})
        if (!plot.series.empty()) {
            for (Series& series : plot.series)
                std::sort(series.points.begin(), series.points.end());
            all.emplace_back(name, std::move(plot));
        }
    return all;
}

} // namespace specklescope::bench
