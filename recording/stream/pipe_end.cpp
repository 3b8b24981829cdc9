#include "recording/stream/pipe_end.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "base/system.hpp"
#include "base/text.hpp"

#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace specklescope {

namespace {

constexpr std::string_view kRaw = "raw:", kY4m = "y4m:";

int descriptor_of(std::string_view path) {
    if (path == "-" || path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder))
            continue;
        path.remove_prefix(folder.size());
        int number = -1;
        const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
        return error == std::errc() && end == path.data() + path.size() ? number : -1;
    }
    return -1;
}

/// True for a pipe or a device. A name with a file extension is left to the checks of that format.
bool takes_a_stream(const std::string& path, const std::string& ending) {
    struct stat found {};
    return (ending.empty() || ending == ".raw" || ending == ".y4m") && ::stat(path.c_str(), &found) == 0 &&
           (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
}

} // namespace

std::optional<StreamTarget> stream_target(const std::string& text) {
    StreamTarget target;
    target.text = target.path = text;
    const bool raw = text.starts_with(kRaw), y4m = text.starts_with(kY4m);
    if (raw || y4m)
        target.path = text.substr((raw ? kRaw : kY4m).size());
    const std::string ending = std::filesystem::path(target.path).extension().string();
    target.descriptor = descriptor_of(target.path);
    if (!raw && !y4m && target.descriptor < 0 && !takes_a_stream(target.path, ending))
        return std::nullopt;
    if (y4m || (!raw && ending == ".y4m"))
        target.kind = StreamTarget::Kind::y4m;
    return target;
}

namespace {

using namespace std::chrono_literals;

constexpr int kLookMs = 50;                         ///< interval of the check for a requested end
constexpr std::int64_t kPatienceNs = 1'000'000'000; ///< then the time limit for a reader that takes no data
constexpr int kPipeBytes = 1 << 20;                 ///< reduces switches between writer and reader

std::atomic<int> kept{-1}; // NOLINT: what was standard output, once streams have it

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string pipe_error(int error) { return std::generic_category().message(error); }

bool is_pipe(int fd) {
    struct stat found {};
    return ::fstat(fd, &found) == 0 && S_ISFIFO(found.st_mode);
}

[[noreturn]] void refuse_pixels_on_terminal(const std::string& text) {
    throw UsageError("'" + one_line(text) + "' is a terminal. Redirect the frames with | PROGRAM or > FILE.");
}

} // namespace

void keep_output_for_streams() {
    if (kept >= 0)
        return;
    if (::isatty(STDOUT_FILENO) == 1)
        refuse_pixels_on_terminal("-");
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (output < 0)
        throw RunError("Standard output cannot take a stream: " + pipe_error(errno) +
                       ". Send it to a program or a file.");
    if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) { // otherwise messages would be mixed into the frames
        const int error = errno;
        ::close(output);
        throw RunError("Messages cannot be kept out of standard output: " + pipe_error(error) + ".");
    }
    kept = output;
}

void PipeEnd::refuse_terminal() const {
    if (::isatty(fd_) == 1)
        refuse_pixels_on_terminal(target_.text);
}

void PipeEnd::open(Reader reader) {
    close();
    if (target_.descriptor == STDERR_FILENO)
        throw UsageError("'" + one_line(target_.text) +
                         "' is used for messages. Name - or a FIFO for the frames.");
    if (target_.descriptor >= 0)
        open_descriptor();
    else
        open_path(reader);
    refuse_terminal();
    if (way_ == Way::ours && is_pipe(fd_))
        ::fcntl(fd_, F_SETPIPE_SZ, kPipeBytes); // as much as the system allows
    moved_ns_ = now_ns();
}

/// O_NONBLOCK is shared by all who have the pipe open, so it is opened again.
void PipeEnd::open_descriptor() {
    const int given = target_.descriptor == STDOUT_FILENO && kept >= 0 ? kept.load() : target_.descriptor;
    const int flags = ::fcntl(given, F_GETFL);
    struct stat found {};
    if (flags < 0 || ::fstat(given, &found) != 0)
        throw RunError("'" + one_line(target_.text) + "' cannot take a stream: " + pipe_error(errno) + ".");
    if ((flags & O_ACCMODE) == O_RDONLY)
        throw UsageError("'" + one_line(target_.text) + "' is open only for reading. Name - or a FIFO.");
    way_ = S_ISSOCK(found.st_mode) ? Way::socket : S_ISFIFO(found.st_mode) ? Way::ours : Way::plain;
    if (way_ == Way::ours) {
        const std::string again = "/proc/self/fd/" + std::to_string(given);
        fd_ = ::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd_ < 0 && errno == ENXIO)
            fail(EPIPE);
        if (fd_ >= 0)
            return;
        way_ = Way::shared; // owned by another user
    }
    fd_ = ::fcntl(given, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd_ < 0)
        throw RunError("'" + one_line(target_.text) + "' cannot take a stream: " + pipe_error(errno) + ".");
}

