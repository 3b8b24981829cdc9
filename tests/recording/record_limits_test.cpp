// Length of a recording, its selected frames and its files, compared with a frame-by-frame count.
#include "pipeline/frame.hpp"
#include "recording/limits/record_limits.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"

#include <cmath>

namespace specklescope::record_limits_test {

using Verdict = FrameGate::Verdict;
constexpr PixelType kU16 = PixelType::u16;

FrameInfo at(std::uint64_t sequence, std::int64_t capture_ns) {
    FrameInfo info;
    info.sequence = sequence;
    info.capture_ns = capture_ns;
    return info;
}

/// Sequence numbers of a stream that a gate selects, and whether it ended.
std::vector<std::uint64_t> taken(const RecordLimits& limits, const std::vector<FrameInfo>& stream,
                                 bool* ended = nullptr) {
    FrameGate gate(limits);
    std::vector<std::uint64_t> numbers;
    bool over = false;
    for (const FrameInfo& info : stream) {
        const Verdict verdict = gate.judge(info);
        EXPECT_FALSE(over && verdict != Verdict::end) << "goes on after its end";
        over = over || verdict == Verdict::end;
        if (verdict == Verdict::take)
            numbers.push_back(info.sequence);
    }
    if (ended)
        *ended = over;
    return numbers;
}

TEST(FrameGate, TakesOneOfManyByTheNumbersAlsoWhereSomeAreMissing) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        const int every = 1 + static_cast<int>(random() % 9);
        const std::uint64_t first = random() % 1000;
        std::vector<FrameInfo> stream;
        for (std::uint64_t n = first; n < first + 300; ++n)
            if (n == first || random() % 4 != 0)
                stream.push_back(at(n, static_cast<std::int64_t>(n) * 1000));
        // In each cell of `every` numbers, counted from the first frame, the first frame that arrived.
        std::vector<std::uint64_t> wanted;
        for (const FrameInfo& info : stream) {
            const std::uint64_t cell = (info.sequence - first) / static_cast<std::uint64_t>(every);
            if (wanted.empty() || (wanted.back() - first) / static_cast<std::uint64_t>(every) < cell)
                wanted.push_back(info.sequence);
        }
        EXPECT_EQ(taken({.every = every}, stream), wanted) << "one of " << every;
    }
}

TEST(FrameGate, TakesOneInATimeOnTheGridOfTheFirst) {
    std::vector<FrameInfo> stream;
    for (std::uint64_t n = 0; n < 100; ++n) // every 10 ms, with a pause of 0.3 s
        stream.push_back(at(n, 7 + static_cast<std::int64_t>(n) * 10'000'000 + (n >= 50 ? 300'000'000 : 0)));
    std::vector<std::uint64_t> wanted;
    double cell = -1;
    for (const FrameInfo& info : stream)
        if (const double own = std::floor(static_cast<double>(info.capture_ns - 7) / 25e6); own > cell) {
            cell = own;
            wanted.push_back(info.sequence);
        }
    EXPECT_EQ(taken({.every_s = 0.025}, stream), wanted);
    EXPECT_EQ(wanted.size(), 40U) << "two halves of 0.5 s, 20 times 25 ms each";
}

TEST(FrameGate, EndsWhereItWasToEnd) {
    std::vector<FrameInfo> stream;
    for (std::uint64_t n = 0; n < 100; ++n)
        stream.push_back(at(n, 5 + static_cast<std::int64_t>(n) * 10'000'000));
    bool ended = false;
    EXPECT_EQ(taken({.frames = 7}, stream, &ended).size(), 7U);
    EXPECT_TRUE(ended);
    EXPECT_EQ(taken({.seconds = 0.2}, stream, &ended).size(), 20U) << "0 … 190 ms";
    EXPECT_TRUE(ended);
    EXPECT_EQ(taken({.seconds = 0.2, .every = 3}, stream, &ended),
              (std::vector<std::uint64_t>{0, 3, 6, 9, 12, 15, 18}));
    EXPECT_EQ(taken({.frames = 100}, stream, &ended).size(), 100U);
    EXPECT_FALSE(ended) << "nothing came after the last";
    EXPECT_EQ(taken({.seconds = 1}, stream, &ended).size(), 100U);
    EXPECT_FALSE(ended);

    FrameGate gate({.frames = 1});
    EXPECT_EQ(gate.reason(), "");
    EXPECT_EQ(gate.judge(stream[0]), Verdict::take);
    EXPECT_TRUE(gate.ended()) << "with the last frame, not with the one behind it";
    EXPECT_EQ(gate.reason(), "1 frame");
    EXPECT_EQ(gate.judge(stream[1]), Verdict::end);
}

