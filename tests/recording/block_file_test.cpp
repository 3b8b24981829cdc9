// A file written in blocks has the bytes of one written directly, whatever their sizes and the file system.
#include "recording/block_file.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/random.hpp"

#include <fcntl.h>

namespace specklescope::block_file_test {
using namespace test;

std::string some_bytes(std::size_t most, auto& random) {
    std::string bytes(std::uniform_int_distribution<std::size_t>(0, most)(random), '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

void write_at_random(const std::string& path, auto& random) {
    const File file(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    const File index(::open((path + ".index").c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    std::string bytes, lines;
    BlockFile blocks(file, true, index.fd());
    for (int step = 0; step < 200; ++step) {
        const auto kind = random() % 8;
        if (kind < 5) {
            const std::string more = some_bytes(kind == 0 ? 3'000'000 : kind == 1 ? 70'000 : 300, random);
            bytes += more;
            EXPECT_EQ(blocks.append(more), 0);
        } else if (kind < 7 && bytes.size() > 20) { // near the end, and anywhere
            const std::string patch = some_bytes(16, random);
            const std::size_t end = bytes.size() - patch.size();
            const std::size_t at = kind == 5 ? end - end % 7 : random() % (end + 1);
            std::copy(patch.begin(), patch.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(blocks.then(file, at, patch), 0);
        } else {
            const std::string line = some_bytes(100, random);
            EXPECT_EQ(blocks.then(index, lines.size(), line,
                                  BlockFile::Kept{1, bytes.size(), lines.size() + line.size()}),
                      0);
            lines += line;
        }
    }
    EXPECT_EQ(blocks.stop(), 0);
    EXPECT_EQ(blocks.kept().index_bytes, lines.size());
    EXPECT_TRUE(read_text(path) == bytes) << path;
    EXPECT_TRUE(read_text(path + ".index") == lines) << path;
}

TEST(BlockFile, HasTheBytesOfAnyAppendsAndChanges) {
    auto random = test_random(31);
    for (int round = 0; round < 3; ++round) {
        const TemporaryFolder folder;
        write_at_random(folder / "a", random);
        const fs::path memory = fs::path("/dev/shm") / folder.path().filename();
        std::error_code none;
        if (fs::create_directory(memory, none)) {
            write_at_random((memory / "a").string(), random);
            fs::remove_all(memory);
        }
    }
}

} // namespace specklescope::block_file_test
