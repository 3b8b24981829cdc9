#include "sources/gst/gst_appsink.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "base/source_argument.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "files/recorded.hpp"
#include "sources/gst/gst_closer.hpp"
#include "sources/gst/gst_colour.hpp"
#include "sources/gst/gst_untrusted.hpp"

#include <gst/app/gstappsink.h>

#include <spdlog/spdlog.h>

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace specklescope {

namespace {

using std::chrono::milliseconds;

constexpr guint kQueuedBuffers = 8;           ///< a live burst; a file waits when it is full
constexpr int kMostLent = kQueuedBuffers + 2; ///< slots in elements and in the queue
constexpr milliseconds kPoll{100};            ///< limit of waits in next()
constexpr milliseconds kDrain{1000};          ///< a broken file delivers nothing after this silence
constexpr milliseconds kStart{5000};          ///< a pipeline that has not started by then may lack an element
constexpr milliseconds kClosePatience{500};

int most_lent(const Shape& shape) {
    constexpr std::size_t kBudget = std::size_t{256} << 20;
    return static_cast<int>(std::clamp<std::size_t>(kBudget / shape.bytes(), 4, kMostLent));
}

/// GStreamer's message as a clause: without full stop, and with the cause from the debug text if the message
/// has none.
GstSource::Failure failure_of(GstMessage* message) {
    GError* raw = nullptr;
    gchar* raw_debug = nullptr;
    gst_message_parse_error(message, &raw, &raw_debug);
    const GstHandle<GError> error(raw);
    const GstHandle<gchar> debug(raw_debug);
    std::string text = error->message;
    const std::string detail = debug ? debug.get() : "";
    const bool vague = error->domain == GST_CORE_ERROR ||
                       (error->domain == GST_STREAM_ERROR &&
                        (error->code == GST_STREAM_ERROR_FAILED || error->code == GST_STREAM_ERROR_MUX));
    if (const std::size_t line = detail.rfind('\n');
        vague && line != std::string::npos && line + 1 < detail.size())
        text = detail.substr(line + 1);
    while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return {.reason = std::move(text), .domain = error->domain, .code = error->code};
}

bool is_limited() {
    rlimit memory{}, files{};
    return (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) ||
           (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 64);
}

/// False if GStreamer's registry lacks or blacklists a plugin that failed to load during its scan.
bool every_plugin_is_known() {
    GstRegistry* registry = gst_registry_get();
    GstPlugin* core = gst_registry_find_plugin(registry, "coreelements");
    const gchar* file = core ? gst_plugin_get_filename(core) : nullptr;
    std::error_code ignored;
    bool all = true;
    for (const auto& entry : std::filesystem::directory_iterator(
             file ? std::filesystem::path(file).parent_path() : std::filesystem::path(), ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("libgst") || !name.ends_with(".so"))
            continue;
        GstPlugin* plugin = gst_registry_lookup(registry, name.c_str());
        all = all && plugin && !GST_OBJECT_FLAG_IS_SET(plugin, GST_PLUGIN_FLAG_BLACKLISTED);
        g_clear_object(&plugin);
    }
    g_clear_object(&core);
    return all;
}

std::string since_it_lacks() {
    const std::string lacks = what_lacks();
    return lacks.empty() ? "" : ", since " + lacks;
}

/// True if a decoder requested by a "missing-plugin" message is installed: decodebin also sends it when all
/// of them failed to start.
bool is_installed(const GstCaps* caps) {
    GList* decoders = gst_element_factory_list_get_elements(
        GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_DEMUXER, GST_RANK_MARGINAL);
    GList* fitting = gst_element_factory_list_filter(decoders, caps, GST_PAD_SINK, FALSE);
    bool found = false;
    for (const GList* one = fitting; one; one = one->next)
        found = found || is_codec(GST_ELEMENT_FACTORY(one->data));
    gst_plugin_feature_list_free(fitting);
    gst_plugin_feature_list_free(decoders);
    return found;
}

/// Name of the decoder or element requested by a "missing-plugin" message; empty for other messages.
std::string missing_plugin(GstMessage* message, bool& installed) {
    const GstStructure* structure = gst_message_get_structure(message);
    if (!structure || !gst_structure_has_name(structure, "missing-plugin"))
        return {};
    const gchar* name = gst_structure_get_string(structure, "name");
    const gchar* codec = nullptr; // a codec without a name in GStreamer
    GstCaps* raw = nullptr;
    if (gst_structure_get(structure, "detail", GST_TYPE_CAPS, &raw, nullptr) && gst_caps_get_size(raw) > 0)
        codec = gst_structure_get_string(gst_caps_get_structure(raw, 0), "codec-id");
    const GstHandle<GstCaps> detail(raw);
    installed = (detail && is_installed(detail.get())) || !what_lacks().empty() ||
                (is_limited() && !every_plugin_is_known());
    return codec ? codec : name ? name : "a plugin";
}

} // namespace

GstHandle<GstElement> make_element(const char* factory, const char* package) {
    GstElement* element = gst_element_factory_make(factory, nullptr);
    if (!element) {
        const GstHandle<GstElementFactory> installed(gst_element_factory_find(factory));
        throw RunError(
            std::string("GStreamer's element '") + factory + "' " +
            (installed ? did_not_start() : std::string("is missing. Install the package ") + package + "."));
    }
    return own(element);
}

GstTail make_tail() {
    GstTail tail{make_element("videoconvert", "gstreamer1.0-plugins-base"),
                 make_element("appsink", "gstreamer1.0-plugins-base")};
    // A gst: text may contain an element named videoconvert0.
    gst_object_set_name(GST_OBJECT(tail.convert.get()), "specklescope.convert");
    gst_object_set_name(GST_OBJECT(tail.sink.get()), "specklescope.sink");
    gst_util_set_object_arg(G_OBJECT(tail.convert.get()), "dither",
                            "none"); // the same input gives the same output
    auto* sink = GST_APP_SINK(tail.sink.get());
    const GstHandle<GstCaps> caps = accepted_caps();
    gst_app_sink_set_caps(sink, caps.get());
    gst_app_sink_set_max_buffers(sink, kQueuedBuffers);
    gst_app_sink_set_drop(sink, FALSE);
    gst_base_sink_set_sync(GST_BASE_SINK(sink), FALSE);
    gst_base_sink_set_qos_enabled(GST_BASE_SINK(sink), FALSE);
    // Otherwise the sink keeps one buffer in addition to its queue, which a camera's pool then lacks.
    gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(sink), FALSE);
    obey_colours(tail.convert.get(), tail.sink.get());
    return tail;
}

