#include "sources/gst/gst_container.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace specklescope {

namespace {

constexpr int kMaxParts = 100000; ///< fragments of an MP4; a file with more is not looked at further

class Bytes {
public:
    explicit Bytes(const std::string& path) : file_(path, std::ios::binary) {}
    /// Reads at a place in the file; what lies beyond its end is false.
    bool at(std::uint64_t place, std::uint8_t* to, std::size_t count) {
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(place));
        return static_cast<bool>(
            file_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count)));
    }

private:
    std::ifstream file_;
};

std::uint64_t big_endian(const std::uint8_t* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
        value = value << 8 | bytes[i];
    return value;
}

std::string_view tag(const std::uint8_t* bytes) { return {reinterpret_cast<const char*>(bytes), 4}; }

/// RIFF chunks one after another (OpenDML has several), little-endian sizes, padded to even.
std::uint64_t riff(Bytes& file) {
    std::uint64_t place = 0;
    std::array<std::uint8_t, 8> head{};
    for (int part = 0; part < kMaxParts && file.at(place, head.data(), head.size()); ++part) {
        if (tag(head.data()) != "RIFF")
            break;
        const std::uint64_t size = head[4] | head[5] << 8 | head[6] << 16 | std::uint64_t{head[7]} << 24;
        if (size == 0 || size == 0xffffffff)
            return 0;
        place += 8 + size + (size & 1);
    }
    return place;
}

/// ISO/IEC 14496-12 boxes: 32-bit size, type, 64-bit size where the first is 1; 0 reaches to the end of the
/// file.
std::uint64_t iso(Bytes& file) {
    std::uint64_t place = 0;
    std::array<std::uint8_t, 16> head{};
    for (int part = 0; part < kMaxParts && file.at(place, head.data(), 8); ++part) {
        std::uint64_t size = big_endian(head.data(), 4);
        if (size == 1) {
            if (!file.at(place, head.data(), 16))
                return place + 16;
            size = big_endian(head.data() + 8, 8);
        }
        if (size < 8)
            return 0;
        place += size;
    }
    return place;
}

/// EBML (RFC 8794): an element is its ID, its size with a length marker in the first byte, its data. All
/// ones: unknown.
std::uint64_t matroska(Bytes& file) {
    std::uint64_t place = 0;
    for (int part = 0; part < 2; ++part) { // the EBML header, then the segment
        std::array<std::uint8_t, 8> size_bytes{};
        if (!file.at(place + 4, size_bytes.data(), 1))
            return place;
        const int length = std::countl_zero(size_bytes[0]) + 1;
        if (length > 8 || !file.at(place + 4, size_bytes.data(), static_cast<std::size_t>(length)))
            return 0;
        const std::uint64_t mask = (std::uint64_t{1} << (7 * length)) - 1;
        const std::uint64_t size = big_endian(size_bytes.data(), length) & mask;
        if (size == mask)
            return 0;
        place += 4 + static_cast<std::uint64_t>(length) + size;
    }
    return place;
}

// EBML IDs, with their length markers.
constexpr std::uint64_t kEbml = 0x1a45dfa3, kSegment = 0x18538067, kSeekHead = 0x114d9b74, kInfo = 0x1549a966,
                        kTags = 0x1254c367, kSeek = 0x4dbb, kSeekId = 0x53ab, kSeekPosition = 0x53ac;

struct Element {
    std::uint64_t id = 0, begin = 0, size = 0; ///< of the payload
    std::uint64_t end() const { return begin + size; }
};

/// The element at a place; none where the file ends or its size is open.
std::optional<Element> element_at(Bytes& file, std::uint64_t place) {
    std::array<std::uint8_t, 8> bytes{};
    if (!file.at(place, bytes.data(), 1))
        return std::nullopt;
    const int id_length = std::countl_zero(bytes[0]) + 1;
    if (id_length > 4 || !file.at(place, bytes.data(), static_cast<std::size_t>(id_length)))
        return std::nullopt;
    Element element;
    element.id = big_endian(bytes.data(), id_length);
    place += static_cast<std::uint64_t>(id_length);
    if (!file.at(place, bytes.data(), 1))
        return std::nullopt;
    const int length = std::countl_zero(bytes[0]) + 1;
    if (length > 8 || !file.at(place, bytes.data(), static_cast<std::size_t>(length)))
        return std::nullopt;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * length)) - 1;
    element.size = big_endian(bytes.data(), length) & mask;
    element.begin = place + static_cast<std::uint64_t>(length);
    if (element.size == mask && element.id != kSegment)
        return std::nullopt;
    return element;
}

std::string payload(Bytes& file, const Element& element) {
    constexpr std::uint64_t kMost = std::uint64_t{64} << 20; // a larger one is damaged
    if (element.size == 0 || element.size > kMost)
        return {};
    std::string text(element.size, '\0');
    return file.at(element.begin, reinterpret_cast<std::uint8_t*>(text.data()), text.size()) ? text : "";
}

std::uint64_t number(Bytes& file, const Element& element) {
    std::array<std::uint8_t, 8> bytes{};
    const bool fits = element.size <= bytes.size() && file.at(element.begin, bytes.data(), element.size);
    return fits ? big_endian(bytes.data(), static_cast<int>(element.size)) : 0;
}

/// Where a segment's table of contents has the element; 0: nowhere.
std::uint64_t seek_position(Bytes& file, const Element& table, std::uint64_t id) {
    for (std::uint64_t place = table.begin; place < table.end();) {
        const std::optional<Element> seek = element_at(file, place);
        if (!seek)
            return 0;
        place = seek->end();
        std::uint64_t found = 0, position = 0;
        for (std::uint64_t at = seek->begin; seek->id == kSeek && at < seek->end();) {
            const std::optional<Element> field = element_at(file, at);
            if (!field)
                return 0;
            at = field->end();
            if (field->id == kSeekId)
                found = number(file, *field);
            else if (field->id == kSeekPosition)
                position = number(file, *field);
        }
        if (found == id)
            return position;
    }
    return 0;
}

} // namespace

std::string matroska_texts(const std::string& path) {
    constexpr int kLooked = 16; // elements before the first pictures
    Bytes file(path);
    const std::optional<Element> head = element_at(file, 0);
    if (!head || head->id != kEbml)
        return {};
    const std::optional<Element> segment = element_at(file, head->end());
    if (!segment || segment->id != kSegment)
        return {};
    std::string info;
    std::uint64_t place = segment->begin;
    for (int i = 0; i < kLooked; ++i) {
        const std::optional<Element> element = element_at(file, place);
        if (!element)
            break;
        place = element->end();
        if (element->id == kInfo)
            info = payload(file, *element);
        if (element->id != kSeekHead)
            continue;
        const std::uint64_t position = seek_position(file, *element, kTags);
        const auto tags = position > 0 ? element_at(file, segment->begin + position) : std::nullopt;
        if (std::string text = tags && tags->id == kTags ? payload(file, *tags) : ""; !text.empty())
            return text;
    }
    return info;
}

std::uint64_t claimed_bytes(const std::string& path) {
    Bytes file(path);
    std::array<std::uint8_t, 12> head{};
    if (!file.at(0, head.data(), head.size()))
        return 0;
    if (tag(head.data()) == "RIFF")
        return riff(file);
    if (big_endian(head.data(), 4) == 0x1a45dfa3)
        return matroska(file);
    if (tag(head.data() + 4) == "ftyp")
        return iso(file);
    return 0;
}

} // namespace specklescope
