#include "files/whole_file.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "files/input_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace specklescope {

namespace fs = std::filesystem;

namespace {
constexpr int kMode = 0666; ///< reduced by the umask

std::string reason(int error) { return std::generic_category().message(error); }

/// The reason, with a remedy if the file is not the cause.
std::string reason(int error, const char* remedy) {
    return reason(error) + "; " +
           (is_of_open_files(error) ? kFewerOpenFiles
            : error == ENAMETOOLONG ? "shorten the name"
                                    : remedy) +
           ".";
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

/// Also true for a dangling link.
bool is_taken(const std::string& path) {
    struct stat file {};
    return ::lstat(path.c_str(), &file) == 0;
}
} // namespace

std::string folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

File::~File() { close(); }

bool File::close() noexcept { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

bool File::has_name() const {
    struct stat now {};
    return fd_ >= 0 && ::fstat(fd_, &now) == 0 && now.st_nlink > 0;
}

std::uint64_t File::bytes() const {
    struct stat now {};
    return fd_ >= 0 && ::fstat(fd_, &now) == 0 ? static_cast<std::uint64_t>(now.st_size) : 0;
}

namespace {

/// Allocates nothing and does not throw, for use on writer threads.
int write_parts(int fd, std::uint64_t offset, iovec* part, iovec* const last) {
    const HeldSignal too_large(SIGXFSZ);
    while (true) {
        while (part != last && part->iov_len == 0) // an empty part is no full disk
            ++part;
        if (part == last)
            return 0;
        const auto count = static_cast<int>(std::min<std::ptrdiff_t>(last - part, IOV_MAX));
        const ssize_t done = ::pwritev(fd, part, count, static_cast<off_t>(offset));
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
}

} // namespace

int File::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
    iovec part{const_cast<void*>(data), bytes}; // NOLINT: iovec serves reading and writing
    return write_parts(fd_, offset, &part, &part + 1);
}

int File::write_at(std::uint64_t offset, std::vector<iovec>& parts) const {
    return write_parts(fd_, offset, parts.data(), parts.data() + parts.size());
}

std::string utf8_prefix(std::string text, std::size_t most) {
    if (text.size() <= most)
        return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) // within a code point
        --most;
    text.resize(most);
    return text;
}

std::string numbered(const std::string& path, int number, std::size_t beside) {
    if (number == 0)
        return path;
    const fs::path whole(path);
    fs::path stem = whole.stem();
    std::string ending = whole.extension().string();
    if (stem.extension() == ".ome") { // both form the extension, by convention
        ending = ".ome" + ending;
        stem = stem.stem();
    }
    ending = "-" + std::to_string(number) + ending;
    const std::size_t rest = ending.size() + beside;
    return (whole.parent_path() /
            (utf8_prefix(stem.string(), NAME_MAX - std::min<std::size_t>(NAME_MAX, rest)) + ending))
        .string();
}

void check_length(const std::string& path, std::size_t beside) {
    const std::string folder = folder_of(path);
    const long told = ::pathconf(folder.c_str(), _PC_NAME_MAX);
    const std::size_t most = told > 0 ? static_cast<std::size_t>(told) : NAME_MAX;
    const std::string last = numbered(path, kMaxNumber - 1, beside);
    const std::size_t name = std::max(file_name(path).size(), file_name(last).size()) + beside;
    if (name > most)
        throw RunError("The name " + path + " is too long: with the program's additions it has " +
                       std::to_string(name) + " bytes, and " + folder + " takes names of " +
                       std::to_string(most) + ". Shorten it.");
    if (std::max(path.size(), last.size()) + beside >= PATH_MAX)
        throw RunError("The name " + path + " is too long: with its folders it has more than " +
                       std::to_string(PATH_MAX - 1) + " bytes. Shorten it.");
}

namespace {

/// Nothing if the name is taken. Throws RunError.
File create_if_free(const std::string& path) {
    File file(::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kMode));
    const int error = errno;
    if (file.fd() >= 0 || error == EEXIST ||
        (is_of_open_files(error) && is_taken(path))) // the system has not checked the name yet
        return file;
    throw RunError("Cannot create " + path + ": " +
                   reason(error, "record into a folder that can be written"));
}

[[noreturn]] void all_taken(const std::string& wanted, std::size_t beside = 0) {
    throw RunError("All names from " + wanted + " to " + numbered(wanted, kMaxNumber - 1, beside) +
                   " are taken. Choose another name.");
}

} // namespace

File create_new(const std::string& wanted, std::string& path, int first) {
    for (int number = first; number < kMaxNumber; ++number) {
        path = numbered(wanted, number);
        if (File file = create_if_free(path); file.fd() >= 0)
            return file;
    }
    all_taken(wanted);
}

FilePair create_pair(const std::string& wanted, const std::string& suffix, int first) {
    FilePair pair;
    for (int number = first; number < kMaxNumber; ++number) {
        pair.path = numbered(wanted, number, suffix.size());
        pair.beside_path = pair.path + suffix;
        pair.file = create_if_free(pair.path);
        if (pair.file.fd() < 0)
            continue;
        try {
            pair.beside = create_if_free(pair.beside_path);
        } catch (...) {
            ::unlink(pair.path.c_str());
            throw;
        }
        if (pair.beside.fd() >= 0)
            return pair;
        ::unlink(pair.path.c_str());
    }
    all_taken(wanted, suffix.size());
}

