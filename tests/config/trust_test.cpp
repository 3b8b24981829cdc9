// Keys of a settings file that need --trust: all keys that write a file, listen, or reveal data. Every key
// must be in one of two lists here, so that a new key cannot be forgotten.
#include "base/error.hpp"
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "pipeline/chain.hpp"
#include "tests/support/child.hpp"
#include "tests/support/images.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace specklescope::trust_test {

/// Keys with an example value for each.
using Keys = std::map<std::string, std::string>;

const Keys kOutputs = {{"record", "x.tiff"},    {"record_raw", "x.tiff"},   {"record_mask", "x.tiff"},
                       {"stats", "x.json"},     {"record_screen", "x.png"}, {"snapshot", "x.png"},
                       {"kymograph", "x.tiff"}, {"traces", "x.csv"},        {"widths", "x.csv"},
                       {"truth", "x.csv"},      {"mean", "x.tiff"}};
const Keys kDoors = {{"screenshot", "x.png"},           {"window_movie", "x.mkv"},
                     {"publish", "zmq://127.0.0.1:0"},  {"control", "zmq://127.0.0.1:0"},
                     {"control_folder", "."},           {"curve_key", "x.key_secret"},
                     {"curve_clients", "x.key"},        {"metrics", "127.0.0.1:0"},
                     {"serve", "rtsp://127.0.0.1:0/x"}, {"output", "v4l2:/dev/video7"}};

/// Data: processing, display and storage of frames, and files that are only read.
const std::set<std::string> kData = {"command", "preset", "regions", "interval",
                                     "program", "view",   "keys",    "stage"};
const std::set<std::string> kProgramData = {"backend",        "threads",     "gpus",
                                            "plans",          "slots",       "from",
                                            "from_s",         "frames",      "rate",
                                            "loop",           "offscreen",   "transfer",
                                            "silence",        "channel",     "show",
                                            "camera_profile", "medians",     "band",
                                            "um_per_px",      "baseline",    "baseline_seconds",
                                            "change",         "log",         "burn_bar",
                                            "burn_time",      "burn_scale",  "burn_regions",
                                            "burn_events",    "screen_zoom", "record_frames",
                                            "record_seconds", "record_mib",  "record_every",
                                            "record_every_s", "split_mib",   "split_s",
                                            "keep_free",      "pre_trigger", "pre_trigger_mib",
                                            "subject",        "note",        "record_name",
                                            "serve_mbit_s",   "serve_chroma"};
/// Files that a stage reads.
const std::set<std::string> kRead = {"background.dark_file", "background.flat_file", "convolve.file",
                                     "flow.static_file"};

std::set<std::string> names_of(const Keys& keys) {
    std::set<std::string> names;
    for (const auto& [key, value] : keys)
        names.insert(key);
    return names;
}

/// Keys outside of tables, as listed in the error for an unknown key.
std::set<std::string> top_keys() {
    Settings settings;
    try {
        read_toml("no_such_key = 1\n", "s.toml", settings);
    } catch (const UsageError& error) {
        std::string list = error.what();
        list.erase(0, list.find("allowed: ") + 9);
        std::set<std::string> keys;
        std::istringstream words(list);
        for (std::string word; words >> word;)
            keys.insert(word.substr(0, word.size() - 1)); // without ',' or '.'
        return keys;
    }
    return {};
}

/// A file with only this key, on line 2.
std::string file_of(const std::string& key, const std::string& value, bool in_program) {
    return (in_program ? "[program]\n" : "# from a stranger\n") + key + " = " + value + "\n";
}

