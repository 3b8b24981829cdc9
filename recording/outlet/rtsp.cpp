// An RTSP server with one mount. All who watch share one encoder, which runs while somebody does.
#include "base/error.hpp"
#include "base/log.hpp"
#include "files/gst_init.hpp"
#include "have_rtsp.hpp"
#include "recording/outlet/outlet.hpp"
#include "recording/outlet/planes.hpp"
#include "recording/video/encoders.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <thread>

#ifdef SPECKLESCOPE_HAVE_RTSP
#include <gst/app/gstappsrc.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <gst/video/video.h>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_RTSP

namespace {

/// A quantizer alone decides, as in recordings; this one leaves speckle in false colours about 36 dB.
constexpr const char* kPipeline =
    "( appsrc name=in is-live=true do-timestamp=true format=time max-buffers=2 max-bytes=0 max-time=0 ! "
    "x264enc name=encoder speed-preset=ultrafast tune=zerolatency pass=quant quantizer=14 qp-min=0 "
    "key-int-max=60 "
    "aud=false ! rtph264pay name=pay0 pt=96 config-interval=-1 )";
constexpr std::uint64_t kWaiting = 2;   ///< pictures in front of the encoder
constexpr guint kMostSessions = 64;     ///< of strangers
constexpr const char* kRole = "viewer"; ///< of whoever knows the password

struct ObjectRelease {
    void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T> using Object = std::unique_ptr<T, ObjectRelease>;

class RtspEnd final : public OutletEnd {
public:
    explicit RtspEnd(const SourceArgument& given) {
        const SourceArgument whole = given.resolved(from_environment);
        address_ = parse_serve_address(whole);
        init_gstreamer();
        if (!gst_element_exists("x264enc"))
            throw RunError("No H.264 encoder for --serve is installed; install gstreamer1.0-plugins-ugly.");
        if (!gst_element_exists("rtph264pay"))
            throw RunError(
                "Nothing that sends H.264 over RTP is installed; install gstreamer1.0-plugins-good.");
        context_.reset(g_main_context_new());
        loop_.reset(g_main_loop_new(context_.get(), FALSE));
        make_server();
        thread_ = std::thread([this] {
            g_main_context_push_thread_default(context_.get());
            g_main_loop_run(loop_.get());
            g_main_context_pop_thread_default(context_.get());
        });
        if (!address_.loopback)
            run_log().warn("{} is open to whoever reaches this machine over the network{}: pictures go out "
                           "unencrypted; 127.0.0.1 keeps them on it.",
                           name(), address_.user.empty() ? "" : " and knows the password");
        run_log().info("Pictures are served at {}.", name());
    }
    RtspEnd(const RtspEnd&) = delete;
    RtspEnd& operator=(const RtspEnd&) = delete;
    ~RtspEnd() override {
        // On the server's own thread: its clients are of it.
        g_main_context_invoke(context_.get(), &RtspEnd::on_end, this);
        thread_.join();
        g_source_destroy(listening_);
        g_source_unref(listening_);
        g_source_destroy(cleaning_);
        g_source_unref(cleaning_);
        forget_media(nullptr);
        factory_.reset();
        server_.reset();
        gst_clear_buffer(&last_);
    }

    std::string name() const override { return address_.shown(); }
    bool watched() const override { return watched_; }

    bool show(const RecordedFrame& picture) override {
        GstBuffer* buffer = make_planes(picture.pixels.host());
        const std::lock_guard lock(mutex_);
        gst_clear_buffer(&last_);
        last_ = buffer;
        shape_ = picture.pixels.shape();
        return push();
    }
    void show_again() override {
        const std::lock_guard lock(mutex_);
        (void)push();
    }

private:
    struct ContextRelease {
        void operator()(GMainContext* context) const { g_main_context_unref(context); }
        void operator()(GMainLoop* loop) const { g_main_loop_unref(loop); }
    };

