// A file whose parts are looked at one after another, most of them a few bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace specklescope {

/// As the file was when it was opened. What follows on what was read comes out of one buffer, in ever larger
/// parts; what lies elsewhere is read in a small one. Each asking of the system but the first few is a step
/// of long work (base/long_work.hpp).
class ContainerBytes {
public:
    static constexpr int kUnsaid = 4; ///< askings that are over before anybody could stop them
    static constexpr std::size_t kSmallest = std::size_t{1} << 12, kLargest = std::size_t{1} << 18;

    /// A file that cannot be opened, a pipe or a device is an empty one.
    explicit ContainerBytes(const std::string& path);
    ContainerBytes(const ContainerBytes&) = delete;
    ContainerBytes& operator=(const ContainerBytes&) = delete;
    ~ContainerBytes();

    /// Copies the bytes from a place on; false where they are not all there. Throws Cancelled only.
    bool at(std::uint64_t place, std::uint8_t* to, std::size_t count) {
        if (count == 0)
            return place <= size_;
        if (place >= begin_ && count <= held_ && place - begin_ <= held_ - count) {
            std::memcpy(to, buffer_.data() + (place - begin_), count);
            return true;
        }
        return count <= size_ && place <= size_ - count && read_at(place, to, count);
    }
    /// As many of them as there are.
    std::size_t some(std::uint64_t place, std::uint8_t* to, std::size_t most) {
        const std::size_t count = std::min<std::uint64_t>(most, size_ - std::min(place, size_));
        return at(place, to, count) ? count : 0;
    }
    std::uint64_t size() const { return size_; }

private:
    bool read_at(std::uint64_t place, std::uint8_t* to, std::size_t count);
    bool fill(std::uint64_t place, std::size_t count);
    std::size_t read(std::uint64_t place, std::uint8_t* to, std::size_t count) const;

    std::string work_;
    int file_;
    std::uint64_t size_ = 0;
    std::vector<std::uint8_t> buffer_;
    std::uint64_t begin_ = 0; ///< of what is in the buffer
    std::size_t held_ = 0, step_ = kSmallest;
    int asked_ = 0;
};

} // namespace specklescope