void add_and_link(GstElement* pipeline, std::initializer_list<GstElement*> elements) {
    for (GstElement* element : elements)
        gst_bin_add(GST_BIN(pipeline), element);
    for (const auto* it = elements.begin(); it + 1 < elements.end(); ++it)
        if (!gst_element_link(it[0], it[1])) {
            const GstHandle<gchar> from(gst_element_get_name(it[0]));
            const GstHandle<gchar> to(gst_element_get_name(it[1]));
            throw RunError(std::string("GStreamer cannot connect ") + from.get() + " to " + to.get() + ".");
        }
}

void GstSource::set_name(const std::string& name) { name_ = without_secrets(name); }

SourceInfo GstSource::open() {
    init_gstreamer();
    close();
    if (pipeline_closing(key_))
        throw RunError(without_secrets(key_) + " is still being closed. Try again in a few seconds.");
    try {
        graph_ = build();
        lender_ = std::make_shared<SlotLender>();
        offer_slots(graph_.sink.get(), lender_);
        damaged_ = std::make_shared<DamagedFrames>();
        told_damage_ = false;
        check_buffers(pipeline(), damaged_);
        start();
        wait_first();
        const PixelLayout& first = layout(gst_sample_get_caps(first_.get()));
        SourceInfo info;
        info.name = name_;
        info.shape = first.shape;
        info.full_scale = type_full_scale(first.shape.type);
        info.live = live_;
        CopyReason reason = CopyReason::none;
        frame_in_place(gst_sample_get_buffer(first_.get()), first, reason);
        if (reason == CopyReason::not_lent) // the pool is in use
            info.lends = most_lent(info.shape);
        if (GST_VIDEO_INFO_FPS_D(&first.info) > 0)
            info.rate =
                static_cast<double>(GST_VIDEO_INFO_FPS_N(&first.info)) / GST_VIDEO_INFO_FPS_D(&first.info);
        info.lossy = lossy_codec(pipeline());
        opened(info);
        caps_.reset(); // opened() may change the layout
        info.name = name_;
        return info;
    } catch (...) {
        GstSource::close();
        throw;
    }
}

