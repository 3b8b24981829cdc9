#include "recording/video/whole_film.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

namespace {

/// What is there of it.
std::size_t read_at(const File& file, std::uint64_t place, void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            ::pread(file.fd(), static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(place + done));
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    return done;
}

std::uint64_t big_endian(const void* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
        value = value << 8 | static_cast<const unsigned char*>(bytes)[i];
    return value;
}

/// One of Matroska's elements: an ID, a size with a length marker in the first byte, a payload.
struct Element {
    std::uint64_t id = 0, begin = 0, size = 0; ///< of the payload
    bool open = false;                         ///< it is still being written
};

bool element_at(const File& file, std::uint64_t place, Element& element) {
    std::array<unsigned char, 12> head{};
    const auto there = static_cast<int>(read_at(file, place, head.data(), head.size()));
    const int id = std::countl_zero(head[0]) + 1; // bytes of it
    if (id > 4 || there <= id)
        return false;
    const int size = std::countl_zero(head[static_cast<std::size_t>(id)]) + 1;
    if (size > 8 || there < id + size)
        return false;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * size)) - 1;
    element.id = big_endian(head.data(), id);
    element.size = big_endian(head.data() + id, size) & mask;
    element.open = element.size == mask;
    element.begin = place + static_cast<std::uint64_t>(id + size);
    return true;
}

constexpr std::string_view kMoov = "moov";

/// A box of MP4: its size and its type, the payload.
struct Box {
    std::uint64_t begin = 0, end = 0; ///< of the payload
    std::string type;
};

/// False where it is not there to its end.
bool box_at(const File& file, std::uint64_t place, std::uint64_t bytes, Box& box) {
    std::array<char, 16> head{};
    const std::size_t there = read_at(file, place, head.data(), head.size());
    std::uint64_t size = big_endian(head.data(), 4), used = 8;
    if (size == 1) {
        size = big_endian(head.data() + 8, 8);
        used = 16;
    }
    if (there < used || size < used || size > bytes - place) // 0: it is still being written
        return false;
    box = {place + used, place + size, std::string(head.data() + 4, 4)};
    return true;
}

/// Boxes of this type within others, each the payload.
std::vector<std::string_view> boxes_in(std::string_view payload, std::string_view type) {
    std::vector<std::string_view> found;
    while (payload.size() >= 8) {
        const std::uint64_t size = big_endian(payload.data(), 4);
        if (size < 8 || size > payload.size())
            break;
        if (payload.substr(4, 4) == type)
            found.push_back(payload.substr(8, static_cast<std::size_t>(size) - 8));
        payload.remove_prefix(static_cast<std::size_t>(size));
    }
    return found;
}

std::string_view box_in(std::string_view payload, std::initializer_list<std::string_view> path) {
    for (const std::string_view type : path) {
        const std::vector<std::string_view> found = boxes_in(payload, type);
        if (found.empty())
            return {};
        payload = found.front();
    }
    return payload;
}

std::uint64_t samples_of_moov(std::string_view moov) {
    const std::string_view sizes = box_in(moov, {"trak", "mdia", "minf", "stbl", "stsz"});
    return sizes.size() >= 12 ? big_endian(sizes.data() + 8, 4) : 0;
}

struct Run {
    std::uint64_t samples = 0, end = 0; ///< where the bytes of the last one end
};

/// A track run, as its flags say what is in it; `base`: where its data is counted from.
Run run_of(std::string_view trun, std::uint64_t base) {
    constexpr std::uint64_t kOffset = 1, kFirstFlags = 4, kDuration = 0x100, kSize = 0x200, kEach = 0xf00;
    if (trun.size() < 8)
        return {};
    const std::uint64_t flags = big_endian(trun.data() + 1, 3);
    Run run{big_endian(trun.data() + 4, 4), base};
    std::size_t at = 8;
    if ((flags & kOffset) != 0 && trun.size() >= at + 4) {
        run.end += static_cast<std::uint64_t>(
            static_cast<std::int64_t>(static_cast<std::int32_t>(big_endian(trun.data() + at, 4))));
        at += 4;
    }
    at += (flags & kFirstFlags) != 0 ? 4 : 0;
    const std::size_t each = 4 * static_cast<std::size_t>(std::popcount(flags & kEach));
    const std::size_t size = (flags & kDuration) != 0 ? 4 : 0;
    if ((flags & kSize) != 0)
        for (std::uint64_t i = 0; i < run.samples && trun.size() >= at + each; ++i, at += each)
            run.end += big_endian(trun.data() + at + size, 4);
    return run;
}

/// Of a fragment that begins at `place`.
Run run_of_moof(std::string_view moof, std::uint64_t place) {
    const std::string_view traf = box_in(moof, {"traf"}), head = box_in(traf, {"tfhd"});
    constexpr std::uint64_t kBaseIsSaid = 1;
    const bool said = head.size() >= 16 && (big_endian(head.data() + 1, 3) & kBaseIsSaid) != 0;
    std::uint64_t end = said ? big_endian(head.data() + 8, 8) : place;
    Run all{0, end};
    for (const std::string_view trun : boxes_in(traf, "trun")) {
        const Run run = run_of(trun, end);
        all.samples += run.samples;
        all.end = std::max(all.end, run.end);
    }
    return all;
}

std::string to_big_endian(std::uint64_t value, int count) {
    std::string bytes;
    for (int i = count - 1; i >= 0; --i)
        bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
}

