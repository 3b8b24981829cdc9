// Untrusted files and names: a settings file is only data, a name is only bytes, and memory is checked
// before it is allocated.
#include "tests/support/child.hpp"
#include "tests/support/images.hpp"

#include <sys/stat.h>

namespace specklescope::strangers_test {

class Strangers : public testing::Test {
protected:
    ChildResult run(const std::vector<std::string>& words) const {
        return run_program(words, folder_.path().string());
    }
    void expect_refused(const ChildResult& result, int status, const std::vector<std::string>& says) const {
        EXPECT_EQ(result.status, status) << result.all();
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
        EXPECT_EQ(result.out, "");
        for (const std::string& piece : says)
            EXPECT_NE(result.err.find(piece), std::string::npos) << piece << "\n" << result.all();
    }
    std::string image(const std::string& name) const {
        write_text(folder_ / name, tiff_bytes({}));
        return folder_ / name;
    }
    TemporaryFolder folder_;
};

TEST_F(Strangers, ASettingsFileRunsNothing) {
    image("good.tif");
    for (const char* line :
         {"source = \"gst:videotestsrc num-buffers=2\"", "source = \"rtsp://h/${env:HOME}\""}) {
        write_text(folder_ / "s.toml", std::string(line) + "\n");
        expect_refused(run({"run", "--config", "s.toml"}), 2, {"s.toml, line 1: source = ", "--trust"});
    }
    write_text(folder_ / "s.toml", "record = []\nstats = \"\"\nsnapshot = \"\"\nsource = \"good.tif\"\n");
    EXPECT_EQ(run({"run", "good.tif", "--config", "s.toml"}).status, 0) << "nothing is named";
}

TEST_F(Strangers, ATrustedFileMayNameThem) {
    image("good.tif");
    write_text(folder_ / "s.toml",
               "command = \"run\"\nsource = \"good.tif\"\nrecord = \"x.tiff\"\nstats = \"x.json\"\n");
    const ChildResult result = run({"--config", "s.toml", "--trust"});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_TRUE(std::filesystem::exists(folder_ / "x.tiff") && std::filesystem::exists(folder_ / "x.json"));
    write_text(folder_ / "g.toml", "command = \"run\"\nsource = \"gst:videotestsrc num-buffers=2 ! "
                                   "video/x-raw,format=GRAY8 ! tee name=t ! "
                                   "queue ! filesink location=x.bin t. ! queue\"\n");
    const ChildResult gst = run({"--config", "g.toml", "--trust"});
    EXPECT_EQ(gst.status, 0) << gst.all();
    EXPECT_TRUE(std::filesystem::exists(folder_ / "x.bin"));
}

TEST_F(Strangers, WhoSavesSettingsIsToldWhetherTheyMustBeTrusted) {
    const std::string picture = image("good.tif");
    const auto told = [&](const std::vector<std::string>& words) {
        std::vector<std::string> line = {"run", picture, "--save-config", "s.toml"};
        line.insert(line.end(), words.begin(), words.end());
        const ChildResult result = run(line);
        EXPECT_EQ(result.status, 0) << result.all();
        return result.out.find("with --trust only") != std::string::npos;
    };
    EXPECT_FALSE(told({}));
    EXPECT_FALSE(told({"--stage", "gaussian", "--frames", "3"}));
    for (const char* output : {"--record", "--record-raw", "--record-mask", "--record-screen", "--snapshot"})
        EXPECT_TRUE(told({output, "x.tiff"})) << output;
    EXPECT_TRUE(told({"--stats", "x.json"}));
}

TEST_F(Strangers, AGstTextWritesOnlyIfItIsTrusted) {
    const std::string text =
        "gst:videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8 ! tee name=t ! queue ! filesink "
        "location=x.bin t. ! queue";
    expect_refused(run({"run", text}), 2, {"filesink", "--trust"});
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x.bin"));
    EXPECT_EQ(run({"run", text, "--trust"}).status, 0);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "x.bin"));
}

