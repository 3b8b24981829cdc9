// Matroska and MP4: a GStreamer pipeline that the recorder's thread fills, and the state shared with the
// pipeline's threads.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"
#include "files/gst_handles.hpp"
#include "pipeline/frame.hpp"
#include "recording/disk_sync.hpp"
#include "recording/record_file.hpp"
#include "recording/video/planes.hpp"
#include "recording/video/video.hpp"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <ratio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace specklescope {

/// Shared with GStreamer's threads. Outlives the pipeline and all its buffers.
struct FilmProgress {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SteadyClock::time_point> inside; ///< start of each frame in the encoder
    SteadyClock::duration took{};               ///< time in the encoder of the last frame
    std::uint64_t muxed = 0;                    ///< encoded frames that reached the file's writer
    int threads_missing = 0;                    ///< created by GStreamer and not started yet
    bool stands_still = false;                  ///< the encoder has returned no frame for a long time
    bool abandoned = false;                     ///< no more data is written
    bool ended = false;
    bool failed = false;
    std::string error;
    std::string text;    ///< the description, once it is complete
    std::string escaped; ///< the same text as the muxer writes it

    // Called by GStreamer; `progress` points to a FilmProgress, whose mutex they lock.
    /// Stores the first error, and the end of the stream.
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer progress);
    /// Probe at the input of the MP4 muxer.
    static GstPadProbeReturn on_caps(GstPad*, GstPadProbeInfo* info, gpointer);
    /// Probe at the input of the muxer: counts encoded frames.
    static GstPadProbeReturn on_muxed(GstPad*, GstPadProbeInfo*, gpointer progress);
    /// Probe at the output to the file.
    static GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer progress);
};

/// The MP4 muxer writes full range as limited range. Without the field, readers use the encoder's own value,
/// which is correct.
GstPadProbeReturn FilmProgress::on_caps(GstPad*, GstPadProbeInfo* info, gpointer) {
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
        return GST_PAD_PROBE_OK;
    GstCaps* given = nullptr;
    gst_event_parse_caps(event, &given);
    const GstHandle<GstCaps> caps(gst_caps_copy(given));
    gst_structure_remove_field(gst_caps_get_structure(caps.get(), 0), "colorimetry");
    GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_caps(caps.get());
    gst_event_unref(event);
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn FilmProgress::on_muxed(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const std::lock_guard lock(progress->mutex);
    ++progress->muxed;
    if (!progress->inside.empty()) { // one frame in, one frame out
        progress->took = SteadyClock::now() - progress->inside.front();
        progress->inside.pop_front();
    }
    progress->changed.notify_all();
    return GST_PAD_PROBE_OK;
}

/// The muxer writes a text tag with a backslash before every second character. Replaces the tag by the text,
/// which is shorter.
GstPadProbeReturn FilmProgress::on_bytes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const std::lock_guard lock(progress->mutex);
    if (progress->abandoned)
        return GST_PAD_PROBE_DROP;
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    const std::string& escaped = progress->escaped;
    if (escaped.empty() || gst_buffer_get_size(buffer) < escaped.size())
        return GST_PAD_PROBE_OK;
    buffer = gst_buffer_make_writable(buffer);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
    GstMapInfo map;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READWRITE))
        return GST_PAD_PROBE_OK;
    const std::string_view bytes(reinterpret_cast<const char*>(map.data), map.size);
    const std::size_t at = bytes.find(escaped);
    if (at != std::string_view::npos) { // not found in another version of GStreamer: the tag stays unchanged
        std::string text = progress->text;
        text.resize(escaped.size(), ' ');
        std::memcpy(map.data + at, text.data(), text.size());
    }
    gst_buffer_unmap(buffer, &map);
    return GST_PAD_PROBE_OK;
}

namespace {

/// Text without full stops at its end.
std::string without_stop(std::string text) {
    while (text.ends_with('.'))
        text.pop_back();
    return text;
}

/// Change of the number of threads that GStreamer has created but not started. A started thread writes the
/// file: SIGXFSZ would end the process.
int threads_more(GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_STREAM_STATUS)
        return 0;
    GstStreamStatusType type = GST_STREAM_STATUS_TYPE_LEAVE;
    GstElement* owner = nullptr;
    gst_message_parse_stream_status(message, &type, &owner);
    if (type == GST_STREAM_STATUS_TYPE_ENTER)
        HeldSignal::hold_here(SIGXFSZ);
    return type == GST_STREAM_STATUS_TYPE_CREATE ? 1 : type == GST_STREAM_STATUS_TYPE_ENTER ? -1 : 0;
}

