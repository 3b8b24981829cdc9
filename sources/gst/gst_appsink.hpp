// Base of all GStreamer sources: a pipeline that ends in an appsink, its errors and frames.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/source.hpp"
#include "sources/gst/gst_checks.hpp"
#include "sources/gst/gst_slots.hpp"

#include <chrono>
#include <optional>

namespace specklescope {

/// A pipeline and its appsink, not yet running.
struct GstGraph {
    GstHandle<GstElement> pipeline;
    GstHandle<GstElement> sink;
};

/// All methods run on the acquisition thread. GStreamer's threads end in the appsink's queue, which contains
/// a few buffers and then blocks them.
class GstSource : public Source {
public:
    explicit GstSource(std::string name) : key_(std::move(name)) { set_name(key_); }
    ~GstSource() override { GstSource::close(); }

    SourceInfo open() override;
    Status next(FramePort& port) override;
    void close() override;

    /// Reason for missing frames. `domain` and `code` from GError; 0 without an error of GStreamer. `reason`
    /// is its message without the full stop.
    struct Failure {
        std::string reason;
        GQuark domain = 0;
        int code = 0;
        bool is(GQuark of, int number) const { return domain == of && code == number; }
    };

protected:
    /// Makes the pipeline. Throws UsageError or RunError.
    virtual GstGraph build() = 0;
    /// Called with the first buffer, to read back the device's settings.
    virtual void opened(SourceInfo&) {}
    /// Sets the frame's fields besides its pixels.
    virtual void describe(FrameInfo&) {}
    /// Called when the stream has ended and everything is delivered. Default: end; a camera, which should not
    /// end, throws and is reopened.
    virtual Status ended() { return Status::end; }
    /// The failure as a message for the user.
    virtual std::string explain(const Failure& failure) const { return name_ + ": " + failure.reason + "."; }
    /// Frames lost between the previous one and this one, if known. `number`: counted by a live element.
    virtual std::uint64_t lost_before(std::optional<std::uint64_t> number);
    /// True if a file's frame with this stream time, in ns, should be delivered; false: discarded.
    virtual bool wanted(std::int64_t /*time*/, bool /*damaged*/) { return true; }
    virtual std::chrono::milliseconds open_timeout() const { return std::chrono::seconds(10); }
    /// 16-bit pixels have the opposite byte order of their caps.
    virtual bool swap_bytes() const { return false; }

    const std::string& name() const { return name_; }
    /// Sets the name, with passwords masked.
    void set_name(const std::string& name);
    GstElement* pipeline() const { return graph_.pipeline.get(); }
    bool live() const { return live_; }
    /// Seeks to the first frame; false if the pipeline cannot.
    bool rewind();
    /// Continues a file at the key frame at or before this stream time; false if the pipeline cannot. Capture
    /// times continue if they would go back.
    bool seek_time(std::int64_t time_ns);
    /// Closes and reopens it, like seek_time() the beginning.
    void restart();
    /// Stream time of the first frame in ns, for opened().
    std::int64_t first_time() const;

private:
    GstHandle<GstSample> pull(std::chrono::milliseconds timeout);
    GstStateChangeReturn set_state(GstState state);
    void start();
    void wait_first();
    /// Stores the first error as a message for the user in error_.
    void poll_bus();
    /// The next damaged frame before the sample; at the end all of them.
    std::optional<DamagedFrame> damaged_before(GstSample* sample);
    /// Advances the stream position for the frame and counts it as lost.
    void lose(const DamagedFrame& frame, FramePort& port);
    /// False if there was no slot for it.
    bool deliver(GstSample* sample, FramePort& port);
    Frame fill_slot(GstBuffer* buffer, const PixelLayout& layout, FramePort& port);
    void lend_slots(const Shape& shape, FramePort& port);
    const PixelLayout& layout(GstCaps* caps);
    std::int64_t capture_time(GstSample* sample);

    std::string key_;  ///< names the device for the lifetime of this object
    std::string name_; ///< for the user, once it is open
    GstGraph graph_;
    std::shared_ptr<SlotLender> lender_; ///< of this opening; elements may hold it longer
    std::string maker_;                  ///< memory_maker() for caps_, once determined
    GstHandle<GstSample> first_;         ///< pulled, but not yet delivered
    std::shared_ptr<DamagedFrames> damaged_;
    bool told_damage_ = false;
    GstHandle<GstCaps> caps_;
    PixelLayout layout_;
    Assumptions assumed_; ///< from caps_
    bool live_ = false;
    std::string error_;   ///< seen on the bus; thrown after everything before it is delivered
    std::string missing_; ///< end of a sentence about a missing-plugin message
    SteadyClock::time_point last_activity_{};
    std::optional<std::uint64_t> last_number_;
    /// added to a file's presentation times, so that they continue over a loop
    std::int64_t loop_offset_ns_ = 0;
    std::int64_t last_end_ns_ = 0;
    bool jumped_ = false;        ///< the next frame is the first after seek_time()
    bool new_round_ = false;     ///< the next frame is the first after a rewind
    std::uint64_t in_round_ = 0; ///< frames delivered since the start of the file
};

/// See stream_time() in gst_checks.hpp.
std::optional<std::int64_t> stream_time(GstSample* sample);

/// Throws RunError naming the element and the package to install.
GstHandle<GstElement> make_element(const char* factory, const char* package);
/// End of every pipeline: videoconvert, which passes grey and RGB unchanged, and an appsink for those
/// formats.
struct GstTail {
    GstHandle<GstElement> convert;
    GstHandle<GstElement> sink;
};
GstTail make_tail();
/// Adds the elements (which stay valid inside the bin) and links them in order; throws RunError.
void add_and_link(GstElement* pipeline, std::initializer_list<GstElement*> elements);

} // namespace specklescope
