#include "files/input_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace specklescope {

namespace fs = std::filesystem;

void check_exists(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(fs::path(path), ignored))
        throw RunError("There is no file '" + path + "'. Check the name and the folder.");
}

namespace {

/// Waits until data are available or the writer has closed the pipe.
void await(int fd, const std::string& what) {
    constexpr int kLook = 50; // ms
    pollfd writer{fd, POLLIN, 0};
    while (::poll(&writer, 1, kLook) <= 0)
        work_goes_on(what);
}

/// A blocking open would wait for a writer indefinitely, without a message.
InputFile open_pipe(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    InputFile file(fd < 0 ? nullptr : ::fdopen(fd, "rb"));
    if (!file)
        return file;
    await(fd, "waiting for a writer of the pipe '" + path + "'");
    (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return file;
}

} // namespace

InputFile open_input(const std::string& path, Pipes pipes) {
    check_exists(path);
    std::error_code ignored;
    const fs::file_status status = fs::status(fs::path(path), ignored);
    if (fs::is_directory(status))
        throw RunError("'" + path + "' is a folder, not a file.");
    const bool pipe = fs::is_fifo(status);
    if ((pipe && pipes == Pipes::refused) || fs::is_socket(status))
        throw RunError("'" + path + "' is a " + (pipe ? "pipe" : "socket") +
                       ", not a file. Save its output to a file, and name that file.");
    InputFile file = pipe ? open_pipe(path) : InputFile(std::fopen(path.c_str(), "rbe"));
    if (!file)
        throw RunError("'" + path + "' cannot be opened: " + std::strerror(errno) +
                       "."); // NOLINT(concurrency-mt-unsafe)
    return file;
}

std::string whole_text(const std::string& path, std::size_t most, const std::string& kind, Pipes pipes) {
    const InputFile file = open_input(path, pipes);
    const int fd = ::fileno(file.get());
    std::error_code ignored;
    const bool pipe = fs::is_fifo(fs::path(path), ignored);
    std::string text;
    for (std::array<char, 1 << 16> part{};;) {
        if (pipe)
            await(fd, "waiting for the rest of what comes out of the pipe '" + path + "'");
        const ssize_t count = ::read(fd, part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            throw RunError("'" + path + "' cannot be read to its end.");
        if (count == 0)
            return text;
        text.append(part.data(), static_cast<std::size_t>(count));
        if (text.size() > most)
            throw RunError("'" + path + "' is larger than " + std::to_string(most >> 20) + " MiB, and no " +
                           kind + ".");
    }
}

std::uint64_t input_size(const std::string& path) {
    std::error_code error;
    const auto bytes = fs::file_size(fs::path(path), error);
    return error ? 0 : static_cast<std::uint64_t>(bytes);
}

} // namespace specklescope
