// Any option that a command does not use is refused.
#include "base/error.hpp"
#include "config/cli.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace specklescope::belongs_test {

std::string error_of(std::vector<std::string> words) {
    words.insert(words.begin(), "specklescope");
    std::vector<const char*> argv;
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    try {
        (void)parse_command_line(static_cast<int>(argv.size()), argv.data());
        return "";
    } catch (const UsageError& error) {
        return error.what();
    }
}

TEST(Belongs, OptionsOfOtherCommandsAreRefusedByEachOfThoseThatProcessNothing) {
    // Options that end the program by themselves, combined with any other.
    const std::set<std::string> alone = {"version",    "help",     "manual",
                                         "completion", "complete", "control-schema"};
    const std::string file = testing::TempDir() + "/belongs.toml";
    std::ofstream(file) << "# all as it is\n";
    for (const CliOption& option : cli_options()) {
        if (alone.contains(option.name))
            continue;
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"list", "stages"}, {"bench"}, {"pulse", "t.csv"}}) {
            SCOPED_TRACE(command[0] + " --" + option.name);
            std::vector<std::string> words = command;
            words.push_back("--" + option.name);
            if (!option.argument.empty())
                words.emplace_back(option.name == "config" ? file : option.name == "preset" ? "flow" : "1");
            const std::string error = error_of(words);
            const std::string refused = "--" + option.name + " has no effect on " + command[0];
            EXPECT_EQ(error.starts_with(refused), !concerns(option, command[0])) << error;
        }
    }
}

TEST(Belongs, HowMuchIsSaidConcernsEveryCommand) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"view", "synthetic"},
                                                    {"run", "synthetic"},
                                                    {"list", "stages"},
                                                    {"bench"},
                                                    {"pulse", "t.csv"},
                                                    {"trials", "t.csv", "--around", "light"}})
        for (const std::vector<std::string>& option :
             {std::vector<std::string>{"--quiet"}, {"--verbose"}, {"--log", "quiet"}}) {
            std::vector<std::string> words = command;
            words.insert(words.end(), option.begin(), option.end());
            EXPECT_EQ(error_of(words), "") << command[0] << " " << option[0];
            if (command[0] != "view" && command[0] != "run") { // lists everything
                EXPECT_NE(help_on(command[0]).find("\n  " + option[0]), std::string::npos)
                    << command[0] << " " << option[0];
            }
        }
}

} // namespace specklescope::belongs_test
