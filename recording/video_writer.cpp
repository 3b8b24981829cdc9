#include "recording/record_file.hpp"

#include "base/error.hpp"
#include "files/gst_handles.hpp"
#include "recording/video/encoders.hpp"
#include "recording/video_color.hpp"
#include "recording/video_description.hpp"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

/// Frames inside the encoder before write() waits: the next is coloured meanwhile. One, where a frame takes
/// long: what is inside is lost if the process is killed.
constexpr std::size_t kInFlight = 2;
constexpr auto kSlow = 100ms;
constexpr auto kPatience = 60s;

/// Shared with GStreamer's threads. It outlives the pipeline, and with that every buffer on its way.
struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SteadyClock::time_point> inside; ///< when each frame in the encoder went in
    SteadyClock::duration took{};               ///< from there until it came out, of the last one
    std::uint64_t muxed = 0;                    ///< encoded frames that reached the file's writer
    bool ended = false;
    bool failed = false;
    std::string error;
    std::string text;    ///< the description, once it is complete
    std::string escaped; ///< the same as the muxer writes it
};

/// A quantizer alone decides: with pass=qual the encoder's default bitrate is a limit, at which a coloured
/// map of 640×480 had 14…25 dB. Measured on maps of speckle and of noise in viridis, inferno and jet: 42.3 dB
/// at least with this quantizer, 40.9 dB with 10, 38 dB with 12, at 14…30 bit a pixel; smooth pictures have
/// 48 dB at 0.3 bit. A slower preset saves a tenth of the bytes for four times the work.
constexpr const char* kH264 =
    "x264enc speed-preset=ultrafast tune=zerolatency pass=quant quantizer=8 qp-min=0 key-int-max=60";
constexpr const char* kFfv1 = "avenc_ffv1 threads=auto slices=4";
/// A second of it at a time, so that a file that was cut off opens; put in one piece at the end, for players
/// that know no other.
constexpr const char* kMp4 =
    " ! mp4mux name=mux fragment-duration=1000 fragment-mode=first-moov-then-finalise";

constexpr guint kMp4Ticks = 90000; ///< a second

class VideoWriter final : public FileWriter {
public:
    VideoWriter(File file, std::string path, const RecordedFrame& first, RecordOptions options,
                const StreamInfo& stream);
    ~VideoWriter() override { stop(); }
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    void write(const RecordedFrame& frame) override;
    void update(const FileTotals&) override {} // Matroska takes its tags at the end
    void finish(const FileTotals& totals) override;
    std::uint64_t written() const override { return written_; }
    std::uint64_t bytes() const override { return file_.bytes(); }
    bool present() const override { return file_.has_name(); }
    const std::string& path() const override { return path_; }

private:
    enum class Codec : std::uint8_t { ffv1, h264 };

    void build();
    void connect();
    const char* raw_format() const;
    GstBuffer* make_buffer(const RecordedFrame& frame);
    void fill(const RecordedFrame& frame, const GstVideoInfo& info, std::byte* data);
    void check();
    void stop() noexcept;
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer progress);
    static GstPadProbeReturn on_caps(GstPad*, GstPadProbeInfo* info, gpointer);
    static GstPadProbeReturn on_muxed(GstPad*, GstPadProbeInfo*, gpointer progress);
    static GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer progress);

    File file_; ///< the name is never looked up again: it may lead elsewhere by then
    std::string path_;
    RecordOptions options_;
    StreamInfo stream_;
    bool mp4_;
    bool told_ = false; ///< check() has thrown
    Codec codec_;
    Shape video_; ///< of what the encoder gets
    VideoClock clock_;
    VideoDescription description_;
    std::vector<std::byte> colors_;
    std::unique_ptr<Progress> progress_ = std::make_unique<Progress>();
    GstHandle<GstElement> pipeline_;
    GstHandle<GstElement> source_;
    std::size_t held_back_ = 0; ///< frames that the encoder keeps until the next comes
    std::uint64_t written_ = 0;
};