GstStateChangeReturn GstSource::set_state(GstState state) {
    const auto begun = SteadyClock::now();
    std::future<GstStateChangeReturn> done = set_state_aside(pipeline(), state);
    while (done.wait_for(kPoll) != std::future_status::ready) {
        work_goes_on("waiting for the first frame of " + name_);
        if (SteadyClock::now() - begun > kStart && !what_lacks().empty()) {
            (void)graph_.pipeline.release(); // NOLINT(bugprone-unused-return-value): it never comes to an end
            throw RunError("GStreamer " + did_not_start());
        }
    }
    return done.get();
}

void GstSource::start() {
    const GstStateChangeReturn paused = set_state(GST_STATE_PAUSED);
    live_ = paused == GST_STATE_CHANGE_NO_PREROLL;
    const bool failed =
        paused == GST_STATE_CHANGE_FAILURE || set_state(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE;
    if (failed) {
        poll_bus();
        throw RunError(error_.empty() ? explain({.reason = "it cannot be started" + since_it_lacks()})
                                      : error_);
    }
}

void GstSource::wait_first() {
    const auto deadline = SteadyClock::now() + open_timeout();
    while (!first_) {
        work_goes_on("waiting for the first frame of " + name_);
        first_ = pull(kPoll);
        if (first_)
            break;
        poll_bus();
        if (!error_.empty())
            throw RunError(error_);
        if (gst_app_sink_is_eos(GST_APP_SINK(graph_.sink.get()))) {
            const std::optional<DamagedFrame> damaged = damaged_->take();
            throw RunError(explain({.reason = damaged ? "its frames are damaged (" + damaged->why() + ")"
                                                      : "it has no frames"}));
        }
        if (SteadyClock::now() > deadline)
            throw RunError(
                explain({.reason = "no frame came within " + std::to_string(open_timeout().count() / 1000) +
                                   " s" + since_it_lacks()}));
    }
}

GstHandle<GstSample> GstSource::pull(milliseconds timeout) {
    return GstHandle<GstSample>(gst_app_sink_try_pull_sample(
        GST_APP_SINK(graph_.sink.get()), static_cast<GstClockTime>(timeout.count()) * GST_MSECOND));
}

void GstSource::poll_bus() {
    const GstHandle<GstBus> bus(gst_element_get_bus(pipeline()));
    // This call discards other messages, so that the bus does not grow over hours.
    const auto wanted = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    while (const GstHandle<GstMessage> message{gst_bus_pop_filtered(bus.get(), wanted)}) {
        if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ELEMENT) {
            bool installed = false;
            if (const std::string name = missing_plugin(message.get(), installed); !name.empty())
                missing_ = "'" + name + "', which " +
                           (installed ? did_not_start()
                                      : "is not installed. Install gstreamer1.0-libav, "
                                        "gstreamer1.0-plugins-bad or gstreamer1.0-plugins-ugly.");
        } else if (error_.empty()) {
            error_ = missing_.empty() ? explain(failure_of(message.get())) : name_ + " needs " + missing_;
            last_activity_ = SteadyClock::now();
        }
    }
}