/// Of all samples: how many there are of each duration.
std::uint64_t ticks_of(std::string_view stts) {
    std::uint64_t ticks = 0;
    for (std::size_t at = 8; at + 8 <= stts.size(); at += 8)
        ticks += big_endian(stts.data() + at, 4) * big_endian(stts.data() + at + 4, 4);
    return ticks;
}

constexpr std::size_t kMdhd = 24; ///< bytes of a media header (mdhd) with 32 bits

/// The same with 64, as a box.
std::string wide_mdhd(std::string_view head, std::uint64_t ticks) {
    const std::string zero(4, '\0');
    std::string wide = "mdhd" + to_big_endian(1, 1); // version
    wide += head.substr(1, 3);
    for (const std::size_t time : {4, 8}) // of creation, of modification
        (wide += zero) += head.substr(time, 4);
    wide += head.substr(12, 4); // ticks a second
    (wide += to_big_endian(ticks, 8)) += head.substr(20);
    return to_big_endian(wide.size() + 4, 4) + wide;
}

/// The last index that is not within another box, with its head.
struct Mp4Index {
    std::uint64_t place = 0;
    std::string bytes; ///< empty: the file has no index
};

Mp4Index index_of(const File& file) {
    const std::uint64_t bytes = file.bytes();
    std::uint64_t place = 0, end = 0;
    Box box;
    for (std::uint64_t next = 0; box_at(file, next, bytes, box); next = box.end)
        if (box.type == kMoov && box.begin == next + 8) {
            place = next;
            end = box.end;
        }
    Mp4Index index{place, std::string(static_cast<std::size_t>(end - place), '\0')};
    if (end == 0 || read_at(file, place, index.bytes.data(), index.bytes.size()) < index.bytes.size())
        index.bytes.clear();
    return index;
}

} // namespace

int describe_mp4(const File& file, const std::string& totals) {
    constexpr std::string_view kBegin = "{\"finished\": ";
    const Mp4Index index = index_of(file);
    const std::size_t at = index.bytes.find(kBegin);
    return at == std::string::npos ? 0 : file.write_at(index.place + at + 1, totals.data(), totals.size());
}

int widen_mp4(const File& file) {
    Mp4Index index = index_of(file);
    const std::uint64_t place = index.place;
    std::string& moov = index.bytes;
    if (moov.empty())
        return 0;
    const std::string_view payload = std::string_view(moov).substr(8), track = box_in(payload, {"trak"}),
                           media = box_in(track, {"mdia"}), head = box_in(media, {"mdhd"});
    const std::uint64_t ticks = ticks_of(box_in(media, {"minf", "stbl", "stts"}));
    if (head.size() != kMdhd || ticks <= UINT32_MAX)
        return 0;
    const auto at = [&moov](std::string_view part) {
        return static_cast<std::size_t>(part.data() - moov.data());
    };
    const std::size_t from = at(head), sizes[] = {0, at(track) - 8, at(media) - 8};
    const std::string wide = wide_mdhd(head, ticks);
    const std::size_t more = wide.size() - kMdhd - 8;
    for (const std::size_t size : sizes)
        moov.replace(size, 4, to_big_endian(big_endian(moov.data() + size, 4) + more, 4));
    moov.replace(from - 8, kMdhd + 8, wide);
    constexpr std::string_view kNothing = "free";
    const std::uint64_t bytes = file.bytes();
    int error = file.write_at(bytes, moov.data(), moov.size());
    if (error == 0)
        error = file.write_at(place + 4, kNothing.data(), kNothing.size());
    if (error == 0)
        return 0;
    const std::string unknown = to_big_endian(UINT32_MAX, 4);
    (void)file.write_at(place + from + 16, unknown.data(), unknown.size());
    return ::ftruncate(file.fd(), static_cast<off_t>(bytes)) == 0 ? error : errno;
}

WholeFilm whole_matroska(const File& file) {
    constexpr std::uint64_t kSegment = 0x18538067, kCluster = 0x1f43b675, kBlock = 0xa3, kBlockGroup = 0xa0;
    WholeFilm film;
    const std::uint64_t bytes = file.bytes();
    Element element;
    for (std::uint64_t place = 0; element_at(file, place, element);) {
        if (element.id == kSegment || element.id == kCluster) { // what is in them counts, and follows
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
    Box box;
    for (std::uint64_t place = 0; box_at(file, place, bytes, box); place = box.end) {
        if (box.type != kMoov && box.type != "moof")
            continue;
        std::string payload(static_cast<std::size_t>(box.end - box.begin), '\0');
        if (read_at(file, box.begin, payload.data(), payload.size()) < payload.size())
            break;
        const Run run = box.type == kMoov ? Run{samples_of_moov(payload), 0} : run_of_moof(payload, place);
        if (run.end > bytes)
            break;
        film.frames += run.samples;
        film.bytes = std::max(box.end, run.end);
    }
    return film;
}

void Mp4Head::look(const File& file) {
    if (index_ > 0)
        return;
    const std::uint64_t bytes = file.bytes();
    Box box, index;
    for (std::uint64_t place = 0; place < head_.size() && box.type != "mdat"; place = box.end)
        if (!box_at(file, place, bytes, box))
            return;
    if (box.type == "mdat" && box.begin <= head_.size() && box_at(file, box.end, bytes, index) &&
        index.type == kMoov && read_at(file, 0, head_.data(), head_.size()) == head_.size())
        index_ = box.end;
}

/// In place of what is there: takes no room.
void Mp4Head::put_back(const File& file) const {
    if (index_ == 0)
        return;
    (void)file.write_at(0, head_.data(), head_.size());
    (void)file.write_at(index_ + 4, kMoov.data(), kMoov.size()); // behind its size
}

} // namespace specklescope
