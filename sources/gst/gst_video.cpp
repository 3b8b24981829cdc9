// Video files, through decodebin.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/memory_budget.hpp"
#include "files/recorded.hpp"
#include "pipeline/source.hpp"
#include "sources/exposures.hpp"
#include "sources/files/raw_source.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_colour.hpp"
#include "sources/gst/gst_container.hpp"
#include "sources/gst/gst_index.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/gst/gst_untrusted.hpp"
#include "sources/pacer.hpp"
#include "sources/playback_clock.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace specklescope {

namespace {

constexpr const char* kConvert = "convert it, as by ffmpeg -i FILE -c:v ffv1 -pix_fmt gray16le NEW.mkv";

bool starts_with(const GstCaps* caps, const char* prefix) {
    return gst_caps_get_size(caps) > 0 &&
           g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), prefix);
}

GstHandle<GstCaps> caps_of(GstPad* pad) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    return GstHandle<GstCaps>(caps ? caps : gst_pad_query_caps(pad, nullptr));
}

/// Refuses sound and subtitles: a missing audio decoder must not fail a video.
/// Also refuses images above the memory limit: a tiny file may claim any size.
gboolean wants_decoding(GstElement* decoder, GstPad*, GstCaps* caps, gpointer most_bytes) {
    const GstStructure* claimed = gst_caps_get_structure(caps, 0);
    gint width = 0, height = 0;
    constexpr std::uint64_t kBytes = 4; // bytes per pixel, upper estimate
    if (starts_with(caps, "video/") && gst_structure_get_int(claimed, "width", &width) &&
        gst_structure_get_int(claimed, "height", &height) && width > 0 && height > 0 &&
        static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) >
            *static_cast<const std::uint64_t*>(most_bytes) / kBytes) {
        const std::string size = std::to_string(width) + "×" + std::to_string(height);
        GST_ELEMENT_ERROR(decoder, STREAM, DECODE,
                          ("its images of %s need more memory than is allowed", size.c_str()), (nullptr));
        return FALSE;
    }
    const gchar* chroma = gst_structure_get_string(claimed, "chroma-format");
    guint bits = 0;
    if (chroma && std::string_view(chroma) == "4:0:0" &&
        gst_structure_get_uint(claimed, "bit-depth-luma", &bits) &&
        (bits > 8 || starts_with(caps, "video/x-av1"))) { // its decoders crash, or write chroma over grey
        GST_ELEMENT_ERROR(decoder, STREAM, DECODE,
                          ("GStreamer does not know its pixels, grey of %u bits; %s", bits, kConvert),
                          (nullptr));
        return FALSE;
    }
    return !starts_with(caps, "audio/") && !starts_with(caps, "text/") && !starts_with(caps, "subpicture/");
}

/// Links only the first video stream.
void link_video(GstElement*, GstPad* pad, gpointer convert) {
    const GstHandle<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(convert), "sink"));
    if (!gst_pad_is_linked(sink.get()) && starts_with(caps_of(pad).get(), "video/x-raw"))
        gst_pad_link(pad, sink.get());
}

void check_found(GstElement* decoder, gpointer convert) {
    const GstHandle<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(convert), "sink"));
    if (!gst_pad_is_linked(sink.get()))
        GST_ELEMENT_ERROR(decoder, STREAM, WRONG_TYPE, ("it has no video that can be decoded"), (nullptr));
}

GstPadProbeReturn refuse_shifted(GstPad* pad, GstPadProbeInfo*, gpointer) {
    const GstHandle<GstCaps> caps = caps_of(pad);
    const gchar* const format = gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format");
    if (!format || std::string_view(format) != "ARGB64")
        return GST_PAD_PROBE_OK;
    const GstHandle<GstElement> decoder(gst_pad_get_parent_element(pad));
    GST_ELEMENT_ERROR(decoder.get(), STREAM, DECODE,
                      ("GStreamer shifts its pixels, PNG of 16-bit colour; convert it, as by ffmpeg -i FILE "
                       "-c:v ffv1 -pix_fmt gbrp12le NEW.mkv"),
                      (nullptr));
    return GST_PAD_PROBE_DROP;
}

