// After a full disk, a recording's counts equal its readable frames, for any amount of free space.
#include "files/image_file.hpp"
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/test_port.hpp"

#include <optional>

namespace specklescope::full_disk_counts_test {

const Shape kRaw{64, 48, 1, PixelType::u16};
const Shape kNumber{64, 48, 1, PixelType::f32};

struct Kind {
    const char* name;
    RecordWhat what;
    std::uint64_t frames;
    double rate = 0; ///< nominal rate; 0: frames have times
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class FullDiskCounts : public testing::TestWithParam<Kind> {
protected:
    SinkStatus record_in(rlim_t bytes) {
        const FileSizeLimit room(bytes);
        RecordOptions options{
            .path = folder_ / GetParam().name, .what = GetParam().what, .rate = GetParam().rate};
        options.limits.keep_free = 0;
        return record(maker_, options, 0, GetParam().frames);
    }
    /// By the program's own reader, also if it ends with an error.
    static std::uint64_t played(const std::string& path) {
        test::TestPort port(false);
        try {
            const auto source = make_source(path, {});
            (void)source->open();
            EXPECT_TRUE(test::read_frames(*source, port));
        } catch (const RunError&) { // NOLINT(bugprone-empty-catch): "is cut short"
        }
        return port.frames.size();
    }
    static std::uint64_t decoded(const std::string& path) {
        return decode_video(path, GetParam().what == RecordWhat::raw ? "GRAY16_LE" : "RGB",
                            GetParam().what == RecordWhat::raw ? kRaw : Shape{64, 48, 3, PixelType::u8})
            .size();
    }
    static std::uint64_t lines(const std::string& path) {
        std::ifstream file(path + ".jsonl");
        std::string line;
        EXPECT_TRUE(std::getline(file, line));
        const std::uint64_t said = Json::parse(line).at("written");
        std::uint64_t count = 0;
        for (; std::getline(file, line); ++count)
            EXPECT_TRUE(Json::accept(line)) << line;
        EXPECT_EQ(said, count);
        EXPECT_EQ(fs::file_size(path), count * kRaw.bytes());
        return count;
    }
    /// By a reader that shares no code with the writer.
    static std::uint64_t read(const std::string& path) {
        if (path.ends_with(".ome.tiff")) {
            TIFF* tiff = TIFFOpen(path.c_str(), "r");
            const std::uint64_t pages = TIFFNumberOfDirectories(tiff);
            TIFFClose(tiff);
            const Bytes bytes = read_bytes(path);
            const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            constexpr std::string_view kSize = "SizeT=\"";
            const std::size_t at = text.find(kSize);
            EXPECT_NE(at, std::string_view::npos);
            EXPECT_EQ(std::stoull(std::string(text.substr(at + kSize.size(), 10))), pages);
            return pages;
        }
        if (path.ends_with(".tiff")) {
            const std::vector<Page> pages = read_stack(path);
            EXPECT_EQ(pages.at(0).description.at("written"), pages.size());
            return pages.size();
        }
        if (path.ends_with(".h5"))
            return std::stoull(
                run_command("/usr/bin/python3 -c 'import h5py, json, sys; f = h5py.File(sys.argv[1]); "
                            "n = len(f[\"raw/frames\"][:]); "
                            "assert n == len(f[\"raw/timestamps\"]); "
                            "assert n == json.loads(f[\"settings/description\"][()])[\"written\"]; "
                            "print(n)' '" +
                            path + "'"));
        return path.ends_with(".raw") ? lines(path) : decoded(path);
    }
    void expect_true(const SinkStatus& status, const std::string& room) {
        const std::string path = folder_ / GetParam().name;
        EXPECT_EQ(status.written + status.dropped, GetParam().frames) << room;
        if (status.written == 0) {
            EXPECT_EQ(folder_.names(), std::vector<std::string>{}) << room << ": nothing that can be read";
            return;
        }
        ASSERT_TRUE(fs::exists(path)) << room << ": " << status.written << " frames";
        EXPECT_EQ(read(path), status.written) << room;
        EXPECT_EQ(played(path), status.written) << room;
        fs::remove(path);
        fs::remove(path + ".jsonl");
    }
    const TemporaryFolder folder_;
    Maker maker_{kRaw, kNumber};
};

TEST_P(FullDiskCounts, AreWhatCanBeRead) {
    const SinkStatus all = record_in(RLIM_INFINITY);
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.written, GetParam().frames);
    const rlim_t whole = fs::file_size(all.path);
    expect_true(all, "enough");
    std::vector<rlim_t> rooms = {0, 1, 100, 1000, 4000};
    for (rlim_t part = 1; part < 16; ++part)
        rooms.push_back(whole * part / 16);
    for (const rlim_t less : {6000, 1500, 500, 100, 17, 1}) // in the index and elsewhere
        rooms.push_back(whole - std::min<rlim_t>(whole, less));
    for (const rlim_t room : rooms) {
        const SinkStatus status = record_in(room);
        // Files may differ by some bytes: their times have different numbers of digits.
        EXPECT_TRUE(status.error.find("stopped") != std::string::npos ||
                    (room + 100 > whole && status.written == GetParam().frames))
            << room << ": " << status.error;
        EXPECT_TRUE(status.error.empty() ||
                    status.error.find("the written part stays readable") != std::string::npos)
            << room << ": " << status.error;
        if (std::string(GetParam().name).ends_with(".mp4") && room > whole / 2) {
            EXPECT_GE(status.written, 60U) << room << ": its first second, and not only while it is recorded";
        }
        expect_true(status, std::to_string(room) + " of " + std::to_string(whole) + " bytes");
    }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FullDiskCounts,
    testing::Values(Kind{"a.tiff", RecordWhat::raw, 30}, Kind{"a.ome.tiff", RecordWhat::processed, 30},
                    Kind{"a.raw", RecordWhat::raw, 30}, Kind{"a.h5", RecordWhat::raw, 250},
                    Kind{"a.mkv", RecordWhat::raw, 30}, Kind{"b.mkv", RecordWhat::processed, 30},
                    Kind{"a.mp4", RecordWhat::processed, 250},           // of 2.5 s
                    Kind{"slow.mp4", RecordWhat::processed, 130, 1e-3}), // of 36 h
    [](const auto& kind) {
        std::string name = kind.param.name;
        std::replace(name.begin(), name.end(), '.', '_');
        return name;
    });

/// With frames slower than the source's rate, or without a rate, the first fragment has more than one frame,
/// without which a reader would lose one.
TEST(FullDiskOfAFilm, CountsFramesThatComeSlowly) {
    for (const double said : {0.0, 30.0}) {
        const TemporaryFolder folder;
        const std::string path = folder / "a.mp4";
        Maker maker(kRaw, kNumber);
        RecordOptions options{.path = path, .what = RecordWhat::processed};
        options.limits.keep_free = 0;
        const auto sink = make_recorder(options);
        {
            const FileSizeLimit room(300'000);
            sink->open(stream_of(kRaw, said));
            for (std::uint64_t n = 0; n < 250; ++n) {
                Result result = maker.make(n);
                result.info.capture_ns = static_cast<std::int64_t>(n) * 2'000'000'000;
                sink->push(result, true);
            }
            sink->close();
        }
        EXPECT_NE(sink->status().error.find("File too large"), std::string::npos) << sink->status().error;
        EXPECT_GT(sink->status().written, 10U);
        const Shape shown{kRaw.width, kRaw.height, 3, PixelType::u8};
        EXPECT_EQ(decode_video(path, "RGB", shown).size(), sink->status().written) << said;
    }
}

/// The index of a film of 14 h is written last.
TEST(FullDiskOfAFilm, IsReadToItsEndWithoutRoomForItsIndex) {
    const Shape raw{16, 16, 1, PixelType::u8};
    const TemporaryFolder folder;
    Maker maker(raw, {16, 16, 1, PixelType::f32});
    constexpr std::uint64_t kFrames = 5000;
    const auto record_in = [&](rlim_t bytes) {
        const FileSizeLimit room(bytes);
        RecordOptions options{.path = folder / "a.mp4", .what = RecordWhat::processed, .rate = 0.1};
        options.limits.keep_free = 0;
        return record(maker, options, 0, kFrames);
    };
    const SinkStatus whole = record_in(RLIM_INFINITY);
    ASSERT_EQ(whole.error, "");
    fs::remove(whole.path);
    const SinkStatus status = record_in(whole.bytes - 1000);
    EXPECT_NE(status.error.find("File too large; the written part stays readable"), std::string::npos)
        << status.error;
    EXPECT_EQ(status.written, kFrames);
    EXPECT_LT(status.bytes, whole.bytes - 1000) << "half an index stays";
    EXPECT_EQ(status.bytes, fs::file_size(status.path));
    EXPECT_EQ(decode_video(status.path, "RGB", {16, 16, 3, PixelType::u8}).size(), kFrames);
}

/// Image formats: the file is complete or missing.
TEST(FullDiskPicture, IsWholeOrNotThere) {
    for (const std::string name : {"a.png", "a.hdr", "a.exr", "a.pdf"}) { // NOLINT: a copy of a literal
        const TemporaryFolder folder;
        Maker maker(kRaw, kNumber);
        RecordOptions options{.path = folder / name};
        options.limits.keep_free = 0;
        for (const rlim_t room : {0, 1, 100, 1000, 4000, 9000, 16000, 1 << 30}) {
            SinkStatus status;
            {
                const FileSizeLimit limit(room);
                status = record(maker, options, 0, 3);
            }
            const bool there = fs::exists(folder / name);
            EXPECT_EQ(status.error.empty(), there) << name << " in " << room << ": " << status.error;
            EXPECT_EQ(status.written, there ? 1U : 0U) << name << " in " << room;
            EXPECT_EQ(folder.names().empty(), !there) << name << " in " << room;
            if (there && name != "a.pdf") {
                EXPECT_TRUE(open_image(folder / name)->next_page());
            }
            for (const std::string& left : folder.names())
                fs::remove(folder / left);
        }
    }
}

/// A network file system may report a full disk only on close.
TEST(FullDiskPicture, ThatIsSaidWhenAFileIsClosedIsSaid) {
    for (const std::string name : // NOLINT: a copy of a literal
         {"a.tiff", "a.raw", "a.h5", "a.mkv", "a.mp4", "a.png", "a.hdr", "a.exr", "a.pdf"}) {
        const TemporaryFolder folder;
        Maker maker(kRaw, kNumber);
        RecordOptions options{.path = folder / name};
        options.limits.keep_free = 0;
        SinkStatus status;
        {
            const test::LateError late(EDQUOT);
            status = record(maker, options, 0, 3);
        }
        EXPECT_NE(status.error.find("Disk quota exceeded"), std::string::npos) << name << status.error;
    }
}

} // namespace specklescope::full_disk_counts_test