std::string reason_of(const GError& error, std::string_view details) {
    const auto text = [](std::errc code) { return std::make_error_code(code).message(); };
    std::string reason = without_stop(error.message);
    if (g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
        reason = text(std::errc::no_space_on_device);
    // "…: Error while writing to file descriptor 5: File too large": only the system's part is the reason.
    if (const std::size_t last = details.rfind(": ");
        g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE) &&
        last != std::string_view::npos && last + 2 < details.size())
        reason = without_stop(std::string(details.substr(last + 2)));
    for (const int full : {ENOSPC, EFBIG, EDQUOT})
        if (reason == std::generic_category().message(full))
            return reason + advice_for_full(full);
    return reason;
}

} // namespace

GstBusSyncReply FilmProgress::on_message(GstBus*, GstMessage* message, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const int more = threads_more(message);
    const std::lock_guard lock(progress->mutex);
    progress->threads_missing += more;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
        progress->ended = true;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && !progress->failed) {
        GError* raw = nullptr;
        gchar* details = nullptr;
        gst_message_parse_error(message, &raw, &details);
        const GstHandle<GError> error(raw);
        const std::unique_ptr<gchar, void (*)(gpointer)> text(details, g_free);
        progress->error = reason_of(*error, text ? text.get() : "");
        progress->failed = true;
    }
    progress->changed.notify_all();
    gst_message_unref(message);
    return GST_BUS_DROP;
}

namespace {
using namespace std::chrono_literals;

/// Frames inside the encoder before write() waits, so that the next frame is coloured at the same time. One
/// if encoding is slow: a kill loses the frames inside the encoder.
constexpr std::size_t kInFlight = 2;
constexpr auto kSlowWrite = 100ms;
constexpr auto kPatience = 60s;
constexpr auto kStart = 5s; ///< for GStreamer to start its threads

/// Only the quantizer decides. With pass=qual the encoder's default bitrate is a limit, which gave 14…25 dB
/// for a coloured map of 640×480. Measured on maps of speckle and of noise in viridis, inferno and jet: at
/// least 42.3 dB with this quantizer, 40.9 dB with 10, 38 dB with 12, at 14…30 bit per pixel; smooth images
/// have 48 dB at 0.3 bit. A slower preset saves a tenth of the bytes for four times the work.
constexpr const char* kH264 =
    "x264enc speed-preset=ultrafast tune=zerolatency pass=quant quantizer=8 qp-min=0 key-int-max=60";
/// Profile High, which every player decodes. Two seconds of coloured noise at 640×480, the worst case, have
/// 5 MB; a coloured map of speckle has 36 dB in luma.
constexpr const char* kH264High =
    "x264enc speed-preset=ultrafast tune=zerolatency pass=quant quantizer=23 qp-min=0 key-int-max=60 "
    "dct8x8=true cabac=true ! video/x-h264,profile=high";
constexpr const char* kFfv1 = "avenc_ffv1 threads=auto slices=4";
/// Fragments of one second: an interrupted file can be opened, and its length is not limited.
constexpr const char* kMp4 = " ! mp4mux name=mux fragment-mode=dash-or-mss";

/// MP4 ticks per second. The duration of a frame in ticks has 31 bits.
guint mp4_ticks(std::int64_t period_ns) {
    return static_cast<guint>(std::clamp(1e15 / static_cast<double>(period_ns), 1.0, 90000.0));
}

/// Duration of a fragment in ms. It has at least two frames: GStreamer's reader loses one if the first
/// fragment has only one.
guint fragment_ms(std::int64_t distance_ns) {
    constexpr double kLeast = 1000, kMost = 4e9;
    return static_cast<guint>(std::clamp(2.5e-6 * static_cast<double>(distance_ns), kLeast, kMost));
}

class VideoWriter final : public FileWriter {
public:
    VideoWriter(File file, std::string path, const RecordedFrame& first, RecordOptions options,
                const StreamInfo& stream);
    ~VideoWriter() override { stop(); }
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    void write(const RecordedFrame& frame) override;
    void update(const FileTotals& totals) override;
    void finish(const FileTotals& totals) override;
    std::uint64_t written() const override { return written_; }
    std::uint64_t bytes() const override { return file_.fd() >= 0 ? file_.bytes() : bytes_; }
    bool present() const override { return file_.has_name(); }
    const std::string& path() const override { return path_; }

private:
    enum class Codec : std::uint8_t { ffv1, h264 };

