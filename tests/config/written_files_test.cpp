// Small files are written completely or not at all, and nothing else is modified, even if their names are
// occupied by attackers.
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "files/whole_file.hpp"
#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>

namespace specklescope::written_files_test {
namespace fs = std::filesystem;
using Way = UnnamedFile::Way;

/// A file of another user, and links to it.
class Victim {
public:
    explicit Victim(const TemporaryFolder& folder) : path_(folder / "precious") {
        write_text(path_, "precious");
    }
    void plant(const std::string& link) const { fs::create_symlink(path_, link); }
    std::string text() const { return read_text(path_); }

private:
    std::string path_;
};

TEST(PlantedLinks, AreReplacedAndNeverFollowed) {
    const TemporaryFolder elsewhere, folder;
    const Victim victim(elsewhere);
    const std::string path = folder / "s.json";
    victim.plant(path);
    // All names that a process with this id has ever used as temporary names.
    for (int n = 0; n < 50; ++n)
        victim.plant(folder / (".s.json." + std::to_string(getpid()) + "-" + std::to_string(n) + ".part"));
    victim.plant(folder / ("s.json.part-" + std::to_string(getpid())));
    check_writable(path);
    write_atomically(path, "mine");
    EXPECT_EQ(victim.text(), "precious");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
    EXPECT_EQ(read_text(path), "mine");
    EXPECT_EQ(folder.names().size(), 52U) << "something was left behind";
}

TEST(PlantedLinks, OfTheProgramEmptyNothing) {
    const TemporaryFolder elsewhere, folder;
    const Victim victim(elsewhere);
    for (const char* name : {"s.json", "c.toml", "p.png", "r.tiff", "r.raw", "r.raw.jsonl", "r.mkv"})
        victim.plant(folder / name);
    const ChildResult refused =
        run_program({"run", "synthetic:uniform?width=64&height=48", "--frames", "4", "--stats", "s.json"},
                    folder.path().string());
    EXPECT_EQ(refused.status, 1) << "what the link leads to is no statistics of an earlier run";
    EXPECT_EQ(victim.text(), "precious");
    const ChildResult result = run_program({"run", "synthetic:uniform?width=64&height=48", "--frames", "4",
                                            "--stats", "own.json", "--snapshot", "p.png", "--record-raw",
                                            "r.tiff", "--record-raw", "r.raw", "--record-raw", "r.mkv"},
                                           folder.path().string());
    EXPECT_EQ(result.status, 0) << result.all();
    run_program({"run", "synthetic", "--save-config", "c.toml"}, folder.path().string());
    EXPECT_EQ(victim.text(), "precious");
    EXPECT_NE(read_text(folder / "own.json").find("\"processed\": 4"), std::string::npos);
    for (const char* name : {"p-1.png", "r-1.tiff", "r-1.raw", "r-1.mkv"}) // a taken name gets a number
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / name))) << name << "\n" << result.all();
}

class Unnamed : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Unnamed, testing::Values(Way::unnamed, Way::hidden));

TEST_P(Unnamed, GetsItsNameOrTheNextFreeOne) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.b.txt";
    for (int n = 0; n < 3; ++n) {
        UnnamedFile file(path, GetParam());
        ASSERT_EQ(file.error(), 0);
        ASSERT_EQ(file.file().write_at(0, "n", 1), 0);
        EXPECT_EQ(file.publish(), n == 0 ? path : folder / ("a.b-" + std::to_string(n) + ".txt"));
    }
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.b-1.txt", "a.b-2.txt", "a.b.txt"}));
    struct stat made {};
    ASSERT_EQ(::stat(path.c_str(), &made), 0);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_EQ(made.st_mode & 0777, 0666 & ~mask);
}

/// A program started in the meantime must not inherit the file or its folder.
TEST_P(Unnamed, IsNotInheritedByChildren) {
    const TemporaryFolder folder;
    const auto open_now = [] {
        std::set<int> all;
        for (int fd = 0; fd < 1024; ++fd)
            if (fcntl(fd, F_GETFD) >= 0)
                all.insert(fd);
        return all;
    };
    const std::set<int> before = open_now();
    const UnnamedFile file(folder / "file.txt", GetParam());
    ASSERT_EQ(file.error(), 0);
    int own = 0;
    for (const int fd : open_now())
        if (!before.contains(fd)) {
            ++own;
            EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
        }
    EXPECT_EQ(own, 2) << "itself and its folder";
}

/// A writer whose last piece was written before the end has no more data, which is not a full disk.
TEST_P(Unnamed, TakesNothingToWriteForWritten) {
    const TemporaryFolder folder;
    UnnamedFile file(folder / "a.txt", GetParam());
    ASSERT_EQ(file.error(), 0);
    EXPECT_EQ(file.file().write_at(0, "", 0), 0);
    char a[] = "ab", b[] = "cd";
    std::vector<iovec> parts = {{a, 0}, {a, 2}, {b, 0}, {b, 2}, {b, 0}};
    EXPECT_EQ(file.file().write_at(0, parts), 0);
    EXPECT_EQ(file.publish(), folder / "a.txt");
    EXPECT_EQ(read_text(folder / "a.txt"), "abcd");
}

