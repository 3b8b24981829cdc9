// --config from:RECORDING: a run repeated from its recording gives the same bytes, and an untrusted file
// cannot change protected settings.
#include "analysis/regions_file.hpp"
#include "config/cli.hpp"
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "config/version.hpp"
#include "files/image_file.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace specklescope::recorded_settings_test {

constexpr const char* kScene = "synthetic:vessels?width=64&height=48&live=false";
constexpr int kFrames = 12;

class Repeat : public testing::Test {
protected:
    Repeat() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), "run");
        return run_program(std::move(words), folder_.path().string());
    }
    /// raw.tiff and raw.raw, and flow.tiff, flow.raw and flow.png from the same frames.
    void record(std::vector<std::string> words) const {
        std::vector<std::string> all = {kScene,     "--frames",  std::to_string(kFrames),
                                        "--record", "flow.tiff", "--record",
                                        "flow.raw", "--record",  "flow.png"};
        for (const char* raw : {"raw.tiff", "raw.raw"})
            all.insert(all.end(), {"--record-raw", raw});
        all.insert(all.end(), words.begin(), words.end());
        const ChildResult result = run(all);
        ASSERT_EQ(result.status, 0) << result.all();
    }
    static Settings parse(std::vector<std::string> words) {
        words.insert(words.begin(), "specklescope");
        std::vector<const char*> argv;
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return parse_command_line(static_cast<int>(argv.size()), argv.data()).settings;
    }
    Settings from(const std::string& name, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"run", "raw.tiff", "--config", "from:" + (folder_ / name)});
        return parse(more);
    }
    std::string refusal(const std::string& name, bool trusted = false) const {
        Settings settings;
        settings.trusted = trusted;
        settings.chain.add("speckle:radius=9");
        const std::string before = to_toml(settings);
        try {
            load_recorded(folder_ / name, settings);
        } catch (const UsageError& error) {
            EXPECT_EQ(to_toml(settings), before) << "nothing half-loaded";
            EXPECT_TRUE(settings.remarks.empty() && !settings.regions);
            return error.what();
        }
        return "taken";
    }
    static std::string said(const Settings& settings) {
        std::string all;
        for (const std::string& remark : settings.remarks)
            all += remark + "\n";
        return all;
    }
    /// made.raw with this description.
    void describe(const nlohmann::ordered_json& json, const std::string& more = "") const {
        write_text(folder_ / "made.raw", "pixels");
        write_text(folder_ / "made.raw.jsonl", json.dump() + "\n" + more);
    }
    static nlohmann::ordered_json description() {
        return {{"finished", true},
                {"program", "Specklescope " + version_rows().at(0).second},
                {"content", "processed"},
                {"parameters", "speckle:radius=4"},
                {"source", "elsewhere.mkv"}};
    }
    TemporaryFolder folder_;
};

/// Pixels of all pages in sequence.
std::string stack_of(const std::string& path) {
    std::string all;
    const std::unique_ptr<ImageReader> file = open_image(path);
    while (const std::optional<Shape> shape = file->next_page()) {
        std::string page(shape->bytes(), '\0');
        file->read_rows(HostView(reinterpret_cast<std::byte*>(page.data()), *shape));
        all += page;
    }
    return all;
}

