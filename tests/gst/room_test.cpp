// Memory for results as requested by the next element: at any address, from a pool for other frames.
#include "tests/gst/pools.hpp"

namespace room_test {

using namespace element;

struct Wish {
    GstAllocationParams params{};
    GstBufferPool* pool = nullptr;
    guint size = 0;
    bool meta = false;
};

GstPadProbeReturn tell(GstPad*, GstPadProbeInfo* info, gpointer data) {
    const auto& wish = *static_cast<Wish*>(data);
    GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    gst_query_add_allocation_param(query, nullptr, &wish.params);
    if (wish.pool)
        gst_query_add_allocation_pool(query, wish.pool, wish.size, 0, 0);
    if (wish.meta)
        gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    return GST_PAD_PROBE_HANDLED;
}

/// All output formats, and chains that produce bytes, words and floats.
const char* const kOutputs[] = {"application/x-specklescope",   "other/tensors",
                                "video/x-raw,format=RGBA",      "video/x-raw,format=RGB",
                                "video/x-raw,format=GRAY16_LE", "video/x-raw,format=GRAY8"};
const char* const kChains[] = {"flip", "speckle:radius=2", "rotate90 | gamma"};

class RoomForResults : public testing::TestWithParam<const char*> {
protected:
    const std::string format = GetParam();
    std::mt19937 random{random_seed() + 71};

    /// Rows of the result without padding.
    static Bytes rows_of(GstBuffer* buffer, const std::string& caps) {
        if (!caps.starts_with("video"))
            return bytes_of(buffer);
        GstCaps* const parsed = gst_caps_from_string(caps.c_str());
        GstVideoInfo info;
        EXPECT_TRUE(gst_video_info_from_caps(&info, parsed));
        gst_caps_unref(parsed);
        GstVideoFrame frame;
        EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
        Bytes made;
        for (int y = 0; y < GST_VIDEO_INFO_HEIGHT(&info); ++y) {
            const auto* const row = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                                    y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
            made.insert(made.end(), row,
                        row + GST_VIDEO_INFO_WIDTH(&info) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0));
        }
        gst_video_frame_unmap(&frame);
        return made;
    }
    /// Compares with the result without special requests.
    void same(Wish& wish, const std::string& output, const char* chain, int width, int height) {
        SCOPED_TRACE(output + " " + chain + " " + std::to_string(width));
        const Picture picture = random_picture(format, width, height, random);
        const std::string properties = std::string("low=0 high=1000 chain=\"") + chain + "\"";
        Harness plain(properties), harness(properties);
        gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, tell, &wish, nullptr);
        for (Harness* one : {&plain, &harness}) {
            one->wanted(output);
            one->caps(format, width, height);
        }
        GstBuffer* const expected = plain.result(picture);
        GstBuffer* const made = harness.result(picture);
        ASSERT_TRUE(expected && made);
        EXPECT_EQ(rows_of(made, harness.output_caps()), rows_of(expected, plain.output_caps()));
        gst_buffer_unref(expected);
        gst_buffer_unref(made);
    }
};

TEST_P(RoomForResults, MayBeginAtAnyAddress) {
    for (const char* output : kOutputs)
        for (const char* chain : kChains)
            for (const gsize prefix : {1, 2, 3, 13})
                for (const bool meta : {false, true}) {
                    Wish wish;
                    wish.params.prefix = prefix;
                    wish.meta = meta;
                    same(wish, output, chain, 67, 45);
                }
}

TEST_P(RoomForResults, IsAFramesWhateverThePoolWasThoughtFor) {
    for (const char* output : kOutputs)
        for (const char* chain : kChains)
            for (const guint size : {0U, 1U, 100U, 1000000U}) {
                Wish wish;
                wish.pool = gst_buffer_pool_new();
                wish.size = size;
                same(wish, output, chain, 67, 45);
                gst_object_unref(wish.pool);
            }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoomForResults, testing::Values("GRAY8", "GRAY16_LE"));

} // namespace room_test
