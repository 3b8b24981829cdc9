// Copies from GStreamer buffers into slots, and the pool that provides such buffers.
#include "base/error.hpp"
#include "files/gst_init.hpp"
#include "sources/gst/gst_slots.hpp"

#include <gtest/gtest.h>

namespace specklescope::test::gst_pixels_test {

GQuark seen() { return g_quark_from_static_string("specklescope-seen"); }

/// A buffer may claim another image size than the stream.
TEST(GstPixels, ABufferOfAnotherSizeThanItsStreamIsRefused) {
    init_gstreamer();
    const GstHandle<GstCaps> caps(
        gst_caps_from_string("video/x-raw,format=GRAY8,width=32,height=16,framerate=1/1"));
    const PixelLayout layout = layout_of(caps.get(), "a test");
    std::vector<std::byte> slot(layout.shape.bytes());
    const HostView to(slot.data(), layout.shape);
    constexpr gsize kBytes = 64 * 32; // of the largest
    struct Case {
        guint width, height;
        bool taken;
    };
    for (const Case& one : {Case{32, 16, true},
                            {32, 8, false},
                            {16, 16, false},
                            {16, 8, false},
                            {64, 16, false},
                            {32, 32, false}}) {
        const std::unique_ptr<GstBuffer, void (*)(GstBuffer*)> buffer(
            gst_buffer_new_allocate(nullptr, kBytes, nullptr), gst_buffer_unref);
        gst_buffer_memset(buffer.get(), 0, 0x5a, kBytes);
        gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, one.width,
                                  one.height);
        if (one.taken) {
            copy_buffer(buffer.get(), layout, to, "a test");
            EXPECT_EQ(slot, std::vector<std::byte>(slot.size(), std::byte{0x5a}));
        } else {
            EXPECT_THROW(copy_buffer(buffer.get(), layout, to, "a test"), RunError)
                << one.width << "×" << one.height;
        }
    }
}

/// Buffers of the pool while no slots can be lent: any number, with the rows of a slot, and the same after
/// reuse.
TEST(GstPixels, PoolBuffersHaveTheirRowsEachTime) {
    init_gstreamer();
    const GstHandle<GstElement> sink = own(gst_element_factory_make("fakesink", nullptr));
    ASSERT_TRUE(sink);
    const auto lender = std::make_shared<SlotLender>();
    offer_slots(sink.get(), lender);
    const GstHandle<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_set_active(pad.get(), TRUE);
    for (const int width : {37, 64}) {
        constexpr int kHeight = 19;
        const std::size_t pitch = slot_pitch({width, kHeight, 1, PixelType::u8}, Space::host);
        const GstHandle<GstCaps> caps(gst_caps_new_simple(
            "video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, width, "height", G_TYPE_INT,
            kHeight, "framerate", GST_TYPE_FRACTION, 25, 1, nullptr));
        GstQuery* const query = gst_query_new_allocation(caps.get(), TRUE);
        EXPECT_TRUE(gst_pad_query(pad.get(), query));
        ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1U);
        GstBufferPool* offered = nullptr;
        guint size = 0, least = 7, most = 7;
        gst_query_parse_nth_allocation_pool(query, 0, &offered, &size, &least, &most);
        const GstHandle<GstBufferPool> pool(offered);
        EXPECT_EQ(size, pitch * kHeight);
        EXPECT_EQ(least, 0U) << "none is made in advance";
        EXPECT_EQ(most, 0U) << "and none is refused";
        gst_query_unref(query);
        GstStructure* const config = gst_buffer_pool_get_config(pool.get());
        // An element that only uses the format requests less.
        gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(width * kHeight), 0, 0);
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        ASSERT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
        ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
        int ended = 0; // a new buffer could have the same address
        for (int taken = 0; taken < 3; ++taken) {
            GstBuffer* buffer = nullptr;
            ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
            EXPECT_EQ(gst_mini_object_get_qdata(GST_MINI_OBJECT(buffer), seen()) != nullptr, taken > 0)
                << "it came back";
            gst_mini_object_set_qdata(GST_MINI_OBJECT(buffer), seen(), &ended, nullptr);
            if (taken == 0)
                gst_mini_object_weak_ref(
                    GST_MINI_OBJECT(buffer),
                    [](gpointer count, GstMiniObject*) { ++*static_cast<int*>(count); }, &ended);
            EXPECT_GE(gst_buffer_get_size(buffer), pitch * kHeight) << width;
            const GstVideoMeta* const rows = gst_buffer_get_video_meta(buffer);
            ASSERT_NE(rows, nullptr) << taken;
            EXPECT_EQ(static_cast<std::size_t>(rows->stride[0]), pitch);
            EXPECT_EQ(rows->width, static_cast<guint>(width));
            EXPECT_EQ(rows->height, static_cast<guint>(kHeight));
            gst_buffer_unref(buffer);
            EXPECT_EQ(ended, 0);
        }
        gst_buffer_pool_set_active(pool.get(), FALSE);
        EXPECT_EQ(ended, 1);
    }
}

} // namespace specklescope::test::gst_pixels_test
