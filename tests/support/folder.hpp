// A temporary folder for tests.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace specklescope {

/// Created new, removed at the end with its content.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string name = (parent / "specklescope-test-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw std::runtime_error("no folder can be made in " + parent.string());
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    /// Names in it, sorted.
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            found.push_back(entry.path().filename().string());
        std::sort(found.begin(), found.end());
        return found;
    }

private:
    std::filesystem::path path_;
};

/// For its lifetime a process of root has the rights of the user "nobody", who owns nothing; other users are
/// unchanged.
class AsNobody {
public:
    AsNobody() {
        if (::geteuid() == 0 && ::seteuid(65534) != 0)
            throw std::runtime_error("the process cannot become another user");
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;
    ~AsNobody() {
        if (::getuid() == 0 && ::seteuid(0) != 0)
            std::abort();
    }
};

} // namespace specklescope