/// Makes decoders report damaged data instead of guessing, and refuses what they decode wrongly.
void make_strict(GstBin*, GstBin*, GstElement* element, gpointer) {
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "max-errors"))
        g_object_set(element, "max-errors", 0, nullptr);
    GstElementFactory* const factory = gst_element_get_factory(element);
    if (factory && g_str_equal(GST_OBJECT_NAME(factory), "pngdec"))
        gst_pad_add_probe(GstHandle<GstPad>(gst_element_get_static_pad(element, "src")).get(),
                          GST_PAD_PROBE_TYPE_BUFFER, refuse_shifted, nullptr, nullptr);
}

class VideoSource final : public GstSource, public TimedFrames {
public:
    VideoSource(const std::string& path, const Params& params)
        : GstSource(std::filesystem::path(path).filename().string()), path_(path),
          exposures_("source video", params.as<VideoParams>().exposures) {
        params_ = params;
    }

    SourceInfo open() override {
        packets_.reset();
        playback_ = {};
        doubtful_ = 0;
        landing_.reset();
        counted_.reset();
        claimed_.reset();
        invalid_values_ = {};
        exposures_.restart();
        next_ns_.reset();
        most_bytes_ = MemoryLimit::here();
        return GstSource::open();
    }

    Status next(FramePort& port) override {
        const double rate = given_rate() > 0 ? given_rate() : pace_;
        pacer_.set_speed(params_.as<VideoParams>().speed);
        if (!landing_ && !pacer_.wait(rate, std::chrono::milliseconds(100)))
            return Status::idle;
        try {
            const Status status = GstSource::next(port);
            if (status == Status::frame)
                pacer_.take(rate);
            return status;
            // a decoder started at a key frame may lack data that others started with
        } catch (const RunError&) {
            if (!landing_ || !landing_->by_time)
                throw;
            count_from_start();
            return Status::idle;
        }
    }

    void pace(double rate) override { pace_ = rate; }

    std::uint64_t length() override { return trusted() ? packets_->times.size() : told_; }

    std::optional<std::uint64_t> frame_at(double seconds) override {
        if (by_rate())
            return std::nullopt;
        if (!packets_)
            make_index();
        if (!trusted())
            return std::nullopt;
        TimeSearch search(seconds);
        for (std::size_t i = 0; i < packets_->times.size() && search.add(packets_->times[i]);)
            ++i;
        return search.frame();
    }

    void seek(std::uint64_t frame, std::uint64_t at_once) override {
        if (!packets_)
            make_index();
        if (frame >= length() && length() > 0 && grown()) {
            const std::uint64_t here = landing_ ? landing_->frame : index_;
            restart(); // the element asked for the length when it started
            make_index();
            if (frame >= length() && here < length())
                land(here);
        }
        if (frame >= length() && length() > 0)
            refuse_frame(path_, frame, length());
        pacer_.skip_pacing(at_once);
        land(frame);
    }

private:
    /// A seek in progress.
    struct Landing {
        std::uint64_t frame = 0;
        bool by_time = false;     ///< from a key frame; else counted from the first frame
        std::uint64_t passed = 0; ///< number of skipped frames
    };

    /// True if packet times equal frame times, judging by the first frame; frames without such a time are
    /// found by counting.
    bool trusted() const {
        return packets_ && demuxer_ != Demuxer::unknown && !packets_->times.empty() &&
               std::abs(packets_->times.front() - first_time_) <= kSameTime;
    }

    bool seeks_by_time() const {
        return demuxer_ == Demuxer::exact || (demuxer_ == Demuxer::keys_only && packets_->all_keys);
    }

    double given_rate() const { return params_.as<VideoParams>().rate; }
    /// A rate set by the user overrides times of other programs.
    bool by_rate() const { return given_rate() > 0 && !recorded_.ours(); }

    void make_index() { packets_ = packet_index(path_); }

    bool grown() const {
        std::error_code failed;
        const std::uintmax_t bytes = std::filesystem::file_size(path_, failed);
        return !failed && bytes > bytes_;
    }

    void land(std::uint64_t frame) {
        landing_ = Landing{.frame = frame, .by_time = trusted() && seeks_by_time()};
        if (!landing_->by_time || !seek_time(packets_->times[frame]))
            count_from_start();
    }

