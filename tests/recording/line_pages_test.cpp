// Lines that a killed process leaves whole: no write leaves its page or ends within a line.
#include "recording/line_pages.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace specklescope::line_pages_test {

File new_file(const std::string& path) {
    return File(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
}

/// Without the comments that fill pages.
std::string without_filling(const std::string& text) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos)
            return "it ends within a line";
        const std::string line = text.substr(at, end - at + 1);
        if (line[0] != '#' || line.find_first_not_of(' ', 1) != line.size() - 1)
            lines += line;
        at = end + 1;
    }
    return lines;
}

TEST(LinePages, NoWriteLeavesItsPageOrEndsWithinALine) {
    auto random = test::test_random(17);
    for (const std::size_t longest : {std::size_t{2}, std::size_t{3}, std::size_t{90}, kLinePage - 2}) {
        const TemporaryFolder folder;
        const File file = new_file(folder / "lines");
        std::uint64_t end = 0;
        std::string all;
        const test::StorageLog log;
        for (int block = 0; block < 40; ++block) {
            std::string lines;
            const std::size_t count = random() % 300;
            for (std::size_t i = 0; i < count && lines.size() < 40000; ++i)
                lines += std::string(random() % longest, static_cast<char>('a' + random() % 26)) + "\n";
            std::string_view left = lines;
            ASSERT_EQ(append_lines(file, end, left), 0);
            ASSERT_TRUE(left.empty());
            all += lines;
            ASSERT_EQ(end, file.bytes());
        }
        std::uint64_t at = 0;
        for (const test::StorageCall& write : log.calls()) {
            ASSERT_EQ(write.offset, at);
            ASSERT_EQ(write.bytes.back(), '\n');
            at += write.bytes.size();
            ASSERT_EQ(write.offset / kLinePage, (at - 1) / kLinePage);
        }
        EXPECT_EQ(at, end);
        EXPECT_TRUE(without_filling(test::read_file(folder / "lines")) == all);
    }
}

TEST(LinePages, ALineLongerThanAPageIsThere) {
    const TemporaryFolder folder;
    const File file = new_file(folder / "lines");
    std::uint64_t end = 0;
    for (const std::size_t length : {kLinePage - 1, kLinePage, kLinePage + 1, 3 * kLinePage - 2}) {
        const std::string line = std::string(length, 'x') + "\n", lines = "a\n" + line + "b\n";
        const std::string before = test::read_file(folder / "lines");
        std::string_view left = lines;
        ASSERT_EQ(append_lines(file, end, left), 0);
        EXPECT_EQ(end, file.bytes());
        EXPECT_TRUE(without_filling(test::read_file(folder / "lines").substr(before.size())) == lines)
            << length;
    }
}

/// A file that may have `limit` bytes, in a process of its own; its exit status.
int append_within(const std::string& path, rlim_t limit, const std::string& lines) {
    const pid_t child = ::fork();
    if (child != 0) {
        int status = -1;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    const File file = new_file(path);
    std::uint64_t end = 0;
    std::string_view left = lines;
    const int error = append_lines(file, end, left);
    const bool told = !left.empty() && left.data() == lines.data() + (lines.size() - left.size());
    ::_exit(error == EFBIG && end == file.bytes() && told ? 7 : 0);
}

TEST(LinePages, OnAFullDiskEndWithTheLastWholeOne) {
    const TemporaryFolder folder;
    std::string lines;
    while (lines.size() < 30000)
        lines += "line " + std::to_string(lines.size()) + "\n";
    for (const rlim_t limit : {1, 10, 11, 4095, 4096, 4097, 10000}) {
        const std::string path = folder / std::to_string(limit);
        EXPECT_EQ(append_within(path, limit, lines), 7);
        const std::string text = test::read_file(path);
        EXPECT_LE(text.size(), limit);
        EXPECT_GE(text.size() + 16, limit) << "all that there was room for";
        EXPECT_TRUE(lines.starts_with(without_filling(text)));
    }
}

} // namespace specklescope::line_pages_test
