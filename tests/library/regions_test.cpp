// Regions of chains and streams, given as text and changed between frames.
#include "tests/library/recorded.hpp"

#include <fstream>
#include <string>

namespace regions_test {

using namespace client;

const char* const kBox = R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]})";
const char* const kTwo = R"({"regions":[{"name":"left","shape":"rectangle","points":[[0,0],[3,3]]},
{"name":"line","shape":"line","points":[[1,1],[9,1]]}]})";
const char* const kFarAway =
    R"({"regions":[{"name":"far","shape":"rectangle","points":[[900,900],[910,910]]}]})";

double mean_of(const Pixels& pixels, int x0, int y0, int x1, int y1) {
    double sum = 0;
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x)
            sum += pixels.samples[static_cast<std::size_t>(y * pixels.width + x)];
    return sum / ((x1 - x0 + 1) * (y1 - y0 + 1));
}

template <class Handle>
std::string text_of(specklescope_status (*ask)(Handle*, char*, size_t, size_t*), Handle* handle) {
    std::size_t needed = 0;
    EXPECT_EQ(ask(handle, nullptr, 0, &needed), SPECKLESCOPE_OK) << specklescope_last_error();
    std::string text(needed, 'x');
    EXPECT_EQ(ask(handle, text.data(), needed, nullptr), SPECKLESCOPE_OK) << specklescope_last_error();
    text.resize(needed - 1);
    return text;
}

/// Passes a frame through an empty chain; returns the facts of its result.
specklescope_result through(specklescope_chain* chain, Pixels& pixels) {
    Pixels made = pixels;
    const specklescope_image in = image_of(pixels), out = image_of(made);
    auto result = sized<specklescope_result>();
    EXPECT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, &result), SPECKLESCOPE_OK)
        << specklescope_last_error();
    return result;
}

specklescope_region region_at(specklescope_chain* chain, std::size_t index) {
    auto region = sized<specklescope_region>();
    EXPECT_EQ(specklescope_chain_region(chain, index, &region), SPECKLESCOPE_OK) << specklescope_last_error();
    return region;
}

TEST(RegionsOfAChain, AreOthersFromTheNextFrameOn) {
    const Chain chain("", "backend=cpu");
    Pixels pixels = random_pixels(20, 12, 5);
    EXPECT_EQ(through(chain, pixels).regions, 0U);
    ASSERT_EQ(specklescope_chain_set_regions(chain, kBox), SPECKLESCOPE_OK) << specklescope_last_error();
    const specklescope_result first = through(chain, pixels);
    ASSERT_EQ(first.regions, 1U);
    EXPECT_STREQ(region_at(chain, 0).name, "box");
    EXPECT_DOUBLE_EQ(region_at(chain, 0).mean, mean_of(pixels, 2, 3, 5, 6));

    ASSERT_EQ(specklescope_chain_set_regions(chain, kTwo), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_DOUBLE_EQ(region_at(chain, 0).mean, mean_of(pixels, 2, 3, 5, 6)) << "of the last result still";
    const specklescope_result second = through(chain, pixels);
    ASSERT_EQ(second.regions, 2U);
    EXPECT_GT(second.version, first.version);
    EXPECT_DOUBLE_EQ(region_at(chain, 0).mean, mean_of(pixels, 0, 0, 3, 3));
    EXPECT_DOUBLE_EQ(region_at(chain, 1).mean, mean_of(pixels, 1, 1, 9, 1));

    Pixels small = random_pixels(6, 4, 6); // half of the line, in another image size
    ASSERT_EQ(through(chain, small).regions, 2U);
    EXPECT_STREQ(region_at(chain, 1).fit, "clipped");
    ASSERT_EQ(specklescope_chain_set_regions(chain, kFarAway), SPECKLESCOPE_OK);
    ASSERT_EQ(through(chain, small).regions, 1U);
    EXPECT_STREQ(region_at(chain, 0).fit, "outside");
    for (const char* none : {static_cast<const char*>(nullptr), "", R"({"regions":[]})"}) {
        ASSERT_EQ(specklescope_chain_set_regions(chain, kBox), SPECKLESCOPE_OK);
        ASSERT_EQ(specklescope_chain_set_regions(chain, none), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_EQ(through(chain, small).regions, 0U);
    }
}

TEST(RegionsOfAChain, LeaveHistoriesAlone) {
    const Chain chain("temporal:frames=5,output=contrast", "backend=cpu");
    Pixels pixels = random_pixels(20, 12, 5);
    for (int i = 1; i <= 5; ++i) {
        ASSERT_EQ(specklescope_chain_set_regions(chain, i % 2 ? kBox : kTwo), SPECKLESCOPE_OK);
        auto result = sized<specklescope_result>();
        run(chain, pixels, &result);
        EXPECT_EQ(result.warmup_frames, i < 5 ? i : 0);
        EXPECT_EQ(result.regions, i % 2 ? 1U : 2U);
    }
}

TEST(RegionsOfAChain, AreToldAsTheyAreTaken) {
    const Chain chain("", "backend=cpu");
    ASSERT_EQ(specklescope_chain_set_regions(chain, kTwo), SPECKLESCOPE_OK);
    const std::string text = text_of<specklescope_chain>(specklescope_chain_regions, chain);
    EXPECT_NE(text.find("\"left\""), std::string::npos) << text;
    const Chain other("", "backend=cpu");
    ASSERT_EQ(specklescope_chain_set_regions(other, text.c_str()), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(text_of<specklescope_chain>(specklescope_chain_regions, other), text);
}

TEST(RegionsOfAChain, ThatAreWrongChangeNothing) {
    const Chain chain("", "backend=cpu");
    ASSERT_EQ(specklescope_chain_set_regions(chain, kBox), SPECKLESCOPE_OK);
    const std::string before = text_of<specklescope_chain>(specklescope_chain_regions, chain);
    const auto refused = [&](const char* json, const char* part) {
        expect_refused(specklescope_chain_set_regions(chain, json), SPECKLESCOPE_USAGE_ERROR, part);
        EXPECT_EQ(text_of<specklescope_chain>(specklescope_chain_regions, chain), before);
    };
    refused("box", "The regions, line 1");
    refused(R"({"regions":7})", "The regions, line 1: regions is a number; allowed: a list.");
    refused(R"({"regions":[{"name":"a","shape":"star","points":[[0,0],[1,1]]}]})", "star");
    refused(
        R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,1]]},
{"name":"a","shape":"line","points":[[0,0],[1,1]]}]})",
        "The regions, line 2: the region of line 1 has the name 'a' too; give each one a name of its own.");
}

