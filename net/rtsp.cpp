// An RTSP server with one mount. All viewers share one encoder, which runs while there is a viewer. The
// server's thread accepts clients and checks them; GStreamer's thread for clients reads their requests.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/source_argument.hpp"
#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"
#include "have_rtsp.hpp"
#include "net/address.hpp"
#include "net/outlet.hpp"
#include "recording/record_file.hpp"
#include "recording/video/planes.hpp"
#include "recording/video/video.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#ifdef SPECKLESCOPE_HAVE_RTSP
#include <gio/gio.h>
#include <gst/app/gstappsrc.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <gst/video/video.h>

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_RTSP

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Clients that connect within half a second share a key frame, because each key frame uses part of the
/// rate. Constant quality: this quantizer leaves about 40 dB for speckle in false colours with 4:4:4.
/// bound_rate() limits the rate. h264parse inserts the parameter sets once before each key frame. rtph264pay
/// would insert them before each slice, and zerolatency makes several: FFmpeg then decodes only one of them.
std::string pipeline_of(Chroma chroma) {
    return std::string(
               "( appsrc name=in is-live=true do-timestamp=true format=time max-buffers=2 max-bytes=0 "
               "max-time=0 ! x264enc name=encoder speed-preset=ultrafast tune=zerolatency "
               "key-int-max=60 min-force-key-unit-interval=500000000 pass=qual quantizer=12 ! "
               "video/x-h264,profile=") +
           (chroma == Chroma::full ? "high-4:4:4" : "constrained-baseline") +
           " ! h264parse config-interval=-1 ! rtph264pay name=pay0 pt=96 )";
}

/// The encoder's buffer contains a fifth of a second, and at most 1 Mbit: over UDP, clients lose packets of
/// a larger image, which are sent together.
void bound_rate(GstElement* encoder, double mbit_s) {
    constexpr double kLongestMs = 200, kMostMbit = 1;
    g_object_set(encoder, "bitrate", static_cast<guint>(std::max(1L, std::lround(mbit_s * 1000))),
                 "vbv-buf-capacity",
                 static_cast<guint>(std::lround(std::min(kLongestMs, 1000 * kMostMbit / mbit_s))), nullptr);
}
constexpr std::uint64_t kWaitingForEncoder = 2; ///< pictures queued for the encoder
constexpr guint kLookMs = 200;                  ///< interval of the check of clients
constexpr guint kEndMs = 5;                     ///< interval of the check for clients at the end
constexpr int kEndLooks = 400;                  ///< then the server ends without them
constexpr guint kMostSessions = 64;
constexpr gint kBacklog = 64;           ///< with 5, a viewer waits for seconds while others keep connecting
constexpr guint kMostBody = 65536;      ///< bytes of a request
constexpr const char* kRole = "viewer"; ///< role of clients with the password

// GStreamer limits sessions and bodies of requests, but not connections and headers, and it stops all viewers
// for 10 s when one of them over TCP does not read.
constexpr int kMostClients = 64;
constexpr auto kPatience = 1s;      ///< limit for a viewer that does not read while there are others
constexpr auto kIntroduction = 10s; ///< limit for a client without a session
/// Bytes that a client may send: requests are few, and those that keep a session alive are small.
constexpr std::uint64_t kMostTalk = std::uint64_t{256} << 10, kTalkEachSecond = 1024;

struct ObjectRelease {
    void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T> using Object = std::unique_ptr<T, ObjectRelease>;

/// A connection. The descriptor is a duplicate: GStreamer closes its own descriptor on the clients' thread.
/// That thread reads as long as a client sends, so the server's thread must end such a connection.
struct Visitor {
    Visitor(int descriptor, std::string address) : fd(descriptor), from(std::move(address)) {}
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    ~Visitor() { ::close(fd); }
    /// Resets the connection and discards unread data: after shutdown() a client that does not read would
    /// still wait for room to write.
    void end() {
        ended = true;
        const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
        (void)::connect(fd, &none, sizeof none);
    }

