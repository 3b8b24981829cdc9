// Sources that run over GStreamer: video files, V4L2 cameras, RTSP streams and any gst-launch text.
// Capture times: a file's are its own presentation times (a loop goes on counting); a live source's are the
// running time of its buffers on the monotonic clock, that of SteadyClock.
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"

namespace specklescope {

/// Anything that GStreamer decodes. Grey of 8 and 16 bits and RGB arrive unchanged, other formats become RGB
/// of 8 bits.
struct VideoParams {
    double rate = 0;  ///< frames/s; 0: as fast as they are processed (SourceInfo::rate tells the file's own)
    double speed = 1; ///< times the rate; 0: as fast as they are processed
    bool loop = false;
};

struct V4l2Params {
    enum class Format : std::uint8_t { automatic, gray8, gray16le, yuyv, mjpeg };
    int width = 0;          ///< 0: the camera's
    int height = 0;         ///< 0: the camera's
    double rate = 0;        ///< frames/s; 0: the camera's
    double exposure_ms = 0; ///< 0: the camera's automatic
    double gain = -1;       ///< in the camera's unit; −1: the camera's automatic
    Format format = Format::automatic;
};

struct RtspParams {
    enum class Transport : std::uint8_t { automatic, udp, tcp };
    int latency_ms = 100; ///< jitter buffer
    Transport transport = Transport::automatic;
    double timeout_s = 10; ///< for the first frame
};

struct GstTextParams {};

SourceType video_source_type(); ///< kind "video"; the target is a file, which must exist
SourceType v4l2_source_type();  ///< kind "v4l2"; the target is a device node, empty: the first one
SourceType rtsp_source_type();  ///< kind "rtsp"; the target is the whole URL, "rtsp://" included
SourceType gst_source_type();   ///< kind "gst"; the target is gst-launch text without our sink

/// The options of video_source_type(), for a table that offers them under another kind.
const ParamTable& video_table();
std::unique_ptr<Source> make_video_source(const std::string& path, const Params& video_params);

/// Pipelines that are still closing in the background (a dead camera takes up to 11 s); for tests and logs.
int pipelines_closing();

} // namespace specklescope
