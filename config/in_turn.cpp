#include "config/in_turn.hpp"

#include "config/outputs.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "config/text.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <glob.h>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// Nullopt for an invalid source; opening it reports the reason, without its secrets.
std::optional<SourceText> meaning_of(const SourceArgument& source) {
    try {
        return parse_source_text(source.revealed());
    } catch (const UsageError&) {
        return std::nullopt;
    }
}

/// Empty where `source` is no pattern.
std::string pattern_in(const SourceText& source) {
    std::error_code ignored;
    const bool pattern = is_file_kind(source.kind) &&
                         source.target.find_first_of("*[") != std::string::npos &&
                         !fs::exists(fs::path(source.target), ignored);
    return pattern ? source.target : "";
}

std::vector<std::string> files_like(const std::string& pattern) {
    glob_t found{};
    const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
    const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
    if (status == GLOB_NOMATCH)
        throw UsageError("No file matches '" + one_line(pattern) +
                         "'. In a pattern, * matches any text and [abc] one of these letters.");
    if (status != 0)
        throw RunError("The folders of '" + one_line(pattern) + "' cannot be read. Check their permissions.");
    return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

std::string options_text(const SourceText& source) {
    std::string text;
    for (const auto& [key, value] : source.options)
        text += (text.empty() ? "?" : "&") + key + "=" + value;
    return text;
}

std::string time_text(const std::tm& time, const char* format) {
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), format, &time);
    return text.data();
}

/// Text as a part of one file's name.
std::string part_of_name(const std::string& text) {
    std::string part = one_line(text);
    std::replace(part.begin(), part.end(), '/', '-');
    return part;
}

} // namespace

std::vector<SourceArgument> sources_in_turn(const std::vector<std::string>& words) {
    std::vector<SourceArgument> sources;
    for (const std::string& word : words) {
        const std::optional<SourceText> source = meaning_of(word);
        const std::string pattern = source ? pattern_in(*source) : "";
        if (pattern.empty()) {
            sources.emplace_back(word);
            continue;
        }
        for (const std::string& file : files_like(pattern))
            sources.emplace_back((word.starts_with("raw:") ? "raw:" : "") + file + options_text(*source));
    }
    return sources;
}

void check_loop(const Settings& settings) {
    std::vector<SourceArgument> sources = settings.sources;
    if (sources.empty())
        sources.push_back(settings.source);
    for (const SourceArgument& source : sources) {
        const std::optional<SourceText> text = meaning_of(source);
        if (text && !source_type(text->kind)->table->find("loop"))
            throw UsageError("--loop needs a file, and " +
                             (source.empty() ? "the simulated scene" : source.shown()) +
                             " is not a file. Leave --loop out.");
    }
}

std::tm local_now() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    return local;
}

std::string stem_of(const SourceArgument& source) {
    std::string stem = "source";
    const std::optional<SourceText> text = meaning_of(source);
    if (text && !is_file_kind(text->kind)) {
        stem = text->kind;
    } else if (text) {
        fs::path path(text->target);
        if (!path.has_filename())
            path = path.parent_path();
        if (path.has_stem())
            stem = path.stem().string();
    }
    return part_of_name(stem);
}

std::string fill_name(std::string_view name, const NamePlaces& places) {
    std::string count = std::to_string(places.count);
    count.insert(0, count.size() < 3 ? 3 - count.size() : 0, '0');
    const std::map<std::string_view, std::string> values = {
        {"stem", places.stem},
        {"count", count},
        {"date", time_text(places.begin, "%Y-%m-%d")},
        {"time", time_text(places.begin, "%H-%M-%S")},
        {"subject", places.subject.empty() ? "subject" : part_of_name(places.subject)},
        {"what", places.what}};
    std::string filled;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool twice = at + 1 < name.size() && name[at + 1] == name[at];
        if (twice && (name[at] == '{' || name[at] == '}')) {
            filled += name[at++];
            continue;
        }
        if (name[at] != '{') {
            filled += name[at];
            continue;
        }
        const std::size_t end = name.find('}', at);
        const std::string_view place =
            name.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
        const auto value = values.find(place);
        if (end == std::string_view::npos || value == values.end())
            throw UsageError(
                "'" + one_line(name) + "' has the unknown placeholder {" + one_line(place) +
                "}; allowed: {stem}, {count}, {date}, {time}, {subject}, {what}, and {{ for a brace.");
        filled += value->second;
        at = end;
    }
    return filled;
}

std::vector<Settings> each_in_turn(const Settings& settings) {
    const std::size_t count = std::max<std::size_t>(1, settings.sources.size());
    const std::tm begin = local_now();
    std::vector<Settings> each;
    std::map<std::string, std::string> owners; ///< of each file that is written
    for (std::size_t i = 0; i < count; ++i) {
        Settings one = settings;
        if (!settings.sources.empty())
            one.source = settings.sources[i];
        one.sources.clear();
        if (i > 0)
            one.remarks.clear(); // reported only once
        if (one.command == Command::run)
            show_as_they_are(one, look_at_source(one));
        NamePlaces places{stem_of(one.source), i + 1, begin,
                          one.program.as<ProgramSettings>().recording.subject};
        for (auto& [kind, target, of] : one.outputs) {
            if (!kind->file)
                continue;
            const std::string given = std::exchange(target, "");
            places.what = kind->what();
            target = fill_name(given, places);
            const auto [owner, first] = owners.try_emplace(target, one.source.shown());
            if (!first && count > 1 && is_stream(given))
                throw UsageError("--" + kind->option() + " " + one_line(given) +
                                 " is a stream and takes one source, but there are " + std::to_string(count) +
                                 ". Run them one by one.");
            if (!first && count > 1)
                throw UsageError("--" + kind->option() + " " + one_line(given) +
                                 " would be the same file for '" + owner->second + "' and '" +
                                 one.source.shown() + "'. Put {stem} or {count} into its name.");
        }
        each.push_back(std::move(one));
    }
    check_outputs(each);
    return each;
}

} // namespace specklescope
