// What the window shows, shown elsewhere while the program runs: to whoever asks over RTSP, or as a camera.
// The newest picture counts, and nobody is waited for.
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

/// Somebody who watches.
struct OutletClient {
    std::string from; ///< "127.0.0.1"
    SteadyClock::time_point since;
    /// That went out since then; over TCP each reaches it, or its connection ends.
    std::uint64_t pictures = 0;
    std::uint64_t dropped = 0; ///< that found no room since then: all who watch lack those
    double still_s = 0;        ///< for so long it has taken nothing of what waits for it
};

/// Where the pictures go.
class OutletEnd {
public:
    virtual ~OutletEnd() = default;
    /// As it may be shown: "rtsp://127.0.0.1:8554/flow", with the port that it got.
    virtual std::string name() const = 0;
    /// False: a picture would be seen by nobody, and none is drawn.
    virtual bool watched() const = 0;
    /// u8 RGB. False: it found no room and is dropped. Throws RunError where no other will find any.
    virtual bool show(const RecordedFrame& picture) = 0;
    /// The last one once more: nothing new has come for a while.
    virtual void show_again() = 0;
    virtual std::vector<OutletClient> clients() const { return {}; }
    /// Calls it, from any thread, when somebody begins to watch.
    virtual void tell(const std::function<void()>& on_watched) { (void)on_watched; }
};

/// Lives through sources and pipelines, each of which has a feed.
class Outlet {
public:
    Outlet(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks,
           std::string opened_by = "");
    ~Outlet();
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;

    static std::shared_ptr<Sink> feed(std::shared_ptr<Outlet> outlet);
    std::string name() const;
    /// `left_out`: pictures that a newer one overtook, or nobody watched; `dropped`: those without room.
    SinkStatus status() const;
    std::vector<OutletClient> clients() const;
    const std::string option; ///< that opened it, "serve"

private:
    friend class OutletFeed;
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// What --serve and --output say; `owner` begins the sentence of the UsageError that it throws. Opens
/// nothing.
void check_outlets(const std::string& serve, const std::string& output, const std::string& owner);

/// The most that a stream takes where nothing else is set, by the size of its picture.
double default_mbit_s(const Shape& shape);
/// 0 Mbit/s: default_mbit_s(). Throws UsageError (not an address, a password in it, a variable that is not
/// set), RunError (taken, not allowed, no encoder, built without it).
std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address, double mbit_s = 0,
                                         Chroma chroma = Chroma::halved);
/// The pipeline of "v4l2:/dev/videoN" or "gst:SINK", whose "in" gets the images. Throws UsageError for
/// anything else.
std::string output_pipeline(const std::string& target);
/// Throws UsageError or RunError.
std::unique_ptr<OutletEnd> make_gst_end(const std::string& target);

/// Whether this build can serve; "1.22.0", or empty.
std::string rtsp_server_version();

} // namespace specklescope