TEST_F(Repeat, GivesTheSameBytes) {
    const std::vector<std::vector<std::string>> chains = {
        {"speckle:radius=2,output=contrast2", "average:frames=4", "flow:output=tau,exposure=3"},
        {"gaussian:sigma=1.3", "temporal:frames=5,output=contrast2", "flow"},
        {"background:black=7", "spatiotemporal:frames=3,radius=1", "average:kind=exponential"}};
    for (const auto& chain : chains)
        for (const char* recording : {"flow.tiff", "flow.raw", "flow.png"}) {
            SCOPED_TRACE(chain.front() + " from " + recording);
            std::vector<std::string> words;
            for (const std::string& stage : chain)
                words.insert(words.end(), {"--stage", stage});
            record(words);
            const ChildResult again = run({"raw.tiff", "--config", std::string("from:") + recording,
                                           "--record", "again.tiff", "--record", "again.raw"});
            ASSERT_EQ(again.status, 0) << again.all();
            const std::string pixels = read_text(folder_ / "flow.raw");
            EXPECT_EQ(pixels.size(), 64U * 48U * 4U * kFrames);
            EXPECT_TRUE(read_text(folder_ / "again.raw") == pixels);
            EXPECT_TRUE(stack_of(folder_ / "again.tiff") == stack_of(folder_ / "flow.tiff"));
            for (const std::string& named : {std::string(recording), std::string("synthetic:vessels")})
                EXPECT_NE(again.err.find(named), std::string::npos) << again.all();
            for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
                if (entry.is_regular_file())
                    std::filesystem::remove(entry.path());
        }
}

TEST_F(Repeat, TheExposureStandsInForOneThatIsNotReported) {
    record({"--stage", "speckle:output=sfi,radius=2"});
    std::filesystem::remove(folder_ / "raw.raw.jsonl");
    const auto told = nlohmann::json::parse(
        read_text(folder_ / "flow.raw.jsonl").substr(0, read_text(folder_ / "flow.raw.jsonl").find('\n')));
    ASSERT_EQ(told.at("exposure_origin"), "camera");
    const auto again = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"raw:raw.raw?width=64&height=48&format=gray16le&full_scale=" +
                                         std::to_string(told.at("full_scale").get<int>()),
                                     "--record", "again.raw"});
        const ChildResult result = run(words);
        EXPECT_EQ(result.status, 0) << result.all();
        const bool same = read_text(folder_ / "again.raw") == read_text(folder_ / "flow.raw");
        std::filesystem::remove(folder_ / "again.raw");
        std::filesystem::remove(folder_ / "again.raw.jsonl");
        return same;
    };
    EXPECT_TRUE(again({"--config", "from:flow.tiff"}));
    EXPECT_FALSE(again({"--stage", "speckle:output=sfi,radius=2,exposure=77"})) << "it matters";
}

TEST_F(Repeat, AnExposureThatNobodyGaveStaysAnAssumption) {
    const auto given = [&](const char* origin, const char* parameters) {
        auto json = description();
        json["parameters"] = parameters;
        json["exposure_used_ms"] = 10;
        json["exposure_origin"] = origin;
        describe(json);
        return from("made.raw").chain.stages().at(0).params.given("exposure");
    };
    EXPECT_FALSE(given("default", "speckle:exposure=10"));
    EXPECT_TRUE(given("parameter", "speckle:exposure=10"));
    EXPECT_TRUE(given("camera", "speckle:exposure=3"));
}

