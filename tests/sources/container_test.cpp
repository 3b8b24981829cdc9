// What video files say of their length, and of themselves, written here byte by byte.
#include "sources/gst/gst_container.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::test {
namespace {

class Container : public testing::Test {
protected:
    std::string file(const std::string& bytes) {
        write_file(folder_ / "file", bytes);
        return folder_ / "file";
    }
    std::uint64_t claimed(const std::string& bytes) { return claimed_bytes(file(bytes)); }
    TemporaryFolder folder_;
};

/// A line, and of each frame a line of its own and its planes: chroma is stored for every second, every
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

/// EBML (RFC 8794): a size of all ones is not known. Segments may be so, and what a killed recorder left is.
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

} // namespace
} // namespace specklescope::test
