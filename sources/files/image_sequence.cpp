#include "sources/files/image_sequence.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "files/input_file.hpp"
#include "sources/source_text.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "frame_%04d.tif" taken apart.
struct Pattern {
    std::string before, after;
    std::size_t digits = 0; ///< at least so many, filled up with zeros

    std::string name(std::uint64_t number) const {
        std::string text = std::to_string(number);
        if (text.size() < digits)
            text.insert(0, digits - text.size(), '0');
        return before + text + after;
    }
    std::optional<std::uint64_t> number(const std::string& file) const {
        if (file.size() <= before.size() + after.size() || !file.starts_with(before) ||
            !file.ends_with(after))
            return std::nullopt;
        std::uint64_t value = 0;
        const char* end = file.data() + file.size() - after.size();
        const auto [stop, error] = std::from_chars(file.data() + before.size(), end, value);
        if (error != std::errc{} || stop != end || name(value) != file)
            return std::nullopt;
        return value;
    }
};

std::optional<Pattern> parse_pattern(std::string_view name) {
    const std::size_t percent = name.find('%');
    if (percent == std::string_view::npos)
        return std::nullopt;
    std::size_t end = percent + 1;
    while (end < name.size() && is_digit(name[end]))
        ++end;
    if (end >= name.size() || name[end] != 'd' || end - percent > 3 ||
        name.find('%', end) != std::string_view::npos)
        return std::nullopt;
    Pattern pattern;
    pattern.before = name.substr(0, percent);
    pattern.after = name.substr(end + 1);
    (void)std::from_chars(name.data() + percent + 1, name.data() + end, pattern.digits);
    return pattern;
}

std::vector<std::string> list_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    fs::directory_iterator entries(folder, error);
    if (error)
        throw RunError("The folder '" + folder.string() + "' cannot be read: " + error.message() + ".");
    for (const fs::directory_entry& entry : entries)
        if (!entry.is_directory(error))
            names.push_back(entry.path().filename().string());
    return names;
}

std::vector<std::string> list_numbered(const fs::path& path, const Pattern& pattern) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::vector<std::uint64_t> numbers;
    std::error_code ignored;
    if (fs::is_directory(folder, ignored))
        for (const std::string& name : list_folder(folder))
            if (const auto number = pattern.number(name))
                numbers.push_back(*number);
    if (numbers.empty())
        throw RunError("There is no file '" + path.string() +
                       "' with any number in place of the pattern. Check the " + "name and the folder.");
    std::sort(numbers.begin(), numbers.end());
    std::size_t count = 1;
    while (count < numbers.size() && numbers[count] == numbers[count - 1] + 1)
        ++count;
    if (count < numbers.size())
        run_log().warn("'{}' is missing, so the sequence '{}' ends there; files after the gap: {}.",
                       (path.parent_path() / pattern.name(numbers[count - 1] + 1)).string(), path.string(),
                       numbers.size() - count);
    std::vector<std::string> files;
    files.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        files.push_back((path.parent_path() / pattern.name(numbers[i])).string());
    return files;
}

} // namespace

bool natural_less(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j])
                return a[i] < b[j];
            ++i;
            ++j;
            continue;
        }
        const auto number = [](std::string_view text, std::size_t& at) {
            while (at < text.size() && text[at] == '0')
                ++at;
            const std::size_t begin = at;
            while (at < text.size() && is_digit(text[at]))
                ++at;
            return text.substr(begin, at - begin);
        };
        const std::string_view left = number(a, i);
        const std::string_view right = number(b, j);
        if (left.size() != right.size())
            return left.size() < right.size();
        if (left != right)
            return left < right;
    }
    if (a.size() - i != b.size() - j)
        return a.size() - i < b.size() - j;
    return a < b; // 01 and 1: a strict order all the same
}

bool is_number_pattern(std::string_view path) {
    return parse_pattern(fs::path(path).filename().string()).has_value();
}

bool may_be_in_sequence(std::string_view pattern, const std::string& name) {
    const auto parsed = parse_pattern(fs::path(pattern).filename().string());
    return parsed && parsed->number(name).has_value();
}

std::vector<std::string> list_images(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        if (const auto pattern = parse_pattern(fs::path(path).filename().string()))
            return list_numbered(path, *pattern);
    check_exists(path);
    if (!fs::is_directory(path, ignored))
        return {path};
    std::vector<std::string> files;
    for (const std::string& name : list_folder(path))
        if (has_image_ending(name) && name.front() != '.')
            files.push_back((fs::path(path) / name).string());
    if (files.empty())
        throw RunError("The folder '" + path +
                       "' holds no images; looked for .png, .jpg, .jpeg, .tif, .tiff, .btf, .tf2, .tf8, "
                       ".stk, .lsm, .hdr "
                       "and .exr.");
    std::sort(files.begin(), files.end(), natural_less);
    return files;
}

} // namespace specklescope
