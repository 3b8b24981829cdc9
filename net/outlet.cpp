#include "net/outlet.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "net/address.hpp"
#include "pipeline/threaded_sink.hpp"
#include "recording/record_file.hpp"
#include "recording/screen/screen.hpp"
#include "recording/video/planes.hpp"

#include <gst/app/gstappsrc.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace specklescope {

namespace {
using namespace std::chrono_literals;
constexpr auto kFastest = 16ms;  ///< between two images; faster changes are not visible
constexpr auto kAgainAfter = 1s; ///< without a new image
} // namespace

/// The queue holds the newest frame only; it stays there while there is no viewer.
class Outlet::Impl final : public ThreadedSink<RecordedFrame> {
public:
    Impl(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks)
        : ThreadedSink({.capacity = 1, .pause = kFastest}), end_(std::move(end)), look_(std::move(look)),
          painter_(marks) {
        end_->tell([this] {
            const std::lock_guard lock(mutex_);
            work_.notify_all();
        });
        start({});
    }
    ~Impl() override {
        close();
        end_.reset(); // and with it the callers of the function above
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    std::string name() const { return end_->name(); }
    std::vector<OutletClient> clients() const { return end_->clients(); }
    void open(const StreamInfo& stream) override {
        const std::lock_guard lock(mutex_);
        stream_ = stream;
        live_ = stream.source.live;
        held_since_ = {};
    }
    /// A client that connects after the end gets the last frame. A video may be paused at any of its frames;
    /// a camera ends unexpectedly only, and one frame a second is enough for it without a viewer.
    bool wants_host_image() const override {
        if (end_->watched())
            return true;
        const std::lock_guard lock(mutex_);
        return !live_ || SteadyClock::now() - held_since_ >= kAgainAfter;
    }
    /// The end of one pipeline: its slots are released.
    void end_feed() {
        std::unique_lock lock(mutex_);
        status_.left_out += queue_.size(); // not shown
        queue_.clear();
        room_.wait(lock, [this] { return busy_ == 0; });
    }
    void mark(const EventMark& event) override {
        constexpr std::size_t kMost = 64;
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
        if (events_.size() > kMost)
            events_.erase(events_.begin());
    }
    void push(const Result& result, bool) override {
        RecordedFrame frame = recorded_frame(result, RecordWhat::screen);
        frame.look = look_->get();
        if (frame.look->layout != ScreenLayout::processed)
            frame.raw = result.raw;
        std::deque<RecordedFrame> overtaken; // its slots are released outside the lock
        const std::lock_guard lock(mutex_);
        if (stopped())
            return;
        if (!frame.pixels) { // it stayed on the device: there was no viewer
            ++status_.left_out;
            return;
        }
        held_since_ = SteadyClock::now();
        status_.left_out += queue_.size();
        overtaken.swap(queue_);
        queue_.push_back(std::move(frame));
        work_.notify_all();
    }

private:
    bool ready() const override { return !queue_.empty() && status_.error.empty() && end_->watched(); }
    Time wakes_at() const override { return shown_ + kAgainAfter; }
    std::deque<RecordedFrame> take() override {
        std::deque<RecordedFrame> items;
        if (ready() || closing_)
            items.swap(queue_);
        if (items.empty() || closing_)
            return items;
        items.front().events = std::exchange(events_, {});
        return items;
    }

    void work(std::deque<RecordedFrame>& items) override {
        std::optional<StreamInfo> stream;
        {
            const std::lock_guard lock(mutex_);
            shown_ = SteadyClock::now();
            if (stopped() || !end_->watched())
                return;
            stream = std::exchange(stream_, std::nullopt);
        }
        if (stream)
            painter_.begin(*stream);
        if (items.empty())
            return end_->show_again();
        bool taken = false;
        const auto count = [&] {
            const std::lock_guard lock(mutex_);
            ++(taken ? status_.written : status_.dropped);
        };
        try {
            taken = end_->show(painter_.of(items.front()));
        } catch (...) {
            count();
            throw;
        }
        count();
    }

    std::unique_ptr<OutletEnd> end_;
    const std::shared_ptr<const LiveLook> look_;
    ScreenPainter painter_; ///< used by the thread
    // Guarded by mutex_.
    std::optional<StreamInfo> stream_; ///< not yet passed to the painter
    std::vector<EventMark> events_;
    bool live_ = false;
    Time held_since_{}; ///< time of the newest frame
    Time shown_ = SteadyClock::now() - kAgainAfter;
};

Outlet::Outlet(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks,
               std::string opened_by)
    : option(std::move(opened_by)), impl_(std::make_unique<Impl>(std::move(end), std::move(look), marks)) {}
Outlet::~Outlet() = default;
std::string Outlet::name() const { return impl_->name(); }
SinkStatus Outlet::status() const { return impl_->status(); }
std::vector<OutletClient> Outlet::clients() const { return impl_->clients(); }

/// Passes on the results of one pipeline.
class OutletFeed final : public Sink {
public:
    explicit OutletFeed(std::shared_ptr<Outlet> to) : to_(std::move(to)) {}
    void open(const StreamInfo& stream) override { to_->impl_->open(stream); }
    void push(const Result& result, bool) override { to_->impl_->push(result, false); }
    void mark(const EventMark& event) override { to_->impl_->mark(event); }
    void close() noexcept override {
        if (!closed_.exchange(true))
            to_->impl_->end_feed();
    }
    bool wants_host_image() const override { return to_->impl_->wants_host_image(); }
    bool follows_display() const override { return true; }
    SinkStatus status() const override {
        SinkStatus status;
        status.closed = closed_;
        return status;
    }

private:
    const std::shared_ptr<Outlet> to_;
    std::atomic<bool> closed_{false};
};

std::shared_ptr<Sink> Outlet::feed(std::shared_ptr<Outlet> outlet) {
    return std::make_shared<OutletFeed>(std::move(outlet));
}

void check_outlets(const std::string& serve, const std::string& output, const std::string& owner) {
    const SourceArgument address(serve);
    if (address.holds_secret())
        throw UsageError(owner + ": serve = '" + address.shown() +
                         "' contains a password, which the process list shows. Put it into an environment "
                         "variable and name that: rtsp://USER:${env:NAME}@….");
    try {
        if (!serve.empty() && address.references().empty())
            (void)parse_serve_address(address);
        if (!output.empty())
            (void)output_pipeline(output);
    } catch (const UsageError& error) {
        throw UsageError(owner + ": " + error.what());
    }
}

// Images into any sink of GStreamer, of which a virtual camera (v4l2loopback) is one.

std::string output_pipeline(const std::string& target) {
    constexpr std::string_view kCamera = "v4l2:", kAny = "gst:";
    std::string sink;
    if (target.starts_with(kCamera) && target.substr(kCamera.size()).starts_with('/')) {
        std::string device;
        for (const char c : target.substr(kCamera.size()))
            device += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        sink = "video/x-raw,format=YUY2 ! v4l2sink sync=false device=\"" + device + "\"";
    } else if (target.starts_with(kAny) && target.size() > kAny.size()) {
        sink = target.substr(kAny.size());
    } else {
        throw UsageError(
            "output = '" + one_line(target) +
            "' is not possible; allowed: v4l2:/dev/videoN, a camera of v4l2loopback, or gst:SINK, a "
            "sink as gst-launch names it.");
    }
    return "appsrc name=in is-live=true do-timestamp=true format=time max-buffers=2 max-bytes=0 max-time=0 ! "
           "videoconvert ! " +
           sink;
}

namespace {

constexpr std::uint64_t kMostWaiting = 2; ///< images in front of the sink

class GstEnd final : public OutletEnd {
public:
    explicit GstEnd(const std::string& target) : name_(target) {
        const std::string text = output_pipeline(target);
        init_gstreamer();
        GError* raw = nullptr;
        pipeline_.reset(gst_parse_launch(text.c_str(), &raw));
        if (const GstHandle<GError> error(raw); error)
            throw RunError("Images cannot go to " + one_line(name_) + ": " + error->message + ".");
        source_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "in"));
        if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
            const std::string why = failure();
            gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
            throw RunError(
                "Images cannot go to " + one_line(name_) + ": " + one_line(why) +
                " Name another output; v4l2loopback makes virtual cameras (modprobe v4l2loopback).");
        }
        run_log().info("Images go to {}.", one_line(name_));
    }
    GstEnd(const GstEnd&) = delete;
    GstEnd& operator=(const GstEnd&) = delete;
    ~GstEnd() override {
        constexpr GstClockTime kLongest = GST_SECOND;
        gst_app_src_end_of_stream(GST_APP_SRC(source_.get())); // a file gets its end
        const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
        const GstHandle<GstMessage> ended(gst_bus_timed_pop_filtered(
            bus.get(), kLongest, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
        gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    }

    std::string name() const override { return name_; }
    bool watched() const override { return true; } // unknown
    bool show(const RecordedFrame& picture) override {
        if (const std::string why = failure(); !why.empty())
            throw RunError("Images no longer go to " + one_line(name_) + ": " + one_line(why));
        auto* source = GST_APP_SRC(source_.get());
        if (gst_app_src_get_current_level_buffers(source) >= kMostWaiting)
            return false;
        const Shape shape = picture.pixels.shape();
        if (shape != shape_)
            gst_app_src_set_caps(source, GstHandle<GstCaps>(planes_caps(shape)).get());
        shape_ = shape;
        return gst_app_src_push_buffer(source, make_planes(picture.pixels.host())) == GST_FLOW_OK;
    }
    void show_again() override {} // the sink keeps it

private:
    /// The first error on the bus; empty: there is none.
    std::string failure() const {
        const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
        const GstHandle<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
        if (!message)
            return "";
        GError* raw = nullptr;
        gst_message_parse_error(message.get(), &raw, nullptr);
        return GstHandle<GError>(raw)->message;
    }

    const std::string name_;
    GstHandle<GstElement> pipeline_, source_;
    Shape shape_;
};

} // namespace

std::unique_ptr<OutletEnd> make_gst_end(const std::string& target) {
    return std::make_unique<GstEnd>(target);
}

} // namespace specklescope
