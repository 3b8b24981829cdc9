// Recorded frames equal the input, under a free name, with a description.
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/places.hpp"

#include "recording/video/video.hpp"

#include <cmath>
#include <thread>

namespace recorder_test {

using namespace specklescope;

constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;

class TiffStack : public testing::TestWithParam<Shape> {};

TEST_P(TiffStack, ComesBackBitForBitWithItsMetadata) {
    const TemporaryFolder folder;
    const Shape shape = GetParam();
    Maker maker(shape);
    for (const RecordWhat what : {RecordWhat::raw, RecordWhat::processed}) {
        const SinkStatus status = record(maker, {.path = folder / "s.tiff", .what = what}, 100, 5);
        EXPECT_EQ(status.error, "");
        EXPECT_EQ(status.written, 5U);
        EXPECT_EQ(status.dropped, 0U);
        const std::vector<Page> pages = read_stack(status.path);
        ASSERT_EQ(pages.size(), 5U);
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_EQ(pages[i].shape, shape);
            EXPECT_EQ(compare(pages[i].pixels, expected(shape, 100 + i)), "equal") << "page " << i;
            const Json frame = i == 0 ? pages[i].description.at("frame") : pages[i].description;
            EXPECT_EQ(frame.at("sequence"), 100 + i);
            EXPECT_EQ(frame.at("capture_ns"), (100 + i) * 10'000'000 + 5);
            EXPECT_EQ(frame.at("exposure_ms"), 4.5);
            EXPECT_GT(frame.at("arrival_ns"), 0);
            EXPECT_EQ(frame.contains("version"), what == RecordWhat::processed);
            if (what == RecordWhat::processed) {
                EXPECT_EQ(frame.at("version"), 3);
                EXPECT_EQ(frame.at("undefined"), 100 + i);
            }
        }
    }
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"s-1.tiff", "s.tiff"}));
}
INSTANTIATE_TEST_SUITE_P(Shapes, TiffStack,
                         testing::Values(Shape{1, 1, 1, kU8}, Shape{17, 13, 1, kU8}, Shape{17, 13, 1, kU16},
                                         Shape{64, 48, 1, kU16}, Shape{17, 13, 1, kF32},
                                         Shape{64, 48, 1, kF32}, Shape{17, 13, 3, kU8},
                                         Shape{17, 13, 3, kU16}, Shape{3, 2500, 1, kU16}));

TEST(Recorder, SaysWhatTheNumbersAre) {
    const TemporaryFolder folder;
    Maker maker({20, 10, 1, kU16}, {20, 10, 1, kF32});
    const SinkStatus status = record(maker, {.path = folder / "flow.tiff"}, 0, 3);
    const Json json = read_stack(status.path).at(0).description;
    EXPECT_EQ(json.at("content"), "processed");
    EXPECT_EQ(json.at("quantity"), "speckle flow index");
    EXPECT_EQ(json.at("unit"), "1/s");
    EXPECT_EQ(json.at("parameters"), "speckle:radius=2,exposure=10,output=sfi,border=replicate,also=,gain=0,"
                                     "read_noise=0,black=0,speckle_size=0");
    EXPECT_EQ(json.at("source"), "synthetic:uniform");
    EXPECT_EQ(json.at("source_name"), "Test \"camera\" µ");
    EXPECT_EQ(json.at("full_scale"), 4095);
    EXPECT_EQ(json.at("written"), 3);
    EXPECT_EQ(json.at("dropped"), 0);
    EXPECT_EQ(json.at("lost_before_recorder"), 0);
    EXPECT_EQ(json.at("finished"), true);
    EXPECT_EQ(json.at("program").get<std::string>().substr(0, 13), "Specklescope ");
}

