// A program that returns from main with open streams ends cleanly, and its recordings are complete.
#include "tests/library/client.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace process_exit_test {

using namespace client;

constexpr const char* kFolder = "SPECKLESCOPE_LEFT_OPEN";

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// The program: main returns after it without closing anything.
TEST(LeftOpen, DISABLED_Program) {
    const std::string folder = std::getenv(kFolder); // NOLINT(concurrency-mt-unsafe): the only thread here
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu,threads=2";
    int number = 0;
    for (const char* source :
         {"synthetic:vessels?width=64&height=48", "synthetic:vessels?width=64&height=48&live=false",
          "synthetic:uniform?width=64&height=48&rate=1000",
          "synthetic:static?width=64&height=48&live=false"}) {
        specklescope_stream* stream = nullptr;
        ASSERT_EQ(
            specklescope_stream_open(source, "speckle | gaussian | average:frames=3", &settings, &stream),
            SPECKLESCOPE_OK)
            << specklescope_last_error();
        const std::string path = folder + "/" + std::to_string(number++) + ".tiff";
        ASSERT_EQ(specklescope_stream_record(stream, path.c_str(), SPECKLESCOPE_FRAMES), SPECKLESCOPE_OK);
        specklescope_frame* frame = nullptr;
        ASSERT_EQ(specklescope_stream_next(stream, 60, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    specklescope_recorder* recorder = nullptr;
    ASSERT_EQ(specklescope_recorder_create((folder + "/pushed.tiff").c_str(), nullptr, &recorder),
              SPECKLESCOPE_OK);
    Pixels pixels = random_pixels(64, 48, 29);
    const specklescope_image image = image_of(pixels);
    for (int i = 0; i < 5; ++i)
        ASSERT_EQ(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_OK);
}

TEST(LeftOpen, EndsCleanlyAndFinishesItsRecordings) {
    for (int round = 0; round < 12; ++round) {
        const std::string folder = own_folder() + "/left-open-" + std::to_string(round);
        std::filesystem::create_directories(folder);
        const std::string command =
            std::string(kFolder) + "='" + folder + "' /proc/" + std::to_string(::getpid()) +
            "/exe --gtest_also_run_disabled_tests --gtest_filter=LeftOpen.DISABLED_Program >'" + folder +
            "/log' 2>&1";
        const int status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe)
        ASSERT_EQ(status, 0) << "round " << round << text_of(folder + "/log");
        int recordings = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".tiff")
                continue;
            const std::string text = text_of(entry.path());
            EXPECT_EQ(count(text, "\"finished\": true"), 1U) << entry.path();
            EXPECT_EQ(count(text, "\"finished\": false"), 0U) << entry.path();
            ++recordings;
        }
        EXPECT_EQ(recordings, 5);
        std::filesystem::remove_all(folder);
    }
}

} // namespace process_exit_test
