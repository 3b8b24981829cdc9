// Folders, completion of paths, sizes of files without a header, and the list of recent sources.
#include "base/error.hpp"
#include "config/last_window.hpp"
#include "config/look/first_look.hpp"
#include "config/look/raw_sizes.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "ui/sources/folder.hpp"
#include "ui/sources/folder_dialog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sys/stat.h>

namespace specklescope::open_sources_test {

std::string name_of(const RawSize& size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height) + " " + size.format + " " +
           std::to_string(size.frames);
}

TEST(RawSizes, AreThoseThatFillTheFile) {
    for (const std::uint64_t bytes :
         {std::uint64_t{640} * 480 * 12, std::uint64_t{1392} * 1040 * 2 * 3, std::uint64_t{7919}})
        for (const std::uint64_t header : {std::uint64_t{0}, std::uint64_t{512}})
            for (const RawSize& size : raw_sizes(bytes + header, header, "x.raw")) {
                const std::uint64_t bits = size.format == "gray8"                           ? 8
                                           : size.format == "rgb8" || size.format == "bgr8" ? 24
                                           : size.format == "gray32f"                       ? 32
                                           : size.format == "rgb16le"                       ? 48
                                           : size.format == "rgb32f"                        ? 96
                                           : size.format == "mono10p"                       ? 10
                                           : size.format == "mono14p"                       ? 14
                                           : size.format.starts_with("mono")                ? 12
                                                                                            : 16;
                const auto pixels =
                    static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height);
                const std::uint64_t frame = (pixels * bits + 7) / 8;
                EXPECT_EQ(frame * size.frames, bytes) << name_of(size);
                EXPECT_GT(size.frames, 0U);
            }
    EXPECT_TRUE(raw_sizes(7919, 0, "x.raw").empty()) << "a prime";
    EXPECT_TRUE(raw_sizes(100, 512, "x.raw").empty());
    const auto sizes = raw_sizes(std::uint64_t{1392} * 1040 * 2 * 3, 0, "x.raw");
    EXPECT_TRUE(std::any_of(sizes.begin(), sizes.end(),
                            [](const RawSize& s) { return name_of(s) == "1392x1040 gray16le 3"; }));
    EXPECT_EQ(name_of(raw_sizes(std::uint64_t{100} * 50 * 4, 0, "/a/640x480/b_100x50_c.raw").front()),
              "100x50 gray8 4")
        << "the name says it, not the folder";
    for (const std::string& format : raw_formats())
        EXPECT_GT(raw_frame_bytes(2, 3, format), 0U) << format;
    EXPECT_FALSE(raw_formats().empty());
}

TEST(RawSizes, MakeASourceThatReadsTheFile) {
    const TemporaryFolder folder;
    std::string pixels(512, '\0');
    for (int i = 0; i < 20 * 10 * 3; ++i)
        pixels += static_cast<char>(i % 200);
    const std::string path = folder / "odd ?name.bin";
    write_text(path, pixels);
    const FirstLook look = first_look(SourceArgument(raw_source(path, {20, 10, "gray8", 3}, 512)), 8);
    EXPECT_EQ(look.shape, (Shape{20, 10, 1, PixelType::u8}));
    EXPECT_EQ(look.frames, 3U);
    EXPECT_LE(look.width, 8);
    EXPECT_EQ(look.rgb.size(),
              static_cast<std::size_t>(look.width) * static_cast<std::size_t>(look.height) * 3);
    EXPECT_LT(look.rgb[0], look.rgb.back()) << "it grows from the first pixel to the last";
    EXPECT_THROW((void)first_look("synthetic", 8), UsageError);
    EXPECT_FALSE(is_gone(SourceArgument(raw_source(path, {20, 10, "gray8", 3}, 512))));
    EXPECT_TRUE(is_gone(SourceArgument((folder / "none.tif"))));
    EXPECT_FALSE(is_gone("synthetic:vessels"));
    EXPECT_FALSE(is_gone("rtsp://host/x"));
}

TEST(OpenFolder, ListsFoldersFirstAndWhatASourceCouldBe) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "zeta");
    std::filesystem::create_directories(folder.path() / ".hidden");
    for (const char* name : {"b.TIF", "a.raw", "notes.txt", ".c.tif", "film.mkv"})
        write_text(folder / name, "12345");
    const auto names = [](const Folder& listed) {
        std::vector<std::string> all;
        for (const FolderEntry& entry : listed.entries)
            all.push_back(entry.name + (entry.folder ? "/" : ""));
        return all;
    };
    const std::string path = folder.path().string();
    EXPECT_EQ(names(read_folder(path, false)),
              (std::vector<std::string>{"zeta/", "a.raw", "b.TIF", "film.mkv"}));
    EXPECT_EQ(names(read_folder(path, true)).size(), 5U);
    EXPECT_EQ(read_folder(path, false).entries[1].bytes, 5U);
    EXPECT_TRUE(read_folder(path, false).entries[1].headerless);
    write_text(folder / "a.raw", std::string("\x01\0\x02\0\x01\0\x05\0ab", 10)); // a header of FOIL, 2 pixels
    EXPECT_FALSE(read_folder(path, false).entries[1].headerless);
    EXPECT_EQ(names(read_folder(path, false, "m")), std::vector<std::string>{"film.mkv"});
    EXPECT_NE(read_folder(path + "/none", false).error.find("cannot be listed"), std::string::npos);
}

