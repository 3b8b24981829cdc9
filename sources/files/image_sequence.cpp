#include "sources/files/image_sequence.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <system_error>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Parts of "frame_%04d.tif".
struct Pattern {
    std::string before, after;
    std::size_t digits = 0; ///< minimum number of digits, padded with zeros

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
                       "' with any number in place of the pattern. Check the name and the folder.");
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
    return a < b; // 01 and 1: keeps the order strict
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
    if (files.empty()) {
        std::string endings;
        for (const std::string_view ending : image_endings())
            endings += (endings.empty() ? "" : ", ") + std::string(ending);
        throw RunError("The folder '" + path + "' holds no images; looked for " + endings + ".");
    }
    std::sort(files.begin(), files.end(), natural_less);
    return files;
}

namespace {

std::uint64_t frames_on(const Shape& page, int rows) {
    return rows > 0 ? static_cast<std::uint64_t>(page.height / rows) : 1;
}

struct Count {
    std::uint64_t frames = 0;
    bool whole = true; ///< the file could be read to its end
};

Count frames_in(const std::string& file, const FramesWanted& wanted, bool alone) {
    Count count;
    try {
        const std::unique_ptr<ImageReader> reader = open_image(file, wanted.choice);
        if (const std::uint64_t pages = wanted.rows > 0 ? 0 : reader->pages(); pages > 0)
            return {.frames = pages, .whole = true};
        while (const std::optional<Shape> page = reader->next_page()) {
            work_goes_on("counting the frames of " + file);
            count.frames += frames_on(*page, wanted.rows);
        }
    } catch (const RunError&) { // reported when the file is read
        count.whole = !alone;   // with several files, the others are read
    } catch (const Cancelled&) {
        throw;
    } catch (const UsageError&) { // as above
        count.whole = false;
    }
    return count;
}

} // namespace

void ImageIndex::count(const std::vector<std::string>& files, const FramesWanted& wanted,
                       std::uint64_t frame) {
    std::uint64_t frames = this->frames();
    while (frames <= frame && count_next(files, wanted))
        frames += counts_.back();
}

void ImageIndex::count_ahead(const std::vector<std::string>& files, const FramesWanted& wanted,
                             std::size_t at_least, std::chrono::milliseconds patience) {
    const SteadyClock::time_point until = SteadyClock::now() + patience;
    while ((counts_.size() < at_least || SteadyClock::now() < until) && count_next(files, wanted)) {
    }
}

bool ImageIndex::count_next(const std::vector<std::string>& files, const FramesWanted& wanted) {
    if (broken_ || counts_.size() >= files.size())
        return false;
    work_goes_on("counting frames", static_cast<double>(counts_.size()) / static_cast<double>(files.size()));
    const Count next = frames_in(files[counts_.size()], wanted, files.size() == 1);
    counts_.push_back(next.frames);
    broken_ = !next.whole;
    return true;
}

void ImageIndex::look_again(const std::vector<std::string>& before, const std::vector<std::string>& now) {
    const auto same = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin());
    const std::size_t kept = counts_.empty() ? 0 : counts_.size() - 1; // the last file may have grown
    counts_.resize(std::min(kept, same));
    broken_ = false;
}

std::uint64_t ImageIndex::frames() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t ImageIndex::frames_before(std::size_t file) const {
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(file),
                           std::uint64_t{0});
}

std::uint64_t ImageIndex::frames_of(const std::vector<std::string>& files, const FramesWanted& wanted,
                                    std::size_t file) const {
    return file < counts_.size() ? counts_[file] : frames_in(files[file], wanted, files.size() == 1).frames;
}

ImagePlace ImageIndex::place(const std::vector<std::string>& files, const FramesWanted& wanted,
                             std::uint64_t frame) const {
    ImagePlace place;
    while (place.file + 1 < counts_.size() && frame >= counts_[place.file])
        frame -= counts_[place.file++];
    if (wanted.rows == 0) {
        place.page = frame;
        return place;
    }
    const std::unique_ptr<ImageReader> reader = open_image(files[place.file], wanted.choice);
    while (const std::optional<Shape> page = reader->next_page()) {
        const std::uint64_t here = frames_on(*page, wanted.rows);
        if (frame < here)
            break;
        frame -= here;
        ++place.page;
    }
    place.row = static_cast<int>(frame) * wanted.rows;
    return place;
}

} // namespace specklescope