TEST_F(Strangers, StatisticsReplaceNothingButStatistics) {
    const std::string good = image("good.tif");
    for (const char* other : {"a thesis\n", "{\"source\": \"mine\"}\n", "[1, 2]"}) {
        write_text(folder_ / "s.json", other);
        expect_refused(run({"run", good, "--stats", "s.json"}), 1, {"'s.json'", "not replaced"});
        EXPECT_EQ(read_text(folder_ / "s.json"), other);
    }
    write_text(folder_ / "s.json", "");
    EXPECT_EQ(run({"run", good, "--stats", "s.json", "--stage", "speckle:radius=1"}).status, 0)
        << "it held nothing";
    const std::string first = read_text(folder_ / "s.json");
    EXPECT_NE(first.find("radius=1"), std::string::npos);
    EXPECT_EQ(run({"run", good, "--stats", "s.json", "--stage", "speckle:radius=2"}).status, 0);
    EXPECT_NE(read_text(folder_ / "s.json").find("radius=2"), std::string::npos) << "its own is replaced";
    expect_refused(run({"run", good, "--stats", "/dev/null"}), 1, {"/dev/null"});
}

TEST_F(Strangers, ASettingsFileWithoutEndIsRefused) {
    expect_refused(run({"run", image("good.tif"), "--config", "/dev/zero"}), 1, {"/dev/zero", "1 MiB"});
}

TEST_F(Strangers, NamesThatAreNotUtf8WorkOrAreRefused) {
    const std::string good = image("caf\xe9.tif");
    const std::string dark = image("d\xe9rk.tif");
    const ChildResult result = run({"run",          good,
                                    "--stage",      "background:dark=file,dark_file=" + dark,
                                    "--stage",      "speckle:radius=1",
                                    "--record",     "a\xe9.tiff",
                                    "--record",     "b\xe9.mkv",
                                    "--record",     "c\xe9.png",
                                    "--record",     "d\xe9.raw",
                                    "--record-raw", "e\xe9.tiff",
                                    "--record-raw", "f\xe9.raw",
                                    "--snapshot",   "g\xe9.png",
                                    "--stats",      "h\xe9.json"});
    EXPECT_EQ(result.status, 0) << result.all();
    for (const char* name :
         {"a\xe9.tiff", "b\xe9.mkv", "d\xe9.raw", "e\xe9.tiff", "f\xe9.raw", "g\xe9.png", "h\xe9.json"})
        EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
    EXPECT_EQ(run({"run", folder_ / "a\xe9.tiff"}).status, 0);
    EXPECT_EQ(run({"run", folder_ / "b\xe9.mkv"}).status, 0);
    const auto before = names_in(folder_.path().string());
    expect_refused(run({"run", good, "--save-config", "s.toml"}), 1, {"not UTF-8"});
    expect_refused(run({"run", "good.tif", "--record", "x\xe9.tiff", "--save-config", "s.toml"}), 1,
                   {"not UTF-8"});
    EXPECT_EQ(names_in(folder_.path().string()), before);
    EXPECT_EQ(run({"run", "good.tif", "--save-config", "s\xe9.toml"}).status, 0) << "what it holds is UTF-8";
    EXPECT_EQ(run({"run", good, "--config", "s\xe9.toml"}).status, 0);
}

TEST_F(Strangers, NamesSendNothingToTheTerminal) {
    const std::string evil = "\x1b]0;owned\x07\x1b[31m\xc2\x9b"
                             "31m\nx";
    const std::string picture = image(evil + ".tif");
    const auto expect_clean = [](const ChildResult& result) {
        for (const char* sign : {"\x1b", "\x07", "\xc2\x9b"})
            EXPECT_EQ(result.all().find(sign), std::string::npos) << result.all();
    };
    const ChildResult well = run({"run", picture, "--record", evil + ".tiff", "--record-raw",
                                  evil + "raw.tiff", "--snapshot", evil + ".png", "--stats", evil + ".json",
                                  "--stage", "background:dark=file,dark_file=" + picture, "--verbose"});
    EXPECT_EQ(well.status, 0) << well.all();
    expect_clean(well);
    expect_clean(run({"run", evil + "nothing.tif"}));
    expect_clean(run({"run", evil + "nothing.mkv"}));
    expect_clean(run({"run", evil}));
    expect_clean(run({"run", picture, "--stage", "background:dark=file,dark_file=" + evil}));
    expect_clean(run({"run", picture, "--record", evil + ".xyz"}));
    expect_clean(run({"run", picture, "--record", evil + "/x.tiff"}));
    expect_clean(run({"run", picture, "--config", evil}));
    expect_clean(run({"run", picture, "--save-config", evil + ".toml"}));
    expect_clean(run({"run", picture, "--stage", evil}));
    expect_clean(run({"run", picture, evil}));
    expect_clean(run({"run", picture, evil, evil}));
    expect_clean(run({"run", picture, "--" + evil}));
    expect_clean(run({"list", evil}));
    expect_clean(run({"run", "gst:" + evil}));
    expect_clean(run({"run", "raw:" + picture}));
}

