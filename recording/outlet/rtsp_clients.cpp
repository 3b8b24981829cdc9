#include "have_rtsp.hpp"

#ifdef SPECKLESCOPE_HAVE_RTSP

#include "base/log.hpp"
#include "base/reset_connection.hpp"
#include "files/gst_handles.hpp"
#include "recording/outlet/rtsp_clients.hpp"

#include <spdlog/spdlog.h>

#include <gio/gio.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kMostClients = 64;
constexpr auto kPatience = 1s;      ///< with one that takes nothing while others watch
constexpr auto kShortage = 50ms;    ///< until it is tried again where there are no descriptors left
constexpr auto kIntroduction = 10s; ///< until it has asked for the pictures
/// Bytes that a client sends: its requests are few, and what keeps it alive is small.
constexpr std::uint64_t kMostTalk = std::uint64_t{256} << 10, kTalkEachSecond = 1024;

/// Of one client. What GStreamer knows of its connection belongs to the client's thread, which alone may
/// close it: closed by another one, it was read for ever. So the server's thread has a descriptor of its own.
class Visitor {
public:
    explicit Visitor(int descriptor) : fd_(descriptor) {}
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    ~Visitor() { forget(); }

    /// On the client's thread, which has closed the connection.
    void forget() {
        const std::lock_guard lock(mutex_);
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = -1;
    }
    /// Its own thread hears of it, and closes.
    void let_go() {
        const std::lock_guard lock(mutex_);
        gone = true;
        if (fd_ >= 0)
            reset_connection(fd_);
    }
    /// False: the connection is no more.
    bool look(tcp_info& info, int& unsent) const {
        const std::lock_guard lock(mutex_);
        socklen_t size = sizeof info;
        return fd_ >= 0 && ::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
               ::ioctl(fd_, SIOCOUTQ, &unsent) == 0;
    }

    std::string from;
    bool gone = false; ///< what it is waits for its own thread
    Clock::time_point came = Clock::now();
    std::uint64_t taken = 0; ///< bytes of what was sent, at the last look
    Clock::time_point took = Clock::now();
    Clock::time_point alone = Clock::now();

private:
    mutable std::mutex mutex_;
    int fd_;
};
constexpr const char* kVisitor = "specklescope-visitor";
constexpr const char* kWatches = "specklescope-watches"; ///< an OutletClient, which stays as it is

Visitor* visitor(GstRTSPClient* client) {
    return static_cast<Visitor*>(g_object_get_data(G_OBJECT(client), kVisitor));
}

void on_closed(GstRTSPClient* client, gpointer) {
    run_log().debug("A client of --serve has gone.");
    visitor(client)->forget();
}

/// Before its own thread has it. RTSP through HTTP is not spoken: it has two connections, of which this one
/// could be lost while the other lives on.
void on_arrival(GstRTSPServer*, GstRTSPClient* client, gpointer arrived) {
    g_object_set_data_full(G_OBJECT(client), kVisitor,
                           static_cast<std::unique_ptr<Visitor>*>(arrived)->release(),
                           [](gpointer data) { delete static_cast<Visitor*>(data); }); // NOLINT
    gst_rtsp_connection_set_http_mode(gst_rtsp_client_get_connection(client), TRUE);
    g_signal_connect(client, "closed", G_CALLBACK(&on_closed), nullptr);
}

GstRTSPFilterResult count_session(GstRTSPClient*, GstRTSPSession*, gpointer count) {
    ++*static_cast<int*>(count);
    return GST_RTSP_FILTER_KEEP;
}

bool has_session(GstRTSPClient* client) {
    int sessions = 0;
    gst_rtsp_client_session_filter(client, &count_session, &sessions);
    return sessions > 0;
}

/// How long it has taken nothing of what waits for it.
Clock::duration stands_still(const tcp_info& info, int unsent, Visitor& of) {
    if (unsent == 0 || info.tcpi_bytes_acked != of.taken) {
        of.taken = info.tcpi_bytes_acked;
        of.took = Clock::now();
    }
    return Clock::now() - of.took;
}

bool talks_too_much(const tcp_info& info, const Visitor& of) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - of.came);
    return info.tcpi_bytes_received > kMostTalk + kTalkEachSecond * static_cast<std::uint64_t>(age.count());
}

struct Look {
    int clients = 0, seen = 0;
    std::vector<OutletClient> watch{};
};

