// Files under rare conditions of the system: partial writes, a random name that is taken, or too many open
// files.
#include "base/error.hpp"
#include "base/system.hpp"
#include "files/whole_file.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/child.hpp"
#include "tests/support/random.hpp"

#include <fcntl.h>

#include <cerrno>

namespace specklescope::whole_file_test {

TEST(WholeFile, IsWholeThoughTheSystemTakesItInParts) {
    auto random = test::test_random(68);
    for (const std::size_t most : {std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
        const TemporaryFolder folder;
        std::string wanted, path;
        std::vector<std::string> texts;
        for (int i = 0; i < 12; ++i) { // including empty ones
            std::string& text = texts.emplace_back();
            for (std::size_t k = random() % 40; k > 0 && i % 5 != 0; --k)
                text += static_cast<char>('a' + random() % 26);
            wanted += text;
        }
        std::vector<iovec> parts;
        for (std::string& text : texts)
            parts.push_back({text.data(), text.size()});
        const File file = create_new(folder / "parts", path);
        const test::ShortWrites small(most);
        EXPECT_EQ(file.write_at(0, parts), 0);
        EXPECT_EQ(file.write_at(wanted.size(), wanted.data(), wanted.size()), 0);
        EXPECT_EQ(read_text(path), wanted + wanted) << most << " bytes at once";
    }
}

TEST(WholeFile, ARandomNameThatIsTakenIsFollowedByAnother) {
    const TemporaryFolder folder;
    const test::SameRandom same(3);
    UnnamedFile first(folder / "a.txt", UnnamedFile::Way::hidden),
        second(folder / "a.txt", UnnamedFile::Way::hidden);
    EXPECT_EQ(first.error(), 0);
    EXPECT_EQ(second.error(), 0) << "after two attempts at the name that the first has";
    EXPECT_EQ(same.left(), 0U);
    EXPECT_EQ(folder.names().size(), 2U);
    EXPECT_EQ(first.file().write_at(0, "1", 1), 0);
    EXPECT_EQ(second.file().write_at(0, "2", 1), 0);
    EXPECT_EQ(read_text(first.publish()), "1");
    EXPECT_EQ(read_text(second.publish()), "2");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a-1.txt", "a.txt"}));
}

/// All descriptors are in use during its lifetime.
class NoneLeft {
public:
    NoneLeft() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few{std::min<rlim_t>(256, before_.rlim_max), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
        for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
            taken_.push_back(fd);
    }
    NoneLeft(const NoneLeft&) = delete;
    NoneLeft& operator=(const NoneLeft&) = delete;
    ~NoneLeft() {
        for (const int fd : taken_)
            ::close(fd);
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }

private:
    rlimit before_{};
    std::vector<int> taken_;
};

/// Reads the error after descriptors are available again: UBSan needs some to inspect the type.
template <class Made> std::string sentence_of_making(Made&& make) {
    std::exception_ptr thrown;
    {
        const NoneLeft none;
        try {
            make();
        } catch (const RunError&) {
            thrown = std::current_exception();
        }
    }
    try {
        if (thrown)
            std::rethrow_exception(thrown);
    } catch (const RunError& error) {
        return error.what();
    }
    return "made";
}

TEST(OpenFiles, TheSentenceNamesTheFileThatWouldBeMadeAndWhatHelps) {
    const TemporaryFolder folder;
    write_text(folder / "s.tiff", "mine");
    std::filesystem::create_symlink("nowhere", folder / "s-1.tiff");
    const std::string wanted = folder / "s.tiff", next = folder / "s-2.tiff";
    const std::string said = sentence_of_making([&] {
        std::string path;
        (void)create_new(wanted, path);
    });
    EXPECT_EQ(said, "Cannot create " + next + ": Too many open files; " + kFewerOpenFiles + ".");
    const std::string unnamed = sentence_of_making([&] { check_made(UnnamedFile(wanted), wanted); });
    EXPECT_NE(unnamed.find(std::string("Too many open files; ") + kFewerOpenFiles), std::string::npos)
        << unnamed;
    EXPECT_EQ(read_text(wanted), "mine");
}

/// A file is never written without a name, and errors of a network file system on close are reported.
TEST(OpenFiles, AFileThatIsReadyGetsItsNameWithoutOneMore) {
    const TemporaryFolder folder;
    const std::string wanted = folder / "a.png";
    UnnamedFile file(wanted);
    ASSERT_EQ(file.error(), 0);
    ASSERT_EQ(file.file().write_at(0, "picture", 7), 0);
    EXPECT_EQ(sentence_of_making([&] { (void)file.again(); }),
              "Cannot write " + wanted + ": Too many open files; " + kFewerOpenFiles + ".");
    const std::string late = sentence_of_making([&] {
        const test::StorageLog full([] { return EDQUOT; });
        (void)file.publish();
    });
    EXPECT_EQ(late, "Cannot write " + wanted + ": Disk quota exceeded.");
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    EXPECT_EQ(sentence_of_making([&] { (void)file.publish(); }), "made");
    EXPECT_EQ(read_text(wanted), "picture");
}

TEST(OpenFiles, AsManyAsMayBeAreAllowed) {
    rlimit before{}, now{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{64, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    allow_many_files();
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
    EXPECT_EQ(now.rlim_cur, std::min<rlim_t>(65536, before.rlim_max));
    EXPECT_EQ(now.rlim_max, before.rlim_max);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

} // namespace specklescope::whole_file_test
