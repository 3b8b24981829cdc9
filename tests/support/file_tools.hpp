// Files for tests of sources: a temporary folder, bytes, Debian's Python.
#pragma once

#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace specklescope::test {

/// Changes the current folder for its lifetime.
class WorkingFolder {
public:
    explicit WorkingFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(folder);
    }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;
    ~WorkingFolder() { std::filesystem::current_path(before_); }

private:
    std::filesystem::path before_;
};

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Cuts a file to its first `bytes`.
inline void cut_file(const std::string& path, std::uint64_t bytes) {
    std::filesystem::resize_file(path, bytes);
}

/// Runs a script with Debian's Python in `folder`; false if it failed or is missing.
inline bool python(const TemporaryFolder& folder, const std::string& script) {
    write_file(folder / "script.py", script);
    const std::string command =
        "cd '" + folder.path().string() + "' && /usr/bin/python3 script.py > python.log 2>&1";
    return std::system(command.c_str()) == 0; // NOLINT(concurrency-mt-unsafe)
}

/// Tests of files that Suite::script() writes with Debian's Python, once for all of them.
template <class Suite> class WrittenByPython : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = std::make_unique<TemporaryFolder>();
        usable_ = python(*folder_, Suite::script());
    }
    static void TearDownTestSuite() { folder_.reset(); }
    void SetUp() override { ASSERT_TRUE(usable_) << read_file(*folder_ / "python.log"); }
    static std::string file(const std::string& name) { return *folder_ / name; }
    static inline std::unique_ptr<TemporaryFolder> folder_;
    static inline bool usable_ = false;
};

} // namespace specklescope::test
