// A password is sent only to the camera: it is in no file, no terminal output, no settings.
#include "base/error.hpp"
#include "base/source_argument.hpp"
#include "config/settings.hpp"
#include "have_cairo.hpp"
#include "have_exr.hpp"
#include "sources/registry.hpp"
#include "tests/sources/rtsp_server.hpp"
#include "tests/support/child.hpp"
#include "tests/support/nightly.hpp"

#include <filesystem>
#include <map>
#include <sys/stat.h>

namespace specklescope::secrets_test {

std::optional<std::string> nothing(const std::string&) { return std::nullopt; }

struct Shown {
    const char* text;
    const char* shown;
    const char* referring;
};
void PrintTo(const Shown& c, std::ostream* out) { *out << c.text; }

class Secret : public testing::TestWithParam<Shown> {};

TEST_P(Secret, IsNeitherShownNorSaved) {
    const SourceArgument source(GetParam().text);
    EXPECT_EQ(source.revealed(), GetParam().text);
    EXPECT_EQ(source.shown(), GetParam().shown);
    EXPECT_EQ(source.referring().revealed(), GetParam().referring);
    EXPECT_EQ(source.referring().shown(), GetParam().referring) << "a name is no secret";
    EXPECT_FALSE(source.referring().holds_secret());
}

#define REF(name) "${env:SPECKLESCOPE_" name "}" // NOLINT: texts joined before they are compiled
INSTANTIATE_TEST_SUITE_P(
    Text, Secret,
    testing::Values(
        Shown{"rtsp://user:geheim@host/x", "rtsp://user:***@host/x",
              "rtsp://user:" REF("PASSWORD") "@host/x"},
        Shown{"rtsps://user:p@ss@host:554/x@2", "rtsps://user:***@host:554/x@2",
              "rtsps://user:" REF("PASSWORD") "@host:554/x@2"},
        Shown{"rtsp://user:pa/ss@host/x", "rtsp://user:***@host/x", "rtsp://user:" REF("PASSWORD") "@host/x"},
        Shown{"rtsp://user:two words@host/x", "rtsp://user:***@host/x",
              "rtsp://user:" REF("PASSWORD") "@host/x"},
        Shown{"rtsp://user:it's@host/x?token=a \"b\"&c=1", "rtsp://user:***@host/x?token=***&c=1",
              "rtsp://user:" REF("PASSWORD") "@host/x?token=" REF("TOKEN") "&c=1"},
        Shown{"rtsp://user:0#x@host/x", "rtsp://user:***@host/x", "rtsp://user:" REF("PASSWORD") "@host/x"},
        Shown{"rtsp://host:554/stream@1", "rtsp://host:554/stream@1", "rtsp://host:554/stream@1"},
        Shown{"rtsp://user@host/x", "rtsp://user@host/x", "rtsp://user@host/x"},
        Shown{"rtsp://h/x?Password=abc&a=1&access_token=def#g",
              "rtsp://h/x?Password=***&a=1&access_token=***#g",
              "rtsp://h/x?Password=" REF("PASSWORD") "&a=1&access_token=" REF("ACCESS_TOKEN") "#g"},
        Shown{"gst:rtspsrc location=rtsp://h user-id=me user-pw=abc ! decodebin",
              "gst:rtspsrc location=rtsp://h user-id=me user-pw=*** ! decodebin",
              "gst:rtspsrc location=rtsp://h user-id=me user-pw=" REF("USER_PW") " ! decodebin"},
        Shown{"gst:a password = \"two \\\" words\" b=1", "gst:a password = \"***\" b=1",
              "gst:a password = \"" REF("PASSWORD") "\" b=1"},
        Shown{"gst:a proxy-pw=one\\ two b=1", "gst:a proxy-pw=*** b=1",
              "gst:a proxy-pw=" REF("PROXY_PW") " b=1"},
        Shown{"gst:souphttpsrc extra-headers=\"h,Authorization=(string)\\\"Bearer x y\\\"\" "
              "location=http://u:v@h",
              "gst:souphttpsrc extra-headers=\"***\" location=http://u:***@h",
              "gst:souphttpsrc extra-headers=\"" REF("EXTRA_HEADERS") "\" location=http://u:" REF(
                  "PASSWORD") "@h"},
        Shown{"gst:souphttpsrc extra-headers=h,X-Other=abc cookies=a=b location=http://h",
              "gst:souphttpsrc extra-headers=*** cookies=*** location=http://h",
              "gst:souphttpsrc extra-headers=" REF("EXTRA_HEADERS") " cookies=" REF(
                  "COOKIES") " location=http://h"},
        Shown{"gst:rtspsrc proxy=me:geheim@h:80 location=rtsp:u:v@h",
              "gst:rtspsrc proxy=me:***@h:80 location=rtsp:u:***@h",
              "gst:rtspsrc proxy=me:" REF("PASSWORD") "@h:80 location=rtsp:u:" REF("PASSWORD_2") "@h"},
        Shown{"rtsp:user:geheim@host/x", "rtsp:user:***@host/x", "rtsp:user:" REF("PASSWORD") "@host/x"},
        Shown{"rtsp:/user:two words@host:1/x", "rtsp:/user:***@host:1/x",
              "rtsp:/user:" REF("PASSWORD") "@host:1/x"},
        Shown{"video:/data/a:b@c.avi", "video:/data/a:b@c.avi", "video:/data/a:b@c.avi"},
        Shown{"rtsp:host:554/a@b", "rtsp:host:554/a@b", "rtsp:host:554/a@b"},
        Shown{"gst:a password=x ! b password=y ! c password=x",
              "gst:a password=*** ! b password=*** ! c password=***",
              "gst:a password=" REF("PASSWORD") " ! b password=" REF("PASSWORD_2") " ! c password=" REF(
                  "PASSWORD")},
        Shown{"rtsp://${env:NAME}:${env:WORD}@host/x", "rtsp://${env:NAME}:${env:WORD}@host/x",
              "rtsp://${env:NAME}:${env:WORD}@host/x"},
        Shown{"rtsp://${env:NAME}:geheim@host/x", "rtsp://${env:NAME}:***@host/x",
              "rtsp://${env:NAME}:" REF("PASSWORD") "@host/x"},
        Shown{"/data/token=abc/film.mkv?rate=3", "/data/token=abc/film.mkv?rate=3",
              "/data/token=abc/film.mkv?rate=3"}));

TEST(SecretText, ReferencesAreResolvedAsTheirPlaceAsks) {
    const std::map<std::string, std::string> values = {
        {"A", "p@s/s w"}, {"B", "x y\"z"}, {"C", "rtsp://u:v@h/"}};
    const auto value_of = [&](const std::string& name) -> std::optional<std::string> {
        return values.at(name);
    };
    const auto opened = [&](const char* text) { return SourceArgument(text).resolved(value_of).revealed(); };
    EXPECT_EQ(opened("rtsp://u:${env:A}@h/?token=${env:A}"), "rtsp://u:p%40s%2Fs%20w@h/?token=p%40s%2Fs%20w");
    EXPECT_EQ(opened("gst:a user-pw=${env:B} b=1"), "gst:a user-pw=x\\ y\\\"z b=1");
    EXPECT_EQ(opened("gst:a user-pw=\"${env:B}\" b=1"), "gst:a user-pw=\"x y\\\"z\" b=1");
    EXPECT_EQ(opened("${env:C}"), "rtsp://u:v@h/");
    const SourceArgument resolved = SourceArgument("rtsp://u:${env:A}@h/").resolved(value_of);
    EXPECT_EQ(resolved.shown(), "rtsp://u:${env:A}@h/");
    EXPECT_EQ(resolved.hide("cannot open rtsp://u:p%40s%2Fs%20w@h/, password p@s/s w"),
              "cannot open rtsp://u:${env:A}@h/, password ***");
    EXPECT_THROW((void)SourceArgument("rtsp://u:${env:A}@h/").resolved(nothing), UsageError);
}

TEST(SecretText, WhatALibrarySaysIsHidden) {
    const SourceArgument source("rtsp://u:p%40ss@h/");
    EXPECT_EQ(source.hide("rtsp://u:p%40ss@h/ refused p@ss and p%40ss"),
              "rtsp://u:***@h/ refused *** and ***");
    EXPECT_EQ(SourceArgument("rtsp://u:a@h/").hide("a bad camera rtsp://u:a@h2/"),
              "a bad camera rtsp://u:***@h2/");
}

constexpr const char* kPassword = "geheim4711";
constexpr const char* kToken = "tok-98-tok";

class SecretRun : public testing::Test {
protected:
    static constexpr const char* kScene =
        "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=50/1";
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), test::program_path());
        return run_child(words, folder_.path().string());
    }
    /// Neither in its output, nor in any file or file name.
    void expect_hidden(const ChildResult& result) const {
        const auto expect_none = [](const std::string& text, const std::string& where) {
            for (const char* secret : {kPassword, kToken})
                EXPECT_EQ(text.find(secret), std::string::npos) << secret << " stands in " << where;
        };
        expect_none(result.all(), result.all());
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
            const std::string path = entry.path().string();
            expect_none(path, path);
            if (entry.is_regular_file())
                expect_none(read_text(path), path);
        }
    }
    TemporaryFolder folder_;
};

