// The desktop's own dialog for a file, as a process beside the window: zenity or kdialog, where one is
// installed.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace specklescope {

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

} // namespace specklescope
