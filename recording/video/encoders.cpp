#include "recording/video/encoders.hpp"

#include "base/error.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "recording/record_file.hpp"

#include <gst/gst.h>

#include <algorithm>

namespace specklescope {

bool gst_element_exists(const char* element) {
    init_gstreamer();
    const GstHandle<GstElementFactory> factory(gst_element_factory_find(element));
    if (!factory)
        return false;
    const GstHandle<GstPluginFeature> loaded(gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory.get())));
    if (!loaded)
        throw RunError(std::string("GStreamer's element '") + element + "' " + did_not_start());
    return true;
}

bool shows_colors(RecordWhat what) { return what == RecordWhat::processed || what == RecordWhat::screen; }

namespace {

/// Empty where both sides are so long.
std::string other_than(const Shape& shape, int least, int most) {
    if (std::min(shape.width, shape.height) >= least && std::max(shape.width, shape.height) <= most)
        return "";
    return "pictures have " + std::to_string(least) + " to " + std::to_string(most) + " pixels a side there";
}

constexpr int kMostH264 = 16384; ///< of x264

} // namespace

std::string mkv_refuses(RecordWhat what, const Shape& shape) {
    if (shows_colors(what) && gst_element_exists("x264enc"))
        return other_than(shape, 1, kMostH264);
    // FFV1 of FFmpeg 5.1 in four slices gives other pixels back than it got where a side has one or two.
    constexpr int kLeastFfv1 = 3;
    return other_than(shape, kLeastFfv1, kMaxSide);
}

std::string mp4_refuses(RecordWhat, const Shape& shape) {
    constexpr int kLeast = 16; // of GStreamer's mp4mux
    return other_than(shape, kLeast, kMostH264);
}

namespace {
void check_muxer() {
    if (!gst_element_exists("matroskamux"))
        throw RunError(
            "No Matroska writer is installed; install gstreamer1.0-plugins-good, or record as .tiff.");
}
} // namespace

void check_video_encoder(RecordWhat what) {
    if (shows_colors(what) && gst_element_exists("x264enc"))
        return check_muxer();
    if (shows_colors(what) && !gst_element_exists("avenc_ffv1"))
        throw RunError(
            "No H.264 encoder for .mkv is installed; install gstreamer1.0-plugins-ugly, or record as .tiff.");
    if (!gst_element_exists("avenc_ffv1"))
        throw RunError(
            "No FFV1 encoder for .mkv is installed; install gstreamer1.0-libav, or record as .tiff.");
    check_muxer();
}

void check_mp4_encoder(RecordWhat what) {
    if (!shows_colors(what))
        throw UsageError("A .mp4 keeps what is seen, not the numbers of raw frames; record those as .mkv.");
    if (!gst_element_exists("x264enc"))
        throw RunError(
            "No H.264 encoder for .mp4 is installed; install gstreamer1.0-plugins-ugly, or record as .tiff.");
    if (!gst_element_exists("mp4mux"))
        throw RunError("No MP4 writer is installed; install gstreamer1.0-plugins-good, or record as .mkv.");
}

} // namespace specklescope
