// A running program executes requests, reports errors with the messages of the command line, and continues
// after any input.
#include "session/requests.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/running.hpp"

#include <set>

namespace specklescope::control_test {

using test::Answer;
using test::ControlledRun;
using test::ControlTest;
using test::eventually;
using test::Json;
using test::kScene;

/// Position of the newest frame in its file; −1: none yet.
int position_of(const Json& got) { return got.contains("frame") ? got["frame"].value("position", -1) : -1; }

template <class T> std::vector<T> pixels_of(const std::string& bytes) {
    std::vector<T> pixels(bytes.size() / sizeof(T));
    std::memcpy(pixels.data(), bytes.data(), pixels.size() * sizeof(T));
    return pixels;
}

TEST_F(ControlTest, AParameterIsReadSetAndInEffectFromItsVersionOn) {
    auto program = run({"--stage", "flip"});
    Answer got = program->ask("get", {{"stage", "flip"}, {"key", "direction"}});
    ASSERT_TRUE(got.ok()) << got.error();
    EXPECT_EQ(got.json["value"], "horizontal");
    for (const char* direction : {"vertical", "horizontal"}) {
        const Answer set = program->ask("set", {{"stage", 0}, {"key", "direction"}, {"value", direction}});
        ASSERT_TRUE(set.ok()) << set.error();
        const Answer frame = program->ask("frame", {{"version", set.json["version"]}, {"raw", true}});
        ASSERT_TRUE(frame.ok()) << frame.error();
        ASSERT_EQ(frame.parts.size(), 2U);
        EXPECT_NE(frame.json["chain"].get<std::string>().find(direction), std::string::npos);
        ASSERT_EQ(frame.json["image"], frame.json["raw"]);
        ASSERT_EQ(frame.json["raw"]["type"], "u16");
        const auto result = pixels_of<std::uint16_t>(frame.parts[0]);
        const auto raw = pixels_of<std::uint16_t>(frame.parts[1]);
        ASSERT_EQ(raw.size(), 64U * 48U);
        ASSERT_EQ(result.size(), raw.size());
        for (std::size_t y = 0; y < 48; ++y)
            for (std::size_t x = 0; x < 64; ++x)
                ASSERT_EQ(result[y * 64 + x],
                          direction[0] == 'v' ? raw[(47 - y) * 64 + x] : raw[y * 64 + 63 - x])
                    << direction << " at " << x << ", " << y;
    }
    const ChildResult end = program->quit();
    EXPECT_EQ(end.status, 0) << end.all();
    EXPECT_NE(end.out.find("processed"), std::string::npos)
        << "the summary of an end in order: " << end.all();
}

TEST_F(ControlTest, EveryParameterOfTheDeclarationsIsListedAndTold) {
    auto program = run();
    const Answer listed = program->ask("list");
    ASSERT_TRUE(listed.ok()) << listed.error();
    ASSERT_EQ(listed.json["stages"].size(), stage_types().size());
    for (std::size_t i = 0; i < stage_types().size(); ++i) {
        const ParamTable& table = *stage_types()[i].table;
        const Json& stage = listed.json["stages"][i];
        ASSERT_EQ(stage["name"], std::string(stage_types()[i].name));
        ASSERT_EQ(stage["parameters"].size(), table.decls().size());
        for (std::size_t k = 0; k < table.decls().size(); ++k) {
            const ParamDecl& decl = table.decls()[k];
            const Json& told = stage["parameters"][k];
            EXPECT_EQ(told["name"], decl.name);
            EXPECT_EQ(told.value("unit", ""), decl.unit);
            EXPECT_EQ(told.value("choices", Json()), decl.choices.empty() ? Json() : Json(decl.choices))
                << decl.name;
            if (decl.kind == ParamKind::integer) {
                EXPECT_EQ(told["min"], decl.min);
                EXPECT_EQ(told["max"], decl.max);
            }
            EXPECT_EQ(told.contains("least"), decl.least > 0) << decl.name;
        }
    }
    EXPECT_GT(listed.json["sources"].size(), 3U);
    int least = 0;
    for (const Json& source : listed.json["sources"])
        for (const Json& told : source["parameters"])
            if (told["name"] == "rate" && told["min"] == 0) {
                EXPECT_GT(told.value("least", 0.0), 0) << source["kind"];
                EXPECT_LE(told.value("least", 0.0), 0.001) << source["kind"];
                ++least;
            }
    EXPECT_GE(least, 5) << "0 has a meaning of its own, and behind it comes this";
    EXPECT_EQ(listed.json["actions"].size(), kActions);
    EXPECT_EQ(program->quit().status, 0);
}

/// At most 60 bytes, without a partial character.
TEST_F(ControlTest, OfWhatIsNoRequestAsMuchIsQuotedAsTellsWhichItWas) {
    auto program = run();
    for (const std::string& character : {std::string("a"), std::string("é"), std::string("語")})
        for (std::size_t before = 0; before < 4; ++before)
            for (const std::size_t characters : {10U, 80U}) {
                std::string name(before, 'x'), quoted = name;
                for (std::size_t i = 0; i < characters; ++i) {
                    name += character;
                    if (quoted.size() + character.size() <= 60 &&
                        quoted.size() + character.size() == name.size())
                        quoted = name;
                }
                const Answer answer = program->ask(name);
                EXPECT_FALSE(answer.ok());
                const std::string expected =
                    "There is no request '" + quoted + (quoted == name ? "';" : "…';");
                EXPECT_TRUE(answer.error().starts_with(expected)) << answer.error() << "\n" << expected;
            }
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, WhatIsWrongIsSaidAsOnTheCommandLine) {
    auto program = run({"--stage", "speckle:radius=2"});
    struct Case {
        std::vector<std::string> words;
        const char* request;
        Json arguments;
    };
    const std::vector<Case> cases = {
        {{"--stage", "speckle:radius=99"}, "set", {{"stage", "speckle"}, {"key", "radius"}, {"value", 99}}},
        {{"--stage", "spekle"}, "set_chain", {{"chain", "spekle"}}},
        {{"--view", "colormap=pink"}, "set_view", {{"key", "colormap"}, {"value", "pink"}}},
    };
    for (const Case& one : cases) {
        std::vector<std::string> words = {"run", kScene};
        words.insert(words.end(), one.words.begin(), one.words.end());
        const ChildResult line = run_program(words, here());
        ASSERT_EQ(line.status, 2) << line.all();
        const Answer answer = program->ask(one.request, one.arguments);
        EXPECT_FALSE(answer.ok());
        EXPECT_EQ(answer.json["kind"], "usage");
        EXPECT_EQ("specklescope: " + answer.error() + "\n", line.err);
    }
    const Answer still = program->ask("get", {{"stage", "speckle"}, {"key", "radius"}});
    EXPECT_EQ(still.json["value"], 2) << "nothing of it has changed anything";
    const Answer options = program->ask("set_source", {{"key", "exposure"}, {"value", -1}});
    EXPECT_NE(options.error().find("source synthetic: exposure"), std::string::npos) << options.error();
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, RequestsThatAreNoneAreRefusedInASentence) {
    auto program = run();
    ASSERT_TRUE(program->ask("frame").ok()); // from here on the image size is known
    for (
        const char* message :
        {"",
         "{",
         "[]",
         "null",
         "{} {}",
         "{}x",
         R"({"request":5})",
         R"({"request":"fly"})",
         R"({"request":"get","stage":-1})",
         R"({"request":"get","stage":7})",
         R"({"request":"get","stage":"gamma"})",
         R"({"request":"get","stage":"nothing"})",
         R"({"request":"get","key":"radius"})",
         R"({"request":"set"})",
         R"({"request":"set","stage":"speckle","key":"radius","value":[1]})",
         R"({"request":"set","stage":"speckle","key":"radius","value":2,"more":1})",
         R"({"request":"seek","frame":-1})",
         R"({"request":"seek","frame":1e300})",
         R"({"request":"seek","frame":1})",
         R"({"request":"step"})",
         R"({"request":"open"})",
         R"({"request":"open","source":7})",
         R"({"request":"open","source":"synthetic:vessels"})",
         R"({"request":"open","source":"synthetic","recorded":"no"})",
         R"({"request":"stop","what":"raw"})",
         R"({"request":"stop","what":"all"})",
         R"({"request":"act","action":"pause"})",
         R"({"request":"scale","um_per_px":-1})",
         R"({"request":"scale","um_per_px":"a"})",
         R"({"request":"baseline","seconds":0})",
         R"({"request":"baseline"})",
         R"({"request":"set_regions","regions":[{"name":"a"}]})",
         R"({"request":"set_regions","regions":[{"name":"a","shape":"line","points":[[900,900],[901,901]]}]})",
         R"({"request":"set_chain","chain":"speckle |"})",
         "\xff\xfe",
         R"({"request":"get"}{"request":"quit"})",
         R"({"a":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]})"}) {
        const Answer answer = program->client->ask_text(message);
        ASSERT_TRUE(answer.json.is_object()) << message;
        EXPECT_FALSE(answer.ok()) << message;
        EXPECT_TRUE(answer.error().size() > 10 && answer.error().back() == '.')
            << message << ": " << answer.error();
    }
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, AFilmStandsGoesOnAndIsSought) {
    const ChildResult made = run_program({"run", "synthetic?width=32&height=24&live=false", "--frames", "50",
                                          "--record-raw", "film.tiff", "--stage", "none"},
                                         here());
    ASSERT_EQ(made.status, 0) << made.all();
    ControlledRun program({"film.tiff", "--rate", "10", "--loop", "--stage", "none"}, here());
    ASSERT_TRUE(program.ask("pause").ok());
    for (const int frame : {40, 3, 49, 0}) {
        ASSERT_TRUE(program.ask("seek", {{"frame", frame}}).ok());
        const Answer got = program.ask("get");
        EXPECT_EQ(got.json["paused"], true);
        EXPECT_EQ(position_of(got.json), frame);
    }
    ASSERT_TRUE(program.ask("step").ok());
    ASSERT_TRUE(eventually([&] { return position_of(program.ask("get").json) == 1; }));
    const Answer beyond = program.ask("seek", {{"frame", 50}});
    EXPECT_NE(beyond.error().find("50"), std::string::npos) << beyond.error();
    ASSERT_TRUE(program.ask("play").ok());
    ASSERT_TRUE(eventually([&] { return position_of(program.ask("get").json) > 2; }));
    EXPECT_EQ(program.quit().status, 0);
}

TEST_F(ControlTest, FilesAreWrittenIntoTheFolderAndNowhereElse) {
    {
        auto closed = run();
        for (const auto& [request, file] : {std::pair("record", "a.tiff"), std::pair("snapshot", "a.png")}) {
            const Answer answer = closed->ask(
                request, request[0] == 'r' ? Json{{"file", file}, {"what", "raw"}} : Json{{"file", file}});
            EXPECT_NE(answer.error().find("--control-folder"), std::string::npos) << answer.error();
        }
        EXPECT_EQ(closed->quit().status, 0);
    }
    std::filesystem::create_directory(folder_ / "out");
    auto program = run({"--control-folder", "out", "--stage", "none"});
    for (const char* file :
         {"../a.tiff", "/tmp/a.tiff", "..", ".a.tiff", "b/a.tiff", "", "a\n.tiff", "a.xyz"}) {
        EXPECT_FALSE(program->ask("record", {{"what", "raw"}, {"file", file}}).ok()) << file;
        EXPECT_FALSE(program->ask("snapshot", {{"file", file}}).ok()) << file;
    }
    EXPECT_TRUE(names_in(folder_ / "out").empty());

    ASSERT_TRUE(program->ask("record", {{"what", "raw"}, {"file", "a.raw"}}).ok());
    EXPECT_NE(program->ask("record", {{"what", "raw"}, {"file", "b.raw"}}).error().find("already"),
              std::string::npos);
    ASSERT_TRUE(eventually([&] {
        const Json got = program->ask("get").json;
        return got["recordings"].size() == 1 && got["recordings"][0]["written"] > 5;
    }));
    const Answer marked = program->ask("mark", {{"label", "stimulus"}});
    ASSERT_TRUE(marked.ok()) << marked.error();
    ASSERT_TRUE(program->ask("frame", {{"after", marked.json["sequence"].get<int>() + 3}}).ok());
    const Answer stopped = program->ask("stop", {{"what", "raw"}});
    ASSERT_TRUE(stopped.ok()) << stopped.error();
    EXPECT_EQ(stopped.json["files"][0], "out/a.raw");
    EXPECT_EQ(stopped.json["written"].get<std::uint64_t>() * 64 * 48 * 2,
              std::filesystem::file_size(folder_ / "out/a.raw"));
    EXPECT_NE(read_text(folder_ / "out/a.raw.jsonl").find("stimulus"), std::string::npos);
    EXPECT_TRUE(program->ask("get").json["recordings"].empty());

    const Answer picture = program->ask("snapshot", {{"file", "a.tiff"}});
    ASSERT_TRUE(picture.ok()) << picture.error();
    EXPECT_EQ(picture.json["file"], "out/a.tiff");
    EXPECT_EQ(program->ask("snapshot", {{"file", "a.tiff"}}).json["file"], "out/a-1.tiff");
    EXPECT_EQ(names_in(folder_ / "out"),
              (std::vector<std::string>{"a-1.tiff", "a.raw", "a.raw.jsonl", "a.tiff"}));
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, RegionsScaleAndBaselineAreWhatWasAskedFor) {
    auto program = run({"--stage", "none"});
    const Json wanted = {{{"name", "box"}, {"shape", "rectangle"}, {"points", {{10, 8}, {29, 27}}}}};
    ASSERT_TRUE(program->ask("set_regions", {{"regions", wanted}}).ok());
    EXPECT_EQ(program->ask("regions").json["regions"], wanted);
    ASSERT_TRUE(eventually([&] { return program->ask("baseline", {{"seconds", 0.5}}).ok(); }));
    const Answer frame = program->ask("frame");
    const auto pixels = pixels_of<std::uint16_t>(frame.parts.at(0));
    double sum = 0;
    for (std::size_t y = 8; y <= 27; ++y)
        for (std::size_t x = 10; x <= 29; ++x)
            sum += pixels[y * 64 + x];
    const double mean = program->ask("baseline", {{"seconds", 0.5}}).json["regions"]["box"];
    EXPECT_NEAR(mean, sum / 400, 0.2 * mean) << "the mean over time is near that of one frame";
    ASSERT_TRUE(program->ask("scale", {{"um_per_px", 2.5}}).ok());
    EXPECT_EQ(program->ask("get").json["um_per_px"], 2.5);
    // F₀ belongs to the settings with which it was taken.
    EXPECT_EQ(program->ask("get").json["baseline"]["valid"], true);
    ASSERT_TRUE(program->ask("set_chain", {{"chain", "gaussian"}}).ok());
    ASSERT_TRUE(eventually([&] { return program->ask("get").json["baseline"]["valid"] == false; }));
    EXPECT_NE(program->ask("get").json["baseline"]["why_not"].get<std::string>().find("gaussian"),
              std::string::npos);
    ASSERT_TRUE(program->ask("set_regions", {{"regions", Json::array()}}).ok());
    EXPECT_TRUE(program->ask("regions").json["regions"].empty());
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, StatisticsAreThoseOfTheRun) {
    auto program = run();
    const Json before = program->ask("stats").json["stats"];
    ASSERT_TRUE(before.is_object());
    ASSERT_TRUE(eventually([&] {
        return program->ask("stats").json["stats"]["frames"]["processed"] >
               before["frames"].value("processed", 0);
    })) << before.dump();
    EXPECT_EQ(program->quit().status, 0);
}

TEST(ControlSchema, HasEveryRequestWithItsArguments) {
    const ChildResult printed = run_program({"--control-schema"}, ".");
    ASSERT_EQ(printed.status, 0) << printed.all();
    EXPECT_EQ(printed.out, control_schema());
    const Json schema = Json::parse(printed.out);
    ASSERT_EQ(schema["oneOf"].size(), all_requests().size());
    for (std::size_t i = 0; i < all_requests().size(); ++i) {
        const Request& row = all_requests()[i];
        const Json& one = schema["oneOf"][i];
        EXPECT_EQ(one["properties"]["request"]["const"], row.name);
        EXPECT_EQ(one["properties"].size(), row.arguments.size() + 1);
        std::set<std::string> required = {"request"};
        for (const RequestArgument& argument : row.arguments)
            if (argument.required)
                required.insert(argument.name);
        EXPECT_EQ(one["required"].get<std::set<std::string>>(), required);
    }
}

} // namespace specklescope::control_test
