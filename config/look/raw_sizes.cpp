#include "config/look/raw_sizes.hpp"

#include "sources/registry.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

/// Of cameras in use for speckle imaging, of video and of what software writes; larger ones first.
constexpr std::array<std::pair<int, int>, 33> kSizes = {
    {{5120, 5120}, {4096, 3000}, {4096, 2160}, {3840, 2160}, {2592, 2048}, {2592, 1944}, {2448, 2048},
     {2304, 2304}, {2048, 2048}, {2048, 1536}, {2048, 1088}, {1936, 1216}, {1920, 1200}, {1920, 1080},
     {1600, 1200}, {1440, 1080}, {1392, 1040}, {1388, 1038}, {1280, 1024}, {1280, 960},  {1280, 720},
     {1024, 1024}, {1024, 768},  {1000, 1000}, {800, 600},   {752, 480},   {720, 540},   {696, 520},
     {640, 512},   {640, 480},   {512, 512},   {320, 240},   {256, 256}}};

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

const std::vector<std::string>& raw_formats() {
    static const std::vector<std::string> formats = [] {
        for (const SourceType& type : source_types())
            if (type.kind == "raw")
                return type.table->at("format").choices;
        return std::vector<std::string>();
    }();
    return formats;
}

int raw_pixel_bytes(const std::string& format) {
    return format == "gray8"                              ? 1
           : format == "rgb8"                             ? 3
           : format == "gray32f"                          ? 4
           : format == "gray16le" || format == "gray16be" ? 2
                                                          : 0;
}

std::vector<RawSize> raw_sizes(std::uint64_t bytes, std::uint64_t header, const std::string& name) {
    std::vector<RawSize> sizes;
    if (bytes <= header)
        return sizes;
    const std::uint64_t pixels = bytes - header;
    const auto add = [&](int width, int height) {
        for (const std::string& format : raw_formats()) {
            const std::uint64_t frame = static_cast<std::uint64_t>(width) *
                                        static_cast<std::uint64_t>(height) *
                                        static_cast<std::uint64_t>(raw_pixel_bytes(format));
            if (frame > 0 && pixels % frame == 0 && pixels / frame > 0)
                sizes.push_back({width, height, format, pixels / frame});
        }
    };
    const std::optional<std::pair<int, int>> named = size_in(std::filesystem::path(name).filename().string());
    if (named)
        add(named->first, named->second);
    for (const auto& [width, height] : kSizes)
        if (!named || *named != std::pair(width, height))
            add(width, height);
    return sizes;
}

std::string raw_source(const std::string& path, const RawSize& size, std::uint64_t header) {
    return "raw:" + path + "?width=" + std::to_string(size.width) + "&height=" + std::to_string(size.height) +
           "&format=" + size.format + (header > 0 ? "&header=" + std::to_string(header) : "");
}

} // namespace specklescope
