#include "sources/aravis/aravis_source.hpp"

#include "base/log.hpp"
#include "base/long_work.hpp"
#include "sources/aravis/camera.hpp"
#include "sources/aravis/camera_exposures.hpp"
#include "sources/aravis/camera_time.hpp"
#include "sources/aravis/features.hpp"
#include "sources/aravis/frame_numbers.hpp"
#include "sources/aravis/trigger_series.hpp"
#include "sources/exposures.hpp"
#include "sources/full_scale.hpp"
#include "sources/gst/gst_closer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPoll(100); ///< limit of waits in next()
constexpr milliseconds kClosePatience(500);
constexpr seconds kFirstFrame(10);
constexpr seconds kAnswer(2); ///< from the end of the exposure to the frame of a trigger
constexpr seconds kPtp(3);

std::int64_t ns(SteadyClock::duration time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

/// Why the size in this frame's header cannot be valid (it comes from the network); null if it is.
const char* flaw_of_size(ArvBuffer* buffer) {
    const CameraFormat& format = *find_format(arv_buffer_get_image_pixel_format(buffer));
    const int width = arv_buffer_get_image_width(buffer), height = arv_buffer_get_image_height(buffer);
    if (width <= 0 || height <= 0 || width > kMaxSide || height > kMaxSide)
        return "had an impossible size";
    if (format.bayer != Bayer::none && (width < 2 || height < 2))
        return "were too small for a mosaic";
    std::size_t held = 0, unused = 0;
    const auto* data = static_cast<const std::byte*>(arv_buffer_get_data(buffer, &held));
    const auto* picture = static_cast<const std::byte*>(arv_buffer_get_image_data(buffer, &unused));
    gint pad_x = 0, pad_y = 0;
    arv_buffer_get_image_padding(buffer, &pad_x, &pad_y);
    const std::uint64_t needed =
        pad_x < 0 ? 0 : stored_bytes(format.pixels, width, height, static_cast<std::size_t>(pad_x));
    const bool fits = data && picture && pad_x >= 0 && picture >= data &&
                      static_cast<std::uint64_t>(picture - data) <= held &&
                      needed <= held - static_cast<std::uint64_t>(picture - data);
    return fits ? "" : "were shorter than their stated size";
}

/// Why a received buffer is no frame; empty if it is one.
const char* flaw(ArvBuffer* buffer) {
    switch (arv_buffer_get_status(buffer)) {
    case ARV_BUFFER_STATUS_SUCCESS:
        break;
    case ARV_BUFFER_STATUS_SIZE_MISMATCH:
        return "had another size than the camera stated";
    default:
        return "came without some of their packets";
    }
    switch (arv_buffer_get_payload_type(buffer)) {
    case ARV_BUFFER_PAYLOAD_TYPE_IMAGE:
    case ARV_BUFFER_PAYLOAD_TYPE_EXTENDED_CHUNK_DATA:
    case ARV_BUFFER_PAYLOAD_TYPE_MULTIPART:
        return find_format(arv_buffer_get_image_pixel_format(buffer)) ? flaw_of_size(buffer)
                                                                      : "were of another pixel format";
    default:
        return "contained no image";
    }
}

/// Unpacks the pixels, before a mosaic is binned. 16-bit words are swapped if the camera sends big-endian.
void unpack_picture(ArvBuffer* buffer, StoredPixels pixels, bool swap, HostView to) {
    std::size_t size = 0;
    const auto* from = static_cast<const std::byte*>(arv_buffer_get_image_data(buffer, &size));
    gint pad_x = 0;
    gint pad_y = 0;
    arv_buffer_get_image_padding(buffer, &pad_x, &pad_y);
    if (swap && pixels.type == PixelType::u16 && pixels.layout == StoredPixels::Layout::plain)
        pixels.layout = StoredPixels::Layout::swapped;
    const auto padding = static_cast<std::size_t>(pad_x);
    unpack_frame(pixels, {from, stored_bytes(pixels, to.shape.width, to.shape.height, padding)}, padding, to);
}

class AravisSource final : public Source {
public:
    AravisSource(std::string camera, const Params& params)
        : wanted_(std::move(camera)), key_(wanted_.empty() ? "the camera" : wanted_) {
        params_ = asked_ = params;
        check_wiring(asked());
        cycle_ = CameraExposures(exposure_cycle("source aravis", asked().exposures), asked().settle);
        series_ = TriggerSeries(asked().trigger_rate, static_cast<std::uint64_t>(asked().triggers));
    }
    ~AravisSource() override { AravisSource::close(); }

    SourceInfo open() override {
        close();
        if (pipeline_closing(key_))
            throw RunError(key_ + " is still being closed. Try again in a few seconds.");
        try {
            camera_ = std::make_shared<AravisCamera>(wanted_);
            camera_->configure(asked());
            return begin();
        } catch (...) {
            close();
            throw;
        }
    }

    void close() override {
        first_.reset();
        chunks_.reset();
        (void)series_.abort_all(); // already counted if the camera failed
        if (camera_) // a dead camera takes seconds, and its control channel must be free before reopening
            retire_device([held = std::move(camera_)]() mutable { held.reset(); }, key_, kClosePatience);
        camera_.reset();
    }

    Status next(FramePort& port) override {
        if (!camera_)
            throw RunError(key_ + " is not open.");
        try {
            return next_of_camera(port);
        } catch (const RunError&) { // counted now, since it may never come back
            if (const std::uint64_t gone = series_.abort_all(); gone > 0)
                port.lost(gone, "were triggered when the camera was disconnected");
            throw;
        }
    }

    void recording(bool on) override {
        if (asked().trigger_start != AravisParams::Start::record)
            return;
        if (on)
            series_.start(SteadyClock::now());
        else
            series_.stop();
    }

    void set(std::string_view name, const ParamValue& value) override {
        Params edited = params_;
        edited.set(name, value);
        if (camera_ && edited.table().at(name).cost == Cost::rebuild)
            throw UsageError("source aravis: " + std::string(name) +
                             " cannot change while the camera runs. Open it again.");
        const auto& now = edited.as<AravisParams>();
        if (name == "exposure" && cycle_.any())
            throw UsageError(
                "source aravis: exposure cannot change while exposures are taken in turn. Open it "
                "again without exposures.");
        if (name == "fire") {
            if (!wants_software_trigger(now))
                throw UsageError(
                    "source aravis: fire sends a software trigger. Open it with trigger=software.");
            if (now.fire > params_.as<AravisParams>().fire)
                series_.request();
        }
        if (camera_ && name == "exposure")
            camera_->set_exposure(now.exposure_ms);
        if (camera_ && name == "gain")
            camera_->set_gain(now.gain);
        asked_.set(name, value);
        params_ = std::move(edited);
        if (camera_)
            read_back();
    }

private:
    const AravisParams& asked() const { return asked_.as<AravisParams>(); }

    Status next_of_camera(FramePort& port) {
        if (camera_->lost())
            throw RunError("The camera " + camera_->name() + " does not answer. Check its cable and power.");
        trigger();
        ArvHandle<ArvBuffer> buffer = std::move(first_);
        if (!buffer)
            buffer = camera_->pop(std::chrono::duration_cast<microseconds>(
                series_.wait(SteadyClock::now(), std::chrono::duration_cast<SteadyClock::duration>(kPoll))));
        if (buffer)
            return take(std::move(buffer), port);
        const auto patience =
            kAnswer +
            std::chrono::duration_cast<SteadyClock::duration>(
                std::chrono::duration<double, std::milli>(std::max(exposure_ms(), cycle_.longest_ms())));
        if (const std::uint64_t unanswered = series_.expire(SteadyClock::now(), patience); unanswered > 0)
            port.lost(unanswered, "were triggered, and the camera did not answer");
        return series_.finished() ? Status::end : Status::idle;
    }

    SourceInfo begin() {
        const bool triggered = is_triggered(camera_->named());
        const std::string state = ptp_state(
            camera_->named(), asked().ptp == AravisParams::Switch::on ? kPtp : milliseconds::zero());
        if (!state.empty())
            run_log().info("PTP of {}: {}.", camera_->name(), state);
        ticks_ = camera_->tick_rate();
        numbers_.restart(!arv_camera_is_gv_device(camera_->get()));
        chunks_.emplace(camera_->get());
        time_.reopened();
        SourceInfo info;
        info.name = camera_->name();
        info.live = true;
        info.patient = triggered;
        info.clock = ticks_ <= 0 ? "" : state.empty() ? "camera" : "camera, PTP " + state;
        info.rate = triggered ? asked().trigger_rate : camera_->rate();
        pace_.restart(info.rate);
        gint width = 0;
        gint height = 0;
        arv_camera_get_region(camera_->get(), nullptr, nullptr, &width, &height, nullptr);
        const CameraFormat* format = find_format(arv_camera_get_pixel_format(camera_->get(), nullptr));
        info.shape = format ? format->shape(width, height) : Shape{width, height, 1, PixelType::u8};
        info.full_scale = format ? format->pixels.full_scale : type_full_scale(info.shape.type);
        swap_ = camera_->big_endian(asked().byte_order);
        stated_ = camera_->stated_full_scale();
        full_scales_.clear();
        if (cycle_.any())
            cycle_.begin(*camera_, triggered);
        read_back();
        camera_->start();
        if (!triggered)
            wait_first();
        if (asked().trigger_start == AravisParams::Start::open)
            series_.start(SteadyClock::now());
        return info;
    }

    /// A free-running camera without frames is reported when it is opened.
    void wait_first() {
        const auto deadline = SteadyClock::now() + kFirstFrame;
        while (!first_) {
            work_goes_on("waiting for the first frame of " + camera_->name());
            first_ = camera_->pop(kPoll);
            if (!first_ && (camera_->lost() || SteadyClock::now() > deadline))
                throw RunError("The camera " + camera_->name() + " delivered no frame within " +
                               std::to_string(kFirstFrame.count()) +
                               " s. Check its cable, power and firewall.");
        }
    }

    void trigger() {
        if (!series_.due(SteadyClock::now()))
            return;
        series_.sent(SteadyClock::now()); // also after an error: the camera may have received it
        camera_->fire();
    }

    Status take(ArvHandle<ArvBuffer> buffer, FramePort& port) {
        const std::int64_t here = ns(SteadyClock::now().time_since_epoch());
        const std::optional<std::int64_t> stamp = stamp_of(buffer.get());
        const std::uint64_t missing =
            numbers_.missing_before(arv_buffer_get_frame_id(buffer.get()), pace_.most_between(stamp, here));
        pace_.made(missing + 1);
        const std::uint64_t counted = series_.answered(missing + 1);
        if (missing > counted)
            tell_missing(missing - counted, port);
        const bool too_late = counted > missing;
        const std::string why = flaw(buffer.get());
        bool settles = false;
        if (too_late)
            warn_once(said_late_,
                      "A late frame, whose trigger was already counted as unanswered, is discarded.");
        else if (!why.empty())
            port.lost(1, why);
        else
            settles = !deliver(buffer.get(), {.stamp = stamp, .arrival = here}, port);
        camera_->give_back(std::move(buffer));
        if (cycle_.any())
            cycle_.go_on(*camera_);
        return why.empty() && !too_late && !settles ? Status::frame : Status::idle;
    }

    void tell_missing(std::uint64_t missing, FramePort& port) {
        const std::uint64_t here = camera_->take_underruns(missing);
        if (here > 0)
            port.lost(here, "found no free buffer here");
        if (missing > here)
            port.lost(missing - here, "are missing in the camera's own count");
    }

    void warn_once(bool& said, const char* what) const {
        if (!std::exchange(said, true))
            run_log().warn("{}: {} Reported once.", camera_->name(), what);
    }

    /// False for a frame of an unknown exposure, which is discarded.
    bool deliver(ArvBuffer* buffer, StampedFrame stamped, FramePort& port) {
        const CameraTime::Moment captured = time_.at(stamped.stamp, stamped.arrival);
        const CameraFormat& format = *find_format(arv_buffer_get_image_pixel_format(buffer));
        const int width = arv_buffer_get_image_width(buffer), height = arv_buffer_get_image_height(buffer);
        const Shape shape = format.shape(width, height);
        if (captured.set) {
            warn_once(said_set_,
                      "Its clock was set while it ran; capture times continue from the last one, and "
                      "stages with history restart.");
            port.discontinuity();
        }
        std::optional<double> exposure = chunks_->exposure_ms(buffer);
        if (cycle_.any()) {
            stamped.clock_set = captured.set;
            exposure = cycle_.of_frame(exposure, stamped);
            if (!exposure) {
                port.settling(1);
                return false;
            }
        }
        Frame frame = port.acquire(shape);
        if (!frame)
            return true;
        FrameInfo& info = frame.info();
        info.full_scale = make_frame(buffer, format, format.pixels.shape(width, height), frame.host());
        info.assumed.full_scale = full_scales_.assumed();
        info.capture_ns = captured.ns;
        if (const double ms = exposure.value_or(exposure_ms()); ms > 0)
            info.exposure_ms = ms;
        if (const double gain = params_.as<AravisParams>().gain; gain >= 0)
            info.gain = gain;
        port.copied("Aravis brought its own memory");
        port.submit(std::move(frame));
        return true;
    }

    /// Returns its full scale, which the 16-bit type does not define.
    double make_frame(ArvBuffer* buffer, const CameraFormat& format, const Shape& stored, HostView to) {
        HostView picture = to;
        if (format.bayer != Bayer::none) {
            mosaic_.resize(stored.bytes());
            picture = HostView(mosaic_.data(), stored);
        }
        unpack_picture(buffer, format.pixels, swap_, picture);
        double full_scale = format.pixels.full_scale;
        if (full_scale == type_full_scale(PixelType::u16)) {
            const double found = full_scales_.find(
                camera_->name(), picture, stated_.value > 0 ? stated_ : StatedFullScale{.value = full_scale});
            full_scale = found > 0 ? found : full_scale;
        }
        if (format.bayer != Bayer::none)
            bin_bayer(format.bayer, picture, to, full_scale);
        return full_scale;
    }

    /// Time stamp on the camera's clock, ns; nothing if the camera has no clock or the frame no stamp.
    std::optional<std::int64_t> stamp_of(ArvBuffer* buffer) const {
        constexpr std::int64_t kLargest = std::int64_t{1} << 62; // larger stamps are damaged
        if (ticks_ <= 0)
            return std::nullopt;
        auto time = static_cast<std::int64_t>(arv_buffer_get_timestamp(buffer));
        if (const auto ticks = time == 0 ? chunks_->time(buffer) : std::nullopt)
            time = static_cast<std::int64_t>(static_cast<double>(*ticks) * 1e9 / ticks_);
        return time > 0 && time < kLargest ? std::optional(time) : std::nullopt;
    }

    double exposure_ms() const { return params_.as<AravisParams>().exposure_ms; }

    /// The camera rounds its settings: stores the actual values in the options and the frames.
    void read_back() {
        auto& params = params_.as<AravisParams>();
        if (const double exposure = camera_->exposure_ms(); exposure > 0)
            params.exposure_ms = exposure;
        if (const double gain = camera_->gain(); gain >= 0)
            params.gain = gain;
    }

    std::string wanted_;
    std::string key_;                      ///< names the device for the lifetime of this object
    Params asked_;                         ///< as requested, for a camera that is reopened
    std::shared_ptr<AravisCamera> camera_; ///< while open
    std::optional<Chunks> chunks_;         ///< of camera_
    ArvHandle<ArvBuffer> first_;           ///< taken by open(), delivered by the first next()
    FrameNumbers numbers_;
    FramePace pace_;
    CameraTime time_;
    TriggerSeries series_;
    CameraExposures cycle_;
    double ticks_ = 0;
    bool swap_ = false;
    StatedFullScale stated_; ///< by the camera, for 16-bit pixels
    FullScaleFinder full_scales_;
    std::vector<std::byte> mosaic_;
    bool said_set_ = false, said_late_ = false;
};

std::unique_ptr<Source> make_aravis(const SourceText& text, const Params& params) {
    return std::make_unique<AravisSource>(text.target, params);
}

} // namespace

SourceType aravis_source_type() {
    return {.kind = "aravis",
            .syntax = "aravis[:NAME]",
            .doc = "GigE Vision or USB3 Vision camera, by name, address or serial number",
            .table = &aravis_table(),
            .make = make_aravis,
            .discover = discover_cameras};
}

} // namespace specklescope
