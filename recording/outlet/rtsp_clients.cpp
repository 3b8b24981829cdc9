#include "have_rtsp.hpp"

#ifdef SPECKLESCOPE_HAVE_RTSP

#include "base/log.hpp"
#include "base/reset_connection.hpp"
#include "recording/outlet/rtsp_clients.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kMostClients = 64;
constexpr auto kPatience = 1s;      ///< with one that takes nothing while others watch
constexpr auto kIntroduction = 10s; ///< until it has asked for the pictures
/// Bytes that a client sends: its requests are few, and what keeps it alive is small.
constexpr std::uint64_t kMostTalk = std::uint64_t{256} << 10, kTalkEachSecond = 1024;

/// Of one client, at the last look.
struct Known {
    Clock::time_point came = Clock::now();
    std::uint64_t taken = 0; ///< bytes of what was sent
    Clock::time_point took = Clock::now();
    Clock::time_point alone = Clock::now();
};
constexpr const char* kKnown = "specklescope-known";
constexpr const char* kWatches = "specklescope-watches"; ///< an OutletClient, which stays as it is

Known& known(GstRTSPClient* client) {
    auto* found = static_cast<Known*>(g_object_get_data(G_OBJECT(client), kKnown));
    if (!found) {
        found = new Known; // NOLINT: the client owns it
        g_object_set_data_full(G_OBJECT(client), kKnown, found,
                               [](gpointer data) { delete static_cast<Known*>(data); }); // NOLINT
    }
    return *found;
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
Clock::duration stands_still(int fd, const tcp_info& info, Known& of) {
    int waiting = 0;
    if (::ioctl(fd, SIOCOUTQ, &waiting) != 0 || waiting == 0 || info.tcpi_bytes_acked != of.taken) {
        of.taken = info.tcpi_bytes_acked;
        of.took = Clock::now();
    }
    return Clock::now() - of.took;
}

bool talks_too_much(const tcp_info& info, const Known& of) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - of.came);
    return info.tcpi_bytes_received > kMostTalk + kTalkEachSecond * static_cast<std::uint64_t>(age.count());
}

struct Look {
    int clients = 0, seen = 0;
    std::vector<OutletClient> watch{};
};

GstRTSPFilterResult let_go(GSocket* socket) {
    if (socket)
        reset_connection(g_socket_get_fd(socket));
    return GST_RTSP_FILTER_REMOVE;
}

/// The newest come first.
GstRTSPFilterResult judge(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
    auto& look = *static_cast<Look*>(data);
    GstRTSPConnection* connection = gst_rtsp_client_get_connection(client);
    GSocket* socket = connection ? gst_rtsp_connection_get_write_socket(connection) : nullptr;
    if (look.seen++ < look.clients - kMostClients) {
        run_log().debug("A client of --serve is one more than {}, and is let go.", kMostClients);
        return let_go(socket);
    }
    Known& of = known(client);
    if (!socket)
        return GST_RTSP_FILTER_KEEP;
    const char* who = gst_rtsp_connection_get_ip(connection);
    if (Clock::now() - of.came > kIntroduction && !has_session(client)) {
        run_log().debug("{} has asked for no pictures, and is let go.", who);
        return let_go(socket);
    }
    tcp_info info{};
    socklen_t size = sizeof info;
    const int fd = g_socket_get_fd(socket);
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return GST_RTSP_FILTER_KEEP;
    if (talks_too_much(info, of)) {
        run_log().warn("{} has sent more than anybody who watches, and is let go.", who);
        return let_go(socket);
    }
    // Over TCP the server waits for its slowest client, for ten seconds: who takes nothing for a second is
    // let go where others watch.
    const Clock::duration still = stands_still(fd, info, of);
    if (look.clients == 1)
        of.alone = Clock::now();
    if (still >= kPatience && Clock::now() - of.alone >= kPatience) {
        run_log().warn("{} has not read its pictures for a second while others watch, and gets no more.",
                       who);
        return let_go(socket);
    }
    if (const auto* watches = static_cast<OutletClient*>(g_object_get_data(G_OBJECT(client), kWatches))) {
        look.watch.push_back(*watches);
        look.watch.back().still_s = std::chrono::duration<double>(still).count();
    }
    return GST_RTSP_FILTER_KEEP;
}

GstRTSPFilterResult count_client(GstRTSPServer*, GstRTSPClient*, gpointer count) {
    ++*static_cast<int*>(count);
    return GST_RTSP_FILTER_KEEP;
}

int count_of(GstRTSPServer* server) {
    int clients = 0;
    gst_rtsp_server_client_filter(server, &count_client, &clients);
    return clients;
}

} // namespace

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

} // namespace specklescope

#endif