/// The newest come first.
GstRTSPFilterResult judge(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
    auto& look = *static_cast<Look*>(data);
    Visitor* const of = visitor(client);
    if (!of || of->gone)
        return GST_RTSP_FILTER_KEEP;
    if (look.seen++ < look.clients - kMostClients) {
        run_log().debug("A client of --serve is one more than {}, and is let go.", kMostClients);
        of->let_go();
        return GST_RTSP_FILTER_KEEP;
    }
    tcp_info info{};
    int unsent = 0;
    if (!of->look(info, unsent))
        return GST_RTSP_FILTER_KEEP;
    if (Clock::now() - of->came > kIntroduction && !has_session(client)) {
        run_log().debug("{} has asked for no pictures, and is let go.", of->from);
        of->let_go();
        return GST_RTSP_FILTER_KEEP;
    }
    if (talks_too_much(info, *of)) {
        run_log().warn("{} has sent more than anybody who watches, and is let go.", of->from);
        of->let_go();
        return GST_RTSP_FILTER_KEEP;
    }
    // Over TCP the server waits for its slowest client, for ten seconds: who takes nothing for a second is
    // let go where others watch.
    const Clock::duration still = stands_still(info, unsent, *of);
    if (look.clients == 1)
        of->alone = Clock::now();
    if (still >= kPatience && Clock::now() - of->alone >= kPatience) {
        run_log().warn("{} has not read its pictures for a second while others watch, and gets no more.",
                       of->from);
        of->let_go();
        return GST_RTSP_FILTER_KEEP;
    }
    if (const auto* watches = static_cast<OutletClient*>(g_object_get_data(G_OBJECT(client), kWatches))) {
        look.watch.push_back(*watches);
        look.watch.back().still_s = std::chrono::duration<double>(still).count();
    }
    return GST_RTSP_FILTER_KEEP;
}

/// Such as have yet to hear that they are let go are not counted.
GstRTSPFilterResult count_client(GstRTSPServer*, GstRTSPClient* client, gpointer count) {
    const Visitor* const of = visitor(client);
    *static_cast<int*>(count) += of && !of->gone ? 1 : 0;
    return GST_RTSP_FILTER_KEEP;
}

GstRTSPFilterResult end_client(GstRTSPServer*, GstRTSPClient* client, gpointer count) {
    if (Visitor* const of = visitor(client); of && !of->gone)
        of->let_go();
    ++*static_cast<int*>(count);
    return GST_RTSP_FILTER_KEEP;
}

int count_of(GstRTSPServer* server) {
    int clients = 0;
    gst_rtsp_server_client_filter(server, &count_client, &clients);
    return clients;
}

} // namespace

void let_in(GstRTSPServer* server, GSocket* listening) {
    GError* raw = nullptr;
    GSocket* const socket = g_socket_accept(listening, nullptr, &raw);
    if (const GstHandle<GError> error(raw); !socket) {
        run_log().debug("A client of --serve went before it was let in: {}",
                        error ? error->message : "no reason is known");
        if (!error || !g_error_matches(error.get(), G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
            std::this_thread::sleep_for(kShortage);
        return;
    }
    const int own = ::fcntl(g_socket_get_fd(socket), F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        run_log().debug("A client of --serve is let go: {}", std::generic_category().message(errno));
        g_object_unref(socket);
        return;
    }
    auto arrived = std::make_unique<Visitor>(own);
    int port = 0;
    if (GSocketAddress* const from = g_socket_get_remote_address(socket, nullptr)) {
        if (G_IS_INET_SOCKET_ADDRESS(from)) {
            const GstHandle<gchar> ip(
                g_inet_address_to_string(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(from))));
            arrived->from = ip.get();
            port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(from));
        }
        g_object_unref(from);
    }
    const std::string from = arrived->from; // the visitor may have gone before the call returns
    const gulong arrival = g_signal_connect(server, "client-connected", G_CALLBACK(&on_arrival), &arrived);
    if (!gst_rtsp_server_transfer_connection(server, socket, from.c_str(), port, nullptr))
        run_log().debug("A client of --serve went before it was let in.");
    g_signal_handler_disconnect(server, arrival);
}

void begins_to_watch(GstRTSPClient* client, const PicturesCounted& now) {
    if (g_object_get_data(G_OBJECT(client), kWatches)) // it goes on after a pause
        return;
    const GstRTSPConnection* connection = gst_rtsp_client_get_connection(client);
    auto* watches =
        new OutletClient{.from = connection ? gst_rtsp_connection_get_ip(connection) : "", // NOLINT
                         .since = Clock::now(),
                         .pictures = now.taken,
                         .dropped = now.dropped};
    g_object_set_data_full(G_OBJECT(client), kWatches, watches,
                           [](gpointer data) { delete static_cast<OutletClient*>(data); }); // NOLINT
}

std::vector<OutletClient> judge_clients(GstRTSPServer* server) {
    Look look{.clients = count_of(server)};
    gst_rtsp_server_client_filter(server, &judge, &look);
    return std::move(look.watch);
}

int send_away(GstRTSPServer* server) {
    int left = 0;
    gst_rtsp_server_client_filter(server, &end_client, &left);
    return left;
}

} // namespace specklescope

#endif
