// Output paths of trace tables, the source in their header, and the example of the guide.
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <string>
#include <sys/stat.h>
#include <vector>

namespace specklescope::traces_paths_test {

class TracesPaths : public testing::Test {
protected:
    void SetUp() override {
        test::write_file(folder / "r.json",
                         R"({"regions":[{"name":"a","shape":"rectangle","points":[[1,1],[5,5]]}]})");
        test::write_file(folder / "line.json",
                         R"({"regions":[{"name":"a","shape":"line","points":[[1,1],[30,30]]}]})");
    }
    ChildResult run(const std::vector<std::string>& more,
                    const std::string& source = "synthetic:vessels?width=64&height=48&live=false") {
        std::vector<std::string> arguments = {"run",       source,   "--frames", "2",
                                              "--regions", "r.json", "--quiet"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_program(arguments, folder.path().string());
    }
    TemporaryFolder folder;
};

TEST_F(TracesPaths, OtherFilesAreNotReplaced) {
    ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::create_symlink("/dev/full", folder / "link");
    test::write_file(folder / "stats.json", "{}");
    for (const std::string path : {"/dev/full", "fifo", "folder", "link", "stats.json"}) {
        const ChildResult ran = run({"--traces", path});
        EXPECT_EQ(ran.status, 1) << path << ran.all();
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        EXPECT_NE(ran.err.find(path), std::string::npos) << ran.err;
    }
    const std::string regions = test::read_file(folder / "r.json");
    const ChildResult read_too = run({"--traces", "r.json"});
    EXPECT_EQ(read_too.status, 2) << read_too.all();
    EXPECT_NE(read_too.err.find("'--traces r.json' would overwrite '--regions r.json'"), std::string::npos)
        << read_too.all();
    EXPECT_EQ(test::read_file(folder / "r.json"), regions);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
    EXPECT_TRUE(std::filesystem::is_fifo(folder / "fifo"));
    EXPECT_EQ(test::read_file(folder / "stats.json"), "{}");
    EXPECT_TRUE(std::filesystem::is_empty(folder / "folder"));
}

TEST_F(TracesPaths, AFileInUseByAnotherRunIsNotReplaced) {
    for (const std::string option : {"--traces", "--widths"}) {
        Child first({test::program_path(), "run", "synthetic:vessels?width=64&height=48&rate=50", "--regions",
                     option == "--traces" ? "r.json" : "line.json", option, "t.csv", "--backend", "cpu"},
                    folder.path().string());
        const auto rows = [&] {
            const std::string text = test::read_file(folder / "t.csv");
            return std::count(text.begin(), text.end(), '\n');
        };
        ASSERT_TRUE(test::eventually([&] {
            return std::filesystem::exists(folder / "t.csv") && rows() > 20;
        })) << option
            << first.finish(std::chrono::seconds(1)).all();
        const ChildResult second =
            run({"--regions", option == "--traces" ? "r.json" : "line.json", option, "t.csv"});
        EXPECT_EQ(second.status, 1) << second.all();
        EXPECT_NE(second.err.find("'t.csv' is being written by another run"), std::string::npos)
            << second.all();
        const auto then = rows();
        EXPECT_TRUE(test::eventually([&] { return rows() > then; })) << "the first goes on";
        first.signal(SIGTERM);
        EXPECT_EQ(first.finish().status, 0);
        const ChildResult third =
            run({"--regions", option == "--traces" ? "r.json" : "line.json", option, "t.csv"});
        EXPECT_EQ(third.status, 0) << "it is free again: " << third.all();
        std::filesystem::remove(folder / "t.csv");
    }
}

TEST_F(TracesPaths, TheSourceIsOnOneLineWithoutSecrets) {
    const std::string pictures =
        "import numpy, os, tifffile\nos.mkdir('hidden')\n"
        "p = numpy.arange(3072, dtype='u2').reshape(48, 64)\n"
        "tifffile.imwrite('hidden/p.tif', p); tifffile.imwrite('a\\n7,1\\rb.tif', p)\n";
    ASSERT_TRUE(test::python(folder, pictures)) << test::read_file(folder / "python.log");
    const ChildResult odd = run({"--traces", "odd.csv", "--stage", "none"}, "a\n7,1\rb.tif");
    ASSERT_EQ(odd.status, 0) << odd.all();
    const std::string text = test::read_file(folder / "odd.csv");
    EXPECT_NE(text.find("# source: a 7,1 b.tif\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("\n7,1"), std::string::npos);
    const ChildResult secret = run_child({"env", "SPECKLESCOPE_PLACE=hidden", test::program_path(), "run",
                                          "${env:SPECKLESCOPE_PLACE}/p.tif", "--stage", "none", "--regions",
                                          "r.json", "--traces", "secret.csv"},
                                         folder.path().string());
    ASSERT_EQ(secret.status, 0) << secret.all();
    EXPECT_EQ(test::read_file(folder / "secret.csv").find("hidden"), std::string::npos)
        << test::read_file(folder / "secret.csv");
}

} // namespace specklescope::traces_paths_test