TEST_F(SecretRun, NoOutputHoldsThePassword) {
    const test::RtspServer server(kScene);
    const std::string url =
        "rtsp://user:" + std::string(kPassword) + "@" + server.url().substr(7) + "?token=" + kToken;
    write_text(folder_ / "regions.json", R"({"regions":[
        {"name":"box","shape":"rectangle","points":[[1,1],[20,20]]},
        {"name":"vessel","shape":"line","points":[[2,10],[50,30]]}]})");
    std::vector<std::string> words = {"run", url, "--frames", "5", "--verbose"};
    std::vector<std::pair<const char*, std::vector<std::string>>> outputs = {
        {"--record", {"a.tiff", "a.ome.tiff", "b.mkv", "b.mp4", "c.png", "d.raw", "d.hdr"}},
        {"--record-raw", {"e.tiff", "f.mkv", "g.raw"}},
        {"--record-mask", {"h.tiff"}},
        {"--snapshot", {"i.png"}},
        {"--stats", {"j.json"}},
        {"--record-screen", {"k.mkv", "l.mp4", "k.png", "k.tiff"}},
        {"--regions", {"regions.json"}},
        {"--traces", {"m.csv"}},
        {"--kymograph", {"n.tiff"}},
        {"--widths", {"o.csv"}}};
    std::vector<std::string> named = {"a.tiff", "a.ome.tiff", "b.mkv", "b.mp4",  "d.raw.jsonl",
                                      "d.hdr",  "e.tiff",     "f.mkv", "h.tiff", "j.json",
                                      "k.mkv",  "l.mp4",      "m.csv", "o.csv",  "n-vessel.tiff"};