Source::Status GstSource::next(FramePort& port) {
    if (!graph_.pipeline)
        throw RunError(name_ + " is not open.");
    GstHandle<GstSample> sample = first_ ? std::move(first_) : pull(kPoll);
    poll_bus();
    if (const std::optional<DamagedFrame> damaged = damaged_before(sample.get())) {
        first_ = std::move(sample); // a seek for the damaged frame discards it
        last_activity_ = SteadyClock::now();
        lose(*damaged, port);
        return Status::idle;
    }
    if (sample) {
        last_activity_ = SteadyClock::now();
        if (GST_BUFFER_FLAG_IS_SET(gst_sample_get_buffer(sample.get()), GST_BUFFER_FLAG_CORRUPTED)) {
            lose({.time = stream_time(sample.get()),
                  .number = frame_number(gst_sample_get_buffer(sample.get()))},
                 port);
            return Status::idle;
        }
        if (!live_ && !wanted(stream_time(sample.get()).value_or(0), false))
            return Status::idle;
        if (deliver(sample.get(), port) || live_)
            return Status::frame;
        first_ = std::move(sample); // no slot before a seek or the stop: keep it for later
        return Status::idle;
    }
    const bool eos = gst_app_sink_is_eos(GST_APP_SINK(graph_.sink.get()));
    // Frames decoded before the error are still in a file's queues.
    if (!error_.empty() && (eos || live_ || SteadyClock::now() - last_activity_ > kDrain))
        throw RunError(error_);
    return eos ? ended() : Status::idle;
}

std::optional<DamagedFrame> GstSource::damaged_before(GstSample* sample) {
    if (sample && !live_)
        return damaged_->take(stream_time(sample).value_or(0));
    const bool over = live_ || !error_.empty() || gst_app_sink_is_eos(GST_APP_SINK(graph_.sink.get()));
    return over ? damaged_->take() : std::nullopt;
}

void GstSource::lose(const DamagedFrame& frame, FramePort& port) {
    if (!live_ && !wanted(frame.time.value_or(0), true))
        return;
    port.lost(lost_before(frame.number) + 1, "came damaged");
    FrameInfo info;
    describe(info);
    if (!std::exchange(told_damage_, true))
        run_log().warn("{}{} is damaged ({}) and skipped; further ones are not reported.", name_,
                       info.position ? ": frame " + std::to_string(*info.position) : ": a frame",
                       frame.why());
}

bool GstSource::deliver(GstSample* sample, FramePort& port) {
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    if (const std::uint64_t gap = lost_before(frame_number(buffer)); gap > 0)
        port.lost(gap, "");
    const PixelLayout& now = layout(gst_sample_get_caps(sample));
    const std::int64_t captured = capture_time(sample);
    if (std::exchange(new_round_, false))
        port.discontinuity();
    Frame frame = fill_slot(buffer, now, port);
    if (!frame)
        return false;
    FrameInfo& info = frame.info();
    info.capture_ns = captured;
    info.film_ns = stream_time(sample);
    info.full_scale = type_full_scale(now.shape.type);
    info.assumed = assumed_;
    describe(info);
    if (!info.position)
        info.film_ns.reset();
    ++in_round_;
    port.submit(std::move(frame));
    return true;
}

/// The slot of the buffer, or one that the buffer is copied into.
Frame GstSource::fill_slot(GstBuffer* buffer, const PixelLayout& layout, FramePort& port) {
    CopyReason reason = CopyReason::none;
    Frame frame = frame_in_place(buffer, layout, reason);
    if (frame)
        return frame;
    if (reason == CopyReason::not_lent && !lender_->serves(layout.shape))
        lend_slots(layout.shape, port);
    frame = port.acquire(layout.shape);
    if (!frame)
        return frame;
    copy_buffer(buffer, layout, frame.host(), name_);
    if (maker_.empty())
        maker_ = memory_maker(graph_.sink.get());
    port.copied(to_string(reason, maker_, layout));
    return frame;
}

/// Call once per size: elements request memory on their own threads, long before there is a port.
void GstSource::lend_slots(const Shape& shape, FramePort& port) {
    const int most = most_lent(shape);
    const std::shared_ptr<FrameRing> ring = port.ring(shape, most);
    if (!ring)
        return;
    // With one frame being made and one being delivered, a file never needs more slots than are lent.
    if (!live_)
        gst_app_sink_set_max_buffers(GST_APP_SINK(graph_.sink.get()), static_cast<guint>(most - 2));
    lender_->serve(ring, most, !live_);
}

