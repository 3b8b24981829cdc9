#include "sources/gst/gst_container.hpp"

#include "sources/gst/container_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace specklescope {

namespace {

constexpr int kMaxParts = 100000; ///< fragments of an MP4; files with more are not examined further

/// Elements, tags or pages, at least one per frame: four hours at 1000 per second.
constexpr int kMostElements = 1 << 24;

using Bytes = ContainerBytes;

/// Saturating sum.
std::uint64_t sum(std::uint64_t place, std::uint64_t size) {
    return place + std::min(size, std::numeric_limits<std::uint64_t>::max() - place);
}

std::uint64_t big_endian(const std::uint8_t* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
        value = value << 8 | bytes[i];
    return value;
}

std::string_view tag(const std::uint8_t* bytes) { return {reinterpret_cast<const char*>(bytes), 4}; }

/// Consecutive RIFF chunks (OpenDML has several), little-endian sizes, padded to even.
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

/// ISO/IEC 14496-12 boxes: 32-bit size, type, 64-bit size if the first is 1; 0 extends to the end of the
/// file. `fragmented`: some are fragments.
std::uint64_t iso(Bytes& file, bool& fragmented) {
    std::uint64_t place = 0;
    std::array<std::uint8_t, 16> head{};
    for (int part = 0; part < kMaxParts && file.at(place, head.data(), 8); ++part) {
        fragmented = fragmented || tag(head.data() + 4) == "moof";
        std::uint64_t size = big_endian(head.data(), 4);
        if (size == 1) {
            if (!file.at(place, head.data(), 16))
                return place + 16;
            size = big_endian(head.data() + 8, 8);
        }
        if (size < 8)
            return 0;
        place = sum(place, size);
    }
    return place;
}

// EBML IDs, with their length markers.
constexpr std::uint64_t kEbml = 0x1a45dfa3, kSegment = 0x18538067, kCluster = 0x1f43b675,
                        kSeekHead = 0x114d9b74, kInfo = 0x1549a966, kTags = 0x1254c367, kSeek = 0x4dbb,
                        kSeekId = 0x53ab, kSeekPosition = 0x53ac;

/// EBML (RFC 8794): an element consists of ID, size with a length marker in the first byte, and data. All
/// ones: unknown size.
struct Element {
    std::uint64_t id = 0, begin = 0, size = 0; ///< of the payload
    bool open = false;                         ///< its size is unknown
    std::uint64_t end() const { return begin + size; }
};
enum class Look : std::uint8_t { whole, cut, wrong };

Look look_at(Bytes& file, std::uint64_t place, Element& element) {
    std::array<std::uint8_t, 12> head{};
    const auto there = static_cast<int>(file.some(place, head.data(), head.size()));
    if (there == 0)
        return Look::cut;
    const int id = std::countl_zero(head[0]) + 1; // length in bytes
    if (id > 4)
        return Look::wrong;
    if (there <= id)
        return Look::cut;
    const int size = std::countl_zero(head[static_cast<std::size_t>(id)]) + 1;
    if (size > 8)
        return Look::wrong;
    if (there < id + size)
        return Look::cut;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * size)) - 1;
    element.id = big_endian(head.data(), id);
    element.size = big_endian(head.data() + id, size) & mask;
    element.open = element.size == mask;
    element.begin = place + static_cast<std::uint64_t>(id + size);
    return Look::whole;
}

/// Element at a place; nothing at the end of the file or for an unknown size.
std::optional<Element> element_at(Bytes& file, std::uint64_t place) {
    Element element;
    if (look_at(file, place, element) != Look::whole || (element.open && element.id != kSegment))
        return std::nullopt;
    return element;
}

/// Streamed or unfinished files have a segment and clusters of unknown size: walks through the elements to
/// the last one.
std::uint64_t open_segment(Bytes& file, std::uint64_t place) {
    for (int looked = 0; place < file.size(); ++looked) {
        Element element;
        const Look look = look_at(file, place, element);
        if (look == Look::cut)
            return kEndMissing;
        if (look == Look::wrong || looked == kMostElements || (element.open && element.id != kCluster))
            return 0;
        place = element.open ? element.begin : element.end();
    }
    return place;
}

