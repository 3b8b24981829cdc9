// Help on every topic, examples that can be pasted, version, presets.
#include "config/cli.hpp"
#include "config/cli_words.hpp"
#include "config/look/first_look.hpp"
#include "config/options.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "config/version.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace specklescope::help_test {

ParseOutcome parse(std::vector<std::string> words) {
    words.insert(words.begin(), "specklescope");
    std::vector<const char*> argv;
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

TEST(Help, EveryPresetLoadsAndSaysWhatItIs) {
    ASSERT_GE(presets().size(), 3U);
    for (const Preset& preset : presets()) {
        Settings settings;
        EXPECT_NO_THROW(load_preset(preset.name, settings)) << preset.name;
        EXPECT_TRUE(advice_lines(settings.chain).empty()) << preset.name;
        EXPECT_GT(preset.doc.size(), 20U) << preset.name;
        EXPECT_NE(list_text("presets").find(preset.name), std::string::npos);
    }
}

/// Words of a line; single quotes keep spaces.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : line)
        if (c == '\'')
            quoted = !quoted;
        else if (c == ' ' && !quoted)
            words.emplace_back();
        else
            words.back() += c;
    return words;
}

TEST(Help, EveryOptionHasAnExampleWithAllowedValues) {
    for (const CliOption& option : cli_options()) {
        SCOPED_TRACE(option.name);
        const std::vector<std::string> words = words_of(option_example(option.name));
        const auto at = std::find(words.begin(), words.end(), "--" + option.name);
        ASSERT_NE(at, words.end());
        EXPECT_NO_THROW(check_words(words));
        if (option.argument.empty())
            continue;
        ASSERT_NE(at + 1, words.end());
        if (option.decl) {
            EXPECT_NO_THROW(Params(program_table()).set_text(option.decl->name, *(at + 1)));
        }
    }
}

TEST(Help, HelpKnowsEveryTopicAndEndsWithExamples) {
    for (const std::string& topic : help_topics())
        EXPECT_FALSE(help_on(topic).empty()) << topic;
    for (const CliOption& option : cli_options())
        EXPECT_NE(help_on("--" + option.name).find("--" + option.name), std::string::npos) << option.name;
    EXPECT_NE(help_on("exposure_stops").find("stops"), std::string::npos);
    EXPECT_NE(help_on("flow").find("[[stage]]"), std::string::npos);
    const std::string raw = help_on("raw"); // both a source and a preset
    EXPECT_NE(raw.find("source raw:"), std::string::npos);
    EXPECT_NE(raw.find("preset raw"), std::string::npos);
    EXPECT_EQ(parse({"help"}).text, help());
    EXPECT_EQ(parse({"run", "x.tif", "--radios", "--help"}).text, help()) << "wherever it stands";
    EXPECT_EQ(parse({"run", "--help", "speckle"}).text, help_on("speckle"));
    EXPECT_EQ(parse({"run", "x.tif", "--help=speckle"}).text, help_on("speckle"));
    EXPECT_EQ(parse({"help", "speckle"}).text, parse({"--help", "speckle"}).text);
    try {
        parse({"help", "specle"});
        FAIL() << "no such topic";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(), "There is no help on 'specle'; did you mean speckle?");
    }

    ASSERT_EQ(cli_examples().size(), 9U);
    EXPECT_TRUE(help().ends_with(cli_examples().back().line + "\n"));
    for (const CliExample& example : cli_examples()) {
        std::istringstream line(example.line);
        std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
        ASSERT_EQ(words.front(), "specklescope");
        words.erase(words.begin());
        EXPECT_FALSE(parse(words).exit) << example.line;
    }
}

/// Lists each camera, or states that there is none.
TEST(Help, CamerasThatAreThereAreNamedAndNoneIsSaid) {
    const std::string text = list_text("sources"), title = "Cameras found now:\n";
    const std::size_t at = text.find(title);
    ASSERT_NE(at, std::string::npos);
    std::string expected;
    for (const auto& [argument, description] : cameras_now())
        expected += row(argument, description, 30);
    EXPECT_EQ(text.substr(at + title.size()), expected.empty() ? "  none\n" : expected);
}

TEST(Help, VersionTellsCommitAndBuild) {
    set_build_commit("0123456789ab");
    std::string text;
    for (const auto& [name, value] : version_rows()) {
        EXPECT_FALSE(value.empty()) << name;
        text += name + " ";
    }
    EXPECT_EQ(text,
              "version commit build CUDA backend ZeroMQ EGL RTSP server libmicrohttpd OpenEXR HDF5 matio "
              "Pango compiler libraries C library element data use ");
    EXPECT_NE(version_text().find("0123456789ab"), std::string::npos);
}

TEST(Help, HelpFitsIntoItsWidth) {
    std::istringstream lines(help() + list_text("stages") + list_text("presets") + version_text() + [] {
        std::string all;
        for (const std::string& topic : help_topics())
            all += help_on(topic);
        return all;
    }());
    std::string line;
    while (std::getline(lines, line)) {
        const bool folder = line.find(' ', line.find_first_not_of(' ')) == std::string::npos; // has no break
        EXPECT_LE(folder ? 0 : columns(line), kHelpWidth) << line;
    }
}

} // namespace specklescope::help_test
