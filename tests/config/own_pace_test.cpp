// A file in the window plays at its stated rate if that is plausible.
#include "config/cli.hpp"
#include "config/settings.hpp"
#include "config/start.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace specklescope::own_pace_test {

/// Seconds until the window has played 24 frames of a film whose header states `rate`, as N:D.
double seconds_at(const std::string& rate) {
    const TemporaryFolder folder;
    const std::string path = folder / "film.y4m";
    {
        std::ofstream film(path, std::ios::binary);
        film << "YUV4MPEG2 W64 H48 F" << rate << " Ip A1:1 C420jpeg\n";
        for (int i = 0; i < 24; ++i)
            film << "FRAME\n" << std::string(64 * 48 * 3 / 2, '\x40');
    }
    const std::vector<const char*> words = {"specklescope",  "view",      path.c_str(),
                                            "--no-remember", "--backend", "cpu"};
    const auto pipeline =
        make_pipeline(parse_command_line(static_cast<int>(words.size()), words.data()).settings);
    const auto begin = SteadyClock::now();
    pipeline->start();
    EXPECT_TRUE(test::eventually([&] { return pipeline->status().state == RunState::ended; }));
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    pipeline->stop();
    return seconds;
}

TEST(OwnPace, IsTheRateOfTheFile) { EXPECT_GT(seconds_at("12:1"), 22.9 / 12); }

/// An implausible rate does not make the file invalid.
TEST(OwnPace, IsTheUsualOneWhereThatOfTheFileIsTooLow) {
    EXPECT_GT(seconds_at("1:2147483647"), 22.9 / 30) << "one in 68 years";
}

} // namespace specklescope::own_pace_test