/// Tags of 11 bytes, their data, and their length again.
std::uint64_t flv(Bytes& file) {
    const std::uint64_t bytes = file.size();
    std::array<std::uint8_t, 11> head{};
    if (!file.at(0, head.data(), 9))
        return 0;
    std::uint64_t place = big_endian(head.data() + 5, 4) + 4;
    for (int looked = 0; place < bytes; ++looked) {
        if (looked == kMostElements)
            return 0;
        if (!file.at(place, head.data(), head.size()))
            return kEndMissing;
        const int type = head[0] & 0x1f;
        if (type != 8 && type != 9 && type != 18)
            return 0;
        place += head.size() + big_endian(head.data() + 1, 3) + 4;
    }
    return place;
}

/// Pages (RFC 3533); each stream marks its last page.
std::uint64_t ogg(Bytes& file) {
    constexpr std::size_t kMostStreams = 1000; // concurrent streams
    const std::uint64_t bytes = file.size();
    std::set<std::uint64_t> open;
    std::uint64_t place = 0;
    for (int looked = 0; place < bytes; ++looked) {
        if (looked == kMostElements || open.size() > kMostStreams)
            return 0;
        std::array<std::uint8_t, 27> head{};
        std::array<std::uint8_t, 255> parts{};
        if (!file.at(place, head.data(), head.size()) ||
            !file.at(place + head.size(), parts.data(), head[26]))
            return kEndMissing;
        if (tag(head.data()) != "OggS")
            return 0;
        // byte order is irrelevant: only an identifier
        const std::uint64_t serial = big_endian(head.data() + 14, 4);
        if ((head[5] & 4) != 0) // last page
            open.erase(serial);
        else
            open.insert(serial);
        place += head.size() + head[26] +
                 std::accumulate(parts.begin(), parts.begin() + head[26], std::uint64_t{0});
    }
    return place > bytes || open.empty() ? place : kEndMissing;
}

