#include "have_zmq.hpp"

#ifdef SPECKLESCOPE_HAVE_ZMQ

#include "base/log.hpp"
#include "base/reset_connection.hpp"
#include "net/connection_watch.hpp"
#include "net/readable.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
constexpr auto kLook = 20ms;
constexpr std::uint64_t kForgivenEachSecond = 1024; ///< bytes: what keeps a connection alive says nothing

struct End {
    std::string host, port;
    bool operator==(const End& other) const { return host == other.host && port == other.port; }
};

constexpr const char* kUnix = "the socket's file";

using NameOf = int (*)(int, sockaddr*, socklen_t*);

/// Of a Unix socket, whose other end has no name: itself. Nothing: no connection.
std::optional<End> end_of(int descriptor, NameOf name_of) {
    sockaddr_storage place{};
    socklen_t size = sizeof place;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    auto* const address = reinterpret_cast<sockaddr*>(&place);
    if (name_of(descriptor, address, &size) != 0)
        return std::nullopt;
    if (struct stat self{}; place.ss_family == AF_UNIX && ::fstat(descriptor, &self) == 0)
        return End{kUnix, std::to_string(self.st_ino)};
    if ((place.ss_family != AF_INET && place.ss_family != AF_INET6) ||
        ::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return std::nullopt;
    return End{host.data(), port.data()};
}

std::uint64_t received(int descriptor) {
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received : 0;
}

/// ZeroMQ owns the descriptor, and may close it at any time: it is held while it is looked at, so that what
/// has its number later is left alone.
class Held {
public:
    Held(int descriptor, const End& other_end)
        : fd_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
          same_(fd_ >= 0 && end_of(fd_, &::getpeername) == other_end) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    explicit operator bool() const { return same_; }
    bool unknown() const { return fd_ < 0; } ///< there is no descriptor left to look with
    int fd() const { return fd_; }
    /// ZeroMQ sees it at once.
    void end() const {
        if (end_of(fd_, &::getsockname).value_or(End{}).host == kUnix)
            (void)::shutdown(fd_, SHUT_RDWR);
        else
            reset_connection(fd_);
    }

private:
    const int fd_;
    const bool same_;
};

} // namespace

std::uint64_t ConnectionWatch::Connection::unheard() const {
    const auto age =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - since);
    const std::uint64_t spared = forgiven + kForgivenEachSecond * static_cast<std::uint64_t>(age.count());
    return bytes > spared ? bytes - spared : 0;
}

ConnectionWatch::~ConnectionWatch() {
    if (socket_)
        (void)zmq_socket_monitor(socket_, nullptr, 0); // before there is nobody who takes its events
    closing_ = true;
    if (thread_.joinable())
        thread_.join();
}

void ConnectionWatch::watch(zmq::socket_t& socket, std::string door) {
    door_ = std::move(door);
    constexpr const char* kEvents = "inproc://connections"; // a context has one such socket
    if (zmq_socket_monitor(socket.handle(), kEvents, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) != 0)
        throw zmq::error_t();
    socket_ = socket.handle();
    events_ = zmq::socket_t(context_, ZMQ_PAIR);
    events_.set(zmq::sockopt::linger, 0);
    events_.connect(kEvents);
    thread_ = std::thread([this] { run(); });
}

void ConnectionWatch::heard(zmq::message_t& message) {
    const int descriptor = zmq_msg_get(message.handle(), ZMQ_SRCFD);
    const std::scoped_lock lock(mutex_);
    if (const auto at = connections_.find(descriptor); at != connections_.end())
        at->second.forgiven = received(descriptor);
}

/// Nothing leaves the thread, and nothing ends it: ZeroMQ waits for whoever takes its events.
void ConnectionWatch::run() {
    auto looked = std::chrono::steady_clock::now();
    bool told = false;
    while (!closing_) {
        try {
            if (readable(events_, kLook))
                take_event();
            if (std::chrono::steady_clock::now() - looked < kLook)
                continue;
            looked = std::chrono::steady_clock::now();
            const std::scoped_lock lock(mutex_);
            look();
        } catch (const std::exception& error) {
            if (!std::exchange(told, true))
                run_log().error("Who is connected to {} cannot be looked at: {}; it is tried again.", door_,
                                error.what());
            std::this_thread::sleep_for(kLook);
        }
    }
}

