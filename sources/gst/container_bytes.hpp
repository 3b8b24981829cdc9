// Random access to small parts of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace specklescope {

/// The file as of its opening. Sequential reads use a buffer that grows, others a small one. All system calls
/// except the first few report progress (base/long_work.hpp).
class ContainerBytes {
public:
    static constexpr int kUnsaid = 4; ///< first calls, too short to be cancelled
    static constexpr std::size_t kSmallest = std::size_t{1} << 12, kLargest = std::size_t{1} << 18;

    /// A file that cannot be opened, a pipe or a device is treated as empty.
    explicit ContainerBytes(const std::string& path);
    ContainerBytes(const ContainerBytes&) = delete;
    ContainerBytes& operator=(const ContainerBytes&) = delete;
    ~ContainerBytes();

    /// Copies `count` bytes from a place; false if they are not all there. Throws only Cancelled.
    bool at(std::uint64_t place, std::uint8_t* to, std::size_t count) {
        if (count == 0)
            return place <= size_;
        if (place >= begin_ && count <= held_ && place - begin_ <= held_ - count) {
            std::memcpy(to, buffer_.data() + (place - begin_), count);
            return true;
        }
        return count <= size_ && place <= size_ - count && read_at(place, to, count);
    }
    /// Copies the available bytes, at most `most`.
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
    std::uint64_t begin_ = 0; ///< place of the buffer's first byte
    std::size_t held_ = 0, step_ = kSmallest;
    int asked_ = 0;
};

} // namespace specklescope