TEST_F(Repeat, TheRegionsAreMeasuredAgain) {
    const std::string regions =
        R"({"regions":[{"name":"box","shape":"rectangle","points":[[10.25,8],[29,27]],"colour":"#102030"},)"
        R"({"name":"µ \"tri\"","shape":"polygon","points":[[2,2],[40,4],[20,40]],"locked":true},)"
        R"({"name":"across","shape":"line","points":[[1,1],[60,40.5]]}]})";
    write_text(folder_ / "r.json", regions);
    record({"--stage", "temporal:frames=3", "--regions", "r.json", "--traces", "t.csv"});
    for (const char* recording : {"flow.tiff", "flow.raw", "flow.png"}) {
        const Settings settings = from(recording);
        ASSERT_TRUE(settings.regions);
        EXPECT_TRUE(*settings.regions == read_regions_json(regions, "r.json")) << recording;
    }
    const ChildResult again =
        run({"raw.tiff", "--config", "from:flow.tiff", "--traces", "again.csv", "--widths", "w.csv"});
    ASSERT_EQ(again.status, 0) << again.all();
    const auto rows = [&](const char* name) { // without arrival times
        std::vector<std::string> kept;
        std::istringstream lines(read_text(folder_ / name));
        for (std::string line; std::getline(lines, line);) {
            const std::size_t second = line.find(',', line.find(',') + 1);
            if (!line.starts_with('#'))
                kept.push_back(line.substr(0, second) + line.substr(line.find(',', second + 1)));
        }
        return kept;
    };
    EXPECT_EQ(rows("again.csv").size(), 1U + 3U * kFrames);
    const auto first = rows("t.csv"), second = rows("again.csv");
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) // up to the columns of versions and positions
        EXPECT_EQ(first[i].substr(0, 60), second[i].substr(0, 60));
    write_text(folder_ / "other.json",
               R"({"regions":[{"name":"o","shape":"rectangle","points":[[1,1],[2,2]]}]})");
    const Settings other = from("flow.tiff", {"--regions", folder_ / "other.json"});
    EXPECT_FALSE(other.regions) << "the line wins";
    EXPECT_EQ(other.regions_path, folder_ / "other.json");
    const ChildResult saved = run({"--config", "from:flow.tiff", "--save-config", "s.toml"});
    EXPECT_EQ(saved.status, 0) << saved.all();
    EXPECT_NE(saved.out.find("the regions of flow.tiff are not in it"), std::string::npos) << saved.all();
}

TEST_F(Repeat, TooManyRegionsAreLeftOutAndSaid) {
    std::vector<Region> regions;
    for (int i = 0; i < 400; ++i)
        regions.push_back({.name = std::to_string(i),
                           .shape = RegionShape::polygon,
                           .points = {{1, 1}, {5, 1}, {5, 5}},
                           .colour = {},
                           .locked = false});
    write_text(folder_ / "r.json", to_json(regions));
    record({"--regions", "r.json"});
    const Settings settings = from("flow.tiff");
    EXPECT_FALSE(settings.regions);
    EXPECT_NE(said(settings).find("The regions of"), std::string::npos) << said(settings);
    EXPECT_EQ(settings.chain.stages().size(), 1U);
    const ChildResult traces = run({"raw.tiff", "--config", "from:flow.tiff", "--traces", "t.csv"});
    EXPECT_EQ(traces.status, 2) << traces.all();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "t.csv"));
}

TEST_F(Repeat, WhatAPictureShowed) {
    record({"--view", "low=0.5", "--view", "high=7.25", "--view", "exposure_stops=1", "--colormap", "magma"});
    const Mapping fixed = from("flow.png").view.as<ViewSettings>().mapping;
    EXPECT_EQ(fixed.colormap, ColorMap::magma);
    EXPECT_FALSE(fixed.automatic);
    EXPECT_EQ(fixed.low, 0.5);
    EXPECT_EQ(fixed.high, 7.25);
    EXPECT_EQ(fixed.exposure_stops, 1);
    for (const char* numbers : {"flow.tiff", "flow.raw", "raw.tiff"}) { // contain the display settings
        const Mapping shown = from(numbers).view.as<ViewSettings>().mapping;
        EXPECT_EQ(shown.colormap, ColorMap::magma) << numbers;
        EXPECT_EQ(shown.high, 7.25) << numbers;
    }
    const Settings later = from("flow.png", {"--colormap", "jet", "--view", "automatic=true"});
    EXPECT_EQ(later.view.as<ViewSettings>().mapping.colormap, ColorMap::jet);
    EXPECT_TRUE(later.view.as<ViewSettings>().mapping.automatic);
    const ChildResult again =
        run({"raw.tiff", "--config", "from:flow.png", "--record", "again.png", "--backend", "cpu"});
    ASSERT_EQ(again.status, 0) << again.all();
    EXPECT_TRUE(stack_of(folder_ / "again.png") == stack_of(folder_ / "flow.png"));
}

