// Chains through the C ABI: edits, facts, histories, regions. agreement.py compares the bytes with the
// program's.
#include "tests/library/client.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <thread>

namespace chain_test {

using namespace client;

TEST(Abi, LayoutsAreThoseOfTheFirstHeader) {
    // New members are added at the end, with a new size besides the old one; no member may move.
    EXPECT_EQ(sizeof(specklescope_stage_info), 40U);
    EXPECT_EQ(sizeof(specklescope_parameter_info), 88U);
    EXPECT_EQ(sizeof(specklescope_image), 56U);
    EXPECT_EQ(offsetof(specklescope_image, stream), 48U);
    EXPECT_EQ(offsetof(specklescope_image, width), 24U);
    EXPECT_EQ(offsetof(specklescope_image, memory), 40U);
    EXPECT_EQ(sizeof(specklescope_facts), 48U);
    EXPECT_EQ(offsetof(specklescope_facts, warming_up), 40U);
    EXPECT_EQ(sizeof(specklescope_result), 168U);
    EXPECT_EQ(offsetof(specklescope_result, arrival_ns), 152U);
    EXPECT_EQ(offsetof(specklescope_result, warming_up), 144U);
    EXPECT_EQ(offsetof(specklescope_result, measure), 136U);
    EXPECT_EQ(offsetof(specklescope_result, regions), 120U);
    EXPECT_EQ(sizeof(specklescope_region), 120U);
    EXPECT_EQ(sizeof(specklescope_settings), 72U);
    EXPECT_EQ(offsetof(specklescope_settings, agrees), 64U);
    EXPECT_EQ(offsetof(specklescope_settings, regions_json), 48U);
    EXPECT_EQ(sizeof(specklescope_source_kind), 40U);
    EXPECT_EQ(sizeof(specklescope_source_info), 80U);
    EXPECT_EQ(sizeof(specklescope_recording), 80U);
    EXPECT_EQ(sizeof(specklescope_recorder_info), 72U);
}

/// The struct of the first header.
struct FirstImage {
    size_t struct_size;
    void* data;
    size_t pitch;
    int32_t width, height, channels, type, memory, reserved;
};
static_assert(sizeof(FirstImage) == 48);

TEST(Abi, ImagesOfTheFirstHeaderAreTakenAndNoByteBehindThemIsTouched) {
    Pixels pixels = random_pixels(20, 12, 4);
    const Chain chain("speckle:output=contrast", "backend=cpu");
    const std::vector<float> expected = run(chain, pixels);
    struct {
        FirstImage image;
        std::uint64_t behind;
    } in{{sizeof(FirstImage), pixels.samples.data(), 0, 20, 12, 1, SPECKLESCOPE_U16, 0, 0}, 77},
        out{{sizeof(FirstImage), nullptr, 0, 0, 0, 0, 0, 0, 0}, 77};
    const auto* const input = reinterpret_cast<const specklescope_image*>(&in.image);
    ASSERT_EQ(specklescope_chain_output(chain, input, reinterpret_cast<specklescope_image*>(&out.image)),
              SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(out.image.struct_size, 48U);
    EXPECT_EQ(out.image.pitch, 80U);
    EXPECT_EQ(out.behind, 77U);
    std::vector<float> made(expected.size());
    out.image.data = made.data();
    ASSERT_EQ(specklescope_chain_process(chain, input, nullptr,
                                         reinterpret_cast<specklescope_image*>(&out.image), nullptr),
              SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(made, expected);
    in.image.struct_size = 52;
    expect_refused(specklescope_chain_process(chain, input, nullptr,
                                              reinterpret_cast<specklescope_image*>(&out.image), nullptr),
                   SPECKLESCOPE_USAGE_ERROR, "The input says that it has 52 bytes");
}

TEST(Declarations, EveryParameterCanBeSetToItsDefaultAndIsDescribed) {
    std::size_t stages = 0;
    ASSERT_EQ(specklescope_stage_count(&stages), SPECKLESCOPE_OK);
    ASSERT_GT(stages, 10U);
    for (std::size_t i = 0; i < stages; ++i) {
        auto stage = sized<specklescope_stage_info>();
        ASSERT_EQ(specklescope_stage_describe(i, &stage), SPECKLESCOPE_OK);
        EXPECT_STRNE(stage.doc, "");
        const std::string stage_name = stage.name;
        const std::size_t place = stage_name == "flow" || stage_name == "mesi" ? 1 : 0; // they need K²
        const Chain chain(((place == 1 ? "speckle:output=contrast2 | " : "") + stage_name).c_str());
        for (std::size_t k = 0; k < stage.parameters; ++k) {
            auto parameter = sized<specklescope_parameter_info>();
            ASSERT_EQ(specklescope_parameter_describe(stage.name, k, &parameter), SPECKLESCOPE_OK);
            SCOPED_TRACE(std::string(stage.name) + ":" + parameter.name);
            EXPECT_STRNE(parameter.doc, "");
            EXPECT_EQ(std::string(parameter.allowed).rfind("allowed: ", 0), 0U) << parameter.allowed;
            EXPECT_EQ(parameter.kind == SPECKLESCOPE_CHOICE, parameter.choices != nullptr);
            EXPECT_LE(parameter.minimum, parameter.maximum);
            if (parameter.choices) {
                bool found = false;
                for (const char* const* name = parameter.choices; *name; ++name)
                    found = found || std::string(*name) == parameter.default_value;
                EXPECT_TRUE(found) << parameter.default_value;
            }
            char text[512];
            ASSERT_EQ(specklescope_chain_get(chain, place, parameter.name, text, sizeof text, nullptr),
                      SPECKLESCOPE_OK);
            EXPECT_STREQ(text, parameter.default_value);
            EXPECT_EQ(specklescope_chain_set(chain, place, parameter.name, parameter.default_value),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
        }
        auto beyond = sized<specklescope_parameter_info>();
        expect_refused(specklescope_parameter_describe(stage.name, stage.parameters, &beyond),
                       SPECKLESCOPE_USAGE_ERROR, "There is no parameter of stage");
    }
    auto beyond = sized<specklescope_stage_info>();
    expect_refused(specklescope_stage_describe(stages, &beyond), SPECKLESCOPE_USAGE_ERROR,
                   "There is no stage number");
}

TEST(ChainCalls, ContrastIsThatOfTheDefinition) {
    Pixels pixels = random_pixels(40, 30, 4);
    const Chain chain("speckle:radius=2,output=contrast", "backend=cpu");
    auto result = sized<specklescope_result>();
    const std::vector<float> made = run(chain, pixels, &result);
    double sum = 0, squares = 0;
    for (int y = 13; y <= 17; ++y)
        for (int x = 18; x <= 22; ++x) {
            const double value = pixels.samples[static_cast<std::size_t>(y * 40 + x)];
            sum += value;
            squares += value * value;
        }
    const double mean = sum / 25;
    EXPECT_NEAR(made[15 * 40 + 20], std::sqrt((squares - sum * mean) / 24) / mean, 1e-5);
    EXPECT_STREQ(result.symbol, "K");
    EXPECT_STREQ(result.unit, "1");
    EXPECT_EQ(result.sequence, 0U);
    EXPECT_EQ(result.raw_samples, 1200U);
}

TEST(ChainCalls, RowsFarApartGiveTheSame) {
    Pixels pixels = random_pixels(37, 29, 5);
    const Chain chain("speckle | gaussian:sigma=1", "backend=cpu");
    const std::vector<float> expected = run(chain, pixels);
    constexpr int kIn = 37 + 5, kOut = 37 + 11;
    std::vector<std::uint16_t> wide(kIn * 29 + 3);
    std::vector<float> made(kOut * 29, -7.F);
    for (int y = 0; y < 29; ++y)
        for (int x = 0; x < 37; ++x)
            wide[static_cast<std::size_t>(3 + y * kIn + x)] =
                pixels.samples[static_cast<std::size_t>(y * 37 + x)];
    specklescope_image in = image_of(pixels);
    in.data = wide.data() + 3; // aligned to 2 bytes only
    in.pitch = kIn * 2;
    specklescope_image out = image_of(made, 37, 29);
    out.pitch = kOut * 4;
    ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    for (int y = 0; y < 29; ++y)
        for (int x = 0; x < kOut; ++x)
            ASSERT_EQ(made[static_cast<std::size_t>(y * kOut + x)],
                      x < 37 ? expected[static_cast<std::size_t>(y * 37 + x)] : -7.F)
                << x << ", " << y;
}

TEST(ChainCalls, AnEmptyChainGivesTheFrame) {
    Pixels pixels = random_pixels(16, 9, 6), made{16, 9, 1, std::vector<std::uint16_t>(144)};
    const Chain chain("");
    const specklescope_image in = image_of(pixels), out = image_of(made);
    ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(made.samples, pixels.samples);
}

TEST(ChainCalls, TheExposureOfAFrameCounts) {
    Pixels pixels = random_pixels(24, 24, 7);
    const Chain chain("speckle:output=sfi,exposure=10", "backend=cpu");
    auto result = sized<specklescope_result>();
    const std::vector<float> ten = run(chain, pixels, &result);
    EXPECT_STREQ(result.exposure_origin, "parameter");
    std::vector<float> made(ten.size());
    const specklescope_image in = image_of(pixels), out = image_of(made, 24, 24);
    auto facts = sized<specklescope_facts>();
    facts.exposure_ms = 5;
    facts.time_ns = 1234;
    ASSERT_EQ(specklescope_chain_process(chain, &in, &facts, &out, &result), SPECKLESCOPE_OK);
    EXPECT_STREQ(result.exposure_origin, "camera");
    EXPECT_EQ(result.exposure_ms, 5);
    EXPECT_EQ(result.time_ns, 1234);
    EXPECT_EQ(result.sequence, 1U);
    for (std::size_t i = 0; i < made.size(); ++i)
        ASSERT_FLOAT_EQ(made[i], 2 * ten[i]);
}

TEST(ChainCalls, HistoriesFillAndAreForgotten) {
    const Chain chain("temporal:frames=4", "backend=cpu");
    auto result = sized<specklescope_result>();
    for (int i = 1; i <= 4; ++i) {
        Pixels pixels = random_pixels(20, 10, static_cast<unsigned>(i));
        run(chain, pixels, &result);
        EXPECT_EQ(result.warmup_frames, i < 4 ? i : 0);
        EXPECT_EQ(result.warmup_wanted, i < 4 ? 4 : 0);
    }
    ASSERT_EQ(specklescope_chain_reset(chain), SPECKLESCOPE_OK);
    Pixels pixels = random_pixels(20, 10, 9);
    run(chain, pixels, &result);
    EXPECT_EQ(result.warmup_frames, 1);
}

TEST(ChainCalls, AnEditThatDoesNotFitIsToldOnceAndChangesNothing) {
    Pixels pixels = random_pixels(20, 10, 10);
    const Chain chain("speckle:radius=2 | crop:x=0", "backend=cpu");
    const std::vector<float> before = run(chain, pixels);
    ASSERT_EQ(specklescope_chain_set(chain, 1, "x", "25"), SPECKLESCOPE_OK); // beyond the image
    const specklescope_image in = image_of(pixels);
    std::vector<float> made(before.size());
    const specklescope_image out = image_of(made, 20, 10);
    expect_refused(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "stage crop");
    EXPECT_EQ(run(chain, pixels), before);
    char text[32];
    ASSERT_EQ(specklescope_chain_get(chain, 1, "x", text, sizeof text, nullptr), SPECKLESCOPE_OK);
    EXPECT_STREQ(text, "0");
}

std::string text_of(specklescope_chain* chain, std::size_t stage, const char* name) {
    char text[32] = "";
    EXPECT_EQ(specklescope_chain_get(chain, stage, name, text, sizeof text, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    return text;
}

/// Width of the chain's result for frames of that size; 0: the frames are refused.
int width_made(specklescope_chain* chain, int width, int height) {
    Pixels pixels{width, height, 1, {}};
    const specklescope_image in = image_of(pixels);
    auto out = sized<specklescope_image>();
    return specklescope_chain_output(chain, &in, &out) == SPECKLESCOPE_OK ? out.width : 0;
}

TEST(ChainCalls, AskingForAnotherSizeThatDoesNotFitLeavesEditsAlone) {
    const Chain chain("crop:x=50", "backend=cpu");
    ASSERT_EQ(width_made(chain, 100, 100), 50);
    EXPECT_EQ(width_made(chain, 20, 20), 0); // x = 50 is outside
    ASSERT_EQ(specklescope_chain_set(chain, 0, "width", "30"), SPECKLESCOPE_OK);
    EXPECT_EQ(width_made(chain, 100, 100), 30) << specklescope_last_error();
    EXPECT_EQ(text_of(chain, 0, "width"), "30");
}

TEST(ChainCalls, AnEditIsJudgedOnTheFrameThatComesWithIt) {
    const Chain chain("crop:x=50", "backend=cpu");
    ASSERT_EQ(width_made(chain, 100, 100), 50);
    ASSERT_EQ(specklescope_chain_set(chain, 0, "x", "200"), SPECKLESCOPE_OK);
    EXPECT_EQ(width_made(chain, 400, 400), 200) << specklescope_last_error();
    EXPECT_EQ(text_of(chain, 0, "x"), "200");
}

TEST(ChainCalls, AnEditThatTheNextSizeRefusesIsTakenBack) {
    const Chain chain("temporal:frames=4 | crop:x=0", "backend=cpu");
    auto result = sized<specklescope_result>();
    Pixels pixels = random_pixels(100, 100, 13);
    run(chain, pixels, &result);
    run(chain, pixels, &result);
    EXPECT_EQ(result.warmup_frames, 2);
    ASSERT_EQ(specklescope_chain_set(chain, 1, "x", "80"), SPECKLESCOPE_OK);
    EXPECT_EQ(width_made(chain, 60, 60), 0);
    EXPECT_EQ(text_of(chain, 1, "x"), "0");
    run(chain, pixels, &result);
    EXPECT_EQ(result.warmup_frames, 3) << "the histories are there as before, too";
    EXPECT_EQ(width_made(chain, 60, 60), 60);
}

/// Accepts results that are `width` wide.
struct Wide {
    int width, asked = 0;
    bool in_place = true;
    static int agrees(void* self, const specklescope_image* output, std::int32_t in_place) {
        auto& wide = *static_cast<Wide*>(self);
        ++wide.asked;
        wide.in_place = in_place != 0;
        return output->width == wide.width ? 1 : 0;
    }
};

TEST(ChainCalls, AnEditToWhichTheCallerDoesNotAgreeLeavesTheHistories) {
    Wide wide{20};
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    settings.user = &wide;
    settings.agrees = Wide::agrees;
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("temporal:frames=4 | crop", &settings, &chain), SPECKLESCOPE_OK);
    auto result = sized<specklescope_result>();
    Pixels pixels = random_pixels(20, 10, 14);
    run(chain, pixels, &result);
    EXPECT_EQ(wide.asked, 0) << "there was no edit";
    ASSERT_EQ(specklescope_chain_replace(chain, "temporal:frames=6 | crop:width=12"), SPECKLESCOPE_OK);
    EXPECT_EQ(width_made(chain, 20, 10), 0);
    EXPECT_NE(std::string(specklescope_last_error()).find("12×10"), std::string::npos);
    run(chain, pixels, &result);
    EXPECT_EQ(result.warmup_frames, 2);
    EXPECT_EQ(result.warmup_wanted, 4);
    ASSERT_EQ(specklescope_chain_set(chain, 0, "frames", "6"), SPECKLESCOPE_OK);
    run(chain, pixels, &result);
    EXPECT_EQ(result.warmup_wanted, 6);
    EXPECT_FALSE(wide.in_place);
    EXPECT_EQ(wide.asked, 2);
    EXPECT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
}

TEST(ChainCalls, ACopyHasWhatATextLeavesOut) {
    const Chain from("background:dark=capture,frames=2 | gamma", "backend=cpu"), to("speckle", "backend=cpu");
    ASSERT_EQ(specklescope_chain_set(from, 0, "capture_dark", "3"), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_chain_copy(to, from), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(text_of(to, 0, "capture_dark"), "3");
    EXPECT_EQ(text_of(to, 1, "gamma"), text_of(from, 1, "gamma"));
    Pixels pixels = random_pixels(20, 10, 15);
    auto result = sized<specklescope_result>();
    run(to, pixels, &result);
    EXPECT_EQ(result.version, 1U) << "another beginning, and no edit";
}

TEST(ChainCalls, EditsOfAnotherThreadFallBetweenFrames) {
    Pixels pixels = random_pixels(64, 48, 11);
    std::vector<std::vector<float>> of(4);
    for (int radius = 1; radius <= 3; ++radius)
        of[static_cast<std::size_t>(radius)] =
            run(Chain(("speckle:radius=" + std::to_string(radius)).c_str(), "backend=cpu"), pixels);
    const Chain chain("speckle:radius=1", "backend=cpu");
    std::atomic<bool> done{false};
    std::thread editor([&] {
        for (int i = 0; !done; ++i)
            EXPECT_EQ(specklescope_chain_set(chain, 0, "radius", std::to_string(1 + i % 3).c_str()),
                      SPECKLESCOPE_OK);
    });
    std::uint64_t version = 0;
    for (int i = 0; i < 100; ++i) {
        auto result = sized<specklescope_result>();
        const std::vector<float> made = run(chain, pixels, &result);
        EXPECT_TRUE(made == of[1] || made == of[2] || made == of[3]) << "frame " << i;
        EXPECT_GE(result.version, version);
        version = result.version;
    }
    done = true;
    editor.join();
}

TEST(ChainCalls, RegionsAreMeasured) {
    const std::string file = own_folder() + "/library_regions.json";
    std::ofstream(file) << R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]})";
    Pixels pixels = random_pixels(16, 12, 12);
    auto settings = sized<specklescope_settings>();
    settings.regions = file.c_str();
    settings.options = "backend=cpu,medians=true";
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("gaussian:sigma=1", &settings, &chain), SPECKLESCOPE_OK)
        << specklescope_last_error();
    Pixels made{16, 12, 1, std::vector<std::uint16_t>(192)};
    const specklescope_image in = image_of(pixels), out = image_of(made);
    auto result = sized<specklescope_result>();
    ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, &result), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(result.regions, 1U);
    auto region = sized<specklescope_region>();
    ASSERT_EQ(specklescope_chain_region(chain, 0, &region), SPECKLESCOPE_OK) << specklescope_last_error();
    double sum = 0;
    for (int y = 3; y <= 6; ++y)
        for (int x = 2; x <= 5; ++x)
            sum += made.samples[static_cast<std::size_t>(y * 16 + x)];
    EXPECT_EQ(region.pixels, 16U);
    EXPECT_DOUBLE_EQ(region.mean, sum / 16);
    EXPECT_STREQ(region.name, "box");
    EXPECT_STREQ(region.fit, "whole");
    EXPECT_FALSE(std::isnan(region.median));
    expect_refused(specklescope_chain_region(chain, 1, &region), SPECKLESCOPE_USAGE_ERROR,
                   "no region number 1");
    specklescope_chain_free(chain);
}

/// show=NAME: the further image is the result, with its shape, facts and regions.
TEST(Chain, ReturnsAFurtherImage) {
    Pixels pixels = random_pixels(40, 30, 9);
    const Chain alone("speckle:radius=2,output=contrast", "backend=cpu");
    const Chain shown("speckle:radius=2,also=mean+contrast | downsample:factor=2",
                      "backend=cpu,show=contrast");
    EXPECT_EQ(run(shown, pixels), run(alone, pixels));
    auto result = sized<specklescope_result>();
    ASSERT_EQ(specklescope_chain_result(shown, &result), SPECKLESCOPE_OK);
    EXPECT_STREQ(result.symbol, "K");
    ASSERT_EQ(specklescope_chain_set_values(shown, "speckle", "radius=1"), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_chain_set_values(alone, "speckle", "radius=1"), SPECKLESCOPE_OK);
    EXPECT_EQ(run(shown, pixels), run(alone, pixels));
    // Another size; then an edit that takes the image away, which is undone.
    Pixels smaller = random_pixels(24, 22, 10);
    EXPECT_EQ(run(shown, smaller), run(alone, smaller));
    ASSERT_EQ(specklescope_chain_set_values(shown, "speckle", "also=mean"), SPECKLESCOPE_OK);
    const specklescope_image in = image_of(smaller);
    auto out = sized<specklescope_image>();
    EXPECT_EQ(specklescope_chain_output(shown, &in, &out), SPECKLESCOPE_USAGE_ERROR);
    EXPECT_EQ(run(shown, smaller), run(alone, smaller));
    const Chain without("speckle", "backend=cpu,show=contrast");
    EXPECT_EQ(specklescope_chain_output(without, &in, &out), SPECKLESCOPE_USAGE_ERROR);
}

} // namespace chain_test