TEST_F(Strangers, APipeNamedAsAPictureIsRefusedAtOnce) {
    for (const char* name : {"a.png", "a.tif", "a.jpg", "a.mkv"}) {
        ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
        expect_refused(run({"run", folder_ / name}), 1, {name});
    }
}

TEST_F(Strangers, APipeNamedAsSettingsIsWaitedForInSoManyWords) {
    const std::string pipe = folder_ / "s.toml", good = image("good.tif");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    {
        Child waits({test::program_path(), "run", good, "--config", pipe}, folder_.path().string());
        EXPECT_TRUE(waits.until([](const ChildResult& so_far) { return so_far.err.ends_with(".\n"); },
                                std::chrono::seconds(60)))
            << "it says nothing";
        EXPECT_NE(waits.so_far().err.find("waiting for a writer of the pipe '" + pipe + "'; Ctrl-C"),
                  std::string::npos)
            << waits.so_far().all();
        waits.signal(SIGINT);
        EXPECT_EQ(waits.finish(std::chrono::seconds(60)).status, 128 + SIGINT);
    }
    const auto from_shell = [&](const std::string& line) {
        return run_child({"bash", "-c", line, "bash", test::program_path(), good, pipe},
                         folder_.path().string());
    };
    const std::string text = "printf '[[stage]]\nname = \"speckle\"\nradius = 1\n'";
    for (const std::string& line : {"\"$1\" run \"$2\" --stats - --config <(" + text + ")",
                                    text + " > \"$3\" & \"$1\" run \"$2\" --stats - --config \"$3\"",
                                    text + " | \"$1\" run \"$2\" --stats - --config /dev/stdin"}) {
        const ChildResult result = from_shell(line);
        EXPECT_EQ(result.status, 0) << line << result.all();
        EXPECT_NE(result.all().find("radius=1"), std::string::npos) << line << result.all();
    }
    expect_refused(from_shell("exec \"$1\" run \"$2\" --config <(cat /dev/zero)"), 1, {"1 MiB"});
    expect_refused(from_shell("exec \"$1\" run \"$2\" --config <(true)"), 1, {"is empty"});
}

TEST_F(Strangers, PipesBesideWhatIsNamedAreNotWaitedFor) {
    const std::string presets = folder_ / ".config/specklescope/presets";
    std::filesystem::create_directories(presets);
    ASSERT_EQ(mkfifo((presets + "/mine.toml").c_str(), 0600), 0);
    write_text(presets + "/large.toml", std::string((1 << 20) + 1, '#'));
    const ChildResult result = run({"run", image("good.tif"), "--preset", "mine"});
    EXPECT_EQ(result.status, 2) << result.all();
    for (const char* piece : {"mine.toml' is a pipe", "large.toml' is larger than 1 MiB, and no preset."})
        EXPECT_NE(result.all().find(piece), std::string::npos) << result.all();
    write_text(folder_ / "a.raw", std::string(24, 'x'));
    ASSERT_EQ(mkfifo((folder_ / "a.raw.jsonl").c_str(), 0600), 0);
    EXPECT_EQ(run({"run", "raw:a.raw?width=4&height=3"}).status, 0);
}