TEST(Recorder, EachFrameSaysHowItWasMade) {
    const TemporaryFolder folder;
    Maker maker({20, 10, 1, kU16}, {20, 10, 1, kF32});
    const auto flow = make_recorder({.path = folder / "flow.tiff"});
    const auto raw = make_recorder({.path = folder / "raw.tiff", .what = RecordWhat::raw});
    for (const auto& sink : {flow, raw})
        sink->open(stream_of(maker.raw().shape()));
    for (const std::uint64_t n : {0, 1}) {
        Result result = maker.make(n);
        result.info.exposure_origin = ExposureOrigin::camera;
        result.exposure = {10, ExposureOrigin::assumed};
        result.counts = {1, 2, 3, 200, 5, 200};
        result.warmup = {n == 0 ? "temporal" : "", n == 0 ? 7 : 0, n == 0 ? 25 : 0};
        for (const auto& sink : {flow, raw})
            sink->push(result, true);
    }
    flow->close();
    raw->close();
    const auto pages = read_stack(flow->status().path);
    ASSERT_EQ(pages.size(), 2U);
    EXPECT_EQ(pages[0].description.at("frame").at("complete"), false) << pages[0].description;
    EXPECT_EQ(pages[0].description.at("frame").at("warmup"),
              Json({{"stage", "temporal"}, {"frames", 7}, {"wanted", 25}}));
    EXPECT_EQ(pages[0].description.at("made_in_warmup"), 1);
    EXPECT_EQ(pages[1].description.at("complete"), true) << pages[1].description;
    EXPECT_FALSE(pages[1].description.contains("warmup"));
    EXPECT_EQ(pages[1].description.at("exposure_used_ms"), 10);
    EXPECT_EQ(pages[1].description.at("exposure_origin"), "default");
    const std::vector<std::pair<const char*, int>> counted = {{"undefined", 1},     {"infinite", 2},
                                                              {"saturated", 3},     {"windows", 200},
                                                              {"raw_saturated", 5}, {"raw_samples", 200}};
    for (const auto& [name, value] : counted)
        EXPECT_EQ(pages[1].description.at(name), value);
    const Json of_raw = read_stack(raw->status().path).at(1).description;
    EXPECT_EQ(of_raw.at("raw_saturated"), 5);
    EXPECT_EQ(of_raw.at("exposure_used_ms"), 4.5) << "the camera's";
    EXPECT_EQ(of_raw.at("exposure_origin"), "camera");
    EXPECT_FALSE(of_raw.contains("saturated"));
}

TEST(Recorder, CountsGapsThatTheSourceLeft) {
    const TemporaryFolder folder;
    Maker maker({20, 10, 1, kU16});
    const auto sink = make_recorder({.path = folder / "gap.tiff"});
    sink->open(stream_of(maker.raw().shape()));
    for (const std::uint64_t n : {5, 6, 9, 10, 20})
        sink->push(maker.make(n), true);
    Result again = maker.make(20);
    again.repeated = true; // shown twice, recorded once
    sink->push(again, true);
    sink->close();
    const Json json = read_stack(sink->status().path).at(0).description;
    EXPECT_EQ(json.at("written"), 5);
    EXPECT_EQ(json.at("lost_before_recorder"), 2 + 9);
    EXPECT_EQ(sink->status().lost_before, 2U + 9U);
}

TEST(Recorder, TifffileSeesOneStack) {
    const TemporaryFolder folder;
    for (const auto& [shape, big] : std::vector<std::pair<Shape, bool>>{{{31, 21, 1, kU16}, false},
                                                                        {{31, 21, 1, kU16}, true},
                                                                        {{31, 21, 1, kF32}, false},
                                                                        {{31, 21, 1, kF32}, true},
                                                                        {{31, 21, 3, kU8}, false},
                                                                        {{31, 21, 3, kU8}, true}}) {
        Maker maker(shape);
        const SinkStatus status = record(
            maker, {.path = folder / "stack.tif", .classic_tiff_bytes = big ? 20000U : 0xffffffffU}, 0, 20);
        std::ofstream bytes(folder / "expected.bin", std::ios::binary);
        for (std::uint64_t n = 0; n < 20; ++n)
            bytes.write(reinterpret_cast<const char*>(expected(shape, n).data()),
                        static_cast<long>(shape.bytes()));
        bytes.close();
        int code = 0;
        const std::string text = run_command("/usr/bin/python3 '" + test::source_folder() +
                                                 "/tests/recording/check_recording.py' '" + status.path +
                                                 "' '" + (folder / "expected.bin") + "' 2>&1",
                                             &code);
        ASSERT_EQ(code, 0) << text;
        const Json seen = Json::parse(text);
        EXPECT_EQ(seen.at("series"), 1);
        EXPECT_EQ(seen.at("big"), big) << "ImageJ opens no BigTIFF";
        EXPECT_EQ(seen.at("imagej_skips_directories"), false);
        EXPECT_EQ(seen.at("contiguous_pages"), true);
        EXPECT_EQ(seen.at("equal"), true);
        EXPECT_EQ(seen.at("axes"), shape.channels == 3 ? "TYXS" : "TYX");
        EXPECT_EQ(seen.at("imagej").at("frames"), 20);
        EXPECT_EQ(seen.at("imagej").at("images"), 20);
        EXPECT_EQ(seen.at("imagej").at("tunit"), "s");
        EXPECT_NEAR(seen.at("imagej").at("finterval"), 0.01, 1e-9); // from the capture times
        EXPECT_EQ(seen.at("shape"), shape.channels == 3 ? Json({20, 21, 31, 3}) : Json({20, 21, 31}));
        EXPECT_EQ(seen.at("dtype"), shape.type == kF32 ? "float32" : shape.type == kU16 ? "uint16" : "uint8");
        for (std::size_t i = 0; i < 20; ++i)
            EXPECT_EQ(seen.at("sequences").at(i), i);
    }
}