TEST(OpenFolder, OfTooManyThoseAreListedWhoseNamesHoldWhatIsTyped) {
    const TemporaryFolder folder;
    for (std::size_t i = 0; i <= kMostEntries; ++i)
        write_text(folder / ("f" + std::to_string(10000 + i) + ".raw"), "");
    const Folder all = read_folder(folder.path().string(), false);
    EXPECT_TRUE(all.cut);
    EXPECT_EQ(all.entries.size(), kMostEntries);
    EXPECT_TRUE(answers(all, ""));
    EXPECT_FALSE(answers(all, "1234"));
    const Folder some = read_folder(folder.path().string(), false, "1234");
    EXPECT_FALSE(some.cut);
    EXPECT_EQ(some.entries.size(), 11U) << "f11234, and f12340 to f12349";
    EXPECT_TRUE(answers(some, "12345"));
    EXPECT_FALSE(answers(some, "123"));
}

TEST(OpenFolder, CompletesAsFarAsItIsClear) {
    const Folder folder{
        "/data",
        "",
        "",
        {{"scans", true, 0}, {"a_é1.tif", false, 1}, {"a_é2.tif", false, 1}, {"a_ê.tif", false, 1}},
        false};
    EXPECT_EQ(completed("/data/s", folder), "/data/scans/");
    EXPECT_EQ(completed("/data/a_é", folder), "/data/a_é");
    EXPECT_EQ(completed("/data/a", folder), "/data/a_") << "no half letter";
    EXPECT_EQ(completed("/data/a_é1", folder), "/data/a_é1.tif");
    EXPECT_EQ(completed("/data/x", folder), "/data/x");
    EXPECT_EQ(typed_path("/data/s").folder, "/data");
    EXPECT_EQ(typed_path("/data/s").name, "s");
    EXPECT_EQ(typed_path("/x").folder, "/");
    EXPECT_EQ(typed_path("synthetic:vessels").folder, "");
    setenv("HOME", "/home/somebody", 1); // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(typed_path("~/d/f").folder, "/home/somebody/d");
    EXPECT_EQ(typed_path("~").folder, "/home/somebody");
}

TEST(RecentFile, KeepsSourcesForTheirOwnerAlone) {
    const TemporaryFolder folder;
    setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    EXPECT_TRUE(load_recent().empty());
    const std::vector<SourceArgument> sources = {"rtsp://me:sesame@host/x", "/data/a \"b\" ünï.tif",
                                                 SourceArgument(std::string("/data/\xff.tif")),
                                                 "synthetic:static"};
    save_recent(sources);
    const std::string path = folder / "specklescope/recent.toml";
    EXPECT_EQ(read_text(path).find("sesame"), std::string::npos);
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    const std::vector<SourceArgument> back = load_recent();
    ASSERT_EQ(back.size(), 3U) << "TOML holds no bytes that are no text";
    EXPECT_EQ(back[0].references(), std::vector<std::string>{"SPECKLESCOPE_PASSWORD"});
    EXPECT_EQ(back[1].revealed(), "/data/a \"b\" ünï.tif");
    EXPECT_EQ(back[2].revealed(), "synthetic:static");
    write_text(path, "recent = [");
    EXPECT_TRUE(load_recent().empty()) << "damaged";
}

TEST(SystemDialog, ReadsANameAndEndsWithTheOneWhoAsked) {
    const TemporaryFolder folder;
    const auto program = [&](const std::string& script) {
        write_text(folder / "zenity", "#!/bin/sh\n" + script);
        chmod((folder / "zenity").c_str(), 0755);
    };
    const std::string path = std::getenv("PATH");                     // NOLINT(concurrency-mt-unsafe)
    setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    const auto answer = [](SystemDialog& dialog) {
        std::optional<std::string> said;
        while (!said)
            said = dialog.poll();
        return *said;
    };
    SystemDialog dialog;
    program("printf '/data/a\\nb $HOME.tif\\n\\n'\n"); // a name with a final line end
    EXPECT_EQ(SystemDialog::program(), folder / "zenity");
    dialog.start("/data");
    EXPECT_EQ(answer(dialog), "/data/a\nb $HOME.tif\n");
    EXPECT_FALSE(dialog.running());
    EXPECT_FALSE(dialog.poll());
    program("echo /data/x; exit 1\n");
    dialog.start("/data");
    EXPECT_EQ(answer(dialog), "") << "it was given up";
    program("echo /data/x\n");
    const auto before = std::signal(SIGCHLD, SIG_IGN); // as some launchers leave it
    dialog.start("/data");
    EXPECT_TRUE(test::eventually([&] {
        const auto said = dialog.poll();
        return said && *said == "/data/x";
    }));
    EXPECT_FALSE(dialog.running());
    std::signal(SIGCHLD, before);
    program("echo $$ >" + (folder / "pid") + "; exec sleep 1000\n");
    pid_t pid = 0;
    {
        SystemDialog waits;
        waits.start("/data");
        while (pid == 0)
            pid = std::atoi(read_text(folder / "pid").c_str());
        EXPECT_FALSE(waits.poll()) << "and nobody waits for it";
        EXPECT_EQ(kill(pid, 0), 0);
    }
    EXPECT_NE(kill(pid, 0), 0) << "it is gone";
    setenv("PATH", path.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
}

} // namespace specklescope::open_sources_test
