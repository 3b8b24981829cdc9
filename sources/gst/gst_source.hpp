// GStreamer sources: video files, V4L2 cameras, RTSP streams and any gst-launch text. Capture times of files
// are their presentation times (continuing over loops); of live sources the running time of their buffers on
// the monotonic clock (SteadyClock).
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"

namespace specklescope {

/// Everything that GStreamer decodes. Grey with 8 and 16 bits and RGB stay unchanged, other formats become
/// 8-bit RGB.
struct VideoParams {
    double rate = 0;  ///< frames/s; 0: as fast as possible (SourceInfo::rate is the file's)
    double speed = 1; ///< factor of the rate; 0: as fast as possible
    bool loop = false;
    std::string exposures{}; ///< ms, of consecutive frames; empty: from the file
};

struct V4l2Params {
    enum class Format : std::uint8_t { automatic, gray8, gray16le, yuyv, mjpeg };
    int width = 0;          ///< 0: the camera's setting
    int height = 0;         ///< 0: the camera's setting
    double rate = 0;        ///< frames/s; 0: the camera's setting
    double exposure_ms = 0; ///< 0: automatic exposure
    double gain = -1;       ///< in the camera's unit; −1: automatic gain
    Format format = Format::automatic;
};

struct RtspParams {
    enum class Transport : std::uint8_t { automatic, udp, tcp };
    int latency_ms = 100; ///< jitter buffer
    Transport transport = Transport::automatic;
    double timeout_s = 10; ///< until the first frame
};

struct GstTextParams {};

SourceType video_source_type(); ///< kind "video"; the target is a file, which must exist
SourceType v4l2_source_type();  ///< kind "v4l2"; the target is a device node, empty: the first one
SourceType rtsp_source_type();  ///< kind "rtsp"; the target is the whole URL, including "rtsp://"
SourceType gst_source_type();   ///< kind "gst"; the target is gst-launch text without our sink

/// Options of video_source_type(), for tables of other kinds.
const ParamTable& video_table();
std::unique_ptr<Source> make_video_source(const std::string& path, const Params& video_params);

/// Number of pipelines still closing in the background (a dead camera takes up to 11 s); for tests and logs.
int pipelines_closing();

} // namespace specklescope