#ifdef SPECKLESCOPE_HAVE_EXR
    outputs.push_back({"--record", {"d.exr"}});
    named.emplace_back("d.exr");
#endif
#ifdef SPECKLESCOPE_HAVE_CAIRO
    outputs.push_back({"--report", {"p.pdf"}});
    named.insert(named.end(), {"p.csv", "p.png"});
    if (test::installed("pdftotext")) // only ./dev nightly installs it
        named.emplace_back("p.txt");
#endif
    for (const auto& [option, files] : outputs)
        for (const std::string& file : files)
            words.insert(words.end(), {option, file});
    const ChildResult result = run(words);
    EXPECT_EQ(result.status, 0) << result.all();
#ifdef SPECKLESCOPE_HAVE_CAIRO // the text that a PDF viewer shows, in a separate file
    if (test::installed("pdftotext")) {
        const ChildResult read = run_child(
            {"sh", "-c", "pdftotext -layout p.pdf p.txt && pdfinfo p.pdf >> p.txt"}, folder_.path().string());
        EXPECT_EQ(read.status, 0) << read.all();
    }
#endif
    expect_hidden(result);
    for (const std::string& name : named)
        EXPECT_NE(read_text(folder_ / name).find("rtsp://user:***@127.0.0.1"), std::string::npos) << name;
    EXPECT_NE(result.out.find("rtsp://user:***@127.0.0.1"), std::string::npos) << result.all();
}

TEST_F(SecretRun, NoErrorHoldsThePassword) {
    const std::string secret = std::string(kPassword) + "@";
    expect_hidden(run({"run", "rtsp://user:" + secret + "127.0.0.1:1/x?token=" + kToken}));
    expect_hidden(run({"run", "rtsp://user:" + secret + "h/", "more"}));
    expect_hidden(run({"rtsp://user:" + secret + "h/", "more"}));
    expect_hidden(run({"run", "more", "rtsp://user:" + secret + "h/"}));
    expect_hidden(run({"run", "http://user:" + secret + "h/"}));
    expect_hidden(run({"run", "rtsp:user:" + secret + "h/"}));
    expect_hidden(run({"run", "rtsp:/user:" + secret + "127.0.0.1:1/"}));
    expect_hidden(run({"run", "rtsp:user:" + std::string("//u:") + secret}));
    expect_hidden(run({"run", "gst:nothing location=rtsp://u:" + secret + "h user-pw=" + kToken}));
    expect_hidden(run({"run", "gst:rtspsrc location=rtsp://u:" + secret + "127.0.0.1:1 user-pw=" + kToken}));
    expect_hidden(run({"run", "gst:rtspsrc nonsense=3 user-pw=" + std::string(kToken)}));
}

TEST_F(SecretRun, SavedSettingsReferToIt) {
    const test::RtspServer server(kScene);
    const std::string host = server.url().substr(7);
    const ChildResult saved = run({"run", "rtsp://user:" + std::string(kPassword) + "@" + host, "--frames",
                                   "2", "--save-config", "s.toml"});
    EXPECT_EQ(saved.status, 0) << saved.all();
    expect_hidden(saved);
    EXPECT_NE(saved.out.find("SPECKLESCOPE_PASSWORD"), std::string::npos) << saved.all();
    struct stat info {};
    ASSERT_EQ(stat((folder_ / "s.toml").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600);
    EXPECT_NE(read_text(folder_ / "s.toml").find("rtsp://user:${env:SPECKLESCOPE_PASSWORD}@" + host),
              std::string::npos);
    const ChildResult missing = run({"--config", "s.toml", "--trust"});
    EXPECT_EQ(missing.status, 2) << missing.all();
    EXPECT_NE(missing.err.find("SPECKLESCOPE_PASSWORD, which is not set"), std::string::npos)
        << missing.all();
    const ChildResult opened =
        run_child({"/usr/bin/env", "SPECKLESCOPE_PASSWORD=" + std::string(kPassword), test::program_path(),
                   "--config", "s.toml", "--trust", "--stats", "t.json", "--record", "t.tiff"},
                  folder_.path().string());
    EXPECT_EQ(opened.status, 0) << opened.all();
    expect_hidden(opened);
}

} // namespace specklescope::secrets_test
