// Camera profiles: which one is used, and which parameters it sets.
#include "base/error.hpp"
#include "config/camera_profile.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace specklescope::camera_profile_test {

CameraProfile profile_of(const std::string& text) {
    const TemporaryFolder folder;
    const std::string path = folder / "camera.toml";
    std::ofstream(path) << text;
    return load_profile(path);
}

TEST(CameraProfile, IsReadFromItsFile) {
    const CameraProfile profile = profile_of("camera = \"Basler 1234\"\ngain = 0.5\nbeta = 1\n"
                                             "dark_file = \"d.tiff\"\n");
    EXPECT_EQ(profile.name, "camera");
    EXPECT_EQ(profile.camera, "Basler 1234");
    EXPECT_EQ(profile.gain, 0.5);
    EXPECT_EQ(profile.beta, 1);
    EXPECT_TRUE(std::isnan(profile.read_noise));
    EXPECT_TRUE(profile.dark_file.ends_with("/d.tiff"));
}

TEST(CameraProfile, WithAnUnknownValueIsRefusedWithItsLine) {
    for (const char* text : {"gain = 1\ngian = 2\n", "gain = \"much\"\n", "gain = = 2\n"})
        try {
            (void)profile_of(text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("line "), std::string::npos) << error.what();
        }
    EXPECT_THROW((void)load_profile("a/b"), UsageError);
}

TEST(CameraProfile, SetsOnlyWhatTheUserHasNotGiven) {
    CameraProfile profile;
    profile.beta = 0.8;
    Chain chain =
        chain_from_text("speckle:output=contrast2 | flow:model=lorentzian | flow:model=gaussian,beta=0.5");
    EXPECT_NE(use_profile(profile, chain).find("flow:beta=0.8"), std::string::npos);
    EXPECT_EQ(std::get<double>(chain.stages()[1].params.get("beta")), 0.8);
    EXPECT_EQ(std::get<double>(chain.stages()[2].params.get("beta")), 0.5);
    EXPECT_FALSE(chain.stages()[1].params.given("beta"));

    // another camera without a profile: nothing of this one stays
    EXPECT_EQ(use_profile(std::nullopt, chain), "");
    EXPECT_EQ(std::get<double>(chain.stages()[1].params.get("beta")), 1);
    EXPECT_EQ(std::get<double>(chain.stages()[2].params.get("beta")), 0.5);
}

TEST(CameraProfile, GivesItsMapsToStageBackground) {
    CameraProfile profile;
    profile.dark_file = "/maps/dark.tiff";
    Chain chain = chain_from_text("background:dark=file | background:dark=file,dark_file=own.tiff");
    (void)use_profile(profile, chain);
    EXPECT_EQ(std::get<std::string>(chain.stages()[0].params.get("dark_file")), "/maps/dark.tiff");
    EXPECT_EQ(std::get<std::string>(chain.stages()[1].params.get("dark_file")), "own.tiff");
}

TEST(CameraProfile, IsThatOfTheCameraOrTheOneNamed) {
    SourceInfo camera;
    camera.live = true;
    camera.name = "no camera of this name";
    EXPECT_FALSE(profile_for("auto", camera));
    EXPECT_FALSE(profile_for("none", camera));
    EXPECT_THROW((void)profile_for("a-profile-that-is-not-there", camera), Error);
}

TEST(CameraProfile, IsThatOfTheCameraThatMadeTheRecording) {
    const TemporaryFolder folder;
    setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    const std::string path = profile_path("mine");
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << "camera = \"Basler 1234\"\ngain = 0.5\n";
    SourceInfo file;
    file.name = "Basler 1234"; // a file of this name is no camera
    EXPECT_FALSE(profile_for("auto", file));
    file.camera = "Basler 1234";
    EXPECT_EQ(profile_for("auto", file).value_or(CameraProfile()).name, "mine");
    file.camera = "Basler 12";
    EXPECT_FALSE(profile_for("auto", file));
}

} // namespace specklescope::camera_profile_test