    void count_from_start() {
        landing_->by_time = false;
        landing_->passed = 0;
        if (demuxer_ != Demuxer::exact || !seek_time(0))
            restart();
    }

    bool wanted(std::int64_t time, bool damaged) override {
        if (!landing_)
            return true;
        if (landing_->by_time) {
            const std::int64_t goal = packets_->times[landing_->frame];
            if (damaged) { // a frame that decodes from the beginning may lack references here
                count_from_start();
                return false;
            }
            if (time < goal - kSameTime)
                return false;
            if (time > goal + kSameTime) {
                count_from_start();
                return false;
            }
        } else if (landing_->passed < landing_->frame) {
            ++landing_->passed;
            return false;
        }
        index_ = landing_->frame;
        sought_ = true;
        landing_.reset();
        return true;
    }

    GstGraph build() override {
        std::error_code failed;
        bytes_ = std::filesystem::file_size(path_, failed);
        if (failed)
            throw RunError("'" + path_ + "' cannot be read: " + failed.message() + ".");
        if (bytes_ == 0)
            throw RunError("'" + path_ + "' is empty. Give a video.");
        pacer_.restart();
        recorded_ = {};
        sought_ = false;
        const std::string texts = matroska_texts(path_);
        recorded_.begin(std::string_view(texts).substr(std::min(texts.find("{\"finished\""), texts.size())));
        invalid_values_.log(path_, recorded_.doubts());
        first_capture_ns_ = recorded_.now().capture_ns.value_or(0);
        index_ = 0;
        GstGraph graph{own(gst_pipeline_new(nullptr)), nullptr};
        const GstHandle<GstElement> file = make_element("filesrc", "libgstreamer1.0-0");
        const GstHandle<GstElement> decoder = make_element("decodebin", "gstreamer1.0-plugins-base");
        g_object_set(file.get(), "location", path_.c_str(), nullptr);
        show_whole_edits(file.get(), path_);
        GstTail tail = make_tail();
        add_and_link(graph.pipeline.get(), {file.get(), decoder.get()});
        add_and_link(graph.pipeline.get(), {tail.convert.get(), tail.sink.get()});
        allow_codecs_only(decoder.get());
        // Separate ownership: a decoder may call back after this object is destroyed, while it still searches
        // codecs.
        g_signal_connect_data(
            decoder.get(), "autoplug-continue", G_CALLBACK(wants_decoding),
            new std::uint64_t(most_bytes_), // NOLINT: GLib's ownership convention
            [](gpointer most, GClosure*) { delete static_cast<std::uint64_t*>(most); }, // NOLINT: as above
            GConnectFlags{});
        g_signal_connect(decoder.get(), "pad-added", G_CALLBACK(link_video), tail.convert.get());
        g_signal_connect(decoder.get(), "no-more-pads", G_CALLBACK(check_found), tail.convert.get());
        g_signal_connect(graph.pipeline.get(), "deep-element-added", G_CALLBACK(make_strict), nullptr);
        prefer_colours_of_streams(graph.pipeline.get(), tail.sink.get());
        graph.sink = std::move(tail.sink);
        return graph;
    }

    void opened(SourceInfo& info) override {
        FrameInfo first; // a list that contradicts a recording is refused here
        exposures_.apply(first, recorded_.now(), recorded_.ours(), path_, 0);
        first_time_ = first_time();
        demuxer_ = demuxer_of(pipeline());
        if (demuxer_ == Demuxer::exact && fragmented_mp4(path_)) // qtdemux begins at another frame
            demuxer_ = Demuxer::timed;
        tell(info);
        if (by_rate()) {
            info.rate = given_rate();
            info.time_origin = TimeOrigin::parameter;
        }
        info.seekable = true;
        info.length = told_ = counted_ && counted_->bytes == bytes_ ? counted_->frames : info.frames;
        if (params_.as<VideoParams>().loop)
            info.frames = 0;
    }

    /// claimed_bytes() of the current file; computed once.
    std::uint64_t claimed() {
        std::error_code failed;
        const std::uintmax_t bytes = std::filesystem::file_size(path_, failed);
        if (!claimed_ || claimed_->bytes != bytes)
            claimed_ = {claimed_bytes(path_), bytes};
        return claimed_->claim;
    }

