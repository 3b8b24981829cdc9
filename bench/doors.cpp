#include "bench/sections.hpp"

#include "base/error.hpp"
#include "have_microhttpd.hpp"
#include "have_rtsp.hpp"
#include "have_zmq.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace specklescope::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
constexpr bool kMetrics = true;
#else
constexpr bool kMetrics = false;
#endif
#ifdef SPECKLESCOPE_HAVE_RTSP
constexpr bool kServe = true;
#else
constexpr bool kServe = false;
#endif

sockaddr_in here(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

/// A connection to this machine with the smallest receive buffer.
class Stalled {
public:
    /// Throws RunError if nothing listens at the port.
    explicit Stalled(int port);
    ~Stalled() { ::close(fd_); }
    Stalled(const Stalled&) = delete;
    Stalled& operator=(const Stalled&) = delete;
    void say(const std::string& bytes) const;
    /// Reads a header up to its empty line, and the body of the length in the header.
    std::string answer() const;
    /// Number of bytes received and not read.
    long unread() const;

private:
    int fd_;
};

struct DoorPorts {
    int publish = 0, control = 0, metrics = 0, serve = 0; ///< 0: closed
};

Stalled::Stalled(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0)
        throw RunError("There is no socket to be had: " + std::generic_category().message(errno) + ".");
    const int few = 4096;
    const timeval most{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const sockaddr_in to = here(port);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
        ::close(fd_);
        throw RunError("Port " + std::to_string(port) + " refuses connections.");
    }
}

void Stalled::say(const std::string& bytes) const {
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw RunError("A door of the program ended the connection.");
}

std::string Stalled::answer() const {
    std::string text;
    char c = 0;
    while (!text.ends_with("\r\n\r\n") && ::read(fd_, &c, 1) == 1)
        text += c;
    const std::string key = "Content-Length: ";
    if (const std::size_t at = text.find(key); at != std::string::npos)
        for (int left = std::stoi(text.substr(at + key.size())); left > 0 && ::read(fd_, &c, 1) == 1; --left)
            text += c;
    return text;
}

