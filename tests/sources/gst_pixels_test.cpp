// From a buffer of GStreamer's into a slot.
#include "base/error.hpp"
#include "files/gst_init.hpp"
#include "sources/gst/gst_pixels.hpp"

#include <gtest/gtest.h>

namespace specklescope::test {
namespace {

/// A buffer may say of itself that its picture has another size than the stream's.
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

} // namespace
} // namespace specklescope::test
