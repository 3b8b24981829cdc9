// A recording of a stream begins after all earlier edits are in effect: a file has one chain.
#include "tests/library/recorded.hpp"

#include <algorithm>
#include <filesystem>

namespace stream_records_test {

using namespace client;

/// Number of frames in the file, and quantity of the first.
std::pair<int, std::string> read_again(const std::string& path) {
    const Stream stream(path, "", "backend=cpu");
    std::pair<int, std::string> found{0, ""};
    specklescope_frame* frame = nullptr;
    for (; specklescope_stream_next(stream, -1, &frame) == SPECKLESCOPE_OK; ++found.first) {
        auto result = sized<specklescope_result>();
        EXPECT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        if (found.first == 0)
            found.second = result.measure;
        specklescope_frame_free(frame);
    }
    return found;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

void fetch(specklescope_stream* stream, int frames) {
    specklescope_frame* frame = nullptr;
    for (int i = 0; i < frames; ++i) {
        ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
        specklescope_frame_free(frame);
    }
}

const char* const kBox = R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]})";

/// A frame of the old chain is nearly always in progress when recording begins.
TEST(StreamRecords, NothingOfTheChainBefore) {
    for (int round = 0; round < 10; ++round) {
        const std::string folder = own_folder() + "/records" + std::to_string(round);
        std::filesystem::create_directories(folder);
        {
            const Stream stream("synthetic:uniform?width=800&height=600&rate=1000&live=true",
                                "gaussian:sigma=30", "backend=cpu,threads=1");
            fetch(stream, 1);
            ASSERT_EQ(specklescope_stream_replace(stream, "speckle:output=contrast,radius=1"),
                      SPECKLESCOPE_OK);
            ASSERT_EQ(specklescope_stream_set_regions(stream, kBox), SPECKLESCOPE_OK);
            ASSERT_EQ(specklescope_stream_record(stream, (folder + "/k.tiff").c_str(), SPECKLESCOPE_RESULTS),
                      SPECKLESCOPE_OK);
            ASSERT_EQ(specklescope_stream_traces(stream, (folder + "/k.csv").c_str()), SPECKLESCOPE_OK)
                << specklescope_last_error();
            fetch(stream, 4);
        }
        ASSERT_EQ(names_in(folder), (std::vector<std::string>{"k.csv", "k.tiff"})) << "round " << round;
        const auto [frames, measure] = read_again(folder + "/k.tiff");
        EXPECT_GT(frames, 0);
        EXPECT_EQ(measure, "contrast") << "round " << round;
    }
}

/// An edit refused by the run has no results to wait for.
TEST(StreamRecords, WhatComesWhereTheEditBeforeIsRefused) {
    const std::string path = own_folder() + "/behind_refused.tiff";
    {
        const Stream stream("synthetic:uniform?width=64&height=48&live=false", "crop",
                            "backend=cpu,frames=200,slots=8");
        fetch(stream, 1);
        ASSERT_EQ(specklescope_stream_set_values(stream, "crop", "width=40"), SPECKLESCOPE_OK);
        for (const char* values : {"x=60,width=60", "y=40,height=60"})
            ASSERT_EQ(specklescope_stream_set_values(stream, "crop", values), SPECKLESCOPE_OK);
        ASSERT_EQ(specklescope_stream_record(stream, path.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK);
        fetch(stream, 199);
    }
    EXPECT_GT(read_again(path).first, 100); // without earlier results
}

/// Raw frames are independent of the chain.
TEST(StreamRecords, EveryFrameOfAFileBeforeTheFirstIsFetched) {
    const std::string folder = own_folder() + "/whole";
    std::filesystem::create_directories(folder);
    {
        const Stream stream("synthetic:uniform?width=64&height=48&live=false", "gamma",
                            "backend=cpu,frames=6");
        ASSERT_EQ(specklescope_stream_replace(stream, "speckle:output=contrast"), SPECKLESCOPE_OK);
        for (const auto& [name, what] :
             {std::pair("/k.tiff", SPECKLESCOPE_RESULTS), {"/raw.tiff", SPECKLESCOPE_FRAMES}})
            ASSERT_EQ(specklescope_stream_record(stream, (folder + name).c_str(), what), SPECKLESCOPE_OK);
        fetch(stream, 6);
    }
    EXPECT_EQ(read_again(folder + "/k.tiff"), (std::pair<int, std::string>(6, "contrast")));
    EXPECT_EQ(read_again(folder + "/raw.tiff"), (std::pair<int, std::string>(6, "intensity")));
}

} // namespace stream_records_test
