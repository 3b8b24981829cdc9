// A file appears under its name whole or not at all: it is written under a hidden one, which then becomes it.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int fd) : fd_(fd) {}
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~File();
    int fd() const { return fd_; }
    /// False when the last bytes could not be stored (a network file system says so only here).
    bool close() noexcept;
    /// Writes all of it, the parts one after another, or returns the error number; 0: written. The parts are
    /// used up.
    int write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
    int write_at(std::uint64_t offset, std::vector<iovec>& parts) const;

private:
    int fd_ = -1;
};

/// "flow.tiff" for 0, "flow-1.tiff" for 1, …
std::string numbered(const std::string& path, int number);
/// Creates `wanted`, or the first numbered name that is free, and leaves the name in `path`. Two that ask at
/// once get two names. Throws RunError naming the reason.
File create_new(const std::string& wanted, std::string& path);
/// A file in the folder of `wanted` under a name that nobody looks for, to become `wanted` by publish() or
/// replace(). Throws RunError naming the reason.
File create_hidden(const std::string& wanted, std::string& hidden);
/// The same; where it cannot be made fd() is negative and errno says why.
File try_hidden(const std::string& wanted, std::string& hidden);
/// Gives a hidden file its name, or the first numbered one that is free; never replaces a file. Returns the
/// name.
std::string publish(const std::string& hidden, const std::string& wanted);
/// Gives a hidden file its name, in place of one that has it. False, with errno, where that cannot be; then
/// the hidden file is still there.
bool replace(const std::string& hidden, const std::string& wanted);

/// "." for a name without one.
std::string folder_of(const std::string& path);

} // namespace specklescope