long Stalled::unread() const {
    int bytes = 0;
    return ::ioctl(fd_, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/// One frame of a message in ZMTP 3, ZeroMQ's protocol (rfc.zeromq.org/spec/23), of at most 255 bytes.
std::string part(const std::string& bytes, char flags = 0) {
    return std::string(1, flags) + static_cast<char>(bytes.size()) + bytes;
}

/// Greeting of a socket of this type.
std::string greeting(const std::string& type) {
    constexpr char kCommand = 4;
    std::string text("\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL", 16);
    text.resize(64);
    return text + part(std::string("\5READY\13Socket-Type\0\0\0", 21) + static_cast<char>(type.size()) + type,
                       kCommand);
}

std::unique_ptr<Stalled> subscriber(int port) {
    auto made = std::make_unique<Stalled>(port);
    made->say(greeting("SUB") + part("\1"));
    return made;
}

std::unique_ptr<Stalled> asker(int port) {
    constexpr int kRequests = 200;
    constexpr char kMore = 1;
    auto made = std::make_unique<Stalled>(port);
    made->say(greeting("DEALER"));
    for (int i = 0; i < kRequests; ++i)
        made->say(part("", kMore) + part(R"({"request":"frame","raw":true})"));
    return made;
}

std::unique_ptr<Stalled> scraper(int port) {
    constexpr int kRequests = 100;
    auto made = std::make_unique<Stalled>(port);
    for (int i = 0; i < kRequests; ++i)
        made->say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    return made;
}

std::unique_ptr<Stalled> watcher(int port) {
    auto made = std::make_unique<Stalled>(port);
    const std::string url = "rtsp://127.0.0.1:" + std::to_string(port) + "/flow";
    made->say("DESCRIBE " + url + " RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n");
    (void)made->answer();
    made->say("SETUP " + url +
              "/stream=0 RTSP/1.0\r\nCSeq: 2\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n");
    const std::string set_up = made->answer(), key = "Session: ";
    const std::size_t at = set_up.find(key);
    if (at == std::string::npos)
        throw RunError("The program serves no pictures: " + one_line(set_up) + ".");
    const std::size_t begin = at + key.size();
    const std::string session = set_up.substr(begin, set_up.find_first_of(";\r", begin) - begin);
    made->say("PLAY " + url + " RTSP/1.0\r\nCSeq: 3\r\nSession: " + session + "\r\n\r\n");
    return made;
}

/// Ports that are free now.
DoorPorts free_ports(bool metrics, bool serve) {
    std::array<int, 4> fds{}, ports{};
    for (std::size_t i = 0; i < fds.size(); ++i) { // all at once: four different ports
        fds[i] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at = here(0);
        socklen_t size = sizeof at;
        if (::bind(fds[i], reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
            ::getsockname(fds[i], reinterpret_cast<sockaddr*>(&at), &size) == 0)
            ports[i] = ntohs(at.sin_port);
    }
    for (const int fd : fds)
        ::close(fd);
    if (std::find(ports.begin(), ports.end(), 0) != ports.end())
        throw RunError("This machine has no free ports for the doors of the program.");
    return {ports[0], ports[1], metrics ? ports[2] : 0, serve ? ports[3] : 0};
}

/// One client per open port; each has sent its requests.
std::vector<std::unique_ptr<Stalled>> stalled_clients(const DoorPorts& ports) {
    std::vector<std::unique_ptr<Stalled>> all;
    if (ports.publish > 0)
        all.push_back(subscriber(ports.publish));
    if (ports.control > 0)
        all.push_back(asker(ports.control));
    if (ports.metrics > 0)
        all.push_back(scraper(ports.metrics));
    if (ports.serve > 0)
        all.push_back(watcher(ports.serve));
    return all;
}

void add_doors(std::vector<std::string>& words, const DoorPorts& ports) {
    const auto add = [&](const char* option, const std::string& before, int port, const char* behind = "") {
        if (port > 0)
            words.insert(words.end(), {option, before + "127.0.0.1:" + std::to_string(port) + behind});
    };
    add("--publish", "zmq://", ports.publish);
    add("--control", "zmq://", ports.control);
    add("--metrics", "", ports.metrics);
    add("--serve", "rtsp://", ports.serve, "/flow");
}

struct Stood {
    int clients = 0;
    long unread = 0;
};

/// Connects when the ports are open, and closes before the program ends.
Stood stand_still(const DoorPorts& ports, Clock::time_point until) {
    std::vector<std::unique_ptr<Stalled>> clients;
    std::string why = "the run was over before the doors were open";
    while (clients.empty() && Clock::now() < until)
        try {
            clients = stalled_clients(ports);
        } catch (const Error& error) { // not open yet
            why = error.what();
            std::this_thread::sleep_for(50ms);
        }
    if (clients.empty())
        throw RunError("Nobody could stand at the doors: " + why);
    std::this_thread::sleep_until(until);
    Stood stood{static_cast<int>(clients.size()), 0};
    for (const auto& client : clients)
        stood.unread += client->unread();
    return stood;
}

} // namespace

std::vector<DoorRun> run_doors(const std::string& backend, double seconds) {
    std::vector<DoorRun> runs;
#ifdef SPECKLESCOPE_HAVE_ZMQ
    const std::vector<std::string> scene = {
        "run", "synthetic:vessels?width=320&height=240&rate=1000&live=true", "--backend", backend};
    runs.push_back({"no door", run_program(scene, seconds)});
    for (const bool stalled : {false, true}) {
        const DoorPorts ports = free_ports(kMetrics, kServe);
        std::vector<std::string> words = scene;
        add_doors(words, ports);
        std::future<Stood> stands;
        if (stalled)
            stands = std::async(std::launch::async, [&] {
                return stand_still(
                    ports, Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * seconds) - 500));
            });
        DoorRun run{stalled ? "a stalled client at each door" : "all doors open",
                    run_program(words, seconds)};
        const Stood stood = stalled ? stands.get() : Stood();
        run.clients = stood.clients;
        run.unread = stood.unread;
        runs.push_back(std::move(run));
    }
#else
    (void)backend;
    (void)seconds;
    spdlog::info("Doors are not measured: this build was made without ZeroMQ.");
#endif
    return runs;
}

} // namespace specklescope::bench