    void build();
    void connect();
    void check_distance(std::int64_t time);
    const char* raw_format() const;
    GstBuffer* make_buffer(const RecordedFrame& frame);
    GstBuffer* make_colors(const RecordedFrame& frame);
    Chroma chroma() const { return mp4_ ? Chroma::halved : Chroma::full; }
    void check();
    CompleteFrames whole() const;
    void cut();
    bool is_stuck() const;
    void start();
    void stop() noexcept;

    File file_; ///< written by descriptor only: the name may refer to another file later
    std::string path_;
    RecordOptions options_;
    StreamInfo stream_;
    bool mp4_;
    bool told_ = false; ///< check() has thrown the error
    Codec codec_;
    Shape video_; ///< input of the encoder
    VideoClock clock_;
    guint ticks_;           ///< mp4_ticks()
    std::int64_t last_ = 0; ///< time of the last frame
    VideoDescription description_;
    std::vector<std::byte> colors_;
    std::shared_ptr<FilmProgress> progress_ = std::make_shared<FilmProgress>();
    GstHandle<GstElement> pipeline_;
    GstHandle<GstElement> source_;
    std::size_t held_back_ = 0; ///< frames that the encoder holds until the next arrives
    std::uint64_t written_ = 0;
    std::uint64_t bytes_ = 0; ///< size of the file, once it is closed
    DiskSync sync_;           ///< declared last: it stops before the file is closed
};

/// Frames/s if frames have no times.
constexpr double kAssumedRate = 25;

VideoWriter::VideoWriter(File file, std::string path, const RecordedFrame& first, RecordOptions options,
                         const StreamInfo& stream)
    : file_(std::move(file)), path_(std::move(path)), options_(std::move(options)), stream_(stream),
      mp4_(record_format(options_.path).ending == ".mp4"),
      codec_(shows_colors(options_.what) && gst_element_exists("x264enc") ? Codec::h264 : Codec::ffv1),
      video_(first.pixels.shape()),
      clock_(first.info.has_time() || options_.rate > 0 ? options_.rate : kAssumedRate, stream.source.rate),
      ticks_(mp4_ticks(clock_.period_ns())), description_(first, options_, stream), sync_(file_.fd()) {
    if (shows_colors(options_.what))
        video_ = {video_.width, video_.height, 3, PixelType::u8};
    if (!first.info.has_time() && options_.rate <= 0)
        run_log().warn("The frames of {} have no times. {} assumes {} frames/s. Give the rate with --rate.",
                       stream.source.name, path_, kAssumedRate);
    build();
    connect();
    start();
}

void VideoWriter::start() {
    std::future<GstStateChangeReturn> started = set_state_aside(pipeline_.get(), GST_STATE_PLAYING);
    const bool begun = started.wait_for(kStart) == std::future_status::ready;
    if (begun && started.get() == GST_STATE_CHANGE_FAILURE) {
        stop();
        throw RunError("Cannot start the encoder of " + path_ + ". Record as .tiff.");
    }
    std::unique_lock lock(progress_->mutex);
    if (!begun ||
        !progress_->changed.wait_for(lock, kStart, [this] { return progress_->threads_missing <= 0; })) {
        progress_->stands_still = true;
        lock.unlock();
        stop();
        throw RunError("Recording into " + path_ + " stopped: its encoder " + did_not_start());
    }
}

const char* VideoWriter::raw_format() const {
    if (video_.channels == 3)
        return "RGB";
    return video_.type == PixelType::u16 ? "GRAY16_LE" : "GRAY8";
}

void VideoWriter::build() {
    std::string encoder = codec_ == Codec::ffv1 ? kFfv1 : mp4_ ? kH264High : kH264;
    if (codec_ == Codec::ffv1 && video_.channels == 3)
        encoder = "videoconvert ! video/x-raw,format=BGRx ! " + encoder; // lossless: the same three bytes
    // Ticks of 1 ns keep capture times exactly.
    const std::string text =
        "appsrc name=in format=time is-live=false max-buffers=0 max-bytes=0 max-time=0 ! " + encoder +
        (mp4_ ? kMp4 : " ! matroskamux name=mux timecodescale=1") + " ! fdsink name=out sync=false";
    GError* raw = nullptr;
    pipeline_.reset(gst_parse_launch(text.c_str(), &raw));
    if (const GstHandle<GError> error(raw); error)
        throw RunError("Cannot make the encoder of " + path_ + ": " + error->message + ".");
}

void VideoWriter::connect() {
    auto* bin = GST_BIN(pipeline_.get());
    source_.reset(gst_bin_get_by_name(bin, "in"));
    int num = 0, den = 1;
    const double rate = options_.rate > 0 ? options_.rate : stream_.source.rate;
    if (rate > 0)
        gst_util_double_to_fraction(rate, &num, &den);
    else
        held_back_ = codec_ == Codec::h264 ? 1 : 0; // without a rate x264 waits for the next frame
    const GstHandle<GstCaps> caps =
        codec_ == Codec::h264
            ? GstHandle<GstCaps>(planes_caps(video_, chroma()))
            : GstHandle<GstCaps>(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, raw_format(),
                                                     "width", G_TYPE_INT, video_.width, "height", G_TYPE_INT,
                                                     video_.height, nullptr));
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, num, den, nullptr);
    if (codec_ == Codec::h264) // BT.709, full range; MP4: limited, which every player decodes
        gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, mp4_ ? "2:3:5:1" : "1:3:5:1", nullptr);
    gst_app_src_set_caps(GST_APP_SRC(source_.get()), caps.get());

    const GstHandle<GstElement> sink(gst_bin_get_by_name(bin, "out"));
    g_object_set(sink.get(), "fd", file_.fd(), nullptr);
    const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(bus.get(), &FilmProgress::on_message, progress_.get(), nullptr);

    const GstHandle<GstElement> mux(gst_bin_get_by_name(bin, "mux"));
    const GstHandle<GstPad> muxed(gst_element_get_static_pad(mux.get(), "video_0"));
    // Tags are written at the end. This text is at the beginning, for files that were cut off.
    const std::string start = description_.text({});
    if (mp4_) {
        gst_pad_add_probe(muxed.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, &FilmProgress::on_caps, nullptr,
                          nullptr);
        gst_tag_setter_add_tags(GST_TAG_SETTER(mux.get()), GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT,
                                start.c_str(), nullptr);
        g_object_set(muxed.get(), "trak-timescale", ticks_, nullptr);
        g_object_set(mux.get(), "movie-timescale", ticks_, "fragment-duration",
                     fragment_ms(clock_.period_ns()), nullptr);
    } else {
        g_object_set(mux.get(), "writing-app", ("Specklescope " + start).c_str(), nullptr);
    }
    gst_pad_add_probe(muxed.get(), GST_PAD_PROBE_TYPE_BUFFER, &FilmProgress::on_muxed, progress_.get(),
                      nullptr);
    const GstHandle<GstPad> bytes(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_add_probe(bytes.get(), GST_PAD_PROBE_TYPE_BUFFER, &FilmProgress::on_bytes, progress_.get(),
                      nullptr);
}

