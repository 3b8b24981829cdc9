// The paragraph on methods, out of the declarations of the stages and of docs/science.md, which is compiled
// in: no formula is written a second time.
#include "analysis/baseline.hpp"
#include "recording/report/content.hpp"
#include "recording/report/science_text.hpp"

#include <algorithm>

namespace specklescope {

namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \n");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

/// Without the marks of Markdown: "[Regions](#regions)" is Regions.
std::string plain(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '`' || c == '*' || c == '[')
            continue;
        if (c == ']' && text.substr(i).starts_with("](")) {
            i = std::min(text.find(')', i), text.size() - 1);
            continue;
        }
        if (c == ']')
            continue;
        if (const char next = c == '\n' ? ' ' : c; next != ' ' || !out.ends_with(' '))
            out += next;
    }
    return out;
}

/// What stands below "## NAME".
std::string_view section(std::string_view name) {
    const std::string_view all = science_text();
    const std::string heading = "\n## " + std::string(name) + "\n";
    const std::size_t at = all.find(heading);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = all.substr(at + heading.size());
    return trimmed(rest.substr(0, rest.find("\n## ")));
}

/// From `begin` to the end of its sentence; the whole paragraph's first where `begin` is empty.
std::string sentence(std::string_view in, std::string_view begin = "") {
    const std::size_t at = in.find(begin);
    if (at == std::string_view::npos)
        return "";
    std::string_view rest = in.substr(at);
    rest = rest.substr(0, rest.find("\n\n"));
    for (std::size_t i = 0; i < rest.size(); ++i) // a point that ends it, none within a number or a name
        if (rest[i] == '.' && (i + 1 == rest.size() || rest[i + 1] == ' ' || rest[i + 1] == '\n'))
            return plain(rest.substr(0, i + 1));
    return plain(rest);
}

using Cells = std::vector<std::string>;

Cells cells_of(std::string_view line) {
    Cells cells;
    while (line.starts_with('|')) {
        const std::size_t end = line.find('|', 1);
        if (end == std::string_view::npos)
            break;
        cells.emplace_back(trimmed(line.substr(1, end - 1)));
        line.remove_prefix(end);
    }
    return cells;
}

/// The table of a section, without its head.
std::vector<Cells> table(std::string_view in) {
    std::vector<Cells> rows;
    while (!in.empty()) {
        const std::size_t end = in.find('\n');
        const std::string_view line = in.substr(0, end);
        in = end == std::string_view::npos ? std::string_view() : in.substr(end + 1);
        if (line.starts_with('|'))
            rows.push_back(cells_of(line));
        else if (!rows.empty())
            break;
    }
    rows.erase(rows.begin(),
               rows.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(rows.size())));
    return rows;
}

/// "sfi" is a word of "index (`sfi`)".
bool has_word(const std::string& cell, const std::string& word) {
    const std::string text = " " + plain(cell) + " ";
    const std::size_t at = text.find(word);
    const auto edge = [](char c) { return c == ' ' || c == '(' || c == ')' || c == ','; };
    return at != std::string::npos && edge(text[at - 1]) && edge(text[at + word.size()]);
}

std::string contrast_method(std::string_view stage) {
    for (const Cells& row : table(section("Contrast")))
        if (row.size() == 3 && plain(row[0]) == stage)
            return " " + sentence(section("Contrast")) + " N samples: " + plain(row[1]) + " (" +
                   plain(row[2]) + ").";
    return "";
}

std::string conversion_method(const ChainStage& stage) {
    const ParamDecl* decl = stage.params.table().find("output");
    if (!decl)
        return "";
    const std::string output = to_string(stage.params.get("output"));
    for (const Cells& row : table(section("Flow")))
        if (row.size() == 4 && has_word(row[0], output))
            return " " + output + " = " + plain(row[1]) + (row[2] == "1" ? "" : ", in " + row[2]) + " (" +
                   plain(row[3]) + ").";
    return "";
}

std::string section_method(std::string_view heading) {
    return heading.empty() ? "" : " " + sentence(section(heading));
}

std::string region_method(RegionMean mean) {
    const std::vector<Cells> rows = table(section("Regions"));
    const std::size_t row = mean == RegionMean::of_squares ? 0 : mean == RegionMean::of_inverses ? 1 : 2;
    if (row >= rows.size() || rows[row].size() != 3)
        return "";
    return "Regions: " + sentence(section("Regions")) + " Of " + plain(rows[row][0]) +
           ": mean = " + plain(rows[row][1]) + ", over " + plain(rows[row][2]) + ". " +
           sentence(section("Regions"), "`std` is") + " " + sentence(section("Regions"), "`valid` = n");
}

} // namespace

std::vector<std::string> methods(const Report& report) {
    std::vector<std::string> lines;
    if (report.result.chain)
        for (const Chain computed = active(*report.result.chain);
             const ChainStage& stage : computed.stages()) {
            const std::string name(stage.type->name);
            Chain alone;
            alone.add(stage);
            lines.push_back(name + ": " + std::string(stage.type->doc) + " (" + text_in_effect(alone) + ")." +
                            contrast_method(name) + conversion_method(stage) +
                            section_method(stage.type->science));
        }
    if (report.result.regions)
        lines.push_back(region_method(report.result.regions->mean));
    if (report.traces && report.traces->taken) {
        const std::string_view traces = section("Traces and their baseline");
        lines.push_back("Baseline: " + sentence(traces, "The baseline F₀") + " " +
                        sentence(traces, "ΔF/F₀ ="));
    }
    return lines;
}

} // namespace specklescope