void PipeEnd::open_path(Reader reader) {
    const std::string name = one_line(target_.path);
    struct stat found {};
    if (::stat(target_.path.c_str(), &found) != 0)
        throw RunError("There is no FIFO '" + name + "': " + pipe_error(errno) +
                       ". Make it with mkfifo, or record into a file, without " + target_.text.substr(0, 4) +
                       " before the name.");
    if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode))
        throw UsageError("'" + name + "' is not a FIFO. Make one with mkfifo, or leave out " +
                         target_.text.substr(0, 4) + " to record into a file.");
    way_ = Way::ours;
    for (bool said = false;; std::ignore = ::poll(nullptr, 0, kLookMs)) {
        fd_ = ::open(target_.path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd_ >= 0)
            break;
        if (errno != ENXIO || !S_ISFIFO(found.st_mode))
            throw RunError("'" + name + "' cannot be written: " + pipe_error(errno) +
                           ". Name a writable FIFO.");
        if (reader == Reader::is_there)
            throw RunError("No program reads '" + name + "'. Start one, then record into it.");
        if (!std::exchange(said, true))
            run_log().info("Waiting for a program that reads '{}'; Ctrl-C ends the wait.", name);
        work_goes_on("the wait for a program that reads '" + name + "'");
    }
    struct stat opened {};
    if (::fstat(fd_, &opened) != 0 || opened.st_ino != found.st_ino || opened.st_dev != found.st_dev) {
        close();
        throw RunError("'" + name + "' was replaced while it was opened. Try again.");
    }
    if (S_ISFIFO(found.st_mode))
        take_fifo();
}

/// Two recordings in one FIFO would be mixed. The lock is released with the descriptor.
void PipeEnd::take_fifo() const {
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw RunError("'" + one_line(target_.path) +
                       "' is used by another recording. Name another FIFO, or end that recording.");
}

/// Number of bytes written, or −1 with errno.
long PipeEnd::put(iovec* parts, std::size_t count) const {
    const std::size_t most = std::min<std::size_t>(count, IOV_MAX);
    if (way_ == Way::socket) {
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = most;
        return ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (way_ == Way::shared) {
        pollfd room{fd_, POLLOUT, 0};
        if (::poll(&room, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        return ::write(fd_, parts->iov_base, std::min<std::size_t>(parts->iov_len, PIPE_BUF));
    }
    return ::writev(fd_, parts, static_cast<int>(most));
}

void PipeEnd::write(std::vector<iovec>& parts) {
    const HeldSignal quiet(SIGPIPE);
    moved_ns_ = now_ns();
    std::size_t at = 0;
    while (true) {
        while (at < parts.size() && parts[at].iov_len == 0)
            ++at;
        if (at == parts.size())
            return;
        const long done = put(&parts[at], parts.size() - at);
        if (done < 0 && errno == EAGAIN) {
            wait_for_room();
            continue;
        }
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            fail(done < 0 ? errno : ENOSPC);
        moved_ns_ = now_ns();
        bytes_ += static_cast<std::uint64_t>(done);
        auto left = static_cast<std::size_t>(done);
        while (left > 0) {
            const std::size_t here = std::min(left, parts[at].iov_len);
            parts[at].iov_base = static_cast<std::byte*>(parts[at].iov_base) + here;
            parts[at].iov_len -= here;
            left -= here;
            at += parts[at].iov_len == 0 ? 1 : 0;
        }
    }
}

void PipeEnd::write(const std::string& text) {
    std::vector<iovec> parts{{const_cast<char*>(text.data()), text.size()}}; // NOLINT: iovec serves both ways
    write(parts);
}

void PipeEnd::wait_for_room() {
    pollfd room{fd_, POLLOUT, 0};
    if (::poll(&room, 1, kLookMs) > 0)
        return;
    const std::int64_t hurried = hurried_ns_;
    if (hurried > 0 && now_ns() - std::max(hurried, moved_ns_) > kPatienceNs)
        fail(ETIMEDOUT);
}

void PipeEnd::check() const {
    pollfd end{fd_, 0, 0};
    if (way_ != Way::plain && fd_ >= 0 && ::poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0)
        fail(EPIPE);
}

void PipeEnd::fail(int error) const {
    const std::string begin = "Recording into " + one_line(target_.text) + " stopped: ";
    if (error == EPIPE || error == ECONNRESET)
        throw RunError(begin + "its reader disconnected.");
    if (error == ETIMEDOUT)
        throw RunError(begin + "its reader took nothing for a second while the program was ending.");
    throw RunError(begin + pipe_error(error) +
                   (error == ENOSPC ? ". Free some space and record again." : "."));
}

void PipeEnd::hurry() noexcept {
    std::int64_t none = 0;
    hurried_ns_.compare_exchange_strong(none, now_ns());
}

void PipeEnd::close() noexcept {
    if (fd_ >= 0)
        ::close(std::exchange(fd_, -1));
}

} // namespace specklescope