    void make_server() {
        server_.reset(gst_rtsp_server_new());
        const std::string host = address_.host == "*" ? "0.0.0.0"
                                 : address_.host.starts_with('[')
                                     ? address_.host.substr(1, address_.host.size() - 2)
                                     : address_.host;
        gst_rtsp_server_set_address(server_.get(), host.c_str());
        gst_rtsp_server_set_service(server_.get(), std::to_string(address_.port).c_str());
        const Object<GstRTSPSessionPool> sessions(gst_rtsp_session_pool_new());
        gst_rtsp_session_pool_set_max_sessions(sessions.get(), kMostSessions);
        gst_rtsp_server_set_session_pool(server_.get(), sessions.get());
        factory_.reset(gst_rtsp_media_factory_new());
        gst_rtsp_media_factory_set_launch(factory_.get(), kPipeline);
        gst_rtsp_media_factory_set_shared(factory_.get(), TRUE);
        gst_rtsp_media_factory_set_protocols(
            factory_.get(),
            static_cast<GstRTSPLowerTrans>(GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP));
        g_signal_connect(factory_.get(), "media-configure", G_CALLBACK(&RtspEnd::on_media), this);
        g_signal_connect(server_.get(), "client-connected", G_CALLBACK(&RtspEnd::on_client), this);
        if (!address_.user.empty())
            ask_for_password();
        const Object<GstRTSPMountPoints> mounts(gst_rtsp_server_get_mount_points(server_.get()));
        gst_rtsp_mount_points_add_factory(mounts.get(), address_.path.c_str(),
                                          GST_RTSP_MEDIA_FACTORY(g_object_ref(factory_.get())));
        GError* raw = nullptr;
        listening_ = gst_rtsp_server_create_source(server_.get(), nullptr, &raw);
        if (const GstHandle<GError> error(raw); !listening_)
            throw RunError("Pictures cannot be served at " + name() + ": " +
                           (error ? error->message : "the address cannot be opened") +
                           "; name another port, or end the program that has it.");
        g_source_set_callback(listening_, reinterpret_cast<GSourceFunc>(gst_rtsp_server_io_func),
                              server_.get(), // NOLINT
                              nullptr);
        g_source_attach(listening_, context_.get());
        cleaning_ = g_timeout_source_new_seconds(2); // sessions of clients that went without a word
        g_source_set_callback(cleaning_, &RtspEnd::on_clean, server_.get(), nullptr);
        g_source_attach(cleaning_, context_.get());
        address_.port = gst_rtsp_server_get_bound_port(server_.get());
    }

    /// By digest: neither the password nor what could be used again crosses the wire.
    void ask_for_password() {
        const Object<GstRTSPAuth> auth(gst_rtsp_auth_new());
        gst_rtsp_auth_set_supported_methods(auth.get(), GST_RTSP_AUTH_DIGEST);
        gst_rtsp_auth_set_realm(auth.get(), "specklescope");
        GstRTSPToken* token =
            gst_rtsp_token_new(GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, kRole, nullptr);
        gst_rtsp_auth_add_digest(auth.get(), address_.user.c_str(), address_.password.c_str(), token);
        gst_rtsp_token_unref(token);
        gst_rtsp_media_factory_add_role(factory_.get(), kRole, GST_RTSP_PERM_MEDIA_FACTORY_ACCESS,
                                        G_TYPE_BOOLEAN, TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT,
                                        G_TYPE_BOOLEAN, TRUE, nullptr);
        gst_rtsp_server_set_auth(server_.get(), auth.get());
    }

    /// Under the mutex.
    bool push() {
        if (!source_ || !last_)
            return false;
        auto* source = GST_APP_SRC(source_.get());
        if (gst_app_src_get_current_level_buffers(source) >= kWaiting)
            return false;
        if (shape_ != pushed_) {
            gst_app_src_set_caps(source, planes_caps(shape_).get());
            pushed_ = shape_;
        }
        GstBuffer* buffer = gst_buffer_copy(last_); // its own times, the same pixels
        return gst_app_src_push_buffer(source, buffer) == GST_FLOW_OK;
    }

