// Output to a virtual camera: the pipeline with another sink instead of the device.
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "net/outlet.hpp"
#include "recording/video/planes.hpp"
#include "tests/support/images.hpp"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

namespace specklescope::camera_test {

TEST(VirtualCamera, GetsYuy2OfTheSizeOfThePicture) {
    init_gstreamer();
    const std::string text = output_pipeline("v4l2:/dev/video7");
    GError* raw = nullptr;
    const GstHandle<GstElement> pipeline(gst_parse_launch(
        (text.substr(0, text.find("v4l2sink")) + "appsink name=out sync=false").c_str(), &raw));
    ASSERT_EQ(raw, nullptr) << raw->message;
    const GstHandle<GstElement> in(gst_bin_get_by_name(GST_BIN(pipeline.get()), "in"));
    const GstHandle<GstElement> out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
    const Shape shape{64, 48, 3, PixelType::u8};
    std::vector<std::byte> rgb(shape.bytes(), std::byte{200});
    gst_app_src_set_caps(GST_APP_SRC(in.get()), GstHandle<GstCaps>(planes_caps(shape)).get());
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    ASSERT_EQ(gst_app_src_push_buffer(GST_APP_SRC(in.get()), make_planes(ConstHostView(rgb.data(), shape))),
              GST_FLOW_OK);
    const GstHandle<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(out.get()), 60 * GST_SECOND));
    ASSERT_NE(sample, nullptr);
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())));
    EXPECT_EQ(GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_FORMAT_YUY2);
    EXPECT_EQ(info.width, 64);
    EXPECT_EQ(info.height, 48);
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(gst_sample_get_buffer(sample.get()), &map, GST_MAP_READ));
    const int luma = map.data[0], blue = map.data[1];
    gst_buffer_unmap(gst_sample_get_buffer(sample.get()), &map);
    const bool full = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
    EXPECT_NEAR(luma, full ? 200 : 16 + 200 * 219 / 255, 1);
    EXPECT_NEAR(blue, 128, 1);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

} // namespace specklescope::camera_test
