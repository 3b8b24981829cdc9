// Dialog to choose a folder for output: a field for the path and the list of subfolders.
#pragma once

#include "ui/sources/folder.hpp"
#include "ui/sources/later.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// The desktop's own dialog for a file or folder, in a separate process: zenity or kdialog.
class SystemDialog {
public:
    SystemDialog() = default;
    ~SystemDialog() { stop(); }
    SystemDialog(const SystemDialog&) = delete;
    SystemDialog& operator=(const SystemDialog&) = delete;

    /// Program found in PATH; empty: none.
    static std::string program();
    /// Arguments of the program. It runs without a shell, so names need no quoting.
    static std::vector<std::string> words(const std::string& program, const std::string& folder,
                                          bool folders = false);
    /// Does nothing if the dialog is open. Throws RunError. The dialog is closed when this process ends for
    /// any reason. `folders`: chooses a folder instead of a file.
    void start(const std::string& folder, bool folders = false);
    bool running() const { return pid_ > 0; }
    /// Never waits. Returns the chosen file once; an empty text if the dialog was cancelled.
    std::optional<std::string> poll();
    void stop() noexcept;

private:
    pid_t pid_ = 0;
    int pipe_ = -1;
    std::string said_;
};

class FolderDialog {
public:
    /// Opens the dialog in this frame.
    void ask(const std::string& folder);
    bool asked() const { return asked_; }
    /// Call in every frame; `confirm`, `dismiss`: Enter and Escape. Returns the chosen folder once.
    std::optional<std::string> draw(bool confirm, bool dismiss);

private:
    void list();
    void show(const std::string& path);
    /// The typed text as an existing folder; otherwise nullopt, with a message.
    std::optional<std::string> chosen();

    bool asked_ = false;
    std::string text_, wanted_, said_;
    Later<Folder> folder_;
    SystemDialog system_;
    std::string program_; ///< desktop dialog; empty: none
};

} // namespace specklescope
