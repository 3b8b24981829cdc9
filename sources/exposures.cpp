#include "sources/exposures.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "pipeline/param.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace specklescope {

namespace {

constexpr double kShortest = 0.001, kLongest = 10000; ///< ms
constexpr std::size_t kMostExposures = 16;            ///< different ones in names
constexpr double kSameExposure = 1e-2;                ///< relative; cameras round

bool same(double a, double b) { return std::abs(a - b) <= kSameExposure * std::max(a, b); }

std::string in_ms(double ms) { return to_string(ParamValue(ms)) + " ms"; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_one_of(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

/// An exposure in a name; `unclear`: the number may be the decimals of the one before.
struct Statement {
    double ms = 0;
    bool unclear = false;
};

/// True if one or two digits before `at`, a number of their own, may be the whole part of a decimal number.
/// Counters have more digits, or zeros in front.
bool follows_whole_part(std::string_view name, std::size_t at) {
    std::size_t begin = at - 1;
    while (begin > 0 && is_digit(name[begin - 1]))
        --begin;
    const std::size_t digits = at - 1 - begin;
    const bool alone = begin == 0 || is_one_of("_- =([", name[begin - 1]);
    return alone && digits > 0 && digits <= 2 && !(digits == 2 && name[begin] == '0');
}

std::vector<Statement> statements(std::string_view name) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3}, {"ms", 1}, {"s", 1e-3}};
    std::vector<Statement> found;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (!is_digit(name[at]) || (at > 0 && !is_one_of("_- =([", name[at - 1])))
            continue;
        double value = 0;
        const auto [end, failed] =
            std::from_chars(name.data() + at, name.data() + name.size(), value, std::chars_format::fixed);
        const std::string_view after = name.substr(static_cast<std::size_t>(end - name.data()));
        for (const auto& [unit, per_ms] : kUnits)
            if (failed == std::errc() && after.starts_with(unit) &&
                (after.size() == unit.size() || is_one_of("_- .)],", after[unit.size()]))) {
                const bool whole =
                    name.substr(at, name.size() - at - after.size()).find('.') == std::string_view::npos;
                found.push_back({value / per_ms, whole && at > 0 && follows_whole_part(name, at)});
            }
    }
    return found;
}

/// Equal steps in order, each time once: names of a series in time look like this, too.
bool may_count_time(const std::vector<double>& ms) {
    for (std::size_t i = 1; i < ms.size(); ++i)
        if (ms[i] <= ms[i - 1] || std::abs(ms[i] - ms[i - 1] - (ms[1] - ms[0])) > 1e-6 * ms[i])
            return false;
    return ms.size() > 2;
}

} // namespace

std::vector<double> exposure_cycle(const std::string& owner, const std::string& text) {
    if (text.empty())
        return {};
    const auto cycle = number_list(text);
    if (!cycle || !std::all_of(cycle->begin(), cycle->end(),
                               [](double ms) { return ms >= kShortest && ms <= kLongest; }))
        throw UsageError(owner + ": exposures = " + text +
                         " is not a list of exposure times. Give 0.001…10000 ms, as in 0.5,2,8.");
    return *cycle;
}

NamedExposures exposures_of_names(const std::vector<std::string>& files) {
    NamedExposures named;
    std::set<double> different;
    std::optional<std::string> odd; // a name that states none, several or an unclear one
    for (const std::string& file : files) {
        const std::string name = std::filesystem::path(file).stem().string();
        const std::vector<Statement> stated = statements(name);
        const bool one =
            stated.size() == 1 && !stated[0].unclear && stated[0].ms >= kShortest && stated[0].ms <= kLongest;
        if (!one && !odd)
            odd = name;
        for (const Statement& statement : stated) {
            named.ms.push_back(statement.ms);
            different.insert(statement.ms);
        }
    }
    if (different.size() < 2)
        return {};
    std::string why;
    if (odd)
        why = "Not every file name states one clear exposure (such as '" + one_line(*odd) + "')";
    else if (different.size() > kMostExposures)
        why = "The file names state more than 16 different times";
    else if (may_count_time(named.ms))
        why = "The times in the file names have equal steps and may count time";
    if (!why.empty())
        return {.ms = {}, .refused = why + ". They are not used as exposures. Give ?exposures= in ms."};
    return named;
}

void FileExposures::warn_once(const std::string& text) {
    if (!std::exchange(warned_, true))
        run_log().warn("{} Reported once.", text);
}

void FileExposures::apply(FrameInfo& info, const Recorded& stated, bool ours, const std::string& file,
                          std::uint64_t frame, double named) {
    info.exposure_ms = stated.exposure_ms;
    info.exposure_origin = stated.exposure_origin;
    const bool known = std::isfinite(stated.exposure_ms);
    const auto facts = [&] {
        return "'" + file + "' states an exposure of " + in_ms(stated.exposure_ms) + " for frame " +
               std::to_string(frame);
    };
    if (cycle_.empty()) {
        if (!known && std::isfinite(named)) {
            info.exposure_ms = named;
            info.exposure_origin = ExposureOrigin::file;
        } else if (known && std::isfinite(named) && !same(named, stated.exposure_ms)) {
            warn_once(facts() + ", and its name " + in_ms(named) + ". The name is ignored.");
        }
        return;
    }
    const double given = cycle_[frame % cycle_.size()];
    if (known && same(given, stated.exposure_ms))
        return;
    if (known && ours)
        throw UsageError(owner_ + ": " + facts() + ", and exposures " + in_ms(given) +
                         ". Leave exposures out.");
    if (known)
        warn_once(facts() + ", and exposures " + in_ms(given) + ". The option is used.");
    else if (std::isfinite(named) && !same(named, given))
        warn_once("The name of '" + file + "' states an exposure of " + in_ms(named) + ", and exposures " +
                  in_ms(given) + ". The option is used.");
    info.exposure_ms = given;
    info.exposure_origin = ExposureOrigin::parameter;
}

} // namespace specklescope
