// Kinds of source through the C ABI, and facts of a stream besides its pixels: times, positions, colours.
#include "tests/library/recorded.hpp"

#include <chrono>
#include <cstring>
#include <set>

namespace sources_test {

using namespace client;

TEST(Sources, AreDescribedAsStagesAre) {
    std::size_t count = 0;
    ASSERT_EQ(specklescope_source_count(&count), SPECKLESCOPE_OK);
    std::set<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        auto source = sized<specklescope_source_kind>();
        ASSERT_EQ(specklescope_source_describe(i, &source), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_TRUE(names.insert(source.name).second) << source.name;
        EXPECT_STRNE(source.syntax, "");
        EXPECT_STRNE(source.doc, "");
        auto option = sized<specklescope_parameter_info>();
        for (std::size_t k = 0; k < source.options; ++k) {
            ASSERT_EQ(specklescope_source_option_describe(source.name, k, &option), SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_STRNE(option.doc, "") << source.name << " " << option.name;
            EXPECT_NE(std::string(option.allowed).find("allowed: "), std::string::npos);
        }
        expect_refused(specklescope_source_option_describe(source.name, source.options, &option),
                       SPECKLESCOPE_USAGE_ERROR,
                       "There is no parameter of source " + std::string(source.name) + " number");
    }
    for (const char* const kind : {"synthetic", "raw", "aravis", "v4l2", "rtsp", "gst"})
        EXPECT_TRUE(names.count(kind)) << kind;
    auto source = sized<specklescope_source_kind>();
    expect_refused(specklescope_source_describe(count, &source), SPECKLESCOPE_USAGE_ERROR,
                   "There is no kind of source number");
    auto option = sized<specklescope_parameter_info>();
    expect_refused(specklescope_source_option_describe("film", 0, &option), SPECKLESCOPE_USAGE_ERROR,
                   "There is no kind of source 'film'; allowed: synthetic, ");
}

/// The described options are accepted in the text of a source.
TEST(Sources, TakeTheirOptionsAtTheirDefaultsAndAtTheirEnds) {
    auto source = sized<specklescope_source_kind>();
    ASSERT_EQ(specklescope_source_describe(0, &source), SPECKLESCOPE_OK);
    ASSERT_STREQ(source.name, "synthetic") << "which is the default";
    std::string text = "synthetic:uniform?";
    auto option = sized<specklescope_parameter_info>();
    for (std::size_t k = 0; k < source.options; ++k) {
        ASSERT_EQ(specklescope_source_option_describe("synthetic", k, &option), SPECKLESCOPE_OK);
        text += (k ? "&" : "") + std::string(option.name) + "=" + option.default_value;
    }
    specklescope_stream* stream = nullptr;
    EXPECT_EQ(specklescope_stream_open(text.c_str(), "", nullptr, &stream), SPECKLESCOPE_OK)
        << text << ": " << specklescope_last_error();
    EXPECT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK);
    for (std::size_t k = 0; k < source.options; ++k) {
        ASSERT_EQ(specklescope_source_option_describe("synthetic", k, &option), SPECKLESCOPE_OK);
        if (option.kind != SPECKLESCOPE_INTEGER && option.kind != SPECKLESCOPE_REAL)
            continue;
        if (option.minimum > -1e9) {
            const std::string below = "synthetic:uniform?" + std::string(option.name) + "=" +
                                      std::to_string(static_cast<long>(option.minimum) - 1);
            expect_refused(specklescope_stream_open(below.c_str(), "", nullptr, &stream),
                           SPECKLESCOPE_USAGE_ERROR, option.allowed);
        }
    }
}

TEST(Results, TellWhenTheyArrivedAndTheirPlaceInTheFilm) {
    const auto now = [] {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    };
    const std::int64_t begin = now();
    const Stream stream(recorded_file(30), "", "backend=cpu");
    std::int64_t last = begin;
    const auto next = [&] {
        specklescope_frame* frame = nullptr;
        EXPECT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
        auto result = sized<specklescope_result>();
        EXPECT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
        EXPECT_GE(result.arrival_ns, last);
        last = result.arrival_ns;
        return result.position;
    };
    for (int place = 0; place < 5; ++place)
        EXPECT_EQ(next(), place);
    ASSERT_EQ(specklescope_stream_seek(stream, 21, 0), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(next(), 21);
    EXPECT_LE(last, now());

    const Chain chain("", "backend=cpu");
    Pixels pixels = random_pixels(8, 8, 1), made = pixels;
    const specklescope_image in = image_of(pixels), out = image_of(made);
    auto result = sized<specklescope_result>();
    const std::int64_t before = now();
    ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, &result), SPECKLESCOPE_OK);
    EXPECT_EQ(result.position, -1);
    EXPECT_GE(result.arrival_ns, before);
    EXPECT_LE(result.arrival_ns, now());

    result.struct_size = offsetof(specklescope_result, arrival_ns); // size in an earlier header
    result.position = 77;
    ASSERT_EQ(specklescope_chain_result(chain, &result), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(result.position, 77);
}

TEST(Recordings, HaveTheColoursOfTheStreamsView) {
    const char* const text = "colormap=turbo,low=0,high=3000";
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu,frames=1";
    settings.view = text;
    specklescope_stream* stream = nullptr;
    ASSERT_EQ(
        specklescope_stream_open("synthetic:vessels?width=64&height=48&live=false", "", &settings, &stream),
        SPECKLESCOPE_OK)
        << specklescope_last_error();
    const std::string file = own_folder() + "/turbo.png";
    ASSERT_EQ(specklescope_stream_record(stream, file.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK)
        << specklescope_last_error();
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    auto image = sized<specklescope_image>();
    ASSERT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK);
    std::vector<std::uint8_t> expected(std::size_t{64} * 48 * 3);
    auto colours = sized<specklescope_image>();
    colours.data = expected.data();
    colours.width = 64;
    colours.height = 48;
    colours.channels = 3;
    specklescope_view* view = nullptr;
    ASSERT_EQ(specklescope_view_create(text, &view), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_view_colors(view, &image, &colours, nullptr, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(specklescope_view_free(view), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK) << specklescope_last_error();

    const Stream again(file, "", "backend=cpu,transfer=linear"); // unconverted samples
    ASSERT_EQ(specklescope_stream_next(again, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_frame_raw(frame, &image), SPECKLESCOPE_OK);
    ASSERT_EQ(image.channels, 3);
    ASSERT_EQ(image.type, SPECKLESCOPE_U8);
    for (std::size_t y = 0; y < 48; ++y)
        ASSERT_EQ(std::memcmp(static_cast<const char*>(image.data) + y * image.pitch, &expected[y * 64 * 3],
                              64 * 3),
                  0)
            << "row " << y;
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);

    settings.view = "colormap=mauve";
    expect_refused(specklescope_stream_open("synthetic", "", &settings, &stream), SPECKLESCOPE_USAGE_ERROR,
                   "colormap = mauve is not possible; allowed: ");
    settings.options = nullptr;
    settings.view = text;
    specklescope_chain* chain = nullptr;
    expect_refused(specklescope_chain_create("", &settings, &chain), SPECKLESCOPE_USAGE_ERROR,
                   "A chain records nothing, and has no view");
}

} // namespace sources_test