    const int fd;
    const std::string from;
    const Clock::time_point came = Clock::now();
    bool ended = false;                    ///< the clients' thread has not noticed yet
    std::uint64_t acknowledged = 0;        ///< bytes at the last check
    Clock::time_point took = came;         ///< last time it read, or had nothing to read
    std::optional<OutletClient> watches{}; ///< with the counts from before it began to watch
};

/// State shared with GStreamer's threads, some of which end later than the server.
struct Watched {
    /// Requires the mutex.
    bool push() {
        if (!source || !last)
            return false;
        auto* to = GST_APP_SRC(source.get());
        if (gst_app_src_get_current_level_buffers(to) >= kWaitingForEncoder)
            return false;
        // Before it plays, it may have a clock but no base time: its time stamps would then be days in the
        // future.
        GstState state = GST_STATE_NULL;
        gst_element_get_state(source.get(), &state, nullptr, 0);
        const bool plays = state == GST_STATE_PLAYING;
        if (!plays && begun)
            return false;
        if (shape != pushed) {
            bound_rate(encoder.get(), mbit_s > 0 ? mbit_s : default_mbit_s(shape));
            gst_app_src_set_caps(to, GstHandle<GstCaps>(planes_caps(shape, chroma)).get());
        }
        pushed = shape;
        GstBuffer* buffer = gst_buffer_copy(last); // with its own times and the same pixels
        if (!plays)
            GST_BUFFER_PTS(buffer) = 0;
        begun = true;
        return gst_app_src_push_buffer(to, buffer) == GST_FLOW_OK;
    }

    Watched(double rate, Chroma resolution) : mbit_s(rate), chroma(resolution) {}
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() { gst_clear_buffer(&last); }

