#include "config/recorded/descriptions.hpp"

#include "base/error.hpp"
#include "files/image_file.hpp"
#include "sources/gst/gst_container.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// The first line of the text beside headerless pixels, and the last that is whole.
Descriptions beside_raw(const std::string& lines_path) {
    constexpr std::size_t kMost = std::size_t{1} << 20; // no line of ours is longer
    std::ifstream lines(lines_path, std::ios::binary);
    std::string text(kMost, '\0');
    const auto read = [&] {
        text.resize(kMost);
        lines.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(lines.gcount()));
        lines.clear();
    };
    read();
    Descriptions found{.file = text.substr(0, text.find('\n')), .last_frame = {}};
    lines.seekg(0, std::ios::end);
    const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, lines.tellg()));
    const std::size_t tail = size > kMost ? size - kMost : 0;
    lines.seekg(static_cast<std::streamoff>(tail));
    read();
    const std::size_t end = text.rfind('\n');
    const std::size_t before = end == std::string::npos || end == 0 ? end : text.rfind('\n', end - 1);
    if (before != std::string::npos && end != 0)
        found.last_frame = text.substr(before + 1, end - before - 1);
    return found;
}

Descriptions in_image(const std::string& path, bool last_frame) {
    const std::unique_ptr<ImageReader> image = open_image(path);
    Descriptions found;
    if (!image->next_page())
        return found;
    found.file = image->description();
    if (!last_frame || found.file.find(kDescriptionBegin) == std::string::npos)
        return found;
    const std::uint64_t pages = image->pages();
    try { // a recording that was cut off has a first frame all the same
        if (pages > 1 && image->go_to(pages - 1))
            found.last_frame = image->description();
    } catch (const RunError&) {
        found.last_frame.clear();
    }
    return found;
}

} // namespace

Descriptions descriptions_of(const std::string& path, bool last_frame) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        throw UsageError("There is no recording '" + path + "'; name a file that --record wrote.");
    if (const std::string lines = path + ".jsonl"; fs::is_regular_file(lines, ignored))
        return beside_raw(lines);
    constexpr std::string_view kMatroska = "\x1a\x45\xdf\xa3";
    std::string magic(kMatroska.size(), '\0');
    std::ifstream(path, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
    if (magic == kMatroska)
        return {.file = matroska_texts(path), .last_frame = {}};
    try {
        return in_image(path, last_frame);
    } catch (const RunError& error) {
        throw UsageError(error.what());
    }
}

} // namespace specklescope
