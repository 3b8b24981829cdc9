#include "recording/video/encoders.hpp"

#include "base/error.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "recording/record_file.hpp"

#include <gst/gst.h>

namespace specklescope {

bool gst_element_exists(const char* element) {
    init_gstreamer();
    const GstHandle<GstElementFactory> factory(gst_element_factory_find(element));
    if (!factory)
        return false;
    const GstHandle<GstPluginFeature> loaded(gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory.get())));
    return loaded != nullptr;
}

bool shows_colors(RecordWhat what) { return what == RecordWhat::processed || what == RecordWhat::screen; }

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
