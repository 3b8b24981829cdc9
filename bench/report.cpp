#include "bench/report.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace specklescope::bench {

Spread spread_of(std::vector<double> times_ms) {
    std::sort(times_ms.begin(), times_ms.end());
    const auto quantile = [&](double q) {
        const double place = q * static_cast<double>(times_ms.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, times_ms.size() - 1);
        return times_ms[below] + (place - static_cast<double>(below)) * (times_ms[above] - times_ms[below]);
    };
    if (times_ms.empty())
        return {};
    return {quantile(0.5), quantile(0.25), quantile(0.75), static_cast<int>(times_ms.size())};
}

Spread time_calls(const std::function<void(int)>& call, double round_ms, double total_ms) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kFewest = 5;
    constexpr std::size_t kMost = 25;
    const auto ms_since = [](Clock::time_point begin) {
        return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    };
    int i = 0;
    call(i++);
    const auto warm = Clock::now();
    call(i++);
    const double one = std::max(ms_since(warm), 1e-4);
    const int calls = std::clamp(static_cast<int>(std::ceil(round_ms / one)), 1, 100000);
    std::vector<double> times;
    const auto begin = Clock::now();
    while (times.size() < kFewest || (times.size() < kMost && ms_since(begin) < total_ms)) {
        const auto round = Clock::now();
        for (int k = 0; k < calls; ++k)
            call(i++);
        times.push_back(ms_since(round) / calls);
    }
    return spread_of(std::move(times));
}

std::string digits(double value) {
    const double size = std::abs(value);
    const int places =
        size == 0 || size >= 100 ? 0 : std::min(6, 2 - static_cast<int>(std::floor(std::log10(size))));
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", places, value);
    return text.data();
}

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