    void tell(SourceInfo& info) {
        info.live = false;
        info.started = recorded_.now().started;
        info.camera = recorded_.now().camera;
        info.um_per_px = recorded_.now().um_per_px;
        if (recorded_.now().rate > 0 || recorded_.now().untimed)
            info.rate = recorded_.now().rate;
        info.time_origin = recorded_.now().untimed ? TimeOrigin::none : TimeOrigin::source;
        if (recorded_.now().full_scale > 0)
            info.full_scale = recorded_.now().full_scale;
        if (recorded_.frames() > 0 && claimed() <= bytes_) {
            info.frames = recorded_.frames();
            return;
        }
        gint64 duration = 0;
        if (demuxer_ == Demuxer::unknown || info.rate <= 0 ||
            !gst_element_query_duration(pipeline(), GST_FORMAT_TIME, &duration) || duration <= 0 ||
            claimed() > bytes_)
            return;
        // Containers round times, usually to 1 ms; a length that is no whole number of frames is ignored.
        const double frames = static_cast<double>(duration) * 1e-9 * info.rate;
        if (std::abs(frames - std::round(frames)) < 0.05 + 1e-3 * info.rate)
            info.frames = static_cast<std::uint64_t>(std::round(frames));
    }

    Status ended() override {
        if (landing_ && landing_->by_time) {
            count_from_start();
            return Status::idle;
        }
        told_ = landing_ ? landing_->passed : index_; // now the known length
        counted_ = {told_, bytes_};
        if (const std::uint64_t times = std::exchange(doubtful_, 0); times > 1)
            run_log().warn("'{}': {} frames repeat a time or go back in time.", path_, times);
        if (landing_)
            throw RunError("'" + path_ + "' has no frame " + std::to_string(landing_->frame) +
                           "; it ends after " + std::to_string(landing_->passed) + ".");
        if (const std::uint64_t bytes = claimed(); bytes > bytes_)
            throw RunError("'" + path_ + "' is cut short: " +
                           (bytes == kEndMissing ? "its end is missing"
                                                 : "it has " + std::to_string(bytes_) + " of " +
                                                       std::to_string(bytes) + " bytes") +
                           ". The frames before the cut are processed.");
        if (!params_.as<VideoParams>().loop)
            return Status::end;
        index_ = 0;
        if (!rewind())
            throw RunError("'" + path_ + "' cannot be played again from its start. Leave out --loop.");
        return Status::idle;
    }

    /// Frames the recorder missed are a gap between two frames, as in the live run.
    std::uint64_t lost_before(std::optional<std::uint64_t>) override {
        const std::optional<std::uint64_t> before = recorded_.now().sequence;
        recorded_.seek(index_);
        if (std::exchange(sought_, false) || index_ == 0)
            return 0;
        return lost_between(before, recorded_.now());
    }

