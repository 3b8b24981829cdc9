// Where too many files are open: what is said of it, and as many as may be.
#include "base/error.hpp"
#include "base/system.hpp"
#include "files/whole_file.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>

namespace specklescope::open_files_test {

/// All descriptors are taken while it lives.
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

/// Read once there are descriptors again: UBSan needs some to look at the type.
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

/// Neither is a file written into nothing, nor does what a network file system says at the end stay unheard.
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

} // namespace specklescope::open_files_test