TEST_F(Repeat, AFilmOfColours) {
    const ChildResult film = run({kScene, "--frames", "3", "--stage", "speckle:radius=3", "--colormap",
                                  "viridis", "--record", "film.mkv"});
    ASSERT_EQ(film.status, 0) << film.all();
    const Settings settings = from("film.mkv");
    EXPECT_EQ(settings.view.as<ViewSettings>().mapping.colormap, ColorMap::viridis);
    EXPECT_EQ(to_string(settings.chain.stages().at(0).params.get("radius")), "3");
    EXPECT_EQ(settings.source.shown(), "raw.tiff");
}

TEST_F(Repeat, WhatComesLaterOnTheLineWins) {
    auto json = description();
    json["channel"] = "green";
    describe(json);
    EXPECT_EQ(to_string(from("made.raw").program.get("channel")), "green");
    const Settings other = from("made.raw", {"--channel", "red", "--stage", "temporal"});
    EXPECT_EQ(to_string(other.program.get("channel")), "red");
    ASSERT_EQ(other.chain.stages().size(), 1U);
    EXPECT_EQ(other.chain.stages()[0].type->name, "temporal");
    EXPECT_NE(said(other).find("is replaced by that of --stage"), std::string::npos) << said(other);
    EXPECT_EQ(other.source.shown(), "raw.tiff");
}

TEST_F(Repeat, ValuesWithBarsAndQuotesComeBack) {
    Chain chain;
    chain.add(R"(convolve:kernel=file,file="a | b, \"c\" \\ d.tif")");
    chain.add("speckle");
    auto json = description();
    json["parameters"] = to_string(chain);
    describe(json);
    EXPECT_NE(refusal("made.raw").find("--trust"), std::string::npos);
    Settings settings;
    settings.trusted = true;
    load_recorded(folder_ / "made.raw", settings);
    EXPECT_EQ(to_string(settings.chain), to_string(chain));
    json["parameters"] = "none";
    describe(json);
    load_recorded(folder_ / "made.raw", settings);
    EXPECT_TRUE(settings.chain.stages().empty());
}

TEST_F(Repeat, AStageThatReadsAFileNeedsTrust) {
    auto json = description();
    json["parameters"] = "background:dark=file,dark_file=/etc/secret.tiff | speckle";
    describe(json);
    EXPECT_NE(refusal("made.raw").find("stage background reads a file, dark_file = '/etc/secret.tiff'"),
              std::string::npos)
        << refusal("made.raw");
    EXPECT_EQ(refusal("made.raw", true), "taken");
}

TEST_F(Repeat, WhatIsNoRecordingOfResultsIsRefused) {
    record({"--record-mask", "mask.tiff"});
    auto older = description();
    older["content"] = "raw";
    describe(older); // a recording of raw frames without the chain that processed them
    write_text(folder_ / "text.tiff", "no picture");
    std::filesystem::create_directory(folder_ / "folder");
    write_text(folder_ / "foreign.raw", "pixels");
    write_text(folder_ / "foreign.raw.jsonl", "{\"finished\":true,\"program\":\"Else\"}\n");
    write_text(folder_ / "empty.raw.jsonl", "");
    write_text(folder_ / "empty.raw", "");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"nothing.tiff", "There is no recording"},
        {"folder", "There is no recording"},
        {"mask.tiff", "which have no chain"},
        {"made.raw", "raw frames without their chain"},
        {"text.tiff", "text.tiff"},
        {"foreign.raw", "foreign.raw"},
        {"empty.raw", "empty.raw"}};
    for (const auto& [name, sentence] : cases) {
        SCOPED_TRACE(name);
        const ChildResult result = run({"raw.tiff", "--config", "from:" + name, "--record", "again.tiff"});
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
        EXPECT_NE(result.err.find(sentence), std::string::npos) << result.all();
        EXPECT_FALSE(std::filesystem::exists(folder_ / "again.tiff"));
    }
}