/// Refuses an interval since the last frame that an MP4 cannot represent.
void VideoWriter::check_distance(std::int64_t time) {
    const std::int64_t distance = time - std::exchange(last_, time), most_s = INT32_MAX / ticks_;
    if (distance / std::nano::den >= most_s)
        throw RunError("Recording into " + path_ +
                       " stopped: this .mp4 cannot store frames further apart than " +
                       std::to_string(most_s) + " s. Record as .mkv.");
    if (written_ == 1 && distance > clock_.period_ns()) { // slower than the rate of the source, or no rate
        const GstHandle<GstElement> mux(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "mux"));
        g_object_set(mux.get(), "fragment-duration", fragment_ms(distance), nullptr);
    }
}

GstBuffer* VideoWriter::make_colors(const RecordedFrame& frame) {
    ConstHostView rgb = frame.pixels.host();
    if (options_.what == RecordWhat::processed) {
        colors_.resize(video_.bytes());
        const HostView made(colors_.data(), video_);
        color_picture(frame, options_.mapping, made);
        rgb = made;
    }
    return make_planes(rgb, chroma(), mp4_ ? VideoColors::bt709_limited : VideoColors::bt709_full);
}

GstBuffer* VideoWriter::make_buffer(const RecordedFrame& frame) {
    if (codec_ == Codec::h264)
        return make_colors(frame);
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(raw_format()),
                              static_cast<guint>(video_.width), static_cast<guint>(video_.height));
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE))
        throw RunError("There is not enough memory for a frame of " + path_ + ".");
    const HostView packed(reinterpret_cast<std::byte*>(map.data), video_,
                          static_cast<std::size_t>(info.stride[0]));
    if (options_.what == RecordWhat::processed)
        color_picture(frame, options_.mapping, packed);
    else // already coloured, or lossless numbers
        copy_pixels(frame.pixels.host(), packed);
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