    const double mbit_s; ///< 0: by the size
    const Chroma chroma;
    std::string name;
    std::atomic<bool> any{false};
    std::mutex mutex; ///< guards the members below
    GstHandle<GstElement> source, encoder;
    const GstRTSPMedia* media = nullptr; ///< for comparison only
    GstBuffer* last = nullptr;
    Shape shape{}, pushed{};
    bool begun = false;                   ///< the source has received an image
    std::uint64_t taken = 0, dropped = 0; ///< images given to the encoder, and images dropped without room
    std::map<GstRTSPClient*, Visitor> visitors;
    Clock::time_point single = Clock::now(); ///< last time with at most one client
    std::mutex telling;                      ///< guards the members below
    std::function<void()> on_watched;
};
using Shared = std::shared_ptr<Watched>;

void release(gpointer data, GClosure*) { delete static_cast<Shared*>(data); } // NOLINT: GLib's way to own

template <class Handler>
void connect(gpointer object, const char* signal, Handler handler, const Shared& shared) {
    g_signal_connect_data(object, signal, G_CALLBACK(handler), new Shared(shared), // NOLINT: as above
                          &release, GConnectFlags{});
}

void on_unprepared(GstRTSPMedia* media, gpointer data) {
    Watched& watched = **static_cast<Shared*>(data);
    const std::lock_guard lock(watched.mutex);
    if (media != watched.media)
        return;
    watched.source.reset();
    watched.encoder.reset();
    watched.media = nullptr;
    watched.any = false;
}

void on_media(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer data) {
    const Shared& shared = *static_cast<Shared*>(data);
    Watched& watched = *shared;
    const GstHandle<GstElement> bin(gst_rtsp_media_get_element(media));
    connect(media, "unprepared", &on_unprepared, shared);
    {
        const std::lock_guard lock(watched.mutex);
        watched.source.reset(gst_bin_get_by_name_recurse_up(GST_BIN(bin.get()), "in"));
        watched.encoder.reset(gst_bin_get_by_name_recurse_up(GST_BIN(bin.get()), "encoder"));
        watched.media = media;
        watched.pushed = {};
        watched.begun = false;
        watched.any = true;
        (void)watched.push();
    }
    const std::lock_guard lock(watched.telling);
    if (watched.on_watched)
        watched.on_watched();
}

/// Forces a key frame, so that a new viewer need not wait for the next one.
void on_play(GstRTSPClient* client, GstRTSPContext*, gpointer data) {
    Watched& watched = **static_cast<Shared*>(data);
    const std::lock_guard lock(watched.mutex);
    const auto visitor = watched.visitors.find(client);
    if (visitor == watched.visitors.end())
        return;
    const std::string& from = visitor->second.from;
    run_log().info("{} watches {}.", from, watched.name);
    if (auto& watches = visitor->second.watches; !watches) // otherwise it resumes
        watches = OutletClient{
            .from = from, .since = Clock::now(), .pictures = watched.taken, .dropped = watched.dropped};
    if (watched.encoder)
        gst_element_send_event(watched.encoder.get(),
                               gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
}

void on_closed(GstRTSPClient* client, gpointer data) {
    Watched& watched = **static_cast<Shared*>(data);
    const std::lock_guard lock(watched.mutex);
    watched.visitors.erase(client);
}

/// Called before the clients' thread gets the client.
void on_client(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
    const Shared& shared = *static_cast<Shared*>(data);
    GstRTSPConnection* connection = gst_rtsp_client_get_connection(client);
    gst_rtsp_connection_set_http_mode(connection, TRUE); // HTTP tunnels are not allowed
    connect(client, "play-request", &on_play, shared);
    connect(client, "closed", &on_closed, shared);
    GSocket* socket = gst_rtsp_connection_get_read_socket(connection);
    const int fd = ::fcntl(g_socket_get_fd(socket), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) { // no descriptors are left
        (void)g_socket_shutdown(socket, TRUE, TRUE, nullptr);
        return;
    }
    const char* ip = gst_rtsp_connection_get_ip(connection);
    const std::lock_guard lock(shared->mutex);
    shared->visitors.try_emplace(client, fd, ip ? ip : "");
}

bool has_session(GstRTSPClient* client) {
    GList* sessions = gst_rtsp_client_session_filter(client, nullptr, nullptr);
    const bool any = sessions != nullptr;
    g_list_free_full(sessions, g_object_unref);
    return any;
}

/// Reason to disconnect the client; empty if it stays.
std::string fault_of(Visitor& visitor, bool has_session, bool others_watch) {
    tcp_info info{};
    socklen_t size = sizeof info;
    int unsent = 0;
    if (::getsockopt(visitor.fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        ::ioctl(visitor.fd, SIOCOUTQ, &unsent) != 0)
        return "";
    const Clock::time_point now = Clock::now();
    if (unsent == 0 || info.tcpi_bytes_acked != visitor.acknowledged)
        visitor.took = now;
    visitor.acknowledged = info.tcpi_bytes_acked;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - visitor.came);
    if (age > kIntroduction && !has_session)
        return "has not requested images";
    if (info.tcpi_bytes_received > kMostTalk + kTalkEachSecond * static_cast<std::uint64_t>(age.count()))
        return "has sent too much";
    if (others_watch && now - visitor.took >= kPatience)
        return "has read no image for a second while others watch";
    return "";
}

struct Look {
    Watched& watched;
    int too_many;
    bool others_watch;
};

/// Called for the newest client first.
GstRTSPFilterResult judge(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
    auto& look = *static_cast<Look*>(data);
    const bool session = has_session(client);
    const std::lock_guard lock(look.watched.mutex);
    const auto found = look.watched.visitors.find(client);
    if (found == look.watched.visitors.end() || found->second.ended)
        return GST_RTSP_FILTER_KEEP;
    Visitor& visitor = found->second;
    const std::string fault =
        look.too_many-- > 0 ? "is one client too many" : fault_of(visitor, session, look.others_watch);
    if (!fault.empty()) {
        run_log().warn("{} {}; its connection to --serve was closed.", visitor.from, fault);
        visitor.end();
    }
    return GST_RTSP_FILTER_KEEP;
}

class RtspEnd final : public OutletEnd {
public:
    RtspEnd(const SourceArgument& given, double mbit_s, Chroma chroma)
        : watched_(std::make_shared<Watched>(mbit_s, chroma)) {
        const SourceArgument whole = given.resolved(from_environment);
        address_ = parse_serve_address(whole);
        remember_secrets(whole);
        init_gstreamer();
        if (!gst_element_exists("x264enc"))
            throw RunError("No H.264 encoder for --serve is installed. Install gstreamer1.0-plugins-ugly.");
        if (!gst_element_exists("h264parse"))
            throw RunError("No H.264 parser for --serve is installed. Install gstreamer1.0-plugins-bad.");
        if (!gst_element_exists("rtph264pay"))
            throw RunError("No RTP payloader for H.264 is installed. Install gstreamer1.0-plugins-good.");
        context_.reset(g_main_context_new());
        loop_.reset(g_main_loop_new(context_.get(), FALSE));
        make_server();
        thread_ = std::thread([this] {
            g_main_context_push_thread_default(context_.get());
            g_main_loop_run(loop_.get());
            g_main_context_pop_thread_default(context_.get());
        });
        if (!address_.loopback)
            run_log().warn("{} is open to everyone who reaches this machine over the network{}, unencrypted. "
                           "Use 127.0.0.1 to allow only this machine.",
                           name(), address_.user.empty() ? "" : " and knows the password");
        run_log().info("Images are served at {}.", name());
    }
    RtspEnd(const RtspEnd&) = delete;
    RtspEnd& operator=(const RtspEnd&) = delete;
    ~RtspEnd() override {
        {
            const std::lock_guard lock(watched_->telling);
            watched_->on_watched = nullptr;
        }
        attach(g_timeout_source_new(kEndMs), &RtspEnd::on_end);
        thread_.join();
    }

    std::string name() const override { return address_.shown(); }
    bool watched() const override { return watched_->any; }

    bool show(const RecordedFrame& picture) override {
        GstBuffer* buffer = make_planes(picture.pixels.host(), watched_->chroma);
        const std::lock_guard lock(watched_->mutex);
        gst_clear_buffer(&watched_->last);
        watched_->last = buffer;
        watched_->shape = picture.pixels.shape();
        const bool taken = watched_->push();
        ++(taken ? watched_->taken : watched_->dropped);
        return taken;
    }
    void show_again() override {
        const std::lock_guard lock(watched_->mutex);
        (void)watched_->push();
    }
    void tell(const std::function<void()>& on_watched) override {
        const std::lock_guard lock(watched_->telling);
        watched_->on_watched = on_watched;
    }
    std::vector<OutletClient> clients() const override {
        const std::lock_guard lock(watched_->mutex);
        std::vector<OutletClient> all;
        for (const auto& [client, visitor] : watched_->visitors)
            if (visitor.watches) {
                OutletClient& one = all.emplace_back(*visitor.watches);
                one.pictures = watched_->taken - one.pictures;
                one.dropped = watched_->dropped - one.dropped;
                one.still_s = std::chrono::duration<double>(Clock::now() - visitor.took).count();
            }
        return all;
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
        gst_rtsp_server_set_content_length_limit(server_.get(), kMostBody);
        gst_rtsp_server_set_backlog(server_.get(), kBacklog);
        factory_.reset(gst_rtsp_media_factory_new());
        gst_rtsp_media_factory_set_launch(factory_.get(), pipeline_of(watched_->chroma).c_str());
        gst_rtsp_media_factory_set_shared(factory_.get(), TRUE);
        gst_rtsp_media_factory_set_protocols(
            factory_.get(),
            static_cast<GstRTSPLowerTrans>(GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP));
        connect(factory_.get(), "media-configure", &on_media, watched_);
        connect(server_.get(), "client-connected", &on_client, watched_);
        if (!address_.user.empty())
            ask_for_password();
        const Object<GstRTSPMountPoints> mounts(gst_rtsp_server_get_mount_points(server_.get()));
        gst_rtsp_mount_points_add_factory(mounts.get(), address_.path.c_str(),
                                          GST_RTSP_MEDIA_FACTORY(g_object_ref(factory_.get())));
        GError* raw = nullptr;
        GSource* listening = gst_rtsp_server_create_source(server_.get(), nullptr, &raw);
        if (const GstHandle<GError> error(raw); !listening)
            throw RunError("Images cannot be served at " + name() + ": " +
                           (error ? error->message : "the address cannot be opened") +
                           ". Name another port, or end the program that uses it.");
        listening_ = g_source_attach(listening, context_.get());
        g_source_unref(listening);
        address_.port = gst_rtsp_server_get_bound_port(server_.get());
        attach(g_timeout_source_new_seconds(2), &RtspEnd::on_clean);
        attach(g_timeout_source_new(kLookMs), &RtspEnd::on_look);
        watched_->name = name();
    }

    void attach(GSource* source, GSourceFunc call) {
        g_source_set_callback(source, call, this, nullptr);
        g_source_attach(source, context_.get());
        g_source_unref(source);
    }

    /// Digest authentication: neither the password nor reusable data is transmitted.
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

    /// Frees sessions of clients that disappeared without closing their connection.
    static gboolean on_clean(gpointer data) {
        const Object<GstRTSPSessionPool> sessions(
            gst_rtsp_server_get_session_pool(static_cast<RtspEnd*>(data)->server_.get()));
        gst_rtsp_session_pool_cleanup(sessions.get());
        return G_SOURCE_CONTINUE;
    }
    static gboolean on_look(gpointer data) {
        const auto* self = static_cast<RtspEnd*>(data);
        Watched& watched = *self->watched_;
        Look look{watched, 0, false};
        {
            const std::lock_guard lock(watched.mutex);
            const auto clients =
                static_cast<int>(std::count_if(watched.visitors.begin(), watched.visitors.end(),
                                               [](const auto& one) { return !one.second.ended; }));
            if (clients <= 1)
                watched.single = Clock::now();
            look.too_many = clients - kMostClients;
            look.others_watch = Clock::now() - watched.single >= kPatience;
        }
        gst_rtsp_server_client_filter(self->server_.get(), &judge, &look);
        return G_SOURCE_CONTINUE;
    }
    static gboolean on_end(gpointer data) {
        auto* self = static_cast<RtspEnd*>(data);
        if (GSource* source = g_main_context_find_source_by_id(self->context_.get(), self->listening_))
            g_source_destroy(source);
        const std::lock_guard lock(self->watched_->mutex);
        auto& visitors = self->watched_->visitors;
        for (auto& [client, visitor] : visitors)
            visitor.end();
        if (!visitors.empty() && ++self->looks_at_end_ < kEndLooks)
            return G_SOURCE_CONTINUE;
        if (!visitors.empty())
            run_log().debug("{} clients of --serve have not heard of its end.", visitors.size());
        g_main_loop_quit(self->loop_.get());
        return G_SOURCE_REMOVE;
    }

    ServeAddress address_;
    std::unique_ptr<GMainContext, ContextRelease> context_;
    std::unique_ptr<GMainLoop, ContextRelease> loop_;
    Object<GstRTSPServer> server_;
    Object<GstRTSPMediaFactory> factory_;
    guint listening_ = 0;
    int looks_at_end_ = 0; ///< used by the server's thread
    std::thread thread_;
    const Shared watched_;
};

} // namespace

std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address, double mbit_s, Chroma chroma) {
    return std::make_unique<RtspEnd>(address, mbit_s, chroma);
}

std::string rtsp_server_version() { return SPECKLESCOPE_RTSP_VERSION; }

#else

std::unique_ptr<OutletEnd> make_rtsp_end(const SourceArgument& address, double, Chroma) {
    (void)parse_serve_address(address.resolved(from_environment));
    throw RunError("RTSP is not available: built without GStreamer's RTSP server. Install "
                   "libgstrtspserver-1.0-dev, and build again.");
}

std::string rtsp_server_version() { return ""; }

#endif

double default_mbit_s(const Shape& shape) {
    constexpr double kPixelBits = 30; // bits per pixel and second
    return std::clamp(kPixelBits * 1e-6 * static_cast<double>(shape.pixels()), 4.0, 30.0);
}

} // namespace specklescope
