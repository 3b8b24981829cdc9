// Streams through the C ABI: every frame in order, held frames, recordings, edits, messages.
#include "tests/library/recorded.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace stream_test {

using namespace client;

const char* const kSceneWithoutEnd = "synthetic:uniform?width=64&height=48&live=true";
const char* const kFile = "synthetic:vessels?width=64&height=48&live=false";

std::vector<float> pixels_of(specklescope_frame* frame) {
    auto image = sized<specklescope_image>();
    EXPECT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(image.type, SPECKLESCOPE_F32);
    std::vector<float> made(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    for (int y = 0; y < image.height; ++y)
        std::memcpy(made.data() + static_cast<std::ptrdiff_t>(y) * image.width,
                    static_cast<const char*>(image.data) + static_cast<std::size_t>(y) * image.pitch,
                    static_cast<std::size_t>(image.width) * sizeof(float));
    return made;
}

/// Compares bytes: NaN equals NaN.
bool same(const std::vector<float>& one, const std::vector<float>& other) {
    return one.size() == other.size() &&
           std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

std::vector<specklescope_frame*> all_frames(specklescope_stream* stream) {
    std::vector<specklescope_frame*> frames;
    specklescope_frame* frame = nullptr;
    specklescope_status status = SPECKLESCOPE_OK;
    while ((status = specklescope_stream_next(stream, -1, &frame)) == SPECKLESCOPE_OK)
        frames.push_back(frame);
    EXPECT_EQ(status, SPECKLESCOPE_END) << specklescope_last_error();
    return frames;
}

TEST(Streams, EveryFrameComesOnceAndAnyNumberMayBeHeld) {
    std::vector<specklescope_frame*> frames;
    auto facts = sized<specklescope_facts>();
    {
        const Stream stream(kFile, "speckle:output=contrast", "frames=60,backend=cpu");
        auto info = sized<specklescope_source_info>();
        ASSERT_EQ(specklescope_stream_source(stream, &info), SPECKLESCOPE_OK);
        facts.full_scale = info.full_scale; // full scale distinguishes the samples
        frames = all_frames(stream);
        specklescope_frame* frame = nullptr;
        EXPECT_EQ(specklescope_stream_next(stream, 1, &frame), SPECKLESCOPE_END);
    }
    ASSERT_EQ(frames.size(), 60U); // after the stream was closed
    const Chain chain("speckle:output=contrast", "backend=cpu");
    for (std::size_t i = 0; i < frames.size(); ++i) {
        auto result = sized<specklescope_result>();
        ASSERT_EQ(specklescope_frame_result(frames[i], &result), SPECKLESCOPE_OK);
        EXPECT_EQ(result.sequence, i);
        EXPECT_STREQ(result.symbol, "K");
        auto raw = sized<specklescope_image>();
        ASSERT_EQ(specklescope_frame_raw(frames[i], &raw), SPECKLESCOPE_OK);
        std::vector<float> made(64 * 48);
        const specklescope_image out = image_of(made, 64, 48);
        ASSERT_EQ(specklescope_chain_process(chain, &raw, &facts, &out, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        EXPECT_TRUE(same(pixels_of(frames[i]), made)) << "frame " << i;
        EXPECT_EQ(specklescope_frame_free(frames[i]), SPECKLESCOPE_OK);
    }
}

TEST(Streams, TellOfTheirSource) {
    const Stream stream(kFile);
    auto info = sized<specklescope_source_info>();
    ASSERT_EQ(specklescope_stream_source(stream, &info), SPECKLESCOPE_OK);
    EXPECT_EQ(info.width, 64);
    EXPECT_EQ(info.height, 48);
    EXPECT_EQ(info.live, 0);
    EXPECT_STRNE(info.name, "");
}

TEST(Streams, ARecordingBegunBeforeTheFirstFrameHoldsThemAll) {
    const std::filesystem::path folder = own_folder() + "/library_recording";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string file = folder / "flow.tiff";
    std::vector<std::vector<float>> expected;
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    {
        const Stream stream(kFile, "speckle", "frames=12,backend=cpu");
        ASSERT_EQ(specklescope_stream_record(stream, file.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK)
            << specklescope_last_error();
        for (specklescope_frame* frame : all_frames(stream)) {
            expected.push_back(pixels_of(frame));
            specklescope_frame_free(frame);
        }
        expect_refused(specklescope_stream_record(stream, (folder / "x.doc").c_str(), SPECKLESCOPE_RESULTS),
                       SPECKLESCOPE_USAGE_ERROR, ".doc");
        expect_refused(specklescope_stream_record(stream, file.c_str(), 9), SPECKLESCOPE_USAGE_ERROR,
                       "allowed: 0 (results), 1 (raw frames), 2 (mask");
        EXPECT_EQ(specklescope_stream_stop(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the terminal is the caller's";
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    const Stream again(file, nullptr, "backend=cpu");
    const std::vector<specklescope_frame*> frames = all_frames(again);
    ASSERT_EQ(frames.size(), expected.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_TRUE(same(pixels_of(frames[i]), expected[i])) << "frame " << i;
        specklescope_frame_free(frames[i]);
    }
}

TEST(Streams, EditsTakeEffectAndWrongOnesAreRefusedAtOnce) {
    const Stream stream(kFile, "speckle:output=contrast", "backend=cpu");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK);
    specklescope_frame_free(frame);
    expect_refused(specklescope_stream_set_source(stream, "rate", "fast"), SPECKLESCOPE_USAGE_ERROR,
                   "rate = fast");
    expect_refused(specklescope_stream_replace(stream, "crop:x=64"), SPECKLESCOPE_USAGE_ERROR, "stage crop");
    ASSERT_EQ(specklescope_stream_set(stream, 0, "output", "tau"), SPECKLESCOPE_OK)
        << specklescope_last_error();
    std::string unit;
    while (unit != "s") { // earlier results come first
        ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK);
        auto result = sized<specklescope_result>();
        ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        unit = result.unit;
        specklescope_frame_free(frame);
    }
    ASSERT_EQ(specklescope_stream_replace(stream, "gaussian"), SPECKLESCOPE_OK);
    while (unit != "DN") {
        ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK);
        auto result = sized<specklescope_result>();
        ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        unit = result.unit;
        specklescope_frame_free(frame);
    }
}

TEST(Streams, NothingInTimeIsATimeout) {
    const Stream stream("synthetic:uniform?width=64&height=48&rate=0.1&live=true");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    specklescope_frame_free(frame);
    expect_refused(specklescope_stream_next(stream, 0, &frame), SPECKLESCOPE_TIMEOUT,
                   "No frame came in time");
}

TEST(Streams, StatisticsAreThoseOfTheRun) {
    const Stream stream(kFile, "speckle", "frames=7,backend=cpu");
    for (specklescope_frame* frame : all_frames(stream))
        specklescope_frame_free(frame);
    std::size_t needed = 0;
    ASSERT_EQ(specklescope_stream_statistics(stream, nullptr, 0, &needed), SPECKLESCOPE_OK);
    std::string text(needed + 4096, '\0'); // its times may have more digits
    ASSERT_EQ(specklescope_stream_statistics(stream, text.data(), text.size(), nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_NE(text.find("\"processed\": 7"), std::string::npos) << text;
}

TEST(Streams, EventsAndTracesAreInTheirFiles) {
    const std::string path = recorded_file(30), table = own_folder() + "/library_traces.csv",
                      regions = own_folder() + "/library_regions.json";
    std::filesystem::remove(table);
    std::ofstream(regions) << R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]})";
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    settings.regions = regions.c_str();
    specklescope_stream* stream = nullptr;
    ASSERT_EQ(specklescope_stream_open(path.c_str(), "", &settings, &stream), SPECKLESCOPE_OK)
        << specklescope_last_error();
    expect_refused(specklescope_stream_mark(stream, "early", nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "An event belongs to a frame, and none was fetched yet; fetch one.");
    ASSERT_EQ(specklescope_stream_traces(stream, table.c_str()), SPECKLESCOPE_OK)
        << specklescope_last_error();
    for (int place = 0; place < 30; ++place) {
        ASSERT_EQ(next_place(stream), place);
        std::uint64_t number = 0;
        if (place == 12) {
            ASSERT_EQ(specklescope_stream_mark(stream, "stimulus", &number), SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(number, 1U);
        }
    }
    EXPECT_EQ(next_place(stream), -1);
    ASSERT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    std::ifstream file(table);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(text.find("stimulus"), std::string::npos) << text.substr(0, 2000);
    EXPECT_NE(text.find("\n12,0.012"), std::string::npos) << text.substr(0, 2000);
    EXPECT_NE(text.find(",box,1200,"), std::string::npos) << text.substr(0, 2000);
    const Stream without(path, nullptr, "backend=cpu");
    expect_refused(specklescope_stream_traces(without, table.c_str()), SPECKLESCOPE_USAGE_ERROR,
                   "There are no regions whose traces");
}

struct Said {
    std::string quantity, unit;
    double mean = 0, mean_of_map = 0;
    std::int64_t version = -1;
};

/// For the first result of edits after this version, and the region on it.
Said said_by(specklescope_stream* stream, std::int64_t behind = -1) {
    Said said;
    for (specklescope_frame* frame = nullptr;
         specklescope_stream_next(stream, -1, &frame) == SPECKLESCOPE_OK;) {
        auto result = sized<specklescope_result>();
        auto region = sized<specklescope_region>();
        EXPECT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_frame_region(frame, 0, &region), SPECKLESCOPE_OK) << specklescope_last_error();
        said = {result.quantity, result.unit, region.mean, region.mean_of_map,
                static_cast<std::int64_t>(result.version)};
        specklescope_frame_free(frame);
        if (said.version > behind)
            return said;
    }
    ADD_FAILURE() << specklescope_last_error();
    return said;
}

TEST(Streams, AChainThatReplacesOneWorksOnWhatTheRecordingHolds) {
    const std::filesystem::path folder = own_folder() + "/library_replaced";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string regions = folder / "whole.json";
    std::ofstream(regions) << R"({"regions":[{"name":"all","shape":"rectangle","points":[[0,0],[63,47]]}]})";
    for (const std::string output : {"contrast2", "contrast", "tau"}) {
        const std::string file = folder / (output + ".tiff");
        auto settings = sized<specklescope_settings>();
        settings.options = "frames=1,backend=cpu";
        settings.regions = regions.c_str();
        specklescope_stream* live = nullptr;
        ASSERT_EQ(specklescope_stream_open(kFile, ("speckle:output=" + output).c_str(), &settings, &live),
                  SPECKLESCOPE_OK)
            << specklescope_last_error();
        ASSERT_EQ(specklescope_stream_record(live, file.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK);
        const Said expected = said_by(live);
        EXPECT_EQ(specklescope_stream_stop(live), SPECKLESCOPE_OK);
        specklescope_stream_close(live);

        settings.options = "loop=true,backend=cpu";
        specklescope_stream* again = nullptr;
        ASSERT_EQ(specklescope_stream_open(file.c_str(), "flip", &settings, &again), SPECKLESCOPE_OK)
            << specklescope_last_error();
        const Said first = said_by(again);
        EXPECT_EQ(first.quantity, expected.quantity) << output;
        ASSERT_EQ(specklescope_stream_replace(again, "flip | flip"), SPECKLESCOPE_OK)
            << specklescope_last_error();
        const Said replaced = said_by(again, first.version);
        EXPECT_EQ(replaced.quantity, expected.quantity) << output;
        EXPECT_EQ(replaced.unit, expected.unit) << output;
        EXPECT_NEAR(replaced.mean, expected.mean, 1e-9 * expected.mean) << output;
        EXPECT_NEAR(replaced.mean_of_map, expected.mean_of_map, 1e-9 * expected.mean_of_map) << output;
        if (output == "contrast") { // the two means differ
            EXPECT_GT(std::abs(expected.mean - expected.mean_of_map), 1e-4 * expected.mean);
        }
        if (output == "contrast2") { // required for a flow, also by a later edit
            ASSERT_EQ(specklescope_stream_replace(again, "flow:output=bfi"), SPECKLESCOPE_OK)
                << specklescope_last_error();
            ASSERT_EQ(specklescope_stream_set(again, 0, "output", "tau"), SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(said_by(again, replaced.version + 1).unit, "s");
        }
        specklescope_stream_close(again);
    }
}

} // namespace stream_test
