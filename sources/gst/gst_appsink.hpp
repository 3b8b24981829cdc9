// What every source over GStreamer shares: a pipeline that ends in an appsink, its errors, its frames.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/source.hpp"
#include "sources/gst/gst_checks.hpp"
#include "sources/gst/gst_slots.hpp"

#include <chrono>
#include <optional>

namespace specklescope {

/// A pipeline and its appsink; nothing is running yet.
struct GstGraph {
    GstHandle<GstElement> pipeline;
    GstHandle<GstElement> sink;
};

/// All methods run on one thread, the acquisition thread, as the contract says. GStreamer's own threads end
/// in the appsink's queue, which holds a few buffers and then holds them up.
class GstSource : public Source {
public:
    explicit GstSource(std::string name) : key_(std::move(name)) { set_name(key_); }
    ~GstSource() override { GstSource::close(); }

    SourceInfo open() override;
    Status next(FramePort& port) override;
    void close() override;

    /// Why there is no picture. `domain` and `code` as in GError; 0 where GStreamer gave no error. `reason`
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
    /// Called when the first buffer is here: the place to read back what the device is set to.
    virtual void opened(SourceInfo&) {}
    /// What the frame's fields are beyond its pixels.
    virtual void describe(FrameInfo&) {}
    /// The stream is at its end and all is delivered. Default: end; a camera, which should have none, throws
    /// and is opened again.
    virtual Status ended() { return Status::end; }
    /// The user's sentence for it.
    virtual std::string explain(const Failure& failure) const { return name_ + ": " + failure.reason + "."; }
    /// Frames lost between the one before and this one, as far as the source can tell. `number`: counted by a
    /// live element.
    virtual std::uint64_t lost_before(std::optional<std::uint64_t> number);
    /// A file's frame of this time in the stream, in ns, is to be delivered; false: it is passed over.
    virtual bool wanted(std::int64_t /*time*/, bool /*damaged*/) { return true; }
    virtual std::chrono::milliseconds open_timeout() const { return std::chrono::seconds(10); }
    /// 16-bit pixels come in the other byte order than their caps say.
    virtual bool swap_bytes() const { return false; }

    const std::string& name() const { return name_; }
    /// Passwords in it are masked.
    void set_name(const std::string& name);
    GstElement* pipeline() const { return graph_.pipeline.get(); }
    bool live() const { return live_; }
    /// Goes back to the first frame; false if the pipeline cannot.
    bool rewind();
    /// A file goes on at the key frame at or before this time in the stream; false if the pipeline cannot.
    /// The clock of capture times goes on, where it would go back.
    bool go_to(std::int64_t time_ns);
    /// Closes and opens it; as go_to() the beginning.
    void restart();
    /// Of the first frame, in opened(): its time in the stream, ns.
    std::int64_t first_time() const;

private:
    GstHandle<GstSample> pull(std::chrono::milliseconds timeout);
    GstStateChangeReturn set_state(GstState state);
    void start();
    void wait_first();
    /// Keeps the first error as the user's sentence in error_.
    void poll_bus();
    /// Damaged frames before the sample; at the end all of them.
    std::optional<DamagedFrame> damaged_before(GstSample* sample);
    /// Takes the frame's place in the stream and counts it as lost.
    void lose(const DamagedFrame& frame, FramePort& port);
    /// False if there was no slot for it.
    bool deliver(GstSample* sample, FramePort& port);
    Frame fill_slot(GstBuffer* buffer, const PixelLayout& layout, FramePort& port);
    void lend_slots(const Shape& shape, FramePort& port);
    const PixelLayout& layout(GstCaps* caps);
    std::int64_t capture_time(GstSample* sample);

    std::string key_;  ///< names the device for as long as this object lives
    std::string name_; ///< what the user would call it once it is open
    GstGraph graph_;
    std::shared_ptr<SlotLender> lender_; ///< of this opening; elements may hold it for longer
    std::string maker_;                  ///< memory_maker() for caps_, once it was asked for
    GstHandle<GstSample> first_;         ///< pulled, but not yet delivered
    std::shared_ptr<DamagedFrames> damaged_;
    bool told_damage_ = false;
    GstHandle<GstCaps> caps_;
    PixelLayout layout_;
    Assumptions assumed_; ///< by caps_
    bool live_ = false;
    std::string error_;   ///< seen on the bus; thrown once everything before it is delivered
    std::string missing_; ///< the end of a sentence about what a missing-plugin message named
    SteadyClock::time_point last_activity_{};
    std::optional<std::uint64_t> last_number_;
    std::int64_t loop_offset_ns_ = 0; ///< added to a file's presentation times so that they go on over a loop
    std::int64_t last_end_ns_ = 0;
    bool jumped_ = false;        ///< the next frame is the first after go_to()
    bool new_round_ = false;     ///< the next frame is the first after a rewind
    std::uint64_t in_round_ = 0; ///< frames delivered since the beginning of the file
};

/// As stream_time() in gst_checks.hpp.
std::optional<std::int64_t> stream_time(GstSample* sample);

/// Throws RunError that names the element and the package to install.
GstHandle<GstElement> make_element(const char* factory, const char* package);
/// The end of every pipeline: videoconvert, which lets grey and RGB pass unchanged, and an appsink for those.
struct GstTail {
    GstHandle<GstElement> convert;
    GstHandle<GstElement> sink;
};
GstTail make_tail();
/// Adds the elements (which stay valid inside the bin) and links them in order; throws RunError.
void add_and_link(GstElement* pipeline, std::initializer_list<GstElement*> elements);

} // namespace specklescope
