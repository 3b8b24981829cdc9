#include "recording/video_writer.hpp"

#include "files/gst_handles.hpp"
#include "pipeline/error.hpp"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace specklescope {

VideoClock::VideoClock(double rate, double nominal)
    : fixed_(rate > 0), period_ns_(1e9 / (rate > 0      ? rate
                                          : nominal > 0 ? nominal
                                                        : 25.0)) {}

std::int64_t VideoClock::next(std::int64_t capture_ns) {
    std::int64_t time = 0;
    if (fixed_)
        time = std::llround(static_cast<double>(count_) * period_ns_);
    else if (count_ > 0 && capture_ns > last_capture_)
        time = capture_ns + offset_;
    else // the first frame, or a clock that stands still or was set back: go on from here
        time = count_ == 0 ? 0 : last_ + std::llround(period_ns_);
    time = std::max(time, last_ + 1000); // Matroska's tick here is 1 µs
    if (count_ == 0)
        time = 0;
    offset_ = time - capture_ns;
    last_ = time;
    last_capture_ = capture_ns;
    ++count_;
    return time;
}

namespace {
using namespace std::chrono_literals;

constexpr int kInFlight = 2; ///< frames inside the encoder before write() waits
constexpr auto kPatience = 60s;

/// Shared with GStreamer's threads. It outlives the pipeline, and with that every buffer on its way.
struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
    int in_flight = 0;
    std::uint64_t muxed = 0; ///< encoded frames that reached the file's writer
    bool ended = false;
    bool failed = false;
    std::string error;
};

bool exists(const char* element) {
    gst_init(nullptr, nullptr);
    const GstHandle<GstElementFactory> factory(gst_element_factory_find(element));
    return factory != nullptr;
}

/// "" if neither H.264 encoder is installed.
std::string h264_encoder() {
    if (exists("x264enc"))
        return "x264enc speed-preset=ultrafast tune=zerolatency pass=qual quantizer=18 key-int-max=60";
    if (exists("openh264enc") && exists("h264parse"))
        return "openh264enc rate-control=off complexity=low ! h264parse";
    return "";
}

const char* raw_format(const Shape& shape) {
    if (shape.channels == 3)
        return "RGB";
    return shape.type == PixelType::u16 ? "GRAY16_LE" : "GRAY8";
}

class VideoWriter final : public FileWriter {
public:
    VideoWriter(std::string path, const RecordedFrame& first, RecordOptions options,
                const StreamInfo& stream);
    ~VideoWriter() override { stop(); }
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    void write(const RecordedFrame& frame) override;
    void update(const FileTotals&) override {} // Matroska takes its tags at the end
    void finish(const FileTotals& totals) override;
    std::uint64_t written() const override { return written_; }
    std::uint64_t bytes() const override;
    const std::string& path() const override { return path_; }

private:
    void build();
    void connect();
    GstBuffer* make_buffer(ConstHostView pixels) const;
    void check();
    void unescape_tag() const;
    void stop() noexcept;
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer progress);

    std::string path_;
    RecordOptions options_;
    StreamInfo stream_;
    Shape input_; ///< of the frames
    Shape video_; ///< of what the encoder gets
    VideoClock clock_;
    std::string description_;
    std::unique_ptr<Progress> progress_ = std::make_unique<Progress>();
    GstHandle<GstElement> pipeline_;
    GstHandle<GstElement> source_;
    std::uint64_t written_ = 0;
};

VideoWriter::VideoWriter(std::string path, const RecordedFrame& first, RecordOptions options,
                         const StreamInfo& stream)
    : path_(std::move(path)), options_(std::move(options)), stream_(stream), input_(first.pixels.shape()),
      video_(input_), clock_(options_.rate, stream.source.rate),
      description_(describe_file(first, options_, stream, {})) {
    if (options_.what == RecordWhat::processed) {
        // 4:2:0 chroma needs even sides: the last column or row is shown twice.
        video_ = {input_.width + input_.width % 2, input_.height + input_.height % 2, 3, PixelType::u8};
        if (video_.width != input_.width || video_.height != input_.height)
            spdlog::info("{}: H.264 needs even sides; the picture of {}×{} is padded to {}×{}.", path_,
                         input_.width, input_.height, video_.width, video_.height);
    }
    build();
    connect();
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
        stop();
        throw RunError("Cannot start the encoder of " + path_ + "; record as .tiff.");
    }
}

void VideoWriter::build() {
    std::string encoder = "avenc_ffv1 threads=auto slices=4";
    if (options_.what == RecordWhat::processed)
        encoder = "videoconvert ! video/x-raw,format=I420 ! " + h264_encoder();
    else if (video_.channels == 3)
        encoder = "videoconvert ! video/x-raw,format=BGRx ! " + encoder; // lossless: the same three bytes
    const std::string text =
        "appsrc name=in format=time is-live=false max-buffers=0 max-bytes=0 max-time=0 ! " + encoder +
        " ! matroskamux name=mux timecodescale=1000 writing-app=Specklescope ! "
        "filesink name=out buffer-mode=unbuffered sync=false";
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
    const GstHandle<GstCaps> caps(gst_caps_new_simple(
        "video/x-raw", "format", G_TYPE_STRING, raw_format(video_), "width", G_TYPE_INT, video_.width,
        "height", G_TYPE_INT, video_.height, "framerate", GST_TYPE_FRACTION, num, den, nullptr));
    gst_app_src_set_caps(GST_APP_SRC(source_.get()), caps.get());

    const GstHandle<GstElement> sink(gst_bin_get_by_name(bin, "out"));
    g_object_set(sink.get(), "location", path_.c_str(), nullptr);
    const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(bus.get(), &VideoWriter::on_message, progress_.get(), nullptr);

    const GstHandle<GstElement> mux(gst_bin_get_by_name(bin, "mux"));
    const GstHandle<GstPad> pad(gst_element_get_static_pad(mux.get(), "video_0"));
    const auto count = [](GstPad*, GstPadProbeInfo*, gpointer data) {
        auto* progress = static_cast<Progress*>(data);
        const std::lock_guard lock(progress->mutex);
        ++progress->muxed;
        return GST_PAD_PROBE_OK;
    };
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, count, progress_.get(), nullptr);
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