    /// Null: any.
    void forget_media(GstRTSPMedia* media) {
        const std::lock_guard lock(mutex_);
        if (media && media != media_)
            return;
        source_.reset();
        encoder_.reset();
        media_ = nullptr;
        watched_ = false;
    }

    static void on_media(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer data) {
        auto* self = static_cast<RtspEnd*>(data);
        const GstHandle<GstElement> bin(gst_rtsp_media_get_element(media));
        {
            const std::lock_guard lock(self->mutex_);
            self->source_.reset(gst_bin_get_by_name_recurse_up(GST_BIN(bin.get()), "in"));
            self->encoder_.reset(gst_bin_get_by_name_recurse_up(GST_BIN(bin.get()), "encoder"));
            self->media_ = media;
            self->pushed_ = {};
            self->watched_ = true;
            (void)self->push();
        }
        g_signal_connect(media, "unprepared", G_CALLBACK(&RtspEnd::on_unprepared), data);
        if (self->on_watched)
            self->on_watched();
    }
    static void on_unprepared(GstRTSPMedia* media, gpointer data) {
        static_cast<RtspEnd*>(data)->forget_media(media);
    }

    static void on_client(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
        g_signal_connect(client, "play-request", G_CALLBACK(&RtspEnd::on_play), data);
        g_signal_connect(client, "closed", G_CALLBACK(&RtspEnd::on_closed), nullptr);
    }
    /// Who comes later need not wait for the next whole picture.
    static void on_play(GstRTSPClient* client, GstRTSPContext*, gpointer data) {
        auto* self = static_cast<RtspEnd*>(data);
        GstRTSPConnection* connection = gst_rtsp_client_get_connection(client);
        run_log().info("{} watches {}.", connection ? gst_rtsp_connection_get_ip(connection) : "Somebody",
                       self->name());
        const std::lock_guard lock(self->mutex_);
        if (self->encoder_)
            gst_element_send_event(self->encoder_.get(),
                                   gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
    }
    static void on_closed(GstRTSPClient*, gpointer) { run_log().debug("A client of --serve has gone."); }

    static gboolean on_clean(gpointer data) {
        const Object<GstRTSPSessionPool> sessions(gst_rtsp_server_get_session_pool(GST_RTSP_SERVER(data)));
        gst_rtsp_session_pool_cleanup(sessions.get());
        return G_SOURCE_CONTINUE;
    }
    static GstRTSPFilterResult remove_client(GstRTSPServer*, GstRTSPClient*, gpointer) {
        return GST_RTSP_FILTER_REMOVE;
    }
    static gboolean on_end(gpointer data) {
        auto* self = static_cast<RtspEnd*>(data);
        gst_rtsp_server_client_filter(self->server_.get(), &RtspEnd::remove_client, nullptr);
        g_main_loop_quit(self->loop_.get());
        return G_SOURCE_REMOVE;
    }

    ServeAddress address_;
    std::unique_ptr<GMainContext, ContextRelease> context_;
    std::unique_ptr<GMainLoop, ContextRelease> loop_;
    Object<GstRTSPServer> server_;
    Object<GstRTSPMediaFactory> factory_;
    GSource* listening_ = nullptr;
    GSource* cleaning_ = nullptr;
    std::thread thread_;
    std::atomic<bool> watched_{false};

    std::mutex mutex_; ///< of what follows
    GstHandle<GstElement> source_, encoder_;
    GstRTSPMedia* media_ = nullptr; ///< to know it again
    GstBuffer* last_ = nullptr;
    Shape shape_{}, pushed_{};
};

} // namespace

std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address) {
    return std::make_unique<RtspEnd>(address);
}

std::string rtsp_server_version() { return SPECKLESCOPE_RTSP_VERSION; }

#else

std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address) {
    (void)parse_serve_address(address.resolved(from_environment));
    throw RunError("This build cannot serve pictures: it was made without GStreamer's RTSP server; install "
                   "libgstrtspserver-1.0-dev, and build it again.");
}

std::string rtsp_server_version() { return ""; }

#endif

} // namespace specklescope
