#include "recording/table.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "recording/record_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

namespace specklescope {

TableFile::TableFile(const std::string& path, std::string_view begin, Taken taken) : path_(path) {
    UnnamedFile file(path);
    check_made(file, path);
    file_ = file.again(); // before naming it: the named file already has its first lines
    int error = append_lines(begin);
    if (error == 0 && taken == Taken::stays)
        path_ = file.publish();
    else if (error == 0)
        error = file.replace();
    if (error != 0)
        throw RunError(write_error(path, error));
    (void)::flock(file_.fd(), LOCK_EX | LOCK_NB); // for refuse_written_one() of other runs
}

/// Returns an error number, or 0. After an error the file ends with the last complete line.
int TableFile::append_lines(std::string_view lines) {
    const int error = lines.empty() ? 0 : file_.write_at(end_, lines.data(), lines.size());
    if (error == 0) {
        end_ += lines.size();
        return 0;
    }
    const std::uint64_t there = file_.bytes();
    const std::string_view taken = lines.substr(0, there > end_ ? there - end_ : 0);
    end_ += taken.rfind('\n') + 1; // npos + 1 = 0
    return ::ftruncate(file_.fd(), static_cast<off_t>(end_)) == 0 ? error : errno;
}

void TableFile::append(std::string_view lines) {
    if (!file_.has_name())
        throw FileRemoved(path_);
    int error = append_lines(lines);
    if (error == 0)
        error = sync_.sync({file_.fd()});
    if (error != 0)
        throw RunError(write_error(path_, error));
}

void TableFile::append(const FrameLines& lines, Written& written) {
    const std::uint64_t before = end_;
    const auto count = [&] {
        written.bytes = end_ - before;
        written.frames = static_cast<std::uint64_t>(
            std::upper_bound(lines.ends.begin(), lines.ends.end(), written.bytes) - lines.ends.begin());
    };
    try {
        append(lines.text);
    } catch (...) {
        count();
        throw;
    }
    count();
}

void TableFile::close() {
    if (!file_.close())
        throw RunError(write_error(path_, errno));
}

namespace {

/// Refuses a table that another run is writing. Has no effect if the file system has no locks.
void refuse_written_one(const std::string& path) {
    const File there(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (there.fd() >= 0 && ::flock(there.fd(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw RunError("'" + path + "' is being written by another run. Name another file, or end that run.");
}

template <class Number> void add_digits(std::string& text, Number value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

} // namespace

void check_table(const std::string& path, const ReplaceableKind& kind) {
    check_folder(path);
    check_made(UnnamedFile(path), path);
    refuse_other_kind(path, kind);
    refuse_written_one(path);
}

void add_number(std::string& text, double value) { add_digits(text, value); }

void add_whole(std::string& text, std::uint64_t value) { add_digits(text, value); }

void add_seconds(std::string& text, std::int64_t ns) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    if (ns < 0)
        text += '-';
    add_whole(text, size / kSecond);
    const std::string part = std::to_string(size % kSecond);
    text += "." + std::string(9 - part.size(), '0') + part;
}

void add_capture(std::string& text, const FrameInfo& info) {
    if (info.has_time())
        add_seconds(text, info.capture_ns);
}

std::int64_t ns_of(SteadyClock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n#") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string setting_line(std::uint64_t version, const char* what, const std::string& value) {
    return "# version " + std::to_string(version) + ", " + what + ": " + one_line(value) + "\n";
}

std::string exposure_line(std::uint64_t version, const Exposure& exposure) {
    return setting_line(version, "exposure", exposure.known() ? to_string(exposure) : "unknown");
}

} // namespace specklescope
