// The dialog that chooses a folder to write into: a path to type and the folders below it.
#pragma once

#include "ui/sources/folder.hpp"
#include "ui/sources/later.hpp"
#include "ui/sources/system_dialog.hpp"

#include <optional>
#include <string>

namespace specklescope {

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
