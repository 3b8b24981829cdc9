// Atomic creation of files: a file is written under a hidden name and then renamed, so that it appears
// complete or not at all.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
    /// Passes the descriptor to another owner.
    int release() noexcept { return std::exchange(fd_, -1); }
    /// True unless the file or its folder was removed.
    bool has_name() const;
    std::uint64_t bytes() const;
    /// False if the last bytes could not be stored (a network file system reports it only here).
    bool close() noexcept;
    /// Writes all parts in order. Returns 0 or the error number. The parts are used up.
    int write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
    int write_at(std::uint64_t offset, std::vector<iovec>& parts) const;

private:
    int fd_ = -1;
};

inline constexpr int kMaxNumber = 100000; ///< limit of numbered names
/// "flow.tiff" for 0, "flow-1.tiff" for 1, … Shortens "flow" if the name, or that of a companion file with
/// `beside` more bytes, would be too long.
std::string numbered(const std::string& path, int number, std::size_t beside = 0);
/// First bytes of the text, at most `most`, without a partial code point (UTF-8).
std::string utf8_prefix(std::string text, std::size_t most);
/// Throws RunError if the name, one with `beside` more bytes, or a numbered() name is too long for its
/// folder, so that a recording does not fail later.
void check_length(const std::string& path, std::size_t beside = 0);
/// Creates `wanted`, or the first free numbered name from `first` on, and stores the name in `path`.
/// Concurrent calls get different names. Throws RunError with the reason.
File create_new(const std::string& wanted, std::string& path, int first = 0);
/// A file and a companion, named after it with `suffix`.
struct FilePair {
    File file, beside;
    std::string path, beside_path;
};
/// Creates both under the first number from `first` on that is free for both; otherwise like create_new().
FilePair create_pair(const std::string& wanted, const std::string& suffix, int first = 0);
/// A new file without a name in the folder of `wanted`, so that no other program can open, replace or plant
/// it. File systems without unnamed files get a random hidden name. It is removed with its owner unless
/// publish() or replace() named it; an unnamed one also if the process is killed. The folder is looked up
/// only once, at the start.
class UnnamedFile {
public:
    enum class Way : std::uint8_t { unnamed, hidden };
    /// On failure error() returns the reason. `way` hidden: forces a hidden name.
    explicit UnnamedFile(const std::string& wanted, Way way = Way::unnamed);
    UnnamedFile(const UnnamedFile&) = delete;
    UnnamedFile& operator=(const UnnamedFile&) = delete;
    ~UnnamedFile();

    int error() const { return error_; } ///< an error number, or 0
    const File& file() const { return file_; }
    /// Another descriptor of the same file. Throws RunError.
    File again() const;
    /// Gives the file its name, or the first free numbered name; never replaces a file. Returns the name.
    /// Throws RunError.
    std::string publish();
    /// Gives the file its name, replacing a file or link with that name, after its bytes are stored. Returns
    /// 0 or an error number; the old file is then unchanged.
    int replace();

private:
    void make_hidden();
    /// 0, EEXIST if the name is taken, or another error number.
    int link_as(const std::string& name);

    std::string wanted_;
    std::string hidden_; ///< in the folder; empty: none
    File folder_, file_;
    int error_ = 0;
};
/// Throws RunError if it could not be created.
void check_made(const UnnamedFile& file, const std::string& wanted);

/// "." for a name without a folder.
std::string folder_of(const std::string& path);

struct ReplaceableKind {
    std::string_view what;                ///< "statistics"
    std::string_view option;              ///< "--stats"
    bool (*holds)(std::string_view text); ///< given the first 4 MiB: true if it is such a file
};

/// Throws RunError unless the path is free, an empty file or one of this kind.
void refuse_other_kind(const std::string& path, const ReplaceableKind& kind);

} // namespace specklescope
