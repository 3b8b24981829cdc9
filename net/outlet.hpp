// The displayed image for other programs while the program runs: over RTSP, or into a sink of GStreamer such
// as a virtual camera. Only the newest image counts; a slow client delays nothing.
#pragma once

#include "base/source_argument.hpp"
#include "pipeline/sink.hpp"
#include "recording/look.hpp"
#include "recording/video/planes.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

struct RecordedFrame;

/// A viewer.
struct OutletClient {
    std::string from; ///< "127.0.0.1"
    SteadyClock::time_point since;
    /// Images sent since then. Over TCP each arrives, or the connection ends.
    std::uint64_t pictures = 0;
    std::uint64_t dropped = 0; ///< images without room since then: every viewer lacks them
    double still_s = 0;        ///< time since the viewer last took data that is pending
};

/// Destination of the images.
class OutletEnd {
public:
    virtual ~OutletEnd() = default;
    /// Name without secrets: "rtsp://127.0.0.1:8554/flow", with the bound port.
    virtual std::string name() const = 0;
    /// False if there is no viewer; then no image is drawn.
    virtual bool watched() const = 0;
    /// u8 RGB. False: there was no room, and the image is dropped. Throws RunError if no later image can be
    /// shown.
    virtual bool show(const RecordedFrame& picture) = 0;
    /// Shows the last image again: there is no new one for a while.
    virtual void show_again() = 0;
    virtual std::vector<OutletClient> clients() const { return {}; }
    /// Sets a function that is called, from any thread, when a viewer connects.
    virtual void tell(const std::function<void()>& on_watched) { (void)on_watched; }
};

/// Outlives sources and pipelines, each of which has a feed.
class Outlet {
public:
    Outlet(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks,
           std::string opened_by = "");
    ~Outlet();
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;

    static std::shared_ptr<Sink> feed(std::shared_ptr<Outlet> outlet);
    std::string name() const;
    /// `left_out`: images replaced by a newer one, or without a viewer; `dropped`: images without room.
    SinkStatus status() const;
    std::vector<OutletClient> clients() const;
    const std::string option; ///< name of the option, "serve"

private:
    friend class OutletFeed;
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Checks --serve and --output without opening them. Throws UsageError, which begins with `owner`.
void check_outlets(const std::string& serve, const std::string& output, const std::string& owner);

/// Default limit of the rate of a stream, by the size of its image.
double default_mbit_s(const Shape& shape);
/// 0 Mbit/s: default_mbit_s(). Throws UsageError (not an address, contains a password, a variable is not
/// set), RunError (address in use or not allowed, no encoder, built without RTSP).
std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address, double mbit_s = 0,
                                         Chroma chroma = Chroma::halved);
/// Pipeline for "v4l2:/dev/videoN" or "gst:SINK"; its element "in" gets the images. Throws UsageError for
/// other texts.
std::string output_pipeline(const std::string& target);
/// Throws UsageError or RunError.
std::unique_ptr<OutletEnd> make_gst_end(const std::string& target);

/// Version of the RTSP server, "1.22.0"; empty: this build has none.
std::string rtsp_server_version();

} // namespace specklescope