TEST(RegionsOfSettings, AreAFileOrText) {
    const std::string file = own_folder() + "/box.json";
    std::ofstream(file) << kBox;
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    settings.regions_json = kBox;
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("", &settings, &chain), SPECKLESCOPE_OK) << specklescope_last_error();
    Pixels pixels = random_pixels(20, 12, 7);
    EXPECT_EQ(through(chain, pixels).regions, 1U);
    EXPECT_DOUBLE_EQ(region_at(chain, 0).mean, mean_of(pixels, 2, 3, 5, 6));
    EXPECT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);

    settings.struct_size = offsetof(specklescope_settings, regions_json); // size in an earlier header
    ASSERT_EQ(specklescope_chain_create("", &settings, &chain), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(through(chain, pixels).regions, 0U) << "what lies behind its end was read";
    EXPECT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);

    settings.struct_size = sizeof settings;
    settings.regions = file.c_str();
    expect_refused(specklescope_chain_create("", &settings, &chain), SPECKLESCOPE_USAGE_ERROR,
                   ", and regions_json; give one of them.");
    settings.regions = nullptr;
    settings.regions_json = R"({"regions":[{}]})";
    expect_refused(specklescope_chain_create("", &settings, &chain), SPECKLESCOPE_USAGE_ERROR,
                   "The regions, line 1");
}

/// Mean over the first region of the next frame; −1: no region, −2: no frame.
double next_mean(specklescope_stream* stream) {
    specklescope_frame* frame = nullptr;
    if (specklescope_stream_next(stream, -1, &frame) != SPECKLESCOPE_OK)
        return -2;
    auto result = sized<specklescope_result>();
    auto region = sized<specklescope_region>();
    EXPECT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
    if (result.regions > 0) {
        EXPECT_EQ(specklescope_frame_region(frame, 0, &region), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
    return result.regions > 0 ? region.mean : -1;
}

TEST(RegionsOfAStream, ThatAreSetBeforeTheFirstFrameAreOnEveryOne) {
    const Stream stream(recorded_file(9), "", "backend=cpu");
    ASSERT_EQ(specklescope_stream_set_regions(stream, kBox), SPECKLESCOPE_OK) << specklescope_last_error();
    const std::string table = own_folder() + "/regions_set.csv";
    ASSERT_EQ(specklescope_stream_traces(stream, table.c_str()), SPECKLESCOPE_OK)
        << specklescope_last_error();
    for (int place = 0; place < 9; ++place)
        EXPECT_DOUBLE_EQ(next_mean(stream), 100.0 * place);
    EXPECT_EQ(next_mean(stream), -2);
    ASSERT_EQ(specklescope_stream_finish(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    std::ifstream file(table);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(text.find(",box,800,"), std::string::npos) << text.substr(0, 2000);
}

TEST(RegionsOfAStream, AreReplacedWhileItRunsUnlessThePictureHasNoneOfTheirPixels) {
    const Stream stream(recorded_file(400), "", "backend=cpu");
    ASSERT_EQ(next_mean(stream), -1);
    ASSERT_EQ(specklescope_stream_set_regions(stream, kBox), SPECKLESCOPE_OK) << specklescope_last_error();
    double mean = -1;
    while ((mean = next_mean(stream)) == -1) // earlier results come first
        continue;
    EXPECT_GT(mean, 0);
    const std::string box = text_of<specklescope_stream>(specklescope_stream_regions, stream);
    ASSERT_EQ(specklescope_stream_set_regions(stream, kFarAway), SPECKLESCOPE_OK)
        << "told when it meets a picture";
    std::string said;
    while (said.find("far") == std::string::npos) {
        EXPECT_GT(next_mean(stream), 0) << "those before stay";
        if (testing::Test::HasFailure())
            break;
        said += text_of<specklescope_stream>(specklescope_stream_messages, stream);
    }
    EXPECT_EQ(text_of<specklescope_stream>(specklescope_stream_regions, stream), box);
    expect_refused(specklescope_stream_set_regions(stream, "box"), SPECKLESCOPE_USAGE_ERROR,
                   "The regions, line 1");
    EXPECT_EQ(specklescope_stream_set_regions(stream, nullptr), SPECKLESCOPE_OK) << specklescope_last_error();
    while (next_mean(stream) > 0)
        continue;
    expect_refused(specklescope_stream_traces(stream, (own_folder() + "/none.csv").c_str()),
                   SPECKLESCOPE_USAGE_ERROR, "There are no regions whose traces");
}

} // namespace regions_test