TEST_P(Unnamed, TakesTheNameOfAnother) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.txt";
    write_text(path, "old");
    UnnamedFile file(path, GetParam());
    ASSERT_EQ(file.file().write_at(0, "new", 3), 0);
    EXPECT_EQ(read_text(path), "old") << "before it is whole";
    EXPECT_EQ(file.replace(), 0);
    EXPECT_EQ(read_text(path), "new");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST_P(Unnamed, IsGoneWithItsOwner) {
    const TemporaryFolder folder;
    {
        const UnnamedFile file(folder / "a.txt", GetParam());
        EXPECT_EQ(folder.names().size(), GetParam() == Way::hidden ? 1U : 0U);
    }
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

/// The folder is opened once: a folder put in its place gets no file.
TEST_P(Unnamed, StaysInTheFolderWhereItBegan) {
    const TemporaryFolder folder;
    fs::create_directory(folder / "mine");
    fs::create_directory(folder / "trap");
    UnnamedFile file(folder / "mine/a.txt", GetParam());
    fs::rename(folder / "mine", folder / "moved");
    fs::create_directory_symlink(folder / "trap", folder / "mine");
    EXPECT_EQ(file.replace(), 0);
    EXPECT_TRUE(fs::exists(folder / "moved/a.txt"));
    EXPECT_TRUE(fs::is_empty(folder / "trap"));
}

TEST_P(Unnamed, SaysWhyItCannotBe) {
    const TemporaryFolder folder;
    EXPECT_EQ(UnnamedFile(folder / "none/a.txt", GetParam()).error(), ENOENT);
    EXPECT_EQ(UnnamedFile(folder / "", GetParam()).error(), EISDIR);
    EXPECT_NE(UnnamedFile("/proc/a.txt", GetParam()).error(), 0);
    fs::create_directory(folder / "gone");
    UnnamedFile lost(folder / "gone/a.txt", GetParam());
    fs::remove_all(folder / "gone");
    EXPECT_EQ(lost.replace(), ENOENT);
}

/// A pipe or a device is not replaced by a file; /dev/stdout is a link to one.
TEST(SmallFile, PipesAndDevicesAreRefusedInOneSentence) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_symlink("/proc/self/fd/1", folder / "stdout");
    fs::create_symlink("/dev/null", folder / "null");
    fs::create_symlink(folder / "none", folder / "dangling");
    for (const std::string& name : {folder / "pipe", folder / "stdout", folder / "null",
                                    std::string("/dev/stdout"), std::string("/dev/full")}) {
        try {
            write_atomically(name, "x");
            ADD_FAILURE() << name << " was replaced";
        } catch (const RunError& error) {
            EXPECT_NE(std::string(error.what()).find("cannot be written ("), std::string::npos)
                << error.what();
        }
        EXPECT_THROW(check_writable(name), RunError) << name;
        EXPECT_FALSE(fs::is_regular_file(fs::symlink_status(name)));
    }
    write_atomically(folder / "dangling", "x");
    EXPECT_FALSE(fs::exists(folder / "none")) << "the link was followed";
}

class StatisticsFile : public testing::Test {
protected:
    /// The program with `--stats s.json` if no file may grow, as on a full disk.
    ChildResult run_full(const std::string& more = "") {
        return run_child({"bash", "-c",
                          "ulimit -f 0; exec '" + test::program_path() +
                              "' run 'synthetic:uniform?width=64&height=48' --frames 4 --stats s.json " +
                              more},
                         folder_.path().string());
    }
    TemporaryFolder folder_;
};

TEST_F(StatisticsFile, OnAFullDiskGoesToStandardErrorAndTheReportIsPrinted) {
    const ChildResult result = run_full();
    EXPECT_EQ(result.status, 1) << result.all();
    EXPECT_NE(result.out.find("4 in, 4 processed"), std::string::npos) << result.all();
    EXPECT_NE(result.err.find("'s.json' cannot be written (File too large)"), std::string::npos);
    EXPECT_NE(result.err.find("\"processed\": 4"), std::string::npos) << result.all();
    EXPECT_EQ(names_in(folder_.path().string()), std::vector<std::string>{});
}

TEST_F(StatisticsFile, ASnapshotThatFailsTakesNothingWithIt) {
    const ChildResult result = run_full("--snapshot p.png");
    EXPECT_EQ(result.status, 1) << result.all();
    EXPECT_NE(result.out.find("4 in, 4 processed"), std::string::npos) << result.all();
    EXPECT_NE(result.err.find("p.png"), std::string::npos) << result.all();
    EXPECT_NE(result.err.find("\"processed\": 4"), std::string::npos) << result.all();
}

} // namespace specklescope::written_files_test
