// Settings are consistent: command line and TOML are equivalent, and a saved file restores the same
// settings.
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/cli.hpp"
#include "config/last_window.hpp"
#include "config/options.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "config/start.hpp"
#include "config/text.hpp"
#include "config/toml.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <unistd.h>

namespace specklescope::config_test {
namespace fs = std::filesystem;
class ConfigTest : public testing::Test {
protected:
    ConfigTest() {
        fs::create_directories(folder_);
        setenv("XDG_CONFIG_HOME", (folder_ / "memory").c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    ~ConfigTest() override { fs::remove_all(folder_); }
    std::string file(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(file(name), std::ios::binary) << text;
        return file(name);
    }
    static ParseOutcome parse(std::vector<std::string> words) {
        words.insert(words.begin(), "specklescope");
        std::vector<const char*> argv;
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return parse_command_line(static_cast<int>(argv.size()), argv.data());
    }
    static std::string error_of(const std::vector<std::string>& words) {
        try {
            parse(words);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "no error";
    }
    std::string toml_error(const std::string& text) const {
        try {
            Settings settings;
            read_toml(text, "x.toml", settings);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "no error";
    }

    fs::path folder_ = fs::path(testing::TempDir()) / ("specklescope-config-" + std::to_string(getpid()));
};

/// A random value allowed by a declaration, with its limits more often than by chance.
ParamValue random_value(const ParamDecl& decl, std::mt19937_64& random) {
    const auto pick = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    switch (decl.kind) {
    case ParamKind::boolean:
        return pick(2) == 1;
    case ParamKind::action: // not stored
        return std::int64_t{0};
    case ParamKind::integer: {
        const auto low = static_cast<std::int64_t>(decl.min), high = static_cast<std::int64_t>(decl.max);
        return pick(4) == 0   ? low
               : pick(4) == 0 ? high
                              : std::uniform_int_distribution<std::int64_t>(low, high)(random);
    }
    case ParamKind::real: {
        const double low = std::max(decl.min, -1e300), high = std::min(decl.max, 1e300);
        const double part = std::uniform_real_distribution<double>(0, 1)(random);
        const double small = std::ldexp(part, -static_cast<int>(pick(40)));
        return pick(6) == 0   ? low
               : pick(6) == 0 ? high
                              : std::clamp(small * 100, std::max(low, decl.least), high);
    }
    case ParamKind::choice:
        return decl.choices[pick(decl.choices.size())];
    case ParamKind::text:
        if (!decl.choices.empty()) // several of them
            return decl.choices[pick(decl.choices.size())];
        break;
    case ParamKind::path:
        break;
    }
    return std::string("text \"quoted\" \\ µ\t") + std::to_string(pick(100));
}

void randomise(Params& params, std::mt19937_64& random) {
    for (const ParamDecl& decl : params.table().decls())
        params.set(decl.name, random_value(decl, random));
}

std::string random_text(std::mt19937_64& random) {
    static const std::vector<std::string> pieces = {"a",  "/",    " ", "\"", "\\", "'",    "µ",
                                                    "\n", "\x01", "#", "=",  "]",  "é.tif"};
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += pieces[random() % pieces.size()];
    return text;
}

TEST_F(ConfigTest, SavedSettingsComeBackExactly) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (int round = 0; round < 200; ++round) {
        Settings settings;
        settings.command = round % 2 == 0 ? Command::run : Command::view;
        settings.source = random_text(random);
        randomise(settings.program, random);
        randomise(settings.view, random);
        for (std::size_t i = random() % 4; i > 0; --i) {
            const StageType& type = stage_types()[random() % stage_types().size()];
            ChainStage stage{&type, Params(*type.table)};
            randomise(stage.params, random);
            settings.chain.add(std::move(stage));
        }
        for (const OutputKind& kind : output_kinds())
            if (random() % 3 > 0 && !kind.part_of)
                set_output(settings, kind,
                           kind.named
                               ? std::vector{"./" + random_text(random), "contrast=" + random_text(random)}
                               : std::vector{random_text(random), random_text(random)});
        settings.regions_path = random_text(random);
        save_config(file("saved.toml"), settings);
        Settings back;
        back.trusted = true;
        back.chain.add("speckle");
        load_config(file("saved.toml"), back);
        ASSERT_EQ(to_toml(back), to_toml(settings));
        ASSERT_EQ(back.source, settings.source);
        for (const OutputKind& kind : output_kinds())
            ASSERT_EQ(outputs_of(back, kind), outputs_of(settings, kind)) << kind.name;
        ASSERT_EQ(back.regions_path, settings.regions_path);
        ASSERT_EQ(back.command, settings.command);
        ASSERT_EQ(to_string(back.chain), to_string(settings.chain));
        for (const ParamDecl& decl : view_table().decls()) // bit by bit, not as text
            ASSERT_EQ(back.view.get(decl.name), settings.view.get(decl.name)) << decl.name;
        for (const ParamDecl& decl : program_table().decls())
            ASSERT_EQ(back.program.get(decl.name), settings.program.get(decl.name)) << decl.name;
    }
}

TEST_F(ConfigTest, CommandLineSaysWhatTomlSays) {
    const auto saved = parse({"run",          "a b.tif",
                              "--rate",       "12.5",
                              "--loop",       "--frames=7",
                              "--silence",    "2",
                              "--backend",    "cpu",
                              "--threads",    "3",
                              "--slots",      "9",
                              "--stage",      "speckle:radius=2,output=contrast",
                              "--stage",      "speckle:radius=5",
                              "--record",     "a.tiff",
                              "--record",     "b.mkv",
                              "--record-raw", "c.tiff",
                              "--stats",      "s.json",
                              "--snapshot",   "s.png",
                              "--view",       "low=0.25",
                              "--view",       "automatic=off",
                              "--colormap",   "jet",
                              "--quiet"})
                           .settings;
    Settings read;
    read.trusted = true;
    read_toml(R"(command = "run"
source = "a b.tif"
record = ["a.tiff", "b.mkv"]
record_raw = "c.tiff"
stats = "s.json"
snapshot = "s.png"
[program]
rate = 12.5
loop = true
frames = 7
silence = 2
backend = "cpu"
threads = 3
slots = 9
log = "quiet"
[view]
low = 0.25
automatic = false
colormap = "jet"
[[stage]]
name = "speckle"
radius = 2
output = "contrast"
[[stage]]
radius = 5
name = "speckle"
)",
              "test", read);
    EXPECT_EQ(to_toml(saved), to_toml(read));
    EXPECT_EQ(saved.view.as<ViewSettings>().mapping.colormap, ColorMap::jet);
    EXPECT_FALSE(saved.view.as<ViewSettings>().mapping.automatic);
    EXPECT_EQ(saved.program.as<ProgramSettings>().frames, 7);
    EXPECT_EQ(saved.chain.stages().size(), 2U);
}

TEST_F(ConfigTest, EveryProgramAndViewKeyIsAnOption) {
    for (const ParamDecl& decl : program_table().decls()) {
        const CliOption* option = find_option(option_name(decl));
        ASSERT_NE(option, nullptr) << decl.name;
        EXPECT_EQ(option->decl, program_table().find(decl.name)) << decl.name;
        EXPECT_NE(help().find("--" + option_name(decl)), std::string::npos);
    }
    for (const OutputKind& kind : output_kinds())
        EXPECT_NE(find_option(kind.option()), nullptr) << kind.name;
    for (const ParamDecl& decl : view_table().decls()) {
        const std::string value = to_string(decl.get(view_table().defaults()));
        EXPECT_EQ(to_string(parse({"--view", decl.name + "=" + value}).settings.view.get(decl.name)), value);
        EXPECT_NE(help().find(decl.name + "="), std::string::npos);
    }
}

TEST_F(ConfigTest, SpeckleIsTheDefaultAndNoneIsTheRawPicture) {
    EXPECT_EQ(to_string(parse({}).settings.chain).substr(0, 8), "speckle:");
    EXPECT_EQ(parse({}).settings.command, Command::view);
    EXPECT_EQ(parse({"--stage", "none"}).settings.chain.stages().size(), 0U);
    EXPECT_EQ(parse({"film.mkv"}).settings.source, "film.mkv");
    EXPECT_EQ(parse({"view", "run"}).settings.source, "run"); // a file with that name
    EXPECT_EQ(parse({"--loop", "film.mkv"}).settings.source, "film.mkv") << "a switch takes no value";
}

TEST_F(ConfigTest, LaterWordsWinOverFileAndFileOverPreset) {
    const std::string path =
        write("c.toml", "[view]\ncolormap = \"jet\"\nlow = 0.125\n[program]\nrate = 4\n");
    const Settings s =
        parse({"--view", "low=0.25", "--preset", "contrast", "--config", path, "--rate", "8"}).settings;
    const auto& mapping = s.view.as<ViewSettings>().mapping;
    EXPECT_EQ(mapping.high, 0.5) << "preset";
    EXPECT_EQ(mapping.colormap, ColorMap::jet) << "file over preset";
    EXPECT_EQ(mapping.low, 0.25) << "command line over file";
    EXPECT_EQ(s.program.as<ProgramSettings>().rate, 8);
    EXPECT_EQ(to_string(s.chain.stages().at(0).params.get("output")), "contrast");
    EXPECT_EQ(parse({"--rate", "1", "--rate", "2"}).settings.program.as<ProgramSettings>().rate, 2);
}

TEST_F(ConfigTest, EveryPresetStartsAndGivesAFirstResult) {
    for (const Preset& preset : presets()) {
        SCOPED_TRACE(preset.name);
        Settings settings = parse({"run", "synthetic:vessels?width=160&height=120&live=false", "--preset",
                                   preset.name, "--frames", "3", "--backend", "cpu", "--quiet"})
                                .settings;
        const auto pipeline = make_pipeline(settings);
        pipeline->start();
        ASSERT_TRUE(test::eventually([&] { return pipeline->finished(); }));
        EXPECT_EQ(pipeline->status().state, RunState::ended) << pipeline->status().message;
        EXPECT_EQ(pipeline->stats().frames.processed, 3U);
        EXPECT_EQ(pipeline->stats().drops.total(), 0U);
        Result result;
        ASSERT_TRUE(pipeline->mailbox().take(result));
        EXPECT_EQ(result.chain->stages().size(), settings.chain.stages().size());
        EXPECT_LT(result.counts.undefined, result.shape().pixels()) << "something is seen";
    }
}

TEST_F(ConfigTest, ErrorsOfTheCommandLineNameTheWordAndTheCure) {
    EXPECT_EQ(error_of({"--recrod", "x"}), "There is no option '--recrod'; did you mean --record?");
    EXPECT_EQ(error_of({"--zzz"}), "There is no option '--zzz'. See specklescope --help.");
    EXPECT_EQ(error_of({"-x"}), "There is no option '-x'. See specklescope --help.");
    EXPECT_EQ(error_of({"--record"}), "--record needs a value: --record FILE.");
    EXPECT_EQ(error_of({"--record", "--loop"}), "--record needs a value: --record FILE.");
    EXPECT_EQ(error_of({"--version=3"}), "--version takes no value. Leave the value out.");
    EXPECT_EQ(error_of({"veiw", "a"}),
              "There is no command 'veiw'; allowed: view, run, batch, convert, list, bench, check, "
              "pulse, trials, calibrate, help, or one SOURCE.");
    EXPECT_EQ(error_of({"run"}), "run needs a SOURCE, for example: specklescope run synthetic --frames 100.");
    EXPECT_EQ(error_of({"list"}), "list needs a word; allowed: sources, stages, presets, devices.");
    EXPECT_EQ(error_of({"list", "stage"}),
              "There is no list of 'stage'; allowed: sources, stages, presets, devices.");
    EXPECT_EQ(error_of({"--rate", "-5"}),
              "--rate = -5 is not possible; allowed: 0 or a number, 1e-09…100000 frames/s.");
    EXPECT_EQ(error_of({"--loop=maybe"}), "--loop = maybe is not possible; allowed: true, false.");
    EXPECT_EQ(error_of({"--verbose", "--quiet"}),
              "--verbose and --quiet cannot be combined. Use one of them.");
    EXPECT_EQ(error_of({"--stage", "none", "--stage", "speckle"}),
              "--stage none cannot be combined with other stages. Leave them out.");
}

TEST_F(ConfigTest, ErrorsOfTomlNameFileAndLine) {
    EXPECT_EQ(toml_error("\n\nsuorce = \"x\"\n").substr(0, 41), "x.toml, line 3: there is no key 'suorce';");
    EXPECT_EQ(
        toml_error("[program]\nrate = \"fast\"\n"),
        "x.toml, line 2: specklescope: rate is text here; allowed: 0 or a number, 1e-09…100000 frames/s.");
    EXPECT_EQ(toml_error("[program]\nrate = nan\n"),
              "x.toml, line 2: specklescope: rate = nan is not possible; allowed: 0 or a number, "
              "1e-09…100000 frames/s.");
    EXPECT_EQ(toml_error("[[stage]]\nname = \"speckle\"\nradius = 2.5\n"),
              "x.toml, line 3: stage speckle: radius is a number here; allowed: a whole number, 1…15 px.");
    EXPECT_EQ(
        toml_error("[[stage]]\nname = \"speckle\"\nradius = 16\n"),
        "x.toml, line 3: stage speckle: radius = 16 is not possible; allowed: a whole number, 1…15 px.");
    EXPECT_EQ(toml_error("[[stage]]\nname = \"speckle\"\n\nraduis = 1\n").substr(0, 48),
              "x.toml, line 4: stage speckle has no key 'raduis");
    EXPECT_EQ(toml_error("[[stage]]\nname = \"specle\"\n").substr(0, 50),
              "x.toml, line 2: There is no stage 'specle'; allowe");
    EXPECT_EQ(toml_error("[[stage]]\nradius = 1\n"),
              "x.toml, line 1: a stage needs a name, for example name = \"speckle\".");
    EXPECT_EQ(toml_error("[stage]\nname = \"speckle\"\n"),
              "x.toml, line 1: stage must be a list of tables, each begun by [[stage]] with a name.");
    EXPECT_EQ(toml_error("record = [1]\n"),
              "x.toml, line 1: record is a whole number; allowed: text in quotation marks.");
    EXPECT_EQ(toml_error("view = 3\n"), "x.toml, line 1: view is a whole number; allowed: a table, [view].");
    EXPECT_EQ(toml_error("preset = \"no\"\n").substr(0, 40), "x.toml, line 1: There is no preset 'no';");
    EXPECT_EQ(toml_error("source = \"a\"\nsource = \"b\"\n").substr(0, 16), "x.toml, line 2: ");
    EXPECT_EQ(toml_error("source = \n").substr(0, 16), "x.toml, line 1: ");
}

TEST_F(ConfigTest, AWrongFileChangesNothing) {
    Settings settings;
    settings.chain.add("speckle:radius=7");
    const std::string before = to_toml(settings);
    EXPECT_THROW(read_toml("source = \"other\"\n[view]\nlow = 3\n[program]\nnonsense = 1\n", "x", settings),
                 UsageError);
    EXPECT_EQ(to_toml(settings), before);
}

TEST_F(ConfigTest, NothingThatIsTypedCanCrashTheParser) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    static const std::vector<std::string> pieces = {"run",     "view",     "--rate",    "-1",       "1e999",
                                                    "--stage", "speckle:", "radius=",   "=",        ",",
                                                    "--",      "-",        "--loop",    "none",     "--view",
                                                    "low=nan", "--config", "/no",       "--preset", "flow",
                                                    "µ",       "",         "--frames=", "--record"};
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> words;
        for (std::size_t i = random() % 5; i > 0; --i)
            words.push_back(pieces[random() % pieces.size()] +
                            (random() % 4 == 0 ? pieces[random() % pieces.size()] : ""));
        try {
            parse(words);
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(one_line(error.what()), error.what());
            EXPECT_GT(std::string(error.what()).size(), 10U);
        }
    }
    EXPECT_GT(refused, 100);
}

TEST_F(ConfigTest, SmallFilesAppearWholeOrNotAtAll) {
    write_atomically(file("a.json"), "one");
    write_atomically(file("a.json"), "two");
    std::ifstream in(file("a.json"));
    std::string text;
    in >> text;
    EXPECT_EQ(text, "two");
    EXPECT_THROW(write_atomically(file("missing/a.json"), "x"), RunError);
    EXPECT_THROW(write_atomically("/proc/a.json", "x"), RunError);
    EXPECT_THROW(write_atomically(folder_.string(), "x"), RunError);
    EXPECT_THROW(check_writable("/proc/a.json"), RunError);
    EXPECT_NO_THROW(check_writable(file("b.json")));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
        EXPECT_EQ(entry.path().filename(), "a.json");
        ++files;
    }
    EXPECT_EQ(files, 1U);
}

