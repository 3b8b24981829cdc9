// Command line completion: every word that the declarations allow, and no word that the program would
// refuse.
#include "config/complete.hpp"
#include "config/options.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "sources/registry.hpp"
#include "tests/support/child.hpp"

namespace specklescope::complete_test {

std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::vector<std::string> texts;
    for (const Candidate& word : complete(words).words)
        texts.push_back(word.text);
    return texts;
}

bool offers(const std::vector<std::string>& words, const std::string& text) {
    const auto all = offered(words);
    return std::find(all.begin(), all.end(), text) != all.end();
}

/// Every value offered after `before` is accepted by `table`.
void check_values(const std::vector<std::string>& line, const std::string& before, const ParamTable& table,
                  const ParamDecl& decl) {
    std::vector<std::string> words = line;
    words.push_back(before);
    const auto values = offered(words);
    if (is_text(decl.kind)) {
        EXPECT_EQ(complete(words).files.has_value(), decl.kind == ParamKind::path) << before;
        return;
    }
    EXPECT_GE(values.size(), 1U) << before;
    for (const std::string& choice : decl.choices)
        EXPECT_TRUE(offers(words, before + choice)) << before + choice;
    Params params(table);
    for (const std::string& value : values)
        EXPECT_NO_THROW(params.set_text(decl.name, value.substr(before.size()))) << value;
}

TEST(Complete, EveryStageItsKeysAndTheirValues) {
    const std::vector<std::string> line = {"run", "film.mkv", "--stage"};
    for (const StageType& stage : stage_types()) {
        const std::string name(stage.name);
        EXPECT_TRUE(offers({"--stage", name.substr(0, 2)}, name));
        for (const ParamDecl& decl : stage.table->decls()) {
            if (decl.kind == ParamKind::action)
                continue;
            EXPECT_TRUE(
                offers({"--stage", name + ":" + decl.name.substr(0, 1)}, name + ":" + decl.name + "="));
            EXPECT_TRUE(offers({"--stage=" + name + ":"}, "--stage=" + name + ":" + decl.name + "="));
            check_values(line, name + ":" + decl.name + "=", *stage.table, decl);
        }
    }
    EXPECT_FALSE(offers({"--stage", "speckle:radius=3,"}, "speckle:radius=3,radius=")) << "named already";
    EXPECT_TRUE(offers({"--stage", "speckle:radius=3,output=b"}, "speckle:radius=3,output=bfi"));
    EXPECT_FALSE(complete({"--stage", "speckle:rad"}).ends) << "a value follows";
    EXPECT_EQ(complete({"--stage", "convolve:kernel=file,file=a/b"}).files, "convolve:kernel=file,file=");
}

TEST(Complete, EverySourceItsKeysAndTheirValues) {
    for (const SourceType& source : source_types()) {
        if (!source.syntax.starts_with(source.kind) || source.kind == "rtsp" || source.kind == "gst")
            continue;
        const std::string kind(source.kind);
        EXPECT_FALSE(offered({"run", kind.substr(0, 2)}).empty()) << kind;
        for (const ParamDecl& decl : source.table->decls()) {
            if (decl.kind == ParamKind::action)
                continue;
            EXPECT_TRUE(
                offers({"run", kind + ":x?" + decl.name.substr(0, 1)}, kind + ":x?" + decl.name + "="));
            check_values({}, kind + ":x?" + decl.name + "=", *source.table, decl);
        }
    }
    EXPECT_EQ(offered({"view", "synthetic:u"}), std::vector<std::string>{"synthetic:uniform"});
    EXPECT_TRUE(offered({"view", "aravis:"}).empty()) << "NAME is no name";
    EXPECT_FALSE(complete({"run", "ra"}).ends) << "a path follows";
    EXPECT_TRUE(offers({"film.mkv?lo"}, "film.mkv?loop="));
    EXPECT_TRUE(offers({"synthetic?bits=8&no"}, "synthetic?bits=8&noise="));
    EXPECT_EQ(complete({"run", "some"}).files, "");
    EXPECT_EQ(complete({"run", "raw:fi"}).files, "raw:");
    EXPECT_TRUE(offers({"run", "h"}, "h5:"));
    EXPECT_EQ(complete({"run", "h5:fi"}).files, "h5:");
    EXPECT_TRUE(offers({"run", "h5:x?ax"}, "h5:x?axes="));
    EXPECT_TRUE(offered({"run", "nothing:x?"}).empty());
}

TEST(Complete, CommandsOptionsPresetsAndColourMaps) {
    for (const CliOption& option : cli_options())
        EXPECT_TRUE(offers({"run", "x", "--" + option.name.substr(0, 1)}, "--" + option.name));
    for (const CliCommand& command : cli_commands())
        EXPECT_TRUE(offers({""}, command.name));
    for (const std::string& word : list_words())
        EXPECT_TRUE(offers({"list", ""}, word));
    for (const Preset& preset : presets())
        EXPECT_TRUE(offers({"--preset", ""}, preset.name));
    for (const std::string& topic : help_topics())
        EXPECT_TRUE(offers({"help", ""}, topic) && offers({"--help", ""}, topic)) << topic;
    for (const ParamDecl& decl : program_table().decls())
        if (decl.kind != ParamKind::boolean)
            check_values({}, "--" + option_name(decl) + "=", program_table(), decl);
    for (const ParamDecl& decl : view_table().decls())
        check_values({"--view"}, decl.name + "=", view_table(), decl);
    EXPECT_EQ(offered({"--colormap", ""}), view_table().at("colormap").choices);
    EXPECT_EQ(offered({"--completion", ""}), (std::vector<std::string>{"bash", "zsh", "fish"}));
    EXPECT_EQ(offered({"--manual", ""}), (std::vector<std::string>{"markdown", "man"}));
    EXPECT_EQ(complete({"--record", "x"}).files, "");
    EXPECT_EQ(complete({"--record=a/"}).files, "--record=");
    EXPECT_EQ(complete({"--config", "a"}).files, "");
    EXPECT_TRUE(complete({"--config", "a"}).ends);
    EXPECT_EQ(offered({"--config", "fr"}), std::vector<std::string>{"from:"});
    EXPECT_FALSE(complete({"--config", "fr"}).ends) << "the recording follows";
    EXPECT_EQ(complete({"--config", "from:a/b"}).files, "from:");
    EXPECT_EQ(complete({"--config=from:a/b"}).files, "--config=from:");
    EXPECT_TRUE(complete({"--frames", "10", "ru"}).ends == false && offers({"--frames", "10", "ru"}, "run"));
    EXPECT_TRUE(offered({"run", "film.mkv", ""}).empty()) << "one SOURCE only";
    EXPECT_EQ(complete({}).words.size(), complete({""}).words.size());
}

TEST(Complete, TheScriptsAreWhatTheProgramPrints) {
    const TemporaryFolder folder;
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const ChildResult result = run_program({"--completion", shell}, folder.path().string());
        EXPECT_EQ(result.status, 0);
        EXPECT_EQ(result.out, completion_script(shell));
    }
    EXPECT_EQ(run_program({"--complete", "list", "st"}, folder.path().string()).out,
              "space\nnone\nstages\t\n");
    EXPECT_TRUE(run_program({"--complete", "run", "raw:"}, folder.path().string())
                    .out.starts_with("nospace\nfiles raw:\nraw:\t"));
    EXPECT_EQ(run_program({"--complete", "--completion", "csh"}, folder.path().string()).status, 0);
    EXPECT_EQ(run_program({"--completion", "csh"}, folder.path().string()).status, 2);
}

} // namespace specklescope::complete_test
