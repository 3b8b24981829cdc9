// The dialog that chooses a folder to write into: a path to type and the folders below it.
#pragma once

#include "ui/sources/folder.hpp"
#include "ui/sources/later.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// The desktop's own dialog for a file or folder, in a process of its own: zenity or kdialog.
class SystemDialog {
public:
    SystemDialog() = default;
    ~SystemDialog() { stop(); }
    SystemDialog(const SystemDialog&) = delete;
    SystemDialog& operator=(const SystemDialog&) = delete;

    /// The program that would be run, found in PATH; empty: there is none.
    static std::string program();
    /// What it is given: never a shell, so that a name is a name.
    static std::vector<std::string> words(const std::string& program, const std::string& folder,
                                          bool folders = false);
    /// Nothing where it runs already. Throws RunError. The dialog ends with this process, however that ends.
    /// `folders`: one of them is chosen, and no file.
    void start(const std::string& folder, bool folders = false);
    bool running() const { return pid_ > 0; }
    /// Never waits. The file that was chosen, once; an empty text: none was.
    std::optional<std::string> poll();
    void stop() noexcept;

private:
    pid_t pid_ = 0;
    int pipe_ = -1;
    std::string said_;
};

class FolderDialog {
public:
    /// Opens in this frame.
    void ask(const std::string& folder);
    bool asked() const { return asked_; }
    /// Every frame; `confirm`, `dismiss`: Enter and Escape. The folder, once, when one was chosen.
    std::optional<std::string> draw(bool confirm, bool dismiss);

private:
    void list();
    void show(const std::string& path);
    /// The text as a folder that is there; nothing where it is none, which is said.
    std::optional<std::string> chosen();

    bool asked_ = false;
    std::string text_, wanted_, said_;
    Later<Folder> folder_;
    SystemDialog system_;
    std::string program_; ///< of the desktop's dialog; empty: there is none
};

} // namespace specklescope