TEST(Recorder, ATiffThatGrowsTooLargeBecomesABigTiff) {
    const TemporaryFolder folder;
    for (const Shape shape : {Shape{31, 21, 1, kU16}, Shape{9, 7, 3, kU8}})
        for (const std::string ending : {".tiff", ".ome.tiff"}) { // NOLINT: a copy of a literal
            Maker maker(shape);
            const std::uint64_t whole = record(maker, {.path = folder / ("whole" + ending)}, 0, 6).bytes;
            for (std::uint64_t most = 16; most < whole + 700; most += 300) {
                const std::string path = folder / ("most" + std::to_string(most) + ending);
                const SinkStatus status = record(maker, {.path = path, .classic_tiff_bytes = most}, 0, 6);
                const Bytes bytes = read_bytes(status.path);
                const BigTiff file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                if (whole > most || ending == ".tiff") { // OME-XML may need less space than was kept for it
                    EXPECT_EQ(file.big(), whole > most) << most << " of " << whole;
                }
                const std::vector<Page> pages = read_stack(status.path); // for libtiff
                ASSERT_EQ(pages.size(), 6U) << most;
                ASSERT_EQ(file.pages().size(), 6U) << most;
                EXPECT_EQ(pages[0].description.at("written"), 6) << most;
                const std::string& text = pages[0].text;
                EXPECT_EQ(text.find(R"(TheT="5" DeltaT="0.050000000"/></Pixels>)") != std::string::npos,
                          ending == ".ome.tiff")
                    << text;
                for (std::uint64_t n = 0; n < 6; ++n) {
                    EXPECT_EQ(compare(pages[n].pixels, expected(shape, n)), "equal")
                        << most << ", page " << n;
                    EXPECT_EQ(
                        (n == 0 ? pages[n].description.at("frame") : pages[n].description).at("sequence"), n);
                }
            }
        }
}

TEST(Recorder, NeverOverwritesAndStartsAgain) {
    const TemporaryFolder folder;
    Maker maker({8, 8, 1, kU8});
    const std::string path = folder / "a.tiff";
    std::ofstream(path) << "precious";
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    for (std::uint64_t round = 0; round < 3; ++round) { // the same recorder, opened again
        sink->open(stream_of(maker.raw().shape()));
        EXPECT_EQ(sink->status().written, 0U);
        sink->push(maker.make(round), true);
        sink->close();
        sink->close();
        EXPECT_TRUE(sink->status().closed);
        EXPECT_EQ(read_stack(folder / ("a-" + std::to_string(round + 1) + ".tiff")).at(0).pixels,
                  expected({8, 8, 1, kU8}, round));
    }
    EXPECT_EQ(read_bytes(path).size(), 8U);
    sink->push(maker.make(9), true); // after the end: not offered, not counted
    EXPECT_EQ(sink->status().written + sink->status().dropped, 1U);
}

