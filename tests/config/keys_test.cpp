// Keys of the window: the declarations are consistent, and [keys] is read completely or refused with its
// line number.
#include "base/error.hpp"
#include "config/cli.hpp"
#include "config/keys/bindings.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace specklescope::keys_test {

std::string error_of(const std::string& toml) {
    try {
        Settings settings;
        read_toml(toml, "k.toml", settings);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

Settings read(const std::string& toml) {
    Settings settings;
    read_toml(toml, "k.toml", settings);
    return settings;
}

TEST(Keys, EveryActionIsDeclaredOnceInOrderAndByDefaultNoKeyMeansTwoThings) {
    std::set<std::string_view> names, groups;
    ASSERT_EQ(actions().size(), kActions);
    std::string_view group;
    for (std::size_t i = 0; i < kActions; ++i) {
        const ActionInfo& row = actions()[i];
        EXPECT_EQ(static_cast<std::size_t>(row.action), i) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.words.empty()) << row.name;
        if (row.group != group) {
            EXPECT_TRUE(groups.insert(row.group).second) << row.group << " is in two places";
        }
        group = row.group;
    }
    EXPECT_FALSE(KeyBindings().conflict());
}

TEST(Keys, ChordsAreReadAndWrittenAsTheSame) {
    const KeyBindings bindings;
    for (const ActionInfo& row : actions())
        for (const KeyChord& chord : bindings.keys(row.action))
            EXPECT_EQ(parse_chord(to_string(chord)), chord) << to_string(chord);
    EXPECT_EQ(to_string(parse_chord("ctrl+shift+o")), "Ctrl+Shift+O");
    EXPECT_EQ(to_string(parse_chord("space")), "Space");
    EXPECT_EQ(parse_chord("m"), parse_chord("M"));
    EXPECT_EQ(parse_chord("+").key, "+");
    EXPECT_EQ(parse_chord("Ctrl++").key, "+");
    EXPECT_EQ(parse_chord("é").key, "é");
    for (const char* wrong : {"", "Ctrl+", "Hyper+A", "Ctrl+Ctrl+A", "ab", "F13", "Shift+?", " ", "\n"})
        EXPECT_THROW((void)parse_chord(wrong), UsageError) << wrong;
}

TEST(Keys, WhatAChordMeansGoesFromTheParticularToTheGeneral) {
    const KeyBindings bindings;
    EXPECT_EQ(bindings.find(parse_chord("Left")),
              (std::vector<Action>{Action::move_left, Action::step_back}));
    EXPECT_EQ(bindings.find(parse_chord("Backspace")),
              (std::vector<Action>{Action::drop_corner, Action::delete_region}));
    EXPECT_EQ(bindings.find(parse_chord("Shift+N")), std::vector<Action>{Action::previous_region});
    EXPECT_EQ(bindings.find(parse_chord("Shift+M")), std::vector<Action>{Action::next_colormap})
        << "Caps Lock takes no key away";
    EXPECT_TRUE(bindings.find(parse_chord("Ctrl+Alt+M")).empty());
}

TEST(Keys, ATableGivesOtherKeysAndAFileOfThemIsTheSame) {
    const Settings settings = read("[keys]\npause = [\"Q\", \"Space\"]\nsnapshot = \"Ctrl+Shift+S\"\n"
                                   "quit = \"\"\nzoom_in = '\"'\nzoom_out = \"\\\\\"\n");
    EXPECT_EQ(settings.keys.keys(Action::pause), (std::vector{parse_chord("Q"), parse_chord("Space")}));
    EXPECT_TRUE(settings.keys.keys(Action::quit).empty());
    EXPECT_EQ(settings.keys.find(parse_chord("Ctrl+Shift+S")), std::vector<Action>{Action::snapshot});
    EXPECT_TRUE(settings.keys.find(parse_chord("S")).empty());
    Settings again;
    read_toml(to_toml(settings), "again.toml", again);
    EXPECT_EQ(again.keys, settings.keys);
    EXPECT_EQ(to_toml(Settings()).find("[keys]"), std::string::npos) << "an unchanged key is not written";
}

TEST(Keys, KeysMayBeExchanged) {
    const Settings settings = read("[keys]\nrecord = \"W\"\nrecord_raw = \"R\"\n");
    EXPECT_EQ(settings.keys.find(parse_chord("W")), std::vector<Action>{Action::record});
}

TEST(Keys, AKeyOfTheUserIsTakenFromTheActionThatHasItByDefault) {
    const Settings settings = read("[keys]\nsnapshot = \"P\"\npause = [\"Ctrl+I\", \"Space\"]\n");
    EXPECT_EQ(settings.keys.find(parse_chord("P")), std::vector<Action>{Action::snapshot});
    EXPECT_TRUE(settings.keys.keys(Action::panel).empty());
    EXPECT_EQ(settings.keys.find(parse_chord("Ctrl+I")), std::vector<Action>{Action::pause});
    ASSERT_EQ(settings.remarks.size(), 2U) << "one for each key that was taken away";
    for (const char* name : {"snapshot", "panel"})
        EXPECT_NE((settings.remarks[0] + settings.remarks[1]).find(name), std::string::npos) << name;
    Settings again;
    read_toml(to_toml(settings), "again.toml", again);
    EXPECT_EQ(again.keys, settings.keys);
    EXPECT_TRUE(again.remarks.empty());
    EXPECT_EQ(read("[keys]\ndelete_region = \"Delete\"\n").keys.keys(Action::delete_interval),
              std::vector{parse_chord("Delete")})
        << "the same key in another place is no collision";
}

TEST(Keys, WhatIsWrongIsOneSentenceWithItsLine) {
    EXPECT_EQ(error_of("[keys]\n\npuase = \"K\"\n"),
              "k.toml, line 3: keys: there is no action 'puase'; did you mean pause?");
    EXPECT_EQ(error_of("[keys]\nxyzzyplugh = \"K\"\n"),
              "k.toml, line 2: keys: there is no action 'xyzzyplugh'. See specklescope help keys.");
    EXPECT_EQ(
        error_of("[keys]\nfit = \"0\"\nsnapshot = \"P\"\npanel = [\"1\", \"P\"]\nshow_processed=\"9\"\n"),
        "k.toml, line 4: keys: P is already the key of panel and of snapshot. Give one of them another, or "
        "none "
        "(\"\").");
    EXPECT_TRUE(error_of("[keys]\npause = \"Hyper+A\"\n")
                    .starts_with("k.toml, line 2: keys: pause: 'Hyper+A' is not a key; allowed: "));
    EXPECT_EQ(error_of("[keys]\npause = 5\n"),
              "k.toml, line 2: keys: pause must be a key in quotation marks, or a list of them.");
    EXPECT_EQ(error_of("keys = 3\n"), "k.toml, line 1: keys is a whole number; allowed: a table, [keys].");
}

TEST(Keys, TheUsersFileHoldsKeysAndNothingElse) {
    const TemporaryFolder folder;
    const std::string path = folder / "keys.toml";
    const auto refused = [&](const std::string& text) {
        std::ofstream(path) << text;
        KeyBindings bindings;
        try {
            std::vector<std::string> remarks;
            load_keys(path, bindings, remarks);
        } catch (const UsageError& error) {
            EXPECT_EQ(bindings, KeyBindings()) << "all or nothing";
            return std::string(error.what()).substr(path.size());
        }
        return std::string();
    };
    KeyBindings bindings;
    std::vector<std::string> remarks;
    load_keys(folder / "none.toml", bindings, remarks);
    EXPECT_EQ(bindings, KeyBindings());
    std::ofstream(path) << "[keys]\npanel = \"F9\"\n";
    load_keys(path, bindings, remarks);
    EXPECT_EQ(bindings.keys(Action::panel), std::vector{parse_chord("F9")});
    EXPECT_EQ(refused("source = \"x\"\n"),
              ", line 1: there is no key 'source' in this file; allowed: a table [keys].");
    EXPECT_EQ(refused("[keys]\npanel = \"F9\"\nopen = \"F9\"\n"),
              ", line 2: keys: F9 is already the key of panel and of open. Give one of them another, or none "
              "(\"\").");
    EXPECT_TRUE(refused("[keys]\npanel = \n").starts_with(", line 2: "));
}

TEST(Keys, HelpAndManualTellEachAction) {
    const std::string help = help_on("keys"), page = manual();
    for (const ActionInfo& row : actions()) {
        EXPECT_NE(help.find(std::string(row.name) + "  "), std::string::npos) << row.name;
        EXPECT_NE(page.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
    }
}

} // namespace specklescope::keys_test
