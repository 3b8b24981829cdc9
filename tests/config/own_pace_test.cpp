// A file in the window plays at its stated rate if that is plausible.
#include "config/cli.hpp"
#include "config/settings.hpp"
#include "config/start.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace specklescope::own_pace_test {

/// Frames per second of a film whose header states `rate`, as N:D.
double pace_of(const std::string& rate) {
    const TemporaryFolder folder;
    const std::string path = folder / "film.y4m";
    {
        std::ofstream film(path, std::ios::binary);
        film << "YUV4MPEG2 W64 H48 F" << rate << " Ip A1:1 C420jpeg\n";
        for (int i = 0; i < 3; ++i)
            film << "FRAME\n" << std::string(64 * 48 * 3 / 2, '\x40');
    }
    const std::vector<const char*> words = {"specklescope",  "view",      path.c_str(),
                                            "--no-remember", "--backend", "cpu"};
    const auto pipeline =
        make_pipeline(parse_command_line(static_cast<int>(words.size()), words.data()).settings);
    pipeline->start();
    const double pace = std::get<double>(pipeline->source_params().get("rate"));
    pipeline->stop();
    return pace;
}

TEST(OwnPace, IsTheRateOfTheFile) { EXPECT_EQ(pace_of("12:1"), 12); }

/// An implausible rate does not make the file invalid.
TEST(OwnPace, IsTheUsualOneWhereThatOfTheFileIsTooLow) {
    EXPECT_EQ(pace_of("1:2147483647"), 30) << "one in 68 years";
}

} // namespace specklescope::own_pace_test