/// Two parts: which event with its value, and the address of the door.
void ConnectionWatch::take_event() {
    zmq::message_t event, address;
    if (!events_.recv(event, zmq::recv_flags::dontwait) || !events_.recv(address))
        return;
    std::uint16_t kind = 0;
    std::int32_t descriptor = 0;
    if (event.size() != sizeof kind + sizeof descriptor)
        return;
    std::memcpy(&kind, event.data(), sizeof kind);
    std::memcpy(&descriptor, event.data<char>() + sizeof kind, sizeof descriptor);
    const std::scoped_lock lock(mutex_);
    if (kind == ZMQ_EVENT_DISCONNECTED)
        connections_.erase(descriptor);
    if (kind != ZMQ_EVENT_ACCEPTED)
        return;
    const std::string text = address.to_string();
    int port = 0;
    const std::size_t colon = text.rfind(':') + 1;
    (void)std::from_chars(text.data() + colon, text.data() + text.size(), port);
    accept(descriptor, port);
}

void ConnectionWatch::accept(int descriptor, int own_port) {
    const std::optional<End> ours = end_of(descriptor, &::getsockname);
    const std::optional<End> other = end_of(descriptor, &::getpeername);
    if (!ours || !other) // it has gone meanwhile
        return;
    if (ours->host != kUnix && ours->port != std::to_string(own_port)) // and another one has its number
        return;
    connections_[descriptor] = {.host = other->host,
                                .port = other->port,
                                .number = ++came_,
                                .since = std::chrono::steady_clock::now()};
    if (connections_.size() > limits_.most) {
        look(); // some may have gone
        look_at_number();
    }
}

void ConnectionWatch::look() {
    for (auto at = connections_.begin(); at != connections_.end();) {
        const Held held(at->first, {at->second.host, at->second.port});
        if (held)
            at->second.bytes = received(held.fd());
        at = held || held.unknown() ? std::next(at) : connections_.erase(at);
    }
    look_at_size();
}

void ConnectionWatch::look_at_size() {
    while (true) {
        std::uint64_t all = 0;
        auto most = connections_.end();
        for (auto at = connections_.begin(); at != connections_.end(); ++at) {
            if (at->second.ended)
                continue;
            all += at->second.unheard();
            if (most == connections_.end() || at->second.unheard() > most->second.unheard())
                most = at;
        }
        if (most == connections_.end() || (most->second.unheard() <= limits_.each && all <= limits_.total))
            return;
        end(most, "has sent more than is listened to");
    }
}

/// Of the host that has most of them the last one goes: it keeps nobody else out.
void ConnectionWatch::look_at_number() {
    while (connections_.size() > limits_.most) {
        std::map<std::string, std::size_t> of_host;
        for (const auto& [descriptor, connection] : connections_)
            ++of_host[connection.host];
        auto last = connections_.end();
        for (auto at = connections_.begin(); at != connections_.end(); ++at) {
            const auto rank = [&](const Connection& c) { return std::pair(of_host[c.host], c.number); };
            if (!at->second.ended && (last == connections_.end() || rank(at->second) > rank(last->second)))
                last = at;
        }
        if (last == connections_.end())
            return;
        end(last, "has one connection more than the " + std::to_string(limits_.most) + " that are possible");
        connections_.erase(last); // nothing of it has been read: it is over at once
    }
}

/// ZeroMQ sees that it is over, and lets go of what it held for it.
void ConnectionWatch::end(Connections::iterator which, const std::string& why) {
    if (const Held held(which->first, {which->second.host, which->second.port}); held)
        held.end();
    run_log().log(std::exchange(told_, true) ? spdlog::level::debug : spdlog::level::warn,
                  "{}: somebody at {} {}, and the connection was ended; others like it are ended without a "
                  "word.",
                  door_, which->second.host, why);
    which->second.ended = true;
}

} // namespace specklescope

#endif
