// Interpretation of SOURCE arguments, and errors for invalid ones.
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace specklescope::test::source_text_test {

struct Meaning {
    const char *text, *kind, *target;
    std::vector<std::pair<std::string, std::string>> options;
};

TEST(SourceText, SchemesAndPaths) {
    const std::vector<Meaning> meanings = {
        {"", "synthetic", "", {}},
        {"synthetic", "synthetic", "", {}},
        {"synthetic:uniform", "synthetic", "uniform", {}},
        {"synthetic?bits=8", "synthetic", "", {{"bits", "8"}}},
        {"synthetic:static?bits=8&noise=0", "synthetic", "static", {{"bits", "8"}, {"noise", "0"}}},
        {"raw:a/b.bin?width=4&height=3&format=rgb8",
         "raw",
         "a/b.bin",
         {{"width", "4"}, {"height", "3"}, {"format", "rgb8"}}},
        {"movie.raw?width=4&height=3", "raw", "movie.raw", {{"width", "4"}, {"height", "3"}}},
        {"movie.RAW", "raw", "movie.RAW", {}},
        {"v4l2:/dev/video0", "v4l2", "/dev/video0", {}},
        {"aravis", "aravis", "", {}},
        {"aravis:Fake_1?gain=2", "aravis", "Fake_1", {{"gain", "2"}}},
        {"rtsp://user:secret@host:554/live?quality=1&x=2",
         "rtsp",
         "rtsp://user:secret@host:554/live?quality=1&x=2",
         {}},
        {"gst:videotestsrc pattern=ball ! video/x-raw,format=GRAY8?a=b",
         "gst",
         "videotestsrc pattern=ball ! video/x-raw,format=GRAY8?a=b",
         {}},
        {"a.png", "image", "a.png", {}},
        {"a.JPEG?rate=30&loop=true", "image", "a.JPEG", {{"rate", "30"}, {"loop", "true"}}},
        {"folder.of/things.tiff", "image", "folder.of/things.tiff", {}},
        {"name_%04d.tif", "image", "name_%04d.tif", {}},
        {"somewhere/", "image", "somewhere/", {}},
        {"/tmp", "image", "/tmp", {}},
        {"film.mkv?loop=true", "video", "film.mkv", {{"loop", "true"}}},
        {"film", "video", "film", {}},
        {"image:picture", "image", "picture", {}},
    };
    for (const Meaning& meaning : meanings) {
        const SourceText parsed = parse_source_text(meaning.text);
        EXPECT_EQ(parsed.kind, meaning.kind) << meaning.text;
        EXPECT_EQ(parsed.target, meaning.target) << meaning.text;
        EXPECT_EQ(parsed.options, meaning.options) << meaning.text;
    }
}

TEST(SourceText, NamesOnDiskWithQuestionMarksAndColons) {
    const TemporaryFolder folder;
    for (const char* name : {"a?b=c.png", "10:30.tif", "what?.avi", "why?x.raw", "synthetic"})
        std::ofstream(folder / name) << "x";
    const auto expect = [&](const std::string& name, const char* kind, const std::string& target,
                            std::size_t options) {
        const SourceText parsed = parse_source_text(folder / name);
        EXPECT_EQ(parsed.kind, kind) << name;
        EXPECT_EQ(parsed.target, folder / target) << name;
        EXPECT_EQ(parsed.options.size(), options) << name;
    };
    expect("a?b=c.png", "image", "a?b=c.png", 0);
    expect("a?b=c.png?rate=3", "image", "a?b=c.png", 1);
    expect("10:30.tif", "image", "10:30.tif", 0);
    expect("what?.avi?loop=true&rate=5", "video", "what?.avi", 2);
    expect("why?x.raw?width=3", "raw", "why?x.raw", 1);
    // A file named like a kind, from its own folder.
    const WorkingFolder inside(folder.path());
    EXPECT_EQ(parse_source_text("synthetic").kind, "video");
    EXPECT_EQ(parse_source_text("10:30.tif").kind, "image");
    EXPECT_EQ(parse_source_text("synthetic:static").kind, "synthetic");
}

TEST(SourceText, AbsoluteTextsMeanTheSameInEveryFolder) {
    const std::string here = std::filesystem::current_path().string();
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"", ""},
        {"synthetic:uniform?bits=8", "synthetic:uniform?bits=8"},
        {"v4l2:/dev/video0", "v4l2:/dev/video0"},
        {"rtsp://host/a?b=c", "rtsp://host/a?b=c"},
        {"a.png?loop=true&rate=3", here + "/a.png?loop=true&rate=3"},
        {"./x/../film.mkv", here + "/film.mkv"},
        {"name_%04d.tif", here + "/name_%04d.tif"},
        {"raw:a.bin?width=4&height=3", "raw:" + here + "/a.bin?width=4&height=3"},
        {"raw:a.raw?width=4", here + "/a.raw?width=4"},
        {"/abs/film.mkv", "/abs/film.mkv"},
        // Options begin at the last '?', for any path before it: "missing/.." does not exist, its folder
        // does.
        {"kaftB?.iratea?", here + "/kaftB?.iratea?"},
        {"missing/../?a?", here + "/?a?"},
        {"missing/../?a?b?rate=3", here + "/?a?b?rate=3"},
        {"a??", here + "/a??"},
        {"b?c.png?rate=3", here + "/b?c.png?rate=3"}};
    for (const auto& [text, wanted] : rows) {
        EXPECT_EQ(absolute_source_text(text), wanted);
        EXPECT_EQ(absolute_source_text(wanted), wanted) << "already";
    }
}

