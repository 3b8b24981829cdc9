#include "sources/files/raw_stream.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace specklescope {

void RawStream::open(const std::string& path) {
    close();
    path_ = path;
    file_ = open_input(path, Pipes::taken);
    regular_ = std::filesystem::is_regular_file(path);
}

void RawStream::close() {
    file_.reset();
    begun_.clear();
    regular_ = false;
}

int RawStream::descriptor() const { return ::fileno(file_.get()); }

std::uint64_t RawStream::size() const {
    struct stat now {};
    return regular_ && file_ && ::fstat(descriptor(), &now) == 0 ? static_cast<std::uint64_t>(now.st_size)
                                                                 : 0;
}

bool RawStream::go_to(std::uint64_t byte) {
    begun_.clear();
    return ::lseek(descriptor(), static_cast<off_t>(byte), SEEK_SET) >= 0;
}

/// True if data or the end arrive before this time. Throws Cancelled.
bool RawStream::comes_before(SteadyClock::time_point end) const {
    constexpr std::chrono::milliseconds kLook(50);
    if (regular_)
        return true;
    work_goes_on("waiting for the rest of what comes out of the pipe '" + path_ + "'");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now());
    pollfd writer{descriptor(), POLLIN, 0};
    return left.count() > 0 && ::poll(&writer, 1, static_cast<int>(std::min(left, kLook).count())) > 0;
}

/// Reads the available bytes, at most `most`; 0 at the end.
std::size_t RawStream::read_some(std::byte* to, std::size_t most) const {
    ssize_t got = 0;
    do
        got = ::read(descriptor(), to, most);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        throw RunError("'" + path_ + "' cannot be read: " + std::strerror(errno) +
                       "."); // NOLINT(concurrency-mt-unsafe)
    return static_cast<std::size_t>(got);
}

void RawStream::skip_header(std::size_t bytes) {
    std::array<std::byte, 4096> scratch{};
    while (bytes > 0) {
        if (!comes_before(SteadyClock::time_point::max()))
            continue;
        const std::size_t got = read_some(scratch.data(), std::min(bytes, scratch.size()));
        if (got == 0)
            throw RunError("'" + path_ + "' ends within its header.");
        bytes -= got;
    }
}

std::optional<std::size_t> RawStream::read(std::span<std::byte> to) {
    constexpr std::chrono::milliseconds kPatience(100); // like Source::next()
    const auto end = SteadyClock::now() + kPatience;
    std::copy(begun_.begin(), begun_.end(), to.begin());
    std::size_t total = begun_.size();
    while (total < to.size()) {
        if (!comes_before(end)) {
            if (SteadyClock::now() < end)
                continue;
            begun_.assign(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(total));
            return std::nullopt;
        }
        const std::size_t got = read_some(to.data() + total, to.size() - total);
        if (got == 0)
            break;
        total += got;
    }
    begun_.clear();
    return total;
}

std::optional<std::size_t> RawStream::read(HostView view) {
    // Reads everything to the beginning of the slot, then moves each row to its place, the last one first:
    // faster than a call per row.
    const std::size_t row = view.shape.row_bytes();
    const std::optional<std::size_t> total = read(std::span(view.data, view.shape.bytes()));
    if (total)
        for (int y = view.shape.height - 1; y > 0 && view.pitch != row; --y)
            std::memmove(view.row(y), view.data + static_cast<std::size_t>(y) * row, row);
    return total;
}

} // namespace specklescope
