#include "recording/table_file.hpp"

#include "base/error.hpp"
#include "recording/line_pages.hpp"
#include "recording/record_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

namespace specklescope {

TableFile::TableFile(const std::string& path, std::string_view begin, Taken taken) : path_(path) {
    UnnamedFile file(path);
    check_made(file, path);
    int error = append_lines(file.file(), end_, begin);
    file_ = file.again(); // before it has its name: a file without rows is none
    if (error == 0 && taken == Taken::stays)
        path_ = file.publish();
    else if (error == 0)
        error = file.replace();
    if (error != 0)
        throw RunError(write_error(path, error));
    (void)::flock(file_.fd(), LOCK_EX | LOCK_NB); // who would replace it sees that (refuse_written_one)
}

void TableFile::append(std::string_view lines) { append_front(lines); }

void TableFile::append(const FrameLines& lines, Written& written) {
    const std::uint64_t before = end_;
    std::string_view left = lines.text;
    const auto tell = [&] {
        const std::size_t taken = lines.text.size() - left.size();
        written.frames = static_cast<std::uint64_t>(
            std::upper_bound(lines.ends.begin(), lines.ends.end(), taken) - lines.ends.begin());
        written.bytes = end_ - before;
    };
    try {
        append_front(left);
    } catch (...) {
        tell();
        throw;
    }
    tell();
}

/// `lines` loses what is in the file.
void TableFile::append_front(std::string_view& lines) {
    if (!file_.has_name())
        throw RunError("Recording into " + path_ + " stopped: the file, or its folder, was removed.");
    if (const int error = append_lines(file_, end_, lines); error != 0)
        throw RunError(write_error(path_, error));
}

void TableFile::close() {
    if (!file_.close())
        throw RunError(write_error(path_, errno));
}

namespace {

/// A table that another run is writing would be lost to it. Where files cannot be locked nobody knows.
void refuse_written_one(const std::string& path) {
    const File there(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (there.fd() >= 0 && ::flock(there.fd(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw RunError("'" + path + "' is being written by another run; name another file, or end that run.");
}

} // namespace

void check_table(const std::string& path, const ReplaceableKind& kind) {
    check_folder(path);
    check_made(UnnamedFile(path), path);
    refuse_other_kind(path, kind);
    refuse_written_one(path);
}

} // namespace specklescope