namespace {
constexpr int kAttempts = 100; ///< for a free random name

std::string random_text() {
    std::uint64_t bits = 0;
    if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) // needs no file
        throw RunError("The system has no random number for a file name.");
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
    return text;
}

std::string hidden_name(const std::string& wanted) {
    return "." + utf8_prefix(file_name(wanted), 200) + "." + random_text() + ".part";
}

/// Path for linking an unnamed file.
std::string descriptor_name(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// A network file system may report a full disk only when a descriptor is closed, so this closes a duplicate.
/// Without a free descriptor, the error appears when the file is stored.
int late_error(int fd) {
    File last(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    const bool kept = last.fd() >= 0 ? last.close() : ::fdatasync(fd) == 0;
    return kept ? 0 : errno;
}
} // namespace

UnnamedFile::UnnamedFile(const std::string& wanted, Way way) : wanted_(wanted) {
    if (file_name(wanted).empty()) {
        error_ = EISDIR;
        return;
    }
    folder_ = File(::open(folder_of(wanted).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder_.fd() < 0) {
        error_ = errno;
        return;
    }
    if (const long most = ::fpathconf(folder_.fd(), _PC_NAME_MAX);
        most > 0 && file_name(wanted).size() > static_cast<std::size_t>(most)) {
        error_ = ENAMETOOLONG; // the error of a later link, when all is written
        return;
    }
    if (way == Way::unnamed) {
        file_ = File(::openat(folder_.fd(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
        if (file_.fd() >= 0 && ::access(descriptor_name(file_.fd()).c_str(), F_OK) == 0)
            return;
    }
    make_hidden();
}

void UnnamedFile::make_hidden() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        hidden_ = hidden_name(wanted_);
        file_ = File(::openat(folder_.fd(), hidden_.c_str(),
                              O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kMode));
        error_ = file_.fd() >= 0 ? 0 : errno;
        if (error_ == 0)
            return;
        hidden_.clear();
        if (error_ != EEXIST)
            return;
    }
}

UnnamedFile::~UnnamedFile() {
    if (!hidden_.empty())
        ::unlinkat(folder_.fd(), hidden_.c_str(), 0);
}

File UnnamedFile::again() const {
    File same(::fcntl(file_.fd(), F_DUPFD_CLOEXEC, 0));
    if (same.fd() < 0)
        throw RunError("Cannot write " + wanted_ + ": " + reason(errno, "write it again"));
    return same;
}

int UnnamedFile::link_as(const std::string& name) {
    if (hidden_.empty())
        return ::linkat(AT_FDCWD, descriptor_name(file_.fd()).c_str(), folder_.fd(), name.c_str(),
                        AT_SYMLINK_FOLLOW) == 0
                   ? 0
                   : errno;
    if (::renameat2(folder_.fd(), hidden_.c_str(), folder_.fd(), name.c_str(), RENAME_NOREPLACE) == 0) {
        hidden_.clear();
        return 0;
    }
    // Some file systems do not support this rename, but refuse a second link of the same name.
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    return ::linkat(folder_.fd(), hidden_.c_str(), folder_.fd(), name.c_str(), 0) == 0 ? 0 : errno;
}

std::string UnnamedFile::publish() {
    if (const int error = late_error(file_.fd()); error != 0)
        throw RunError("Cannot write " + wanted_ + ": " + reason(error) + ".");
    for (int number = 0; number < kMaxNumber; ++number) {
        std::string path = numbered(wanted_, number);
        const int error = link_as(file_name(path));
        if (error == 0)
            return path;
        if (error != EEXIST)
            throw RunError("Cannot give " + path + " its name: " + reason(error) + ".");
    }
    throw RunError("All numbers of " + wanted_ + " are taken. Choose another name.");
}

int UnnamedFile::replace() {
    if (::fsync(file_.fd()) != 0)
        return errno;
    for (int attempt = 0; hidden_.empty(); ++attempt) { // only a named file can replace another
        const std::string name = hidden_name(wanted_);
        if (const int error = link_as(name); error == 0)
            hidden_ = name;
        else if (error != EEXIST || attempt == kAttempts)
            return error;
    }
    if (::renameat(folder_.fd(), hidden_.c_str(), folder_.fd(), file_name(wanted_).c_str()) != 0)
        return errno;
    hidden_.clear();
    return 0;
}

void check_made(const UnnamedFile& file, const std::string& wanted) {
    if (file.error() != 0)
        throw RunError("Cannot write into " + folder_of(wanted) + ": " +
                       reason(file.error(), "choose a folder that can be written"));
}

namespace {

bool may_be_replaced(const std::string& path, const ReplaceableKind& kind) {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return true;
    if (!std::filesystem::is_regular_file(status))
        return false;
    const InputFile file = open_input(path);
    std::string text(kMost, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text.empty() ? std::feof(file.get()) != 0 : kind.holds(text);
}

} // namespace

void refuse_other_kind(const std::string& path, const ReplaceableKind& kind) {
    if (!may_be_replaced(path, kind))
        throw RunError("'" + one_line(path) + "' exists and does not hold " + std::string(kind.what) +
                       " of this program, so it is not replaced. Give " + std::string(kind.option) +
                       " another name.");
}

} // namespace specklescope