TEST_F(ConfigTest, TheWindowsMemoryIsTheGroundForViewAlone) {
    Settings last = parse({"film.mkv", "--stage", "speckle:radius=9", "--colormap", "magma"}).settings;
    EXPECT_TRUE(last.remember);
    last.intervals = {{"\"rest\"", 500'000'000, 1'250'000'000, false}, {"after", 2'000'000'001, 3, true}};
    save_remembered(last);
    const Settings again = parse({}).settings;
    EXPECT_EQ(again.source, (fs::current_path() / "film.mkv").string())
        << "the next window may start elsewhere";
    EXPECT_TRUE(again.source_remembered);
    EXPECT_EQ(to_string(again.chain), to_string(last.chain));
    EXPECT_EQ(again.intervals, (std::vector<Interval>{{"\"rest\"", 500'000'000, 1'250'000'000, false},
                                                      {"after", 3, 2'000'000'001, true}}));
    EXPECT_EQ(parse({"film.mkv"}).settings.intervals, again.intervals);
    EXPECT_TRUE(parse({"other.mkv"}).settings.intervals.empty());
    EXPECT_FALSE(parse({"other.mkv"}).settings.source_remembered);
    const auto radius = [](const Settings& s) {
        return to_string(s.chain.stages().at(0).params.get("radius"));
    };
    EXPECT_EQ(radius(again), "9");
    EXPECT_EQ(radius(parse({"run", "other.mkv"}).settings), "3") << "run remembers nothing";
    EXPECT_EQ(radius(parse({"--no-remember"}).settings), "3");
    const Settings preset = parse({"--preset", "contrast"}).settings;
    EXPECT_EQ(radius(preset), "3") << "the preset's chain";
    EXPECT_EQ(preset.source, again.source) << "and the last source";
    EXPECT_EQ(parse({"--no-remember"}).settings.source, "") << "the simulated scene";

    EXPECT_FALSE(parse({}).settings.chain.stages().at(0).params.given("exposure"))
        << "a file that holds every value says nothing by a default";

    write("memory/specklescope/last.toml", "radius = ");
    EXPECT_EQ(radius(parse({}).settings), "3") << "a damaged memory must not keep the window from opening";
}

} // namespace specklescope::config_test