TEST(Recorder, TwoThatWantOneNameGetTwo) {
    const TemporaryFolder folder;
    Maker maker({16, 16, 1, kU16}, {16, 16, 1, kF32});
    std::vector<std::shared_ptr<Sink>> sinks;
    for (int i = 0; i < 4; ++i) {
        sinks.push_back(make_recorder(
            {.path = folder / "x.tiff", .what = i % 2 ? RecordWhat::raw : RecordWhat::processed}));
        sinks.back()->open(stream_of(maker.raw().shape()));
    }
    for (std::uint64_t n = 0; n < 50; ++n) {
        const Result result = maker.make(n);
        for (const auto& sink : sinks)
            sink->push(result, true);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        sinks[i]->close();
        const std::vector<Page> pages = read_stack(sinks[i]->status().path);
        ASSERT_EQ(pages.size(), 50U);
        EXPECT_EQ(pages[49].pixels, expected({16, 16, 1, i % 2 ? kU16 : kF32}, 49));
    }
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"x-1.tiff", "x-2.tiff", "x-3.tiff", "x.tiff"}));
    EXPECT_EQ(maker.raw().free_slots(), 6);
    EXPECT_EQ(maker.image().free_slots(), 6);
}

TEST(Recorder, ANewSizeGetsANewFile) {
    const TemporaryFolder folder;
    for (const char* ending : {".tiff", ".mkv"}) {
        const Shape shapes[] = {{32, 16, 1, kU8}, {48, 32, 1, kU8}, {48, 32, 1, kU16}};
        const auto sink =
            make_recorder({.path = folder / (std::string("size") + ending), .what = RecordWhat::raw});
        sink->open(stream_of(shapes[0]));
        for (std::uint64_t i = 0; i < 3; ++i) {
            Maker maker(shapes[i]);
            for (std::uint64_t n = 0; n < 4; ++n)
                sink->push(maker.make(4 * i + n), true);
        }
        sink->close();
        EXPECT_EQ(sink->status().written, 12U);
        EXPECT_EQ(sink->status().error, "");
        ASSERT_EQ(sink->status().before.size(), 2U);
        EXPECT_EQ(sink->status().path, folder / (std::string("size-2") + ending));
        for (std::uint64_t i = 0; i < 2; ++i) {
            const SinkFile file = sink->status().before[i];
            EXPECT_EQ(file.path, folder / ("size" + (i ? "-" + std::to_string(i) : "") + ending));
            EXPECT_EQ(file.written, 4U);
            EXPECT_EQ(file.bytes, fs::file_size(file.path));
        }
        for (std::uint64_t i = 0; i < 3; ++i) {
            const std::string path = folder / ("size" + (i ? "-" + std::to_string(i) : "") + ending);
            std::vector<Bytes> frames;
            if (std::string(ending) == ".tiff")
                for (Page& page : read_stack(path))
                    frames.push_back(std::move(page.pixels));
            else
                frames = decode_video(path, shapes[i].type == kU8 ? "GRAY8" : "GRAY16_LE", shapes[i]);
            ASSERT_EQ(frames.size(), 4U) << path;
            for (std::uint64_t n = 0; n < 4; ++n)
                EXPECT_EQ(compare(frames[n], expected(shapes[i], 4 * i + n)), "equal") << path;
        }
    }
}

TEST(Recorder, Ffv1IsExact) {
    const TemporaryFolder folder;
    const std::pair<Shape, const char*> cases[] = {
        {{64, 48, 1, kU8}, "GRAY8"},      {{63, 47, 1, kU8}, "GRAY8"}, {{64, 48, 1, kU16}, "GRAY16_LE"},
        {{61, 47, 1, kU16}, "GRAY16_LE"}, {{64, 48, 3, kU8}, "RGB"},   {{33, 17, 3, kU8}, "RGB"}};
    for (const auto& [shape, format] : cases) {
        Maker maker(shape);
        const SinkStatus status = record(maker, {.path = folder / "v.mkv", .what = RecordWhat::raw}, 0, 12);
        EXPECT_EQ(status.error, "");
        EXPECT_EQ(status.written, 12U);
        EXPECT_EQ(status.bytes, fs::file_size(status.path));
        const std::vector<Bytes> frames = decode_video(status.path, format, shape);
        ASSERT_EQ(frames.size(), 12U) << to_string(shape);
        for (std::size_t n = 0; n < 12; ++n)
            EXPECT_EQ(compare(frames[n], expected(shape, n)), "equal") << to_string(shape) << " frame " << n;
        const Json tags = video_tags(status.path);
        ASSERT_TRUE(tags.is_object());
        EXPECT_EQ(tags.at("written"), 12);
        EXPECT_EQ(tags.at("finished"), true);
        EXPECT_EQ(tags.at("source"), "synthetic:uniform");
    }
}

