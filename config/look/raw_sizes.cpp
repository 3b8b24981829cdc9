#include "config/look/raw_sizes.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

/// "640x480" in a name.
std::optional<std::pair<int, int>> size_in(const std::string& name) {
    const auto digit = [&](std::size_t i) {
        return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0;
    };
    constexpr std::size_t kDigits = 5;
    for (std::size_t x = 1; x + 1 < name.size(); ++x) {
        if ((name[x] != 'x' && name[x] != 'X') || !digit(x - 1) || !digit(x + 1))
            continue;
        std::size_t begin = x, end = x + 1;
        while (begin > 0 && digit(begin - 1))
            --begin;
        while (digit(end))
            ++end;
        if (x - begin > kDigits || end - x - 1 > kDigits)
            continue;
        const int width = std::stoi(name.substr(begin, x - begin));
        const int height = std::stoi(name.substr(x + 1, end - x - 1));
        if (width > 0 && height > 0)
            return std::pair(width, height);
    }
    return std::nullopt;
}

} // namespace

std::uint64_t raw_frame_bytes(const RawSize& size) {
    return raw_frame_bytes(size.width, size.height, size.format);
}

std::vector<RawSize> raw_sizes(std::uint64_t bytes, std::uint64_t header, const std::string& name) {
    std::vector<RawSize> sizes;
    if (bytes <= header)
        return sizes;
    const std::uint64_t pixels = bytes - header;
    const auto add = [&](int width, int height) {
        for (const std::string& format : raw_formats()) {
            const std::uint64_t frame = raw_frame_bytes(width, height, format);
            if (frame > 0 && pixels % frame == 0 && pixels / frame > 0)
                sizes.push_back({width, height, format, pixels / frame});
        }
    };
    const std::optional<std::pair<int, int>> named = size_in(std::filesystem::path(name).filename().string());
    if (named)
        add(named->first, named->second);
    for (const auto& [width, height] : usual_raw_sizes())
        if (!named || *named != std::pair(width, height))
            add(width, height);
    return sizes;
}

std::string raw_source(const std::string& path, const RawSize& size, std::uint64_t header) {
    return "raw:" + path + "?width=" + std::to_string(size.width) + "&height=" + std::to_string(size.height) +
           "&format=" + size.format + (header > 0 ? "&header=" + std::to_string(header) : "");
}

} // namespace specklescope
