#include "bench/report.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_float())
        return digits(value.get<double>());
    if (!value.is_object())
        return value.dump();
    const double median = value.at("median");
    const double half = (value.at("high").get<double>() - value.at("low").get<double>()) / 2;
    return digits(median) + (median > 0 ? " ± " + digits(100 * half / median) + " %" : "");
}

/// Times per instruction set become separate columns.
Json flat(const Json& row) {
    Json cells = Json::object();
    for (const auto& [key, value] : row.items())
        if (value.is_object() && !value.contains("median"))
            for (const auto& [name, part] : value.items())
                cells[key + " " + name] = text_of(part);
        else
            cells[key] = text_of(value);
    return cells;
}

/// In characters, not bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace

Json json_of(const Spread& spread) {
    return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}, {"rounds", spread.rounds}};
}

std::string table(const Json& rows) {
    Json lines = Json::array({Json::object()});
    for (const Json& row : rows) {
        lines.push_back(flat(row));
        for (const auto& [key, cell] : lines.back().items())
            lines[0][key] = key;
    }
    std::vector<std::string> text(lines.size());
    for (const auto& [key, head] : lines[0].items()) {
        std::size_t width = 0;
        for (const Json& line : lines)
            width = std::max(width, width_of(line.value(key, "")));
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string cell = lines[i].value(key, "");
            text[i] += cell + std::string(width - width_of(cell) + 2, ' ');
        }
    }
    std::string all;
    for (std::string& line : text)
        all += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    return all;
}

std::string list(const Json& facts) {
    std::string text;
    for (const auto& [name, value] : facts.items())
        text += name + ": " + text_of(value) + "\n";
    return text;
}

void print_reports(const std::vector<std::string>& files) {
    for (const std::string& path : files) {
        std::ifstream file(path);
        if (!file)
            throw RunError("'" + path + "' cannot be read.");
        try {
            const Json report = Json::parse(file);
            std::string text = report.at("machine").at("name").get<std::string>() + "\n";
            for (const auto& [key, part] : report.items())
                if (!part.empty())
                    text += "\n" + key + "\n\n" + (part.is_array() ? table(part) : list(part));
            std::fputs(text.c_str(), stdout);
        } catch (const nlohmann::json::exception&) {
            throw RunError("'" + path + "' is not a report of specklescope bench --json.");
        }
    }
}

} // namespace specklescope::bench
