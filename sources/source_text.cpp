#include "base/system.hpp"
#include "files/film_file.hpp"
#include "sources/discreet_source.hpp"
#include "sources/registry.hpp"

#include "sources/files/image_sequence.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

bool exists(std::string_view path) {
    std::error_code ignored;
    return fs::exists(fs::path(path), ignored);
}

/// Position of the '?' before the options: the last one, unless the whole text is an existing path; npos:
/// none. No other path is checked, so that a text has the same meaning in every folder.
std::size_t option_mark(std::string_view text) {
    return exists(text) ? std::string_view::npos : text.rfind('?');
}

void split_options(std::string_view text, SourceText& source) {
    const std::size_t mark = option_mark(text);
    source.target = text.substr(0, mark);
    std::string_view rest = mark == std::string_view::npos ? "" : text.substr(mark + 1);
    while (!rest.empty()) {
        const std::size_t end = rest.find('&');
        const std::string_view pair = rest.substr(0, end);
        rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
        const std::size_t equal = pair.find('=');
        if (equal == std::string_view::npos || equal == 0)
            throw UsageError("source '" + std::string(text) + "': the option '" + std::string(pair) +
                             "' is not of the form key=value; write SOURCE?key=value&key=value.");
        source.options.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
    }
}

/// TIFF files have many extensions, sometimes none; other image formats are no video. An array (NPY) may be a
/// calibration: it is an image only where it is named. Pipes are not read.
bool begins_as_picture(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(fs::path(path), ignored))
        return false;
    std::array<char, 4> begin{};
    std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
    const std::string_view magic(begin.data(), begin.size());
    using namespace std::string_view_literals;
    return magic == "II*\0"sv || magic == "MM\0*"sv || magic == "II+\0"sv || magic == "MM\0+"sv ||
           magic == "\x93NUM"sv || magic == "\x89HDF"sv || magic == "GIF8"sv ||
           (magic.starts_with("BM") && lower_ending(path) == ".bmp") ||
           (magic == "RIFF"sv && lower_ending(path) == ".webp") ||
           (magic == "PK\x03\x04"sv && lower_ending(path) == ".npz") ||
           (magic == "MATL"sv && lower_ending(path) == ".mat");
}

std::string path_kind(const std::string& path) {
    std::error_code ignored;
    if ((!path.empty() && path.back() == '/') || fs::is_directory(fs::path(path), ignored))
        return "image";
    if (has_image_ending(path) || has_film_ending(path) || (!exists(path) && is_number_pattern(path)))
        return "image";
    if (lower_ending(path) == ".raw")
        return is_foil_raw(path) ? "image" : "raw";
    return begins_as_picture(path) ? "image" : "video";
}

/// "aravis" from "aravis:Name" and from "aravis?gain=2"; empty if the text does not start with a word.
std::string_view leading_word(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 text[end] == '+' || text[end] == '-' || text[end] == '_'))
        ++end;
    return text.substr(0, end);
}

} // namespace

bool is_file_kind(std::string_view kind) { return kind == "image" || kind == "video" || kind == "raw"; }

bool is_read_once(const SourceText& source) {
    if (source.kind == "gst")
        return source.target.find("fdsrc") != std::string::npos;
    std::error_code ignored;
    const fs::file_status found = fs::status(fs::path(source.target), ignored);
    return is_file_kind(source.kind) && fs::exists(found) && !fs::is_regular_file(found) &&
           !fs::is_directory(found);
}

std::span<const std::string_view> image_endings() {
    static constexpr std::array<std::string_view, 12> kEndings = {
        ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".btf", ".tf2", ".tf8", ".stk", ".lsm", ".hdr", ".exr"};
    return kEndings;
}

bool has_image_ending(std::string_view path) {
    const auto endings = image_endings();
    return std::find(endings.begin(), endings.end(), lower_ending(path)) != endings.end();
}

SourceText parse_source_text(const std::string& text) {
    SourceText source;
    if (text.empty()) {
        source.kind = "synthetic";
        return source;
    }
    const std::string at_home = home_expanded(text);
    const std::string_view whole = at_home;
    const std::string_view word = leading_word(whole);
    const std::string_view rest = whole.substr(word.size());
    if ((word == "rtsp" || word == "rtsps") && rest.starts_with("://")) {
        source.kind = "rtsp";
        source.target = text;
        return source;
    }
    if (word == "gst" && rest.starts_with(':')) {
        source.kind = "gst";
        source.target = rest.substr(1);
        return source;
    }
    const SourceType* const type = source_type(word);
    if (type && (rest.starts_with(':') || rest.starts_with('?') || (rest.empty() && !exists(text)))) {
        source.kind = type->kind;
        split_options(rest.starts_with(':') ? home_expanded(rest.substr(1)) : std::string(rest), source);
        return source;
    }
    split_options(whole, source);
    // An unknown word with a colon was meant as a kind.
    if (rest.starts_with(':') && word.size() > 1 && !exists(source.target) &&
        !is_number_pattern(source.target))
        throw UsageError("There is no source kind '" + std::string(word) + "' and no file '" + source.target +
                         "'; allowed: a file, a folder, or one of " + source_kinds() + ".");
    source.kind = path_kind(source.target);
    return source;
}

bool may_appear_later(const SourceText& source) {
    if (source.kind == "v4l2" || source.kind == "aravis" || source.kind == "rtsp")
        return true;
    static constexpr std::array<std::string_view, 7> kElements = {
        "udpsrc", "rtspsrc", "tcpclientsrc", "srtsrc", "shmsrc", "v4l2src", "aravissrc"};
    return source.kind == "gst" &&
           std::any_of(kElements.begin(), kElements.end(), [&](std::string_view element) {
               return source.target.find(element) != std::string::npos;
           });
}

SourceArgument absolute_source_text(const SourceArgument& text) {
    const SourceText source = discreetly(text, [&] { return parse_source_text(text.revealed()); });
    if (source.target.empty() || !is_file_kind(source.kind))
        return text;
    const std::string path = fs::absolute(source.target).lexically_normal().string();
    std::string whole = path_kind(path) == source.kind ? path : source.kind + ":" + path;
    if (source.options.empty() && path.find('?') != std::string::npos)
        whole += '?'; // ends the name: options follow the last mark
    char mark = '?';
    for (const auto& [key, value] : source.options)
        whole += std::exchange(mark, '&') + key + "=" + value;
    return whole;
}

} // namespace specklescope