VideoWriter::VideoWriter(File file, std::string path, const RecordedFrame& first, RecordOptions options,
                         const StreamInfo& stream)
    : file_(std::move(file)), path_(std::move(path)), options_(std::move(options)), stream_(stream),
      mp4_(record_format(options_.path).ending == ".mp4"),
      codec_(shows_colors(options_.what) && gst_element_exists("x264enc") ? Codec::h264 : Codec::ffv1),
      video_(first.pixels.shape()), clock_(options_.rate, stream.source.rate),
      description_(first, options_, stream) {
    if (shows_colors(options_.what))
        video_ = {video_.width, video_.height, 3, PixelType::u8};
    build();
    connect();
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
        stop();
        throw RunError("Cannot start the encoder of " + path_ + "; record as .tiff.");
    }
}

const char* VideoWriter::raw_format() const {
    if (codec_ == Codec::h264)
        return "Y444";
    if (video_.channels == 3)
        return "RGB";
    return video_.type == PixelType::u16 ? "GRAY16_LE" : "GRAY8";
}

void VideoWriter::build() {
    std::string encoder = codec_ == Codec::h264 ? kH264 : kFfv1;
    if (codec_ == Codec::ffv1 && video_.channels == 3)
        encoder = "videoconvert ! video/x-raw,format=BGRx ! " + encoder; // lossless: the same three bytes
    // A tick of 1 ns: capture times come back as they were.
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
        held_back_ = codec_ == Codec::h264 ? 1 : 0; // x264 waits for the next time where it knows no rate
    const GstHandle<GstCaps> caps(gst_caps_new_simple(
        "video/x-raw", "format", G_TYPE_STRING, raw_format(), "width", G_TYPE_INT, video_.width, "height",
        G_TYPE_INT, video_.height, "framerate", GST_TYPE_FRACTION, num, den, nullptr));
    if (codec_ == Codec::h264) // full range, BT.709
        gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, "1:3:5:1", nullptr);
    gst_app_src_set_caps(GST_APP_SRC(source_.get()), caps.get());

    const GstHandle<GstElement> sink(gst_bin_get_by_name(bin, "out"));
    g_object_set(sink.get(), "fd", file_.fd(), nullptr);
    const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(bus.get(), &VideoWriter::on_message, progress_.get(), nullptr);

    const GstHandle<GstElement> mux(gst_bin_get_by_name(bin, "mux"));
    const GstHandle<GstPad> muxed(gst_element_get_static_pad(mux.get(), "video_0"));
    // Tags are written at the end; this is at the beginning, for those who find the file without its end.
    const std::string start = description_.text({});
    if (mp4_) {
        gst_pad_add_probe(muxed.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, &VideoWriter::on_caps, nullptr,
                          nullptr);
        gst_tag_setter_add_tags(GST_TAG_SETTER(mux.get()), GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT,
                                start.c_str(), nullptr);
        g_object_set(muxed.get(), "trak-timescale", kMp4Ticks, nullptr);
    } else {
        g_object_set(mux.get(), "writing-app", ("Specklescope " + start).c_str(), nullptr);
    }
    gst_pad_add_probe(muxed.get(), GST_PAD_PROBE_TYPE_BUFFER, &VideoWriter::on_muxed, progress_.get(),
                      nullptr);
    const GstHandle<GstPad> bytes(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_add_probe(bytes.get(), GST_PAD_PROBE_TYPE_BUFFER, &VideoWriter::on_bytes, progress_.get(),
                      nullptr);
}

/// The MP4 muxer writes colours of full range as of limited range. Without its word the encoder's own, which
/// is right, counts.
GstPadProbeReturn VideoWriter::on_caps(GstPad*, GstPadProbeInfo* info, gpointer) {
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

GstPadProbeReturn VideoWriter::on_muxed(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* progress = static_cast<Progress*>(data);
    const std::lock_guard lock(progress->mutex);
    ++progress->muxed;
    if (!progress->inside.empty()) { // one goes in, one comes out
        progress->took = SteadyClock::now() - progress->inside.front();
        progress->inside.pop_front();
    }
    progress->changed.notify_all();
    return GST_PAD_PROBE_OK;
}

/// The muxer writes a text tag with a backslash before every second character. What it writes is longer than
/// the text: the text takes its place on the way to the file.
GstPadProbeReturn VideoWriter::on_bytes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* progress = static_cast<Progress*>(data);
    const std::lock_guard lock(progress->mutex);
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
    if (at != std::string_view::npos) { // not in another version of GStreamer: the tag stays as it is
        std::string text = progress->text;
        text.resize(escaped.size(), ' ');
        std::memcpy(map.data + at, text.data(), text.size());
    }
    gst_buffer_unmap(buffer, &map);
    return GST_PAD_PROBE_OK;
}

