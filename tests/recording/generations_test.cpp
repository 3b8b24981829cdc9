// Recordings of recordings: dates and frame times stay those of the first, and each contains its own date.
// The counts of a frame are the same in every container.
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_port.hpp"

#include "files/image_file.hpp"
#include "files/recorded.hpp"
#include "have_exr.hpp"
#include "recording/video/video.hpp"
#include "sources/registry.hpp"

namespace specklescope::generations_test {
using namespace test;

constexpr const char* kLongAgo = "2019-03-04T05:06:07Z";

/// Descriptions of the frames of a .raw, .h5 or .tiff.
std::vector<Json> frame_descriptions(const std::string& path) {
    std::vector<Json> frames;
    if (path.ends_with(".tiff")) {
        for (const Page& page : read_stack(path))
            frames.push_back(frames.empty() ? page.description.at("frame") : page.description);
        return frames;
    }
    if (path.ends_with(".h5")) {
        const auto file = open_image(path);
        while (file->next_page())
            frames.push_back(frames.empty() ? Json::parse(file->description()).at("frame")
                                            : Json::parse(file->description()));
        return frames;
    }
    std::ifstream lines(path + ".jsonl");
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);)
        frames.push_back(Json::parse(line));
    return frames;
}

/// Replaces the date of a file by an old one of the same length.
void age(const std::string& path) {
    std::string bytes = read_file(path);
    constexpr std::string_view kKey = "\"started\":";
    int found = 0;
    for (std::size_t at = bytes.find(kKey); at != std::string::npos; at = bytes.find(kKey, at + 1), ++found) {
        const std::size_t quote = bytes.find('"', at + kKey.size());
        bytes.replace(quote + 1, std::strlen(kLongAgo), kLongAgo);
    }
    ASSERT_GE(found, 1) << path;
    write_file(path, bytes);
}

class Generations : public testing::TestWithParam<const char*> {
protected:
    void run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(), {"--quiet", "--backend", "cpu"});
        const ChildResult result = run_program(arguments, folder.path().string());
        ASSERT_EQ(result.status, 0) << result.all();
    }
    std::vector<std::int64_t> times(const std::string& name) const {
        const auto source = make_source(folder / name, {});
        source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port));
        std::vector<std::int64_t> found;
        for (const Delivered& frame : port.frames)
            found.push_back(frame.info.capture_ns);
        return found;
    }
    TemporaryFolder folder;
};