TEST(RecordLimits, TwoWaysOfThinningAreOneTooMany) {
    EXPECT_NO_THROW(check_limits({.every = 2}, "x"));
    EXPECT_NO_THROW(check_limits({.every_s = 2}, "x"));
    try {
        check_limits({.every = 2, .every_s = 0.5}, "specklescope");
        ADD_FAILURE() << "taken";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(),
                     "specklescope: record_every = 2 and record_every_s = 0.5 cannot be combined. "
                     "Use one of them.");
    }
    EXPECT_DOUBLE_EQ(RecordLimits{.every = 4}.thinned(100), 25);
    EXPECT_DOUBLE_EQ(RecordLimits{.every_s = 0.5}.thinned(100), 2);
    EXPECT_DOUBLE_EQ(RecordLimits{.every_s = 0.5}.thinned(1), 1);
    EXPECT_DOUBLE_EQ(RecordLimits{.every = 4}.thinned(0), 0) << "unknown stays so";
}

/// Pushes frames 0 … count − 1, 10 ms apart.
SinkStatus record(const RecordOptions& options, std::uint64_t count,
                  std::vector<std::uint64_t> missing = {}) {
    Maker maker({16, 12, 1, kU16});
    const auto sink = make_recorder(options);
    sink->open(stream_of(maker.raw().shape()));
    for (std::uint64_t n = 0; n < count; ++n)
        if (std::find(missing.begin(), missing.end(), n) == missing.end())
            sink->push(maker.make(n), true);
    sink->close();
    EXPECT_EQ(maker.raw().free_slots(), 6);
    EXPECT_EQ(maker.image().free_slots(), 6);
    return sink->status();
}

TEST(RecordLimits, AFileHoldsTheFramesThatWereAskedForAndSaysSo) {
    const TemporaryFolder folder;
    const SinkStatus status =
        record({.path = folder / "a.tiff",
                .what = RecordWhat::raw,
                .limits = {.frames = 5, .every = 3, .subject = "mouse 7", .note = "“left”"}},
               100, {4, 6});
    EXPECT_EQ(status.complete, "5 frames");
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written, 5U);
    EXPECT_EQ(status.dropped, 0U);
    const std::vector<Page> pages = read_stack(status.path);
    const std::vector<std::uint64_t> wanted = {0, 3, 7, 9, 12}; // 6 is missing: 7 is the first of its three
    ASSERT_EQ(pages.size(), wanted.size());
    const std::vector<int> lost = {0, 0, 2, 2, 2}; // 4 and 6
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(compare(pages[i].pixels, expected({16, 12, 1, kU16}, wanted[i])), "equal") << wanted[i];
        const Json& page = pages[i].description;
        EXPECT_EQ((i == 0 ? page.at("frame") : page).at("dropped_before"), lost[i]) << wanted[i];
    }
    const Json& json = pages[0].description;
    EXPECT_EQ(json.at("finished"), true);
    EXPECT_EQ(json.at("written"), 5);
    EXPECT_EQ(json.at("lost_before_recorder"), 2) << "4 and 6; those that were left out are no loss";
    EXPECT_EQ(json.at("one_frame_of"), 3);
    EXPECT_EQ(json.at("subject"), "mouse 7");
    EXPECT_EQ(json.at("note"), "“left”");
    EXPECT_NEAR(json.at("rate").get<double>(), 100.0 / 3, 1e-9);
}