std::uint64_t little_endian(const std::uint8_t* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

constexpr std::array<std::uint8_t, 4> kAsf = {0x30, 0x26, 0xb2, 0x75};

/// The file properties contain its length, except for broadcasts.
std::uint64_t asf(Bytes& file) {
    constexpr std::array<std::uint8_t, 4> kProperties = {0xa1, 0xdc, 0xab, 0x8c};
    std::uint64_t place = 30;
    std::array<std::uint8_t, 92> object{};
    for (int i = 0; i < 64 && file.at(place, object.data(), object.size()); ++i) {
        const std::uint64_t size = little_endian(object.data() + 16, 8);
        if (std::equal(kProperties.begin(), kProperties.end(), object.begin()))
            return (object[88] & 1) != 0 ? 0 : little_endian(object.data() + 40, 8);
        if (size < 24)
            break;
        place = sum(place, size);
    }
    return 0;
}

/// Packets of 188 bytes, or of 192 with a time before each.
std::uint64_t transport_stream(Bytes& file, std::uint64_t packet) {
    return file.size() % packet == 0 ? file.size() : kEndMissing;
}

/// A line with the size, and frames with a line each.
std::uint64_t yuv4mpeg(Bytes& file) {
    const std::uint64_t bytes = file.size();
    std::string text(std::min<std::uint64_t>(bytes, 512), '\0');
    if (!file.at(0, reinterpret_cast<std::uint8_t*>(text.data()), text.size()))
        return 0;
    const std::size_t line = text.find('\n');
    std::istringstream words(text.substr(0, std::min(line, text.size())));
    std::uint64_t width = 0, height = 0;
    std::string format = "420";
    for (std::string word; words >> word;)
        if (word[0] == 'W' || word[0] == 'H')
            (word[0] == 'W' ? width : height) = std::strtoull(word.c_str() + 1, nullptr, 10);
        else if (word[0] == 'C')
            format = word.substr(1);
    if (line == std::string::npos || width == 0 || height == 0 || width > 65536 || height > 65536)
        return 0;
    const std::uint64_t half = (width + 1) / 2, all = width * height;
    std::uint64_t frame = all; // mono
    if (format.starts_with("420"))
        frame = all + 2 * half * ((height + 1) / 2);
    else if (format.starts_with("422"))
        frame = all + 2 * half * height;
    else if (format.starts_with("411"))
        frame = all + 2 * ((width + 3) / 4) * height;
    else if (format.starts_with("444"))
        frame = all * (format == "444alpha" ? 4 : 3);
    else if (!format.starts_with("mono"))
        return 0;
    if (format.find("p1") != std::string::npos || format.starts_with("mono1")) // 9 bits and more: two bytes
        frame *= 2;
    constexpr std::string_view kFrame = "FRAME\n"; // with parameters, which are unusual, the size is unknown
    if (text.compare(line + 1, kFrame.size(), kFrame) != 0)
        return 0;
    const std::uint64_t rest = bytes - line - 1, step = kFrame.size() + frame;
    return line + 1 + (rest + step - 1) / step * step;
}

/// JPEG images, or multipart data with some: ends with an image, a boundary, or a line end after these.
std::uint64_t pictures(Bytes& file) {
    constexpr std::uint64_t kPart = std::uint64_t{1} << 16;
    const auto padding = [](std::uint8_t byte) { return byte == 0 || byte == '\r' || byte == '\n'; };
    std::vector<std::uint8_t> part;
    std::uint64_t end = file.size(); // after the last byte that is not padding
    while (end > 0 && (part.empty() || padding(part.back()))) {
        const std::uint64_t begin = end - std::min(end, kPart);
        part.resize(end - begin);
        if (!file.at(begin, part.data(), part.size()))
            return 0;
        while (!part.empty() && padding(part.back()))
            part.pop_back();
        end = begin + part.size();
    }
    std::array<std::uint8_t, 2> last{};
    if (end < last.size() || !file.at(end - last.size(), last.data(), last.size()))
        return kEndMissing;
    const bool whole = (last[0] == 0xff && last[1] == 0xd9) || (last[0] == '-' && last[1] == '-');
    return whole ? file.size() : kEndMissing;
}

/// The EBML header, then the segment.
std::uint64_t matroska(Bytes& file) {
    std::uint64_t place = 0;
    for (int part = 0; part < 2; ++part) {
        Element element;
        const Look look = look_at(file, place, element);
        if (look == Look::cut)
            return place;
        if (look == Look::wrong)
            return 0;
        if (element.open)
            return open_segment(file, element.begin);
        place = element.end();
    }
    return place;
}

std::string payload(Bytes& file, const Element& element) {
    constexpr std::uint64_t kMost = std::uint64_t{64} << 20; // larger ones are damaged
    if (element.size == 0 || element.size > std::min(kMost, file.size()))
        return {};
    std::string text(element.size, '\0');
    return file.at(element.begin, reinterpret_cast<std::uint8_t*>(text.data()), text.size()) ? text : "";
}

std::uint64_t number(Bytes& file, const Element& element) {
    std::array<std::uint8_t, 8> bytes{};
    const bool fits = element.size <= bytes.size() && file.at(element.begin, bytes.data(), element.size);
    return fits ? big_endian(bytes.data(), static_cast<int>(element.size)) : 0;
}

/// Position of the element in a segment's table of contents; 0: missing.
std::uint64_t seek_position(Bytes& file, const Element& table, std::uint64_t id) {
    int left = 1000; // entries and their fields; our files have about ten
    for (std::uint64_t place = table.begin; place < table.end();) {
        const std::optional<Element> seek = element_at(file, place);
        if (!seek || --left < 0)
            return 0;
        place = seek->end();
        std::uint64_t found = 0, position = 0;
        for (std::uint64_t at = seek->begin; seek->id == kSeek && at < seek->end();) {
            const std::optional<Element> field = element_at(file, at);
            if (!field || --left < 0)
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
    constexpr int kLooked = 16; // elements before the first frames
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

bool fragmented_mp4(const std::string& path) {
    Bytes file(path);
    std::array<std::uint8_t, 8> head{};
    bool fragmented = false;
    if (file.at(0, head.data(), head.size()) && tag(head.data() + 4) == "ftyp")
        iso(file, fragmented);
    return fragmented;
}

namespace {

/// An ISO/IEC 14496-12 box with its payload from `begin` to `end`.
struct IsoBox {
    std::string type;
    std::uint64_t begin = 0, end = 0;
};

/// Well-formed boxes between two places.
std::vector<IsoBox> boxes(Bytes& file, std::uint64_t place, std::uint64_t end) {
    std::vector<IsoBox> found;
    std::array<std::uint8_t, 16> head{};
    while (place < end && static_cast<int>(found.size()) < kMaxParts && file.at(place, head.data(), 8)) {
        std::uint64_t size = big_endian(head.data(), 4), used = 8;
        if (size == 1) {
            if (!file.at(place, head.data(), 16))
                break;
            size = big_endian(head.data() + 8, 8);
            used = 16;
        }
        if (size == 0)
            size = end - place;
        if (size < used || size > end - place)
            break;
        found.push_back({std::string(tag(head.data() + 4)), place + used, place + size});
        place += size;
    }
    return found;
}

std::optional<IsoBox> box_in(Bytes& file, const IsoBox& outer, std::string_view type) {
    for (const IsoBox& box : boxes(file, outer.begin, outer.end))
        if (box.type == type)
            return box;
    return std::nullopt;
}

/// Ticks per second and length in ticks, from a box mvhd or mdhd.
struct IsoClock {
    std::uint64_t ticks = 0, length = 0;
};
IsoClock clock_of(Bytes& file, const std::optional<IsoBox>& box) {
    std::array<std::uint8_t, 32> head{};
    if (!box || !file.at(box->begin, head.data(), head.size()) || box->end - box->begin < 20)
        return {};
    return head[0] == 1 ? IsoClock{big_endian(head.data() + 20, 4), big_endian(head.data() + 24, 8)}
                        : IsoClock{big_endian(head.data() + 12, 4), big_endian(head.data() + 16, 4)};
}

/// The only edit of a list (after an empty one, which is a delay), if it ends with the media.
std::optional<EditDuration> whole_edit(Bytes& file, const IsoBox& list, const IsoClock& film,
                                       const IsoClock& media) {
    std::array<std::uint8_t, 8> head{};
    if (!file.at(list.begin, head.data(), head.size()))
        return std::nullopt;
    const int bytes = head[0] == 1 ? 8 : 4;
    const std::uint64_t entries = big_endian(head.data() + 4, 4);
    const std::uint64_t entry = 2 * static_cast<std::uint64_t>(bytes) + 4;
    if (entries == 0 || entries > 2 || list.end - list.begin < 8 + entries * entry)
        return std::nullopt;
    std::array<std::uint8_t, 16> edit{};
    const auto read = [&](std::uint64_t i) {
        return file.at(list.begin + 8 + i * entry, edit.data(), 2 * static_cast<std::size_t>(bytes));
    };
    const std::uint64_t empty = bytes == 8 ? ~std::uint64_t{0} : 0xffffffff;
    if (entries == 2 && (!read(0) || big_endian(edit.data() + bytes, bytes) != empty))
        return std::nullopt;
    if (!read(entries - 1))
        return std::nullopt;
    const std::uint64_t begin = big_endian(edit.data() + bytes, bytes);
    const double end = static_cast<double>(begin) / static_cast<double>(media.ticks) +
                       static_cast<double>(big_endian(edit.data(), bytes)) / static_cast<double>(film.ticks);
    constexpr double kRounding = 2e-3; // s
    if (begin == empty ||
        end + kRounding < static_cast<double>(media.length) / static_cast<double>(media.ticks))
        return std::nullopt;
    return EditDuration{list.begin + 8 + (entries - 1) * entry, bytes};
}

} // namespace

std::vector<EditDuration> whole_edits(const std::string& path) {
    Bytes file(path);
    std::vector<EditDuration> found;
    const std::optional<IsoBox> index = box_in(file, {"", 0, file.size()}, "moov");
    if (!index || fragmented_mp4(path))
        return found;
    const IsoClock film = clock_of(file, box_in(file, *index, "mvhd"));
    for (const IsoBox& track : boxes(file, index->begin, index->end)) {
        const auto media = track.type == "trak" ? box_in(file, track, "mdia") : std::nullopt;
        const auto edits = media ? box_in(file, track, "edts") : std::nullopt;
        const auto list = edits ? box_in(file, *edits, "elst") : std::nullopt;
        const IsoClock clock = list ? clock_of(file, box_in(file, *media, "mdhd")) : IsoClock{};
        if (film.ticks == 0 || clock.ticks == 0)
            continue;
        if (const auto edit = whole_edit(file, *list, film, clock))
            found.push_back(*edit);
    }
    return found;
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
    if (bool fragmented = false; tag(head.data() + 4) == "ftyp")
        return iso(file, fragmented);
    if (tag(head.data()).substr(0, 3) == "FLV")
        return flv(file);
    if (tag(head.data()) == "OggS")
        return ogg(file);
    if (std::equal(kAsf.begin(), kAsf.end(), head.begin()))
        return asf(file);
    if (tag(head.data()) == "YUV4")
        return yuv4mpeg(file);
    if (big_endian(head.data(), 3) == 0xffd8ff || tag(head.data()).substr(0, 2) == "--" ||
        tag(head.data()) == "\r\n--")
        return pictures(file);
    std::uint8_t sync = 0;
    for (const std::uint64_t packet : {188U, 192U})
        if (head[packet - 188] == 0x47 && file.at(2 * packet - 188, &sync, 1) && sync == 0x47)
            return transport_stream(file, packet);
    return 0;
}

} // namespace specklescope
