// Rows as described by a GstVideoMeta: read if they are inside the buffer, refused otherwise.
#include "tests/gst/harness.hpp"

namespace rows_test {

using namespace element;

struct Rows {
    gint step;
    std::size_t offset, bytes;
};

GstBuffer* buffer_of_rows(const Rows& rows, const std::string& format, int width, int height) {
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, rows.bytes, nullptr);
    gst_buffer_memset(buffer, 0, 7, rows.bytes);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {rows.offset};
    gint steps[GST_VIDEO_MAX_PLANES] = {rows.step};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                   gst_video_format_from_string(format.c_str()), static_cast<guint>(width),
                                   static_cast<guint>(height), 1, offsets, steps);
    return buffer;
}

class RowsOfMeta : public testing::TestWithParam<const char*> {
protected:
    static constexpr int kWidth = 640, kHeight = 480;
    const std::string format = GetParam();
    const gint row = kWidth * (format == "RGB" ? 3 : format == "GRAY8" ? 1 : 2);
    const std::size_t all = static_cast<std::size_t>(row) * kHeight;

    /// Error message for such an input buffer.
    std::string said(const Rows& rows, int width = kWidth, int height = kHeight) {
        Harness harness("chain=flip");
        harness.caps(format, kWidth, kHeight);
        EXPECT_EQ(gst_harness_push(harness.get(), buffer_of_rows(rows, format, width, height)),
                  GST_FLOW_ERROR);
        return harness.message(GST_MESSAGE_ERROR);
    }
};

TEST_P(RowsOfMeta, ThatDoNotFitAreRefused) {
    constexpr gint kFar = 1 << 20, kFarthest = 1 << 30; // the sum exceeds 32 bits
    const std::size_t one = static_cast<std::size_t>(row);
    for (const Rows& rows : {Rows{row, 0, 4096}, Rows{row, 0, all - 1}, Rows{row, 1, all}, Rows{kFar, 0, all},
                             Rows{kFarthest, 0, all}, Rows{row, all + 10, all}, Rows{0, 0, 640},
                             Rows{0, 0, all}, Rows{100, 0, all}, Rows{-row, all - one, all}}) {
        const std::string refusal = said(rows);
        EXPECT_NE(refusal.find(std::to_string(rows.bytes) + " bytes"), std::string::npos) << refusal;
        EXPECT_NE(refusal.find("640×480"), std::string::npos) << refusal;
    }
    for (const int height : {kHeight - 1, kHeight + 1})
        EXPECT_NE(said({row, 0, all + one}, kWidth, height), "");
}

TEST_P(RowsOfMeta, OfAnotherFormatThanTheCapsSayAreRefused) {
    const std::pair<GstVideoFormat, guint> others[] = {{GST_VIDEO_FORMAT_I420, 3},
                                                       {GST_VIDEO_FORMAT_I420, 1},
                                                       {GST_VIDEO_FORMAT_RGBA, 1},
                                                       {gst_video_format_from_string(format.c_str()), 0},
                                                       {gst_video_format_from_string(format.c_str()), 2}};
    for (const auto& [other, planes] : others) {
        Harness harness("chain=flip");
        harness.caps(format, kWidth, kHeight);
        GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, 4 * all, nullptr);
        gst_buffer_memset(buffer, 0, 7, 4 * all);
        gsize offsets[GST_VIDEO_MAX_PLANES] = {};
        gint steps[GST_VIDEO_MAX_PLANES] = {row, row, row};
        gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, other, kWidth, kHeight, planes,
                                       offsets, steps);
        EXPECT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_ERROR);
        EXPECT_NE(harness.message(GST_MESSAGE_ERROR).find(format), std::string::npos);
    }
}

TEST_P(RowsOfMeta, WithGapsGiveTheirPixelsAndTheLastNeedsNoGap) {
    std::mt19937 random(random_seed() + 12);
    const Picture picture = random_picture(format, 64, 48, random);
    Harness plain("chain=flip"), padded("chain=flip");
    plain.caps(format, 64, 48);
    padded.caps(format, 64, 48);
    const Bytes expected = plain.through(picture);
    for (const int gap : {0, 2, 13, 256})
        EXPECT_EQ(padded.through(picture, gap), expected) << gap;
    constexpr int kGap = 10;
    for (const int cut : {kGap, kGap + 1}) {
        GstBuffer* const buffer = buffer_of(picture, format, kGap);
        gst_buffer_set_size(buffer, static_cast<gssize>(gst_buffer_get_size(buffer)) - cut);
        EXPECT_EQ(gst_harness_push(padded.get(), buffer), cut == kGap ? GST_FLOW_OK : GST_FLOW_ERROR);
    }
    GstBuffer* const made = gst_harness_pull(padded.get());
    EXPECT_EQ(bytes_of(made), expected);
    gst_buffer_unref(made);
}

INSTANTIATE_TEST_SUITE_P(Formats, RowsOfMeta, testing::Values("GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"),
                         [](const auto& of) { return std::string(of.param); });

} // namespace rows_test
