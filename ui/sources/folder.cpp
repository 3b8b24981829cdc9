#include "ui/sources/folder.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "config/look/first_look.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace specklescope {

namespace fs = std::filesystem;

Folder read_folder(const std::string& path, bool all, const std::string& part) {
    Folder folder{path, part, "", {}, false};
    std::error_code error;
    fs::directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
    if (error) {
        folder.error = "'" + one_line(path) + "' cannot be listed: " + one_line(error.message()) + ".";
        return folder;
    }
    for (const fs::directory_iterator end; at != end; at.increment(error)) {
        if (error)
            break;
        FolderEntry entry{.name = at->path().filename().string()};
        if (entry.name.starts_with('.') || entry.name.find(part) == std::string::npos)
            continue;
        std::error_code ignored;
        entry.folder = at->is_directory(ignored);
        if (!all && !entry.folder && !looks_like_source(entry.name))
            continue;
        if (folder.entries.size() == kMostEntries) {
            folder.cut = true;
            break;
        }
        if (!entry.folder) {
            const std::uintmax_t bytes = at->file_size(ignored);
            entry.bytes = ignored ? 0 : bytes;
            entry.headerless = is_headerless(at->path().string());
        }
        folder.entries.push_back(std::move(entry));
    }
    std::sort(folder.entries.begin(), folder.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
        return std::tuple(!a.folder, a.name) < std::tuple(!b.folder, b.name);
    });
    return folder;
}

bool answers(const Folder& folder, const std::string& part) {
    return folder.cut ? folder.part == part : part.find(folder.part) != std::string::npos;
}

SourceArgument file_source(const std::string& path) {
    if (path.find("${env:") != std::string::npos)
        throw UsageError("A file name with ${env: cannot be opened, because ${env:NAME} is replaced by a "
                         "variable of the environment.");
    return path;
}

TypedPath typed_path(const std::string& text) {
    if (!text.starts_with('/') && !text.starts_with('~') && !text.starts_with("./") &&
        !text.starts_with("../"))
        return {};
    const std::string path = home_expanded(text);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return {};
    if (text == "~")
        return {path, ""};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

std::string completed(const std::string& text, const Folder& folder) {
    const TypedPath typed = typed_path(text);
    const FolderEntry* only = nullptr;
    std::string common;
    std::size_t found = 0;
    for (const FolderEntry& entry : folder.entries) {
        if (!entry.name.starts_with(typed.name))
            continue;
        if (found++ == 0) {
            common = entry.name;
            only = &entry;
            continue;
        }
        std::size_t same = 0;
        while (same < common.size() && same < entry.name.size() && common[same] == entry.name[same])
            ++same;
        while (same > 0 && same < common.size() && (static_cast<unsigned char>(common[same]) & 0xC0U) == 0x80)
            --same; // do not split a UTF-8 character
        common.resize(same);
    }
    if (found == 0 || common.size() < typed.name.size())
        return text;
    return text + common.substr(typed.name.size()) + (found == 1 && only->folder ? "/" : "");
}

} // namespace specklescope
