#include "files/whole_file.hpp"

#include "pipeline/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace specklescope {

namespace fs = std::filesystem;

namespace {
constexpr int kMaxNumber = 100000;
constexpr int kMode = 0666; ///< what the umask leaves of it

std::string reason(int error) { return std::generic_category().message(error); }
} // namespace

std::string folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

File::~File() { close(); }

bool File::close() noexcept { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

int File::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
    std::vector<iovec> parts{{const_cast<void*>(data), bytes}}; // NOLINT: iovec serves reading and writing
    return write_at(offset, parts);
}

int File::write_at(std::uint64_t offset, std::vector<iovec>& parts) const {
    iovec* part = parts.data();
    iovec* const last = part + parts.size();
    while (part != last) {
        const auto count = static_cast<int>(std::min<std::ptrdiff_t>(last - part, IOV_MAX));
        const ssize_t done = ::pwritev(fd_, part, count, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        offset += static_cast<std::uint64_t>(done);
        auto left = static_cast<std::size_t>(done);
        while (part != last && left >= part->iov_len)
            left -= part++->iov_len;
        if (left > 0) {
            part->iov_base = static_cast<std::byte*>(part->iov_base) + left;
            part->iov_len -= left;
        }
    }
    return 0;
}

std::string numbered(const std::string& path, int number) {
    if (number == 0)
        return path;
    const fs::path whole(path);
    return (whole.parent_path() /
            (whole.stem().string() + "-" + std::to_string(number) + whole.extension().string()))
        .string();
}

File create_new(const std::string& wanted, std::string& path) {
    for (int number = 0; number < kMaxNumber; ++number) {
        path = numbered(wanted, number);
        const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode);
        if (fd >= 0)
            return File(fd);
        if (errno != EEXIST)
            throw RunError("Cannot create " + path + ": " + reason(errno) +
                           "; record into a folder that can be written.");
    }
    throw RunError("All names from " + wanted + " to " + path + " are taken; choose another name.");
}

File try_hidden(const std::string& wanted, std::string& hidden) {
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; attempt < kMaxNumber; ++attempt) {
        const fs::path whole(wanted);
        std::string name(1, '.');
        name += whole.filename().string();
        name.append(".")
            .append(std::to_string(::getpid()))
            .append("-")
            .append(std::to_string(counter++))
            .append(".part");
        hidden = (fs::path(folder_of(wanted)) / name).string();
        const int fd = ::open(hidden.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode);
        if (fd >= 0)
            return File(fd);
        if (errno != EEXIST)
            break;
    }
    return {};
}

File create_hidden(const std::string& wanted, std::string& hidden) {
    File file = try_hidden(wanted, hidden);
    if (file.fd() < 0)
        throw RunError("Cannot write into " + folder_of(wanted) + ": " + reason(errno) +
                       "; choose a folder that can be written.");
    return file;
}

std::string publish(const std::string& hidden, const std::string& wanted) {
    for (int number = 0; number < kMaxNumber; ++number) {
        std::string path = numbered(wanted, number);
        if (::renameat2(AT_FDCWD, hidden.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
            return path;
        // Some file systems know no such rename, but refuse a second link of the same name.
        if ((errno == EINVAL || errno == ENOSYS) && ::link(hidden.c_str(), path.c_str()) == 0) {
            ::unlink(hidden.c_str());
            return path;
        }
        if (errno != EEXIST) {
            const int error = errno;
            ::unlink(hidden.c_str());
            throw RunError("Cannot give " + path + " its name: " + reason(error) + ".");
        }
    }
    ::unlink(hidden.c_str());
    throw RunError("All numbers of " + wanted + " are taken; choose another name.");
}

bool replace(const std::string& hidden, const std::string& wanted) {
    return std::rename(hidden.c_str(), wanted.c_str()) == 0;
}

} // namespace specklescope