const PixelLayout& GstSource::layout(GstCaps* caps) {
    if (caps != caps_.get()) {
        PixelLayout changed = layout_of(caps, name_);
        changed.swap = changed.swap != (swap_bytes() && changed.shape.type == PixelType::u16);
        layout_ = changed;
        caps_.reset(gst_caps_ref(caps));
        maker_.clear();
        assumed_ = colour_assumptions(graph_.sink.get());
        for (const std::string& note : take_colour_notes(graph_.sink.get()))
            run_log().info("{} {}", name_, note);
    }
    return layout_;
}

std::int64_t GstSource::capture_time(GstSample* sample) {
    const GstBuffer* buffer = gst_sample_get_buffer(sample);
    const GstSegment* segment = gst_sample_get_segment(sample);
    const GstClockTime pts = GST_BUFFER_PTS(buffer);
    if (!GST_CLOCK_TIME_IS_VALID(pts) || segment->format != GST_FORMAT_TIME) {
        // Raw streams may have no times: uses the arrival time, or the position in a file of unknown rate.
        if (live_)
            return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch())
                .count();
        return last_end_ns_++;
    }
    if (live_)
        return static_cast<std::int64_t>(gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts) +
                                         gst_element_get_base_time(pipeline()));
    const GstClockTime at = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts);
    // Limits times from a file, so that sums of two are valid.
    constexpr std::int64_t kLast = kTooLate / 2;
    const auto bounded = [](GstClockTime time) {
        return static_cast<std::int64_t>(std::min(time, static_cast<GstClockTime>(kLast)));
    };
    const std::int64_t in_stream = bounded(GST_CLOCK_TIME_IS_VALID(at) ? at : pts);
    if (std::exchange(jumped_, false))
        loop_offset_ns_ = std::max(loop_offset_ns_, last_end_ns_ - in_stream);
    const std::int64_t time = std::min(loop_offset_ns_ + in_stream, kLast);
    const GstClockTime duration = GST_BUFFER_DURATION(buffer);
    last_end_ns_ =
        std::clamp(time + (GST_CLOCK_TIME_IS_VALID(duration) ? bounded(duration) : 1), last_end_ns_, kLast);
    return time;
}

std::uint64_t GstSource::lost_before(std::optional<std::uint64_t> number) {
    if (!live_ || !number)
        return 0;
    const std::optional<std::uint64_t> before = std::exchange(last_number_, number);
    return before && *number > *before + 1 ? *number - *before - 1 : 0;
}

bool GstSource::rewind() {
    loop_offset_ns_ = last_end_ns_;
    new_round_ = std::exchange(in_round_, 0) > 1; // a single repeated image follows itself
    const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
    return gst_element_seek_simple(pipeline(), GST_FORMAT_TIME, flags, 0) != FALSE;
}

bool GstSource::seek_time(std::int64_t time_ns) {
    if (!graph_.pipeline || !error_.empty()) // reopening failed, or the pipeline is broken
        return false;
    first_.reset();
    lender_->set_nonblocking(true);
    const auto flags =
        static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE);
    const bool well = gst_element_seek_simple(pipeline(), GST_FORMAT_TIME, flags, time_ns) != FALSE;
    lender_->set_nonblocking(false);
    jumped_ = true;
    new_round_ = false;
    return well;
}

void GstSource::restart() {
    const std::int64_t offset = loop_offset_ns_;
    const std::int64_t end = last_end_ns_;
    GstSource::close();
    GstSource::open();
    loop_offset_ns_ = offset;
    last_end_ns_ = end;
    jumped_ = true;
}

std::int64_t GstSource::first_time() const { return first_ ? stream_time(first_.get()).value_or(0) : 0; }

std::optional<std::int64_t> stream_time(GstSample* sample) {
    return stream_time(gst_sample_get_buffer(sample), *gst_sample_get_segment(sample));
}

void GstSource::close() {
    if (lender_)
        lender_->stop(); // a thread of the pipeline may wait for a slot
    lender_.reset();
    first_.reset();
    caps_.reset();
    new_round_ = jumped_ = false;
    in_round_ = 0;
    graph_.sink.reset();
    error_.clear();
    missing_.clear();
    last_number_.reset();
    loop_offset_ns_ = last_end_ns_ = 0;
    if (graph_.pipeline)
        retire_pipeline(std::move(graph_.pipeline), key_, kClosePatience);
}

} // namespace specklescope
