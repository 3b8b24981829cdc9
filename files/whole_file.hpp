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
    /// Leaves the descriptor to another owner.
    int release() noexcept { return std::exchange(fd_, -1); }
    /// Whether the file still has a name: nobody removed it, or its folder.
    bool has_name() const;
    std::uint64_t bytes() const;
    /// False when the last bytes could not be stored (a network file system says so only here).
    bool close() noexcept;
    /// Writes all of it, the parts one after another, or returns the error number; 0: written. The parts are
    /// used up.
    int write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
    int write_at(std::uint64_t offset, std::vector<iovec>& parts) const;

private:
    int fd_ = -1;
};

inline constexpr int kMaxNumber = 100000; ///< of names: less than this
/// "flow.tiff" for 0, "flow-1.tiff" for 1, … Where the name of a file, or of one beside it whose name has so
/// many bytes more, would become longer than names may be, it lacks the end of "flow".
std::string numbered(const std::string& path, int number, std::size_t beside = 0);
/// Its first bytes, at most so many, without a part of a code point (UTF-8).
std::string utf8_prefix(std::string text, std::size_t most);
/// Throws RunError where the name, one beside it with so many bytes more, or what numbered() makes of them,
/// is longer than its folder allows: nobody wants to learn that in the middle of a recording.
void check_length(const std::string& path, std::size_t beside = 0);
/// Creates `wanted`, or the first numbered name from `first` on that is free, and leaves the name in `path`.
/// Two that ask at once get two names. Throws RunError naming the reason.
File create_new(const std::string& wanted, std::string& path, int first = 0);
/// A file, and beside it one that `suffix` stands behind its name.
struct FilePair {
    File file, beside;
    std::string path, beside_path;
};
/// Both under the first number from `first` on that is free for both; else as create_new().
FilePair create_pair(const std::string& wanted, const std::string& suffix, int first = 0);
/// A new file in the folder of `wanted` that has no name, so that nobody else can open, replace or plant it;
/// where the file system knows no such files it has a random hidden one. It is gone with its owner unless
/// publish() or replace() gave it its name, and an unnamed one also if the process is killed. The folder is
/// looked up once, in the beginning.
class UnnamedFile {
public:
    enum class Way : std::uint8_t { unnamed, hidden };
    /// Where it cannot be made error() says why. `way` hidden: as where files must have names.
    explicit UnnamedFile(const std::string& wanted, Way way = Way::unnamed);
    UnnamedFile(const UnnamedFile&) = delete;
    UnnamedFile& operator=(const UnnamedFile&) = delete;
    ~UnnamedFile();

    int error() const { return error_; } ///< an error number, or 0
    const File& file() const { return file_; }
    /// Another descriptor of the same file. Throws RunError.
    File again() const;
    /// Gives the file its name, or the first numbered one that is free; never replaces a file. Returns the
    /// name. Throws RunError.
    std::string publish();
    /// Gives the file its name, in place of the file or link that has it, when its bytes are on the storage.
    /// Returns 0 or an error number; then what had the name has it still.
    int replace();

private:
    void make_hidden();
    /// 0, or EEXIST where something has that name, or another error number.
    int link_as(const std::string& name);

    std::string wanted_;
    std::string hidden_; ///< in the folder; empty: none
    File folder_, file_;
    int error_ = 0;
};
/// Throws RunError where it cannot be made.
void check_made(const UnnamedFile& file, const std::string& wanted);

/// "." for a name without one.
std::string folder_of(const std::string& path);

} // namespace specklescope
