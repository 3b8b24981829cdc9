// Lengths and metadata of video files, written here byte by byte.
#include "base/long_work.hpp"
#include "sources/gst/container_bytes.hpp"
#include "sources/gst/gst_container.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <filesystem>
#include <limits>

namespace specklescope::test::container_test {

class Container : public testing::Test {
protected:
    std::string file(const std::string& bytes) {
        write_file(folder_ / "file", bytes);
        return folder_ / "file";
    }
    std::uint64_t claimed(const std::string& bytes) { return claimed_bytes(file(bytes)); }

    /// The same with progress reports: often enough to be cancelled, and not much more often than there are
    /// parts.
    std::uint64_t claimed_in_parts(const std::string& bytes) {
        const std::string path = file(bytes);
        std::size_t asked = 0, stop = std::numeric_limits<std::size_t>::max();
        const WatchWork watch([&](std::string_view, double) { return ++asked < stop; });
        const std::uint64_t claim = claimed_bytes(path);
        const std::size_t all = asked, parts = bytes.size() / ContainerBytes::kLargest;
        EXPECT_GE(all, parts);
        EXPECT_LE(all, parts + 20);
        for (stop = 1; stop <= all; stop += 1 + all / 3) {
            asked = 0;
            EXPECT_THROW((void)claimed_bytes(path), Cancelled) << stop << " of " << all;
        }
        return claim;
    }
    TemporaryFolder folder_;
};

std::string times(std::size_t count, const std::string& bytes) {
    std::string all;
    all.reserve(count * bytes.size());
    for (std::size_t i = 0; i < count; ++i)
        all += bytes;
    return all;
}

/// A header line, and each frame with its own line and planes: chroma is stored for every second, every
/// fourth or every column, rounded up (yuv4mpeg(5)).
TEST_F(Container, Yuv4MpegOfAnySize) {
    struct Case {
        const char* format;
        std::size_t bytes; ///< of a frame of 7×5
    };
    for (const Case& one : {Case{"", 35 + 2 * 4 * 3},
                            {" C420jpeg", 35 + 2 * 4 * 3},
                            {" C422", 35 + 2 * 4 * 5},
                            {" C411", 35 + 2 * 2 * 5},
                            {" C444", 3 * 35},
                            {" C444alpha", 4 * 35},
                            {" Cmono", 35}}) {
        const std::string head = std::string("YUV4MPEG2 W7 H5 F25:1") + one.format + "\n";
        const std::string frame = "FRAME\n" + std::string(one.bytes, 'x');
        const std::string whole = head + frame + frame;
        EXPECT_EQ(claimed(whole), whole.size()) << one.format;
        EXPECT_GT(claimed(whole.substr(0, whole.size() - 1)), whole.size() - 1) << one.format;
        EXPECT_GT(claimed(head + frame + frame.substr(0, 20)), head.size() + frame.size() + 20) << one.format;
    }
}

/// Only the first line counts, for any image data.
TEST_F(Container, ImageDataThatLookLikeAYuv4MpegLineAreIgnored) {
    const std::string head = "YUV4MPEG2 W40 H3 F25:1 Cmono\n";
    const std::string picture = times(10, " W9 H8 C444 ");
    ASSERT_EQ(picture.size(), 120U);
    const std::string whole = head + times(2, "FRAME\n" + picture);
    EXPECT_EQ(claimed(whole), whole.size());
    EXPECT_EQ(claimed(whole.substr(0, whole.size() - 1)), whole.size());
}

/// One page (RFC 3533): flags 2 for the first of a stream, 4 for its last.
std::string ogg_page(int flags, char serial, std::size_t bytes) {
    std::string page("OggS");
    page += '\0';
    page += static_cast<char>(flags);
    page += std::string(8, '\0') + std::string(3, '\0') + serial + std::string(8, '\0') + '\1' +
            static_cast<char>(bytes);
    return page + std::string(bytes, 'x');
}

TEST_F(Container, AnOggFileEndsWithTheLastPagesOfItsStreams) {
    const std::string whole = ogg_page(2, 1, 30) + ogg_page(2, 2, 10) + ogg_page(0, 1, 200) +
                              ogg_page(4, 2, 40) + ogg_page(4, 1, 50);
    EXPECT_EQ(claimed(whole), whole.size());
    EXPECT_EQ(claimed(whole.substr(0, whole.size() - ogg_page(4, 1, 50).size())), kEndMissing);
    EXPECT_GT(claimed(whole.substr(0, whole.size() - 1)), whole.size() - 1);
    EXPECT_EQ(claimed(ogg_page(0, 1, 200) + ogg_page(4, 1, 9)),
              (ogg_page(0, 1, 200) + ogg_page(4, 1, 9)).size())
        << "whose beginning is missing";
}

std::string element(const std::string& id, const std::string& payload, bool open = false) {
    return id + (open ? '\xff' : static_cast<char>(0x80 | payload.size())) + payload;
}

/// EBML (RFC 8794): a size of all ones is unknown. Segments may have it, for example those of a killed
/// recorder.
TEST_F(Container, TextsOfAMatroskaFile) {
    const std::string head = element("\x1a\x45\xdf\xa3", "EBML"), segment = "\x18\x53\x80\x67",
                      info = element("\x15\x49\xa9\x66", "what it is");
    EXPECT_EQ(matroska_texts(file(head + element(segment, info))), "what it is");
    EXPECT_EQ(matroska_texts(file(head + element(segment, info, true))), "what it is") << "open";
    EXPECT_EQ(matroska_texts(file(head + element(segment, element("\x1f\x43\xb6\x75", info, true), true))),
              "")
        << "behind an open cluster nobody knows where an element begins";
    EXPECT_EQ(matroska_texts(file(element(segment, info))), "") << "no Matroska file";
    EXPECT_EQ(matroska_texts(file(head + info)), "");
}

const std::string kOpenSegment =
    element("\x1a\x45\xdf\xa3", "EBML") + "\x18\x53\x80\x67" + std::string("\x01") + std::string(7, '\xff');
const std::string kOpenCluster = "\x1f\x43\xb6\x75\xff";
constexpr std::size_t kLong = 5 << 20; ///< bytes

TEST_F(Container, ElementsOfNothingAreReadInLargeParts) {
    const std::string nothing = times(kLong / 2, "\xec\x80"), whole = kOpenSegment + kOpenCluster + nothing;
    EXPECT_EQ(claimed_in_parts(whole), whole.size());
    EXPECT_EQ(claimed_in_parts(whole + "\xec"), kEndMissing);
    const std::string table = element("\x15\x49\xa9\x66", "what it is") + "\x11\x4d\x9b\x74" + "\x10" +
                              std::string(1, static_cast<char>(kLong >> 16)) + std::string(2, '\0') + nothing;
    int asked = 0;
    const WatchWork watch([&](std::string_view, double) { return ++asked < 20; });
    EXPECT_EQ(matroska_texts(file(kOpenSegment + table)), "what it is") << "a table of contents of nothing";
}

TEST_F(Container, TagsAndPagesOfNothingAreReadInLargeParts) {
    const std::string tag = std::string("\x09") + std::string(14, '\0');
    const std::string flv =
        std::string("FLV\1\1\0\0\0\x09", 9) + std::string(4, '\0') + times(kLong / 15, tag);
    EXPECT_EQ(claimed_in_parts(flv), flv.size());
    const std::string ogg = ogg_page(2, 1, 0) + times(kLong / 28, ogg_page(0, 1, 0)) + ogg_page(4, 1, 0);
    EXPECT_EQ(claimed_in_parts(ogg), ogg.size());
}

TEST_F(Container, DataAfterAnImageAreReadInLargeParts) {
    for (const char* end : {"\xff\xd9", "--"}) {
        const std::string picture = std::string("\xff\xd8\xff\xe0 JFIF ") + end;
        for (const std::size_t padding :
             {std::size_t{0}, std::size_t{1}, std::size_t{65534}, std::size_t{65535}, std::size_t{65536}})
            EXPECT_EQ(claimed(picture + std::string(padding, '\0')), picture.size() + padding) << padding;
    }
    EXPECT_EQ(claimed("\xff\xd8\xff\xe0 JFIF, cut short"), kEndMissing);
    int asked = 0;
    const WatchWork watch([&](std::string_view, double) { return ++asked < 200; });
    EXPECT_EQ(claimed("\xff\xd8\xff\xe0 JFIF \xff\xd9" + std::string(kLong, '\0')), kLong + 12);
    EXPECT_GT(asked, 50);
}

/// One block per frame, each a jump: only headers are read, and the result is the same.
TEST_F(Container, AStreamedVideoIsReadByItsHeaders) {
    constexpr std::size_t kFrames = 400;
    const std::string frame = std::string("\xa3\x20\x4e\x20", 4) + std::string(20000, 'x');
    const std::string whole = kOpenSegment + times(4, kOpenCluster + times(kFrames / 4, frame));
    int asked = 0;
    {
        const WatchWork watch([&](std::string_view, double) { return ++asked > 0; });
        EXPECT_EQ(claimed(whole), whole.size());
    }
    EXPECT_LE(asked, static_cast<int>(kFrames) + 20);
    EXPECT_EQ(claimed(whole.substr(0, whole.size() - 1)), whole.size());
    EXPECT_EQ(claimed(whole.substr(0, whole.size() - 20002)), kEndMissing);
    EXPECT_EQ(claimed(whole.substr(0, whole.size() - 20004)), whole.size() - 20004) << "between two frames";
}

TEST_F(Container, BeyondSixteenMillionElementsTheLengthIsUnknown) {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    const std::string most = kOpenSegment + times(kMost, "\xec\x80");
    EXPECT_EQ(claimed(most), most.size());
    EXPECT_EQ(claimed(most + "\xec\x80"), 0U);
    std::string streams;
    for (int i = 0; i < 1100; ++i) {
        std::string page = ogg_page(2, 1, 0);
        page[15] = static_cast<char>(i >> 8);
        page[16] = static_cast<char>(i);
        streams += page;
    }
    EXPECT_EQ(claimed(streams), 0U) << "of so many streams at once";
}

/// Child processes do not inherit the files that it reads.
TEST_F(Container, ChildProcessesDoNotInheritTheFile) {
    const std::string path = std::filesystem::canonical(file("text"));
    const ContainerBytes bytes(path);
    int open = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone; // the handle for the folder is listed too
        if (std::filesystem::read_symlink(entry, gone) != path)
            continue;
        ++open;
        const int flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFD);
        EXPECT_EQ(flags & FD_CLOEXEC, FD_CLOEXEC);
    }
    EXPECT_EQ(open, 1);
}

TEST_F(Container, AnImpossibleSizeIsIgnored) {
    const std::string box = std::string("\0\0\0\1ftyp", 8) + std::string(8, '\xff');
    EXPECT_EQ(claimed(box + std::string(40, 'x')), kEndMissing);
}

} // namespace specklescope::test::container_test
