#include "recording/table_file.hpp"

#include "base/error.hpp"
#include "recording/line_pages.hpp"
#include "recording/record_file.hpp"

#include <algorithm>
#include <cerrno>

namespace specklescope {

TableFile::TableFile(const std::string& path, std::string_view begin, Taken taken) : path_(path) {
    UnnamedFile file(path);
    check_made(file, path);
    int error = append_lines(file.file(), end_, begin);
    if (error == 0 && taken == Taken::stays)
        path_ = file.publish();
    else if (error == 0)
        error = file.replace();
    if (error != 0)
        throw RunError(write_error(path, error));
    file_ = file.again();
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

void check_table(const std::string& path, const ReplaceableKind& kind) {
    check_folder(path);
    check_made(UnnamedFile(path), path);
    refuse_other_kind(path, kind);
}

} // namespace specklescope
