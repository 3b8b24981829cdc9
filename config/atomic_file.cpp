#include "config/atomic_file.hpp"

#include "config/text.hpp"
#include "pipeline/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace specklescope {

namespace {

/// A temporary file beside `path`, removed unless kept.
class Beside {
public:
    explicit Beside(const std::string& path)
        : path_(path), part_(path + ".part-" + std::to_string(getpid())) {
        std::error_code error;
        if (path.empty() || std::filesystem::is_directory(path, error))
            fail("a folder has that name");
        descriptor_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (descriptor_ < 0)
            fail(std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
        if (!part_.empty())
            unlink(part_.c_str());
    }
    void write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t count = ::write(descriptor_, text.data(), text.size());
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                fail(std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
            text.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void keep() {
        if (::close(std::exchange(descriptor_, -1)) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0)
            fail(std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
        part_.clear();
    }

private:
    [[noreturn]] void fail(const char* why) const {
        const int descriptor = descriptor_;
        if (descriptor >= 0)
            unlink(part_.c_str());
        throw RunError("'" + one_line(path_) + "' cannot be written (" + why +
                       "); name a file in a folder that exists and can be written to.");
    }
    std::string path_, part_;
    int descriptor_ = -1;
};

} // namespace

void write_atomically(const std::string& path, std::string_view text) {
    Beside file(path);
    file.write(text);
    file.keep();
}

void check_writable(const std::string& path) { const Beside probe(path); }

} // namespace specklescope