TEST_P(Generations, KeepTheDateAndTheTimesOfTheFirst) {
    const std::string a = std::string("a") + GetParam(), b = std::string("b") + GetParam(),
                      c = std::string("c") + GetParam();
    run({"synthetic?width=96&height=64&live=false&rate=37", "--frames", "5", "--stage", "none",
         "--record-raw", a});
    EXPECT_FALSE(description_of(folder / a).contains("processed"));
    age((folder / a) + (std::string(GetParam()) == ".raw" ? ".jsonl" : ""));
    run({a, "--stage", "speckle:radius=2,output=sfi", "--record", b});
    write_file(folder / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    run({b, "--stage", "none", "--record", c, "--regions", "r.json", "--traces", "t.csv"});
    const std::string traces = read_file(folder / "t.csv");
    EXPECT_NE(traces.find(std::string("\n# started: ") + kLongAgo + "\n# processed: 2"), std::string::npos)
        << traces.substr(0, 500);
    const std::vector<std::int64_t> first = times(a);
    ASSERT_EQ(first.size(), 5U);
    for (const std::string& name : {b, c}) {
        const Json file = description_of(folder / name);
        EXPECT_EQ(file.at("started"), kLongAgo) << name;
        EXPECT_GT(file.at("processed").get<std::string>(), "2026") << name;
        EXPECT_GT(file.at("processed_arrival_ns"), 0);
        EXPECT_FALSE(file.contains("started_arrival_ns"));
        EXPECT_EQ(times(name), first) << name;
    }
}

/// Frame times of a file are relative to its first frame, and its date is that of this frame.
TEST_P(Generations, OfAPartHaveTheDateOfItsFirstFrame) {
    const std::string a = std::string("a") + GetParam(), b = std::string("b") + GetParam(),
                      c = std::string("c") + GetParam();
    run({"synthetic?width=96&height=64&live=false&rate=37", "--frames", "90", "--stage", "none",
         "--record-raw", a});
    age((folder / a) + (std::string(GetParam()) == ".raw" ? ".jsonl" : ""));
    write_file(folder / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    run({a, "--from", "40", "--stage", "none", "--record-raw", b, "--record-raw", "b.ome.tiff", "--regions",
         "r.json", "--traces", "t.csv"});
    run({b, "--from", "30", "--stage", "speckle", "--record", c});
    // frame 40 is at 40/37 s, and frame 70 at 70/37 s
    EXPECT_EQ(description_of(folder / b).at("started"), "2019-03-04T05:06:08.081Z");
    EXPECT_NE(read_file(folder / "b.ome.tiff").find("<AcquisitionDate>2019-03-04T05:06:08.081Z<"),
              std::string::npos);
    EXPECT_NE(read_file(folder / "t.csv").find("\n# started: 2019-03-04T05:06:08.081Z\n# processed: 2"),
              std::string::npos);
    EXPECT_EQ(description_of(folder / c).at("started"), "2019-03-04T05:06:08.892Z");
    const std::vector<std::int64_t> whole = times(a), part = times(b);
    EXPECT_EQ(part, std::vector<std::int64_t>(whole.begin() + 40, whole.end()));
}

/// Counts that no later stage can determine again stay with the frame, through all generations.
TEST_P(Generations, OfResultsKeepWhatWasCounted) {
    if (std::string(GetParam()) == ".mkv")
        return; // results are stored as colour images, whose samples are counted again
    const std::string a = std::string("a") + GetParam(), b = std::string("b") + GetParam(),
                      c = std::string("c") + GetParam();
    run({"synthetic?width=96&height=64&live=false&bits=8", "--frames", "4", "--stage", "none", "--record-raw",
         a});
    const std::string settings = a + "?full_scale=60"; // a camera with many saturated samples
    run({settings, "--stage", "speckle:radius=2,output=sfi", "--record", b});
    run({b, "--stage", "none", "--record", c});
    const std::vector<Json> second = frame_descriptions(folder / b), third = frame_descriptions(folder / c);
    ASSERT_EQ(second.size(), 4U);
    ASSERT_EQ(third.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_GT(second[i].at("saturated"), 10);
        for (const char* count :
             {"saturated", "windows", "raw_saturated", "raw_samples", "undefined", "infinite"})
            EXPECT_EQ(second[i].at(count), third[i].at(count)) << i << " " << count;
    }
}
INSTANTIATE_TEST_SUITE_P(Formats, Generations, testing::Values(".tiff", ".raw", ".h5", ".mkv"));

/// Counts, warm-up, edits and exposures that change from frame to frame, or not.
std::vector<RecordedFrame> lively_frames(RecordWhat what) {
    auto random = test_random(29);
    Maker maker({64, 48, 1, PixelType::u8});
    std::vector<RecordedFrame> frames;
    for (std::uint64_t n = 0; n < 60; ++n) {
        Result result = maker.make(n + n / 20);
        result.info.exposure_ms = n < 30 ? 4.5 : std::nan("");
        result.info.version = n / 25;
        result.exposure = {n < 10 ? 4.5 : 5, n < 10 ? ExposureOrigin::camera : ExposureOrigin::parameter};
        result.warmup = {"temporal", static_cast<int>(std::min<std::uint64_t>(n + 1, 7)), 7};
        const auto count = [&] { return n % 13 < 6 ? 0 : random() % 5000; };
        result.counts = {count(), count(), count(), 3072, count(), 3072};
        if (n == 40)
            result.counts.windows = result.counts.raw_samples = 0;
        RecordedFrame frame = recorded_frame(result, what);
        frame.dropped = n / 9;
        if (n > 0) // the ring has few slots
            frame.pixels = frames[0].pixels;
        frames.push_back(frame);
    }
    return frames;
}

/// Descriptions of the frames of a video, reconstructed as specified in recording/video/video.hpp.
std::vector<Json> frames_of(const Json& file, std::size_t count) {
    std::vector<Json> frames(count, file.at("frame"));
    for (const auto& [name, runs] : file.at("frames").items()) {
        std::vector<std::int64_t> values;
        for (const Json& run : runs)
            values.insert(values.end(), run.is_array() ? run[1].get<std::size_t>() : 1,
                          (run.is_array() ? run[0] : run).get<std::int64_t>());
        EXPECT_EQ(values.size(), count) << name;
        for (std::size_t i = 0; i < std::min(count, values.size()); ++i) {
            if (name == "arrival_ns" && i > 0)
                values[i] += values[i - 1];
            frames[i][name] = values[i];
        }
    }
    for (const Json& patch : file.at("facts"))
        for (std::size_t i = patch[0]; i < count; ++i)
            frames[i].merge_patch(patch[1]);
    return frames;
}

class FrameFacts : public testing::TestWithParam<RecordWhat> {};

TEST_P(FrameFacts, OfVideoAreThoseOfEveryOtherContainer) {
    const std::vector<RecordedFrame> frames = lively_frames(GetParam());
    const StreamInfo stream = stream_of({64, 48, 1, PixelType::u8});
    VideoDescription description(frames[0], {.path = "a.mkv", .what = GetParam()}, stream);
    RecordedText cut_off, whole, lines;
    ASSERT_TRUE(cut_off.begin(description.text({})));
    for (const RecordedFrame& frame : frames)
        description.add(frame);
    const std::string text = description.text({.written = frames.size(), .finished = true});
    const std::vector<Json> said = frames_of(Json::parse(text), frames.size());
    ASSERT_TRUE(whole.begin(text));
    ASSERT_TRUE(lines.begin(describe_file(frames[0], {.path = "a.raw", .what = GetParam()}, stream, {})));
    for (std::size_t i = 0; i < frames.size(); ++i) {
        Json of_line = Json::parse(describe_frame(frames[i]));
        for (const char* elsewhere : {"sequence", "capture_ns", "exposure_ms"})
            of_line.erase(elsewhere);
        for (const auto& [name, value] : of_line.items())
            EXPECT_EQ(said[i].contains(name) ? said[i].at(name) : Json(), value) << i << " " << name;
        if (!of_line.contains("warmup")) {
            EXPECT_FALSE(said[i].contains("warmup")) << i;
        }
        lines.next(describe_frame(frames[i]));
        whole.seek(i);
        EXPECT_EQ(whole.now().counts, lines.now().counts) << i;
        EXPECT_EQ(whole.now().sequence, lines.now().sequence) << i;
        cut_off.seek(i);
        EXPECT_EQ(cut_off.now().counts, i == 0 ? lines.now().counts : PixelCounts{}) << i;
    }
    for (const std::size_t i : {std::size_t{59}, std::size_t{0}, std::size_t{31}}) { // a seek back
        whole.seek(i);
        EXPECT_EQ(whole.now().counts.raw_saturated, frames[i].counts.raw_saturated) << i;
    }
    whole.seek(60);
    EXPECT_EQ(whole.now().counts, PixelCounts{});
}
INSTANTIATE_TEST_SUITE_P(What, FrameFacts, testing::Values(RecordWhat::raw, RecordWhat::processed));

/// Invalid facts of frames in a file are treated as unknown.
TEST(FrameFacts, ThatCannotBeAreUnknown) {
    RecordedText text;
    ASSERT_TRUE(text.begin(R"({"program": "Specklescope", "started": "now;\u001b[2J", "frames": {
        "undefined": [[7, 18446744073709551615], 3, [5, 2]], "infinite": [[1, 2, 3], "x", -4, 1.5, [2, 0], 6],
        "saturated": {"a": 1}, "windows": 9, "raw_saturated": []}})"));
    EXPECT_EQ(text.now().started, "");
    text.seek(5);
    EXPECT_EQ(text.now().counts.undefined, 7U);
    for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
        text.seek(i);
    text.seek(4);
    EXPECT_EQ(text.now().counts.infinite, 6U);
    EXPECT_EQ(text.now().counts.saturated, 0U);
    ASSERT_TRUE(text.begin(R"({"program": "Specklescope", "started": "2020-01-02T03:04:05.678+09:00"})"));
    EXPECT_EQ(text.now().started, "2020-01-02T03:04:05.678+09:00");
}

/// Image formats contain and return them too.
TEST(Snapshots, OfARecordingHaveTheDateOfTheirFrame) {
    const TemporaryFolder folder;
    std::vector<std::string> endings = {".png", ".tiff", ".hdr"};
#ifdef SPECKLESCOPE_HAVE_EXR
    endings.emplace_back(".exr");
#endif
    for (const std::string& ending : endings) {
        const Shape shape{64, 48, 1, ending == ".png" ? PixelType::u16 : PixelType::f32};
        Maker maker(shape);
        StreamInfo stream = stream_of(shape);
        stream.source.started = kLongAgo;
        Result result = maker.make(77);
        result.info.film_ns = 77'770'000'000;
        write_snapshot(result, {.path = folder / ("s" + ending), .what = RecordWhat::raw}, stream);
        const auto source = make_source(folder / ("s" + ending), {});
        EXPECT_EQ(source->open().started, "2019-03-04T05:07:24.770Z") << ending;
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames.size(), 1U);
        EXPECT_EQ(port.frames[0].info.capture_ns, 770'000'005) << ending;
        EXPECT_EQ(port.frames[0].info.exposure_ms, 4.5) << ending;
    }
}

TEST(Snapshots, OfStrangersHaveNoDate) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, "from PIL import Image; Image.new('L', (64, 48), 7).save('a.png')"));
    const auto source = make_source(folder / "a.png", {});
    StreamInfo stream = stream_of({64, 48, 1, PixelType::u8});
    stream.source = source->open();
    EXPECT_EQ(stream.source.started, "");
    Maker maker({64, 48, 1, PixelType::u8});
    for (const char* name : {"b.tiff", "b.h5"}) {
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream);
        sink->push(maker.make(0), true);
        sink->close();
        const Json file = description_of(folder / name);
        EXPECT_TRUE(file.at("started").is_null()) << file;
        EXPECT_TRUE(file.at("processed").is_string());
    }
}

} // namespace specklescope::generations_test