TEST_F(Repeat, AnotherVersionIsNamed) {
    auto json = description();
    json["program"] = "Specklescope 99.5";
    json["parameters"] = "hologram:depth=3";
    describe(json);
    const std::string newer = refusal("made.raw");
    EXPECT_NE(newer.find("99.5; this is"), std::string::npos) << newer;
    EXPECT_NE(newer.find("hologram"), std::string::npos) << newer;
    json["parameters"] = "speckle:depth=3";
    describe(json);
    EXPECT_NE(refusal("made.raw").find("depth"), std::string::npos);
    json["parameters"] = "speckle:radius=5";
    describe(json);
    EXPECT_NE(said(from("made.raw")).find("does not state"), std::string::npos) << said(from("made.raw"));
}

TEST_F(Repeat, AChainThatWasChangedMeanwhileIsSaid) {
    const std::string changed = "changed during the recording";
    describe(description(), "{\"parameters\":\"speckle:radius=4\"}\n{\"parameters\":\"speckle:radius=5\"}\n");
    EXPECT_NE(said(from("made.raw")).find(changed), std::string::npos);
    describe(description(), "{\"parameters\":\"speckle:radius=4\"}\n{\"parameters\":\"speckle:ra");
    EXPECT_EQ(said(from("made.raw")).find(changed), std::string::npos);
    auto json = description();
    json["facts"] = {{3, {{"parameters", "speckle:radius=6"}}}};
    describe(json);
    EXPECT_NE(said(from("made.raw")).find(changed), std::string::npos);
}

TEST_F(Repeat, AStackWhoseLastPageHasAnotherChainSaysSo) {
    for (const char* last : {"4", "5"}) {
        write_text(folder_ / "first", description().dump());
        write_text(folder_ / "last", std::string("{\"parameters\":\"speckle:radius=") + last + "\"}");
        ASSERT_TRUE(test::python(folder_, R"py(
import numpy as np, tifffile
with tifffile.TiffWriter('made.tiff') as out:
    for text in (open('first').read(), '{"parameters":"speckle:radius=4"}', open('last').read()):
        out.write(np.zeros((6, 8), np.float32), description=text, metadata=None, photometric='minisblack')
)py")) << read_text(folder_ / "python.log");
        EXPECT_EQ(said(from("made.tiff")).find("changed during") != std::string::npos, *last == '5');
    }
}

TEST_F(Repeat, CutOrWrongDescriptionsChangeNothing) {
    const auto wrong = [&](const char* key, const nlohmann::ordered_json& value) {
        auto json = description();
        json[key] = value;
        describe(json);
        const std::string sentence = refusal("made.raw");
        EXPECT_NE(sentence, "taken") << key << " = " << value;
        EXPECT_NE(sentence.find("made.raw"), std::string::npos) << sentence;
    };
    wrong("parameters", 3);
    wrong("parameters", "speckle:radius=4 | ");
    wrong("parameters", "speckle:radius=900");
    wrong("parameters", std::string(70000, 'x'));
    wrong("content", "else");
    wrong("channel", "ultraviolet");
    wrong("colormap", 7);
    wrong("range", {1});
    wrong("range", {2, 1});
    wrong("regions", "all");
    wrong("regions", {{{"name", "a"}, {"shape", "star"}, {"points", {{1, 2}}}}});
    auto json = description();
    json["regions"] = {{{"name", "a"}, {"shape", "line"}, {"points", {{1, 2}, {3, 4}}}}};
    json["range"] = {1, 2};
    const std::string whole = json.dump();
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        write_text(folder_ / "made.raw.jsonl", whole.substr(0, bytes));
        EXPECT_NE(refusal("made.raw"), "taken") << bytes;
    }
    write_text(folder_ / "made.raw.jsonl", whole);
    EXPECT_EQ(refusal("made.raw"), "taken");
}

} // namespace specklescope::recorded_settings_test
