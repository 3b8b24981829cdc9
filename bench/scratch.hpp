// A temporary folder for a measurement.
#pragma once

#include "base/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace specklescope::bench {

/// Created new, removed at the end with its content.
class Scratch {
public:
    /// Throws RunError if it cannot be created in `parent`.
    explicit Scratch(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string pattern = (parent / "specklescope-bench-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw RunError("No folder can be made in " + parent.string() +
                           "; set TMPDIR to one that can be written.");
        path_ = pattern;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

} // namespace specklescope::bench