GstBusSyncReply VideoWriter::on_message(GstBus*, GstMessage* message, gpointer data) {
    auto* progress = static_cast<Progress*>(data);
    const std::lock_guard lock(progress->mutex);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
        progress->ended = true;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && !progress->failed) {
        GError* raw = nullptr;
        gst_message_parse_error(message, &raw, nullptr);
        const GstHandle<GError> error(raw);
        progress->error = error->message;
        if (g_error_matches(error.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
            progress->error =
                "No space left on device; what was written stays readable; make room and record again";
        progress->failed = true;
    }
    progress->changed.notify_all();
    gst_message_unref(message);
    return GST_BUS_DROP;
}

void VideoWriter::fill(const RecordedFrame& frame, const GstVideoInfo& info, std::byte* data) {
    const HostView packed(data, video_, static_cast<std::size_t>(info.stride[0]));
    const bool colored = options_.what != RecordWhat::processed; // or numbers that stay as they are
    if (codec_ == Codec::ffv1)
        return colored ? copy_pixels(frame.pixels.host(), packed)
                       : color_picture(frame, options_.mapping, packed);
    ConstHostView rgb = frame.pixels.host();
    if (!colored) {
        colors_.resize(video_.bytes());
        const HostView made(colors_.data(), video_);
        color_picture(frame, options_.mapping, made);
        rgb = made;
    }
    VideoPlanes planes;
    for (std::size_t i = 0; i < 3; ++i) {
        planes.data[i] = data + info.offset[i];
        planes.pitch[i] = static_cast<std::size_t>(info.stride[i]);
    }
    to_video_planes(rgb, planes);
}

GstBuffer* VideoWriter::make_buffer(const RecordedFrame& frame) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(raw_format()),
                              static_cast<guint>(video_.width), static_cast<guint>(video_.height));
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE))
        throw RunError("No room for a frame on its way into " + path_ + ".");
    fill(frame, info, reinterpret_cast<std::byte*>(map.data));
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

void VideoWriter::write(const RecordedFrame& frame) {
    check();
    GstBuffer* buffer = make_buffer(frame);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(clock_.next(frame.info.capture_ns));
    if (mp4_) // without one the last frame is there for no time, and players leave it out
        GST_BUFFER_DURATION(buffer) = static_cast<GstClockTime>(clock_.period_ns());
    {
        std::unique_lock lock(progress_->mutex);
        const auto room = [this] {
            return progress_->inside.size() < held_back_ + (progress_->took < kSlow ? kInFlight : 1) ||
                   progress_->failed;
        };
        if (!progress_->changed.wait_for(lock, kPatience, room)) {
            progress_->failed = true;
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

void VideoWriter::check() {
    const std::lock_guard lock(progress_->mutex);
    if (!progress_->failed)
        return;
    told_ = true;
    // What reached the muxer last is what the disk refused.
    written_ = progress_->muxed > 0 ? progress_->muxed - 1 : 0;
    throw RunError("Recording into " + path_ + " stopped: " + progress_->error + ".");
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
            progress_->failed = true;
            progress_->error = "the encoder did not come to an end";
        }
    }
    stop();
    if (told_) // by the frame that it had no room for
        return;
    check();
    if (progress_->muxed != written_) {
        written_ = progress_->muxed;
        throw RunError("Recording into " + path_ + ": the encoder gave back only " +
                       std::to_string(written_) + " frames.");
    }
}

void VideoWriter::stop() noexcept {
    if (pipeline_)
        gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    source_.reset();
    pipeline_.reset();
}

} // namespace

std::unique_ptr<FileWriter> make_video_writer(const RecordedFrame& first, const RecordOptions& options,
                                              const StreamInfo& stream) {
    std::string path;
    File file = create_new(options.path, path);
    try {
        return std::make_unique<VideoWriter>(std::move(file), path, first, options, stream);
    } catch (...) {
        ::unlink(path.c_str());
        throw;
    }
}

} // namespace specklescope
