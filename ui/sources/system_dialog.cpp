#include "ui/sources/system_dialog.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace specklescope {

namespace {

constexpr std::size_t kMost = 65536; ///< bytes of an answer

} // namespace

std::string SystemDialog::program() {
    const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): nobody changes the environment
    for (const char* name : {"zenity", "kdialog"}) {
        std::string_view rest = path ? path : "";
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(':'), rest.size());
            std::string file = std::string(rest.substr(0, end)) + "/" + name;
            if (end > 0 && rest[0] == '/' && ::access(file.c_str(), X_OK) == 0)
                return file;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return "";
}

std::vector<std::string> SystemDialog::words(const std::string& program, const std::string& folder,
                                             bool folders) {
    if (folders && program.ends_with("/kdialog"))
        return {program, "--title", "Folder for recordings", "--getexistingdirectory", folder};
    if (folders)
        return {program, "--file-selection", "--directory", "--title=Folder for recordings",
                "--filename=" + folder + "/"};
    if (program.ends_with("/kdialog"))
        return {program, "--title", "Open a source", "--getopenfilename", folder};
    return {program, "--file-selection", "--title=Open a source", "--filename=" + folder + "/"};
}

void SystemDialog::start(const std::string& folder, bool folders) {
    if (running())
        return;
    const std::string program = SystemDialog::program();
    if (program.empty())
        throw RunError("Neither zenity nor kdialog is installed; the list of files is here.");
    std::vector<std::string> given = words(program, folder, folders);
    std::vector<char*> argv;
    argv.reserve(given.size() + 1);
    for (std::string& word : given)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw RunError(std::string("The dialog for files cannot be opened: ") + std::strerror(errno) + ".");
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) { // only what may be called between fork and exec
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent)
            ::_exit(1);
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::dup2(ends[1], STDOUT_FILENO);
        ::close_range(STDERR_FILENO + 1, ~0U, 0);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    const int error = errno;
    ::close(ends[1]);
    if (child < 0) {
        ::close(ends[0]);
        throw RunError(std::string("The dialog for files cannot be opened: ") + std::strerror(error) + ".");
    }
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pid_ = child;
    pipe_ = ends[0];
    said_.clear();
}

std::optional<std::string> SystemDialog::poll() {
    if (!running())
        return std::nullopt;
    std::array<char, 4096> buffer{};
    while (pipe_ >= 0) {
        const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
        if (got > 0 && said_.size() < kMost) {
            said_.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return std::nullopt;
        } else {
            ::close(pipe_);
            pipe_ = -1;
        }
    }
    int status = 0; // where the signal SIGCHLD is ignored nobody says it, and what was said must do
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno != ECHILD))
        return std::nullopt;
    pid_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || said_.size() >= kMost)
        return "";
    if (said_.ends_with('\n')) // of the dialog; others belong to the name
        said_.pop_back();
    return said_;
}

void SystemDialog::stop() noexcept {
    if (pipe_ >= 0)
        ::close(pipe_);
    pipe_ = -1;
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
}

} // namespace specklescope