TEST(RecordLimits, SplitsByTimeAndBySizeWithoutLosingAFrame) {
    const TemporaryFolder folder;
    const std::size_t frame = 16 * 12 * 2;
    for (const bool by_time : {true, false}) {
        const std::string name = by_time ? "time" : "size";
        RecordLimits limits;
        if (by_time)
            limits.split_s = 0.3; // 30 frames
        else
            limits.split_mib = 1; // 2730 frames of 384 bytes
        const std::uint64_t count = by_time ? 100 : 6000, each = by_time ? 30 : (1U << 20) / frame;
        const SinkStatus status =
            record({.path = folder / (name + ".raw"), .what = RecordWhat::raw, .limits = limits}, count);
        EXPECT_EQ(status.written, count);
        EXPECT_EQ(status.complete, "");
        std::vector<SinkFile> files = status.before;
        files.push_back({status.path, count - each * files.size(), status.bytes});
        ASSERT_EQ(files.size(), (count + each - 1) / each);
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < files.size(); ++i) {
            EXPECT_EQ(files[i].path, folder / (name + (i ? "-" + std::to_string(i) : "") + ".raw"));
            EXPECT_EQ(files[i].written, i + 1 < files.size() ? each : count - each * i);
            const std::string bytes = read_text(files[i].path);
            ASSERT_EQ(bytes.size(), files[i].written * frame);
            for (std::uint64_t n = 0; n < files[i].written; n += 97, next += 97) {
                const Bytes pixels = expected({16, 12, 1, kU16}, each * i + n);
                EXPECT_EQ(std::memcmp(bytes.data() + n * frame, pixels.data(), frame), 0) << each * i + n;
            }
        }
    }
}

TEST(RecordLimits, EndsBeforeItsFilesHoldMoreThanTheyMay) {
    const TemporaryFolder folder;
    const std::size_t frame = 16 * 12 * 2;
    const SinkStatus status = record(
        {.path = folder / "a.raw", .what = RecordWhat::raw, .limits = {.mib = 2, .split_mib = 1}}, 8000);
    EXPECT_EQ(status.complete, "2 MiB");
    EXPECT_EQ(status.written, (2U << 20) / frame) << "as many whole frames as fit";
    EXPECT_EQ(status.dropped, 0U) << "what came after the end was not dropped";
    EXPECT_EQ(status.before.size() + 1, 3U) << "two files of 2730 frames, and one frame more";
    std::uintmax_t bytes = 0;
    for (const std::string& name : folder.names())
        if (name.ends_with(".raw"))
            bytes += fs::file_size(folder / name);
    EXPECT_LE(bytes, 2U << 20);
    EXPECT_GT(bytes + frame, 2U << 20);
}

TEST(RecordLimits, LeavesTheDiskTheRoomThatWasAskedFor) {
    const TemporaryFolder folder;
    Maker maker({16, 12, 1, kU16});
    const auto sink =
        make_recorder({.path = folder / "a.tiff", .what = RecordWhat::raw, .limits = {.keep_free = 100}});
    try {
        sink->open(stream_of(maker.raw().shape()));
        ADD_FAILURE() << "began on a disk without room";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("keep_free = 100 %"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("keep_free"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(folder.names().empty());
}

/// A clock set back by any amount neither stops a recording nor extends it.
TEST(RecordLimits, TimeDoesNotGoBack) {
    const TemporaryFolder folder;
    int number = 0;
    for (const std::int64_t back : {0LL, 60'000'000'000LL, 15'000'000LL})
        for (const RecordLimits& limits :
             {RecordLimits{.every_s = 0.1}, RecordLimits{.seconds = 0.7}, RecordLimits{.split_s = 0.3}}) {
            Maker maker({16, 12, 1, kU16});
            const auto sink = make_recorder({.path = folder / ("a" + std::to_string(++number) + ".raw"),
                                             .what = RecordWhat::raw,
                                             .limits = limits});
            sink->open(stream_of(maker.raw().shape()));
            for (std::uint64_t n = 0; n < 100; ++n) { // of 10 ms
                Result result = maker.make(n);
                result.info.capture_ns -= (n >= 45 ? back : 0) + (n >= 63 ? back : 0);
                sink->push(result, true);
            }
            sink->close();
            EXPECT_EQ(sink->status().error, "");
            EXPECT_EQ(sink->status().written, limits.every_s > 0   ? 10U
                                              : limits.seconds > 0 ? 70U
                                                                   : 100U)
                << back;
            ASSERT_EQ(sink->status().before.size(), limits.split_s > 0 ? 3U : 0U) << back;
            for (const SinkFile& file : sink->status().before)
                EXPECT_EQ(file.written, 30U) << back;
        }
}

} // namespace specklescope::record_limits_test