TEST(SourceText, EveryKindIsOnceInTheRegistry) {
    std::vector<std::string> kinds;
    for (const SourceType& type : source_types()) {
        EXPECT_EQ(std::count(kinds.begin(), kinds.end(), type.kind), 0) << type.kind;
        kinds.emplace_back(type.kind);
        ASSERT_NE(type.table, nullptr) << type.kind;
        EXPECT_NE(type.make, nullptr) << type.kind;
        EXPECT_FALSE(type.doc.empty());
        for (const ParamDecl& decl : type.table->decls())
            EXPECT_FALSE(decl.doc.empty()) << type.kind << " " << decl.name;
    }
    EXPECT_EQ(kinds.front(), "synthetic"); // the default
}

template <class E> void expect_refused(const std::string& text, const std::vector<std::string>& words) {
    try {
        (void)make_source(text, {});
        ADD_FAILURE() << text << " was accepted";
    } catch (const E& error) {
        for (const std::string& word : words)
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                << error.what() << "\nlacks " << word;
    }
}

TEST(SourceText, WrongRequestsNameWhatIsAllowed) {
    expect_refused<UsageError>("cinema:film", {"'cinema'", "allowed", "synthetic", "raw", "image"});
    expect_refused<UsageError>("synthetic:ocean", {"'ocean'", "vessels, uniform, static"});
    expect_refused<UsageError>("synthetic?colour=3", {"'colour'", "allowed: scene, width"});
    expect_refused<UsageError>("synthetic?width", {"'width'", "key=value"});
    expect_refused<UsageError>("synthetic?width=-4", {"width = -4", "1…8192 px"});
    expect_refused<UsageError>("synthetic?bits=7", {"bits = 7", "8…16"});
    expect_refused<UsageError>("synthetic?tau=nan", {"tau = nan", "allowed"});
    expect_refused<UsageError>("missing.raw", {"'missing.raw'", "width", "height", "format"});
    expect_refused<UsageError>("raw:", {"the file is missing", "raw:FILE"});
    expect_refused<RunError>("raw:missing.bin?width=4&height=4", {"There is no file 'missing.bin'"});
    expect_refused<RunError>("missing.tif", {"There is no file 'missing.tif'"});
    expect_refused<RunError>("missing.mkv", {"There is no file 'missing.mkv'"});
    expect_refused<RunError>("missing_%04d.png", {"missing_%04d.png"});
    expect_refused<RunError>("missing/", {"missing/"});
    expect_refused<UsageError>(
        "missing.tif?colour=1",
        {"'colour'",
         "rate, speed, loop, frame_height, bayer, channel, slice, path, axes, transfer, full_scale"});
}

TEST(SourceText, TheCommandLineSuppliesMissingOptions) {
    const TemporaryFolder folder;
    write_file(folder / "a.raw", std::string(64, 'x'));
    const std::string raw = (folder / "a.raw") + "?width=4&height=4";
    const auto value = [](const std::unique_ptr<Source>& source, const char* key) {
        return to_string(source->params().get(key));
    };
    const auto plain = make_source(raw, {.rate = 30, .loop = true});
    EXPECT_EQ(value(plain, "rate"), "30");
    EXPECT_EQ(value(plain, "loop"), "true");
    const auto said = make_source(raw + "&rate=7&loop=false", {.rate = 30, .loop = true});
    EXPECT_EQ(value(said, "rate"), "7");
    EXPECT_EQ(value(said, "loop"), "false");
    EXPECT_EQ(value(make_source("synthetic:uniform", {.rate = 30, .loop = true}), "rate"), "30");
}

TEST(SourceText, EditsWhileOpenKeepTheOldValueWhenRefused) {
    const auto source = make_source("synthetic:uniform?width=32&height=32&live=false", {});
    EXPECT_THROW(source->set("rate", -1.0), UsageError);
    EXPECT_THROW(source->set("colour", 1.0), UsageError);
    EXPECT_THROW(source->set("live", true), UsageError);
    EXPECT_EQ(to_string(source->params().get("rate")), "60");
    source->set("rate", 10.0);
    EXPECT_EQ(to_string(source->params().get("rate")), "10");
}

} // namespace specklescope::test::source_text_test
