// The user's presets: saved settings are restored, differences are listed, names and files are checked.
#include "base/error.hpp"
#include "config/presets/preset_file.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace specklescope::presets_test {

class PresetFile : public testing::Test {
protected:
    PresetFile() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
        refresh_presets();
    }
    static Settings settings_of(const std::vector<std::string>& stages) {
        Settings settings;
        for (const std::string& stage : stages)
            settings.chain.add(stage);
        return settings;
    }
    static bool known(const std::string& name) {
        return std::any_of(presets().begin(), presets().end(),
                           [&](const Preset& p) { return p.name == name; });
    }
    static std::string refusal(const std::function<void()>& act) {
        try {
            act();
        } catch (const UsageError& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder_;
};

TEST_F(PresetFile, WhatIsSavedIsLoadedWithEverythingThatWasSet) {
    Settings settings = settings_of(
        {"background:black=12.5", "speckle:radius=4,output=contrast2", "gaussian:bypass=true,sigma=3.25"});
    settings.view.set("colormap", std::string("viridis"));
    settings.view.set("automatic", false);
    settings.view.set("low", 0.125);
    settings.view.set("high", 2.0);
    save_preset("mine-1", "a line of mine", settings, false);
    ASSERT_TRUE(known("mine-1"));
    Settings loaded = settings_of({"speckle"});
    load_preset("mine-1", loaded);
    EXPECT_EQ(to_string(loaded.chain), to_string(settings.chain));
    for (const char* key : {"colormap", "automatic", "low", "high"})
        EXPECT_EQ(loaded.view.get(key), settings.view.get(key)) << key;
    EXPECT_TRUE(preset_differences("mine-1", settings).empty());
    const auto at =
        std::find_if(presets().begin(), presets().end(), [](const Preset& p) { return p.name == "mine-1"; });
    EXPECT_TRUE(at->yours());
    EXPECT_EQ(at->doc, "a line of mine");
    Settings none;
    save_preset("empty", "", none, false);
    load_preset("empty", loaded);
    EXPECT_TRUE(loaded.chain.stages().empty());
}

TEST_F(PresetFile, DifferencesAreWhatLoadingChanges) {
    Settings settings = settings_of({"speckle:radius=3", "gaussian:sigma=2"});
    save_preset("base", "", settings, false);
    settings.chain.stages()[0].params.set("radius", std::int64_t{5});
    settings.chain.stages()[1].bypassed = true;
    settings.view.set("colormap", std::string("grey"));
    const std::string map = to_string(Settings().view.get("colormap"));
    EXPECT_EQ(preset_differences("base", settings),
              (std::vector<std::string>{"speckle: radius 5 → 3", "gaussian: bypassed → computed",
                                        "view: colormap grey → " + map}));
    const Settings other = settings_of({"gaussian", "speckle:radius=3"});
    EXPECT_EQ(preset_differences("base", other),
              (std::vector<std::string>{"chain: gaussian | speckle → speckle | gaussian"}));
}

TEST_F(PresetFile, NamesAreNamesAndNothingIsReplacedUnasked) {
    const Settings settings = settings_of({"speckle"});
    for (const char* wrong : {"", "a/b", "..", "a b", "é", "x.toml"})
        EXPECT_NE(
            refusal([&] { save_preset(wrong, "", settings, false); }).find("is not a valid preset name"),
            std::string::npos)
            << wrong;
    EXPECT_NE(refusal([&] { save_preset(std::string(65, 'a'), "", settings, false); }), "");
    save_preset("one", "", settings, false);
    EXPECT_EQ(refusal([&] { save_preset("one", "", settings, false); }),
              "A preset 'one' exists already. Replace it, or choose another name.");
    save_preset("one", "", settings_of({"temporal"}), true);
    Settings loaded;
    load_preset("one", loaded);
    EXPECT_EQ(loaded.chain.stages()[0].type->name, "temporal");
    EXPECT_NE(refusal([&] { delete_preset("flow"); }), "") << "compiled in";
    delete_preset("one");
    EXPECT_FALSE(known("one"));
    save_preset("flow", "", settings, false); // replaces a compiled-in one, which is restored later
    ASSERT_TRUE(known("flow"));
    delete_preset("flow");
    EXPECT_TRUE(known("flow"));
}

} // namespace specklescope::presets_test