std::string refusal(const std::string& toml, bool trusted) {
    Settings settings;
    settings.trusted = trusted;
    try {
        read_toml(toml, "s.toml", settings);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(Trust, EveryKeyIsDataOrNeedsIt) {
    std::set<std::string> listed = names_of(kOutputs);
    listed.insert(kData.begin(), kData.end());
    listed.insert("source"); // needs trust if it runs a program: see Strangers
    EXPECT_EQ(top_keys(), listed) << "put a new key into the list where it belongs";
    EXPECT_EQ(listed.size(), kOutputs.size() + kData.size() + 1) << "one is in two lists";

    std::set<std::string> declared;
    for (const ParamDecl& decl : program_table().decls())
        declared.insert(decl.name);
    for (const OutputKind& kind : output_kinds())
        if (kind.in_program)
            declared.insert(kind.name);
    listed = names_of(kDoors);
    listed.insert(kProgramData.begin(), kProgramData.end());
    EXPECT_EQ(declared, listed) << "put a new key into the list where it belongs";
    EXPECT_EQ(listed.size(), kDoors.size() + kProgramData.size()) << "one is in two lists";

    for (const ParamDecl& decl : view_table().decls())
        EXPECT_TRUE(!is_text(decl.kind) || decl.name == "panel_sections" || decl.name == "report_form")
            << "what does " << decl.name << " name?"; // titles and fields of a report name no file
    std::set<std::string> read;
    for (const StageType& type : stage_types())
        for (const ParamDecl& decl : type.table->decls())
            if (decl.kind == ParamKind::path)
                read.insert(std::string(type.name) + "." + decl.name);
    EXPECT_EQ(read, kRead);
}

TEST(Trust, IsAskedForWhateverWritesOrOpensADoor) {
    for (const bool in_program : {false, true})
        for (const auto& [key, value] : in_program ? kDoors : kOutputs) {
            const std::string quoted = "\"" + value + "\"";
            std::vector<std::string> ways = {quoted};
            if (key.starts_with("record"))
                ways.push_back("[\"\", " + quoted + "]");
            for (const std::string& way : ways) {
                const std::string said = refusal(file_of(key, way, in_program), false);
                EXPECT_TRUE(said.starts_with("s.toml, line 2: " + key + " ")) << key << ": " << said;
                EXPECT_NE(said.find("'" + value + "'"), std::string::npos) << key << ": " << said;
                EXPECT_NE(said.find("--trust"), std::string::npos) << key << ": " << said;
                EXPECT_EQ(refusal(file_of(key, way, in_program), true), "") << key;
            }
            EXPECT_EQ(refusal(file_of(key, "\"\"", in_program), false), "") << key << " names nothing";
        }
}

TEST(Trust, IsNotAskedForData) {
    const Params initial(program_table());
    for (const std::string& key : kProgramData) {
        const ParamDecl& decl = program_table().at(key);
        const std::string value = is_text(decl.kind)               ? "\"srgb\""
                                  : decl.kind == ParamKind::choice ? "\"" + decl.choices.back() + "\""
                                                                   : to_string(initial.get(key));
        EXPECT_EQ(refusal(file_of(key, value, true), false), "") << key;
    }
    EXPECT_EQ(refusal("regions = \"x.json\"\ncommand = \"run\"\n", false), "");
}

TEST(Trust, WhoSavesSuchSettingsIsToldThatTheyNeedIt) {
    const auto told = [](const Settings& settings) {
        return saved_text("s.toml", settings).find("with --trust only") != std::string::npos;
    };
    Settings plain;
    EXPECT_FALSE(told(plain));
    plain.source = "gst:videotestsrc";
    EXPECT_TRUE(told(plain));
    for (const bool in_program : {false, true})
        for (const auto& [key, value] : in_program ? kDoors : kOutputs) {
            Settings settings;
            settings.trusted = true;
            read_toml(file_of(key, "\"" + value + "\"", in_program), "s.toml", settings);
            EXPECT_TRUE(told(settings)) << key;
        }
}

TEST(Trust, WithoutItNothingIsWrittenByTheProgram) {
    const TemporaryFolder folder;
    write_text(folder / "good.tif", tiff_bytes({}));
    for (const bool in_program : {false, true})
        for (const auto& [key, value] : in_program ? kDoors : kOutputs) {
            write_text(folder / "s.toml", file_of(key, "\"" + value + "\"", in_program));
            const auto before = names_in(folder.path().string());
            const ChildResult result =
                run_program({"run", "good.tif", "--config", "s.toml"}, folder.path().string());
            EXPECT_EQ(result.status, 2) << key << "\n" << result.all();
            EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
            EXPECT_EQ(result.out, "") << key;
            EXPECT_EQ(names_in(folder.path().string()), before) << key;
        }
}

} // namespace specklescope::trust_test
