#include "recording/video/whole_film.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string_view>

namespace specklescope {

namespace {

/// The bytes that the file has there, `bytes` at most.
std::string read_at(const File& file, std::uint64_t place, std::size_t bytes) {
    std::string read(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            ::pread(file.fd(), read.data() + done, bytes - done, static_cast<off_t>(place + done));
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    read.resize(done);
    return read;
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes)
        value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

/// An element of Matroska: an ID, a size with a length marker in its first byte, a payload.
struct Element {
    std::uint64_t id = 0, begin = 0, size = 0; ///< of the payload
    bool open = false;                         ///< the size is not known yet
};

bool element_at(const File& file, std::uint64_t place, Element& element) {
    const std::string head = read_at(file, place, 12);
    const auto length_at = [&](std::size_t at) {
        return at < head.size()
                   ? static_cast<std::size_t>(std::countl_zero(static_cast<unsigned char>(head[at]))) + 1
                   : head.size() + 1;
    };
    const std::size_t id = length_at(0), size = length_at(id);
    if (id > 4 || size > 8 || head.size() < id + size)
        return false;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * size)) - 1;
    element.id = big_endian(head.substr(0, id));
    element.size = big_endian(head.substr(id, size)) & mask;
    element.open = element.size == mask;
    element.begin = place + id + size;
    return true;
}

/// A box of MP4: size, type, payload.
struct Box {
    std::uint64_t begin = 0, end = 0; ///< of the payload
    std::string type;
};

/// False if the file does not hold all of it.
bool box_at(const File& file, std::uint64_t place, std::uint64_t bytes, Box& box) {
    const std::string head = read_at(file, place, 16);
    if (head.size() < 8)
        return false;
    const bool wide = big_endian(head.substr(0, 4)) == 1;
    const std::uint64_t used = wide ? 16 : 8, size = big_endian(wide ? head.substr(8) : head.substr(0, 4));
    if (size < used || size > bytes - place) // 0: the size is not known yet
        return false;
    box = {place + used, place + size, head.substr(4, 4)};
    return true;
}

/// Samples of a fragment: GStreamer writes one track with one run or more.
std::uint64_t samples_of(std::string_view moof) {
    std::uint64_t samples = 0;
    const auto walk = [&samples](std::string_view boxes, const auto& self) -> void {
        while (boxes.size() >= 8) {
            const std::uint64_t size = big_endian(boxes.substr(0, 4));
            if (size < 8 || size > boxes.size())
                return;
            const std::string_view type = boxes.substr(4, 4), payload = boxes.substr(8, size - 8);
            if (type == "traf")
                self(payload, self);
            else if (type == "trun" && payload.size() >= 8)
                samples += big_endian(payload.substr(4, 4));
            boxes.remove_prefix(size);
        }
    };
    walk(moof, walk);
    return samples;
}

} // namespace

WholeFilm whole_matroska(const File& file) {
    constexpr std::uint64_t kSegment = 0x18538067, kCluster = 0x1f43b675, kBlock = 0xa3, kBlockGroup = 0xa0;
    WholeFilm film;
    const std::uint64_t bytes = file.bytes();
    Element element;
    for (std::uint64_t place = 0; element_at(file, place, element);) {
        if (element.id == kSegment || element.id == kCluster) { // continue with its content
            place = element.begin;
            continue;
        }
        if (element.open || element.begin > bytes || element.size > bytes - element.begin)
            break;
        place = element.begin + element.size;
        if (element.id == kBlock || element.id == kBlockGroup) {
            ++film.frames;
            film.bytes = place;
        }
    }
    return film;
}

WholeFilm whole_mp4(const File& file) {
    WholeFilm film;
    const std::uint64_t bytes = file.bytes();
    std::uint64_t samples = 0;
    Box box;
    for (std::uint64_t place = 0; box_at(file, place, bytes, box); place = box.end) {
        if (box.type == "moof")
            samples = samples_of(read_at(file, box.begin, box.end - box.begin));
        if (box.type != "mdat" || samples == 0)
            continue;
        film.frames += samples;
        film.bytes = box.end;
        samples = 0;
    }
    return film;
}

int describe_mp4(const File& file, const std::string& totals) {
    const std::uint64_t bytes = file.bytes();
    Box box;
    for (std::uint64_t place = 0; box_at(file, place, bytes, box); place = box.end)
        if (box.type == "moov") {
            const std::size_t at = read_at(file, box.begin, box.end - box.begin).find("{\"finished\": ");
            return at == std::string::npos ? 0
                                           : file.write_at(box.begin + at + 1, totals.data(), totals.size());
        }
    return 0;
}

} // namespace specklescope