GstBuffer* VideoWriter::make_buffer(ConstHostView pixels) const {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(raw_format(video_)),
                              static_cast<guint>(video_.width), static_cast<guint>(video_.height));
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE))
        throw RunError("No room for a frame on its way into " + path_ + ".");
    const HostView view(reinterpret_cast<std::byte*>(map.data), video_,
                        static_cast<std::size_t>(info.stride[0]));
    if (options_.what == RecordWhat::processed)
        color_picture(pixels, options_.mapping, view);
    else
        copy_pixels(pixels, view);
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

void VideoWriter::write(const RecordedFrame& frame) {
    check();
    GstBuffer* buffer = make_buffer(frame.pixels.host());
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(clock_.next(frame.info.capture_ns));
    {
        std::unique_lock lock(progress_->mutex);
        const auto room = [this] { return progress_->in_flight < kInFlight || progress_->failed; };
        if (!progress_->changed.wait_for(lock, kPatience, room)) {
            progress_->failed = true;
            progress_->error = "the encoder took no frame for a minute";
        }
        if (!progress_->failed)
            ++progress_->in_flight;
        else
            gst_clear_buffer(&buffer);
    }
    if (!buffer)
        check();
    // Tells when the encoder is done with the frame; the queue in front of it has no such signal.
    const auto done = [](gpointer data, GstMiniObject*) {
        auto* progress = static_cast<Progress*>(data);
        const std::lock_guard lock(progress->mutex);
        --progress->in_flight;
        progress->changed.notify_all();
    };
    gst_mini_object_weak_ref(GST_MINI_OBJECT(buffer), done, progress_.get());
    gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer);
    ++written_;
}

void VideoWriter::check() {
    const std::lock_guard lock(progress_->mutex);
    if (!progress_->failed)
        return;
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
        description_.replace(1, kTotalsChars, totals_text(totals));
        gst_tag_setter_add_tags(GST_TAG_SETTER(mux.get()), GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT,
                                description_.c_str(), nullptr);
        gst_app_src_end_of_stream(GST_APP_SRC(source_.get()));
        std::unique_lock lock(progress_->mutex);
        if (!progress_->changed.wait_for(lock, kPatience,
                                         [this] { return progress_->ended || progress_->failed; })) {
            progress_->failed = true;
            progress_->error = "the encoder did not come to an end";
        }
    }
    stop();
    if (!failed) {
        check();
        unescape_tag();
    }
    if (!failed && progress_->muxed != written_) {
        written_ = progress_->muxed;
        throw RunError("Recording into " + path_ + ": the encoder gave back only " +
                       std::to_string(written_) + " frames.");
    }
}

/// The muxer stores a text tag with a backslash before every second character. What it replaces is longer
/// than the text, so the text goes back in its place, and the file keeps its layout.
void VideoWriter::unescape_tag() const {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_STRING);
    g_value_set_string(&value, description_.c_str());
    const GstHandle<gchar> escaped(gst_value_serialize(&value));
    g_value_unset(&value);
    const std::string stored = escaped.get();
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::streamoff>(bytes());
    const std::streamoff start = std::max<std::streamoff>(0, size - (std::streamoff{1} << 20));
    std::string tail(static_cast<std::size_t>(size - start), '\0');
    file.seekg(start);
    file.read(tail.data(), size - start);
    const std::size_t at = tail.rfind(stored);
    if (!file || at == std::string::npos || stored.size() < description_.size())
        return; // another version of GStreamer: the tag stays as it was written
    std::string text = description_;
    text.resize(stored.size(), ' ');
    file.seekp(start + static_cast<std::streamoff>(at));
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::uint64_t VideoWriter::bytes() const {
    std::error_code error;
    const auto size = std::filesystem::file_size(path_, error);
    return error ? 0 : size;
}

void VideoWriter::stop() noexcept {
    if (pipeline_)
        gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    source_.reset();
    pipeline_.reset();
}
} // namespace

void check_video_encoder(RecordWhat what) {
    if (what == RecordWhat::processed && h264_encoder().empty())
        throw RunError(
            "No H.264 encoder for .mkv is installed; install gstreamer1.0-plugins-ugly, or record as .tiff.");
    if (what == RecordWhat::raw && !exists("avenc_ffv1"))
        throw RunError(
            "No FFV1 encoder for .mkv is installed; install gstreamer1.0-libav, or record as .tiff.");
    if (!exists("matroskamux"))
        throw RunError(
            "No Matroska writer is installed; install gstreamer1.0-plugins-good, or record as .tiff.");
}

std::unique_ptr<FileWriter> make_video_writer(const RecordedFrame& first, const RecordOptions& options,
                                              const StreamInfo& stream) {
    std::string path;
    create_new(options.path, path).close(); // the name is ours; filesink opens the empty file again
    try {
        return std::make_unique<VideoWriter>(path, first, options, stream);
    } catch (...) {
        ::unlink(path.c_str());
        throw;
    }
}

} // namespace specklescope
