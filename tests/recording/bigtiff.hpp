// A second, independent reader of the program's uncompressed little-endian stacks, classic TIFF or BigTIFF.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace specklescope {

struct TiffPage {
    std::uint64_t width = 0, height = 0, bits = 0, format = 1, samples = 1;
    std::string pixels; ///< rows without padding
};

class BigTiff {
public:
    explicit BigTiff(std::string bytes) : bytes_(std::move(bytes)) {
        if (bytes_.substr(0, 4) == std::string("II\x2a\0", 4))
            word_ = 4;
        else if (bytes_.substr(0, 4) != std::string("II\x2b\0", 4))
            throw std::runtime_error("not a little-endian TIFF");
        for (std::uint64_t at = number(static_cast<std::uint64_t>(word_), word_); at != 0;)
            at = read_page(at);
    }
    bool big() const { return word_ == 8; }
    const std::vector<TiffPage>& pages() const { return pages_; }

private:
    std::uint64_t number(std::uint64_t at, int size) const {
        std::uint64_t value = 0;
        for (int i = size - 1; i >= 0; --i)
            value = value << 8 | static_cast<unsigned char>(bytes_.at(at + static_cast<std::uint64_t>(i)));
        return value;
    }
    static int size_of(std::uint64_t type) {
        return type == 3 ? 2 : type == 4 ? 4 : type == 16 || type == 18 ? 8 : 1;
    }
    std::vector<std::uint64_t> values(std::uint64_t entry) const {
        const int size = size_of(number(entry + 2, 2));
        const std::uint64_t count = number(entry + 4, word_);
        const std::uint64_t bytes = count * static_cast<std::uint64_t>(size);
        const std::uint64_t room = static_cast<std::uint64_t>(word_), value = entry + 4 + room;
        const std::uint64_t at = bytes <= room ? value : number(value, word_);
        std::vector<std::uint64_t> list;
        for (std::uint64_t i = 0; i < count; ++i)
            list.push_back(number(at + i * static_cast<std::uint64_t>(size), size));
        return list;
    }
    std::uint64_t read_page(std::uint64_t at) {
        TiffPage page;
        std::vector<std::uint64_t> offsets, counts;
        const std::uint64_t counted = big() ? 8 : 2, each = big() ? 20 : 12;
        const std::uint64_t entries = number(at, static_cast<int>(counted));
        for (std::uint64_t i = 0; i < entries; ++i) {
            const std::uint64_t entry = at + counted + i * each;
            switch (number(entry, 2)) {
            case 256:
                page.width = values(entry).at(0);
                break;
            case 257:
                page.height = values(entry).at(0);
                break;
            case 258:
                page.bits = values(entry).at(0);
                break;
            case 259:
                if (values(entry).at(0) != 1)
                    throw std::runtime_error("compressed");
                break;
            case 273:
                offsets = values(entry);
                break;
            case 277:
                page.samples = values(entry).at(0);
                break;
            case 279:
                counts = values(entry);
                break;
            case 339:
                page.format = values(entry).at(0);
                break;
            default:
                break;
            }
        }
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (offsets[i] + counts.at(i) > bytes_.size())
                throw std::runtime_error("pixels outside the file");
            page.pixels += bytes_.substr(offsets[i], counts[i]);
        }
        pages_.push_back(std::move(page));
        return number(at + counted + entries * each, word_);
    }

    std::string bytes_;
    int word_ = 8; ///< bytes of an offset
    std::vector<TiffPage> pages_;
};

inline float float_at(const TiffPage& page, std::uint64_t row, std::uint64_t column) {
    float value = 0;
    std::memcpy(&value, page.pixels.data() + (row * page.width + column) * sizeof value, sizeof value);
    return value;
}

} // namespace specklescope