void VideoWriter::write(const RecordedFrame& frame) {
    check();
    const std::int64_t time = clock_.next(frame.info.capture_ns);
    if (mp4_)
        check_distance(time);
    GstBuffer* buffer = make_buffer(frame);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(time);
    if (mp4_) // without a duration players skip the last frame
        GST_BUFFER_DURATION(buffer) = static_cast<GstClockTime>(clock_.period_ns());
    {
        std::unique_lock lock(progress_->mutex);
        const auto room = [this] {
            return progress_->inside.size() < held_back_ + (progress_->took < kSlowWrite ? kInFlight : 1) ||
                   progress_->failed;
        };
        if (!progress_->changed.wait_for(lock, kPatience, room)) {
            progress_->failed = progress_->stands_still = true;
            progress_->error = "the encoder took no frame for a minute";
        }
        if (!progress_->failed)
            progress_->inside.push_back(SteadyClock::now());
        else
            gst_clear_buffer(&buffer);
    }
    if (!buffer)
        check();
    gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer);
    description_.add(frame);
    ++written_;
}

/// The totals are written at the end only.
void VideoWriter::update(const FileTotals&) {
    if (const int error = sync_.advance(file_.bytes()); error != 0)
        throw RunError(write_error(path_, error));
}

void VideoWriter::check() {
    const std::lock_guard lock(progress_->mutex);
    if (!progress_->failed)
        return;
    told_ = true;
    written_ = std::min(written_, whole().frames);
    throw RunError("Recording into " + path_ + " stopped: " + progress_->error + ".");
}

CompleteFrames VideoWriter::whole() const { return mp4_ ? whole_mp4(file_) : whole_matroska(file_); }

/// Removes a partial frame at the end, after a full disk.
void VideoWriter::cut() {
    const CompleteFrames film = whole();
    written_ = film.frames;
    if (film.frames > 0 && ::ftruncate(file_.fd(), static_cast<off_t>(film.bytes)) != 0)
        run_log().debug("The end of {} cannot be cut off.", path_);
}

void VideoWriter::finish(const FileTotals& totals) {
    bool failed = false;
    {
        const std::lock_guard lock(progress_->mutex);
        failed = progress_->failed;
    }
    if (!failed) {
        const GstHandle<GstElement> mux(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "mux"));
        const std::string text = description_.text(totals);
        gst_tag_setter_add_tags(GST_TAG_SETTER(mux.get()), GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT,
                                text.c_str(), nullptr);
        {
            const std::lock_guard lock(progress_->mutex);
            progress_->text = text;
            progress_->escaped = mp4_ ? "" : escaped_tag(text);
        }
        gst_app_src_end_of_stream(GST_APP_SRC(source_.get()));
        std::unique_lock lock(progress_->mutex);
        if (!progress_->changed.wait_for(lock, kPatience,
                                         [this] { return progress_->ended || progress_->failed; })) {
            progress_->failed = progress_->stands_still = true;
            progress_->error = "the encoder did not come to an end";
        }
    }
    stop();
    if (progress_->failed) // GStreamer's threads have ended
        cut();
    if (told_) // reported by a frame already
        return;
    check();
    if (progress_->muxed != written_) {
        written_ = progress_->muxed;
        throw RunError("Recording into " + path_ + ": the encoder returned only " + std::to_string(written_) +
                       " frames.");
    }
    int error = mp4_ ? describe_mp4(file_, totals_text(totals)) : 0;
    if (const int late = sync_.stop(); error == 0)
        error = late;
    bytes_ = file_.bytes();
    if (!file_.close())
        throw RunError(write_error(path_, errno));
    if (error != 0)
        throw RunError(write_error(path_, error));
}

/// Stopping GStreamer would block forever on a thread that did not start or does not respond.
bool VideoWriter::is_stuck() const {
    const std::lock_guard lock(progress_->mutex);
    progress_->abandoned = progress_->stands_still || progress_->threads_missing > 0;
    return progress_->abandoned;
}

void VideoWriter::stop() noexcept {
    if (pipeline_ && is_stuck()) {                    // leak it, with the data that its threads use
        (void)pipeline_.release();                    // NOLINT(bugprone-unused-return-value)
        (void)source_.release();                      // NOLINT(bugprone-unused-return-value)
        new std::shared_ptr<FilmProgress>(progress_); // NOLINT: never deleted
    }
    if (pipeline_)
        gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    source_.reset();
    pipeline_.reset();
}

} // namespace

std::unique_ptr<FileWriter> make_video_writer(const RecordedFrame& first, const RecordOptions& options,
                                              const StreamInfo& stream) {
    std::string path;
    File file = create_new(options.path, path, options.first_number);
    try {
        return std::make_unique<VideoWriter>(std::move(file), path, first, options, stream);
    } catch (...) {
        ::unlink(path.c_str());
        throw;
    }
}

} // namespace specklescope
