// Valid and invalid image files made byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// A little-endian number of `bytes` bytes.
inline std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

struct TiffSpec {
    std::uint32_t width = 16, height = 16;
    std::uint16_t bits = 8, samples = 1;
    std::uint16_t format = 1;      ///< 1 unsigned, 2 signed, 3 float, 5 complex
    std::uint16_t photometric = 1; ///< 1 grey, 2 RGB, 3 palette
    std::uint16_t compression = 1;
    bool data = true; ///< false: a header for pixels that are missing
};

/// One page, one strip.
inline std::string tiff_bytes(const TiffSpec& spec) {
    const std::uint64_t bytes = (std::uint64_t{spec.width} * spec.samples * spec.bits + 7) / 8 * spec.height;
    struct Entry {
        std::uint16_t tag, type;
        std::uint32_t value;
    };
    constexpr std::uint16_t kShort = 3, kLong = 4;
    const std::vector<Entry> entries = {{256, kLong, spec.width},
                                        {257, kLong, spec.height},
                                        {258, kShort, spec.bits},
                                        {259, kShort, spec.compression},
                                        {262, kShort, spec.photometric},
                                        {273, kLong, 8 + 2 + 11 * 12 + 4},
                                        {277, kShort, spec.samples},
                                        {278, kLong, spec.height},
                                        {279, kLong, static_cast<std::uint32_t>(bytes)},
                                        {284, kShort, 1},
                                        {339, kShort, spec.format}};
    std::string file = std::string("II*") + '\0' + little(8, 4) + little(entries.size(), 2);
    for (const Entry& entry : entries)
        file += little(entry.tag, 2) + little(entry.type, 2) + little(1, 4) + little(entry.value, 4);
    file += little(0, 4);
    if (spec.data)
        for (std::uint64_t i = 0; i < bytes; ++i)
            file += static_cast<char>(40 + i * 7919 % 101);
    return file;
}

inline std::uint32_t png_crc(const std::string& text) {
    std::uint32_t crc = 0xffffffffU;
    for (const char c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

/// Signature and IHDR (8-bit grey) with a valid checksum, and nothing after them.
inline std::string png_header(std::uint32_t width, std::uint32_t height) {
    const auto big = [](std::uint32_t value) {
        const std::string text = little(value, 4);
        return std::string(text.rbegin(), text.rend());
    };
    const std::string chunk = "IHDR" + big(width) + big(height) + std::string("\x08\0\0\0\0", 5);
    return "\x89PNG\r\n\x1a\n" + big(13) + chunk + big(png_crc(chunk));
}

} // namespace specklescope
