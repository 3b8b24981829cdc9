#include "ui/sources/folder_dialog.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <fcntl.h>
#include <imgui_stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kFolderTitle = "Folder for recordings";

/// Absolute path without a final slash.
std::string absolute(const std::string& text) {
    std::error_code ignored;
    std::string path = std::filesystem::absolute(home_expanded(text.empty() ? "." : text), ignored)
                           .lexically_normal()
                           .string();
    if (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

} // namespace

void FolderDialog::ask(const std::string& folder) {
    asked_ = true;
    said_.clear();
    program_ = SystemDialog::program();
    show(absolute(folder));
}

void FolderDialog::show(const std::string& path) {
    text_ = wanted_ = path;
    folder_.ask([path = text_] { return read_folder(path, false); });
}

std::optional<std::string> FolderDialog::chosen() {
    std::error_code ignored;
    std::string path = absolute(text_);
    if (std::filesystem::is_directory(path, ignored))
        return path;
    said_ = "There is no folder '" + one_line(text_) + "'. Create it, or choose another.";
    return std::nullopt;
}

void FolderDialog::list() {
    hint(wanted_ + (folder_.busy() ? "  …" : ""));
    const auto& folder = folder_.result();
    if (!folder || folder->path != wanted_)
        return;
    if (!folder->error.empty())
        return hint(folder->error, theme::kWarning);
    std::optional<std::string> next;
    const std::filesystem::path here(folder->path);
    constexpr int kFlags = ImGuiSelectableFlags_DontClosePopups;
    if (folder->path != "/" && ImGui::Selectable("↑ ..", false, kFlags))
        next = here.parent_path().string();
    probe::item("folder.up");
    tooltip("Show the folder that contains this one.");
    bool any = false;
    for (const FolderEntry& entry : folder->entries) {
        if (!entry.folder)
            continue;
        any = true;
        ImGui::PushID(static_cast<int>(&entry - folder->entries.data()));
        if (ImGui::Selectable((label_text(one_line(entry.name)) + "/").c_str(), false, kFlags))
            next = (here / entry.name).string();
        ImGui::PopID();
        probe::item("folder." + entry.name);
        tooltip("Show this folder: " + one_line(entry.name));
    }
    if (!any)
        hint("No folders in it.");
    if (next)
        show(*next);
}

std::optional<std::string> FolderDialog::draw(bool confirm, bool dismiss) {
    if (std::exchange(asked_, false)) {
        ImGui::OpenPopup(kFolderTitle);
        confirm = dismiss = false; // the key that opened the dialog
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(520), screen.x * 0.94F), 0});
    bool open = true;
    std::optional<std::string> answer;
    if (!ImGui::BeginPopupModal(kFolderTitle, &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
        system_.stop();
        return answer;
    }
    folder_.poll();
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    ImGui::InputText("##path", &text_, ImGuiInputTextFlags_AutoSelectAll);
    probe::item("folder.path");
    tooltip("Folder for recordings. Type it, or choose it below.");
    if (const std::string typed = absolute(text_); typed != wanted_ && !ImGui::IsWindowAppearing()) {
        wanted_ = typed;
        folder_.ask([typed] { return read_folder(typed, false); });
    }
    ImGui::BeginChild("##folders", {0, std::min(dp(260), screen.y * 0.4F)}, true);
    list();
    ImGui::EndChild();
    bool choose = ImGui::Button("Choose", {dp(90), 0}) || confirm;
    probe::item("folder.choose");
    tooltip("Use this folder. Enter does the same.");
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {dp(90), 0}) || dismiss || !open)
        ImGui::CloseCurrentPopup();
    if (!program_.empty()) {
        ImGui::SameLine();
        ImGui::BeginDisabled(system_.running());
        if (ImGui::Button("Browse …", {dp(90), 0})) {
            try {
                system_.start(wanted_, true);
            } catch (const std::exception& error) {
                said_ = sentence_of(error);
            }
        }
        ImGui::EndDisabled();
        tooltip("The desktop's own dialog (" + program_ + ")");
    }
    if (const std::optional<std::string> given = system_.poll(); given && !given->empty()) {
        text_ = *given;
        choose = true;
    }
    if (!said_.empty())
        hint(said_, theme::kWarning);
    probe::value("folder.said", said_);
    if (choose)
        answer = chosen();
    if (choose && answer)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return answer;
}

namespace {

constexpr std::size_t kMost = 65536; ///< maximum bytes of an answer

} // namespace

std::string SystemDialog::program() {
    const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): the environment does not change
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
    if (child == 0) { // only async-signal-safe calls between fork and exec
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
    int status = 0; // the exit status is unavailable if SIGCHLD is ignored; then only the output counts
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno != ECHILD))
        return std::nullopt;
    pid_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || said_.size() >= kMost)
        return "";
    if (said_.ends_with('\n')) // added by the dialog; further ones belong to the name
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