    void describe(FrameInfo& info) override {
        info.position = index_++;
        const bool timed = info.film_ns && !recorded_.now().untimed;
        info.film_ns = timed ? *info.film_ns - first_time_
                             : static_cast<std::int64_t>(*info.position) * std::int64_t{1'000'000'000};
        info.capture_ns += first_capture_ns_;
        if (by_rate())
            take_rate(info);
        else
            check_time(info);
        if (recorded_.now().untimed) {
            info.capture_ns = std::int64_t{1'000'000'000} * untimed_++;
            info.time_origin = TimeOrigin::none;
        }
        exposures_.apply(info, recorded_.now(), recorded_.ours(), path_, *info.position);
        info.recorded = recorded_.now().counts_to_keep();
        info.recorded_in_warmup = recorded_.now().in_warmup;
        if (recorded_.now().assumed.any())
            info.assumed = recorded_.now().assumed;
        if (recorded_.now().full_scale > 0)
            info.full_scale = recorded_.now().full_scale;
    }

    /// Times by the rate; a part of a film has those of the whole one.
    void take_rate(FrameInfo& info) {
        constexpr double kLast = 4e18; // ns
        const double step = 1e9 / given_rate();
        const double in_film = std::min(static_cast<double>(*info.position) * step, kLast);
        const double now = next_ns_.value_or(in_film);
        next_ns_ = std::min(now + step, kLast);
        info.film_ns = std::llround(in_film);
        info.capture_ns = std::llround(now);
        info.time_origin = TimeOrigin::parameter;
    }

    /// Replaces a time that does not increase, and marks its frame.
    void check_time(FrameInfo& info) {
        info.capture_ns = playback_.next(info.capture_ns, true);
        if (!playback_.doubtful())
            return;
        info.time_origin = TimeOrigin::parameter;
        if (++doubtful_ == 1)
            run_log().warn("'{}': frame {} repeats a time or goes back in time. It gets the time one step "
                           "after the previous frame; further ones are not reported.",
                           path_, *info.position);
    }

    std::string explain(const Failure& failure) const override {
        if (failure.reason == "Unable to allocate memory") // avdec's message for an unknown format
            return "'" + path_ +
                   "' cannot be read as video: GStreamer does not know its pixels (as grey of 10 or 12 "
                   "bits), or memory is short; " +
                   kConvert + ".";
        return "'" + path_ + "' cannot be read as video: " + failure.reason + ".";
    }

    std::string path_;
    /// MemoryLimit of the opening thread
    std::uint64_t most_bytes_ = std::numeric_limits<std::uint64_t>::max();
    std::uintmax_t bytes_ = 0;
    Pacer pacer_;
    double pace_ = 0;               ///< without a rate by the user
    std::optional<double> next_ns_; ///< capture time of the next frame by that rate
    FileExposures exposures_;
    RecordedText recorded_; ///< of our recordings, from tags
    InvalidValueLog invalid_values_;
    PlaybackTimes playback_;
    std::uint64_t doubtful_ = 0;                    ///< frames whose time did not increase
    std::int64_t untimed_ = 0;                      ///< frames so far
    std::int64_t first_capture_ns_ = 0;             ///< of our recordings
    std::uint64_t index_ = 0;                       ///< of the next frame in the file
    static constexpr std::int64_t kSameTime = 1000; ///< ns
    std::optional<PacketIndex> packets_;            ///< nothing: not determined yet
    std::int64_t first_time_ = 0;
    std::uint64_t told_ = 0; ///< number of frames, from the file or counted; 0: unknown
    struct Counted {
        std::uint64_t frames;
        std::uintmax_t bytes; ///< of the file at that time
    };
    std::optional<Counted> counted_; ///< at its end
    struct Claimed {
        std::uint64_t claim;
        std::uintmax_t bytes; ///< of the file at that time
    };
    std::optional<Claimed> claimed_;
    Demuxer demuxer_ = Demuxer::unknown;
    std::optional<Landing> landing_;
    bool sought_ = false; ///< the next frame does not follow the last one
};

std::unique_ptr<Source> make_video(const SourceText& text, const Params& params) {
    return make_video_source(text.target, params);
}

} // namespace

const ParamTable& video_table() {
    static const ParamTable table =
        Declare<VideoParams>("source video")
            .real("rate", &VideoParams::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc = "Frames per second; overrides times that other programs stated. 0: as fast as "
                          "possible, with the file's times"})
            .real("speed", &VideoParams::speed,
                  {.min = 0, .max = kMaxSpeed, .least = kMinSpeed, .doc = kSpeedDoc})
            .boolean("loop", &VideoParams::loop, {.doc = "Restart at the end"})
            .text("exposures", &VideoParams::exposures,
                  {.label = "Exposure cycle", .unit = "ms", .cost = Cost::rebuild, .doc = kExposureCycleDoc})
            .table();
    return table;
}

std::unique_ptr<Source> make_video_source(const std::string& path, const Params& video_params) {
    const auto& options = video_params.as<VideoParams>();
    if (auto grey = grey_y4m(path, options.rate, options.speed, options.loop, options.exposures))
        return grey;
    return std::make_unique<VideoSource>(path, video_params);
}

SourceType video_source_type() {
    return {.kind = "video",
            .syntax = "FILE.avi, .mkv, .mp4, .mov, …",
            .doc = "Video file, anything that GStreamer decodes; 8- and 16-bit grey and RGB unchanged",
            .table = &video_table(),
            .make = make_video,
            .discover = nullptr};
}

} // namespace specklescope