/// A smooth image, which H.264 must preserve closely.
TEST(Recorder, H264ShowsTheMappedPictureAlsoOfOddSize) {
    const TemporaryFolder folder;
    const Shape shape{95, 63, 1, kF32};
    const Mapping mapping{.colormap = ColorMap::viridis, .automatic = false, .low = 0, .high = 200};
    Maker maker({95, 63, 1, kU16}, shape);
    const auto sink = make_recorder({.path = folder / "flow.mkv", .mapping = mapping});
    sink->open(stream_of(shape));
    Bytes wanted(95 * 63 * 3);
    for (std::uint64_t n = 0; n < 10; ++n) {
        const Result result = maker.make(n);
        const auto view = result.image.host().as<float>();
        for (int y = 0; y < 63; ++y)
            for (int x = 0; x < 95; ++x)
                view.row(y)[x] = static_cast<float>(x + y);
        map_colors(result.image.host(), ColorMap::viridis, {0, 200}, ToneCurve::linear,
                   HostView(wanted.data(), {95, 63, 3, kU8}));
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    const std::vector<Bytes> frames = decode_video(sink->status().path, "RGB", {95, 63, 3, kU8});
    ASSERT_EQ(frames.size(), 10U);
    double sum = 0;
    for (std::size_t y = 0; y < 63; ++y)
        for (std::size_t i = 0; i < 95 * 3; ++i)
            sum += std::abs(std::to_integer<int>(frames[9][y * 95 * 3 + i]) -
                            std::to_integer<int>(wanted[y * 95 * 3 + i]));
    EXPECT_LT(sum / (63 * 95 * 3),
              1.5); // a wrong map or shift has errors of tens
    EXPECT_EQ(video_tags(sink->status().path).at("colormap"), "viridis");
}

TEST(Recorder, RefusesInOneSentence) {
    const TemporaryFolder folder;
    const auto refused = [&](const RecordOptions& options, const Shape& shape) -> std::string {
        try {
            const auto sink = make_recorder(options);
            sink->open(stream_of(shape));
        } catch (const UsageError& error) {
            return std::string("usage: ") + error.what();
        } catch (const RunError& error) {
            return std::string("run: ") + error.what();
        }
        return "accepted";
    };
    const Shape number{8, 8, 1, kF32}, grey{8, 8, 1, kU8};
    const std::string unknown = refused({.path = "x.avi"}, grey);
    EXPECT_TRUE(unknown.starts_with("usage: 'x.avi' ")) << unknown;
    for (const RecordFormat& format : record_formats())
        EXPECT_NE(unknown.find(format.ending), std::string::npos) << format.ending;
    EXPECT_EQ(refused({.path = "x"}, grey).substr(0, 6), "usage:");
    EXPECT_EQ(refused({.path = folder / "x.mkv", .what = RecordWhat::raw}, number).substr(0, 6), "usage:");
    EXPECT_EQ(refused({.path = folder / "x.mkv", .what = RecordWhat::raw}, {8, 8, 3, kU16}).substr(0, 6),
              "usage:");
    EXPECT_EQ(refused({.path = folder / "x.mkv"}, number), "accepted");
    EXPECT_NE(refused({.path = folder / "none/x.tiff"}, grey).find("run: There is no folder"),
              std::string::npos);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(Recorder, RefusesAFolderThatMayNotBeWritten) {
    const TemporaryFolder folder;
    const std::string locked = folder / "locked";
    fs::create_directory(locked);
    fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
    const AsNobody nobody; // root could write everywhere
    EXPECT_THROW(make_recorder({.path = locked + "/x.tiff"})->open({}), RunError);
}

TEST(VideoClock, FollowsTheCameraAndAlwaysGrows) {
    VideoClock camera(0, 50);
    EXPECT_EQ(camera.next(7'000'000'000), 0);
    EXPECT_EQ(camera.next(7'033'000'000), 33'000'000);
    EXPECT_EQ(camera.next(7'033'000'000), 53'000'000); // not advancing: one period
    EXPECT_EQ(camera.next(1'000'000'000), 73'000'000); // set back
    EXPECT_EQ(camera.next(1'010'000'000), 83'000'000); // continues from there
    VideoClock fixed(200, 50);
    EXPECT_EQ(fixed.next(5), 0);
    EXPECT_EQ(fixed.next(9'000'000'000), 5'000'000);
    EXPECT_EQ(fixed.next(0), 10'000'000);
}

} // namespace recorder_test
