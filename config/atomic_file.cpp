#include "config/atomic_file.hpp"

#include "config/text.hpp"
#include "files/whole_file.hpp"
#include "pipeline/error.hpp"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace specklescope {

namespace {

/// A hidden file beside `path`, removed unless it takes that name.
class Beside {
public:
    explicit Beside(const std::string& path, mode_t mode = 0) : path_(path) {
        std::error_code error;
        if (path.empty() || std::filesystem::is_directory(path, error))
            fail("a folder has that name");
        file_ = try_hidden(path, hidden_);
        if (file_.fd() < 0) {
            hidden_.clear();
            fail(std::generic_category().message(errno));
        }
        if (mode != 0 && fchmod(file_.fd(), mode) != 0)
            fail(std::generic_category().message(errno));
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() {
        if (!hidden_.empty())
            unlink(hidden_.c_str());
    }
    void write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t count = ::write(file_.fd(), text.data(), text.size());
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                fail(std::generic_category().message(errno));
            text.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void keep() {
        if (!file_.close() || !replace(hidden_, path_))
            fail(std::generic_category().message(errno));
        hidden_.clear();
    }

private:
    [[noreturn]] void fail(const std::string& why) {
        const std::string left = std::exchange(hidden_, "");
        if (!left.empty()) // a constructor that throws is followed by no destructor
            unlink(left.c_str());
        throw RunError("'" + one_line(path_) + "' cannot be written (" + why +
                       "); name a file in a folder that exists and can be written to.");
    }
    std::string path_, hidden_;
    File file_;
};

} // namespace

void write_atomically(const std::string& path, std::string_view text, mode_t mode) {
    Beside file(path, mode);
    file.write(text);
    file.keep();
}

void check_writable(const std::string& path) { const Beside probe(path); }

} // namespace specklescope