/// Peak memory of a run in MiB.
double peak_of(const std::vector<std::string>& words, const std::string& folder, ChildResult& result) {
    std::vector<std::string> argv = {"/usr/bin/python3", "-c",
                                     "import resource,subprocess,sys\nr=subprocess.run(sys.argv[1:])\n"
                                     "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / "
                                     "1024)\nsys.exit(r.returncode)",
                                     test::program_path()};
    argv.insert(argv.end(), words.begin(), words.end());
    result = run_child(argv, folder);
    return std::stod(result.out.substr(result.out.rfind("peak") + 5));
}

TEST_F(Strangers, ASmallFileDoesNotTakeGigabytes) {
    const auto chunk = [](const std::string& type, const std::string& data) {
        const auto big = [](std::uint32_t value) {
            const std::string text = little(value, 4);
            return std::string(text.rbegin(), text.rend());
        };
        return big(static_cast<std::uint32_t>(data.size())) + type + data + big(png_crc(type + data));
    };
    const std::string head = png_header(16, 16);
    // A text with a stated size of 2 GB, one that expands to 60 MB, rows of 2 GB, and ten thousand texts.
    const ChildResult packed =
        run_child({"/usr/bin/python3", "-c",
                   "import zlib,sys; sys.stdout.write(zlib.compress(b' ' * (64 << 20), 9).hex())"},
                  folder_.path().string());
    std::string bytes;
    for (std::size_t i = 0; i + 1 < packed.out.size(); i += 2)
        bytes += static_cast<char>(std::stoi(packed.out.substr(i, 2), nullptr, 16));
    std::string many;
    for (int i = 0; i < 10000; ++i)
        many += chunk("tEXt", "Comment" + std::string(1, '\0') + std::string(4000, 'x'));
    write_text(folder_ / "claims.png", head + std::string("\x7f\xff\xff\xff", 4) + "tEXtComment");
    write_text(folder_ / "unfolds.png", head + chunk("zTXt", "Comment" + std::string(2, '\0') + bytes));
    write_text(folder_ / "wide.png", png_header(0x7fffffff, 1) + chunk("IDAT", "x"));
    write_text(folder_ / "many.png", head + many);
    write_text(folder_ / "huge.tif",
               tiff_bytes({.width = 65000, .height = 16000, .compression = 8, .data = false}));
#ifdef __SANITIZE_ADDRESS__
    constexpr double kMost = 400; // MiB; freed memory stays in the process
#else
    constexpr double kMost = 200;
#endif
    for (const char* name : {"claims.png", "unfolds.png", "wide.png", "many.png", "huge.tif"}) {
        ChildResult result;
        const double peak = peak_of({"run", folder_ / name}, folder_.path().string(), result);
        EXPECT_EQ(result.status, 1) << result.all();
        EXPECT_NE(result.err.find(" MiB of memory") == std::string::npos ? result.err.find(name) : 0,
                  std::string::npos)
            << result.all();
        EXPECT_LT(peak, kMost) << name << ": MiB";
    }
}

/// A sparse file can claim any size: its sides are compared with the image first.
TEST_F(Strangers, ASparseArrayOfAnotherSizeTakesNoMemory) {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (30000, 30000), }";
    header.resize(118, ' ');
    write_text(folder_ / "a.npy",
               std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header);
    std::filesystem::resize_file(folder_ / "a.npy", 128 + std::uint64_t{30000} * 30000);
#ifdef __SANITIZE_ADDRESS__
    constexpr double kMost = 400; // MiB
#else
    constexpr double kMost = 200;
#endif
    for (const std::string& source : {std::string("synthetic:uniform?width=64&height=48"), image("good.tif")})
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"--stage", "background:dark=file,dark_file=a.npy"},
              {"--baseline", "a.npy"}}) {
            std::vector<std::string> line = {"run", source, "--frames", "1", "--backend", "cpu"};
            line.insert(line.end(), words.begin(), words.end());
            ChildResult result;
            EXPECT_LT(peak_of(line, folder_.path().string(), result), kMost) << "MiB";
            EXPECT_EQ(result.status, 2) << result.all();
            EXPECT_NE(result.err.find("30000×30000"), std::string::npos) << result.all();
        }
}

} // namespace specklescope::strangers_test
